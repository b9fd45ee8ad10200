# tests/python/test_special_values.py - every function of zeros, infinities, NaN
# and the largest and least numbers, alone and on pairs, against NumPy.
from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.interpolate import BSpline

import tilefold
from instruction_sets import PORTABLE
from meanings import OPERATIONS
from tilefold import _core
from tilefold.compat.pykeops.numpy import Genred

NOT_NUMBERS = {"truth", "order", "degree", "vector", "vector3", "matrix"}
ROWS = {
    row["name"]: row
    for row in _core._tables()["operations"]
    if row["shape"] == "Elementwise"
    and row["name"] in OPERATIONS
    and OPERATIONS[row["name"]].by_component
    and not NOT_NUMBERS & set(OPERATIONS[row["name"]].operands)
    and int(row["arity"]) < 3
}
VALUES = [
    0.0, 0.5, 1, 2.5, np.pi, 10, 88, 1e-30, 1e30, np.inf, np.nan,
]  # fmt: skip


def values(dtype):
    limits = np.finfo(dtype)
    sizes = np.array(
        [*VALUES, limits.max, limits.max / 3, limits.tiny, limits.tiny * 5]
    )
    return np.concatenate([sizes, -sizes]).astype(dtype)


def call(row, a, b):
    """The row's text, of terms a and b."""
    spelling, name = row["spelling"], row["name"]
    if name == "Neg":
        return f"-({a})"
    if row["arity"] == "1":
        return f"{spelling}({a})"
    if spelling.isidentifier() and name != "Mod":
        return f"{spelling}({a}, {b})"
    return f"{a} {spelling} {b}"


def meaning(row, a, b, dtype):
    """By NumPy in double precision; what is beyond the dtype is infinite."""
    function = OPERATIONS[row["name"]].function
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = function(a) if row["arity"] == "1" else function(a, b)
    found = np.array(np.broadcast_arrays(found, a, b)[0], np.float64)
    if row["name"] in ("Silu", "Gelu"):  # the limit, not 0*inf
        found[np.broadcast_to(a == -np.inf, found.shape)] = 0
    largest = np.finfo(dtype).max
    with np.errstate(invalid="ignore"):
        found[found > largest] = np.inf
        found[found < -largest] = -np.inf
    return found


def expect(found, wanted, dtype, text):
    """The same within rounding; what is subnormal may count as 0."""
    tolerance = 3e-5 if dtype == "float32" else 1e-9
    limits = np.finfo(dtype)
    found = np.asarray(found, np.float64)
    with np.errstate(invalid="ignore"):
        right = np.abs(found - wanted) <= tolerance * np.abs(wanted)
        right |= (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        right |= np.abs(found - wanted) <= limits.tiny
        ends = np.minimum(abs(found), abs(wanted)) > 0.99 * float(limits.max)
        right |= ends & (np.sign(found) == np.sign(wanted))
    assert right.all(), (text, np.argwhere(~right), found[~right])


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ROWS)
def test_alone_and_on_pairs(name, dtype, isa):
    row, numbers = ROWS[name], values(dtype)
    session = tilefold.Session(tilefold.Options(isa=isa))
    a, b = numbers[:, None], numbers[None, :]
    pair = call(row, "a_i", "b_j")
    wanted = meaning(row, a, b, dtype)
    if row["arity"] == "1":
        pair = call(row, "(a_i + 0*b_j)", "")
        b = np.zeros((1, 2), dtype)
        wanted = np.repeat(wanted[:, :1], 2, axis=1)
        alone = call(row, "a_i", "")
        found = tilefold.reduce(alone, a=numbers, session=session)
        expect(found, wanted[:, 0], dtype, alone)
    kernel = tilefold.kernel(pair, a=numbers, b=b[0], session=session)
    expect(kernel.dense(), wanted, dtype, pair)
    if name not in ("Less", "LessEqual", "Equal", "NotEqual"):
        largest = f"max_j where({pair} == {pair}, {pair}, -inf)"
        found = tilefold.reduce(largest, a=numbers, b=b[0], session=session)
        met = np.where(np.isnan(wanted), -np.inf, wanted).max(1)
        expect(found, met, dtype, largest)


@pytest.mark.parametrize("degree", range(4))
@pytest.mark.parametrize("inner", [[], [0.5], [0.2, 0.5, 0.5, 0.7]])
def test_splines_hold_their_last_knot(inner, degree):
    """As SciPy's do; those of `pykeops` are 0 there, as KeOps' are."""
    ends = degree + 1
    t = np.array([0.0] * ends + inner + [1.0] * ends)
    x = np.array([0, 0.1, 0.2, 0.5, 0.9, 1])
    found = tilefold.reduce(f"bspline(t, x_i, {degree})", t=t[None], x=x)
    wanted = BSpline.design_matrix(x, t, degree).toarray()
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, atol=1e-15)
    outside = tilefold.reduce(
        f"bspline(t, x_i, {degree})", t=t[None], x=np.array([-0.1, 1.1])
    )
    np.testing.assert_array_equal(outside, 0)
    splines = Genred(
        f"BSpline(t, x, {degree})", [f"t = Pm({len(t)})", "x = Vi(1)"], axis=1
    )
    np.testing.assert_array_equal(splines(t, x[-1:, None]), 0)
