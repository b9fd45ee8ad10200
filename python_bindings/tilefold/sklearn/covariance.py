# python_bindings/tilefold/sklearn/covariance.py - scikit-learn's kernels of
# Gaussian processes as one formula.
"""`read_covariance`: a tree of kernels as a formula, and noise beside it.

The matrix of a kernel is that of a formula of two points, plus what
`WhiteKernel` adds on the diagonal. Sums, products and powers keep the two
apart: (s + w δ)(t + v δ) = s t + (s v + w t + w v) δ, where δ is 1 for a point
with itself, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process import kernels as theirs

import tilefold
from tilefold.sklearn.formula_kernel import FormulaKernel
from tilefold.sklearn.pair_formula import NAMED, ON_POSITIVE, pair_formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["POINTS", "CovarianceFormula", "read_covariance"]

# The names of the points in a formula of all.
POINTS = ("x", "y")

_DISTANCE = "|(x_i - y_j)/{length_scale}|"
_MATERN = {
    0.5: f"exp(-{_DISTANCE})",
    1.5: f"(1 + r)*exp(-r) with r = sqrt(3)*{_DISTANCE}",
    2.5: f"(1 + r + r²/3)*exp(-r) with r = sqrt(5)*{_DISTANCE}",
    np.inf: f"exp(-{_DISTANCE}²/2)",
}


@dataclass(frozen=True)
class CovarianceFormula:
    """A kernel as text: of two points x_i and y_j, and of noise.

    `smooth` is the formula of two points; `noise` what the diagonal has beside
    it, a formula of the same points that is read where they are one, or None.
    `names` has the name in the formulas of each of scikit-learn's
    hyperparameters, such as "k1__length_scale". `is_positive` says that one of
    the kernels is of vectors without negative components.
    """

    smooth: str
    noise: str | None
    names: dict[str, str]
    is_positive: bool = False

    def values(
        self, kernel: theirs.Kernel, text: str | None = None
    ) -> dict[str, Any]:
        """The hyperparameters of a kernel of the same tree, by formula names.

        Those that `text` reads, which is `smooth` unless said.
        """
        read = dict(tilefold.compile(text or self.smooth).names)
        params = kernel.get_params()
        return {
            new: params[name] for name, new in self.names.items() if new in read
        }


def read_covariance(kernel: theirs.Kernel) -> CovarianceFormula:
    """The formula of a kernel.

    Kernels of scikit-learn's are RBF, Matern (of ν = 1/2, 3/2, 5/2 and ∞),
    RationalQuadratic, ExpSineSquared, DotProduct, ConstantKernel,
    WhiteKernel, PairwiseKernel, and sums, products and powers of them and of
    `FormulaKernel`. Raises `ValueError` for others.
    """
    reader = _Reader()
    smooth, noise = reader.read(kernel, "")
    if smooth is None or not any(dict(tilefold.compile(smooth).names).values()):
        raise ValueError(
            f"{kernel} is no function of two points: add a kernel that is"
        )
    return CovarianceFormula(smooth, noise, reader.names, reader.is_positive)


# The formula of two points and that of noise, where there are some.
_Parts = tuple["str | None", "str | None"]


class _Reader:
    """Reads a tree of kernels; names that clash have a number."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.is_positive = False
        self._numbers = self._numbered()

    @staticmethod
    def _numbered() -> Iterator[str]:
        number = 0
        while True:
            number += 1
            yield f"h{number}"

    def read(self, kernel: theirs.Kernel, prefix: str) -> _Parts:
        if isinstance(kernel, theirs.KernelOperator):
            parts = (
                self.read(kernel.k1, f"{prefix}k1__"),
                self.read(kernel.k2, f"{prefix}k2__"),
            )
            if isinstance(kernel, theirs.Sum):
                return _sum(*parts)
            if isinstance(kernel, theirs.Product):
                return _product(*parts)
        if isinstance(kernel, theirs.Exponentiation):
            inner = self.read(kernel.kernel, f"{prefix}kernel__")
            return _power(inner, float(kernel.exponent))
        if isinstance(kernel, FormulaKernel):
            return self._formula(kernel, prefix), None
        if isinstance(kernel, theirs.WhiteKernel):
            return None, self._named("{noise_level}", kernel, prefix)
        if isinstance(kernel, theirs.PairwiseKernel):
            self.is_positive |= kernel.metric in ON_POSITIVE
        return self._named(_text_of(kernel), kernel, prefix), None

    def _named(self, text: str, kernel: theirs.Kernel, prefix: str) -> str:
        """The text with names of its own for the kernel's hyperparameters."""
        return text.format_map(
            {
                known.name: self._name(prefix + known.name)
                for known in kernel.hyperparameters
            }
        )

    def _name(self, hyperparameter: str) -> str:
        new = next(self._numbers)
        self.names[hyperparameter] = new
        return new

    def _formula(self, kernel: FormulaKernel, prefix: str) -> str:
        """That of a `FormulaKernel`, with its points and names renamed."""
        formula, points, others = pair_formula(kernel.formula)
        renamed = {name: self._name(prefix + name) for name in others}
        renamed.update(zip(points, POINTS, strict=True))
        skeleton = tilefold.compile("operand")
        return skeleton._substitute([("operand", formula, renamed)])


def _text_of(kernel: theirs.Kernel) -> str:
    """The formula of one of scikit-learn's, hyperparameters in braces."""
    if isinstance(kernel, theirs.Matern):
        if kernel.nu in _MATERN:
            return _MATERN[kernel.nu]
    elif isinstance(kernel, theirs.RBF):
        return _MATERN[np.inf]
    elif isinstance(kernel, theirs.PairwiseKernel):
        return _pairwise(kernel)
    else:
        for known, text in _FORMULAS:
            if type(kernel) is known:
                return text
    raise ValueError(
        f"{kernel} has no formula here: write a FormulaKernel, or raise "
        "direct_below, so that the whole matrix is used"
    )


_FORMULAS: list[tuple[Callable[..., Any], str]] = [
    (theirs.ConstantKernel, "{constant_value}"),
    (theirs.DotProduct, "({sigma_0}² + x_i·y_j)"),
    (
        theirs.ExpSineSquared,
        "exp(-2*(sin(pi*|x_i - y_j|/{periodicity})/{length_scale})²)",
    ),
    (
        theirs.RationalQuadratic,
        "(1 + |x_i - y_j|²/(2*{alpha}*{length_scale}²))^(-{alpha})",
    ),
]


def _pairwise(kernel: theirs.PairwiseKernel) -> str:
    """A kernel by name; degree and coef0 are what they are unless said."""
    given = {"degree": 3, "coef0": 1, **(kernel.pairwise_kernels_kwargs or {})}
    if kernel.metric not in NAMED or set(given) != {"degree", "coef0"}:
        raise ValueError(
            f"{kernel} with metric={kernel.metric!r} has no formula here"
        )
    text, _ = NAMED[kernel.metric]
    text = text.format(degree=given["degree"])
    text = text.replace("coef0", repr(float(given["coef0"])))
    return text.replace("gamma", "{gamma}")


def _sum(first: _Parts, second: _Parts) -> _Parts:
    smooth = _joined("first + second", first[0], second[0])
    noise = _joined("first + second", first[1], second[1])
    return smooth or first[0] or second[0], noise or first[1] or second[1]


def _product(first: _Parts, second: _Parts) -> _Parts:
    noise: str | None = None
    pairs = [(0, 1), (1, 0), (1, 1)]
    for one, other in pairs:
        term = _joined("first*second", first[one], second[other])
        noise = _joined("first + second", noise, term) or noise or term
    return _joined("first*second", first[0], second[0]), noise


def _power(inner: _Parts, exponent: float) -> _Parts:
    """(s + w)^p is s^p for two points, and s^p + ((s + w)^p - s^p) for one."""
    smooth, noise = inner
    exact = repr(exponent).removesuffix(".0")
    power = f"first^({exact})"
    if noise is None:
        return _joined(power, smooth, "0"), None
    if smooth is None:
        return None, _joined(power, noise, "0")
    apart = f"(first + second)^({exact}) - first^({exact})"
    return _joined(power, smooth, "0"), _joined(apart, smooth, noise)


def _joined(skeleton: str, first: str | None, second: str | None) -> str | None:
    """The formula of two parts; None where one of them is missing."""
    if first is None or second is None:
        return None
    return tilefold.compile(skeleton)._substitute(
        [
            ("first", tilefold.compile(first), {}),
            ("second", tilefold.compile(second), {}),
        ]
    )
