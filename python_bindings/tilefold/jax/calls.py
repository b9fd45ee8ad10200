# python_bindings/tilefold/jax/calls.py - calls of formulas with JAX's arrays.
"""`reduce`, and what calls of formulas are where an array is JAX's."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tilefold import _core
from tilefold.compiled import FORMULAS
from tilefold.jax.call_text import Call, call_of
from tilefold.jax.jax_internals import CONCRETE_ARRAY
from tilefold.jax.primitive import MOST_PROGRAMS, bind
from tilefold.jax.range_lists import lists_of
from tilefold.quantization import Quantized
from tilefold.roles import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["call", "reduce"]


def reduce(
    formula: str | _core.Formula,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    options: _core.Options | None = None,
    ranges: Any = None,
    batch: int | None = None,
    backend: str = "",
    **arrays: Any,
) -> Any:
    """Computes a formula over pairs of points, under JAX's transformations.

    ``tilefold.reduce`` comes here by itself for arrays of JAX. Works under
    ``jit``, ``grad``, ``vmap`` and all others.

    Parameters
    ----------
    formula : str or Formula
        The text, or what ``tilefold.compile`` made of it.
    arguments : Mapping, optional
        The arrays by name, as one mapping.
    options : Options, optional
        Settings of this call.
    ranges : Ranges, optional
        The pairs that meet; may be an argument of a jitted function.
    batch : int, optional
        How many first dimensions are a batch's, of extent 1 where an array is
        the same in all of it; those before the last two, unless given.
    backend : {"", "tiled"}, default ""
        "tiled" computes in tiles of jax.numpy.
    **arrays : jax.Array
        On i or j of shape (N,) or (N, D), parameters (), (D,) or (R, C), behind
        the batch.

    Returns
    -------
    jax.Array
        Of the type that a call gives, in JAX's width: float32 for float64 where
        ``jax_enable_x64`` is off. A tuple where the formula has several
        results.

    Raises
    ------
    FormulaError, ShapeError, DTypeError, ArgumentError
        When the call is traced; an index outside its table is a
        ``JaxRuntimeError`` when it runs.

    See Also
    --------
    tilefold.reduce : which comes here by itself.
    tilefold.jax.kernel

    Examples
    --------
    >>> import jax
    >>> def energy(x):
    ...     return tilefold.jax.reduce("sum_ij (x_i - x_j)²", x=x)
    >>> jax.grad(energy)(jax.numpy.array([0.0, 1.0]))
    Array([-4.,  4.], dtype=float32)
    """
    if not isinstance(formula, _core.Formula):
        formula = _core.compile(formula)
    settings = {
        "options": options,
        "ranges": ranges,
        "batch_rank": batch,
        "backend": backend,
    }
    given = _core.arguments(arguments, arrays)
    return _evaluate(formula, given, settings)


def call(
    formula: _core.Formula, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    """`formula(arguments, **settings)`, of some arrays of JAX.

    `backend` is an argument of no other library.
    """
    if isinstance(arguments.get("backend"), str):
        settings["backend"] = arguments.pop("backend")
    text, steps, own = formula.__reduce__()[1]
    session = settings.pop("session", None) or own
    given = settings.get("options")
    watched = given is not None and not _WATCHED.isdisjoint(
        dict(_options(given))
    )
    if session is not None or watched:
        return _outside(formula, arguments, settings, session)
    if not steps:
        # Each `tilefold.reduce` of a text makes one that no request knows yet.
        formula = FORMULAS.setdefault(text, formula)
    return _evaluate(formula, arguments, settings)


# What JAX takes as it is, and what is no tracer.
_CONCRETE = frozenset((CONCRETE_ARRAY, np.ndarray, np.float32, float))

# Options that no program can keep.
_WATCHED = frozenset(("progress", "stream"))


class _Request(NamedTuple):
    """A call, and how its values become operands of it.

    `ranks`: how many dimensions of a batch each value has by itself.
    """

    call: Call
    ranks: tuple[int, ...]
    sum_batch: tuple[int, ...]


def _evaluate(
    formula: _core.Formula,
    arguments: dict[str, Any],
    settings: dict[str, Any],
) -> Any:
    backend = settings.get("backend") or ""
    if backend not in ("", "tiled"):
        cure = 'pass "tiled", or leave it out'
        _core.fail("BadOption", "backend", repr(backend), cure)
    names, axes, ranks, values = [], [], [], []
    traced = False
    for name, value in arguments.items():
        declared = -1
        if type(value) is Role:
            declared, value = value.axes, value.value
        if type(value) not in _CONCRETE:
            value = _operand(name, value)
            traced = traced or isinstance(value, jax.core.Tracer)
        names.append(name)
        axes.append(declared)
        ranks.append(getattr(value, "ndim", 0))
        values.append(value)
    batch_of_ranges, lists = lists_of(settings.get("ranges"))
    traced = traced or any(isinstance(each, jax.core.Tracer) for each in lists)
    request = _request(
        formula,
        tuple(names),
        tuple(axes),
        tuple(ranks),
        settings.get("batch_rank"),
        _options(settings.get("options")),
        batch_of_ranges,
        _dimensions(settings.get("sum_batch")),
        backend,
    )
    if traced:
        return _run(request, *values, *lists)
    return _compiled(request)(*values, *lists)


def _run(request: _Request, *values: Any) -> Any:
    """The results of values as they are given."""
    call, count = request.call, len(request.ranks)
    shapes = [jnp.shape(value) for value in values[:count]]
    operands = [
        jnp.reshape(value, (1,) * (call.batch - own) + shape)
        for value, own, shape in zip(
            values, request.ranks, shapes, strict=False
        )
    ]
    results = bind(call, [*operands, *map(jnp.asarray, values[count:])])
    found = [
        jnp.reshape(result, shapes[call.names.index(like)]) if like else result
        for like, result in zip(call.likes, results, strict=True)
    ]
    if request.sum_batch:
        return _summed(found, request.sum_batch, call.batch)
    return found[0] if len(found) == 1 else tuple(found)


def _dimensions(given: Any) -> tuple[int, ...]:
    """Numbers of dimensions, of one, several or None."""
    if given is None:
        return ()
    found = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if any(type(each) is not int for each in found):
        _core.fail(
            "BadOption",
            "sum_batch",
            type(given).__name__,
            "pass the number of a batch dimension, or a tuple of them",
        )
    return found


def _summed(found: list[Any], dimensions: tuple[int, ...], batch: int) -> Any:
    """The one result, summed over some dimensions of its batch."""
    if len(found) > 1:
        _core.fail("SumBatchOf", "a derivative", "sum each of them yourself")
    for k, dimension in enumerate(dimensions):
        if not 0 <= dimension < batch or dimension in dimensions[:k]:
            _core.fail("SumBatchAxis", dimension, batch)
    if found[0].dtype == bool:
        cure = "count, or use any and all of NumPy"
        _core.fail("SumBatchOf", "true or false", cure)
    return found[0].sum(dimensions)


@functools.lru_cache(maxsize=MOST_PROGRAMS)
def _compiled(request: _Request) -> Any:
    return jax.jit(functools.partial(_run, request))


@functools.lru_cache(maxsize=4096)
def _request(
    formula: _core.Formula,
    names: tuple[str, ...],
    axes: tuple[int, ...],
    ranks: tuple[int, ...],
    batch: int | None,
    options: tuple[tuple[str, Any], ...],
    ranges: tuple[int, ...] | None,
    sum_batch: tuple[int, ...],
    backend: str,
) -> _Request:
    plain = call_of(formula, names, axes, 0, options, ranges, backend)
    seeds = plain.seeds
    if batch is None:
        own = [
            max(rank - 2, 0)
            for name, rank in zip(names, ranks, strict=True)
            if name not in seeds
        ]
        batch = max(own, default=0)
        batch = max(batch, len(ranges or ()))
        said = [
            batch if rank and _is_like_result(seeds, name) else max(rank - 2, 0)
            for name, rank in zip(names, ranks, strict=True)
        ]
    else:
        said = [batch if rank else 0 for rank in ranks]
    call = call_of(formula, names, axes, batch, options, ranges, backend)
    return _Request(call, tuple(said), sum_batch)


def _is_like_result(seeds: Mapping[str, str], name: str) -> bool:
    """Whether a cotangent, or its tangent, has the shape of the result."""
    while name in seeds:
        name = seeds[name]
        if name == "":
            return True
    return False


_LARGEST = 2**1024 - 2**970  # from here on an integer rounds to no double


def _operand(name: str, value: Any) -> Any:
    """A value as JAX takes it."""
    if isinstance(value, (jax.Array, np.ndarray, np.generic, float, complex)):
        return value
    if isinstance(value, (bool, int)):
        # As in any call, it is a number, unless float32 does not hold it.
        if not -_LARGEST < value < _LARGEST:
            _core.fail("UnsupportedDType", name, "an integer beyond 1.8e308")
        number = float(value)
        with np.errstate(over="ignore"):
            is_held = float(np.float32(number)) == value
        is_wide = not -(2**63) <= value < 2**64
        return number if is_held or is_wide else value
    if jax.export.is_symbolic_dim(value):
        return jnp.asarray(value)
    if isinstance(value, Quantized):
        _core.fail("UnsupportedDType", name, "quantized codes, among JAX's")
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        kind = "None" if value is None else f"a {type(value).__name__}"
        _core.fail("UnsupportedDType", name, kind)
    return array


def _options(options: Any) -> tuple[tuple[str, Any], ...]:
    """The options that are set, in an order of their own."""
    if options is None:
        return ()
    given = options.__reduce__()[0].keywords
    return tuple(
        sorted((name, v) for name, v in given.items() if v is not None)
    )


def _outside(
    formula: _core.Formula,
    arguments: dict[str, Any],
    settings: dict[str, Any],
    session: Any,
) -> Any:
    """A call that no program can hold, of values that are there."""
    for name, value in arguments.items():
        bare = value.value if isinstance(value, Role) else value
        if isinstance(bare, jax.core.Tracer):
            _core.fail(
                "BadOption",
                "session" if session is not None else "options",
                f"given where JAX traces {name!r}",
                "leave it out there",
            )
    settings.pop("backend", None)
    settings = {name: v for name, v in settings.items() if v is not None}
    results = formula(
        {name: _numpy(value) for name, value in arguments.items()},
        session=session,
        **settings,
    )
    if isinstance(results, tuple):
        return tuple(map(jnp.asarray, results))
    return jnp.asarray(results)


def _numpy(value: Any) -> Any:
    if isinstance(value, Role):
        return Role(_numpy(value.value), value.axes)
    return np.asarray(value) if isinstance(value, jax.Array) else value
