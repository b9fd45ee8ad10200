# bench/plots.py - results as pictures.
"""Bars of Gaussian sums, of networks and of small calls, a row of dots for each
function, and curves: speed against the number of points, the dimension and the
number of right-hand sides, time against the number of statements and of points
of a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from bench.tables import Cases

COLOURS = {
    "tilefold": "#c0392b",
    "tilefold_bound": "#e74c3c",
    "tilefold_cpp": "#e67e22",
    "tilefold_compiled": "#e59866",
    "tilefold_torch": "#922b21",
    "roofline": "#7f8c8d",
    "gpytorch": "#8e44ad",
    "jax_chunked": "#16a085",
    "jax_jit": "#16a085",
    "numpy": "#bdc3c7",
    "pykeops": "#2980b9",
    "scikit_learn": "#f39c12",
    "torch_add": "#bdc3c7",
    "torch_addmm": "#8e44ad",
    "torch_cdist": "#af7ac5",
    "torch_eager": "#af7ac5",
    "torch_mm": "#7f8c8d",
    "torch_compile": "#5b2c6f",
}


@dataclass(frozen=True)
class Measure:
    """What is drawn upwards: a number of a row, in units of 1/scale."""

    key: str
    scale: float
    label: str


RATE = Measure("pairs_per_second", 1e-9, "G pairs/s")
TIME = Measure("seconds", 1e6, "µs for one call")
STEP = Measure("seconds", 1, "seconds for a step")


@dataclass(frozen=True)
class Curves:
    """A measure against one of the sizes of the cases."""

    size: str
    label: str
    title: str
    measure: Measure = RATE
    logarithmic: bool = True


CURVES = {
    "gaussian_sizes": Curves("N", "N = M", "Gaussian sum, D = 3, float32"),
    "gaussian_dimensions": Curves(
        "D", "D", "Gaussian sum, N = M = 4,000, float32"
    ),
    "wide": Curves(
        "E", "E, right-hand sides", "Gaussian sum, N = M = 10,000, D = 3"
    ),
    "statements": Curves(
        "statements",
        "statements",
        "A chain of light statements on (n, 16), n = 4 … 13",
        TIME,
        logarithmic=False,
    ),
    "gp_training": Curves(
        "N", "points", "A step of an exact Gaussian process, D = 4", STEP
    ),
}

#: A title, and what the bars of each case are.
BARS = {
    "gaussian": ("Gaussian sum, more is better", RATE),
    "networks": ("Small networks on pairs, more is better", RATE),
    "torch_calls": ("Eight points of a tensor, less is better", TIME),
}
#: A row of dots for each case, a panel for what comes after the comma.
DOTS = {"functions": "Σ_j f(|x_i - y_j|²), D = 3, more is better"}


def drawn_tasks(results: dict[str, Cases]) -> list[str]:
    """Those that have a picture."""
    return [task for task in (*BARS, *DOTS, *CURVES) if task in results]


def draw_plots(results: dict[str, Cases], folder: Path) -> dict[str, Path]:
    """Task to its picture in `folder`; {} without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return {}
    mpl.use("Agg")
    from matplotlib import pyplot

    drawn = {}
    for task in drawn_tasks(results):
        cases = results[task]
        if task in CURVES:
            figure = _curves(cases, CURVES[task])
        elif task in DOTS:
            figure = _dots(cases, DOTS[task])
        else:
            figure = _bars(cases, *BARS[task])
        drawn[task] = folder / f"{task}.png"
        figure.savefig(drawn[task], dpi=130)
        pyplot.close(figure)
    return drawn


def _contenders(cases: Cases, measure: Measure) -> dict[str, str]:
    """Name to label of those with a number anywhere."""
    return {
        name: row["label"]
        for case in cases.values()
        for name, row in case["contenders"].items()
        if measure.key in row and row["status"] != "wrong"
    }


def _numbers(
    cases: Cases, name: str, measure: Measure
) -> list[tuple[int, dict[str, float]]]:
    """(number of the case, median and quartiles) where there are some."""
    found = []
    for number, case in enumerate(cases.values()):
        row = case["contenders"].get(name, {})
        if measure.key in row and row["status"] != "wrong":
            spread = row[measure.key]
            scaled = {k: v * measure.scale for k, v in spread.items()}
            found.append((number, scaled))
    return found


def _axes(width: float, measure: Measure) -> tuple[Any, Any]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(width, 4.2), layout="constrained")
    axes.set_yscale("log")
    axes.set_ylabel(measure.label)
    axes.grid(axis="y", which="both", alpha=0.25)
    axes.set_axisbelow(True)
    return figure, axes


def _bars(cases: Cases, title: str, measure: Measure) -> Any:
    figure, axes = _axes(10, measure)
    names = _contenders(cases, measure)
    width = 0.86 / max(1, len(names))
    for place, (name, label) in enumerate(names.items()):
        rates = _numbers(cases, name, measure)
        heights = [rate["median"] for _, rate in rates]
        spread = [
            [rate["median"] - rate["low"] for _, rate in rates],
            [rate["high"] - rate["median"] for _, rate in rates],
        ]
        shift = (place - (len(names) - 1) / 2) * width
        axes.bar(
            [number + shift for number, _ in rates],
            heights,
            width,
            yerr=spread,
            error_kw={"lw": 0.8},
            label=label,
            color=COLOURS.get(name),
        )
    titles = [case["title"].replace(", ", "\n") for case in cases.values()]
    axes.set_xticks(range(len(cases)), titles, fontsize=8)
    axes.legend(ncols=2, fontsize=8, loc="upper right")
    axes.set_ylim(top=axes.get_ylim()[1] * 4)
    axes.set_title(title)
    return figure


def _dots(cases: Cases, title: str) -> Any:
    from matplotlib import pyplot

    panels: dict[str, Cases] = {}
    for name, case in cases.items():
        panel = case["title"].rpartition(", ")[2]
        panels.setdefault(panel, {})[name] = case
    rows = max(map(len, panels.values()))
    figure, all_axes = pyplot.subplots(
        ncols=len(panels),
        figsize=(10, 1.2 + 0.21 * rows),
        layout="constrained",
        squeeze=False,
    )
    for axes, (panel, shown) in zip(all_axes[0], panels.items(), strict=True):
        _row_of_dots(axes, shown)
        axes.set_title(panel, fontsize=10)
    handles, labels = all_axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=3, loc="outside lower center")
    figure.suptitle(title)
    return figure


def _row_of_dots(axes: Any, cases: Cases) -> None:
    for name, label in _contenders(cases, RATE).items():
        numbers = _numbers(cases, name, RATE)
        axes.plot(
            [spread["median"] for _, spread in numbers],
            [number for number, _ in numbers],
            linestyle="none",
            marker="o",
            markersize=7 if name == "tilefold" else 4,
            label=label,
            color=COLOURS.get(name),
        )
    titles = [case["title"].rpartition(", ")[0] for case in cases.values()]
    axes.set_yticks(range(len(cases)), titles, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(RATE.label)
    axes.grid(which="major", alpha=0.3)


def _curves(cases: Cases, kind: Curves) -> Any:
    figure, axes = _axes(8, kind.measure)
    places = [case["sizes"][kind.size] for case in cases.values()]
    for name, label in _contenders(cases, kind.measure).items():
        numbers = _numbers(cases, name, kind.measure)
        across = [places[number] for number, _ in numbers]
        line = axes.plot(
            across,
            [spread["median"] for _, spread in numbers],
            marker="o",
            markersize=4,
            label=label,
            color=COLOURS.get(name),
        )
        axes.fill_between(
            across,
            [spread["low"] for _, spread in numbers],
            [spread["high"] for _, spread in numbers],
            color=line[0].get_color(),
            alpha=0.15,
            linewidth=0,
        )
    if kind.logarithmic:
        axes.set_xscale("log", base=10 if max(places) > 1000 else 2)
    if max(places) <= 1000:
        axes.set_xticks(places, [str(place) for place in places])
        axes.tick_params(axis="x", which="minor", bottom=False)
    axes.set_xlabel(kind.label)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    axes.set_title(kind.title, fontsize=10)
    return figure
