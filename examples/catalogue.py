# examples/catalogue.py - the named kernels of a distance, drawn.
"""Draws the value of each radial kernel of the catalogue against distance.

A bare name stands for its formula: `tilefold.kernel("gaussian", …)`. Each
curve is one column of a kernel between points on a line and the origin.

Usage: python examples/catalogue.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

import tilefold

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea

Array = np.ndarray[Any, np.dtype[np.float64]]

SCALES = {0.5: "#d1495b", 1.0: "#00798c"}
GREY = "#666666"
LETTERS = {"alpha": "α", "sigma": "σ", "epsilon": "ε"}
FARTHEST = 3.0
COLUMNS = 5


class Panel(NamedTuple):
    """A kernel, the parameter that is its scale, the others, and the axis."""

    name: str
    scale: str = ""
    others: dict[str, float] = {}  # noqa: RUF012 - never written
    lowest: float = -0.08
    highest: float = 1.12


PANELS = [
    Panel("gaussian", "l"),
    Panel("laplace", "l"),
    Panel("matern32", "l"),
    Panel("matern52", "l"),
    Panel("rational_quadratic", "l", {"alpha": 0.5}),
    Panel("cauchy", "l"),
    Panel("student"),
    Panel("wendland", "l"),
    Panel("epanechnikov", "l"),
    Panel("indicator", "r"),
    Panel("periodic", "p", {"l": 1.0}),
    Panel("cosine", "p", {}, -1.15, 1.15),
    Panel("spectral_mixture", "m", {"s": 0.15}, -1.15, 1.15),
    Panel("stein", "l", {"d": 1}, -2.3, 4.5),
    Panel("inverse_multiquadric", "c", {}, -0.15, 2.2),
    Panel("coulomb", "", {}, -0.3, 4.2),
    Panel("lennard_jones", "sigma", {"epsilon": 1.0}, -1.3, 2.2),
    Panel("multiquadric", "c", {}, -0.2, 3.3),
    Panel("energy", "", {}, -3.2, 0.2),
    Panel("thin_plate", "", {}, -1, 10.2),
]


def curve(panel: Panel, scale: float, distances: Array) -> Array:
    """The kernel between points at these distances and the origin."""
    given = {panel.scale: scale} if panel.scale else {}
    origin = np.zeros(1)
    kernel = tilefold.kernel(
        panel.name, {**given, **panel.others}, x=distances, y=origin
    )
    return kernel[:, 0]


def subtitle(axis: Any, panel: Panel) -> None:
    """`l = 0.5 or 1` in the colours of the curves, and the other parameters."""
    parts = []
    if panel.scale:
        (small, first), (large, second) = SCALES.items()
        parts = [
            (f"{LETTERS.get(panel.scale, panel.scale)} =", GREY),
            (f"{small:g}", first), ("or", GREY), (f"{large:g}", second),
        ]  # fmt: skip
    for key, value in panel.others.items():
        parts.append((f"  {LETTERS.get(key, key)} = {value:g}", GREY))
    texts = [
        TextArea(text, textprops={"color": colour, "fontsize": 8})
        for text, colour in parts
    ]
    line = HPacker(children=texts, pad=0, sep=3)
    axis.add_artist(
        AnchoredOffsetbox(
            "lower left", child=line, pad=0, borderpad=0.15, frameon=False,
            bbox_to_anchor=(0, 1), bbox_transform=axis.transAxes,
        )
    )  # fmt: skip


def draw(axis: Any, panel: Panel, distances: Array) -> None:
    """One of the small multiples."""
    scales = SCALES if panel.scale else {1.0: "#444444"}
    for scale, colour in scales.items():
        axis.plot(
            distances, curve(panel, scale, distances), color=colour, lw=1.8
        )
    axis.axhline(0, color="#bbbbbb", lw=0.7, zorder=0)
    axis.set_xlim(0, FARTHEST)
    axis.set_ylim(panel.lowest, panel.highest)
    axis.set_title(panel.name, fontsize=10, loc="left", pad=15, weight="bold")
    subtitle(axis, panel)
    axis.tick_params(labelsize=8, length=2.5, color="#999999")
    axis.locator_params(nbins=4)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axis.spines[side].set_color("#999999")


def main(path: str) -> None:
    """Makes the picture."""
    distances = np.linspace(1e-3, FARTHEST, 1201)
    rows = len(PANELS) // COLUMNS
    figure, axes = plt.subplots(
        rows, COLUMNS, figsize=(11, 2.05 * rows), sharex=True
    )
    for axis, panel in zip(axes.flat, PANELS, strict=True):
        draw(axis, panel, distances)
    for axis in axes[-1]:
        axis.set_xlabel("|x − y|", fontsize=9)
    figure.tight_layout(h_pad=1.2, w_pad=1.0)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "catalogue.png")
