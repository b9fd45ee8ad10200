# tests/python/test_sklearn_kernel_examples.py - diabetes.py, and regions.
"""Examples of kernel machines at a small size beside scikit-learn."""

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

import tilefold.sklearn

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples import diabetes


def test_regions_are_those_of_the_matrix_of_all_pixels():
    """As those of the gallery's plot_segments.py."""
    image = load_sample_image("flower.jpg")[100:340:8, 100:400:8]
    height, width, _ = image.shape
    places = np.stack(np.mgrid[:height, :width], -1) / height
    points = np.concatenate([image / 255, places], -1).reshape(-1, 5)
    colour = cdist(points[:, :3], points[:, :3]) / 0.12
    place = cdist(points[:, 3:], points[:, 3:]) / 0.25
    how = {"n_clusters": 3, "assign_labels": "cluster_qr", "random_state": 0}
    theirs = SpectralClustering(affinity="precomputed", **how).fit_predict(
        np.exp(-(colour**2 + place**2) / 2)
    )
    ours = tilefold.sklearn.SpectralClustering(
        affinity="exp(-|x_i[:3] - y_j[:3]|²/2c² - |x_i[3:] - y_j[3:]|²/2p²)",
        kernel_params={"c": 0.12, "p": 0.25},
        **how,
    ).fit_predict(points.astype(np.float32))
    assert adjusted_rand_score(theirs, ours) > 0.95


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
