# tests/python/test_jax_examples.py - the programs of examples/ that need JAX.
from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))


jax = pytest.importorskip("jax")

from jax_cases import wide  # noqa: E402, F401


def test_stars_are_moved_and_their_gravity_is_found():
    gravity = importlib.import_module("examples.jax_gravity")
    x, v = gravity.stars(20)
    seen = gravity.simulate(gravity.TRUE, x, v)
    expected = gravity.simulate(gravity.TRUE, x, v, force=gravity.dense_force)
    np.testing.assert_allclose(seen, expected, rtol=1e-10, atol=1e-12)
    found = gravity.fit(gravity.TRUE + 0.1, x, v, seen)[-1]
    np.testing.assert_allclose(found, gravity.TRUE, rtol=1e-6)
    pairs = [gravity.kept(60, f) for f in (gravity.force, gravity.dense_force)]
    assert pairs[1] > 10 * pairs[0]
