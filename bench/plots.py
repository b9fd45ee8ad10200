# bench/plots.py - results as pictures.
"""Bars of the Gaussian sums, and speed against the number of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from bench.tables import Cases

COLOURS = {
    "tilefold": "#c0392b",
    "ceiling": "#7f8c8d",
    "numpy": "#bdc3c7",
    "pykeops": "#2980b9",
    "scikit_learn": "#f39c12",
    "torch_addmm": "#8e44ad",
    "torch_cdist": "#af7ac5",
    "torch_compile": "#5b2c6f",
}
RATE = "pairs_per_second"


def draw_plots(results: dict[str, Cases], folder: Path) -> dict[str, str]:
    """Task to its picture, as the README names it; {} without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return {}
    mpl.use("Agg")
    drawn = {}
    for task, draw in (("gaussian", _bars), ("gaussian_sizes", _lines)):
        if task in results:
            figure = draw(results[task])
            figure.savefig(folder / f"{task}.png", dpi=130)
            drawn[task] = f"{folder.name}/{task}.png"
    return drawn


def _contenders(cases: Cases) -> dict[str, str]:
    """Name to label of those with a rate anywhere."""
    return {
        name: row["label"]
        for case in cases.values()
        for name, row in case["contenders"].items()
        if RATE in row and row["status"] != "wrong"
    }


def _rates(cases: Cases, name: str) -> list[tuple[int, dict[str, float]]]:
    """(number of the case, rate in G pairs/s) where there is one."""
    found = []
    for number, case in enumerate(cases.values()):
        row = case["contenders"].get(name, {})
        if RATE in row and row["status"] != "wrong":
            rate = {k: v / 1e9 for k, v in row[RATE].items()}
            found.append((number, rate))
    return found


def _axes(width: float) -> tuple[Any, Any]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(width, 4.2), layout="constrained")
    axes.set_yscale("log")
    axes.set_ylabel("G pairs/s")
    axes.grid(axis="y", which="both", alpha=0.25)
    axes.set_axisbelow(True)
    return figure, axes


def _bars(cases: Cases) -> Any:
    figure, axes = _axes(10)
    names = _contenders(cases)
    width = 0.86 / max(1, len(names))
    for place, (name, label) in enumerate(names.items()):
        rates = _rates(cases, name)
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
    axes.legend(ncols=4, fontsize=8, loc="upper right")
    axes.set_ylim(top=axes.get_ylim()[1] * 4)
    axes.set_title("Gaussian sum, more is better")
    return figure


def _lines(cases: Cases) -> Any:
    figure, axes = _axes(7)
    sizes = [case["sizes"]["N"] for case in cases.values()]
    for name, label in _contenders(cases).items():
        rates = _rates(cases, name)
        axes.plot(
            [sizes[number] for number, _ in rates],
            [rate["median"] for _, rate in rates],
            marker="o",
            markersize=4,
            label=label,
            color=COLOURS.get(name),
        )
    axes.set_xscale("log")
    axes.set_xlabel("N = M")
    axes.legend(fontsize=8, loc="center right", bbox_to_anchor=(1, 0.55))
    axes.set_title("Gaussian sum, D = 3, float32")
    return figure
