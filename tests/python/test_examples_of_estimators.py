# tests/python/test_examples_of_estimators.py - examples with scikit-learn.
"""Each at a small size against NumPy and scikit-learn."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.neighbors
from scipy.spatial.distance import cdist

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples import digits


@pytest.fixture
def random():
    return np.random.default_rng(3)


def test_a_distance_of_images_that_may_be_moved(random):
    images = random.random((30, 64)) * (random.random((30, 64)) < 0.4)
    dense = np.array([[digits.shifted(x, y) for y in images] for x in images])
    right = np.zeros_like(images)
    right[:, 1:] = images[:, :-1]  # its last pixel is left to the paper
    assert (dense <= cdist(images, images) + 1e-12).all()
    last = images[:, -1]
    for k in range(30):
        moved = np.sqrt(((images[k] - right[k]) ** 2).sum())
        assert digits.shifted(images[k], right[k]) <= last[k] + 1e-12 < moved
    model = digits.KMedoids(2, metric=digits.shifted, init=[0, 1])
    model.fit(images)
    near = dense[:, model.medoid_indices_]
    np.testing.assert_allclose(model.transform(images), near, 1e-9, 1e-12)
    assert (model.labels_ == near.argmin(1)).all()


def test_digits_are_told_apart_and_made_up():
    images, labels = digits.load_digits(n_class=10, return_X_y=True)
    images, labels = images[:500], labels[:500]
    assert digits.accuracy(images, labels, digits.shifted) > 0.7
    typical = digits.medoids(images, labels)
    assert (typical[:, None] == images).all(-1).any(1).all()
    new = digits.made_up(images, labels)
    assert new.shape == (10, 3, 64)
    search = sklearn.neighbors.KNeighborsClassifier(3).fit(images, labels)
    found = search.predict(new.reshape(30, 64)).reshape(10, 3)
    assert (found == np.arange(10)[:, None]).mean() > 0.8
