# bench/sweep.py - python -m bench.sweep: where a call falls off a cliff.
"""Reductions × terms × dtypes × shapes, one thread, each compared with PyTorch
in float64 and then timed beside it. Two ratios tell of a cliff:

- `neighbour`: the time by the least time of a call of the same formula that has
  as many rows, columns and components or more: more work should take longer,
- `peer`: the time by PyTorch's on one thread, which has all numbers between in
  memory, or by NumPy's where that is faster.

Writes sweep.csv, of which a call is a row, and SWEEP.md, its worst twenty by
either ratio. A call below ten microseconds has neither.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tilefold
from bench import machine
from bench.harness import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

HERE = Path(__file__).parent
TABLE, WORST = HERE / "sweep.csv", HERE / "SWEEP.md"
SESSION = tilefold.Session(tilefold.Options(threads=1))
LEAST_SECONDS = 10e-6  # below, a call costs what it costs to make one
SAMPLE_SECONDS = 0.02
WORST_ROWS = 20
PLACES = 8  # of the least
EXACT, ROUNDED = 1e-9, 2e-4  # how far results of float64 and others may be

TERMS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "product": ("x_i·y_j", lambda x, y: x @ y.T),
    "distance": ("|x_i - y_j|", torch.cdist),
    "gaussian": (
        "exp(-|x_i - y_j|²)",
        lambda x, y: torch.exp(-(torch.cdist(x, y) ** 2)),
    ),
    "manhattan": (
        "sum(abs(x_i - y_j))",
        lambda x, y: torch.cdist(x, y, p=1),
    ),
    "number": ("v_j", lambda v: v[None]),
    "label": (
        "[v_j == w_i]",
        lambda v, w: (w[:, None] == v[None]).to(torch.float64),
    ),
}

REDUCTIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "sum": ("sum_j ({})", lambda t: t.sum(1)),
    "mean": ("mean_j({})", lambda t: t.mean(1)),
    "var": ("var_j({})", lambda t: t.var(1, correction=0)),
    "max": ("max_j ({})", lambda t: t.amax(1)),
    "min": ("min_j ({})", lambda t: t.amin(1)),
    "argmin": ("argmin_j ({})", lambda t: t.argmin(1)),
    "logsumexp": ("logsumexp_j({})", lambda t: t.logsumexp(1)),
    "kmin": (
        f"kmin_j({{}}, {PLACES})",
        lambda t: t.topk(PLACES, largest=False).values,
    ),
    "argkmin": (
        f"argkmin_j({{}}, {PLACES})",
        lambda t: t.topk(PLACES, largest=False).indices,
    ),
    "median": (
        "median_j({})",
        lambda t: torch.quantile(t, 0.5, dim=1),
    ),
}

REALS = ("float32", "float64")
WHOLES = ("int8", "uint8", "int32", "int64")
WHOLE_IN_TORCH = ("sum", "max", "min")
ROWS = (1, 2, 4, 5, 16, 17, 64)
COLUMNS = 10_000
WIDTHS = (1, 3, 8, 9, 64)
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)


HEADER = [
    "reduction", "term", "dtype", "rows", "columns", "width", "microseconds",
    "peer", "neighbour",
]  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A call: what is computed of which points."""

    reduction: str
    term: str
    dtype: str
    rows: int
    columns: int
    width: int

    @property
    def formula(self) -> str:
        """Its text; numbers have no components."""
        text = TERMS[self.term][0]
        if self.width == 1:
            text = text.replace("sum(abs(x_i - y_j))", "abs(x_i - y_j)")
        return REDUCTIONS[self.reduction][0].format(text)

    @property
    def family(self) -> tuple[str, str, str]:
        """What its neighbours have, too."""
        return self.reduction, self.term, self.dtype

    def is_within(self, other: Cell) -> bool:
        """Whether the other has as many points and components, or more."""
        return (
            self.family == other.family
            and self.rows <= other.rows
            and self.columns <= other.columns
            and self.width <= other.width
        )


@dataclass
class Measured:
    """A cell with seconds of a call, own and by peers."""

    cell: Cell
    seconds: float
    peer: float
    neighbour: float = 1.0

    @property
    def beside_peer(self) -> float:
        """How many times the better peer's time."""
        return self.seconds / self.peer

    @property
    def worst(self) -> float:
        """The worse of both ratios; 1 of a call that is too short."""
        if self.seconds < LEAST_SECONDS:
            return 1.0
        return max(self.neighbour, self.beside_peer)


def cells() -> Iterable[Cell]:
    """The grid: of pairs, of numbers, of whole numbers and labels."""
    pairs = [name for name in TERMS if name not in ("number", "label")]
    for term, dtype, rows, width, reduction in itertools.product(
        pairs, REALS, ROWS, WIDTHS, REDUCTIONS
    ):
        yield Cell(reduction, term, dtype, rows, COLUMNS, width)
    for dtype, length, reduction in itertools.product(
        (*REALS, *WHOLES), LENGTHS, REDUCTIONS
    ):
        yield Cell(reduction, "number", dtype, 1, length, 1)
    for dtype, rows in itertools.product((*REALS, *WHOLES), ROWS):
        yield Cell("sum", "label", dtype, rows, COLUMNS, 1)
    for dtype, rows, width in itertools.product(WHOLES, ROWS, WIDTHS):
        yield Cell("sum", "manhattan", dtype, rows, COLUMNS, width)


def arguments_of(cell: Cell) -> dict[str, np.ndarray]:
    """Points in [0, 1), or whole numbers below ten, the same each time."""
    random = np.random.default_rng(0)

    def points(*shape: int) -> np.ndarray:
        if cell.dtype in REALS:
            return random.random(shape).astype(cell.dtype)
        return random.integers(0, 10, shape).astype(cell.dtype)

    if cell.term == "number":
        return {"v": points(cell.columns)}
    if cell.term == "label":
        return {"v": points(cell.columns), "w": points(cell.rows)}
    width = () if cell.width == 1 else (cell.width,)
    return {"x": points(cell.rows, *width), "y": points(cell.columns, *width)}


def tensors_of(cell: Cell, arguments: dict[str, np.ndarray]) -> list[Any]:
    """The arguments as PyTorch's functions take them."""
    tensors = [torch.from_numpy(a) for a in arguments.values()]
    if cell.term in ("number", "label"):
        return tensors
    return [t[:, None] if t.ndim == 1 else t for t in tensors]


def peers_of(
    cell: Cell, arguments: dict[str, np.ndarray]
) -> list[Callable[[], Any]]:
    """What PyTorch, and NumPy of numbers alone, make of it."""
    tensors = tensors_of(cell, arguments)
    term, reduction = TERMS[cell.term][1], REDUCTIONS[cell.reduction][1]
    as_they_are = cell.term == "number" and cell.reduction in WHOLE_IN_TORCH
    if cell.dtype in WHOLES and cell.term != "label" and not as_they_are:
        tensors = [t.double() for t in tensors]
    peers: list[Callable[[], Any]] = [lambda: reduction(term(*tensors))]
    functions = {
        "sum": np.sum,
        "mean": np.mean,
        "var": np.var,
        "max": np.max,
        "min": np.min,
        "argmin": np.argmin,
        "median": np.median,
    }
    if cell.term == "number" and cell.reduction in functions:
        function = functions[cell.reduction]
        peers.append(lambda: function(arguments["v"]))
    return peers


def is_right(cell: Cell, arguments: dict[str, np.ndarray], got: Any) -> bool:
    """Whether it is PyTorch's in float64; of places, whether what they have
    is as small."""
    wide = {name: a.astype(np.float64) for name, a in arguments.items()}
    wanted = np.asarray(peers_of(cell, wide)[0](), np.float64)
    found = np.asarray(got)
    if "arg" in cell.reduction:
        all_terms = np.asarray(TERMS[cell.term][1](*tensors_of(cell, wide)))
        two = (cell.rows, -1)
        wanted, found = (
            np.take_along_axis(all_terms, p.reshape(two).astype(np.int64), 1)
            for p in (wanted, found)
        )
    allowed = EXACT if cell.dtype == "float64" else ROUNDED
    scale = max(float(np.abs(wanted).max()), 1.0)
    return bool(
        np.allclose(
            found.reshape(wanted.shape),
            wanted,
            rtol=allowed,
            atol=allowed * scale,
        )
    )


def seconds_of(contenders: Sequence[Callable[[], Any]]) -> list[float]:
    """The least of each, in turns."""
    best = [float("inf")] * len(contenders)
    end = time.perf_counter() + SAMPLE_SECONDS * len(contenders)
    rounds = 0
    while rounds < 3 or (time.perf_counter() < end and rounds < 200):
        rounds += 1
        for k, run in enumerate(contenders):
            start = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def measure(cell: Cell) -> Measured:
    """Checks, then times.

    Raises `ValueError` where the result is not PyTorch's.
    """
    arguments = arguments_of(cell)
    own = tilefold.compile(cell.formula, session=SESSION).bind(**arguments)
    peers = peers_of(cell, arguments)
    if not is_right(cell, arguments, own()):
        msg = f"{cell}: not what PyTorch computes in float64"
        raise ValueError(msg)
    seconds, *others = seconds_of([own, *peers])
    return Measured(cell, seconds, min(others))


def hold_beside_neighbours(rows: Sequence[Measured]) -> None:
    """Sets `neighbour` of all."""
    families: dict[tuple[str, str, str], list[Measured]] = {}
    for row in rows:
        families.setdefault(row.cell.family, []).append(row)
    for row in rows:
        row.neighbour = row.seconds / min(
            other.seconds
            for other in families[row.cell.family]
            if row.cell.is_within(other.cell)
        )


def write_table(path: Path, rows: Sequence[Measured]) -> None:
    """A row a call."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in rows:
            c = row.cell
            writer.writerow([
                c.reduction, c.term, c.dtype, c.rows, c.columns, c.width,
                f"{row.seconds * 1e6:.4g}", f"{row.beside_peer:.2f}",
                f"{row.neighbour:.2f}",
            ])  # fmt: skip


def report(rows: Sequence[Measured]) -> str:
    """The worst twenty, and how many are beyond 1.3."""
    worst = sorted(rows, key=lambda row: -row.worst)
    beyond = sum(row.worst > 1.3 for row in rows)
    facts = machine.describe()
    lines = [
        "# The worst of the sweep",
        "",
        "Written by `python -m bench.sweep`, of sweep.csv; what the ratios are "
        "is told there.",
        f"{facts['cpu']} ({facts['family']}), one thread. {len(rows)} calls, "
        f"of which {beyond} take more than 1.3 times what a neighbour or a "
        "peer takes.",
        "",
        "| formula | dtype | N | M | D | µs | × peer | × neighbour |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in worst[:WORST_ROWS]:
        c = row.cell
        formula = c.formula.replace("|", "\\|")
        lines.append(
            f"| `{formula}` | {c.dtype} | {c.rows} | {c.columns} | {c.width} "
            f"| {row.seconds * 1e6:.4g} | {row.beside_peer:.2f} "
            f"| {row.neighbour:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures all, or what is chosen, and writes both files."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.sweep", description=__doc__
    )
    parser.add_argument("--term", action="append", choices=list(TERMS))
    parser.add_argument(
        "--reduction", action="append", choices=list(REDUCTIONS)
    )
    parser.add_argument("--results", type=Path, default=HERE, metavar="FOLDER")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    chosen = [
        cell
        for cell in cells()
        if (not options.term or cell.term in options.term)
        and (not options.reduction or cell.reduction in options.reduction)
    ]
    rows = []
    for number, cell in enumerate(dict.fromkeys(chosen)):
        rows.append(measure(cell))
        if number % 100 == 99:
            say(f"{number + 1} of {len(chosen)}")
    hold_beside_neighbours(rows)
    write_table(options.results / TABLE.name, rows)
    (options.results / WORST.name).write_text(report(rows))
    say(report(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
