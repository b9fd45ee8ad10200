# examples/colour_transfer.py - the colours of one picture carried to another.
"""Carries the colours of china.jpg to flower.jpg by optimal transport.

1. Sinkhorn's algorithm on 30,000 random pixels of each picture, while the
   blur ε falls from 0.3 to 0.003: two log-sum-exp reductions a step.
2. Every pixel of the flower moves to the mean of the colours it is carried
   to: one softmax reduction.
3. The change of colour is smoothed along the edges of the flower: a Gaussian
   filter over position and colour at once, all 273,280 pixels against all.

No matrix is stored; the last one alone would take 278 GiB.

Usage: python examples/colour_transfer.py [PICTURE.png]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_sample_image
from tqdm import tqdm

import tilefold

mpl.use("Agg")
import matplotlib.pyplot as plt

Array = np.ndarray[Any, np.dtype[np.float32]]

SAMPLES = 30_000
BLURS = [0.3 * 0.7**k for k in range(13)] + [0.003]
STEPS_PER_BLUR = 2

SOFT_MINIMUM = tilefold.compile("logsumexp_j(g_j - |x_i - y_j|²/2ε)")
CARRIED = tilefold.compile("softmax_j(g_j - |x_i - y_j|²/2ε, y_j)")
SMOOTHED = tilefold.compile(
    "(sum_j k(p_i,p_j) d_j) / (sum_j k(p_i,p_j)) with k(u,v) = exp(-|u-v|²/2)"
)


class Progress:
    """A bar that counts pairs of points over several reductions."""

    def __init__(self, title: str, total: float) -> None:
        self._bar = tqdm(
            total=total, desc=title, unit="pair", unit_scale=True, ncols=79
        )
        self._before = 0.0
        self.options = tilefold.Options(progress=self._update)

    def _update(self, done: float, _: float) -> None:
        self._bar.update(self._before + done - self._bar.n)

    def finish(self, pairs: float) -> None:
        """One reduction of `pairs` pairs is done."""
        self._before += pairs
        self._bar.update(self._before - self._bar.n)

    def close(self) -> None:
        """No more reductions come."""
        self._bar.close()


def pixels_of(name: str) -> Array:
    """A sample picture as (height, width, 3) numbers from 0 to 1."""
    return load_sample_image(name).astype(np.float32) / 255


def sample(picture: Array, random: np.random.Generator) -> Array:
    """(SAMPLES, 3) random pixels, none twice."""
    pixels = picture.reshape(-1, 3)
    return pixels[random.choice(len(pixels), SAMPLES, replace=False)]


def potential(x: Array, y: Array) -> Array:
    """g_j of the transport between uniform x and y at the last blur, (M,).

    g holds the logarithm of the weight, log 1/M; what remains of it scales
    with 1/ε, so that the next blur starts where the last one ended.
    """
    weight = np.float32(-np.log(SAMPLES))
    f = np.full(SAMPLES, weight, np.float32)
    g = np.full(SAMPLES, weight, np.float32)
    pairs = float(SAMPLES) ** 2
    bar = Progress("Sinkhorn", 2 * pairs * STEPS_PER_BLUR * len(BLURS))
    before, compiles = BLURS[0], -1
    for blur in BLURS:
        f, g = (weight + (h - weight) * (before / blur) for h in (f, g))
        before = blur
        for _ in range(STEPS_PER_BLUR):
            f = weight - SOFT_MINIMUM(
                x=x, y=y, g=g, ε=blur, options=bar.options
            )
            bar.finish(pairs)
            g = weight - SOFT_MINIMUM(
                x=y, y=x, g=f, ε=blur, options=bar.options
            )
            bar.finish(pairs)
        if compiles < 0:
            compiles = tilefold.stats().compiles
        assert tilefold.stats().compiles == compiles, "a blur was compiled"
    bar.close()
    return g


def carry(pixels: Array, y: Array, g: Array) -> Array:
    """Where each of the (N, 3) pixels is carried to, (N, 3)."""
    pairs = float(len(pixels)) * len(y)
    bar = Progress("carry", pairs)
    carried = CARRIED(x=pixels, y=y, g=g, ε=BLURS[-1], options=bar.options)
    bar.finish(pairs)
    bar.close()
    return carried


def edges_of(picture: Array) -> Array:
    """(position/8, colour/0.25) of each pixel, (N, 5)."""
    height, width, _ = picture.shape
    rows, columns = np.mgrid[:height, :width].astype(np.float32)
    places = np.stack([rows, columns], -1) / 8
    return np.concatenate([places, picture / 0.25], -1).reshape(-1, 5)


def smooth(change: Array, edges: Array) -> Array:
    """The (N, 3) change, averaged over pixels near in place and colour."""
    pairs = float(len(edges)) ** 2
    bar = Progress("smooth", pairs)
    result = SMOOTHED(p=edges, d=change, options=bar.options)
    bar.finish(pairs)
    bar.close()
    return result


def largest_error(smoothed: Array, change: Array, edges: Array) -> float:
    """200 pixels against float64 sums over all, relative to the largest."""
    random = np.random.default_rng(1)
    rows = random.choice(len(edges), 200, replace=False)
    p, d = edges.astype(np.float64), change.astype(np.float64)
    expected = np.empty((len(rows), 3))
    for k, row in enumerate(rows):
        weights = np.exp(-((p - p[row]) ** 2).sum(1) / 2)
        expected[k] = weights @ d / weights.sum()
    errors = np.abs(smoothed[rows] - expected)
    return float(errors.max() / np.abs(expected).max())


def show(pictures: dict[str, Array], path: str) -> None:
    """Four pictures in one file."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.6))
    for axis, (title, picture) in zip(axes.flat, pictures.items(), strict=True):
        axis.imshow(np.clip(picture, 0, 1))
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(path: str) -> None:
    """Makes the picture and prints what it took."""
    start = time.perf_counter()
    random = np.random.default_rng(0)
    china, flower = pixels_of("china.jpg"), pixels_of("flower.jpg")
    x, y = sample(flower, random), sample(china, random)
    pixels = flower.reshape(-1, 3)
    change = carry(pixels, y, potential(x, y)) - pixels
    edges = edges_of(flower)
    smoothed = smooth(change, edges)
    seconds = time.perf_counter() - start
    error = largest_error(smoothed, change, edges)
    assert error < 1e-4, f"relative error {error:.1e}"
    pictures = {
        "the colours of this picture …": china,
        "… carried to this one": flower,
        "carried pixel by pixel": (pixels + change).reshape(flower.shape),
        "the change smoothed along edges": (pixels + smoothed).reshape(
            flower.shape
        ),
    }
    show(pictures, path)
    size = 4 * float(len(pixels)) ** 2 / 2**30
    print(f"{seconds:.1f} s; {path}")
    print(f"200 pixels agree with float64 NumPy to {error:.1e}")
    print(f"the last {len(pixels):,}² matrix alone would take {size:.0f} GiB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "colour_transfer.png")
