# python_bindings/tilefold/jax/function_reader.py - functions written in
# jax.numpy, read as formulas.
"""`read`: the program that JAX makes of a function of points, as a value.

JAX traces the function with the types of one pair of points, and each equation
of its program becomes what NumPy's function of that meaning makes of traced
values; the tables are in `function_tables.py`. Three rules cover the rest:

1. What does not depend on the points, JAX computes, and it is a parameter.
2. What only moves components, JAX does to their numbers.
3. A value has the components of its array, in their order; one that is the
   same in all of them is a scalar, whatever the shape of the array.
"""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from tilefold import _core
from tilefold.errors import Error
from tilefold.jax.function_components import contracted, folded, level, moved
from tilefold.jax.function_rules import RULES
from tilefold.jax.function_tables import (
    ARITHMETIC,
    CALLS,
    CURES,
    FOLDS,
    IDENTITIES,
    MOVES,
    OF_JAX,
    OF_TRUTHS,
    POINTWISE,
)
from tilefold.jax.function_values import (
    Known,
    bound,
    is_truth,
    refuse,
    spread,
    traced,
)
from tilefold.jax.jax_internals import function_of, with_64_bits
from tilefold.jax.stopped import Stopped
from tilefold.roles import bare
from tilefold.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["read"]

_STRUCT: Any = jax.ShapeDtypeStruct  # its stubs have no types


def read(
    with_outer: Callable[[Any], Any],
    values: Sequence[Tracer],
    refused: Exception,
) -> Tracer | None:
    """What `frameworks.read` gives, of a function that JAX traces.

    None where nothing says that it is of JAX's arrays: neither the points, nor
    the error, nor a name in it.
    """
    arrays = [
        bare(next(iter(value.sources.values())).value) for value in values
    ]
    is_jax = any(isinstance(array, jax.Array) for array in arrays)
    if not (
        is_jax or _is_of_jax(refused) or _names_jax(with_outer(lambda v, _: v))
    ):
        return None
    with nullcontext() if is_jax else with_64_bits():
        types = list(map(_type, values, arrays))
        program = _program(with_outer, types, refused)
        reader = _Reader(program.names, is_jax)
        inputs = [
            value[0] if kind.shape == (1,) else value
            for value, kind in zip(values, types, strict=True)
        ]
        closed = program.closed
        found = reader.run(closed, [*inputs, *program.numbers])
        if len(found) != 1:
            refuse(f"of {len(found)} results", "return one value")
        return _result(traced(found[0]), closed.out_avals[0].shape)


def _is_of_jax(refused: Exception) -> bool:
    """Whether an error may be JAX's, whose functions take no traced values."""
    if isinstance(refused, Error):
        return refused.code == "TracedArray"
    return isinstance(refused, TypeError)


def _names_jax(function: Any) -> bool:
    """Whether a function refers to JAX, or to a function of its."""
    if not inspect.isfunction(function):
        return False
    found = inspect.getclosurevars(function)
    homes = [
        value.__name__
        if inspect.ismodule(value)
        else str(getattr(value, "__module__", ""))
        for value in (*found.globals.values(), *found.nonlocals.values())
    ]
    return any(home.partition(".")[0] == "jax" for home in homes)


def _type(value: Tracer, array: Any) -> Any:
    """A point, or a parameter, as JAX sees it."""
    is_number = not hasattr(array, "dtype")
    dtype = np.asarray(array).dtype if is_number else array.dtype
    kind = jax.dtypes.canonicalize_dtype(str(dtype).removeprefix("torch."))
    is_weak = is_number or getattr(array, "weak_type", False)
    return _STRUCT(value.shape, kind, weak_type=is_weak)


# ---- what JAX makes of a function --------------------------------------------


class _Program(NamedTuple):
    """The program, its last inputs, and names of arrays by their identity."""

    closed: Any
    numbers: list[Known]
    names: dict[int, str]


def _program(
    with_outer: Callable[[Any], Any], types: list[Any], refused: Exception
) -> _Program:
    """What JAX makes of the function, whose outer numbers are inputs of it.

    They are spelled out where the function needs to know them.
    """
    outer: dict[tuple[str, int], Any] = {}

    def noted(value: Any, name: str) -> Any:
        return outer.setdefault((name, id(value)), value)

    plain = with_outer(noted)
    numbers = {key: v for key, v in outer.items() if not np.ndim(v)}
    names = {key: name for name, key in outer if (name, key) not in numbers}

    def called(points: Any, found: Any) -> Any:
        given = dict(zip(numbers, found, strict=True))
        again = with_outer(lambda v, name: given.get((name, id(v)), v))
        return again(*points)

    try:
        closed = jax.make_jaxpr(called)(types, list(numbers.values()))
    except Exception:
        return _Program(_of_plain(plain, types, refused), [], names)
    known = [Known(v, name) for (name, _), v in numbers.items()]
    return _Program(closed, known, names)


_CONCRETE = {
    jax.errors.TracerBoolConversionError: "TracedTruth",
    jax.errors.TracerArrayConversionError: "TracedArray",
    jax.errors.TracerIntegerConversionError: "TracedNumber",
    jax.errors.ConcretizationTypeError: "TracedNumber",
}


def _of_plain(function: Any, types: list[Any], refused: Exception) -> Any:
    """The program of a function; else the error that tells what is wrong.

    That is JAX's where it was JAX that refused traced values.
    """
    try:
        return jax.make_jaxpr(function)(*types)
    except Exception as error:
        if not _is_of_jax(refused):
            raise refused from None
        for kind, code in _CONCRETE.items():
            if isinstance(error, kind):
                _core.fail(code)
        raise


# ---- equations ---------------------------------------------------------------


def _result(value: Tracer, shape: tuple[int, ...]) -> Tracer:
    """The value of a pair: a number, or a vector."""
    if len(shape) > 1:
        refuse(f"whose result has shape {shape}", "return a number or a vector")
    return spread(value, shape[0]) if shape else value


class _Reader:
    """Reads equations; `names` are those of outer arrays, by identity."""

    def __init__(self, names: dict[int, str], is_jax: bool) -> None:
        self.names = names
        self.is_jax = is_jax
        self.without_derivatives = Stopped()

    def run(self, closed: Any, inputs: Sequence[Any]) -> list[Any]:
        """The results of a program, of traced values and known ones."""
        program = getattr(closed, "jaxpr", closed)
        consts = [
            Known(self._array(value), self.names.get(id(value), "p"))
            for value in getattr(closed, "consts", ())
        ]
        values: dict[Any, Any] = {}
        values.update(zip(program.constvars, consts, strict=True))
        values.update(zip(program.invars, inputs, strict=True))

        def value_of(atom: Any) -> Any:
            is_literal = isinstance(atom, Literal)
            return Known(_number(atom)) if is_literal else values[atom]

        for equation in _needed(program):
            operands = [value_of(atom) for atom in equation.invars]
            found = self._equation(equation, operands)
            values.update(zip(equation.outvars, found, strict=True))
        return [value_of(atom) for atom in program.outvars]

    def _array(self, value: Any) -> Any:
        """A known array: NumPy's, unless the points are JAX's."""
        is_plain = not isinstance(value, jax.core.Tracer) and not (
            jnp.issubdtype(value.dtype, jax.dtypes.extended)
        )
        return np.asarray(value) if is_plain and not self.is_jax else value

    def _equation(self, equation: Any, operands: list[Any]) -> list[Any]:
        name = equation.primitive.name
        if all(isinstance(operand, Known) for operand in operands):
            return self._computed(equation, operands)
        if name in IDENTITIES:
            return operands
        if name in CALLS:
            return self._called(equation, operands)
        if name == "cond" and isinstance(operands[0], Known):
            return self._branch(equation, operands)
        if name in MOVES:
            return moved(equation, operands)
        dtype = equation.outvars[0].aval.dtype
        if name in ARITHMETIC and _is_narrow(dtype):
            refuse(
                f"that computes in {dtype}, whose range ends soon",
                "convert the arrays to int64 or float64",
            )
        if name in FOLDS:
            return [folded(equation, traced(operands[0]))]
        if name == "dot_general":
            return [contracted(equation, operands)]
        if name == "stop_gradient":
            return [self.without_derivatives(traced(operands[0]))]
        return [self._of_components(equation, operands)]

    def _of_components(self, equation: Any, operands: list[Any]) -> Any:
        """A function of single components."""
        name = equation.primitive.name
        if name in RULES:
            return RULES[name](equation, level(equation, operands))
        is_of_truths = name in OF_TRUTHS and is_truth(equation.invars[0])
        function = OF_TRUTHS[name] if is_of_truths else POINTWISE.get(name)
        if function is None:
            refuse(
                f"with {name!r}",
                CURES.get(name, "see 'tilefold formulas' for what there is"),
            )
        return Tracer.apply(function, level(equation, operands), {})

    def _computed(self, equation: Any, operands: list[Known]) -> list[Known]:
        """What JAX computes of known values."""
        found = bound(equation, [known.value for known in operands])
        spelled = all(not known.name for known in operands)
        return [Known(self._array(v), "" if spelled else "p") for v in found]

    def _called(self, equation: Any, operands: list[Any]) -> list[Any]:
        """The results of another program, or of the function that it is."""
        name = equation.primitive.name
        closed = equation.params[CALLS[name]]
        function, is_jax_own = function_of(closed)
        if is_jax_own and function in OF_JAX:
            values = level(equation, operands)
            return [Tracer.apply(OF_JAX[function], values, {})]
        if name.startswith("custom_") and not is_jax_own:
            refuse(
                f"with a derivative of its own, {function!r}",
                "leave that away: formulas have exact derivatives",
            )
        return self.run(closed, operands)

    def _branch(self, equation: Any, operands: list[Any]) -> list[Any]:
        """That which a known index chooses."""
        index = operands[0]
        if not index.is_concrete:
            refuse("with 'cond'", CURES["cond"])
        branches = equation.params["branches"]
        place = min(max(int(index.value), 0), len(branches) - 1)
        return self.run(branches[place], operands[1:])


def _is_narrow(dtype: Any) -> bool:
    return bool(dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 4))


def _number(literal: Any) -> Any:
    return np.asarray(literal.val, literal.aval.dtype)


def _needed(program: Any) -> list[Any]:
    """The equations that a result needs, in their order."""
    wanted = {a for a in program.outvars if not isinstance(a, Literal)}
    found = []
    for equation in reversed(program.eqns):
        if not wanted.isdisjoint(equation.outvars):
            found.append(equation)
            wanted.update(
                a for a in equation.invars if not isinstance(a, Literal)
            )
    return found[::-1]
