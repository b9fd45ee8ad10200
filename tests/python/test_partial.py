# tests/python/test_partial.py - reductions over data in parts.
"""Partial, merge, finalise: the bits of one call in memory."""

import pickle
import re
import subprocess
import sys
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilefold
from instruction_sets import PORTABLE

SEGMENT = 64
N, M = 37, 1000
RNG = np.random.default_rng(7)
X, Y = RNG.standard_normal((N, 3)), RNG.standard_normal((M, 3))
B, C = RNG.standard_normal(M), RNG.standard_normal(N)
LABELS = RNG.integers(0, 5, M)
TABLE = RNG.standard_normal(5)

# A formula, and what it computes of x, y, b and c, in plain NumPy.
FORMULAS = {
    "sum_j exp(-|x_i - y_j|²) b_j": lambda v: np.exp(-v.d) @ v.b,
    "mean_j |x_i - y_j|²": lambda v: v.d.mean(1),
    "max_j x_i·y_j": lambda v: v.s.max(1),
    "min_j |x_i - y_j|": lambda v: np.sqrt(v.d).min(1),
    "argmin_j |x_i - y_j|²": lambda v: v.d.argmin(1),
    "argmax_j x_i·y_j": lambda v: v.s.argmax(1),
    "logsumexp_j x_i·y_j": lambda v: np.log(np.exp(v.s).sum(1)),
    "softmax_j(x_i·y_j, y_j)": lambda v: (
        np.exp(v.s) @ Y[: v.s.shape[1]] / np.exp(v.s).sum(1)[:, None]
    ),
    "kmin_j(|x_i - y_j|², 4)": lambda v: np.sort(v.d, 1)[:, :4],
    "argkmin_j(|x_i - y_j|², 4)": lambda v: np.argsort(v.d, 1)[:, :4],
    "prod_j (1 + 0.01*b_j*x_i[0])": lambda v: np.prod(
        1 + 0.01 * v.b * X[:, :1], 1
    ),
    "count_j (|x_i - y_j|² < 2)": lambda v: (v.d < 2).sum(1),
    "sum_j j*b_j*exp(-|x_i - y_j|²)": lambda v: (
        np.exp(-v.d) @ (np.arange(v.d.shape[1]) * v.b)
    ),
    "sum_ij exp(-|x_i - y_j|²) b_j": lambda v: (np.exp(-v.d) @ v.b).sum(),
    "max_ij x_i·y_j": lambda v: v.s.max(),
    "mean_ij |x_i - y_j|²": lambda v: v.d.mean(),
    "sum_j b_j": lambda v: v.b.sum(),
    "logsumexp_j b_j": lambda v: np.log(np.exp(v.b).sum()),
    "argmax_j b_j": lambda v: v.b.argmax(),
    "sum_j y_j b_j": lambda v: v.b @ Y[: len(v.b)],
}


def arrays_of(text, *, columns=M):
    """The arrays that a formula reads."""
    held = {"x": X, "y": Y[:columns], "b": B[:columns]}
    return {name: held[name] for name in held if re.search(rf"\b{name}_", text)}


def part_of(arrays, first, last):
    """Points [first, last) of j."""
    return {k: v if k == "x" else v[first:last] for k, v in arrays.items()}


def states_of(reduction, arrays, cuts, total=M):
    return [
        reduction.partial(part_of(arrays, a, b), j=(a, total))
        for a, b in pairwise(cuts)
    ]


def rows_of(arrays):
    return {name: array for name, array in arrays.items() if name == "x"}


@pytest.mark.parametrize("text", FORMULAS)
def test_bits_are_those_of_one_call(text):
    arrays = arrays_of(text)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    whole = reduction(arrays)
    d = ((X[:, None] - Y) ** 2).sum(-1)
    want = FORMULAS[text](SimpleNamespace(d=d, s=X @ Y.T, b=B))
    np.testing.assert_allclose(whole, want, rtol=1e-12)
    assert np.array_equal(
        whole,
        tilefold.reduce(
            text, arrays, options=tilefold.Options(segment=SEGMENT)
        ),
    )
    cuts = [0, 3 * SEGMENT, 4 * SEGMENT, 11 * SEGMENT, M]
    states = states_of(reduction, arrays, cuts)
    merged = reduction.merge(*states[::-1])
    assert merged.complete
    result = reduction.finalise(merged, rows_of(arrays))
    assert np.array_equal(result, whole)
    assert np.asarray(result).dtype == np.asarray(whole).dtype


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_any_cuts_and_orders(data):
    text = data.draw(st.sampled_from(sorted(FORMULAS)))
    columns = data.draw(st.integers(0, M))
    arrays = arrays_of(text, columns=columns)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    leaves = -(-columns // SEGMENT)
    inner = data.draw(st.sets(st.integers(0, leaves), max_size=6))
    cuts = sorted({0, columns, *(min(k * SEGMENT, columns) for k in inner)})
    if columns == 0:
        cuts = [0, 0]
    states = states_of(reduction, arrays, cuts, columns)
    states += data.draw(st.lists(st.sampled_from(states), max_size=3))
    order = data.draw(st.permutations(states))
    merged = reduction.identity(part_of(arrays, 0, 0), j=(0, columns))
    for state in order:
        pair = data.draw(st.permutations([merged, state]))
        merged = reduction.merge(*pair)
    result = reduction.finalise(merged, rows_of(arrays))
    assert np.array_equal(result, reduction(arrays), equal_nan=True)


@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_parts_within_segments(data):
    """Whatever the order: the same bits for the same parts."""
    text = "sum_j exp(-|x_i - y_j|²) b_j"
    arrays = arrays_of(text)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    inner = data.draw(st.sets(st.integers(1, M - 1), max_size=8))
    states = states_of(reduction, arrays, sorted({0, M, *inner}))
    first = reduction.finalise(reduction.merge(*states), x=X)
    order = data.draw(st.permutations(states))
    merged = order[0]
    for state in order[1:]:
        merged = reduction.merge(merged, state)
    assert np.array_equal(reduction.finalise(merged, x=X), first)
    np.testing.assert_allclose(first, reduction(arrays), rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_no_bit(threads):
    text = "sum_j exp(-|x_i - y_j|²) b_j"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    session = tilefold.Session(options=tilefold.Options(threads=threads))
    formula = tilefold.compile(text, session=session)
    other = tilefold.Reduction(formula, segment=SEGMENT)
    x = RNG.standard_normal((3000, 3))
    want = reduction(x=x, y=Y, b=B)
    assert np.array_equal(other(x=x, y=Y, b=B), want)
    state = other.partial(x=x, y=Y, b=B)
    assert np.array_equal(other.finalise(state, x=x), want)


def test_long_axis_in_pieces():
    """Where threads share columns, pieces are nodes of the tree."""
    y, b = RNG.standard_normal((70001, 3)), RNG.standard_normal(70001)
    x = X[:5]
    text = "logsumexp_j(x_i·y_j + b_j)"
    reduction = tilefold.Reduction(text, segment=1024)
    whole = reduction(x=x, y=y, b=b)
    np.testing.assert_allclose(
        whole, np.log(np.exp(x @ y.T + b).sum(1)), rtol=1e-12
    )
    cuts = [0, 1024 * 3, 1024 * 32, 1024 * 63, 70001]
    states = [
        reduction.partial(x=x, y=y[p:q], b=b[p:q], j=(p, 70001))
        for p, q in pairwise(cuts)
    ]
    merged = reduction.merge(*states)
    assert np.array_equal(reduction.finalise(merged, x=x), whole)


@pytest.mark.parametrize("text", ["sum_ij x_i·y_j b_j", "max_ij x_i·y_j"])
def test_rows_in_parts(text):
    """Results of both axes are made of the states of all rows."""
    arrays = arrays_of(text)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    cuts, rows = [0, 2 * SEGMENT, 7 * SEGMENT, M], [0, 10, 30, N]
    blocks = []
    for p, q in pairwise(rows):
        own = {**arrays, "x": X[p:q]}
        states = [
            reduction.partial(part_of(own, a, b), i=(p, N), j=(a, M))
            for a, b in pairwise(cuts)
        ]
        blocks.append(reduction.merge(*states))
    state = reduction.concatenate(*blocks[::-1])
    assert np.array_equal(reduction.finalise(state, x=X), reduction(arrays))
    assert reduction.finalise(state) == reduction(arrays)
    with pytest.raises(tilefold.ArgumentError, match="concatenate"):
        reduction.finalise(blocks[0], x=X[:10])


def test_rows_of_a_kept_axis_in_parts():
    text = "sum_j where(i < j, exp(-|x_i - y_j|²), 0)"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    whole = reduction(x=X, y=Y)
    got = []
    for p, q in ((0, 10), (10, N)):
        states = [
            reduction.partial(x=X[p:q], y=Y[a:b], i=(p, N), j=(a, M))
            for a, b in ((0, 640), (640, M))
        ]
        got.append(reduction.finalise(reduction.merge(*states), x=X[p:q]))
    assert np.array_equal(np.concatenate(got), whole)


def test_reduced_over_i():
    text = "sum_i exp(-|x_i - y_j|²) c_i"
    reduction = tilefold.Reduction(text, segment=8)
    states = [
        reduction.partial(x=X[a:b], y=Y, c=C[a:b], i=(a, N))
        for a, b in ((16, N), (0, 16))
    ]
    assert states[0].kind.reduced == "i"
    result = reduction.finalise(reduction.merge(*states), y=Y)
    assert np.array_equal(result, reduction(x=X, y=Y, c=C))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batches_parameters_and_widths(dtype):
    text = "sum_j exp(-|x_i - y_j|²/2l²) v_j"
    x = RNG.standard_normal((3, N, 3)).astype(dtype)
    v = RNG.standard_normal((3, M, 6)).astype(dtype)
    y, length = Y.astype(dtype), dtype(0.7)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    whole = reduction(x=x, y=y, v=v, l=length)
    states = [
        reduction.partial(x=x, y=y[a:b], v=v[:, a:b], l=length, j=(a, M))
        for a, b in ((0, 320), (320, 384), (384, M))
    ]
    result = reduction.finalise(reduction.merge(*states), x=x, l=length)
    assert result.dtype == dtype
    assert np.array_equal(result, whole)


def test_batch_rank():
    text = "logsumexp_j(c_i b_j)"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    c, b = RNG.standard_normal((2, N)), RNG.standard_normal((2, M))
    whole = reduction(c=c, b=b, batch_rank=1)
    states = [
        reduction.partial(c=c, b=b[:, p:q], j=(p, M), batch_rank=1)
        for p, q in ((0, 640), (640, M))
    ]
    merged = reduction.merge(*states)
    assert np.array_equal(reduction.finalise(merged, c=c, batch_rank=1), whole)


DERIVED = {
    "x": (lambda f: f.grad("x"), "j"),
    "y": (lambda f: f.grad("y"), "i"),
    "b": (lambda f: f.grad("b"), "i"),
    "l": (lambda f: f.grad("l"), "j"),
    "value and x": (lambda f: f.grad("x", value=True), "j"),
    "along x": (lambda f: f.jvp("x", tangent="grad"), "j"),
    "twice": (lambda f: f.grad("x").grad("x", cotangent="other"), "j"),
}


@pytest.mark.parametrize("case", DERIVED)
def test_derivatives_of_one_pass(case):
    derive, reduced = DERIVED[case]
    formula = derive(tilefold.compile("sum_j exp(-|x_i - y_j|²/2l²) b_j"))
    held = {"x": X, "y": Y, "b": B, "l": 0.7, "grad": C, "other": X + 1}
    if case == "along x":
        held["grad"] = X - 1
    held = {name: held[name] for name, _ in formula.names}
    on = {"x": "i", "grad": "i", "other": "i", "y": "j", "b": "j"}
    reduction = tilefold.Reduction(formula, segment=8)
    total = {"i": N, "j": M}[reduced]
    states = [
        reduction.partial(
            {k: v[p:q] if on.get(k) == reduced else v for k, v in held.items()},
            **{reduced: (p, total)},
        )
        for p, q in pairwise([0, 16, 24, total])
    ]
    assert states[0].kind.reduced == reduced
    kept = {k: v for k, v in held.items() if on.get(k) != reduced}
    results = reduction.finalise(reduction.merge(*states), kept)
    whole, plain = reduction(held), formula(held)
    if not isinstance(results, tuple):
        results, whole, plain = (results,), (whole,), (plain,)
    for result, same, close in zip(results, whole, plain, strict=True):
        assert np.array_equal(result, same)
        np.testing.assert_allclose(result, close, rtol=1e-10, atol=1e-12)


def test_complex_sums():
    text = "sum_j exp(im*x_i·y_j) b_j"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    arrays = arrays_of(text)
    states = states_of(reduction, arrays, [0, 640, M])
    result = reduction.finalise(reduction.merge(*states), x=X)
    assert np.array_equal(result, reduction(arrays))
    np.testing.assert_allclose(result, np.exp(1j * X @ Y.T) @ B)


def test_tables_and_integers():
    text = "sum_j a[n_j] exp(-|x_i - y_j|²)"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    whole = reduction(a=TABLE, n=LABELS, x=X, y=Y)
    states = [
        reduction.partial(a=TABLE, n=LABELS[p:q], x=X, y=Y[p:q], j=(p, M))
        for p, q in ((0, 640), (640, M))
    ]
    result = reduction.finalise(reduction.merge(*states), x=X, a=TABLE)
    assert np.array_equal(result, whole)


@pytest.mark.parametrize("number", [3, True, np.int64(3), 2.5])
def test_numbers_of_any_type_are_parameters(number):
    """States of a part and of the merge are of the same arguments."""
    reduction = tilefold.Reduction("sum_j c*(b_j + j)", segment=8)
    parts = [
        reduction.partial(b=B[a:z], c=number, j=(a, 40))
        for a, z in ((0, 16), (16, 40))
    ]
    merged = reduction.merge(*parts)
    found = reduction.finalise(merged, c=number)
    assert found == reduction(b=B[:40], c=number)


def test_large_divisors_are_divided_by():
    text = "sum_j b_j/c_i"
    c = np.full(N, 1.5e308)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    states = [
        reduction.partial(b=B[p:q] * 1e300, c=c, j=(p, M))
        for p, q in ((0, 640), (640, M))
    ]
    result = reduction.finalise(reduction.merge(*states), c=c)
    np.testing.assert_allclose(result, (B * 1e300 / c[:, None]).sum(1))


def test_states_travel():
    text = "softmax_j(x_i·y_j, y_j)"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    states = states_of(reduction, arrays_of(text), [0, 100, 640, M])
    buffers = []
    packed = pickle.dumps(states, 5, buffer_callback=buffers.append)
    assert len(buffers) >= len(states)
    assert len(packed) < 8000
    for again in (
        pickle.loads(packed, buffers=buffers),
        [tilefold.State.from_bytes(s.to_bytes()) for s in states],
    ):
        assert again[0].kind == states[0].kind
        result = reduction.finalise(reduction.merge(*again), x=X)
        whole = reduction.finalise(reduction.merge(*states), x=X)
        assert np.array_equal(result, whole)
    assert states[0].to_bytes() == states[0].to_bytes()


CHILD = """
import sys, tilefold
read = tilefold.State.from_bytes
states = [read(open(p, "rb").read()) for p in sys.argv[1:3]]
r = tilefold.Reduction("sum_j exp(-|x_i - y_j|²) b_j", segment=64)
open(sys.argv[3], "wb").write(r.merge(*states).to_bytes())
"""


def test_another_process_merges(tmp_path):
    text = "sum_j exp(-|x_i - y_j|²) b_j"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    paths = [tmp_path / name for name in ("one", "two", "both")]
    states = states_of(reduction, arrays_of(text), [0, 512, M])
    for path, state in zip(paths, states, strict=False):
        path.write_bytes(state.to_bytes())
    subprocess.run([sys.executable, "-c", CHILD, *paths], check=True)
    merged = tilefold.State.from_bytes(paths[2].read_bytes())
    assert np.array_equal(
        reduction.finalise(merged, x=X), reduction(arrays_of(text))
    )


def test_gradients_are_told_apart():
    """By the cotangent's name, and by whether the value comes first."""
    formula = tilefold.compile("sum_j x_i*y_j")
    derived = [
        formula.grad("x"),
        formula.grad("x", value=True),
        formula.grad("x", cotangent="g"),
        formula.grad("y"),
    ]
    reductions = [tilefold.Reduction(one) for one in (formula, *derived)]
    for one, other in combinations(reductions, 2):
        assert one != other
        assert one.__dask_tokenize__() != other.__dask_tokenize__()
    assert len(set(reductions)) == len(reductions)
    again = tilefold.Reduction(tilefold.compile("sum_j x_i*y_j").grad("x"))
    assert again == reductions[1] == pickle.loads(pickle.dumps(again))
    arrays = {"x": np.ones(2), "y": np.ones(3), "grad": np.ones(2)}
    states = [one.partial(arrays) for one in reductions[1:3]]
    assert again.merge(states[0]).complete
    for one in reductions[1:3]:
        for mixed in (False, True):
            with pytest.raises(tilefold.ArgumentError, match="formula"):
                one.merge(*states, mixed=mixed)
    with pytest.raises(tilefold.ArgumentError, match="formula"):
        reductions[2].finalise(states[0], arrays)


def test_a_reduction_is_a_value():
    one = tilefold.Reduction("sum_j x_i·y_j", segment=SEGMENT)
    other = pickle.loads(pickle.dumps(one))
    assert other == one
    assert hash(other) == hash(one)
    assert one.__dask_tokenize__() == other.__dask_tokenize__()
    assert one != tilefold.Reduction("sum_j x_i·y_j", segment=128)
    assert one != tilefold.Reduction("sum_j 2 x_i·y_j", segment=SEGMENT)
    assert repr(one) == "tilefold.Reduction('sum_j x_i·y_j', segment=64)"
    isa = tilefold.Options(isa="x86-64-v3")
    pinned = tilefold.Reduction("sum_j x_i·y_j", segment=64, options=isa)
    assert pickle.loads(pickle.dumps(pinned)) == pinned != one


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    text = "sum_j exp(-|x_i - y_j|²) b_j"
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    x, y, b = (torch.from_numpy(a) for a in (X, Y, B))
    states = [
        reduction.partial(x=x, y=y[p:q], b=b[p:q], j=(p, M))
        for p, q in ((0, 640), (640, M))
    ]
    result = reduction.finalise(reduction.merge(*states), x=x)
    assert isinstance(result, torch.Tensor)
    assert np.array_equal(result.numpy(), reduction(x=X, y=Y, b=B))


GAUSSIAN = "sum_j exp(-|x_i - y_j|²) b_j"


def states_for_refusals():
    reduction = tilefold.Reduction(GAUSSIAN, segment=SEGMENT)
    return reduction, states_of(reduction, arrays_of(GAUSSIAN), [0, 640, M])


def finalise_without_parameter():
    reduction = tilefold.Reduction("l sum_j x_i·y_j")
    return reduction.finalise(reduction.partial(x=X, y=Y, l=2.0), x=X)


# Of so few columns that no state is kept.
PLAN_OF_FEW = (
    tilefold.compile("sum_j x_i·y_j")
    .plans(x=X, y=Y[:8], options=tilefold.Options(isa=PORTABLE[-1]))[0]
    .replace("nest=reduce", "nest=single_panel")
)

REFUSALS = {
    "several passes": (
        lambda *_: tilefold.Reduction("var_j x_i·y_j").partial(x=X, y=Y),
        "several passes over the pairs",
    ),
    "no reduction": (
        lambda *_: tilefold.Reduction("x_i·x_i").partial(x=X),
        "reduces nothing",
    ),
    "points missing": (
        lambda r, s: r.finalise(s[0], x=X),
        "lacks points 640 to 1000 of 1000",
    ),
    "another formula": (
        lambda _, s: tilefold.Reduction("sum_j x_i·y_j").merge(*s),
        "another formula",
    ),
    "another segment": (
        lambda _, s: tilefold.Reduction(GAUSSIAN, segment=128).merge(*s),
        "another formula, segment",
    ),
    "other types": (
        lambda r, s: r.merge(
            s[0],
            r.partial(x=X, y=Y[640:], b=B[640:].astype("f4"), j=(640, M)),
        ),
        "other types of arguments",
    ),
    "another length": (
        lambda r, s: r.merge(
            s[0], r.partial(x=X, y=Y[640:], b=B[640:], j=(640, M + 1))
        ),
        "1001 points in all, beside one of 1000",
    ),
    "other rows": (
        lambda r, s: r.merge(
            s[0],
            r.partial(x=X[:5], y=Y[640:], b=B[640:], i=(32, N), j=(640, M)),
        ),
        "rows from 32, beside one of rows from 0",
    ),
    "parts that overlap": (
        lambda r, *_: r.merge(
            r.partial(x=X, y=Y[:30], b=B[:30], j=(0, M)),
            r.partial(x=X, y=Y[20:50], b=B[20:50], j=(20, M)),
        ),
        "do not overlap",
    ),
    "beyond the end": (
        lambda r, *_: r.partial(x=X, y=Y, b=B, j=(1, M)),
        "how many points the whole axis has",
    ),
    "no place": (
        lambda r, *_: r.partial(x=X, y=Y, b=B, j=3),
        "the number of the first point",
    ),
    "rows of other arrays": (
        lambda r, s: r.finalise(r.merge(*s), x=X[:5]),
        "how many points the whole axis has|37 rows, beside arrays of 5",
    ),
    "a parameter missing": (
        lambda *_: finalise_without_parameter(),
        "needs 'l'",
    ),
    "arrays of other types": (
        lambda r, s: r.finalise(r.merge(*s), x=X.astype("f4")),
        r"x \(…, 3\) float64",
    ),
    "options of another kind": (
        lambda *_: tilefold.Reduction(GAUSSIAN, options=3),
        "a tilefold.Options",
    ),
    "no state": (lambda r, s: r.merge(s[0], 3), "a int"),
    "no states": (lambda r, *_: r.merge(), "none"),
    "bad bytes": (
        lambda *_: tilefold.State.from_bytes(b"none of ours"),
        "to_bytes",
    ),
    "cut bytes": (
        lambda _, s: tilefold.State.from_bytes(s[0].to_bytes()[:-40]),
        "to_bytes",
    ),
    "a segment of none": (
        lambda *_: tilefold.Reduction(GAUSSIAN, segment=0),
        "from 1 on",
    ),
    "two segments": (
        lambda *_: tilefold.Reduction(
            GAUSSIAN, segment=64, options=tilefold.Options(segment=128)
        ),
        "say it once",
    ),
    "options of a call": (
        lambda r, *_: r.partial(
            x=X, y=Y, b=B, options=tilefold.Options(tolerance=1e-5)
        ),
        "the option options cannot be an argument of one part\n"
        "options and ranges belong to",
    ),
    "ranges": (
        lambda r, *_: r.partial(
            x=X,
            y=Y,
            b=B,
            ranges=tilefold.Ranges([0, N], [0, M], [[True]]),
        ),
        "leave out the others",
    ),
    "a plan without states": (
        lambda *_: tilefold.Reduction(
            "sum_j x_i·y_j",
            options=tilefold.Options(plan=PLAN_OF_FEW, isa=PORTABLE[-1]),
        ).partial(x=X, y=Y[:8]),
        "nest",
    ),
    "rows that do not follow": (
        lambda r, s: r.concatenate(s[0], s[1]),
        "follow one another",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    run, message = REFUSALS[case]
    with pytest.raises(tilefold.ArgumentError, match=message):
        run(*states_for_refusals())


def test_distances_from_a_first_point_need_it():
    options = tilefold.Options(tolerance=1e-4, isa=PORTABLE[-1])
    x, y = (RNG.standard_normal((n, 96)).astype("f4") for n in (64, 4096))
    reduction = tilefold.Reduction("sum_j exp(-|x_i - y_j|²)", options=options)
    with pytest.raises(tilefold.ArgumentError, match="tolerance=0"):
        reduction.partial(x=x, y=y[:2048], j=(2048, 4096))
