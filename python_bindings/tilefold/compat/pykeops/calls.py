# python_bindings/tilefold/compat/pykeops/calls.py - one reduction, computed.
"""`run`: a plan with its arrays, and the result as KeOps shapes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tilefold.compat.pykeops.nodes import NUMBER, PARAMETER, I, J, Unread
from tilefold.compat.pykeops.operations import fail
from tilefold.compat.pykeops.reductions import INDEX, ONES, PAIR, VALUE
from tilefold.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilefold.compat.pykeops.nodes import Leaf, Node
    from tilefold.compat.pykeops.reductions import Plan

__all__ = ["BACKENDS", "check_accumulator", "check_backend", "check_options"]
__all__ += ["run", "written"]

BACKENDS = frozenset(
    {"auto", "CPU"}
    | {
        kind + place
        for kind in ("GPU", "GPU_1D", "GPU_2D")
        for place in ("", "_device", "_host")
    }
)
_ARGUMENT = re.compile(r"'[vz](\d+)'")
_ACCUMULATORS = {"auto", "float16", "float32", "float64"}
_SCHEMES = {"auto", "direct_sum", "block_sum", "kahan_scheme"}
_EXACT_FLOAT32 = 2**24  # whole numbers up to there are exact in float32


def check_backend(backend: Any) -> None:
    """ValueError where KeOps has no such backend."""
    if backend not in BACKENDS:
        known = ", ".join(sorted(BACKENDS))
        fail(f"unknown backend {backend!r}: it is one of {known}")


def check_options(
    is_sum: bool, dtype_acc: Any, use_double_acc: Any, sum_scheme: Any
) -> None:
    """What KeOps refuses of the options for accumulation.

    They change no value here: sums are carried to double precision.
    """
    if dtype_acc not in _ACCUMULATORS:
        fail(f"dtype_acc {dtype_acc!r} is none of {sorted(_ACCUMULATORS)}")
    if sum_scheme not in _SCHEMES:
        fail(f"sum_scheme {sum_scheme!r} is none of {sorted(_SCHEMES)}")
    if use_double_acc and dtype_acc != "auto":
        fail("give dtype_acc or use_double_acc, not both")
    if is_sum:
        return
    if use_double_acc or dtype_acc != "auto":
        fail("dtype_acc and use_double_acc are for reductions that are sums")
    if sum_scheme in {"block_sum", "kahan_scheme"}:
        fail("sum_scheme is for reductions that are sums")


def check_accumulator(dtype_acc: str, dtype: str) -> None:
    """ValueError where KeOps has no sums of a dtype in another one."""
    allowed = {
        "float16": ("float16", "float32"),
        "float32": ("float32", "float64"),
        "float64": ("float64",),
    }.get(dtype, (dtype_acc,))
    if dtype_acc != "auto" and dtype_acc not in allowed:
        fail(
            f"dtype_acc {dtype_acc!r} of arrays of {dtype}: it has to be "
            + " or ".join(allowed)
        )


def run(
    plan: Plan,
    node: Node,
    values: Sequence[Any],
    arrays: Any,
    *,
    lengths: tuple[int, int],
    rank: int,
    ranges: Any = None,
    like: Any = None,
) -> Any:
    """The result: an array (…, M, V), or a pair of them.

    `values`: one of each variable of the node; `lengths`: the points on i and
    j; `rank`: the number of batch dimensions; `like`: an array of the dtype,
    where it is none of the values.
    """
    like = reference(values, arrays, like)
    if plan.kind == PAIR and max(lengths) > _EXACT_FLOAT32:
        # In a list with float32 values, larger indices are not exact.
        return tuple(
            run(
                part,
                node,
                values,
                arrays,
                lengths=lengths,
                rank=rank,
                ranges=ranges,
                like=like,
            )
            for part in plan.parts(node)
        )
    settings: dict[str, Any] = {}
    if ranges is not None:
        settings["ranges"] = ranges
    if rank:
        settings["batch_rank"] = rank
    given = {}
    for name, number, as_complex in plan.reads:
        value = values[number]
        leaf = node.leaves[number]
        if value is Unread:
            points = (*lengths, 1)[leaf.category]
            value = arrays.zeros((points, leaf.dim), like)
        if leaf.category != NUMBER:
            if not hasattr(value, "shape"):
                value = arrays.array(value)
            if as_complex and not leaf.is_complex:
                value = arrays.as_complex(value)
            if rank:
                value = padded(value, leaf.category, rank, arrays)
        given[name] = value
    for axis in plan.ones:
        given[ONES[axis]] = arrays.ones(lengths[axis], rank, like)
    try:
        result = plan.formula(**given, **settings)
    except Error as error:
        raise explained(error, described(node.leaves)) from None
    return finished(plan, result, arrays, like.dtype)


def reference(values: Sequence[Any], arrays: Any, like: Any = None) -> Any:
    """The array whose type results have: whole numbers only by themselves."""
    first = None
    for value in (*values, like):
        if hasattr(value, "shape") and value.shape:
            if arrays.is_floating(value):
                return value
            first = value if first is None else first
    if first is None:
        fail("a reduction needs an array")
    return first


def described(leaves: Sequence[Leaf]) -> list[str]:
    """What messages call the variables of a formula: "variable 0, Vi(3)"."""
    return [
        f"variable {k}, {('Vi', 'Vj', 'Pm', 'Pm')[one.category]}({one.dim}),"
        for k, one in enumerate(leaves)
    ]


def explained(error: Error, said: Sequence[str]) -> Error:
    """An error of tilefold's, with these names of the variables."""
    text = _ARGUMENT.sub(lambda found: said[int(found[1])], str(error))
    return type(error)(text, error.formula, error.span, error.code)


def written(out: Any, result: Any, arrays: Any) -> Any:
    """`out`, which holds the result then; ValueError where it does not fit."""
    if isinstance(result, tuple):
        fail("out= holds one result, and this reduction has two")
    if not isinstance(out, arrays.kind):
        fail(f"out= is {type(out)}: expected one of the {arrays.library}")
    if not arrays.fit(out, result):
        fail(
            f"out= has shape {tuple(out.shape)} and dtype {out.dtype}: the "
            f"result has {tuple(result.shape)} and {result.dtype}"
        )
    return arrays.written_to(out, result)


def padded(value: Any, category: int, rank: int, arrays: Any) -> Any:
    """With all batch dimensions, and two more."""
    shape = tuple(value.shape)
    if category == PARAMETER and len(shape) <= rank + 1:
        shape = (*shape[:-1], 1, shape[-1])
    missing = rank + 2 - len(shape)
    if missing > 0:
        shape = (1,) * missing + shape
    if shape == tuple(value.shape):
        return value
    return arrays.reshape(value, shape)


def finished(plan: Plan, result: Any, arrays: Any, dtype: Any) -> Any:
    """A formula's result as KeOps's: dtype, components, pairs."""
    if plan.is_complex:
        return _finished_complex(plan, result, arrays, dtype)
    dtype = arrays.real_dtype(dtype)
    if plan.kind == VALUE:
        return arrays.cast(shaped(plan, result, arrays), dtype)
    if plan.kind == INDEX:
        return arrays.indices(shaped(plan, result, arrays))
    half = result.shape[-1] // 2
    first = shaped(plan, result[..., :half], arrays)
    second = shaped(plan, result[..., half:], arrays)
    return arrays.cast(first, dtype), arrays.indices(second)


def shaped(plan: Plan, result: Any, arrays: Any) -> Any:
    """Indices (…, M) as (…, M, 1), K of each of V as (…, M, K, V)."""
    if plan.count:
        if plan.dim == 1:
            return result
        shape = (*result.shape[:-1], plan.dim, plan.count)
        return arrays.exchange(arrays.reshape(result, shape))
    is_scalar = plan.kind == INDEX and plan.dim == 1
    return result[..., None] if is_scalar else result


def _finished_complex(plan: Plan, result: Any, arrays: Any, dtype: Any) -> Any:
    if plan.dim == 2:
        result = result[..., None]
    return arrays.cast(result, arrays.complex_dtype(dtype))


def axis_lengths(lengths: dict[int, int]) -> tuple[int, int]:
    """Points on i and j; one where no variable is on an axis."""
    return lengths.get(I, 1), lengths.get(J, 1)
