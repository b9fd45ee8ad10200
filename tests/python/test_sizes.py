# tests/python/test_sizes.py - numbers of points, components and batches where
# 32 bits, or the digits of a float, would not do.
from __future__ import annotations

import numpy as np
import pytest

import tilefold


def test_more_elements_than_32_bits_count():
    """N·D = 2^31 + 2^15 elements, one row in memory."""
    n, d = 2**16 + 1, 2**15
    row = np.linspace(0, 1, d, dtype=np.float32)
    x = np.broadcast_to(row, (n, d))
    found = tilefold.reduce("sum_j x_i·y_j", x=x, y=row[None])
    wanted = np.dot(row.astype(np.float64), row.astype(np.float64))
    np.testing.assert_allclose(found[[0, n // 2, -1]], wanted, rtol=1e-5)


def test_more_points_than_32_bits_count():
    """2^31 + 5 points that are one number in memory."""
    points = np.broadcast_to(np.zeros((), np.float32), (2**31 + 5,))
    assert tilefold.reduce("count_j (y_j == 0)", y=points) == 2**31 + 5


@pytest.mark.parametrize("axis", ["i", "j"])
def test_indices_beyond_the_digits_of_float32(axis):
    size = 2**24 + 5
    values = np.ones(size, np.float32)
    values[2**24 + 3] = 0
    found = tilefold.reduce(f"argmin_{axis} v_{axis}", v=values)
    assert found == 2**24 + 3


def test_labels_beyond_the_digits_of_float32():
    labels = np.array([2**24, 2**24 + 1, 2**53, 2**53 + 1])
    same = tilefold.reduce("sum_j where(a_i == a_j, 1, 0)", a=labels)
    np.testing.assert_array_equal(same, 1)


def test_more_batches_than_a_grid_has_blocks():
    batches = 70_000
    x = np.arange(batches, dtype=np.float32).reshape(batches, 1, 1)
    y = np.ones((2, 1), np.float32)
    found = tilefold.reduce("sum_j x_i·y_j", x=x, y=y)
    assert found.shape == (batches, 1)
    np.testing.assert_array_equal(found[:, 0], 2 * x[:, 0, 0])


@pytest.mark.parametrize("d", [1, 2, 31, 33, 405, 600])
def test_any_number_of_components(d):
    random = np.random.default_rng(d)
    x, y = random.random((33, d)), random.random((17, d))
    found = tilefold.reduce("sum_j |x_i - y_j|²", x=x, y=y)
    wanted = ((x[:, None] - y) ** 2).sum((1, 2))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 63, 64, 65, 255, 257])
@pytest.mark.parametrize("m", [1, 255, 256, 257])
def test_around_the_edges_of_tiles(n, m):
    random = np.random.default_rng(n * m)
    x = random.random((n, 3)).astype(np.float32)
    y = random.random((m, 3)).astype(np.float32)
    found = tilefold.reduce("sum_j exp(-|x_i - y_j|²)", x=x, y=y)
    squares = ((x[:, None].astype(float) - y) ** 2).sum(-1)
    np.testing.assert_allclose(found, np.exp(-squares).sum(1), rtol=1e-6)
