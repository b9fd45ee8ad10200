# tests/python/test_passes.py - formulas of several passes, in parts.
"""Pass after pass over parts: the bits of a call in memory."""

import pickle
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilefold
from features import formulas_of_features
from tilefold.graph_text import written

SEGMENT = 64
N, M = 23, 600
SHAPES = {
    "x": (N, 3),
    "y": (M, 3),
    "b": M,
    "c": N,
    "l": (),
    "A": (2, 3),
    "S": (3, 3),
}
RNG = np.random.default_rng(11)
HELD = {
    "x": RNG.standard_normal((N, 3)),
    "y": RNG.standard_normal((M, 3)),
    "b": RNG.standard_normal(M),
    "c": RNG.standard_normal(N),
    "grad": RNG.standard_normal(N),
    "l": 0.7,
}
ON_J = ("y", "b")

# A formula, and what it computes in plain NumPy, of s = x·y, r = |x - y|.
FORMULAS = {
    "var_j x_i·y_j": lambda v: v["s"].var(1),
    "std_j b_j": lambda v: v["b"].std(),
    "var_ij x_i·y_j": lambda v: v["s"].var(),
    "quantile_j(x_i·y_j, 0.3)": lambda v: np.quantile(v["s"], 0.3, 1),
    "median_j b_j": lambda v: np.median(v["b"]),
    "nanvar_j x_i·y_j": lambda v: v["s"].var(1),
    "sum_j b_j exp(x_i·y_j)/(max_i exp(x_i·y_j))": lambda v: (
        (np.exp(v["s"]) / np.exp(v["s"]).max(0)) @ v["b"]
    ),
    "(sum_j c_i b_j)/(max_i sum_j c_i b_j)": lambda v: (
        v["c"] * v["b"].sum() / (v["c"] * v["b"].sum()).max()
    ),
    "sum_j b_j (sum_i exp(-|x_i-y_j|²))": lambda v: (
        np.exp(-(v["r"] ** 2)).sum(0) @ v["b"]
    ),
    "max_i min_j |x_i - y_j|": lambda v: v["r"].min(1).max(),
    "var_i (min_j |x_i - y_j|)": lambda v: v["r"].min(1).var(),
    "max_i count_j(|x_i - y_j| < l)": lambda v: (v["r"] < 0.7).sum(1).max(),
    "sum_i log(sum_j exp(-|x_i - y_j|²))": lambda v: np.log(
        np.exp(-(v["r"] ** 2)).sum(1)
    ).sum(),
    "x_i - mean_i(x_i)": lambda v: v["x"] - v["x"].mean(0),
    "sum_j ((x_i - mean_j y_j)·y_j) where(i < j, 1, 2)/M": lambda v: (
        ((v["x"] - v["y"].mean(0)) @ v["y"].T)
        * np.where(np.arange(N)[:, None] < np.arange(M), 1, 2)
    ).mean(1),
    "i*c_i + (max_j c_i*(b_j - mean_j b_j))": lambda v: (
        np.arange(N) * v["c"]
        + (v["c"][:, None] * (v["b"] - v["b"].mean())).max(1)
    ),
    "max_i (i c_i)/(sum_j c_i b_j)": lambda v: (
        np.arange(N) * v["c"] / (v["c"] * v["b"].sum())
    ).max(),
    "mean_j |exp(im*c_i*b_j) - mean_j exp(im*c_i*b_j)|": lambda v: abs(
        v["e"] - v["e"].mean(1, keepdims=True)
    ).mean(1),
    "(mean_j exp(im*c_i*b_j)) (max_j b_j*(b_j - mean_j b_j))": lambda v: (
        v["e"].mean(1) * (v["b"] * (v["b"] - v["b"].mean())).max()
    ),
}


def arrays_of(formula, dtype=np.float64):
    if isinstance(formula, str):
        formula = tilefold.compile(formula)
    return {
        name: np.asarray(HELD[name], dtype) if np.ndim(HELD[name]) else 0.7
        for name, _ in formula.names
    }


def reference(text, arrays):
    held = {**HELD, **arrays}
    held = {k: np.asarray(v, np.float64) for k, v in held.items()}
    held["s"] = held["x"] @ held["y"].T
    held["r"] = np.sqrt(((held["x"][:, None] - held["y"][None]) ** 2).sum(-1))
    held["e"] = np.exp(1j * held["c"][:, None] * held["b"])
    return FORMULAS[text](held)


def in_parts(reduction, arrays, cuts):
    passes, left = reduction.passes(arrays), dict(arrays)
    for step in passes:
        states = []
        for p, q in pairwise(cuts):
            part = {k: v[p:q] for k, v in arrays.items() if k in ON_J}
            states.append(step.partial({**left, **part}, j=(p, M)))
        left |= step.finalise(step.merge(*states[::-1]), left)
    return passes.result(left)


# A quantile is some thirty kernels.
CASES = [
    (text, dtype)
    for text in FORMULAS
    for dtype in (np.float64, np.float32)
    if not text.startswith("median" if dtype == np.float64 else "quantile")
]


@pytest.mark.parametrize(("text", "dtype"), CASES)
def test_bits_are_those_of_a_call(text, dtype):
    arrays = arrays_of(text, dtype)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    whole = reduction(arrays)
    options = tilefold.Options(segment=SEGMENT)
    called = tilefold.reduce(text, arrays, options=options)
    assert np.array_equal(whole, called, equal_nan=True)
    for cuts in ([0, M], [0, 64, 448, M], [*range(0, M, SEGMENT), M]):
        got = in_parts(reduction, arrays, cuts)
        assert np.array_equal(got, whole)
        assert np.asarray(got).dtype == np.asarray(called).dtype
    wide = 1e-11 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(
        whole, reference(text, arrays), rtol=wide, atol=wide
    )


@settings(deadline=None, max_examples=8)
@given(
    st.lists(st.integers(1, M // SEGMENT), max_size=5, unique=True),
    st.sampled_from(["var_j x_i·y_j", "median_j b_j"]),
)
def test_any_cuts(marks, text):
    cuts = [0, *(SEGMENT * mark for mark in sorted(marks)), M]
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    arrays = arrays_of(text)
    got = in_parts(reduction, arrays, cuts)
    assert np.array_equal(got, reduction(arrays))


DERIVED = {
    "by two and a parameter": (
        "sum_j exp(-|x_i - y_j|²/2l²) b_j",
        lambda f: f.grad(["x", "y", "l"]),
    ),
    "of a variance": ("var_j x_i·y_j", lambda f: f.grad("x")),
    "with the value": (
        "var_j x_i·y_j",
        lambda f: f.grad(["x", "y"], value=True),
    ),
    "twice": (
        "logsumexp_j x_i·y_j",
        lambda f: f.grad("x").grad("y", cotangent="other"),
    ),
}


@pytest.mark.parametrize("case", DERIVED)
def test_derivatives(case):
    text, derive = DERIVED[case]
    formula = derive(tilefold.compile(text))
    held = {**HELD, "other": HELD["x"] + 1}
    arrays = {name: held[name] for name, _ in formula.names}
    reduction = tilefold.Reduction(formula, segment=SEGMENT)
    assert len(reduction.passes(arrays)) > 1
    whole, plain = reduction(arrays), formula(arrays)
    got = in_parts(reduction, arrays, [0, 128, 320, M])
    if not isinstance(whole, tuple):
        whole, plain, got = (whole,), (plain,), (got,)
    for same, close, result in zip(whole, plain, got, strict=True):
        assert np.array_equal(result, same)
        assert np.shape(result) == np.shape(close)
        np.testing.assert_allclose(result, close, rtol=1e-9, atol=1e-11)


# A formula, and arguments by which its gradient reads no array on their axis,
# is the same for all of their points, or reads the numbers of those.
GRADIENTS = [
    ("max_j b_j", "b"),
    ("max_j x_i·y_j", "y"),
    ("kmin_j(x_i·y_j, 2)", "y"),
    ("sum_j c_i b_j", "b"),
    ("sum_j x_i·y_j", "y"),
    ("mean_j c_i b_j", ["c", "b"]),
    ("sum_j where(j <= i, b_j*c_i, 0)", ["b", "c"]),
    ("sum_j rand(1, i, j)*b_j*c_i", ["b", "c"]),
    ("sum_j (S @ y_j)·x_i", "S"),
    ("(sum_j c_i b_j)/(max_i sum_j c_i b_j)", "b"),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("text", "names"), GRADIENTS)
def test_gradients_have_the_shape_of_their_argument(text, names, dtype):
    formula = tilefold.compile(text)
    held = {**HELD, "S": np.diag([1.0, 2.0, -1.0])}
    arrays = {n: np.asarray(held[n], dtype) for n, _ in formula.names}
    shape = np.shape(formula(arrays))
    derived = formula.grad(names)
    if "grad" in dict(derived.names):
        arrays["grad"] = np.random.default_rng(1).random(shape).astype(dtype)
    want = derived(arrays)
    wants = want if isinstance(want, tuple) else (want,)
    reduction = tilefold.Reduction(derived, segment=SEGMENT)
    for cuts in ([0, M], [0, 64, 448, M]):
        found = in_parts(reduction, arrays, cuts)
        found = found if isinstance(found, tuple) else (found,)
        for got, whole in zip(found, wants, strict=True):
            assert (got.shape, got.dtype) == (whole.shape, whole.dtype)
            wide = 1e-11 if dtype == np.float64 else 1e-4
            np.testing.assert_allclose(got, whole, wide, wide)


def test_a_gradient_by_what_is_not_given_is_refused():
    given = {"x": HELD["x"], "y": HELD["y"], "grad": HELD["grad"]}
    gradient = tilefold.compile("sum_j x_i·y_j").grad("y")
    (only,) = passes = tilefold.Reduction(gradient).passes(given)
    state = only.partial(x=given["x"], grad=given["grad"])
    left = only.finalise(state, {})
    with pytest.raises(tilefold.ArgumentError, match=r"left\['y'\] = y"):
        passes.result(left)
    assert passes.result({**left, "y": given["y"]}).shape == (M, 3)


def test_parts_go_into_a_state():
    """As those of a loop over files."""
    arrays = arrays_of("std_j |x_i - y_j|", np.float64)
    reduction = tilefold.Reduction("std_j |x_i - y_j|", segment=SEGMENT)
    passes, left = reduction.passes(arrays), {"x": arrays["x"]}
    for step in passes:
        state = None
        for a, b in pairwise([0, 64, 448, M]):
            part = arrays["y"][a:b]
            state = step.partial(left, y=part, j=(a, M), into=state)
        left |= step.finalise(state, left)
    assert np.array_equal(passes.result(left), reduction(arrays))
    with pytest.raises(tilefold.ArgumentError, match="another formula"):
        passes[1].partial(
            left, y=arrays["y"], into=passes[0].partial(left, y=arrays["y"])
        )


def test_rows_in_parts():
    """Rows that are kept are independent; others are joined by merge()."""
    arrays = arrays_of("var_ij x_i·y_j")
    reduction = tilefold.Reduction("var_ij x_i·y_j", segment=SEGMENT)
    passes, left = reduction.passes(arrays), dict(arrays)
    for step in passes:
        states = [
            step.partial(
                {**left, "x": HELD["x"][a:b], "y": HELD["y"][p:q]},
                i=(a, N),
                j=(p, M),
            )
            for a, b in ((8, N), (0, 8))
            for p, q in ((128, M), (0, 128))
        ]
        left |= step.finalise(step.merge(*states), left)
    assert passes.result(left) == reduction(arrays)
    text = "sum_j (x_i·y_j - max_j x_i·y_j) where(i < j, 1, 2)"
    arrays = arrays_of(text)
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    rows = []
    for a, b in ((0, 8), (8, N)):
        own = {**arrays, "x": arrays["x"][a:b]}
        passes = reduction.passes(own)
        for step in passes:
            state = step.partial(own, i=(a, N), j=(0, M))
            own |= step.finalise(step.merge(state), own)
        rows.append(passes.result(own))
    assert np.array_equal(np.concatenate(rows), reduction(arrays))


def test_one_pass_is_one_pass():
    passes = tilefold.Reduction("sum_j x_i·y_j").passes(
        x=HELD["x"], y=HELD["y"]
    )
    (only,) = passes
    assert passes[0] is only
    assert passes[:1] == [only]
    assert repr(only) == "tilefold.Pass('(sum_j((x_i · y_j)))')"
    state = only.partial(x=HELD["x"], y=HELD["y"])
    left = only.finalise(state, x=HELD["x"])
    np.testing.assert_allclose(
        passes.result(left), (HELD["x"] @ HELD["y"].T).sum(1)
    )


def test_names_that_passes_use_are_not_taken():
    """A definition of a pass, and what it leaves, have names of their own."""
    text = "var_j (v2_i left4_j pointsj)"
    a, b = HELD["c"], HELD["b"]
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    passes, left = reduction.passes(v2=a, left4=b, pointsj=2.0), {}
    given = {"v2": a, "left4": b, "pointsj": 2.0}
    for step in passes:
        state = step.partial({**given, **left}, j=(0, M))
        left |= step.finalise(state, {**given, **left})
    np.testing.assert_allclose(
        passes.result(left), (2 * a[:, None] * b).var(1), rtol=1e-12
    )


def test_states_travel():
    arrays = arrays_of("var_j x_i·y_j")
    reduction = tilefold.Reduction("var_j x_i·y_j", segment=SEGMENT)
    passes, left = pickle.loads(pickle.dumps(reduction)).passes(arrays), {}
    for step in passes:
        bytes_ = step.partial({**arrays, **left}).to_bytes()
        state = tilefold.State.from_bytes(bytes_)
        left |= step.finalise(state, {**arrays, **left})
    assert np.array_equal(passes.result(left), reduction(arrays))


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float64, torch.float32):
        c, b = (torch.from_numpy(HELD[k]).to(dtype) for k in "cb")
        for text in ("var_j c_i b_j", "var_i (count_j(c_i < b_j))*c_i"):
            reduction = tilefold.Reduction(text, segment=SEGMENT)
            got = in_parts(reduction, {"c": c, "b": b}, [0, 128, M])
            assert isinstance(got, torch.Tensor)
            assert got.dtype == dtype
            want = tilefold.reduce(text, c=c.numpy(), b=b.numpy())
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-5)


def test_whole_numbers_between_passes_are_exact_beside_float32():
    """Numbers of 16 bits at a time, since int64 would make them float64."""
    c, b = np.ones(3, np.float32), np.ones(9000, np.float32)
    text = "(max_i count_j(c_i*b_j > 0)) + argmax_i (sum_j c_i*b_j)"
    reduction = tilefold.Reduction(text)
    assert reduction(c=c, b=b) == tilefold.reduce(text, c=c, b=b) == 9000
    large = np.array([2**40 + 3, 5, -(2**40) - 7])
    (piece,) = {
        argument
        for step in tilefold.Reduction("var_i (count_j(c_i < b_j))*c_i").passes(
            c=c, b=b
        )
        for argument in step._step.arguments.values()
        if argument.part == "0"
    }
    whole = sum(
        piece._replace(part=part).of(large).astype(float) * 65536.0**k
        for k, part in enumerate("012")
    )
    assert np.array_equal(whole, large)
    with pytest.raises(tilefold.ArgumentError, match=re.escape("2^47")):
        piece.of(np.array([2**47]))


@pytest.mark.parametrize(
    "text",
    [
        "(var_j (sinh(t_j)*u_i))*n_i",
        "(max_i sum_j where(t_j and u_i, sin(t_j), 2))*m_j",
        "(max_i count_j(t_j and u_i))*m_j",
    ],
)
def test_truths_are_computed_as_widely_as_beside_other_arrays(text):
    """In a pass of truth values alone, of a formula in float64."""
    random = np.random.default_rng(4)
    held = {
        "t": random.random(40) > 0.5,
        "u": random.random(N) > 0.5,
        "n": np.arange(N),
        "m": np.arange(40),
    }
    arrays = {n: held[n] for n, _ in tilefold.compile(text).names}
    reduction = tilefold.Reduction(text, segment=8)
    options = tilefold.Options(segment=8)
    want = tilefold.reduce(text, arrays, options=options)
    assert want.dtype == np.float64
    assert np.array_equal(reduction(arrays), want)


@pytest.mark.parametrize(
    "text", ["var_j (symsqnorm(S, v) + b_j)", "var_j |vecmat(v, S)*b_j|"]
)
def test_a_vector_of_one_row_stays_a_vector_beside_a_matrix(text):
    reduction = tilefold.Reduction(text, segment=SEGMENT)
    arrays = {"S": np.diag([1.0, 2, 3]), "v": HELD["x"][:1], "b": HELD["b"]}
    want = tilefold.reduce(text, arrays)
    np.testing.assert_allclose(in_parts(reduction, arrays, [0, 64, M]), want)


def fold_between():
    text = "var_i (fold_j(c_i b_j, 0, add)) with add(a, b) = a + b"
    return tilefold.Reduction(text).passes(arrays_of(text))


def a_missing_pass():
    passes = tilefold.Reduction("var_j b_j").passes(b=HELD["b"])
    return passes.result(passes[0].finalise(passes[0].partial(b=HELD["b"])))


REFUSALS = {
    "states of the formula": (
        lambda: tilefold.Reduction("var_j b_j").partial(b=HELD["b"]),
        r"several passes.*reduction\.passes\(",
    ),
    "a fold": (fold_between, "with a fold"),
    "batches": (
        lambda: tilefold.Reduction("var_j b_j").passes(b=np.ones((2, 3, 1))),
        "with batches",
    ),
    "a batch rank": (
        lambda: tilefold.Reduction("var_j b_j").passes(
            b=np.ones((2, 3)), batch_rank=1
        ),
        "with batches",
    ),
    "uint64": (
        lambda: tilefold.Reduction("max_i (min_j (n_i - m_j))").passes(
            n=np.ones(2, np.uint64), m=np.ones(3, np.uint64)
        ),
        "uint64",
    ),
    "no reduction": (
        lambda: tilefold.Reduction("x_i·x_i").passes(x=HELD["x"]),
        "reduces nothing",
    ),
    "one array on both axes": (
        lambda: tilefold.Reduction("var_j |x_i - x_j|").passes(x=HELD["x"]),
        "pass it under both names",
    ),
    "one array on both axes, in parts": (
        lambda: tilefold.Reduction("sum_j |x_i - x_j|").partial(x=HELD["x"]),
        "pass it under both names",
    ),
    "a missing pass": (a_missing_pass, "no pass has left yet"),
    "a derivative that is 0": (
        lambda: tilefold.Reduction(
            tilefold.compile("var_j (b_j*(c_i < 0))").grad(["b", "c"])
        ).passes(b=HELD["b"], c=HELD["c"], grad=HELD["c"]),
        "0 whatever the arrays are",
    ),
    "another state": (
        lambda: tilefold.Reduction("var_j b_j").passes(b=HELD["b"])[0].merge(3),
        "a int",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    run, message = REFUSALS[case]
    with pytest.raises(tilefold.ArgumentError, match=f"(?s){message}"):
        run()


NUMPY = {"f64": "f8", "f32": "f4", "i64": "i8", "bool": "?"}


def spelled(name, axes):
    if name[0] == "@":
        return name[1:]
    letters = name.translate(str.maketrans("$#", "lp"))
    return f"{letters}_x{axes}" + ("", "_i", "_j")[axes]


def stand_ins(data):
    """Zeros for the arguments of a graph, as they are spelled."""
    found = {}
    for op, _, (number, *_), _, (kind, rank, axes, *shape), _ in data["nodes"]:
        if op == "argument":
            points = ((), (N,), (M,))[axes]
            source = data["arguments"][number][0]
            name = spelled(source, axes)
            dtype = NUMPY[kind]
            if source[0] == "$" and dtype == "i8" and data["real"] == "f32":
                dtype = "i2"  # a piece
            value = np.zeros((*points, *shape[:rank]), dtype)
            found[name.removesuffix(("", "_i", "_j")[axes])] = value
    return found


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_graphs_are_written_as_they_are_read(kind):
    """Of every formula of FEATURES.md, by the types of the results."""
    held = {
        **{name: np.ones(shape, kind) for name, shape in SHAPES.items()},
        **{name: np.ones(n, np.int64) for name, n in (("n", N), ("m", M))},
    }
    written_, refused = 0, []
    for text in formulas_of_features():
        names = [name for name, _ in tilefold.compile(text).names]
        if not held.keys() >= set(names):  # one of the points themselves
            continue
        given = {name: held[name] for name in names}
        try:
            sweeps = tilefold.compile(text)._program(given, {})["sweeps"]
        except tilefold.FormulaError:  # a pair term of complex values
            continue
        for data in sweeps:
            try:
                again = tilefold.compile(written(data, spelled))
            except tilefold.ArgumentError as error:
                refused.append((text, str(error)))
                continue
            (found,) = again._program(stand_ins(data), {})["sweeps"]
            own, other = (d["nodes"][d["result"]] for d in (data, found))
            assert own[4] == other[4], text
            written_ += 1
    assert written_ > 250
    folds = re.compile("fold_j|prod_j")  # a complex product is a fold
    assert {error for text, error in refused if not folds.search(text)} == set()


MIXED = {
    # What a pass leaves is a vector of one component.
    "(kmin_j(y_j, 1))*(mean_i(x_i)) + x_i": {},
    # The first pass reads arrays of float32 alone, beside others.
    "x_i + var_j(y_j)": {"y": np.float32},
    "x_i + var_j(n_j)": {"x": np.float64},
    "x_i*(std_j(y_j*z_j))": {"y": np.float32, "z": np.float16},
    "var_j(pow(w_j, 1.7))": {},
    # A part has as many points as these have components.
    "quantile_j(y_j, q)": {},
    "var_j(y_j*l)": {"y": np.float32},
}


@pytest.mark.parametrize("text", MIXED)
def test_parts_are_read_as_the_whole_is(text):
    rng = np.random.default_rng(8)
    held = {
        "x": rng.random(7), "y": rng.random(9), "z": rng.random(9),
        "w": rng.random((9, 3)), "n": rng.integers(0, 99, 9).astype(np.int16),
        "q": np.array([0.2, 0.5, 0.9]), "l": rng.random(3),
    }  # fmt: skip
    arrays = {
        name: held[name].astype(MIXED[text].get(name, held[name].dtype))
        for name, _ in tilefold.compile(text).names
    }
    reduction = tilefold.Reduction(text, segment=3)
    passes, left = reduction.passes(arrays), dict(arrays)
    for step in passes:
        states = []
        for p in range(0, 9, 3):
            part = {n: a[p : p + 3] for n, a in arrays.items() if n in "yzwn"}
            states.append(step.partial({**left, **part}, j=(p, 9)))
        left |= step.finalise(step.merge(*states), left)
    found, whole = passes.result(left), reduction(arrays)
    called = tilefold.reduce(text, arrays, options=tilefold.Options(segment=3))
    assert np.shape(found) == np.shape(called) == np.shape(whole)
    assert np.asarray(found).dtype == np.asarray(called).dtype
    np.testing.assert_array_equal(found, called)
    np.testing.assert_array_equal(whole, called)


def test_a_part_has_as_many_points_as_a_parameter_components():
    y, l = np.arange(9.0), np.array([1.0, 2.0, 4.0])
    reduction = tilefold.Reduction("sum_j y_j*l", segment=3)
    states = [
        reduction.partial(y=y[p : p + 3], l=l, j=(p, 9)) for p in (0, 3, 6)
    ]
    found = reduction.finalise(reduction.merge(*states), l=l)
    np.testing.assert_array_equal(found, reduction(y=y, l=l))
