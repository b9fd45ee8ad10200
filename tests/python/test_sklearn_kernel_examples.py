# tests/python/test_sklearn_kernel_examples.py - segments.py and diabetes.py.
"""Both examples at a small size beside scikit-learn."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_sample_image
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
)
from sklearn.metrics import adjusted_rand_score

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples import diabetes, segments


def test_regions_are_those_of_the_matrix_of_all_pixels():
    image = load_sample_image("flower.jpg")[100:340:8, 100:400:8]
    points = segments.pixels(image).astype(np.float64)
    colour = cdist(points[:, :3], points[:, :3]) / segments.COLOUR
    place = cdist(points[:, 3:], points[:, 3:]) / segments.PLACE
    theirs = SpectralClustering(
        3,
        affinity="precomputed",
        assign_labels="cluster_qr",
        random_state=0,
    ).fit_predict(np.exp(-(colour**2 + place**2) / 2))
    labels = segments.regions(image, 3)
    assert labels.shape == image.shape[:2]
    assert adjusted_rand_score(theirs, labels.ravel()) > 0.95


def test_regions_explain_the_colours_and_are_drawn(tmp_path):
    image = np.zeros((9, 12, 3), np.uint8)
    image[:, 6:] = 200
    labels = segments.regions(image, 2)
    assert (labels[:, :6] != labels[:, 6:]).all()
    assert (segments.mean_colours(image, labels) == image).all()
    assert segments.explained(image, labels) == 1
    assert segments.explained(image, 0 * labels) == 0
    segments.draw(str(tmp_path / "segments.png"), image, labels)
    assert (tmp_path / "segments.png").stat().st_size > 1000


def test_covariances_of_patients_are_those_of_scikit_learn():
    x, y, names = diabetes.measured()
    assert x.shape == (442, diabetes.COUNT)
    assert len(names) == diabetes.COUNT
    lengths = np.full(diabetes.COUNT, 5.0)
    line = ConstantKernel(0.1) * DotProduct(0.0)
    right = {
        "a line": line,
        "a smooth function": ConstantKernel(0.5) * RBF(3.0),
        "a line and a function of some": line
        + ConstantKernel(0.5) * RBF(lengths),
    }
    found = diabetes.covariances()
    assert found.keys() == right.keys()
    for name, kernel in found.items():
        assert np.allclose(kernel(x), right[name](x), atol=1e-12)
    model = diabetes.process(found["a smooth function"]).fit(x[:80], y[:80])
    assert model.score(x[:80], y[:80]) > 0.3
