# python_bindings/tilefold/functions.py - what functions of NumPy, PyTorch and
# the operators are in a formula.
"""The table of the functions that traced values, kernels and `Lazy` know.

A row is a function's name there, and what writes it down here: it is given the
operands, and gives the value that they make.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from typing import Protocol
else:
    Protocol = object  # typing's takes a tenth of the time of an import

__all__ = [
    "BOUNDS",
    "CLAMPS",
    "FOLDS",
    "FOLD_SETTINGS",
    "FUNCTIONS",
    "JOINS",
    "POWERS",
    "SETTINGS",
    "concatenated",
    "is_function",
    "nansum",
    "norm_of_order",
    "refuse_other_keywords",
]


class Value(Protocol):
    """A value that is written down, such as `tilefold.trace.Tracer`."""

    rank: int
    shape: tuple[int, ...]
    is_truth: bool  # of which libraries make sums and products of their own

    def made(self, form: str, operands: Sequence[Any], rank: int) -> Value:
        """A value of others: `{0}` of the form is the first of them."""


def _binary(a: Value, operation: str, b: Value) -> Value:
    return a.made(f"({{0}} {operation} {{1}})", [a, b], max(a.rank, b.rank))


def _of_truths(operation: str, of_truths: str) -> Callable[..., Value]:
    """An operation that is another one of truth values, or is none."""

    def call(a: Value, b: Value) -> Value:
        if not (a.is_truth and b.is_truth):
            return _binary(a, operation, b)
        if not of_truths:
            _core.fail("TracedFunction", "a difference of truth values, not ^,")
        return _binary(a, of_truths, b)

    return call


def _product(a: Value, operation: str, b: Value) -> Value:
    """An inner product, or a matrix times a vector."""
    matrices = (a.rank == 2) + (b.rank == 2)
    return a.made(f"({{0}} {operation} {{1}})", [a, b], 1 if matrices else 0)


def _conjugate_product(a: Value, b: Value) -> Value:
    """An inner product whose first vector is conjugated, as NumPy's is."""
    return a.made("(conj({0}) @ {1})", [a, b], 0)


def _power(a: Value, _: str, b: Value) -> Value:
    if a.rank == 0:
        return a.made("({0})^({1})", [a, b], b.rank)
    return a.made("pow({0}, {1})", [a, b], 1)


def concatenated(parts: list[Any]) -> Any:
    """Components side by side."""
    form = ", ".join(f"{{{k}}}" for k in range(len(parts)))
    return parts[0].made(f"[{form}]", parts, 1)


def _quotient(a: Value, operation: str, b: Value) -> Value:
    """Component by component; formulas divide no number by a vector."""
    if a.rank < b.rank and operation == "/":
        return a.made("({0} * inv({1}))", [a, b], b.rank)
    return _binary(a, operation, b)


def _truncated_remainder(a: Value, b: Value) -> Value:
    """The remainder that has the sign of the dividend; `mod` has the other's.

    `mod` is exact, which a - b*trunc(a/b) is not near multiples. Choices have
    one type, and a negative is no uint64: so both of them are negatives.
    """
    below, above = "-mod(-{0}, abs({1}))", "-(-mod({0}, abs({1})))"
    form = f"where({{0}} < 0, {below}, {above})"
    return a.made(form, [a, b], max(a.rank, b.rank))


def _function(name: str) -> Callable[..., Value]:
    def call(*operands: Value) -> Value:
        form = ", ".join(f"{{{k}}}" for k in range(len(operands)))
        rank = max(operand.rank for operand in operands)
        return operands[0].made(f"{name}({form})", operands, rank)

    return call


def _operator(operation: str, make: Any = _binary) -> Callable[..., Value]:
    return lambda a, b: make(a, operation, b)


def _template(text: str) -> Callable[..., Value]:
    """`{0}` is the operand."""
    return lambda a: a.made(text, [a], a.rank)


def _form(text: str) -> Callable[..., Value]:
    """`{0}` and `{1}` are the operands."""
    return lambda a, b: a.made(text, [a, b], max(a.rank, b.rank))


def _but_for_nan(name: str) -> Callable[..., Value]:
    """The other operand where one is NaN."""
    both = f"{name}({{0}}, {{1}})"
    return _form(
        f"where({{0}} != {{0}}, {{1}}, where({{1}} != {{1}}, {{0}}, {both}))"
    )


def _method(name: str) -> Callable[..., Value]:
    return lambda a, *args, **kwargs: getattr(a, name)(*args, **kwargs)


def nansum(a: Any, *args: Any, **kwargs: Any) -> Any:
    """The sum of what is not NaN: of traced values, kernels, lazy arrays."""
    is_nan = a.apply("isnan", (a,), {})
    return a.apply("where", (is_nan, 0, a), {}).sum(*args, **kwargs)


def _softmax(a: Any, **kwargs: Any) -> Value:
    """Of the components."""
    powers: Any = _function("exp")(_binary(a, "-", a.max()))
    return _binary(powers, "/", powers.sum(**kwargs))


def _affine(a: Value, weight: Value, bias: Value | None) -> Value:
    """A layer of a network: weight @ a + bias."""
    if a.rank == 0:
        _core.fail(
            "TracedOther",
            "a layer of a number",
            "it takes vectors: pass points of shape (N, 1), as x[:, None]",
        )
    product = _product(weight, "@", a)
    if weight.shape[0] == 1:  # which is read as a row
        product = a.made("[{0}]", [product], 1)
    return product if bias is None else _binary(product, "+", bias)


def _clamp(a: Value, low: Any = None, high: Any = None) -> Value:
    if low is not None:
        a = _function("max")(a, low)
    return a if high is None else _function("min")(a, high)


CLAMPS = ("clip", "clamp")
# Reductions of the components of a value, and the methods that they are.
FOLDS = {
    **{
        name: name
        for name in (
            "sum", "max", "min", "norm", "mean", "prod", "any", "all", "var",
            "std", "argmax", "argmin", "ptp",
        )
    },
    "amax": "max", "amin": "min", "vector_norm": "norm",
    "linalg_norm": "norm", "linalg_vector_norm": "norm", "average": "mean",
}  # fmt: skip
# What a function of NumPy, PyTorch or the operators does, by its name there.
FUNCTIONS: dict[str, Callable[..., Value]] = {
    **{
        name: _function(name)
        for name in (
            "exp", "exp2", "log", "log1p", "expm1", "sqrt", "rsqrt", "sign",
            "floor", "ceil", "round", "where", "sin", "cos", "tan", "asin",
            "acos", "atan", "atan2", "sinh", "cosh", "tanh", "erf", "sigmoid",
            "relu", "softplus", "cross", "abs", "real", "imag", "angle",
            "conj", "log2", "log10", "erfc", "lgamma", "digamma", "sinc",
            "silu", "gelu", "logaddexp", "asinh", "acosh", "atanh", "hypot",
            "cbrt", "erfinv", "gamma", "j0", "j1", "y0", "y1", "i0", "i1",
            "k0", "k1",
        )
    },
    **{
        there: _function(here)
        for there, here in {
            "absolute": "abs", "fabs": "abs", "rint": "round",
            "arcsin": "asin", "arccos": "acos", "arctan": "atan",
            "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
            "arctanh": "atanh", "minimum": "min", "maximum": "max",
            "remainder": "mod", "mod": "mod", "jv": "besselj",
            "yv": "bessely", "iv": "besseli", "kv": "besselk",
            "expit": "sigmoid", "conjugate": "conj", "trunc": "trunc",
            "fix": "trunc", "gammaln": "lgamma", "psi": "digamma",
        }.items()
    },
    **{
        there: _operator(here)
        for there, here in {
            "floordiv": "//", "floor_divide": "//",
            "lt": "<", "less": "<", "le": "<=", "less_equal": "<=",
            "gt": ">", "greater": ">", "ge": ">=", "greater_equal": ">=",
            "eq": "==", "equal": "==", "ne": "!=", "not_equal": "!=",
            "and_": "and", "logical_and": "and", "bitwise_and": "and",
            "or_": "or", "logical_or": "or", "bitwise_or": "or",
        }.items()
    },
    "add": _of_truths("+", "or"),
    **dict.fromkeys(("mul", "multiply"), _of_truths("*", "and")),
    **dict.fromkeys(("sub", "subtract"), _of_truths("-", "")),
    "div": _operator("/", _quotient),
    "divide": _operator("/", _quotient),
    "true_divide": _operator("/", _quotient),
    "matmul": _operator("@", _product),
    "dot": _operator("@", _product),
    "inner": _operator("@", _product),
    "vdot": _conjugate_product,
    "vecdot": _conjugate_product,
    "pow": _operator("^", _power),
    "power": _operator("^", _power),
    "float_power": _operator("^", _power),
    "fmod": _truncated_remainder,
    "neg": _template("(-{0})"),
    "negative": _template("(-{0})"),
    "positive": _template("{0}"),
    "square": _template("({0}*{0})"),
    "reciprocal": _template("inv({0})"),
    "xlogy": _form("where({0} == 0 and {1} == {1}, 0, {0}*log({1}))"),
    "heaviside": _form(
        "where({0} == 0, {1}, where({0} == {0}, step({0}), {0}))"
    ),
    "ndtr": _template("(erfc(-{0}*rsqrt(2))/2)"),
    "entr": _template("(-xlogx({0}))"),
    "nansum": nansum,
    "softmax": _softmax,
    "linear": lambda a, weight, bias=None: _affine(a, weight, bias),
    **dict.fromkeys(("copy", "clone", "ravel", "flatten"), _template("{0}")),
    "deg2rad": _template("({0}*(pi/180))"),
    "radians": _template("({0}*(pi/180))"),
    "rad2deg": _template("({0}*(180/pi))"),
    "degrees": _template("({0}*(180/pi))"),
    "isnan": _template("({0} != {0})"),
    "isinf": _template(
        "(abs(real({0})) == inf or abs(imag({0})) == inf)"
    ),
    "isfinite": _template(
        "(abs(real({0})) < inf and abs(imag({0})) < inf)"
    ),
    "fmax": _but_for_nan("max"),
    "fmin": _but_for_nan("min"),
    "logical_xor": _form("(({0} != 0) != ({1} != 0))"),
    "logical_not": _template("(not {0})"),
    "invert": _template("(not {0})"),
    **dict.fromkeys(CLAMPS, _clamp),
    **{there: _method(here) for there, here in FOLDS.items()},
}  # fmt: skip


# The bounds of `CLAMPS`, and which operand each is.
BOUNDS = {"min": 1, "max": 2, "a_min": 1, "a_max": 2}
# Keywords that mean something: of what combines components, and of all.
FOLD_SETTINGS = {
    "axis", "dim", "keepdim", "keepdims", "ord", "p", "order", "ddof",
}  # fmt: skip
SETTINGS = {*FOLD_SETTINGS, *BOUNDS}
# Functions that put components side by side, of a list of values.
JOINS = {"concatenate", "hstack", "cat", "stack"}
# Those whose second operand is an exponent, which the formula spells out.
POWERS = {"pow", "power", "float_power"}


def refuse_other_keywords(
    function: str, given: Mapping[str, Any], known: Container[str]
) -> None:
    """Raises ArgumentError for a keyword that would change what is meant."""
    for key, value in given.items():
        if key not in known and value is not None:
            _core.fail("TracedFunction", f"{function}(…, {key}=…)")


def norm_of_order(sizes: Any, order: Any, fold: Callable[..., Any]) -> Any:
    """The norm (Σ|v|^p)^(1/p) of sizes |v| along one axis.

    `fold` sums values along it, or finds the largest or smallest, by name.
    """
    if order in (math.inf, -math.inf):
        return fold("max" if order > 0 else "min", sizes)
    if not isinstance(order, (int, float)) or order <= 0:
        _core.fail("TracedFunction", f"norm of order {order}")
    if order == 1:
        return fold("sum", sizes)
    return fold("sum", sizes**order) ** (1 / order)


def is_function(name: str) -> bool:
    """Whether a function of NumPy or PyTorch has a meaning in a formula."""
    return name in FUNCTIONS
