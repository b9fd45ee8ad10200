# python_bindings/tilefold/trace.py - Python functions of points, read as
# formulas.
"""`Traced`: a value of a formula that Python code computes with.

A function of one point x and one point y is called once, with traced values;
what it does with them is written down as the text of a formula, which is
compiled like any other. NumPy's and PyTorch's functions know traced values
through their protocols.

Numbers that the function finds in variables outside it become parameters of
the formula under their names, as in

    cov = lambda x, y: σ**2 * exp(-((x - y)**2).sum() / (2*l**2))

so that other values of σ and l find the same kernel. Arrays become
parameters too.
"""

from __future__ import annotations

import math
import types
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Traced", "trace"]


class Context:
    """The arguments that a trace has met."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.arguments = dict(arguments)
        self._captured: dict[int, Traced] = {}

    def parameter(self, value: Any, name: str = "p") -> Traced:
        """A parameter for an array or number outside the function."""
        found = self._captured.get(id(value))
        if found is not None:
            return found
        free, number = name, 0
        while free in self.arguments:
            number += 1
            free = f"{name}{number}"
        self.arguments[free] = value
        traced = Traced(self, free, min(np.ndim(value), 2))
        self._captured[id(value)] = traced
        return traced

    def traced(self, value: Any) -> Traced:
        """A value as a formula spells it."""
        if isinstance(value, Traced):
            return value
        if isinstance(value, (bool, np.bool_)):
            return Traced(self, "(0 == 0)" if value else "(0 == 1)", 0)
        if isinstance(value, (int, float, np.integer, np.floating)):
            return Traced(self, _number(value), 0)
        if isinstance(value, (list, tuple)):
            return concatenated([self.traced(part) for part in value])
        if np.ndim(value) > 2 or not hasattr(value, "shape"):
            _core.fail("TracedValue", type(value).__name__)
        return self.parameter(value)


def _number(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return "(inf - inf)"
    if math.isinf(number):
        return "inf" if number > 0 else "(-inf)"
    text = repr(int(number)) if number == int(number) else repr(number)
    return f"({text})" if number < 0 else text


class Traced:
    """A scalar or a vector that depends on x, y and parameters.

    `text` is the formula; `rank` is 0 for a scalar, 1 for a vector, 2 for a
    matrix.
    """

    __slots__ = ("context", "rank", "text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, context: Context, text: str, rank: int) -> None:
        self.context = context
        self.text = text
        self.rank = rank

    def __repr__(self) -> str:
        return f"<traced {self.text}>"

    @property
    def ndim(self) -> int:
        """0 for a scalar, 1 for a vector."""
        return self.rank

    # ---- what NumPy and PyTorch ask -----------------------------------------

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **_: Any
    ) -> Any:
        if method != "__call__":
            _core.fail("TracedFunction", f"{ufunc.__name__}.{method}")
        return _apply(self.context, ufunc.__name__, inputs, {})

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        return _apply(self.context, function.__name__, args, kwargs)

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        parts = args[0] if isinstance(args[0], (list, tuple)) else args
        context = next(a for a in parts if isinstance(a, Traced)).context
        return _apply(context, function.__name__, args, kwargs or {})

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        _core.fail("TracedArray")

    def __bool__(self) -> NoReturn:
        _core.fail("TracedTruth")

    def __float__(self) -> NoReturn:
        _core.fail("TracedNumber")

    def __int__(self) -> NoReturn:
        _core.fail("TracedNumber")

    def __index__(self) -> NoReturn:
        _core.fail("TracedNumber")

    def __iter__(self) -> NoReturn:
        _core.fail("TracedLength")

    def __len__(self) -> NoReturn:
        _core.fail("TracedLength")

    # ---- components ---------------------------------------------------------

    def __getitem__(self, index: Any) -> Traced:
        if index is Ellipsis or index == (Ellipsis,):
            return self
        if isinstance(index, tuple) and index and index[0] is Ellipsis:
            return self[index[1]]
        if self.rank != 1:
            _core.fail("TracedFunction", "indexing a scalar")
        if isinstance(index, slice):
            if index.step not in (None, 1):
                _core.fail("TracedFunction", "a slice with a step")
            first = "" if index.start is None else str(int(index.start))
            last = "" if index.stop is None else str(int(index.stop))
            return Traced(self.context, f"{self.text}[{first}:{last}]", 1)
        return Traced(self.context, f"{self.text}[{int(index)}]", 0)

    def sum(self, axis: Any = None, **kwargs: Any) -> Traced:
        """The sum of the components."""
        return self._fold("sum", axis, kwargs)

    def max(self, axis: Any = None, **kwargs: Any) -> Traced:
        """The largest component."""
        return self._fold("max", axis, kwargs)

    def min(self, axis: Any = None, **kwargs: Any) -> Traced:
        """The smallest component."""
        return self._fold("min", axis, kwargs)

    def norm(self, *_: Any, **__: Any) -> Traced:
        """The Euclidean norm."""
        return Traced(self.context, f"norm({self.text})", 0)

    def dot(self, other: Any) -> Traced:
        """The inner product."""
        return _apply(self.context, "matmul", (self, other), {})

    def _fold(self, name: str, axis: Any, kwargs: Mapping[str, Any]) -> Traced:
        axis = kwargs.get("dim", axis)
        if axis not in (None, -1, 0, (-1,), (0,)):
            _core.fail("TracedFunction", f"{name} over axis {axis}")
        if self.rank == 0:
            return self
        text = f"{name}({self.text})"
        if kwargs.get("keepdim") or kwargs.get("keepdims"):
            return Traced(self.context, f"[{text}]", 1)
        return Traced(self.context, text, 0)

    def __getattr__(self, name: str) -> Any:
        """Methods such as x.exp(): any function that has none here."""
        if name.startswith("_") or name not in _FUNCTIONS:
            raise AttributeError(name)
        return lambda *args, **kwargs: _apply(
            self.context, name, (self, *args), kwargs
        )


def _binary(a: Traced, operation: str, b: Traced) -> Traced:
    return Traced(
        a.context, f"({a.text} {operation} {b.text})", max(a.rank, b.rank)
    )


def _product(a: Traced, operation: str, b: Traced) -> Traced:
    """An inner product, or a matrix times a vector."""
    matrices = (a.rank == 2) + (b.rank == 2)
    return Traced(
        a.context, f"({a.text} {operation} {b.text})", 1 if matrices else 0
    )


def _power(a: Traced, _: str, b: Traced) -> Traced:
    if a.rank == 0:
        return Traced(a.context, f"({a.text})^({b.text})", b.rank)
    return Traced(a.context, f"pow({a.text}, {b.text})", 1)


def concatenated(parts: list[Traced]) -> Traced:
    """Components side by side."""
    text = ", ".join(part.text for part in parts)
    return Traced(parts[0].context, f"[{text}]", 1)


def _function(name: str) -> Callable[..., Traced]:
    def call(*operands: Traced) -> Traced:
        text = ", ".join(operand.text for operand in operands)
        rank = max(operand.rank for operand in operands)
        return Traced(operands[0].context, f"{name}({text})", rank)

    return call


def _operator(operation: str, make: Any = _binary) -> Callable[..., Traced]:
    return lambda a, b: make(a, operation, b)


def _template(text: str) -> Callable[..., Traced]:
    """`{0}` is the operand."""
    return lambda a: Traced(a.context, text.format(a.text), a.rank)


def _method(name: str) -> Callable[..., Traced]:
    return lambda a, *args, **kwargs: getattr(Traced, name)(a, *args, **kwargs)


def _clamp(a: Traced, low: Any = None, high: Any = None) -> Traced:
    if low is not None:
        a = _function("max")(a, low)
    return a if high is None else _function("min")(a, high)


# What a function of NumPy, PyTorch or the operators does, by its name there.
_FUNCTIONS: dict[str, Callable[..., Traced]] = {
    **{
        name: _function(name)
        for name in (
            "exp", "exp2", "log", "log1p", "expm1", "sqrt", "rsqrt", "sign",
            "floor", "ceil", "round", "where", "sin", "cos", "tan", "asin",
            "acos", "atan", "atan2", "sinh", "cosh", "tanh", "erf", "sigmoid",
            "relu", "softplus", "cross", "abs",
        )
    },
    **{
        there: _function(here)
        for there, here in {
            "absolute": "abs", "fabs": "abs", "rint": "round",
            "arcsin": "asin", "arccos": "acos", "arctan": "atan",
            "arctan2": "atan2", "minimum": "min", "maximum": "max",
            "fmod": "mod", "remainder": "mod", "mod": "mod",
            "expit": "sigmoid",
        }.items()
    },
    **{
        there: _operator(here)
        for there, here in {
            "add": "+", "sub": "-", "subtract": "-", "mul": "*",
            "multiply": "*", "div": "/", "divide": "/", "true_divide": "/",
            "lt": "<", "less": "<", "le": "<=", "less_equal": "<=",
            "gt": ">", "greater": ">", "ge": ">=", "greater_equal": ">=",
            "eq": "==", "equal": "==", "ne": "!=", "not_equal": "!=",
            "and_": "and", "logical_and": "and", "bitwise_and": "and",
            "or_": "or", "logical_or": "or", "bitwise_or": "or",
        }.items()
    },
    "matmul": _operator("@", _product),
    "dot": _operator("@", _product),
    "inner": _operator("@", _product),
    "vdot": _operator("@", _product),
    "pow": _operator("^", _power),
    "power": _operator("^", _power),
    "float_power": _operator("^", _power),
    "neg": _template("(-{0})"),
    "negative": _template("(-{0})"),
    "positive": _template("{0}"),
    "square": _template("({0}*{0})"),
    "reciprocal": _template("(1/{0})"),
    "logical_not": _template("(not {0})"),
    "invert": _template("(not {0})"),
    "clip": _clamp,
    "clamp": _clamp,
    "sum": _method("sum"),
    "max": _method("max"),
    "amax": _method("max"),
    "min": _method("min"),
    "amin": _method("min"),
    "norm": _method("norm"),
    "vector_norm": _method("norm"),
    "linalg_norm": _method("norm"),
    "linalg_vector_norm": _method("norm"),
}  # fmt: skip


def _apply(
    context: Context, name: str, args: Any, kwargs: Mapping[str, Any]
) -> Traced:
    if name in ("concatenate", "hstack", "cat", "stack"):
        return concatenated([context.traced(part) for part in args[0]])
    if name not in _FUNCTIONS:
        _core.fail("TracedFunction", name)
    operands = [
        argument
        if argument is None or (name in _FOLDS and k > 0)
        else context.traced(argument)
        for k, argument in enumerate(args)
    ]
    named = {
        key: value
        for key, value in kwargs.items()
        if key in ("axis", "dim", "keepdim", "keepdims")
    }
    if name in ("clip", "clamp"):
        bounds = {"min": 1, "max": 2, "a_min": 1, "a_max": 2}
        operands += [None] * (3 - len(operands))
        for key, place in bounds.items():
            if kwargs.get(key) is not None:
                operands[place] = context.traced(kwargs[key])
    return _FUNCTIONS[name](*operands, **named)


_FOLDS = {
    "sum", "max", "amax", "min", "amin", "norm", "vector_norm", "linalg_norm",
    "linalg_vector_norm",
}  # fmt: skip


def _install_operators() -> None:
    def forward(name: str) -> Any:
        return lambda self, other: _apply(self.context, name, (self, other), {})

    def backward(name: str) -> Any:
        return lambda self, other: _apply(self.context, name, (other, self), {})

    for name, function in {
        "add": "add", "sub": "sub", "mul": "mul", "truediv": "div",
        "pow": "pow", "matmul": "matmul", "mod": "mod",
    }.items():  # fmt: skip
        setattr(Traced, f"__{name}__", forward(function))
        setattr(Traced, f"__r{name}__", backward(function))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Traced, f"__{name}__", forward(name))
    for name, function in {"and": "and_", "or": "or_"}.items():
        setattr(Traced, f"__{name}__", forward(function))
        setattr(Traced, f"__r{name}__", backward(function))
    for name, function in {
        "neg": "neg", "pos": "positive", "abs": "abs", "invert": "invert",
    }.items():  # fmt: skip
        setattr(
            Traced,
            f"__{name}__",
            lambda self, function=function: _apply(
                self.context, function, (self,), {}
            ),
        )


_install_operators()


def _with_parameters(function: Any, context: Context) -> Any:
    """The function, its outer numbers and arrays replaced by parameters.

    Whole numbers stay: they are exponents, indices and counts.
    """
    if not isinstance(function, types.FunctionType):
        return function

    def replaced(name: str, value: Any) -> Any:
        is_number = isinstance(value, (float, np.floating))
        is_array = hasattr(type(value), "__dlpack__")
        return (
            context.parameter(value, name) if is_number or is_array else value
        )

    outer = {
        name: replaced(name, function.__globals__[name])
        for name in function.__code__.co_names
        if name in function.__globals__
    }
    cells = tuple(
        types.CellType(replaced(name, cell.cell_contents))
        for name, cell in zip(
            function.__code__.co_freevars,
            function.__closure__ or (),
            strict=True,
        )
    )
    again = types.FunctionType(
        function.__code__,
        {**function.__globals__, **outer},
        function.__name__,
        function.__defaults__,
        cells,
    )
    again.__kwdefaults__ = function.__kwdefaults__
    return again


def trace(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The formula of a function of one point x and one point y.

    `arguments` hold the points by the names of the function's first two
    parameters (of one parameter's name only: one array on both axes), and a
    value for each other parameter of the function. Returns the formula and
    its arguments.
    """
    code = getattr(function, "__code__", None)
    count = code.co_argcount if code else 2
    names = list(code.co_varnames[:count]) if code else ["x", "y"]
    if count < 2 or names[0] not in arguments:
        _core.fail("TracedSignature", ", ".join(names))
    context = Context(arguments)

    def point(name: str, axis: str) -> Traced:
        return Traced(
            context, f"{name}_{axis}", min(np.ndim(arguments[name]) - 1, 1)
        )

    x = point(names[0], "i")
    y = point(names[1] if names[1] in arguments else names[0], "j")
    others = [
        Traced(context, name, min(np.ndim(arguments[name]), 1))
        for name in names[2:]
        if name in arguments
    ]
    result = _with_parameters(function, context)(x, y, *others)
    return context.traced(result).text, context.arguments
