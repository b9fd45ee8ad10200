# tests/python/test_lanes.py - a number's function has the same bits whatever
# lies beside it in a vector.
"""Every elementwise operation of one and two operands, on arguments near and
far, infinite and NaN, one by one and all together in any order."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from instruction_sets import HERE
from random_terms import TABLES

OPERATIONS = {
    row["spelling"]: int(row["arity"])
    for row in TABLES["operations"]
    if row["shape"] == "Elementwise"
    and row["arity"] in "12"
    and row["spelling"].isidentifier()
    and row["spelling"] not in ("not", "and", "or", "mod", "neg")
    # These are computed one by one.
    and not row["name"].startswith(("Bessel", "Polygamma"))
}
OPERATIONS["^"] = 2


def numbers(dtype: str) -> np.ndarray:
    random = np.random.default_rng(0)
    ends = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, 2, 15, 125, 39e3, 1e14, 1e15]
    parts = [
        random.standard_normal(200) * 3,
        random.uniform(-100, 100, 150),
        10 ** random.uniform(-40, 40, 150) * random.choice([-1, 1], 150),
        np.array(ends * 4),
    ]
    with np.errstate(over="ignore"):
        return np.concatenate(parts).astype(dtype)


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_do_not_depend_on_neighbours(dtype, isa):
    x = numbers(dtype)
    z = np.roll(x, 17)
    order = np.random.default_rng(1).permutation(len(x))
    options = tilefold.Options(isa=isa)
    for spelling, arity in OPERATIONS.items():
        if spelling == "^":
            text = "abs(x_i)^z_i"
        else:
            text = f"{spelling}(x_i{', z_i' if arity == 2 else ''})"
        formula = tilefold.compile(text)

        def compute(points, formula=formula, arity=arity):
            given = {"x": x[points], "z": z[points]}
            if arity == 1:
                del given["z"]
            return formula(given, options=options)

        alone = [compute(slice(k, k + 1)) for k in range(len(x))]
        wanted = np.concatenate(alone)
        found = np.empty_like(wanted)
        found[order] = compute(order)
        np.testing.assert_array_equal(found, wanted, err_msg=text)
