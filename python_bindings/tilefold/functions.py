# python_bindings/tilefold/functions.py - what functions of NumPy, PyTorch and
# the operators are in a formula.
"""The table of the functions that traced values, kernels and `Lazy` know.

A row is a function's name there, and what writes it down here: it is given the
operands, and gives the value that they make.
"""

from __future__ import annotations

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
    "refuse_other_keywords",
]


class Value(Protocol):
    """A value that is written down, such as `tilefold.trace.Tracer`."""

    rank: int

    def made(self, form: str, operands: Sequence[Any], rank: int) -> Value:
        """A value of others: `{0}` of the form is the first of them."""


def _binary(a: Value, operation: str, b: Value) -> Value:
    return a.made(f"({{0}} {operation} {{1}})", [a, b], max(a.rank, b.rank))


def _product(a: Value, operation: str, b: Value) -> Value:
    """An inner product, or a matrix times a vector."""
    matrices = (a.rank == 2) + (b.rank == 2)
    return a.made(f"({{0}} {operation} {{1}})", [a, b], 1 if matrices else 0)


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


def _clamp(a: Value, low: Any = None, high: Any = None) -> Value:
    if low is not None:
        a = _function("max")(a, low)
    return a if high is None else _function("min")(a, high)


CLAMPS = ("clip", "clamp")
# Reductions of the components of a value, and the methods that they are.
FOLDS = {
    "sum": "sum", "max": "max", "amax": "max", "min": "min", "amin": "min",
    "norm": "norm", "vector_norm": "norm", "linalg_norm": "norm",
    "linalg_vector_norm": "norm",
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
            "cbrt", "erfinv", "gamma",
        )
    },
    **{
        there: _function(here)
        for there, here in {
            "absolute": "abs", "fabs": "abs", "rint": "round",
            "arcsin": "asin", "arccos": "acos", "arctan": "atan",
            "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
            "arctanh": "atanh", "minimum": "min", "maximum": "max",
            "remainder": "mod", "mod": "mod",
            "expit": "sigmoid", "conjugate": "conj", "trunc": "trunc",
            "fix": "trunc", "gammaln": "lgamma", "psi": "digamma",
        }.items()
    },
    **{
        there: _operator(here)
        for there, here in {
            "add": "+", "sub": "-", "subtract": "-", "mul": "*",
            "multiply": "*",
            "floordiv": "//", "floor_divide": "//",
            "lt": "<", "less": "<", "le": "<=", "less_equal": "<=",
            "gt": ">", "greater": ">", "ge": ">=", "greater_equal": ">=",
            "eq": "==", "equal": "==", "ne": "!=", "not_equal": "!=",
            "and_": "and", "logical_and": "and", "bitwise_and": "and",
            "or_": "or", "logical_or": "or", "bitwise_or": "or",
        }.items()
    },
    "div": _operator("/", _quotient),
    "divide": _operator("/", _quotient),
    "true_divide": _operator("/", _quotient),
    "matmul": _operator("@", _product),
    "dot": _operator("@", _product),
    "inner": _operator("@", _product),
    "vdot": _operator("@", _product),
    "pow": _operator("^", _power),
    "power": _operator("^", _power),
    "float_power": _operator("^", _power),
    "fmod": _truncated_remainder,
    "neg": _template("(-{0})"),
    "negative": _template("(-{0})"),
    "positive": _template("{0}"),
    "square": _template("({0}*{0})"),
    "reciprocal": _template("inv({0})"),
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
FOLD_SETTINGS = {"axis", "dim", "keepdim", "keepdims", "ord", "p"}
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


def is_function(name: str) -> bool:
    """Whether a function of NumPy or PyTorch has a meaning in a formula."""
    return name in FUNCTIONS
