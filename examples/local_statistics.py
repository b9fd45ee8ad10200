# examples/local_statistics.py - a map of local means and spreads, one pass.
"""Draws the mean and the spread of scattered measurements around each place.

30,000 thermometers stand at random places. Around each pixel, their readings
have a mean and a standard deviation, weighted by a Gaussian of the distance.
Both come out of one fold: Welford's update adds a reading to a state of three
numbers, Chan's formula joins the states of two sets of readings.

The readings are kelvins around 280 and spread by a fraction of one, in single
precision: the textbook E[v²] - E[v]² is off by the spread itself.

Usage: python examples/local_statistics.py [PICTURE.png]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import matplotlib as mpl
import numpy as np

import tilefold

mpl.use("Agg")
import matplotlib.pyplot as plt

Array = np.ndarray[Any, np.dtype[np.float32]]

READINGS, HEIGHT, WIDTH = 30_000, 120, 240
RADIUS = 0.02

# A state is [weight, mean, weighted squares around the mean].
STATISTICS = tilefold.compile(
    """fold_j([exp(-|p_i - q_j|²/2r²), v_j], [0, 0, 0], add, join, result) with
    add(s, f) = [s[0] + f[0],
                 s[1] + (f[1] - s[1])*f[0]*pinv(s[0] + f[0]),
                 s[2] + (f[1] - s[1])²*f[0]*s[0]*pinv(s[0] + f[0])],
    join(s, t) = [s[0] + t[0],
                  (s[0]*s[1] + t[0]*t[1])*pinv(s[0] + t[0]),
                  s[2] + t[2] + (s[1] - t[1])²*s[0]*t[0]*pinv(s[0] + t[0])],
    result(s) = [s[1], sqrt(s[2]/s[0])]"""
)
TEXTBOOK = tilefold.compile(
    """(sum_j k*v_j²)/(sum_j k) - ((sum_j k*v_j)/(sum_j k))²
    with k = exp(-|p_i - q_j|²/2r²)"""
)


def measure(random: np.random.Generator) -> tuple[Array, Array]:
    """Places (READINGS, 2) and what is read there, (READINGS,)."""
    places = random.random((READINGS, 2), np.float32) * [2, 1]
    x, y = places.T
    mean = 280 + 0.5 * np.sin(4 * x) * np.cos(5 * y)
    spread = 0.02 + 0.1 * np.exp(-((x - 1.3) ** 2 + (y - 0.4) ** 2) / 0.08)
    values = mean + spread * random.standard_normal(READINGS)
    return places.astype(np.float32), values.astype(np.float32)


def pixels() -> Array:
    """(HEIGHT·WIDTH, 2) places of a regular grid."""
    x = (np.arange(WIDTH) + 0.5) * 2 / WIDTH
    y = (np.arange(HEIGHT) + 0.5) / HEIGHT
    grid = np.stack(np.meshgrid(x, y), -1)
    return grid.reshape(-1, 2).astype(np.float32)


def expected(rows: Array, places: Array, values: Array) -> np.ndarray[Any, Any]:
    """Mean and spread around each of `rows`, in double precision."""
    p, q, v = (a.astype(np.float64) for a in (rows, places, values))
    squares = ((p[:, None] - q) ** 2).sum(-1)
    weights = np.exp(-squares / (2 * RADIUS**2))
    weights /= weights.sum(1, keepdims=True)
    mean = weights @ v
    spread = np.sqrt((weights * (v - mean[:, None]) ** 2).sum(1))
    return np.stack([mean, spread], 1)


def show(maps: dict[str, Array], path: str) -> None:
    """The maps beside each other."""
    figure, axes = plt.subplots(1, len(maps), figsize=(11, 3.3))
    for axis, (title, values) in zip(axes, maps.items(), strict=True):
        image = axis.imshow(values.reshape(HEIGHT, WIDTH), origin="lower")
        axis.set_title(title, fontsize=10, loc="left")
        axis.axis("off")
        bar = figure.colorbar(
            image, ax=axis, orientation="horizontal", pad=0.03
        )
        bar.ax.tick_params(labelsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(path: str) -> None:
    """Makes the picture and prints how far off each way is."""
    random = np.random.default_rng(0)
    places, values = measure(random)
    grid = pixels()
    given = {"p": grid, "q": places, "v": values, "r": RADIUS}
    start = time.perf_counter()
    mean, spread = STATISTICS(given).T
    seconds = time.perf_counter() - start
    some = random.choice(len(grid), 300, replace=False)
    wanted = expected(grid[some], places, values)
    error = np.abs(spread[some] / wanted[:, 1] - 1).max()
    textbook = np.sqrt(np.maximum(TEXTBOOK(given)[some], 0))
    worse = np.abs(textbook / wanted[:, 1] - 1).max()
    assert error < 1e-3, f"relative error {error:.1e}"
    show({"mean, K": mean, "standard deviation, K": spread}, path)
    print(f"{seconds:.2f} s; {path}")
    print(f"the spread agrees with float64 NumPy to {error:.1e}")
    print(f"E[v²] - E[v]² in single precision is off by {worse:.0%}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "local_statistics.png")
