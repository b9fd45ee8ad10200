# bench/gpu/plot.py - results of a card as a picture.
"""Pairs a second of every contender, a group of bars a case, and what the
card can do, where that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

HEIGHT = 0.16  # of a bar, in inches


def draw(report: dict[str, Any], limits: dict[str, float], path: Path) -> bool:
    """Writes a PNG file; False where there is no matplotlib, or no number."""
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("Agg")
    from matplotlib import pyplot

    rows = {
        case: {
            name: row["rate"]
            for name, row in found["contenders"].items()
            if "rate" in row
        }
        for case, found in report["cases"].items()
    }
    rows = {case: rates for case, rates in rows.items() if rates}
    if not rows:
        return False
    bars = sum(map(len, rows.values())) + len(rows)
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + HEIGHT * bars))
    names = sorted({name for rates in rows.values() for name in rates})
    colours = dict(zip(names, mpl.colormaps["tab20"].colors, strict=False))  # type: ignore[attr-defined]
    place, middles = 0, []
    for case, rates in rows.items():
        last = place + len(rates)
        for k, (name, rate) in enumerate(rates.items()):
            axes.barh(place + k, rate, color=colours[name], label=name)
        if case in limits:
            ends = place - 0.5, last - 0.5
            axes.vlines(limits[case], *ends, color="black", label="the limit")
        middles.append((place + last - 1) / 2)
        place = last + 1
    axes.set_yticks(middles, list(rows))
    axes.margins(y=0.005)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("pairs a second")
    axes.set_title(report["card"])
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    axes.legend(once.values(), once, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=130, bbox_inches="tight")
    pyplot.close(figure)
    return True
