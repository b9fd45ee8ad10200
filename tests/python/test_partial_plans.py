# tests/python/test_partial_plans.py - parts into states, of any plan, and what
# is told of a reduction.
"""States that parts go into, states of other plans, counts of passes."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilefold
from test_partial import (
    FORMULAS,
    GAUSSIAN,
    SEGMENT,
    B,
    M,
    N,
    X,
    Y,
    arrays_of,
    part_of,
    rows_of,
    states_for_refusals,
    states_of,
)

ORDER_FREE = [
    "max_j x_i·y_j",
    "min_j |x_i - y_j|",
    "argmin_j |x_i - y_j|²",
    "argmax_j x_i·y_j",
    "kmin_j(|x_i - y_j|², 4)",
    "argkmin_j(|x_i - y_j|², 4)",
    "count_j (|x_i - y_j|² < 2)",
    "max_ij x_i·y_j",
    "argmax_j b_j",
    "any_j (b_j > 2)",
    "all_j (x_i·y_j < 3)",
]


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_parts_of_any_length_where_the_order_is_free(data):
    text = data.draw(st.sampled_from(ORDER_FREE))
    dtype = data.draw(st.sampled_from(["f8", "f4"]))
    arrays = {k: v.astype(dtype) for k, v in arrays_of(text).items()}
    arrays["y" if "y" in arrays else "b"][M // 2 :] = 1.0  # there are ties
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    assert reduction.order_free(arrays)
    inner = data.draw(st.sets(st.integers(1, M - 1), max_size=8))
    states = states_of(reduction, arrays, sorted({0, M, *inner}))
    order = data.draw(st.permutations(states))
    result = reduction.finalise(reduction.merge(*order), rows_of(arrays))
    whole = reduction(arrays)
    assert np.asarray(result).tobytes() == np.asarray(whole).tobytes()


def test_what_is_told_of_a_reduction():
    types = {
        "x": tilefold.ArgumentType(("N", 3), "f8"),
        "y": tilefold.ArgumentType(("M", 3), "f8"),
        "b": tilefold.ArgumentType(("M",), "f8"),
    }
    told = {
        "sum_j exp(-|x_i - y_j|²) b_j": (1, False),
        "max_j x_i·y_j": (1, True),
        "max_i count_j (|x_i - y_j| < 1)": (2, True),
        "var_j |x_i - y_j|": (2, False),
        "max_i sum_j x_i·y_j": (2, False),
        "argmin_j |x_i - y_j|": (1, True),
        "logsumexp_j x_i·y_j": (1, False),
        "fold_j(b_j, 0, add) with add(a, b) = a + b": (1, False),
        "x_i·x_i": (0, True),
    }
    for text, (sweeps, free) in told.items():
        own = {k: v for k, v in types.items() if f"{k}_" in text}
        reduction = tilefold.Reduction(text)
        assert reduction.sweeps(own) == sweeps, text
        assert reduction.order_free(**own) == free, text
        assert reduction.sweeps(arrays_of(text)) == sweeps
    passes = tilefold.Reduction("var_j |x_i - y_j|").passes(
        x=types["x"], y=types["y"]
    )
    assert len(passes) == 2
    gradient = tilefold.compile("max_j x_i·y_j").grad("x")
    own = {**types, "grad": tilefold.ArgumentType(("N",), "f8")}
    del own["b"]
    assert not tilefold.Reduction(gradient).order_free(own)
    batch = {"x": np.zeros((2, N, 3)), "y": np.zeros((2, M, 3))}
    reduction = tilefold.Reduction("max_j x_i·y_j")
    assert reduction.order_free(batch, batch_rank=1)
    assert reduction.sweeps(
        {k: tilefold.ArgumentType(v.shape, "f4") for k, v in batch.items()},
        batch_rank=1,
    )
    with pytest.raises(tilefold.ArgumentError, match="needs 'y'"):
        reduction.sweeps(x=X)


@pytest.mark.parametrize("text", sorted(FORMULAS))
def test_parts_go_into_a_state(text):
    arrays = arrays_of(text)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    state, before = None, []
    for a, b in pairwise([0, 3 * SEGMENT, 5 * SEGMENT, M]):
        part = part_of(arrays, a, b)
        state = reduction.partial(part, j=(a, M), into=state)
        before.append((state, state.to_bytes()))
        assert state.parts() == [(0, b)]
    result = reduction.finalise(state, rows_of(arrays))
    assert np.array_equal(result, reduction(arrays))
    # Those that something went into are as they were.
    assert all(one.to_bytes() == data for one, data in before)


def of_another_plan(text):
    """Two reductions of a formula, whose kernels are not the same."""
    arrays = arrays_of(text)
    formula = tilefold.compile(text)
    for plan in formula.plans(arrays)[1:]:
        options = tilefold.Options(plan=plan)
        other = tilefold.Reduction(text, segment=SEGMENT, options=options)
        one = tilefold.Reduction(text, segment=SEGMENT)
        try:
            kinds = [r.identity(arrays).kind for r in (one, other)]
        except tilefold.ArgumentError:  # a plan without states
            continue
        if (
            kinds[0].fingerprint.split("-")[1]
            != (kinds[1].fingerprint.split("-")[1])
        ):
            return one, other
    return None


@pytest.mark.parametrize("text", sorted(FORMULAS))
def test_states_of_other_plans_are_mixed(text):
    found = of_another_plan(text)
    if found is None:
        pytest.skip("one plan has states")
    one, other = found
    arrays = arrays_of(text)
    cuts = [0, 100, 640, 900, M]
    states = [
        (one, other)[k % 2].partial(part_of(arrays, a, b), j=(a, M))
        for k, (a, b) in enumerate(pairwise(cuts))
    ]
    with pytest.raises(tilefold.ArgumentError, match="mixed=True"):
        one.merge(*states)
    for by in (one, other):
        merged = by.merge(*states[::-1], mixed=True)
        result = by.finalise(merged, rows_of(arrays))
        np.testing.assert_allclose(result, one(arrays), rtol=1e-11)
        if one.order_free(arrays):
            assert np.array_equal(result, one(arrays))
    d = ((X[:, None] - Y) ** 2).sum(-1)
    want = FORMULAS[text](SimpleNamespace(d=d, s=X @ Y.T, b=B))
    np.testing.assert_allclose(result, want, rtol=1e-11)


def test_states_whose_rows_lie_apart_otherwise():
    """As those of a machine of longer vectors do."""
    reduction, states = states_for_refusals()
    kind = states[0].kind
    other = replace(
        kind,
        stride=2 * kind.stride,
        fingerprint=kind.fingerprint.split("-")[0] + "-" + "0" * 32,
    )

    def spread(arrays):
        return {
            key: np.concatenate([one, np.full_like(one, np.nan)], -1)
            for key, one in arrays.items()
        }

    far = tilefold.State(
        other, spread(states[0].nodes), spread(states[0].fragments)
    )
    want = reduction.finalise(reduction.merge(*states), x=X)
    for pair in ((far, states[1]), (states[1], far)):
        result = reduction.finalise(reduction.merge(*pair, mixed=True), x=X)
        assert np.array_equal(result, want)
        with pytest.raises(tilefold.ArgumentError, match="mixed=True"):
            reduction.merge(*pair)
    with pytest.raises(tilefold.ArgumentError, match="mixed=True"):
        reduction.finalise(replace(far, nodes={(10, 0): far.nodes[3, 0]}), x=X)


def other_types(r):
    return r.partial(x=X, y=Y[640:], b=B[640:].astype("f4"), j=(640, M))


MIXED = {
    "another formula": lambda r, s: r.merge(
        s[0],
        tilefold.Reduction("sum_j x_i·y_j", segment=SEGMENT).partial(
            x=X, y=Y[640:], j=(640, M)
        ),
        mixed=True,
    ),
    "another segment": lambda _, s: tilefold.Reduction(
        GAUSSIAN, segment=128
    ).merge(*s, mixed=True),
    "other types": lambda r, s: r.merge(s[0], other_types(r), mixed=True),
    "into another formula's": lambda _, s: tilefold.Reduction(
        "sum_j x_i·y_j", segment=SEGMENT
    ).partial(x=X, y=Y[640:], j=(640, M), into=s[0]),
    "into one of other types": lambda r, s: r.partial(
        x=X, y=Y[640:], b=B[640:].astype("f4"), j=(640, M), into=s[0]
    ),
    "into no state": lambda r, _: r.partial(x=X, y=Y, b=B, into=3),
    "overlaps": lambda r, _: r.partial(
        x=X, y=Y[630:], b=B[630:], j=(630, M), into=r.partial(
            x=X, y=Y[:635], b=B[:635], j=(0, M)
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MIXED)
def test_refusals_of_other_states(case):
    message = {
        "into no state": "a int",
        "overlaps": "do not overlap",
        "into one of other types": "other types of arguments",
    }.get(case, "another formula")
    with pytest.raises(tilefold.ArgumentError, match=message):
        MIXED[case](*states_for_refusals())


@pytest.mark.parametrize("poison", [1.5, -1.0])
def test_parts_of_no_points(poison):
    """A fold of no row is of no row, whatever scratch held before."""
    none, some = np.zeros(0, "f4"), np.full(70, poison, "f4")
    busy = tilefold.compile("argkmin_ij(d_i*a_j, 2)")
    for text, wanted in {
        "argkmin_ij(d_i*a_j, 2)": [-1, -1],
        "kmin_ij(d_i*a_j, 2)": [np.inf, np.inf],
        "argmax_ij (d_i*a_j)": -1,
        "sum_ij d_i*a_j": 0,
        "logsumexp_ij(d_i*a_j)": -np.inf,
    }.items():
        busy(d=some, a=some)
        reduction = tilefold.Reduction(text)
        state = reduction.partial({"d": none, "a": none})
        np.testing.assert_array_equal(reduction.finalise(state), wanted)
