# tests/python/test_cures.py - what is refused, where the caret stands, and
# that what the message says to write is read and gives the number meant.
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest

import tilefold

rng = np.random.default_rng(3)
N, M, D = 7, 6, 3
x, y = rng.random((N, D)), rng.random((M, D))
b, c = rng.random(M), rng.random(N)
A = rng.random((D, D))
scales = rng.random(D) + 0.5
difference = x[:, None] - y
r = np.linalg.norm(difference, axis=-1)
i, j = np.arange(N)[:, None], np.arange(M)
ARRAYS = {"x": x, "y": y, "b": b, "c": c, "A": A, "k": 1.5, "l": 0.7, "p": 3}


class Row(NamedTuple):
    """A formula as it is typed, the error, and a formula that was mended.

    `caret` is what the error points at, `cure` a part of the message that
    the mended formula holds. Spaces do not count. A mended formula without a
    reduction is a matrix.
    """

    typed: str
    code: str
    caret: str
    cure: str
    mended: str
    value: object
    arrays: Mapping[str, object] = MappingProxyType({})


ROWS = [
    # points named in brackets
    Row("sum_j exp(-|x[i]-y[j]|²)", "PointSubscript", "x[i]", "x_i",
        "sum_j exp(-|x_i-y_j|²)", np.exp(-(r**2)).sum(1)),
    Row("sum_j y[j][0]*x[0]", "PointSubscript", "y[j]", "y_j",
        "sum_j y_j[0]*x_i[0]", y[:, 0].sum() * x[:, 0]),
    Row("k(u, v) = u[i] + v[0]", "PointSubscript", "u[i]", "u_i[",
        "u_i[i mod 3] + v_j[0]", x[i.ravel(), i.ravel() % 3][:, None]
        + y[:, 0], {"u": x, "v": y}),
    # exponents
    Row("(1 + |x_i-y_j|)^3/2", "FractionalExponent", "^3/2", "^(3/2)",
        "(1 + |x_i-y_j|)^(3/2)", (1 + r) ** 1.5),
    Row("(1 + |x_i-y_j|)^-3/2", "FractionalExponent", "^-3/2", "^(-3/2)",
        "(1 + |x_i-y_j|)^(-3/2)", (1 + r) ** -1.5),
    Row("(1 + |x_i-y_j|)^3/2", "FractionalExponent", "^3/2", "^3)/2",
        "((1 + |x_i-y_j|)^3)/2", (1 + r) ** 3 / 2),
    Row("|x_i-y_j|^p/2", "FractionalExponent", "^p/2", "^(p/2)",
        "|x_i-y_j|^(p/2)", r**1.5),
    Row("(2π)^-D/2 x_i", "FractionalExponent", "^-D/2", "^(-D/2)",
        "(2π)^(-D/2) x_i", (2 * np.pi) ** -1.5 * x),
    Row("|x_i-y_j|^2/3", "FractionalExponent", "^2/3", "^(2/3)",
        "|x_i-y_j|^(2/3)", r ** (2 / 3)),
    Row("√2π c_i", "RootRunsOn", "√2π", "√(2 …)", "√(2 π) c_i",
        np.sqrt(2 * np.pi) * c),
    # the imaginary unit
    Row("sum_j exp(i*k*|x_i-y_j|)", "ImaginaryIndex", "i", "im",
        "sum_j exp(im*k*|x_i-y_j|)", np.exp(1.5j * r).sum(1)),
    Row("sum_j exp(-i*k*|x_i-y_j|)", "ImaginaryIndex", "i", "(i)",
        "sum_j exp(-(i)*k*|x_i-y_j|)", np.exp(-1.5 * i * r).sum(1)),
    Row("sum_j exp(k*j)*c_i*b_j", "ImaginaryIndex", "j", "(j)",
        "sum_j exp(k*(j))*c_i*b_j", c * (np.exp(1.5 * j) @ b)),
    Row("cos(b_j) + j*sin(b_j)", "ImaginaryIndex", "j", "im",
        "cos(b_j) + im*sin(b_j)", np.exp(1j * b)),
    Row("sum_j exp(i (c_i - b_j))", "IndexCalled", "i", "im*(",
        "sum_j exp(im*(c_i - b_j))", np.exp(1j * (c[:, None] - b)).sum(1)),
    Row("sum_j exp(2πi*b_j)", "IndexInName", "πi", "π*im",
        "sum_j exp(2π*im*b_j)", np.exp(2j * np.pi * b).sum()),
    Row("sum_j exp(πi/9) c_i b_j", "IndexInName", "πi", "π*(i)",
        "sum_j exp(π*(i)/9) c_i b_j", np.exp(np.pi * i / 9)[:, 0] * c
        * b.sum()),
    # conditions after a reduction
    Row("sum_j |x_i-y_j| < 3", "ConditionAfterReduction", "<", "(sum_j",
        "(sum_j |x_i-y_j|) < 3", r.sum(1) < 3),
    Row("sum_j |x_i-y_j| < 0.5", "ConditionAfterReduction", "<", "sum_j (",
        "sum_j (|x_i-y_j| < 0.5)", (r < 0.5).sum(1)),
    Row("3 + sum_j b_j >= 5 or k < 0", "ConditionAfterReduction", ">=",
        "(sum_j", "3 + (sum_j b_j) >= 5 or k < 0", np.bool_(3 + b.sum() >= 5)),
    Row("any_j (b_j < 0) and c_i < 1", "ConditionAfterReduction", "and",
        "(any_j", "(any_j (b_j < 0)) and c_i < 1", (b < 0).any() & (c < 1)),
    # norms
    Row("|x_i-y_j|_1", "NormOrder", "_1", "sum([abs(x_i-y_j)])",
        "sum([abs(x_i-y_j)])", abs(difference).sum(-1)),
    Row("‖c_i-b_j‖₁", "NormOrder", "₁", "sum([abs(c_i-b_j)])",
        "sum([abs(c_i-b_j)])", abs(c[:, None] - b)),
    Row("|x_i-y_j|_2²", "NormOrder", "_2", "|x_i-y_j|", "|x_i-y_j|²", r**2),
    Row("|x_i-y_j|_∞", "NormOrder", "_", "max([abs(x_i-y_j)])",
        "max([abs(x_i-y_j)])", abs(difference).max(-1)),
    Row("|x_i-y_j|_p", "NormOrder", "_p",
        "(sum([pow(abs(x_i-y_j), p)])^(1/p))",
        "(sum([pow(abs(x_i-y_j), p)])^(1/p))",
        (abs(difference) ** 3).sum(-1) ** (1 / 3)),
    Row("‖x_i-y_j‖_4²", "NormOrder", "_4",
        "(sum([pow(abs(x_i-y_j), 4)])^(1/4))",
        "(sum([pow(abs(x_i-y_j), 4)])^(1/4))²",
        (difference**4).sum(-1) ** 0.5),
    # inner products
    Row("sum_j <x_i,y_j>", "AngleBracket", "<", "x_i·y_j", "sum_j x_i·y_j",
        (x @ y.T).sum(1)),
    Row("sum_j b_j <x_i,y_j>", "AngleBracket", "<", "x_i @ y_j",
        "sum_j b_j*x_i @ y_j", x @ y.T @ b),
    Row("⟨x_i⟩", "AngleBracket", "⟨x_i⟩", "⟨x_i, y_j⟩", "⟨x_i, y_j⟩",
        x @ y.T),
    Row("⟨im*x_i, y_j⟩", "ComplexInnerProduct", "⟨im*x_i, y_j⟩", "conj(",
        "conj(im*x_i)·y_j", -1j * x @ y.T),
    # transposes
    Row("x_i y_j^T", "TransposeProduct", "x_i y_j^T", "outer(x_i, y_j)",
        "outer(x_i, y_j)",
        (x[:, None, :, None] * y[:, None]).reshape(N, M, D * D)),
    Row("x_i^T", "TransposeAlone", "x_i^T", "x_i is a vector", "x_i", x),
    Row("A^T x_i", "TransposedMatrix", "A^T", "x_i @ A", "x_i @ A", x @ A),
    Row("c_i^T b_j", "TransposedScalar", "c_i^T", "leave ^T away",
        "c_i b_j", np.outer(c, b)),
    # definitions, alternatives
    Row("sum_j exp(-r) where r = |x_i-y_j|", "WhereDefinition", "where",
        "with r =", "sum_j exp(-r) with r = |x_i-y_j|", np.exp(-r).sum(1)),
    Row("sum_j k(b_j) where k(u) = u²", "WhereDefinition", "where",
        "with k(u) =", "sum_j k(b_j) with k(u) = u²", (b**2).sum()),
    Row("sum_j where((i < 3) | (b_j < 0.5), c_i, 0)", "BarIsOr", "|", "or",
        "sum_j where((i < 3) or (b_j < 0.5), c_i, 0)",
        ((i < 3) | (b < 0.5)).sum(1) * c),
    Row("where((c_i) | (b_j), 1, 0)", "BarIsOr", "|", "or",
        "where((c_i) or (b_j), 1, 0)", (c > 0.5)[:, None] | (b > 0.5),
        {"c": c > 0.5, "b": b > 0.5}),
    # conditions as factors
    Row("sum_j δ_ij c_i b_j", "KroneckerDelta", "δ_ij", "(i == j)",
        "sum_j (i == j) c_i b_j", np.append(c[:M] * b, 0)),
    Row("sum_j 𝟙(i≠j) c_i b_j", "Indicator", "𝟙", "(i != j) b_j",
        "sum_j (i != j) b_j*c_i", (i != j) @ b * c),
    Row("sum_j 1{i≠j} c_i b_j", "Indicator", "1{", "[i != j] b_j",
        "sum_j [i != j] b_j*c_i", (i != j) @ b * c),
    Row("c_i*sum_{j≠i} b_j", "ConditionBelow", "sum_{j≠i}", "sum_j (j≠i)",
        "c_i*sum_j (j≠i) b_j", (i != j) @ b * c),
    Row("c_i*max_{j≠i} b_j", "ConditionBelow", "max_{j≠i}",
        "max_j where(j≠i,", "c_i*max_j where(j≠i, b_j, -inf)",
        c * np.where(i != j, b, -np.inf).max(1)),
    Row("c_i*∑_{j<i} b_j", "ConditionBelow", "∑_{j<i}", "sum_j (j<i)",
        "c_i*sum_j (j<i) b_j", (j < i) @ b * c),
    Row("c_i*prod_{j≠i} b_j", "ConditionBelow", "prod_{j≠i}",
        "prod_j where(j≠i,", "c_i*prod_j where(j≠i, b_j, 1)",
        c * np.where(i != j, b, 1).prod(1)),
    Row("sum_{j=1}^{n} b_j", "BoundsBelow", "sum_{j=1}", "sum_j",
        "sum_j b_j", b.sum()),
    Row("c_i*sum_{j=1}^{n} b_j", "BoundsBelow", "sum_{j=1}",
        "sum_j (j < 10) b_j", "c_i*sum_j (j < 10) b_j", c * b.sum()),
    Row("sum_j b_j [i ≠ j] c_i", "ConditionSubscript", "i ≠ j",
        "[i != j] b_j", "sum_j [i != j] b_j*c_i", (i != j) @ b * c),
    # functions and reductions of elsewhere
    Row("∇(exp(-|x_i-y_j|²))", "Nabla", "∇", "grad(",
        "grad(exp(-|x_i-y_j|²), x_i)",
        -2 * difference * np.exp(-(r**2))[..., None]),
    Row("(1-|x_i-y_j|)_+²", "PositivePart", "_", "relu(1-|x_i-y_j|)",
        "relu(1-|x_i-y_j|)²", np.maximum(1 - r, 0) ** 2),
    Row("(1-|x_i-y_j|)₊", "PositivePart", "₊", "max(1-|x_i-y_j|, 0)",
        "max(1-|x_i-y_j|, 0)", np.maximum(1 - r, 0)),
    Row("cosine(x_i,y_j)", "OtherArity", "cosine(x_i,y_j)",
        "cosine_similarity(x_i, y_j)", "cosine_similarity(x_i, y_j)",
        x @ y.T / np.linalg.norm(x, axis=1)[:, None]
        / np.linalg.norm(y, axis=1)),
    Row("cosine(x_i,y_j)", "OtherArity", "cosine(x_i,y_j)",
        "cosine(x_i, y_j, p)", "cosine(x_i, y_j, p)", np.cos(np.pi * r / 3)),
    Row("percentile_j b_j", "OrderStatistic", "percentile_j", "quantile_j(f",
        "quantile_j(b_j, 0.9)", np.quantile(b, 0.9)),
    Row("percentile_j(b_j)", "OrderStatistic", "percentile_j", "0.9)",
        "quantile_j(b_j, 0.9)", np.quantile(b, 0.9)),
    Row("min[3]_j b_j", "NumberBeforeAxis", "min[3]_j", "kmin_j(f, 3)",
        "kmin_j(b_j, 3)", np.sort(b)[:3]),
    Row("argmin(2)_j |x_i-y_j|", "NumberBeforeAxis", "argmin(2)_j",
        "argkmin_j(f, 2)", "argkmin_j(|x_i-y_j|, 2)",
        np.argsort(r, axis=1)[:, :2]),
    Row("topk[2]_j(b_j)", "NumberBeforeAxis", "topk[2]_j", "kmax_j(f, 2)",
        "kmax_j(b_j, 2)", np.sort(b)[:-3:-1]),
    Row("sum[2]_j b_j", "NumberBeforeAxis", "sum[2]_j", "sum_j f",
        "sum_j b_j", b.sum()),
    Row("nearest_j(|x_i-y_j|, 2)", "MisspeltReduction", "nearest_j",
        "argkmin_j", "argkmin_j(|x_i-y_j|, 2)", np.argsort(r, 1)[:, :2]),
    Row("topk_j(b_j, 2)", "MisspeltReduction", "topk_j", "kmax_j",
        "kmax_j(b_j, 2)", np.sort(b)[:-3:-1]),
    Row("Sum_j b_j", "ReductionName", "Sum_j", "sum_j", "sum_j b_j", b.sum()),
    Row("Sum_j(b_j)", "MisspeltReduction", "Sum_j", "sum_j", "sum_j(b_j)",
        b.sum()),
    Row("avg_j b_j", "ReductionName", "avg_j", "mean_j", "mean_j b_j",
        b.mean()),
    Row("sup_j b_j", "ReductionName", "sup_j", "max_j", "max_j b_j", b.max()),
    Row("sum_j exp[-b_j]", "FunctionNeedsParentheses", "exp", "exp(",
        "sum_j exp(-b_j)", np.exp(-b).sum()),
    Row("sum_j exp -b_j", "FunctionNeedsParentheses", "exp", "exp(",
        "sum_j exp(-b_j)", np.exp(-b).sum()),
    Row("exp -c_i", "FunctionNeedsParentheses", "exp", "exp(", "exp(-c_i)",
        np.exp(-c)),
    Row("ln c_i", "FunctionNeedsParentheses", "ln", "ln(", "ln(c_i)",
        np.log(c)),
    Row("onehot(c_i, B)", "NotAnInteger", "B", "number itself",
        "onehot(c_i, 10)", np.eye(10)[[1] * N],
        {"c": np.ones(N), "B": 10}),
    # matrices and scales
    Row("A x_i", "MatrixProduct", "A x_i", "A @ x_i", "A @ x_i", x @ A.T),
    Row("A*(x_i-y_j)", "MatrixProduct", "A*(x_i-y_j)", "A @ (x_i - y_j)",
        "A @ (x_i - y_j)", difference @ A.T),
    Row("x_i A", "MatrixProduct", "x_i A", "x_i @ A", "x_i @ A", x @ A),
    Row("gaussian(x_i, y_j, l)", "NamedScale", "gaussian(x_i, y_j, l)",
        "gaussian(x_i/l, y_j/l, 1)", "gaussian(x_i/l, y_j/l, 1)",
        np.exp(-((difference / scales) ** 2).sum(-1) / 2), {"l": scales}),
    Row("laplace", "NamedScale", "|x-y|/l", "laplace(x_i/l, y_j/l, 1)",
        "laplace(x_i/l, y_j/l, 1)",
        np.exp(-np.linalg.norm(difference / scales, axis=-1)), {"l": scales}),
    Row("periodic(x_i, y_j, p, l)", "NamedNumber", "periodic(x_i, y_j, p, l)",
        "one number as l", "periodic(x_i, y_j, p, 0.5)",
        np.exp(-2 * np.sin(np.pi * r / 3)**2 / 0.25), {"l": scales}),
    Row("rational_quadratic(x_i, y_j, p, l)", "NamedScale",
        "rational_quadratic(x_i, y_j, p, l)",
        "rational_quadratic(x_i/l, y_j/l, alpha, 1)",
        "rational_quadratic(x_i/l, y_j/l, alpha, 1)",
        (1 + ((difference / scales) ** 2).sum(-1) / 6) ** -3,
        {"l": scales, "alpha": 3}),
    Row("rbf", "UnknownFormula", "rbf", "gaussian", "gaussian",
        np.exp(-(r**2) / 2 / 0.49)),
    Row("matern", "UnknownFormula", "matern", "matern12", "matern12",
        np.exp(-r / 0.7)),
    Row("matern(x_i, y_j, l)", "MisspeltFunction", "matern", "matern32",
        "matern32(x_i, y_j, l)",
        (1 + np.sqrt(3) * r / 0.7) * np.exp(-np.sqrt(3) * r / 0.7)),
    # sizes
    Row("sum_j b_j/N", "SizeOfAxis", "N", "N=", "sum_j b_j/N", b.sum() / 2,
        {"N": 2}),
    Row("D*l", "SizeOfNothing", "D", "D=", "D*l", 1.4, {"D": 2}),
    Row("sum_j u_i·v_j b_j/D", "SizesDiffer", "D", "nrows(u_i)",
        "sum_j u_i·v_j b_j/nrows(u_i)", x @ y.T @ b / 3, {"u": x, "v": y}),
]  # fmt: skip


def arguments_of(formula: tilefold.Formula, row: Row) -> dict[str, object]:
    """What the formula reads, the row's own arrays first."""
    known = ARRAYS | dict(row.arrays)
    return {name: known[name] for name, _ in formula.names if name in known}


def compute(text: str, row: Row) -> object:
    """The number, the array or the whole matrix."""
    formula = tilefold.compile(text)
    arguments = arguments_of(formula, row)
    arguments |= {k: v for k, v in row.arrays.items() if k in "NMD"}
    try:
        return formula(arguments)
    except tilefold.FormulaError as error:
        if error.code != "NoReduction":
            raise
    return tilefold.kernel(formula, arguments).dense()


def called(row: Row) -> object:
    formula = tilefold.compile(row.typed)
    return formula(arguments_of(formula, row))


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("row", ROWS, ids=[row.typed for row in ROWS])
def test_a_refusal_points_and_names_a_cure(row):
    with pytest.raises(tilefold.Error) as caught:
        called(row)
    error = caught.value
    start, end = error.span
    assert (error.code, error.formula[start:end]) == (row.code, row.caret)
    assert squeezed(row.cure) in squeezed(str(error))


@pytest.mark.parametrize("row", ROWS, ids=[row.mended for row in ROWS])
def test_what_a_cure_says_is_read_and_runs(row):
    np.testing.assert_allclose(compute(row.mended, row), row.value, 1e-9)


@pytest.mark.parametrize(("typed", "meant"), [
    ("rbf", "gaussian"), ("matern", "matern12"), ("guassian", "gaussian"),
])  # fmt: skip
def test_the_name_of_no_formula_comes_before_its_arguments(typed, meant):
    for call in (tilefold.kernel, tilefold.reduce):
        with pytest.raises(tilefold.FormulaError) as caught:
            call(typed, x=x, y=y, l=0.7)
        assert caught.value.code == "UnknownFormula"
        assert meant in str(caught.value)
    np.testing.assert_allclose(
        tilefold.kernel(meant, x=x, y=y, l=0.7).dense(),
        np.exp(-r / 0.7) if meant == "matern12" else np.exp(-(r**2) / 0.98),
        1e-12,
    )


def test_a_name_of_elsewhere_is_an_argument_where_it_is_given():
    for name in ("avg", "sup", "Sum", "inf"):
        out = tilefold.reduce(f"sum_j {name}_j b_j", {name: b, "b": 2 * b})
        np.testing.assert_allclose(out, 2 * b @ b, 1e-12)
    out = tilefold.reduce("0*ln + sum_j exp*b_j", b=b, exp=2, ln=3)
    np.testing.assert_allclose(out, 2 * b.sum(), 1e-12)


def test_a_batch_of_numbers_is_told_its_shape():
    """A parameter's last two dimensions are rows and columns."""
    clouds, widths = np.stack([x, 2 * x, 3 * x, x]), np.array([1.0, 2, 3, 4])
    formula = "sum_j exp(-|x_i-y_j|²/2l²)"
    for given in (widths, widths[:, None]):
        with pytest.raises(tilefold.ShapeError) as caught:
            tilefold.reduce(formula, x=clouds, y=y, l=given)
        assert caught.value.code == "BatchOfNumbers"
        assert "l.reshape(4, 1, 1)" in str(caught.value)
    out = tilefold.reduce(formula, x=clouds, y=y, l=widths.reshape(4, 1, 1))
    for k in range(4):
        alone = tilefold.reduce(formula, x=clouds[k], y=y, l=widths[k])
        np.testing.assert_allclose(out[k], alone, 1e-12)


def test_a_first_batch_of_numbers_is_told_its_shape():
    formula, widths = "sum_j exp(-|x_i-y_j|²/2l²)", np.array([1.0, 2, 3, 4])
    with pytest.raises(tilefold.ShapeError) as caught:
        tilefold.reduce(formula, x=x, y=y, l=widths[:, None])
    assert caught.value.code == "BatchOfNumbers"
    assert "l.reshape(4, 1, 1)" in str(caught.value)
    out = tilefold.reduce(formula, x=x, y=y, l=widths.reshape(4, 1, 1))
    for k in range(4):
        alone = tilefold.reduce(formula, x=x, y=y, l=widths[k])
        np.testing.assert_allclose(out[k], alone, 1e-12)
