# tests/python/test_examples_in_parts.py - programs whose points come in parts.
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples import parts_on_engines, scale_out


def density_in_memory(x, parts):
    y = np.concatenate([points for _, _, points in parts])
    squares = cdist(x, y, "sqeuclidean")
    return logsumexp(-squares / (2 * parts_on_engines.WIDTH**2), axis=1)


# Ray uses what it has deprecated.
RAY = pytest.param("ray", marks=pytest.mark.filterwarnings("ignore"))


@pytest.mark.parametrize("engine", ["processes", "mpi", "spark", RAY])
def test_engines_merge_the_same_bits(engine):
    """Those whose library is here."""
    if engine in parts_on_engines.NEEDS:
        pytest.importorskip(parts_on_engines.NEEDS[engine])
    x, parts = parts_on_engines.problem(20_000, 40)
    result = parts_on_engines.ENGINES[engine](x, parts)
    np.testing.assert_allclose(result, density_in_memory(x, parts))
    whole = np.concatenate([points for _, _, points in parts])
    same = parts_on_engines.DENSITY(x=x, y=whole, h=parts_on_engines.WIDTH)
    assert np.array_equal(result, same)


def test_the_simulation_of_workers_counts_what_moves():
    worker = scale_out.Measured(1e9, 1e-4, 8000, 12000)
    assert scale_out.moved(worker, 1) == 0
    assert scale_out.moved(worker, 3) == 2 * 20000
    assert scale_out.simulated(worker, 5e9, 1) == pytest.approx(5.0)
    times = [scale_out.simulated(worker, 1e13, p) for p in scale_out.WORKERS]
    assert times == sorted(times, reverse=True)
    assert scale_out.measured(50, 2**13).pairs_a_second > 1e7
