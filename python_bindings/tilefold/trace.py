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
import operator
import re
import types
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Self

__all__ = ["Source", "Traced", "is_function", "trace"]

# As in formulas/lexer.h; each operation doubles a text that it uses twice.
_LONGEST = 100_000


# The text of a value holds its sources as ‹id›, until `spelled` names them.
_MARK = re.compile("‹([0-9]+)›")


class Source:
    """An array or number that is to be an argument of a formula.

    `axis` is "i", "j" or "" for a parameter; `name` is the one wished for,
    or the one it has if it is `given`.
    """

    __slots__ = ("axis", "given", "name", "value")

    def __init__(
        self, value: Any, name: str, axis: str = "", given: bool = False
    ) -> None:
        self.value = value
        self.name = name
        self.axis = axis
        self.given = given

    def identity(self) -> object:
        """Equal where two sources are one argument: the same array."""
        if self.given:
            return self.name
        if np.ndim(self.value):
            return (id(self.value), bool(self.axis))
        return id(self)


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

    `rank` is 0 for a scalar, 1 for a vector, 2 for a matrix; `sources` are
    the arguments it takes.
    """

    __slots__ = ("__weakref__", "marked", "rank", "sources")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, marked: str, rank: int, sources: Mapping[int, Source]
    ) -> None:
        if len(marked) > _LONGEST:
            _core.fail("FormulaTooLong", len(marked), _LONGEST)
        self.marked = marked
        self.rank = rank
        self.sources = sources

    @classmethod
    def from_source(cls, source: Source, rank: int) -> Self:
        """The value of an array or number."""
        return cls(f"‹{id(source)}›", rank, {id(source): source})

    @classmethod
    def parameter(cls, value: Any, name: str = "p") -> Self:
        """A parameter for an array or number outside the function."""
        return cls.from_source(Source(value, name), min(np.ndim(value), 2))

    @classmethod
    def literal(cls, number: Any) -> Self:
        """A number that the formula spells out."""
        return cls(_number(number), 0, {})

    @classmethod
    def of(cls, value: Any) -> Any:
        """A value that meets traced ones in an operation."""
        if isinstance(value, cls):
            return value
        if isinstance(value, (bool, np.bool_)):
            return cls("(0 == 0)" if value else "(0 == 1)", 0, {})
        if isinstance(value, (int, float, np.integer, np.floating)):
            return cls.literal(value)
        if isinstance(value, (complex, np.complexfloating)):
            return cls.parameter(value)
        if isinstance(value, (list, tuple)):
            return concatenated([cls.of(part) for part in value])
        if np.ndim(value) > 2 or not hasattr(value, "shape"):
            _core.fail("TracedValue", type(value).__name__)
        return cls.parameter(value)

    @classmethod
    def made(cls, form: str, operands: Sequence[Self], rank: int) -> Self:
        """A value of others: `{0}` of the form is the first of them."""
        sources = {
            key: source
            for operand in operands
            for key, source in operand.sources.items()
        }
        text = form.format(*(operand.marked for operand in operands))
        return cls(text, rank, sources)

    def spelled(
        self, given: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """The formula, and its arguments beside those given."""
        arguments = dict(given or {})
        names: dict[object, str] = {}

        def name(match: re.Match[str]) -> str:
            source = self.sources[int(match[1])]
            identity = source.identity()
            if identity not in names:
                free, number = source.name, 0
                while free in arguments and not source.given:
                    number += 1
                    free = f"{source.name}{number}"
                names[identity] = free
                arguments[free] = source.value
            return names[identity] + (source.axis and f"_{source.axis}")

        return _MARK.sub(name, self.marked), arguments

    def __reduce__(self) -> Any:
        """Copies have sources of their own, and so marks of their own."""
        return _copied, (
            type(self), self.marked, self.rank,
            list(self.sources), list(self.sources.values()),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<traced {self.spelled()[0]}>"

    @property
    def ndim(self) -> int:
        """0 for a scalar, 1 for a vector."""
        return self.rank

    @classmethod
    def apply(cls, name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """What a function of NumPy, PyTorch or the operators gives."""
        for key, value in kwargs.items():
            if key not in _SETTINGS and value is not None:
                _core.fail("TracedFunction", f"{name}(…, {key}=…)")
        if name in ("concatenate", "hstack", "cat", "stack"):
            return concatenated([cls.of(part) for part in args[0]])
        if name not in _FUNCTIONS:
            _core.fail("TracedFunction", name)
        operands = [
            argument
            if (argument is None and name in ("clip", "clamp"))
            or (name in _FOLDS and k > 0)
            else cls.of(argument)
            for k, argument in enumerate(args)
        ]
        named = {
            key: value for key, value in kwargs.items() if key not in _BOUNDS
        }
        if name in ("clip", "clamp"):
            operands += [None] * (3 - len(operands))
            for key, place in _BOUNDS.items():
                if kwargs.get(key) is not None:
                    operands[place] = cls.of(kwargs[key])
            named = {}
        return _FUNCTIONS[name](*operands, **named)

    # ---- what NumPy and PyTorch ask -----------------------------------------

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        if method != "__call__":
            _core.fail("TracedFunction", f"{ufunc.__name__}.{method}")
        return self.apply(ufunc.__name__, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        return self.apply(function.__name__, args, kwargs)

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return cls.apply(function.__name__.strip("_"), args, kwargs or {})

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

    def __len__(self) -> int:
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
            return self.made(f"{{0}}[{first}:{last}]", [self], 1)
        if not hasattr(index, "__index__"):
            _core.fail("TracedFunction", f"the index {index!r}")
        return self.made(f"{{0}}[{operator.index(index)}]", [self], 0)

    def sum(self, axis: Any = None, **kwargs: Any) -> Traced:
        """The sum of the components."""
        return self._fold("sum", axis, kwargs)

    def max(self, axis: Any = None, **kwargs: Any) -> Traced:
        """The largest component."""
        return self._fold("max", axis, kwargs)

    def min(self, axis: Any = None, **kwargs: Any) -> Traced:
        """The smallest component."""
        return self._fold("min", axis, kwargs)

    def norm(self, order: Any = None, axis: Any = None, **kwargs: Any) -> Any:
        """The Euclidean norm."""
        order = kwargs.get("p", kwargs.get("ord", order))
        if order not in (None, 2, "fro"):
            _core.fail("TracedFunction", f"norm of order {order}")
        return self._fold("norm", axis, kwargs)

    def dot(self, other: Any) -> Any:
        """The inner product."""
        return self.apply("matmul", (self, other), {})

    def _fold(self, name: str, axis: Any, kwargs: Mapping[str, Any]) -> Traced:
        axis = kwargs.get("dim", axis)
        if axis not in (None, -1, 0, (-1,), (0,)):
            _core.fail("TracedFunction", f"{name} over axis {axis}")
        if self.rank == 0:
            return self.made("abs({0})", [self], 0) if name == "norm" else self
        kept = bool(kwargs.get("keepdim") or kwargs.get("keepdims"))
        form = f"[{name}({{0}})]" if kept else f"{name}({{0}})"
        return self.made(form, [self], int(kept))

    def __getattr__(self, name: str) -> Any:
        """Methods such as x.exp(): any function that has none here."""
        if name.startswith("_") or name not in _FUNCTIONS:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
            )
        return lambda *args, **kwargs: self.apply(name, (self, *args), kwargs)


def _copied(
    kind: type[Traced],
    marked: str,
    rank: int,
    keys: Sequence[int],
    sources: Sequence[Source],
) -> Traced:
    """A value whose marks were the keys of its sources."""
    marks = {
        str(key): f"‹{id(source)}›"
        for key, source in zip(keys, sources, strict=True)
    }
    text = _MARK.sub(lambda match: marks[match[1]], marked)
    return kind(text, rank, {id(source): source for source in sources})


def _binary(a: Traced, operation: str, b: Traced) -> Traced:
    return a.made(f"({{0}} {operation} {{1}})", [a, b], max(a.rank, b.rank))


def _product(a: Traced, operation: str, b: Traced) -> Traced:
    """An inner product, or a matrix times a vector."""
    matrices = (a.rank == 2) + (b.rank == 2)
    return a.made(f"({{0}} {operation} {{1}})", [a, b], 1 if matrices else 0)


def _power(a: Traced, _: str, b: Traced) -> Traced:
    if a.rank == 0:
        return a.made("({0})^({1})", [a, b], b.rank)
    return a.made("pow({0}, {1})", [a, b], 1)


def concatenated(parts: list[Any]) -> Any:
    """Components side by side."""
    form = ", ".join(f"{{{k}}}" for k in range(len(parts)))
    return parts[0].made(f"[{form}]", parts, 1)


def _quotient(a: Traced, operation: str, b: Traced) -> Traced:
    """Component by component; formulas divide no number by a vector."""
    if a.rank < b.rank and operation == "/":
        return a.made("({0} * inv({1}))", [a, b], b.rank)
    return _binary(a, operation, b)


def _function(name: str) -> Callable[..., Traced]:
    def call(*operands: Traced) -> Traced:
        form = ", ".join(f"{{{k}}}" for k in range(len(operands)))
        rank = max(operand.rank for operand in operands)
        return operands[0].made(f"{name}({form})", operands, rank)

    return call


def _operator(operation: str, make: Any = _binary) -> Callable[..., Traced]:
    return lambda a, b: make(a, operation, b)


def _template(text: str) -> Callable[..., Traced]:
    """`{0}` is the operand."""
    return lambda a: a.made(text, [a], a.rank)


def _method(name: str) -> Callable[..., Traced]:
    return lambda a, *args, **kwargs: getattr(a, name)(*args, **kwargs)


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
            "relu", "softplus", "cross", "abs", "real", "imag", "angle",
            "conj", "log2", "log10", "erfc", "lgamma", "digamma", "sinc",
            "silu", "gelu", "logaddexp",
        )
    },
    **{
        there: _function(here)
        for there, here in {
            "absolute": "abs", "fabs": "abs", "rint": "round",
            "arcsin": "asin", "arccos": "acos", "arctan": "atan",
            "arctan2": "atan2", "minimum": "min", "maximum": "max",
            "fmod": "mod", "remainder": "mod", "mod": "mod",
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
    "neg": _template("(-{0})"),
    "negative": _template("(-{0})"),
    "positive": _template("{0}"),
    "square": _template("({0}*{0})"),
    "reciprocal": _template("inv({0})"),
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


# The bounds of clip and clamp, and which operand each is.
_BOUNDS = {"min": 1, "max": 2, "a_min": 1, "a_max": 2}
# Keywords of functions that mean something.
_SETTINGS = {"axis", "dim", "keepdim", "keepdims", "ord", "p", *_BOUNDS}
_FOLDS = {
    "sum", "max", "amax", "min", "amin", "norm", "vector_norm", "linalg_norm",
    "linalg_vector_norm",
}  # fmt: skip


def is_function(name: str) -> bool:
    """Whether a function of NumPy or PyTorch has a meaning in a formula."""
    return name in _FUNCTIONS


def _install_operators() -> None:
    def forward(name: str) -> Any:
        return lambda self, other: self.apply(name, (self, other), {})

    def backward(name: str) -> Any:
        return lambda self, other: self.apply(name, (other, self), {})

    for name, function in {
        "add": "add", "sub": "sub", "mul": "mul", "truediv": "div",
        "pow": "pow", "matmul": "matmul", "mod": "mod",
        "floordiv": "floordiv",
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
            lambda self, function=function: self.apply(function, (self,), {}),
        )


_install_operators()


def _with_parameters(function: Any) -> Any:
    """The function, its outer numbers and arrays replaced by parameters.

    Whole numbers stay: they are exponents, indices and counts.
    """
    if not isinstance(function, types.FunctionType):
        return function

    def replaced(name: str, value: Any) -> Any:
        is_number = isinstance(value, (float, np.floating))
        is_array = hasattr(type(value), "__dlpack__")
        return Traced.parameter(value, name) if is_number or is_array else value

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
    given = dict(arguments)

    def point(name: str, axis: str) -> Traced:
        source = Source(given[name], name, axis, given=True)
        return Traced.from_source(source, min(np.ndim(given[name]) - 1, 1))

    def value(name: str) -> Traced:
        source = Source(given[name], name, given=True)
        return Traced.from_source(source, min(np.ndim(given[name]), 1))

    x = point(names[0], "i")
    y = point(names[1] if names[1] in given else names[0], "j")
    others = [value(name) for name in names[2:] if name in given]
    result = _with_parameters(function)(x, y, *others)
    whole: Traced = Traced.of(result)
    return whole.spelled(given)
