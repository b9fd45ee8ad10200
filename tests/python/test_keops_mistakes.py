# tests/python/test_keops_mistakes.py - what users of KeOps do by mistake.
"""Each gives the right number or one of KeOps's kinds of errors.

Dtypes, shapes, axes, options and libraries that do not fit.
"""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch

import tilefold
import tilefold.compat.pykeops.numpy as kn
import tilefold.compat.pykeops.torch as kt
from tilefold.compat.pykeops import genred
from tilefold.compat.pykeops.numpy import (
    ComplexLazyTensor,
    Genred,
    KernelSolve,
    LazyTensor,
    Pm,
    Vi,
    Vj,
)

M, N = 6, 8
RNG = np.random.default_rng(0)
X, Y, B = RNG.normal(size=(M, 3)), RNG.normal(size=(N, 3)), RNG.random((N, 1))
C = X + 1j * X[:, ::-1]
WHOLE, OTHERS = np.arange(3 * M).reshape(M, 3), np.arange(3 * N).reshape(N, 3)
ALIASES = ["x = Vi(3)", "y = Vj(3)", "b = Vj(1)"]
GAUSS = "Exp(-SqDist(x,y))*b"
SYSTEM = np.exp(-((X[:, None] - X) ** 2).sum(-1))


def kernel(x, y):
    return (-((x - y) ** 2).sum(-1)).exp()


def product(**options):
    return Genred(GAUSS, ALIASES, axis=1, **options)


def dot(reduction="Sum", **options):
    return Genred("x|y", ALIASES[:2], reduction, axis=1, **options)


SIDES = {"numpy": (kn, np.asarray), "torch": (kt, torch.as_tensor)}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_results_of_whole_numbers_are_not_cut_off(side, dtype):
    module, array = SIDES[side]
    x, y = array(WHOLE.astype(dtype)), array(OTHERS.astype(dtype))
    distances = ((WHOLE[:, None] - OTHERS) ** 2).sum(-1, dtype=float)
    expected = np.exp(-distances / 100).sum(1, keepdims=True)
    text = "Exp(-SqDist(x,y)/IntCst(100))"
    called = module.Genred(text, ALIASES[:2], axis=1)(x, y)
    lazily = (-((module.Vi(x) - module.Vj(y)) ** 2).sum(-1) / 100).exp().sum(1)
    for found in (called, lazily):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    total = module.Genred("x", ALIASES[:1], axis=0)(array(
        np.full((300, 3), 100, dtype)
    ))  # fmt: skip
    np.testing.assert_array_equal(total, np.full((1, 3), 30_000))


@pytest.mark.parametrize("side", SIDES)
def test_floats_decide_beside_whole_numbers_and_truth_values(side):
    module, array = SIDES[side]
    call = module.Genred("b*x", ["b = Vj(1)", "x = Vi(3)"], axis=1)
    for b in (B > 0.5, np.arange(N)[:, None]):
        found = np.asarray(call(array(b), array(X)))
        np.testing.assert_allclose(found, X * b.sum())
        single = np.asarray(call(array(b), array(X.astype("f4"))))
        assert (found.dtype, single.dtype) == (np.float64, np.float32)


@pytest.mark.parametrize("side", SIDES)
def test_out_has_to_fit(side):
    module, array = SIDES[side]
    other = SIDES["numpy" if side == "torch" else "torch"][1]
    call = module.Genred(GAUSS, ALIASES, axis=1)
    given = [array(one) for one in (X, Y, B)]
    lazy = kernel(module.Vi(given[0]), module.Vj(given[1]))
    for out in (
        array(np.zeros((M, 4))),
        array(np.zeros((2, M, 1))),
        array(np.zeros((M, 1), "f4")),
        array(np.zeros((M, 1), "i8")),
        other(np.zeros((M, 1))),
        [0.0] * M,
    ):
        with pytest.raises(ValueError, match="out="):
            call(*given, out=out)
        with pytest.raises(ValueError, match="out="):
            lazy.sum(1, out=out)
    with pytest.raises(ValueError, match="two"):
        lazy.min_argmin(1, out=array(np.zeros((2, M, 1))))
    out = array(np.zeros((M, 1)))
    assert call(*given, out=out) is out
    np.testing.assert_array_equal(out, call(*given))


def test_an_axis_without_points():
    none = X[:0]
    assert kernel(Vi(none), Vj(Y)).shape == (0, N)
    assert kernel(Vi(X), Vj(none)).shape == (M, 0)
    counted = Vj(Y) + 0.0 * Vi(none)[0]
    counted.ni = 0
    np.testing.assert_array_equal(counted.sum(0), np.zeros((N, 3)))
    with pytest.raises(ValueError, match=r"K @ v of shapes \(6, 0\)"):
        kernel(Vi(X), Vj(none)) @ B
    np.testing.assert_array_equal(
        kernel(Vi(X), Vj(none)) @ B[:0], np.zeros((M, 1))
    )


@pytest.mark.parametrize("side", SIDES)
def test_a_symbolic_kernel_times_a_vector_is_a_callable(side):
    module, array = SIDES[side]
    expected = np.exp(-((X[:, None] - Y) ** 2).sum(-1)) @ B
    found = kernel(module.Vi(0, 3), module.Vj(array(Y))) @ array(B)
    np.testing.assert_allclose(found(array(X)), expected)
    both = kernel(module.Vi(0, 3), module.Vj(1, 3)) @ array(B)
    np.testing.assert_allclose(both(array(X), array(Y)), expected)
    with pytest.raises(ValueError, match="symbolic"):
        kernel(module.Vi(0, 3), module.Vj(1, 3)) @ array(B[:, 0])


def test_a_symbol_is_the_same_variable_after_pickling():
    formula = (Vi(0, 3) ** 2).sum(-1)
    for copied in (pickle.loads(pickle.dumps(formula)), copy.deepcopy(formula)):
        found = copied.grad(Vi(0, 3), 1).sum(1)(X)
        np.testing.assert_allclose(found, 2 * X)


def test_the_variable_of_a_trace_is_not_asked_for():
    symbol = Vj(0, 3)
    found = (Vi(X) * symbol).trace_operator(symbol).sum(1)
    np.testing.assert_allclose(found[:, 0], X.sum(1))
    both = (Vi(X) * symbol * Vj(Y)).trace_operator(symbol)
    np.testing.assert_allclose((both @ B)[:, 0], (X @ Y.T) @ B[:, 0])
    tensors = kt.Vi(torch.from_numpy(X)), kt.Vi(1, 3), kt.Pm(0, 3)
    called = (tensors[0] * tensors[1] * tensors[2]).trace_operator(tensors[2])
    found = called.sum(0)(torch.from_numpy(X))
    np.testing.assert_allclose(found[0, 0], (X * X).sum())


def test_ranges_that_change_are_read_again():
    lists = [[[0, M]], [1], [[0, N]]]
    arrays = [np.array(one) for one in lists]
    halves = *arrays, np.array([[0, N]]), np.array([1]), np.array([[0, M]])
    call = kt.Genred("SqDist(x,y)", ALIASES[:2], axis=1)
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    ranges = tuple(map(torch.from_numpy, halves))
    torch.testing.assert_close(call(x, y, ranges=ranges), call(x, y))
    halves[2][0, 1] = 4  # which no tensor's version tells
    torch.testing.assert_close(call(x, y, ranges=ranges), call(x, y[:4]))
    with pytest.raises(ValueError, match="beyond the 5 points"):
        call(x[:5], y, ranges=ranges)
    with pytest.raises(ValueError, match=r"expected \(C, 2\)"):
        call(x, y, ranges=(ranges[0].T, *ranges[1:]))


def test_complex_components_side_by_side():
    z = kn.LazyTensor(C[:, None])
    found = z.concat(kn.LazyTensor(np.conj(C)[:, None])).sum(0)
    np.testing.assert_allclose(found[0], np.hstack([C, np.conj(C)]).sum(0))
    found = LazyTensor.cat((z, z, z), dim=-1).sum(0)
    np.testing.assert_allclose(found[0], np.hstack([C, C, C]).sum(0))


def test_systems():
    solve = KernelSolve(GAUSS, ALIASES, "b", axis=1)
    expected = np.linalg.solve(SYSTEM + 0.1 * np.eye(M), WHOLE[:, :1])
    found = solve(X, X, WHOLE[:, :1], alpha=0.1, eps=1e-12)
    np.testing.assert_allclose(found, expected)
    found = kernel(Vi(X), Vj(X)).solve(WHOLE[:, :1], alpha=0.1, eps=1e-12)
    np.testing.assert_allclose(found, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve(X[:0], X[:0], X[:0, :1]).shape == (0, 1)
    with pytest.warns(tilefold.ConvergenceWarning):
        solve(X, X, X[:, :1], alpha=-5.0)


def test_variables_are_called_by_their_names():
    masked = np.ma.masked_array(Y)
    with pytest.raises(TypeError, match="'y' is a masked array"):
        product()(X, masked, B)
    with pytest.raises(TypeError, match=r"variable 0, Vj\(3\), is a masked"):
        kernel(Vj(masked), Vi(X)).sum(1)
    with pytest.raises(TypeError, match=r"variable 1, Vj\(3\), is a masked"):
        kernel(Vi(X), Vj(masked)) @ B
    with pytest.raises(ValueError, match=r"variable 0, Vi\(3\), and \(3,\) of"):
        product()(np.stack([X] * 2), np.stack([Y] * 3), B)


REFUSED = [
    (ValueError, "and one of PyTorch",
     lambda: kn.Vi(X) + kt.Vj(torch.tensor(Y))),
    (ValueError, "Tensor", lambda: product()(*map(torch.tensor, (X, Y, B)))),
    (ValueError, "ndarray", lambda: kt.Genred(GAUSS, ALIASES)(X, Y, B)),
    (ValueError, "Tensor",
     lambda: dot("ArgMin")(torch.tensor(X), torch.tensor(Y))),
    (TypeError, "K @ v takes", lambda: kernel(Vi(X), Vj(Y)) @ [1.0] * N),
    (TypeError, "K @ v takes", lambda: kernel(Vi(X), Vj(Y)) @ torch.tensor(B)),
    (TypeError, "K @ v takes", lambda: kernel(Vi(X), Vj(Y)) @ Vj(B)),
    (ValueError, "a number v", lambda: kernel(Vi(X), Vj(Y)) @ np.array(3.0)),
    (ValueError, "axis is None", lambda: (Vi(X) | Vj(Y)).sum(axis=None)),
    (ValueError, "axis is None", lambda: (Vi(X) | Vj(Y)).min(None)),
    (ValueError, "keeps 2.5", lambda: (Vi(X) | Vj(Y)).argKmin(2.5, dim=1)),
    (ValueError, "keeps '3'", lambda: (Vi(X) | Vj(Y)).Kmin("3", dim=1)),
    (ValueError, "keeps 2.5", lambda: dot("KMin", opt_arg=2.5)),
    (ValueError, "no opt_arg", lambda: dot(opt_arg=2)),
    (ValueError, "no weights", lambda: dot(formula2="Sum(x)")),
    (ValueError, "no weights", lambda: dot("Min", formula2="x")),
    (ValueError, "no weights",
     lambda: Vi(X).sum(-1).reduction("Sum", other=Vj(Y), axis=1)),
    (ValueError, "needs a second", lambda: dot("LogSumExpWeight")),
    (ValueError, "one parameter",
     lambda: Genred("p*x", ["p = Pm(3)", "x = Vi(3)"])(Y, X)),
    (TypeError, "None", lambda: Vi(X) + None),
    (ValueError, "empty LazyTensor", lambda: LazyTensor().exp()),
    (ValueError, "empty LazyTensor", lambda: Vi(X) + LazyTensor()),
    (ValueError, "empty list", lambda: Vi(X) * []),
    (TypeError, "'a'", lambda: Vi(X) * [1.0, "a", 2.0]),
    (TypeError, r"\[1.0", lambda: Vi(X) * [[1.0, 2.0, 3.0]] * 3),
    (ValueError, "Sin is for real", lambda: Vi(C).sin()),
    (ValueError, "Elem is for real", lambda: Vi(C)[0]),
    (ValueError, "Min is for real", lambda: Vi(C).min()),
    (ValueError, "Scalprod is for real", lambda: Vi(X) | Vj(C)),
    (ValueError, "IfElse is for real", lambda: Vi(X).ifelse(Vj(C), 1)),
    (ValueError, "Concat is for real", lambda: Vi(X).concat(Vj(C))),
    (ValueError, "Concat is for real", lambda: Vi(C).concat(Vj(X))),
    (ValueError, "Equal is for real",
     lambda: ComplexLazyTensor((0, 6, 0)) == 1),
    (ValueError, "Pow has 1 numbers", lambda: Vi(X).unary("Pow")),
    (ValueError, "Sum has 0 numbers", lambda: Vi(X).unary("Sum", opt_arg=3)),
    (ValueError, "Add has 2 operands", lambda: Vi(X).unary("Add")),
    (ValueError, "Exp has 1 operands", lambda: Vi(X).binary(Vj(Y), "Exp")),
    (ValueError, "Add has 2", lambda: Vi(X).ternary(Vj(Y), Vj(Y), "Add")),
    (ValueError, "whole number of digits", lambda: Vi(X).round(1.5)),
    (ValueError, "first that is", lambda: LazyTensor.cat((1.0, Vi(X)), dim=-1)),
    (ValueError, "too many levels",
     lambda: sum((Vi(X) | Vj(Y) for _ in range(900)), 0).sum(1)),
    (ValueError, "a formula is a text", lambda: Genred(3, ALIASES)),
    (ValueError, "alias 3", lambda: Genred("x", [3])),
    (ValueError, "Elem with", lambda: Genred("Elem(x,[1])", ALIASES)),
    (ValueError, "Kron with", lambda: Genred("Kron(x,y,3,3)", ALIASES)),
    (ValueError, "TensorDot with",
     lambda: Genred("TensorDot(x,y,[3],[3],[1],[0])", ALIASES)),
    (ValueError, "whole number", lambda: Genred("Pow(x,IntCst())", ALIASES)),
    (ValueError, "1 component", lambda: Genred("OneHot(b,0)", ALIASES)),
    (ValueError, "square",
     lambda: KernelSolve(GAUSS, ALIASES, "b", axis=1)(X, Y, B)),
    (ValueError, "varinvalias", lambda: KernelSolve(GAUSS, ALIASES, None)),
    (ValueError, "symbolic",
     lambda: kernel(Vi(X), Vj(X)).solve(X[:, :1], var=Vj(0, 1))),
    (ValueError, "symbolic", lambda: kernel(Vi(X), Vj(X)).solve(X, var=3)),
    (ValueError, "no formula",
     lambda: kernel(Vi(X), Vj(X)).solve(2.0 * Vi(X[:, :1]))),
    (ValueError, "no formula", lambda: kernel(Vi(X), Vj(X)).solve(Pm(X[0]))),
    (ValueError, "backend",
     lambda: kernel(Vi(X), Vj(X)).solve(X[:, :1], alpha=1.0, backend="TPU")),
    (TypeError, "out=",
     lambda: kernel(Vi(X), Vj(X)).solve(X[:, :1], alpha=1.0, out=X[:, :1])),
    (ValueError, "complex", lambda: (Vi(C) * Vj(C)).solve(C)),
    (ValueError, "float64: it has to be float64",
     lambda: (Vi(X) | Vj(Y)).sum(1, dtype_acc="float32")),
    (ValueError, "float32 or float64",
     lambda: Genred("x|y", ["x = Vi(3)", "y = Vj(3)"], axis=1,
                    dtype_acc="float16")(X.astype("f4"), Y.astype("f4"))),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_refusals(k):
    error, message, make = REFUSED[k]
    with pytest.raises(error, match=message):
        make()


def test_programs_that_keops_takes_are_not_refused():
    np.testing.assert_allclose(
        (Vi(X) | Vj(Y)).Kmin(2.0, dim=1), (Vi(X) | Vj(Y)).Kmin(2, dim=1)
    )
    np.testing.assert_allclose(dot(opt_arg=0, formula2="")(X, Y), dot()(X, Y))
    scale = np.full((1, 3), 2.0)
    call = Genred("p*x", ["p = Pm(3)", "x = Vi(3)"])
    np.testing.assert_allclose(call(scale, X), 2 * X.sum(0, keepdims=True))
    with_0d = [np.float64(2), 2.0, [1.0, np.float32(2), 3]]
    for factor in with_0d:
        np.testing.assert_allclose(
            (Vi(X) * factor).sum(0)[0], (X * factor).sum(0)
        )


@pytest.mark.parametrize("keyword", ["dtype", "cuda_type"])
def test_keywords_of_old_warn_once(keyword, monkeypatch):
    monkeypatch.setattr(genred, "_OLD_WARNED", set())
    old = {keyword: "float64"}
    with pytest.warns(DeprecationWarning, match=f"keyword {keyword} is"):
        found = Genred(GAUSS, ALIASES, axis=1, **old)(X, Y, B)
    np.testing.assert_array_equal(found, product()(X, Y, B))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Genred(GAUSS, ALIASES, axis=1, **old)
