# python_bindings/tilefold/trace.py - Python functions of points, read as
# formulas.
"""`trace`: a Python function of two points as a formula.

A function of one point x and one point y is called once, with traced values;
what it does with them is written down as the text of a formula, which is
compiled like any other. NumPy's and PyTorch's functions know traced values
through their protocols. A library whose functions take values of its own alone,
as JAX's do, reads the function itself.

Numbers that the function finds in variables outside it become parameters of
the formula under their names, as in

    cov = lambda x, y: σ**2 * exp(-((x - y)**2).sum() / (2*l**2))

so that other values of σ and l find the same kernel. Arrays become
parameters too.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.frameworks import read
from tilefold.roles import bare
from tilefold.trace_text import Source
from tilefold.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Source", "Tracer", "trace"]


def _with_outer(function: Any, made: Callable[[Any, str], Any]) -> Any:
    """The function, its outer numbers and arrays replaced by what is made.

    Whole numbers stay: they are exponents, indices and counts.
    """
    if not isinstance(function, types.FunctionType):
        return function

    def replaced(name: str, value: Any) -> Any:
        is_number = isinstance(value, (float, np.floating))
        is_array = hasattr(type(value), "__dlpack__")
        return made(value, name) if is_number or is_array else value

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


def names_of(function: Any) -> list[str]:
    """The names of its arguments; none where they are not known.

    Of one that wraps another, as `jax.jit` does, those of the other.
    """
    while True:
        code = getattr(function, "__code__", None)
        count = code.co_argcount if code else 0
        if count > 1 or not hasattr(function, "__wrapped__"):
            return list(code.co_varnames[:count]) if code else []
        function = function.__wrapped__


def _value_of(function: Any, values: list[Tracer]) -> Tracer:
    """What the function gives of traced values."""

    def with_outer(made: Callable[[Any, str], Any]) -> Any:
        return _with_outer(function, made)

    try:
        found = with_outer(Tracer.parameter)(*values)
        whole: Tracer = Tracer.of(found)
    except Exception as refused:
        own = read(with_outer, values, refused)
        if own is None:
            raise
        whole = own
    return whole


def trace(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Reads a Python function of two points as a formula.

    The function is called once, with traced values. Numbers with a fraction and
    arrays that it finds in variables outside it become parameters under their
    names, so that other values find the same kernel. Where it refuses traced
    values and JAX is imported, JAX traces it, and its program is read.

    Parameters
    ----------
    function : callable
        Of one point x and one point y, and of parameters behind them.
    arguments : Mapping
        The points by the names of its first two parameters (by the first one
        alone for an array on both axes), and a value for each other parameter.

    Returns
    -------
    tuple of str and dict
        The formula and its arguments, as ``tilefold.kernel`` takes them.

    Raises
    ------
    ArgumentError
        For a function that takes no two points, or points that are not given,
        and for functions that have no meaning in a formula.

    See Also
    --------
    tilefold.kernel : which takes such a function, too.
    Tracer : what the function is called with.

    Examples
    --------
    >>> text, arguments = tilefold.trace.trace(
    ...     lambda x, y: np.exp(-((x - y) ** 2).sum()), {"x": np.zeros((2, 3))}
    ... )
    >>> text
    'exp((-sum(pow((x_i - x_j), 2))))'
    """
    names = names_of(function)
    if not names and not hasattr(function, "__code__"):
        names = ["x", "y"]
    if len(names) < 2 or names[0] not in arguments:
        _core.fail("TracedSignature", ", ".join(names))
    given = dict(arguments)

    def point(name: str, axis: str) -> Tracer:
        source = Source(given[name], name, axis, given=True)
        return Tracer.from_source(
            source, min(np.ndim(bare(given[name])) - 1, 1)
        )

    def value(name: str) -> Tracer:
        source = Source(given[name], name, given=True)
        return Tracer.from_source(source, min(np.ndim(bare(given[name])), 2))

    x = point(names[0], "i")
    y = point(names[1] if names[1] in given else names[0], "j")
    others = [value(name) for name in names[2:] if name in given]
    return _value_of(function, [x, y, *others]).to_formula(given)
