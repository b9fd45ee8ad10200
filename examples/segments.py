# examples/segments.py - a photograph cut into regions.
"""Regions of a photograph, by spectral clusters of all pairs of its pixels.

Two pixels are alike where their colours are and where they are near: one
formula of five components, colour and place. Of a quarter of the photograph's
rows and columns, 17,120 pixels, the affinities would take 2.2 GiB; they are
computed in each product of Lanczos' method and not stored. scikit-learn's own
estimator keeps them all, or those of neighbouring pixels alone. The photograph
is a part of scikit-learn.

Usage: python examples/segments.py [PICTURE.png]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_sample_image

from tilefold.sklearn import SpectralClustering

mpl.use("Agg")
import matplotlib.pyplot as plt

Array = np.ndarray[Any, np.dtype[Any]]

STEP = 4  # rows and columns between the pixels that are taken
REGIONS = 5
AFFINITY = "exp(-|x_i[:3] - y_j[:3]|²/2c² - |x_i[3:] - y_j[3:]|²/2p²)"
COLOUR, PLACE = 0.12, 0.25  # of white; of the photograph's height


def pixels(image: Array) -> Array:
    """Colour and place of each pixel of an image (H, W, 3): (H·W, 5)."""
    height, width, _ = image.shape
    places = np.stack(np.mgrid[:height, :width], -1) / height
    points = np.concatenate([image / 255, places], -1)
    return points.reshape(-1, 5).astype(np.float32)


def regions(image: Array, count: int = REGIONS) -> Array:
    """The number of a region for each pixel: (H, W)."""
    model = SpectralClustering(
        count,
        affinity=AFFINITY,
        kernel_params={"c": COLOUR, "p": PLACE},
        assign_labels="cluster_qr",
        random_state=0,
    )
    labels: Array = model.fit_predict(pixels(image))
    return labels.reshape(image.shape[:2])


def mean_colours(image: Array, labels: Array) -> Array:
    """Each pixel in the mean colour of its region: (H, W, 3)."""
    colours = np.stack(
        [image[labels == k].mean(0) for k in range(labels.max() + 1)]
    )
    return colours[labels].astype(np.uint8)


def explained(image: Array, labels: Array) -> float:
    """The share of the colours' variance that the regions explain."""
    rest = (image - mean_colours(image, labels).astype(float)) ** 2
    return 1 - float(rest.mean() / image.var((0, 1)).mean())


def draw(path: str, image: Array, labels: Array) -> None:
    """The photograph beside its regions."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    axes[0].imshow(image)
    axes[1].imshow(mean_colours(image, labels))
    rows, columns = (np.arange(size) for size in labels.shape)
    for k in range(labels.max() + 1):
        inside = (labels == k).astype(float)
        axes[1].contour(columns, rows, inside, [0.5], colors="w", linewidths=1)
    for axis in axes:
        axis.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main(path: str) -> None:
    """Prints how well few colours do, and draws the regions."""
    image = load_sample_image("flower.jpg")[::STEP, ::STEP]
    start = time.perf_counter()
    labels = regions(image)
    seconds = time.perf_counter() - start
    count = labels.size
    print(f"{count:,} pixels, {count**2 / 1e6:,.0f} million pairs a product")
    print(f"{REGIONS} regions in {seconds:.1f} s; their mean colours are")
    print(f"{explained(image, labels):.0%} of the variance")
    draw(path, image, labels)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "segments.png")
