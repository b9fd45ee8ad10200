# bench/functions.py - the functions of the language, as every tool spells them.
"""`FUNCTIONS` names a function of u = |x - y|², its text, and what it is of the
tools: NumPy and SciPy, JAX, or torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import Array

ROWS = 16  # compared with float64
EXPONENT = 0.7  # a of the rational quadratic


class Function(NamedTuple):
    """A formula of u, and the same of the tools t."""

    text: str
    of: Callable[[Any, Any], Any]


def _named(*names: str) -> dict[str, Function]:
    """Those that all call by one name."""
    return {
        name: Function(f"{name}(u)", lambda t, u, n=name: getattr(t, n)(u))
        for name in names
    }


FUNCTIONS = {
    **_named("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    **_named("sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan"),
    **_named("sinh", "cosh", "tanh", "erf", "erfc", "lgamma", "digamma"),
    **_named("sigmoid", "softplus", "silu", "gelu"),
    "floor": Function("floor(8u)", lambda t, u: t.floor(8 * u)),
    "round": Function("round(8u)", lambda t, u: t.round(8 * u)),
    "atan2": Function("atan2(u, 1 - u)", lambda t, u: t.atan2(u, 1 - u)),
    "logaddexp": Function(
        "logaddexp(u, 0.5 - u)", lambda t, u: t.logaddexp(u, 0.5 - u)
    ),
    "power": Function("(1 + u)^-1.3", lambda _, u: (1 + u) ** -1.3),
    "rational quadratic": Function(
        "(1 + u/(2a))^(-a)", lambda _, u: (1 + u / (2 * EXPONENT)) ** -EXPONENT
    ),
    "quotient": Function("1/(1 + u)", lambda _, u: 1 / (1 + u)),
    "remainder": Function("u mod 0.3", lambda _, u: u % 0.3),
    "absolute": Function("abs(u - 0.3)", lambda _, u: abs(u - 0.3)),
    "choice": Function(
        "where(u < 0.3, u, 0.1)", lambda t, u: t.where(u < 0.3, u, 0.1)
    ),
    "Bessel J0": Function("besselj(0, u)", lambda t, u: t.j0(u)),
}


class Tools:
    """Looks a name up in some modules, in turn."""

    def __init__(self, *places: Any, **named: Any) -> None:
        self._places, self._named = places, named

    def __getattr__(self, name: str) -> Any:
        if name in self._named:
            return self._named[name]
        for place in self._places:
            if hasattr(place, name):
                return getattr(place, name)
        raise AttributeError(name)


def double() -> Tools:
    """NumPy and SciPy."""
    from scipy import special

    return Tools(
        np,
        special,
        asin=np.arcsin,
        acos=np.arccos,
        atan=np.arctan,
        atan2=np.arctan2,
        rsqrt=lambda u: 1 / np.sqrt(u),
        sigmoid=special.expit,
        softplus=lambda u: np.logaddexp(0, u),
        silu=lambda u: u * special.expit(u),
        gelu=lambda u: u * special.ndtr(u),
        lgamma=special.gammaln,
        digamma=special.digamma,
    )


@dataclass(frozen=True)
class FunctionProblem:
    """Σ_j f(|x_i - y_j|²) in three dimensions, of distances below 3/4."""

    n: int
    function: str
    dtype: str
    x: Array = field(init=False)
    y: Array = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(20)
        for name in "xy":
            points = 0.5 * random.random((self.n, 3))
            object.__setattr__(self, name, points.astype(self.dtype))

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """What is written down."""
        return {"N": self.n, "M": self.n, "D": 3, "dtype": self.dtype}

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        return f"sum_j {FUNCTIONS[self.function].text} with u = |x_i - y_j|²"

    @property
    def arguments(self) -> dict[str, Any]:
        """As tilefold takes them."""
        given = {"x": self.x, "y": self.y}
        if "a)" in FUNCTIONS[self.function].text:
            given["a"] = EXPONENT
        return given

    def of(self, tools: Any, squares: Any) -> Any:
        """The function of some squares."""
        return FUNCTIONS[self.function].of(tools, squares)

    def error(self, result: Any) -> float:
        """Largest |r_i - o_i| / Σ_j |f_ij| over the sampled rows."""
        found = np.asarray(result).reshape(self.n)[self._rows]
        sums, sizes = self._exact
        errors = np.abs(found.astype(np.float64) - sums) / sizes
        return float(np.nan_to_num(errors, nan=np.inf).max())

    @cached_property
    def _rows(self) -> Array:
        return np.linspace(0, self.n - 1, ROWS).astype(np.int64)

    @cached_property
    def _exact(self) -> tuple[Array, Array]:
        y = self.y.astype(np.float64)
        x = self.x[self._rows].astype(np.float64)
        terms = self.of(double(), ((x[:, None] - y) ** 2).sum(2))
        return terms.sum(1), np.abs(terms).sum(1)
