# tests/python/meanings.py - what each row of the language's tables means, by
# NumPy and SciPy.
"""The independent second opinion of `test_random_formulas.py`.

A `Meaning` says what operands a row takes and what it gives. Operands:

    any        of a moderate size            small     of at most 3
    positive   above 0.1                     nonzero   0.1 or more from 0
    unit       inside (-1, 1)                truth     a truth value
    order      a whole number, written out   tangible  inside (-1.2, 1.2)
    degree     any number, written out       beyond    above 1.1
    few        0.1 to 6
    vector, vector3, matrix                  scalar    any, of rank 0
    scalar nonzero …                         the same, of rank 0

A row that is missing here fails the test that needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from bounded import Bounded, elementwise, moved

if TYPE_CHECKING:
    from collections.abc import Callable


class Meaning(NamedTuple):
    """`function` takes arrays where `by_component`, else `Bounded`s."""

    operands: tuple[str, ...]
    function: Callable[..., Any]
    by_component: bool = True
    smooth: bool = True
    step: float = 0.0  # absolute error of a kernel near a zero, in units


def of(operands: str, function: Callable[..., Any], **more: Any) -> Meaning:
    parts = tuple(part.strip() for part in operands.split(","))
    return Meaning(parts, function, **more)


def whole(operands: str, function: Callable[..., Any], **more: Any) -> Meaning:
    return of(operands, function, by_component=False, **more)


def steps(operands: str, function: Callable[..., Any]) -> Meaning:
    return of(operands, function, smooth=False)


def dot(a: Bounded, b: Bounded) -> Bounded:
    return (a * b).sum(-1)


def squared_distance(a: Bounded, b: Bounded) -> Bounded:
    return dot(a - b, a - b)


def root(a: Bounded) -> Bounded:
    return elementwise(np.sqrt, a)


def norm(a: Bounded) -> Bounded:
    return root(dot(a, a))


def cross(a: Bounded, b: Bounded) -> Bounded:
    def rolled(x: Bounded, by: int) -> Bounded:
        return x.shaped(lambda v: np.roll(v, by, -1))

    return rolled(a, -1) * rolled(b, 1) - rolled(a, 1) * rolled(b, -1)


def product(a: Bounded, b: Bounded) -> Bounded:
    """Matrix times vector."""
    return (a * b.shaped(lambda v: v[..., None, :])).sum(-1)


def product_from_left(a: Bounded, b: Bounded) -> Bounded:
    return product(b.shaped(lambda v: np.swapaxes(v, -1, -2)), a)


def outer(a: Bounded, b: Bounded) -> Bounded:
    table = a.shaped(lambda v: v[..., :, None]) * b.shaped(
        lambda v: v[..., None, :]
    )
    return table.shaped(
        lambda v: v.reshape(*v.shape[:-2], v.shape[-2] * v.shape[-1])
    )


def extreme(function: Callable[..., Any]) -> Callable[[Bounded], Bounded]:
    def of_components(a: Bounded) -> Bounded:
        def pick(v):
            return function(v, -1)

        return Bounded(pick(a.value), moved(pick, a), a.unit)

    return of_components


def normalized(a: Bounded) -> Bounded:
    length = norm(a)
    inverse = elementwise(lambda v: np.where(v == 0, 0, 1 / v), length)
    return a * inverse.shaped(lambda v: v[..., None])


def stepwise(bound: Bounded) -> Bounded:
    """A scalar, to go with vectors."""
    return bound.shaped(lambda v: v[..., None])


def inverse(a):
    return np.where(a == 0, 0, 1 / np.where(a == 0, 1, a))


# Rows whose operands are whole numbers, tables or functions, which random
# terms are not: their own tests compare them with NumPy.
ELSEWHERE = {
    "operations": {
        "Rand": "test_random.py",
        "Randn": "test_random.py",
        "Gather": "test_gather.py",
        "GatherRow": "test_gather.py",
        "GatherElement": "test_gather.py",
    },
    "functions": {
        "onehot": "test_gather.py",
        "argmax": "test_gather.py",
        "argmin": "test_gather.py",
    },
    "reductions": {
        "fold": "test_folds.py",
        "quantile": "test_quantile.py",
        "median": "test_quantile.py",
        "iqr": "test_quantile.py",
        "nansum": "test_nan_reductions.py",
        "nanmean": "test_nan_reductions.py",
        "nanvar": "test_nan_reductions.py",
        "nanstd": "test_nan_reductions.py",
        "nanmax": "test_nan_reductions.py",
        "nanmin": "test_nan_reductions.py",
    },
}

OPERATIONS = {
    "Add": of("any, any", np.add),
    "Sub": of("any, any", np.subtract),
    "Neg": of("any", np.negative),
    "Mul": of("any, any", np.multiply),
    "Div": of("scalar, scalar nonzero", np.divide),
    "Mod": steps("any, nonzero", np.mod),
    "FloorDiv": steps("any, nonzero", np.floor_divide),
    "Pow": of("scalar positive, scalar small", np.power),
    "Exp": of("small", np.exp),
    "Exp2": of("small", np.exp2),
    "Log": of("positive", np.log),
    "Log2": of("positive", np.log2),
    "Log10": of("positive", np.log10),
    "Log1p": of("positive", np.log1p),
    "Expm1": of("small", np.expm1),
    "Sqrt": of("positive", np.sqrt),
    "Rsqrt": of("positive", lambda a: 1 / np.sqrt(a)),
    "Pinv": of("nonzero", inverse),
    "Abs": steps("any", np.abs),
    "Sign": steps("any", np.sign),
    "Floor": steps("any", np.floor),
    "Ceil": steps("any", np.ceil),
    "Round": steps("any", np.rint),
    "Trunc": steps("any", np.trunc),
    "Minimum": steps("any, any", np.minimum),
    "Maximum": steps("any, any", np.maximum),
    "Where": steps("truth, any, any", lambda c, a, b: np.where(c != 0, a, b)),
    "Less": steps("any, any", np.less),
    "LessEqual": steps("any, any", np.less_equal),
    "Equal": steps("any, any", np.equal),
    "NotEqual": steps("any, any", np.not_equal),
    "And": steps("truth, truth", np.logical_and),
    "Or": steps("truth, truth", np.logical_or),
    "Not": steps("truth", np.logical_not),
    "Sin": of("any", np.sin),
    "Cos": of("any", np.cos),
    "Tan": of("tangible", np.tan),
    "Asin": of("unit", np.arcsin),
    "Acos": of("unit", np.arccos),
    "Atan": of("any", np.arctan),
    "Atan2": of("any, nonzero", np.arctan2, smooth=False),
    "Sinh": of("small", np.sinh),
    "Cosh": of("small", np.cosh),
    "Tanh": of("any", np.tanh),
    "Erf": of("any", special.erf),
    "Erfc": of("small", special.erfc),
    "Sigmoid": of("any", special.expit),
    "Softplus": of("any", lambda x: np.logaddexp(x, 0)),
    "LogAddExp": of("any, any", np.logaddexp, step=4),
    "Silu": of("any", lambda x: x * special.expit(x)),
    "Gelu": of("small", lambda x: x * special.ndtr(x)),
    "Asinh": of("any", np.arcsinh),
    "Acosh": of("beyond", np.arccosh, step=4),
    "Atanh": of("unit", np.arctanh),
    "Hypot": of("any, nonzero", np.hypot),
    "Cbrt": of("nonzero", np.cbrt),
    "ErfInv": of("unit", special.erfinv),
    "Gamma": of("few", special.gamma, step=4),
    "Lgamma": of("positive", special.gammaln, step=4),
    "Polygamma": of("order, positive", special.polygamma, step=4),
    "BesselJ": of("degree, positive", special.jv, step=4),
    "BesselY": of("degree, positive", special.yv, step=4),
    "BesselI": of("degree, positive", special.iv),
    "BesselK": of("degree, positive", special.kv),
    "Dot": whole("vector, vector", dot),
    "SqDist": whole("vector, vector", squared_distance),
    "SqNorm": whole("vector", lambda a: dot(a, a)),
    "CompSum": whole("vector", lambda a: a.sum(-1)),
    "CompMax": whole("vector", extreme(np.max), smooth=False),
    "CompMin": whole("vector", extreme(np.min), smooth=False),
    "Cross": whole("vector3, vector3", cross),
    "MatVec": whole("matrix, vector", product),
    "VecMat": whole("vector, matrix", product_from_left),
    "Outer": whole("vector, vector", outer),
}

SUGAR = {
    "norm": whole("vector", norm, smooth=False),
    "dot": whole("vector, vector", dot),
    ">": steps("any, any", np.greater),
    ">=": steps("any, any", np.greater_equal),
    "clamp": steps(
        "any, small, small", lambda x, a, b: np.minimum(np.maximum(x, a), b)
    ),
    "relu": steps("any", lambda x: np.maximum(x, 0)),
    "pow": of("positive, scalar small", np.power),
    "square": of("any", np.square),
    "inv": of("scalar nonzero", np.reciprocal),
    "step": steps("any", lambda x: np.heaviside(x, 1)),
    "ifelse": steps("any, any, any", lambda c, a, b: np.where(c >= 0, a, b)),
    "xlogx": of("positive", lambda x: special.xlogy(x, x), step=4),
    "sinxdivx": of("any", lambda x: np.sinc(x / np.pi)),
    "sinc": of("any", np.sinc, step=64),
    "normalize": whole("vector", normalized, smooth=False),
    "weightedsqnorm": whole("scalar, vector", lambda s, x: s * dot(x, x)),
    "weightedsqdist": whole(
        "scalar, vector, vector", lambda s, x, y: s * squared_distance(x, y)
    ),
    "symsqnorm": whole("square, vector", lambda a, x: dot(x, product(a, x))),
    "isnan": steps("any", np.isnan),
    "isinf": steps("any", np.isinf),
    "isfinite": steps("any", np.isfinite),
    "digamma": of("positive", special.digamma, step=4),
    "j0": of("any", special.j0, step=4),
    "j1": of("any", special.j1, step=4),
    "y0": of("positive", special.y0, step=4),
    "y1": of("positive", special.y1, step=4),
    "i0": of("small", special.i0),
    "i1": of("small", special.i1),
    "k0": of("positive", special.k0),
    "k1": of("positive", special.k1),
}
