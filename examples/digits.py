# examples/digits.py - handwritten digits told apart, summed up and made up.
"""Neighbours, medoids and densities of 1,797 handwritten digits.

Two scans of one digit differ most by where the pen was put down. The distance
here is the least of five Euclidean ones: of the images as they are, and of
one moved by a pixel in each direction. It is a Python function of two images;
scikit-learn would call it for each of three million pairs, tilefold reads it
once.

Where a hundred scans are labelled, their neighbours by that distance tell the
others apart better than Euclid's do, and the medoids are the scans that stand
for the others. New digits are drawn from a density
for each class, on the principal components, with the bandwidth that left-out
scans find likeliest.

Usage: python examples/digits.py [PICTURE.png]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV

from tilefold.sklearn import KernelDensity, KMedoids, KNeighborsClassifier

Array = np.ndarray[Any, np.dtype[np.float64]]

WIDTH = 8  # of an image, and its height
PIXELS = WIDTH * WIDTH
DRAWN = 3  # of each digit
LABELLED = 18  # one scan of as many


def shifted(x: Any, y: Any) -> Any:
    """The least distance of two images of 64 pixels, y moved by one or not.

    A row ends where the next one begins: what is moved out on the right comes
    in on the left, where there is nothing but paper.
    """
    least = ((x - y) ** 2).sum()
    for step in (1, WIDTH):
        for here, there in ((x, y), (y, x)):
            moved = ((here[step:] - there[: PIXELS - step]) ** 2).sum()
            moved = moved + (here[:step] ** 2).sum()
            moved = moved + (there[PIXELS - step :] ** 2).sum()
            least = np.minimum(least, moved)
    return np.sqrt(least)


def accuracy(images: Array, labels: Array, metric: Any) -> float:
    """Of the nearest of every 18th scan, the mean over all choices."""
    shares = []
    for first in range(LABELLED):
        model = KNeighborsClassifier(1, metric=metric)
        model.fit(images[first::LABELLED], labels[first::LABELLED])
        shares.append(model.score(images, labels))
    return float(np.mean(shares))


def medoids(images: Array, labels: Array) -> Array:
    """One scan of each digit: that with the least sum of distances."""
    return np.stack(
        [
            KMedoids(1, metric=shifted)
            .fit(images[labels == digit])
            .cluster_centers_[0]
            for digit in range(10)
        ]
    )


def made_up(images: Array, labels: Array) -> Array:
    """New images, of shape (10, DRAWN, 64)."""
    drawn = []
    for digit in range(10):
        components = PCA(15, random_state=0)
        points = components.fit_transform(images[labels == digit])
        grid = {"bandwidth": np.geomspace(1, 10, 12)}
        search = GridSearchCV(KernelDensity(), grid, cv=5).fit(points)
        new = search.best_estimator_.sample(DRAWN, random_state=digit)
        drawn.append(components.inverse_transform(new))
    return np.stack(drawn)


def show(typical: Array, new: Array, path: str) -> None:
    """Medoids above, new digits below."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1 + DRAWN, 10, figsize=(8, 3.7))
    rows = np.concatenate([typical[None], new.transpose(1, 0, 2)])
    for row, images in zip(axes, rows, strict=True):
        for axis, image in zip(row, images, strict=True):
            pixels = image.reshape(WIDTH, WIDTH)
            axis.imshow(pixels, cmap="gray_r", vmin=0, vmax=16)
            axis.axis("off")
    axes[0, 0].set_title("medoids", loc="left", fontsize=10)
    axes[1, 0].set_title("drawn from the density", loc="left", fontsize=10)
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.93, wspace=0.1, hspace=0.25)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(path: str) -> None:
    """Makes the picture and prints how many digits are told apart."""
    images, labels = load_digits(return_X_y=True)
    for title, metric in ("Euclid's", "euclidean"), ("the shifted", shifted):
        start = time.perf_counter()
        share = accuracy(images, labels, metric)
        seconds = time.perf_counter() - start
        print(f"by {title} distance {share:.2%} are right, {seconds:.1f} s")
    show(medoids(images, labels), made_up(images, labels), path)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "digits.png")
