# tests/python/test_keops_tools.py - what surrounds formulas in pykeops.
import numpy as np
import pytest
import torch

import tilefold
from tilefold.compat.keopscore.formulas import maths
from tilefold.compat.pykeops.common import get_options, operations, parse_type
from tilefold.compat.pykeops.common import utils as common
from tilefold.compat.pykeops.numpy import utils as of_numpy
from tilefold.compat.pykeops.torch import utils as of_torch

X = np.random.default_rng(1).normal(size=(6, 3))
Y = np.random.default_rng(2).normal(size=(5, 3))
Q = np.array([[((a - b) ** 2).sum() for b in Y] for a in X])
S = 0.7
KERNELS = {
    "gaussian": (np.exp(-Q / S**2), -np.exp(-Q / S**2) / S**2),
    "laplacian": (
        np.exp(-np.sqrt(Q) / S),
        -np.exp(-np.sqrt(Q) / S) / (2 * S * np.sqrt(Q)),
    ),
    "cauchy": (1 / (1 + Q / S**2), -1 / (S**2 * (1 + Q / S**2) ** 2)),
    "inverse_multiquadric": (
        (1 + Q / S**2) ** -0.5,
        -0.5 / S**2 * (1 + Q / S**2) ** -1.5,
    ),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_dense_kernels(kernel):
    value, slope = KERNELS[kernel]
    close = np.testing.assert_allclose
    close(of_numpy.np_kernel(X, Y, S, kernel), value)
    close(of_numpy.log_np_kernel(X, Y, S, kernel), np.log(value))
    close(of_numpy.grad_np_kernel(X, Y, S, kernel), slope)
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    close(of_torch.torch_kernel(x, y, S, kernel), value)


def test_dense_kernels_of_the_sphere():
    x = X / np.linalg.norm(X, axis=1, keepdims=True)
    y = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    p = x @ y.T
    expected = {
        "linear": p,
        "binet": p**2,
        "gaussian_unoriented": np.exp((2 * p**2 - 2) / S**2),
        "gaussian_oriented": np.exp((2 * p - 2) / S**2),
    }
    for kernel, value in expected.items():
        found = of_numpy.np_kernel_sphere(x, y, S, kernel)
        np.testing.assert_allclose(found, value)


def test_unknown_kernels_are_refused():
    for function in (
        of_numpy.np_kernel,
        of_numpy.grad_np_kernel,
        of_numpy.np_kernel_sphere,
    ):
        with pytest.raises(ValueError, match="kernel is 'cubic', and should"):
            function(X, X, S, "cubic")
    with pytest.raises(ValueError, match="should be one of gaussian"):
        of_torch.torch_kernel(torch.ones(2, 1), torch.ones(2, 1), S, "cubic")


def test_distances():
    np.testing.assert_allclose(of_numpy.squared_distances(X, Y), Q)
    found = of_torch.squared_distances(*map(torch.from_numpy, (X, Y)))
    np.testing.assert_allclose(found, Q)
    apart = of_numpy.differences(X, Y)
    assert apart.shape == (3, 6, 5)
    np.testing.assert_allclose((apart**2).sum(0), Q)


def test_chain_rules_are_the_gradient():
    random = np.random.default_rng(3)
    q, p = random.normal(size=(6, 2)), random.normal(size=(5, 2))
    slope = of_numpy.grad_np_kernel(X, Y, S, "cauchy")
    x = torch.tensor(X, requires_grad=True)
    kernel = of_torch.torch_kernel(x, torch.from_numpy(Y), S, "cauchy")
    (torch.from_numpy(q) * (kernel @ torch.from_numpy(p))).sum().backward()
    found = of_numpy.chain_rules(q, X, Y, slope, p)
    np.testing.assert_allclose(found, x.grad, rtol=1e-5, atol=1e-6)


def test_log_sum_exp():
    rows = np.array([[1000.0, 1000.0], [-np.inf, -np.inf], [-np.inf, 1.0]])
    expected = [1000 + np.log(2), -np.inf, 1.0]
    np.testing.assert_allclose(of_numpy.log_sum_exp(rows, axis=1), expected)
    np.testing.assert_allclose(of_numpy.log_sum_exp(rows.T), expected)


NAMES = """eq transpose permute contiguous solve arraysum long size tile numpy
view is_tensor dtype dtypename detect_complex view_as_complex view_as_real rand
randn zeros empty eye array device exp norm copy arraytype float_types arrayname
swap_axes Genred KernelSolve log"""


@pytest.mark.parametrize("side", ["numpy", "torch"])
def test_tools_of_both_sides(side):
    tools = common.get_tools(side)
    assert not [name for name in NAMES.split() if not hasattr(tools, name)]
    kind = {"numpy": np.float64, "torch": torch.float64}[side]
    a = tools.array([[4.0, 1.0], [1.0, 3.0]], kind, None)
    assert tools.is_tensor(a)
    assert not tools.is_tensor([1.0])
    assert isinstance(a, tools.arraytype)
    assert tools.size(a) == 4
    assert tools.dtypename(tools.dtype(a)) == "float64"
    solution = tools.solve(a, tools.eye(2, kind))
    np.testing.assert_allclose(tools.numpy(solution @ a), np.eye(2), atol=1e-9)
    assert tools.long(a).tolist() == [[4, 1], [1, 3]]
    assert tools.view(a, (4, 1)).shape == (4, 1)
    assert tools.permute(a, 1, 0).shape == (2, 2)
    assert float(tools.arraysum(a)) == 9
    assert float(tools.norm(a[0])) ** 2 == (pytest.approx(17))
    pairs = tools.view_as_complex(a)
    assert tools.detect_complex(pairs)
    assert not tools.detect_complex(a)
    assert pairs.tolist() == [[4 + 1j], [1 + 3j]]
    assert tools.view_as_real(pairs).tolist() == a.tolist()
    assert tools.zeros((2, 3), kind, None).shape == (2, 3)
    assert tools.empty((2,), kind, None).shape == (2,)
    assert (
        tools.rand(2, 3, kind, None).shape == (2, 3)
        if side == "torch"
        else (tools.rand(2, 3, kind).dtype == kind)
    )


def test_axes_and_categories():
    assert [common.axis2cat(k) for k in (0, 1)] == [1, 0]
    assert [common.cat2axis(k) for k in (0, 1)] == [1, 0]
    with pytest.raises(ValueError, match="Axis should be 0 or 1"):
        common.axis2cat(2)
    with pytest.raises(ValueError, match="Category should be Vi or Vj"):
        common.cat2axis(2)
    with pytest.raises(ValueError, match="should be 'numpy' or 'torch'"):
        common.get_tools("jax")


def test_batches_broadcast():
    check = common.check_broadcasting
    assert check((2, 1), (5,)) == (2, 5)
    assert check(None, (5,)) == (5,) == check((5,), None)
    assert check((0,), (1,)) == (0,)
    assert common.max_tuple((1, 5), (3, 2)) == (3, 5)
    with pytest.raises(ValueError, match=r"Incompatible batch dimensions: \(2"):
        check((2,), (3,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = Vi(3)", ("x", 0, 3, 7)),
        ("x=Vj( 2 , 3 )", ("x", 1, 3, 2)),
        ("Pm(1)", (None, 2, 1, 7)),
        ("Vi(0,3)", (None, 0, 3, 0)),
        ("Var(0,3,1)", (None, 1, 3, 0)),
    ],
)
def test_declarations(text, expected):
    assert parse_type.get_type(text, 7) == expected


def test_old_declarations_warn():
    with pytest.warns(UserWarning, match="renamed 'Vi' and 'Vj'"):
        assert parse_type.get_type("x = Vx(3)") == ("x", 0, 3, None)


@pytest.mark.parametrize(
    "text", ["x = Vk(3)", "x = Vi()", "Vi(3) = x", "3x=Vi(1)"]
)
def test_what_declares_nothing_is_refused(text):
    with pytest.raises(ValueError, match="declares no variable"):
        parse_type.get_type(text)


def test_sizes_and_inline_variables():
    aliases = ["x = Vi(3)", "y = Vj(1,3)"]
    arrays = [np.ones((4, 3)), np.ones((2, 5, 3))]
    assert parse_type.get_sizes(aliases, *arrays) == (4, 5)
    assert parse_type.get_sizes(["p = Pm(3)"], arrays[0]) == (1, 1)
    formula = "Sum(x * Var(3,1,2)) + Var(2, 3, 1) + Var(0,3,0)"
    assert parse_type.complete_aliases(formula, aliases) == [
        *("x = Vi(3)", "y = Vj(1,3)", "Var(2,3,1)", "Var(3,1,2)")
    ]
    with pytest.raises(ValueError, match="no alias is argument 1"):
        parse_type.complete_aliases("Var(2,1,1)", ["x = Vi(3)"])


def test_options_of_reductions():
    flags = parse_type.get_optional_flags
    assert flags("Sum", "auto", True, "auto", True, False) == {
        "dtype_acc": "float64",
        "sum_scheme": "block_sum",
        "use_fast_math": 0,
        "enable_chunks": 1,
    }
    for wrong, match in (
        (("Sum", "float64", True, "auto"), "cannot set both"),
        (("Min", "float64", False, "auto"), "no-sum type"),
        (("Sum", "int8", False, "auto"), "dtype_acc is 'int8'"),
        (("Sum", "auto", False, "kahan"), "invalid value 'kahan'"),
        (("Min", "auto", False, "kahan_scheme"), "only valid for sum type"),
    ):
        with pytest.raises(ValueError, match=match):
            flags(*wrong, True, True)


def test_backends():
    tags = get_options.get_tag_backend
    assert tags("CPU", [X]) == (0, 0, 0)
    assert tags("GPU_2D_host", [X]) == (1, 1, 0)
    assert tags("GPU_1D_device", [], str=True) == ("GPU", "1D", "device")
    with pytest.raises(ValueError, match="Invalid backend 'TPU'"):
        tags("TPU", [X])


@pytest.mark.parametrize("side", ["numpy", "torch"])
def test_conjugate_gradients(side):
    random = np.random.default_rng(5)
    root = random.normal(size=(20, 20))
    matrix = root @ root.T + np.eye(20)
    b = random.normal(size=(20, 2))
    expected = np.linalg.solve(matrix, b)
    if side == "torch":
        matrix, b = torch.from_numpy(matrix), torch.from_numpy(b)
    solve = operations.ConjugateGradientSolver
    found = solve(side, lambda p: matrix @ p, b, eps=1e-9)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert not np.asarray(solve(side, lambda p: matrix @ p, 0 * b)).any()


@pytest.mark.parametrize("factor", [-1.0, np.nan, 0.0])
def test_conjugate_gradients_end(factor):
    with pytest.warns(tilefold.errors.ConvergenceWarning, match="raise alpha"):
        operations.ConjugateGradientSolver(
            "numpy", lambda p: factor * p, np.ones(3)
        )


def test_the_dense_prototype_is_refused():
    with pytest.raises(NotImplementedError, match="use KernelSolve"):
        operations.KernelLinearSolver("numpy", None, None, None)


def test_reductions_of_keops_behind_others():
    before = operations.preprocess
    assert before("Sum", None) == ("Sum", None)
    assert before("LogSumExp", "w") == ("Max_SumShiftExpWeight", "w")
    assert before("SoftMax", "w")[1] == "Concat(IntCst(1),w)"
    with pytest.raises(ValueError, match="requires a weight formula"):
        before("LogSumExpWeight", None)

    def after(row, reduction, count=None):
        row = np.array([row], dtype=np.float32)
        return operations.postprocess(
            row, "numpy", reduction, row.shape[1], count, "float32"
        )

    np.testing.assert_allclose(after([2, 4, 8], "SoftMax"), [[2]])
    np.testing.assert_allclose(
        after([2, 4], "LogSumExp"), [[2 + np.log(4)]], rtol=1e-6
    )
    values, places = after([0.5, 1.5, 3, 4], "Min_ArgMin")
    assert values.tolist() == [[0.5, 1.5]]
    assert places.tolist() == [[3, 4]]
    values, places = after([0.5, 3, 1.5, 4], "KMin_ArgKMin", 2)
    assert values.tolist() == [[0.5, 1.5]]
    assert places.tolist() == [[3, 4]]
    assert places.dtype == np.int64
    assert after([1, 2, 3, 4], "ArgKMin", 2).shape == (1, 2, 2)


def test_operations_are_named():
    assert len(maths.__all__) == 67
    tested = [
        name for name in maths.__all__ if getattr(maths, name).enable_test
    ]
    assert len(tested) == 46
    assert maths.Clamp.nargs == 3
    assert maths.Clamp.torch_op() is None
