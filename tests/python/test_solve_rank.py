# tests/python/test_solve_rank.py - how many rows a preconditioner takes.
from __future__ import annotations

import warnings

import numpy as np
import pytest

import tilefold


@pytest.mark.parametrize(("ridge", "before"), [(1e-3, 1e-6), (1e-8, 1e-2)])
def test_a_preconditioner_grows_with_what_is_asked_of_it(ridge, before):
    """Ridge regression: a hundred rows leave `before` of it, or take longer."""
    x = np.random.default_rng(0).standard_normal((900, 6))
    kernel = tilefold.kernel("exp(-|x_i - x_j|²/6)", x=x)
    y = np.sin(x.sum(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tilefold.ConvergenceWarning)
        _, fixed = kernel.solve(y, ridge, rank=100, info=True)
    found, info = kernel.solve(y, ridge, info=True)
    assert info.converged
    assert 100 < info.rank <= 480
    assert fixed.rank == 100
    assert fixed.residuals > before or fixed.iterations > 1.5 * info.iterations
    left = kernel @ found + ridge * found - y
    assert np.linalg.norm(left) <= 1e-6 * np.linalg.norm(y)


def test_a_preconditioner_stays_small_where_few_iterations_are_left():
    x = np.random.default_rng(0).standard_normal((900, 6))
    kernel = tilefold.kernel("exp(-|x_i - x_j|²/6)", x=x)
    for ridge in (30.0, 1.0):
        _, usual = kernel.solve(x[:, 0], ridge, info=True)
        _, fixed = kernel.solve(x[:, 0], ridge, rank=100, info=True)
        assert (usual.rank, usual.iterations) == (100, fixed.iterations)


@pytest.mark.parametrize("preconditioner", ["cholesky", "nystrom"])
def test_the_rank_is_told(preconditioner):
    x = np.random.default_rng(3).standard_normal((300, 3))
    kernel = tilefold.kernel("exp(-12.5*|x_i - x_j|²)", x=x)
    for rank in (1, 30, np.int64(200)):
        _, info = kernel.solve(
            x[:, 0], 0.1, preconditioner=preconditioner, rank=rank, info=True
        )
        assert info.rank == rank
        assert info.converged
