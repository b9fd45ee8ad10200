# tests/python/test_jax_systems.py - systems that JAX traces refuse as others.
"""What cannot be solved is told when a call is traced, too."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

X = jnp.asarray(np.random.default_rng(1).random((6, 2)))
TEXT = "exp(-|x_i - x_j|²)"
RANGES = tilefold.Ranges([0, 3, 6], [0, 3, 6], np.eye(2, dtype=bool))


def wide(x):
    return tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=x[:4])


REFUSED = {
    "ranges of a solve": (
        lambda x: tilefold.kernel(TEXT, x=x, ranges=RANGES).solve(x, 1.0),
        "ranges choose pairs of a reduction",
    ),
    "ranges of a log determinant": (
        lambda x: tilefold.kernel(TEXT, x=x, ranges=RANGES).logdet(1.0),
        "ranges choose pairs of a reduction",
    ),
    "ranges of all values": (
        lambda x: tilefold.kernel(TEXT, x=x, ranges=RANGES).dense(),
        "ranges choose pairs of a reduction",
    ),
    "a batch": (
        lambda x: tilefold.kernel(TEXT, x=jnp.stack([x, x])).logdet(1.0),
        "has batch dimensions",
    ),
    "a system that is not square": (
        lambda x: wide(x).logdet(1.0),
        "as many rows as columns",
    ),
    "a solve that is not square": (
        lambda x: wide(x).solve(x, 1.0),
        "as many rows as columns",
    ),
    "vectors": (
        lambda x: tilefold.kernel("x_i - x_j", x=x).logdet(1.0),
        "vectors",
    ),
    "another length": (
        lambda x: tilefold.kernel(TEXT, x=x).solve(x[:4], 1.0),
        "right-hand side|rows",
    ),
    "one probe": (
        lambda x: tilefold.kernel(TEXT, x=x).logdet(1.0, probes=1),
        "probes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    call, message = REFUSED[case]
    with pytest.raises(tilefold.Error, match=message):
        jax.jit(call)(X)


def test_kernels_of_truths_have_log_determinants():
    labels = jnp.asarray([0, 1, 0, 2, 1, 0])
    same = np.equal.outer(*[np.asarray(labels)] * 2)
    expected = np.linalg.slogdet(same + 0.5 * np.eye(6))[1]
    kernel = tilefold.kernel("x_i == x_j", x=np.asarray(labels))
    assert kernel.logdet(0.5) == pytest.approx(expected)

    def traced(x):
        return tilefold.kernel("x_i == x_j", x=x).logdet(0.5)

    found = jax.jit(traced)(labels)
    assert jnp.issubdtype(found.dtype, jnp.floating)
    assert float(found) == pytest.approx(expected, rel=1e-5)
