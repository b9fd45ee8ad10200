# tests/python/test_rules.py - the rule of differentiation of every operation
# and reduction, against differences and against its transpose.
"""For each row: the tangent against central differences; the gradient as the
transpose of the tangent; and the same of the gradient, once more."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from tilefold import _core

# Arguments: scalars a, s on i and c, t on j in (0.2, 0.9); vectors u on i and
# v on j of 3 components; a parameter A of shape (2, 3).
OPERATIONS: dict[str, list[str]] = {
    "+": ["a_i + c_j", "a_i + v_j"],
    "-": ["a_i - c_j", "v_j - a_i"],
    "neg": ["-a_i*c_j"],
    "*": ["a_i*c_j", "a_i*v_j", "u_i*v_j"],
    "/": ["a_i/c_j", "u_i/c_j", "u_i/v_j"],
    "mod": ["mod(5*a_i, c_j)"],
    "//": ["a_i*(3*c_j // a_i)"],
    "rand": ["a_i*c_j*rand(3, i, j)"],
    "randn": ["a_i*c_j*randn(3, j, i)"],
    "^": ["a_i^c_j", "(a_i + c_j)^3", "(a_i*c_j)^(-2)", "(a_i*c_j)^0"],
    "exp": ["exp(a_i*c_j)", "exp(u_i*c_j)"],
    "exp2": ["exp2(a_i*c_j)"],
    "log": ["log(a_i*c_j)"],
    "log1p": ["log1p(a_i*c_j)"],
    "expm1": ["expm1(a_i*c_j)"],
    "sqrt": ["sqrt(a_i*c_j)"],
    "rsqrt": ["rsqrt(a_i*c_j)"],
    "pinv": ["pinv(a_i*c_j)"],
    "abs": ["abs(a_i - 2c_j)"],
    "sign": ["a_i*sign(a_i - c_j)"],
    "floor": ["a_i*floor(3*c_j)"],
    "ceil": ["a_i*ceil(3*c_j)"],
    "round": ["a_i*round(3*c_j)"],
    "min": ["min(a_i, c_j)", "min(u_i*c_j)"],
    "max": ["max(a_i, c_j)", "max(u_i*c_j)"],
    "where": ["where(a_i < c_j, a_i*c_j, a_i/c_j)"],
    "<": ["where(a_i < c_j, a_i, c_j²)"],
    "<=": ["where(a_i <= c_j, a_i, c_j²)"],
    "==": ["where(a_i == c_j, a_i, c_j²)"],
    "!=": ["where(a_i != c_j, a_i, c_j²)"],
    "and": ["where(a_i < c_j and c_j < s_i, a_i, c_j²)"],
    "or": ["where(a_i < c_j or c_j < s_i, a_i, c_j²)"],
    "not": ["where(not a_i < c_j, a_i, c_j²)"],
    "sin": ["sin(a_i*c_j)"],
    "cos": ["cos(a_i*c_j)"],
    "tan": ["tan(a_i*c_j)"],
    "asin": ["asin(a_i*c_j)"],
    "acos": ["acos(a_i*c_j)"],
    "atan": ["atan(a_i*c_j)"],
    "atan2": ["atan2(a_i, c_j)"],
    "sinh": ["sinh(a_i*c_j)"],
    "cosh": ["cosh(a_i*c_j)"],
    "tanh": ["tanh(a_i*c_j)"],
    "erf": ["erf(a_i*c_j)"],
    "log2": ["log2(a_i*c_j)"],
    "log10": ["log10(a_i*c_j)"],
    "trunc": ["a_i*trunc(3*c_j)"],
    "erfc": ["erfc(a_i*c_j)"],
    "sigmoid": ["sigmoid(a_i*c_j)"],
    "softplus": ["softplus(a_i*c_j)"],
    "logaddexp": ["logaddexp(a_i, c_j)", "logaddexp(u_i, a_i)·v_j"],
    "silu": ["silu(a_i*c_j)"],
    "gelu": ["gelu(a_i*c_j)"],
    "asinh": ["asinh(3*a_i*c_j)"],
    "acosh": ["acosh(1 + a_i²*c_j²)", "acosh(2 + a_i*c_j)"],
    "atanh": ["atanh(a_i*c_j)"],
    "hypot": ["hypot(a_i, c_j)", "hypot(u_i, a_i)·v_j"],
    "cbrt": ["cbrt(a_i + c_j)"],
    "erfinv": ["erfinv(a_i*c_j)"],
    "gamma": ["gamma(a_i + c_j)"],
    "lgamma": ["lgamma(a_i*c_j)"],
    "polygamma": ["polygamma(1, a_i + c_j)", "digamma(a_i + c_j)"],
    "besselj": [
        "besselj(2, 3*a_i*c_j)",
        "besselj(0.7, a_i*c_j)",
        "j0(a_i*c_j)",
        "j1(a_i*c_j)",
    ],
    "bessely": [
        "bessely(2, a_i + c_j)",
        "bessely(1.5, a_i + c_j)",
        "y0(a_i*c_j)",
        "y1(a_i*c_j)",
    ],
    "besseli": [
        "besseli(2, 3*a_i*c_j)",
        "besseli(-0.3, a_i*c_j)",
        "i0(a_i*c_j)",
        "i1(a_i*c_j)",
    ],
    "besselk": [
        "besselk(2, a_i + c_j)",
        "besselk(2.5, a_i + c_j)",
        "k0(a_i*c_j)",
        "k1(a_i*c_j)",
    ],
    "·": ["u_i·v_j", "(u_i*v_j)·v_j"],
    "sqdist": ["sqdist(u_i, v_j)"],
    "sqnorm": ["sqnorm(u_i*c_j)"],
    "sum": ["sum(u_i*v_j)"],
    "cross": ["cross(u_i, v_j)"],
    "@": ["A @ (u_i*v_j)", "(A @ (u_i*c_j)) @ A"],
    "gather": [
        "u_i[j mod 3]*c_j + a_i",
        "A[i mod 2, j mod 3]*a_i*c_j",
        "A[(i + j) mod 2]·v_j*a_i",
    ],
    "outer": ["outer(u_i, A @ v_j)", "outer(u_i*c_j, v_j)·outer(v_j, u_i)"],
}
# Written with these, or with the graph's own list and slice.
OTHERS = [
    "[a_i, u_i*c_j, c_j]·[v_j[1:3], v_j, a_i][0:5]",
    "|u_i - v_j|",
    "clamp(a_i*c_j, 0.2, 0.5)",
    "relu(a_i - c_j)",
    "pow(u_i*c_j, 3)·v_j",
    "pow(u_i*c_j, -1/2)·v_j",
    "square(a_i) + inv(c_j) + step(a_i - c_j)*a_i",
    "ifelse(a_i - c_j, a_i, c_j²)",
    "xlogx(a_i*c_j)",
    "sinxdivx(a_i*c_j)",
    "sinc(a_i*c_j)",
    "normalize(u_i - v_j)·v_j",
    "weightedsqdist(v_j, u_i, v_j)",
    "tanh(A @ (u_i - v_j) + a_i)·[c_j, 1]",
    "onehot(j mod 3, 3)·u_i*c_j + v_j[argmax(u_i)]*a_i + argmin(v_j)*c_j*a_i",
    "pad(u_i*c_j, 1, 5)·repeat(a_i, 5)*c_j",
    "quadratic(v_j, u_i) + quadratic(A @ v_j, [a_i, c_j])",
    "matvec(outer(u_i, v_j), v_j)·u_i + vecmat(u_i, outer(u_i, v_j))·v_j",
    "kron(u_i, v_j, [3, 1], [1, 3])·outer(v_j, u_i)",
    "tensordot(outer(u_i, v_j), u_i, [3, 3], [1, 3], [0], [1], [1, 0])·v_j",
    "bspline([0, 0, 0, 0.3, 0.6, 1, 1, 1], a_i*c_j, 2)·[v_j, u_i[0:2]]",
    "softdtw(u_i*c_j, v_j, 0.3)*a_i",
    "vjp(u_i*(u_i·v_j), u_i, v_j*a_i)·u_i*c_j",
    "jacobian(u_i*(u_i·v_j), u_i)·outer(v_j, v_j)*a_i*c_j",
]
REDUCTIONS: dict[str, list[str]] = {
    "sum": ["sum_j a_i*v_j", "sum_ij a_i*v_j"],
    "mean": ["mean_j a_i*v_j", "mean_ij a_i*c_j"],
    "prod": ["prod_j (a_i + c_j)", "prod_i a_i*v_j"],
    "max": ["max_j sin(9*a_i*c_j)", "max_i sin(9*a_i*v_j)", "max_ij u_i*v_j"],
    "min": ["min_j sin(9*a_i*c_j)", "min_ij u_i*v_j"],
    "logsumexp": ["logsumexp_j(a_i*c_j)", "logsumexp_ij(a_i*c_j, t_j*s_i)"],
    "softmax": ["softmax_j(a_i*c_j, u_i*v_j)", "softmax_i(a_i*c_j, s_i*t_j)"],
    "var": ["var_j sin(a_i*c_j)", "var_ij a_i*v_j"],
    "std": ["std_j a_i*c_j"],
    "kmax": ["kmax_j(sin(9*a_i*c_j), 2)"],
    "logmeanexp": ["logmeanexp_j(a_i*c_j)"],
    "quantile": ["quantile_j(sin(9*a_i*c_j), 0.3)"],
    "median": ["median_j sin(9*a_i*v_j)"],
    "ptp": ["ptp_j sin(9*a_i*c_j)", "ptp_ij a_i*v_j"],
    "nansum": ["nansum_j sin(9*a_i*c_j)"],
    "nanmean": ["nanmean_j a_i*v_j"],
    "nanvar": ["nanvar_j sin(a_i*c_j)"],
    "nanstd": ["nanstd_j a_i*c_j"],
    "nanmax": ["nanmax_j sin(9*a_i*c_j)"],
    "nanmin": ["nanmin_ij u_i*v_j"],
    "iqr": ["iqr_j sin(9*a_i*c_j)"],
    "kmin": ["kmin_j(sin(9*a_i*c_j), 3)", "kmin_ij(a_i*c_j, 4)"],
}
# Integers and truth values have no derivative.
FLAT = {"argmax", "argmin", "argkmin", "argkmax", "any", "all", "count"}
# What it is depends on the formula's functions: see test_folds.py.
REFUSED = {"fold"}

N, M = 5, 4


def test_every_row_has_a_case():
    tables = dict(_core.language())
    assert {spelling for spelling, _ in tables["operations"]} == set(OPERATIONS)
    reductions = [
        *tables["reductions, with _i, _j or _ij"],
        *tables["reductions made of them"],
    ]
    assert {spelling for spelling, _ in reductions} == (
        set(REDUCTIONS) | FLAT | REFUSED
    )


def arguments_of(text: str) -> dict[str, np.ndarray]:
    """Those that the formula reads."""
    random = np.random.default_rng(len(text))
    shapes = {
        "a": (N,), "s": (N,), "u": (N, 3),
        "c": (M,), "t": (M,), "v": (M, 3),
        "A": (2, 3),
    }  # fmt: skip
    names = [name for name, _ in tilefold.compile(text).names]
    return {name: random.uniform(0.2, 0.9, shapes[name]) for name in names}


def inner(a, b) -> float:
    return float(np.sum(np.asarray(a) * np.asarray(b)))


def along(f, arguments, tangents):
    """f.jvp by all arguments, at tangents."""
    names = list(tangents)
    seeds = (
        {"tangent": tangents[names[0]]}
        if len(names) == 1
        else {f"tangent_{name}": tangents[name] for name in names}
    )
    return f.jvp(names)({**arguments, **seeds})


def check_tangent(f, arguments, tangents):
    step = 1e-6
    ahead, behind = (
        f(
            {
                **arguments,
                **{n: arguments[n] + h * t for n, t in tangents.items()},
            }
        )
        for h in (step, -step)
    )
    difference = (np.asarray(ahead) - np.asarray(behind)) / (2 * step)
    found = along(f, arguments, tangents)
    scale = np.abs(difference).max() + np.abs(ahead).max() + 1
    np.testing.assert_allclose(found, difference, rtol=0, atol=1e-8 * scale)


def check_transpose(f, arguments, tangents, cotangent, name):
    """⟨g, J t⟩ = ⟨Jᵀ g, t⟩"""
    names = list(tangents)
    gradients = f.grad(names, cotangent=name)({**arguments, name: cotangent})
    if len(names) == 1:
        gradients = (gradients,)
    products = [
        inner(gradient, tangents[n])
        for n, gradient in zip(names, gradients, strict=True)
    ]
    tangent = along(f, arguments, tangents)
    scale = np.abs(products).max() + np.abs(tangent).max() + 1e-3
    assert abs(inner(cotangent, tangent) - sum(products)) < 1e-11 * scale


def check(text: str) -> None:
    f = tilefold.compile(text)
    arguments = arguments_of(text)
    random = np.random.default_rng(3)
    tangents = {
        name: random.standard_normal(value.shape)
        for name, value in arguments.items()
    }
    cotangent = random.standard_normal(np.shape(f(arguments)))
    check_tangent(f, arguments, tangents)
    check_transpose(f, arguments, tangents, cotangent, "g")
    first = next(iter(arguments))
    gradient = f.grad(first, cotangent="g")
    given = {**arguments, "g": cotangent}
    check_tangent(gradient, given, tangents)
    check_transpose(
        gradient,
        given,
        tangents,
        random.standard_normal(tangents[first].shape),
        "h",
    )


ALL = [text for texts in OPERATIONS.values() for text in texts] + OTHERS


@pytest.mark.parametrize("text", ALL)
def test_operation(text):
    check(f"sum_j ({text})")


@pytest.mark.parametrize(
    "text", [text for texts in REDUCTIONS.values() for text in texts]
)
def test_reduction(text):
    check(text)


@pytest.mark.parametrize("text", ALL)
def test_float32_is_close_to_float64(text):
    arguments = arguments_of(f"sum_j ({text})")
    f = tilefold.compile(f"sum_j ({text})").grad(next(iter(arguments)))
    wanted = f(arguments, grad=1.0)
    single = {k: v.astype(np.float32) for k, v in arguments.items()}
    found = f(single, grad=1.0)
    scale = np.abs(wanted).max() + 1e-3
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-4 * scale)
