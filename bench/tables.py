# bench/tables.py - rows of results as Markdown.
"""Times, rates and errors in tables; pure functions of the results.

A number is a median; ± is half the distance between the quartiles. † marks a
row with fewer undisturbed samples than wanted; WRONG one whose result is off,
which has no rank.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, Any]
    Case = dict[str, Any]
    Cases = dict[str, Case]

UNITS = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown: the first column to the left, the others to the right."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join(f"| {' | '.join(r)} |" for r in [head, rule, *rows])


def duration(seconds: float, unit: str = "") -> str:
    """Three digits and the unit that suits, or the one asked for."""
    for size, name in UNITS:
        if name == unit or (not unit and abs(seconds) >= size):
            return f"{digits(seconds / size)} {name}"
    return f"{digits(seconds * 1e6)} µs"


def digits(value: float) -> str:
    """About three significant digits, without an exponent."""
    if isinstance(value, int):
        return f"{value:,}"
    magnitude = abs(value)
    if magnitude >= 100:
        return f"{value:,.0f}"
    places = 1 if magnitude >= 10 else 2 if magnitude >= 1 else 3
    return f"{value:.{places}f}"


def goals_table(results: dict[str, Cases]) -> str:
    """What is wanted, and what was measured."""
    rows = []
    for entry in catalogue.entries():
        case = results.get(entry.task, {}).get(entry.case.name)
        for goal in entry.case.goals if case else ():
            value = goal.reading(case["contenders"])
            row = [_goal_text(entry, goal), goal.wanted(), "–", ""]
            if value is not None:
                small = 0 < abs(value) < 1e-3
                number = f"{value:.1e}" if small else digits(value)
                row[2] = f"{number}{goal.unit}"
                row[3] = "yes" if goal.met(value) else "**no**"
            rows.append(row)
    return table(["measure", "wanted", "measured", "reached"], rows)


def _goal_text(entry: catalogue.Entry, goal: Any) -> str:
    """Speeds are of a case, which is named where there are several."""
    module = catalogue.task_module(entry.task)
    named = len(module.CASES) > 1 and module.TABLE != "errors"
    case = f", {entry.case.title}" if named else ""
    return f"{module.TITLE}{case}: {goal.text}"


def rates_tables(cases: Cases) -> list[str]:
    """G pairs/s, and how much faster tilefold is: contender × case. Then what
    the ports allow its innermost loop, in cycles of a vector."""
    heads = [case["title"] for case in cases.values()]
    rates = _pivot(cases, _rate)
    ratios = _pivot(cases, _ratio)
    del ratios["tilefold"]
    tables = [
        table(["G pairs/s", *heads], list(rates.values())),
        table(["tilefold is faster by", *heads], list(ratios.values())),
    ]
    cycles = _pivot(cases, _port_cycles)
    if any(cycles.get("tilefold", [""])[1:]):
        ports = ["tilefold", *cycles["tilefold"][1:]]
        tables.append(table(["cycles of its ports a vector", *heads], [ports]))
    return tables


def sweep_tables(cases: Cases) -> list[str]:
    """Times of one call: contender × case."""
    heads = [case["title"] for case in cases.values()]
    rows = _pivot(cases, lambda row: _marked(row, _time(row)))
    return [table(["one call", *heads], list(rows.values()))]


def errors_table(cases: Cases) -> str:
    """Errors: contender × case."""
    heads = [case["title"] for case in cases.values()]
    rows = _pivot(cases, lambda row: _error(row))
    return table(["largest relative error", *heads], list(rows.values()))


def case_table(case: Case) -> str:
    """One case, a contender a row, every number that there is."""
    shown = {
        name: row
        for name, row in case["contenders"].items()
        if "seconds" in row
    }
    columns = _columns(case, shown)
    head = [case["title"], *(column.head for column in columns)]
    rows = [
        [_label(row), *(column.cell(row) for column in columns)]
        for row in _by_time(shown)
    ]
    return table(head, rows)


class _Column(NamedTuple):
    """A column of numbers of a case."""

    head: str
    cell: Callable[[Row], str]
    shown: bool = True


def _columns(case: Case, rows: dict[str, Row]) -> list[_Column]:
    """Those that say something of these rows."""
    timed = any("taken" in row for row in rows.values())
    several = len({row["label"] for row in rows.values()}) > 1
    roofline = case["contenders"].get("roofline", {})
    notes = sorted({key for row in rows.values() for key in row["notes"]})
    columns = [
        _Column("time", lambda row: duration(row["seconds"]["median"])),
        _Column("quartiles", _quartiles, timed),
        _Column("kept", _kept, timed),
        _Column("G pairs/s", _plain_rate, _any(rows, "pairs_per_second")),
        _Column("× tilefold", _ratio, several),
        _Column(
            "of the roofline",
            lambda row: _share(row, roofline),
            "times_tilefold" in roofline,
        ),
        _Column("model", _model, _any(rows, "expected_seconds")),
        _Column("port cycles", _port_cycles, _any(rows, "port_cycles")),
        _Column("memory", _memory),
        _Column("error", _error),
        *(
            _Column(key, partial(_note, key=key))
            for key in notes
            if _is_number(rows, key)
        ),
    ]
    return [column for column in columns if column.shown]


def _any(rows: dict[str, Row], key: str) -> bool:
    return any(key in row for row in rows.values())


def _plain_rate(row: Row) -> str:
    return digits(row["pairs_per_second"]["median"] / 1e9)


def _share(row: Row, roofline: Row) -> str:
    """The speed beside that of the hand-written kernel, round by round."""
    if not (own := row.get("times_tilefold")):
        return ""
    return digits(roofline["times_tilefold"]["median"] / own["median"])


def _model(row: Row) -> str:
    """The time that the cost model expects on all cores."""
    if "expected_seconds" not in row:
        return ""
    return duration(row["expected_seconds"])


def _port_cycles(row: Row) -> str:
    """Of a vector of pairs, in the innermost loop."""
    return digits(row["port_cycles"]) if "port_cycles" in row else ""


def _memory(row: Row) -> str:
    return f"{row['peak_bytes'] / 2**20:.1f} MiB"


def _pivot(cases: Cases, cell: Callable[[Row], str]) -> dict[str, list[str]]:
    """Contender to its label and one cell a case; the fastest first."""
    rows: dict[str, list[str]] = {}
    names = [name for case in cases.values() for name in case["contenders"]]
    for name in dict.fromkeys(names):
        found = [case["contenders"].get(name) for case in cases.values()]
        timed = [row if row and "seconds" in row else None for row in found]
        if not any(timed):
            continue
        label = next(r["label"] for r in timed if r)
        cells = (
            cell(row) if row else _absent(f)
            for row, f in zip(timed, found, strict=True)
        )
        rows[name] = [label, *cells]
    return rows


def _absent(row: Row | None) -> str:
    """What stands in the place of a number."""
    return row["status"] if row else ""


def _time(row: Row) -> str:
    return duration(row["seconds"]["median"])


def _rate(row: Row) -> str:
    rate = {k: v / 1e9 for k, v in row["pairs_per_second"].items()}
    half = (rate["high"] - rate["low"]) / 2 / rate["median"]
    return _marked(row, f"{digits(rate['median'])} ±{half:.1%}")


def _ratio(row: Row) -> str:
    if row["status"] not in {"ok", "disturbed"}:
        return ""
    ratio = row.get("times_tilefold")
    if not ratio:
        return ""
    return f"{digits(ratio['median'])}"


def _error(row: Row) -> str:
    if "error" not in row:
        return row["status"]
    return "–" if row["error"] is None else f"{row['error']:.1e}"


def _marked(row: Row, text: str) -> str:
    if row["status"] == "wrong":
        return f"WRONG ({row['error']:.0e}), {text}"
    return text + "†" * (row["status"] == "disturbed")


def _label(row: Row) -> str:
    return _marked(row, row["label"])


def _quartiles(row: Row) -> str:
    times = row["seconds"]
    unit = duration(times["high"]).split()[1]
    low, high = duration(times["low"], unit), duration(times["high"], unit)
    return f"{low.split()[0]}–{high}"


def _kept(row: Row) -> str:
    return f"{row['kept']} of {row['taken']}" if "taken" in row else ""


def _is_number(rows: dict[str, Row], key: str) -> bool:
    values = [row["notes"].get(key, 0) for row in rows.values()]
    return all(isinstance(value, (int, float)) for value in values)


def _note(row: Row, key: str) -> str:
    return digits(row["notes"][key]) if key in row["notes"] else ""


def _by_time(rows: dict[str, Row]) -> list[Row]:
    return sorted(
        rows.values(),
        key=lambda r: (r["status"] == "wrong", r["seconds"]["median"]),
    )
