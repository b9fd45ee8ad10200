# python_bindings/tilefold/torch/operator.py - a call as an operator of PyTorch.
"""`torch.ops.tilefold.call(spec, values)`: all that transforms look at.

A call of a formula goes through this operator wherever PyTorch is in a state
that the memory of tensors does not tell: `torch.func`'s transforms, modes that
see each operation, traces, `torch.compile`. `spec` is text that says all of
the call but its values, so that a graph with it can be saved and loaded.

An operator, not an `autograd.Function`: Dynamo looks into these, and drops
their `jvp`. Its kernel of the key Autograd is a Function of one level
(`Evaluate`), called under `enable_single_level_autograd_function`, as
`torch._functorch.autograd_function` does.
"""

from __future__ import annotations

import functools
import json
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import _C
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from tilefold import _core
from tilefold.torch.elements import Dense, DenseGradient
from tilefold.torch.evaluate import (
    PLAIN,
    Way,
    differentiates_forwards,
    is_traced,
    is_watched,
    recorded,
    way_of_one,
)
from tilefold.torch.records import (
    Record,
    array_like,
    is_transformed,
    plain,
    ranges_of,
)
from tilefold.torch.solves import LogDeterminant, Solution, System

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# PyTorch's library of operators has no types.
_LIBRARY: Any = torch.library.Library("tilefold", "DEF")  # type: ignore[no-untyped-call]
_LIBRARY.define(
    "call(str spec, Tensor[] values) -> Tensor[]",
    # Any strides are read, so that no copies need be made.
    tags=(torch.Tag.pt2_compliant_tag, torch.Tag.flexible_layout),
)
_CALL = torch.ops.tilefold.call.default

_BATCHED = _C.DispatchKeySet(_C.DispatchKey.FuncTorchBatched)

_I, _J = 1, 2  # the bits of axes

_KINDS = {
    kind.query: kind
    for kind in (Record, Dense, DenseGradient, Solution, LogDeterminant)
}


@functools.lru_cache(maxsize=4096)
def record_of(spec: str) -> Record:
    """The call that a text says."""
    said = json.loads(spec)
    settings: dict[str, Any] = {}
    if said["batch_rank"] is not None:
        settings["batch_rank"] = said["batch_rank"]
    if said["options"]:
        settings["options"] = _core.Options(**said["options"])
    if said["ranges"] is not None:
        settings["ranges"] = ranges_of(said["ranges"])
    steps = [tuple(step) for step in said["derivation"]]
    formula = _core.Formula(said["formula"], steps)
    kind = _KINDS[said["query"]]
    return kind(formula, said["names"], said["roles"], settings, said["parts"])


def _run(spec: str, values: Sequence[Any]) -> list[Any]:
    """The call itself, of tensors that are just that."""
    return list(record_of(spec).results([_bare(value) for value in values]))


def _bare(value: Any) -> Any:
    """A tensor as its memory is: by now its class has seen the call."""
    if type(value) not in PLAIN:
        with _C.DisableTorchFunctionSubclass():
            value = value.as_subclass(torch.Tensor)
    return plain(value)


def _below(keyset: Any, spec: str, values: Sequence[Any]) -> list[Any]:
    """The kernel of what comes after automatic differentiation."""
    with ExitStack() as stack:
        if is_transformed():
            # A Function of one level switches both off for what its forward
            # calls; the levels below are to record what they are given.
            stack.enter_context(torch.enable_grad())
            stack.enter_context(forward_ad._set_fwd_grad_enabled(True))
        stack.enter_context(_C._AutoDispatchBelowAutograd())
        return _redispatched(keyset, spec, values)


def _redispatched(keyset: Any, spec: str, values: Sequence[Any]) -> list[Any]:
    """The kernel of the next key."""
    keyset = keyset & _C._after_autograd_keyset
    return cast("list[Any]", _CALL.redispatch(keyset, spec, values))


def _autograd(keyset: Any, spec: str, values: Sequence[Any]) -> list[Any]:
    """The call, recorded where gradients or tangents are asked for."""
    has_tangents = is_transformed() or differentiates_forwards()
    has_gradients = _C.is_grad_enabled() and _C._any_requires_grad(*values)
    if has_tangents or has_gradients:

        def run(_: Record, values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(_below(keyset, spec, list(values)))

        with enable_single_level_autograd_function():
            return list(recorded(run, record_of(spec), values))
    if not is_watched(values):
        return _run(spec, values)  # without another way through the dispatcher
    with _C._AutoDispatchBelowAutograd():
        return _redispatched(keyset, spec, values)


# ---- shapes without values ---------------------------------------------------


def _batch_rank(record: Record, ranks: Sequence[int]) -> int:
    """How many dimensions are a batch's, by the ranks of the values."""
    said = record.settings.get("batch_rank")
    if said is not None:
        return cast("int", said)
    seeds = record.seeds
    own = [
        max(rank - 2, 0)
        for name, rank in zip(record.names, ranks, strict=True)
        if name not in seeds
    ]
    return max(own, default=0)


def _is_like_result(record: Record, name: str) -> bool:
    """Whether a cotangent, or its tangent, has the shape of the result."""
    seeds = record.seeds
    while name in seeds:
        name = seeds[name]
        if name == "":
            return True
    return False


def _own_batch_rank(record: Record, name: str, rank: int, total: int) -> int:
    """How many dimensions of a value are a batch's."""
    if rank == 0:
        return 0
    if "batch_rank" in record.settings or _is_like_result(record, name):
        return total
    return max(rank - 2, 0)


def _stand_in(record: Record, k: int, value: Any, batch: int) -> Any:
    """An array of NumPy's without memory: one of a batch, with few points.

    A tensor could be a fake one itself. The number of components is the
    tensor's; where it is a symbol, PyTorch notes that it was read.
    """
    shape = record.few(k, list(value.shape[batch:]))
    return array_like(value.dtype, shape)


def _device_of(record: Record, values: Sequence[Any]) -> Any:
    """The device of the arrays on i and j; parameters may be on the CPU."""
    points = [k for k in range(len(values)) if record.axes(k)]
    for k in points[1:]:
        if values[k].device != values[points[0]].device:
            _core.fail(
                "OtherDevice",
                record.names[k],
                str(values[k].device),
                str(values[points[0]].device),
            )
    return values[points[0] if points else 0].device


def _fake(spec: str, values: Sequence[Any]) -> list[Any]:
    """Empty tensors of the shapes and types that the results have."""
    record = record_of(spec)
    total = _batch_rank(record, [value.dim() for value in values])
    batches, stand_ins, points = [], [], {_I: 1, _J: 1}
    for k, value in enumerate(values):
        axes = record.axes(k)
        batch = _own_batch_rank(record, record.names[k], value.dim(), total)
        batches.append(value.shape[:batch])
        stand_ins.append(_stand_in(record, k, value, batch))
        for axis in (_I, _J):
            if axes & axis and value.dim() > batch:
                points[axis] = value.shape[batch]
    types = record.types(stand_ins)
    device = _device_of(record, values)
    batch_shape = torch.broadcast_shapes(*batches)  # type: ignore[no-untyped-call]
    results = []
    for like, axes, dtype, components in types:
        if like:
            shape = values[record.names.index(like)].shape
        else:
            kept = [points[axis] for axis in (_I, _J) if axes & axis]
            shape = (*batch_shape, *kept)
            shape += (components,) if components >= 0 else ()
        results.append(
            torch.empty(shape, dtype=getattr(torch, dtype), device=device)
        )
    return results


# ---- vmap --------------------------------------------------------------------


class _Lift(NamedTuple):
    """What a call takes of values in a batch more.

    `spaces` has for each value the dimensions of extent 1 that it needs behind
    the new one, or None for a number that is none of the batch's; `spec` says
    the call; `is_read_anew`: what is said of the batch from here on could have
    been read in two ways.
    """

    spec: str
    spaces: list[int | None]
    is_read_anew: bool


@functools.lru_cache(maxsize=4096)
def _lift(
    spec: str, ranks: tuple[int, ...], dims: tuple[int | None, ...]
) -> _Lift:
    """Of values with so many dimensions, but for the new ones."""
    record = record_of(spec)
    total = _batch_rank(record, ranks)
    spaces: list[int | None] = []
    for k, (rank, dim) in enumerate(zip(ranks, dims, strict=True)):
        name = record.names[k]
        is_alone = dim is None and rank == 0 and name not in record.likes
        own = _own_batch_rank(record, name, rank, total)
        spaces.append(None if is_alone else total - own)
    return _Lift(
        _with_batch_rank(spec, total + 1),
        spaces,
        total > 0 and "batch_rank" not in record.settings,
    )


def _lifted(value: Any, dim: int | None, spaces: int) -> Any:
    """A value with all batch dimensions, the new one before them."""
    if dim is None:
        value = value[None]
    elif dim != 0:
        value = value.movedim(dim, 0)
    for _ in range(spaces):
        value = value.unsqueeze(1)
    return value


def _vmap(spec: str, values: Sequence[Any]) -> list[Any]:
    """The kernel of `torch.func.vmap`.

    `torch.library.register_vmap` would flatten and rebuild all arguments, for
    longer than a call takes.
    """
    functorch = _C._functorch
    top: Any = functorch.peek_interpreter_stack()
    interpreter: Any = functorch.CVmapInterpreterPtr(top)  # a pointer to top
    level = top.level()
    found = [functorch._unwrap_batched(value, level) for value in values]
    parts, dims = [part for part, _ in found], [dim for _, dim in found]
    if interpreter.randomness() == functorch.RandomnessType.Different:
        _refuse_random(record_of(spec))
    with _C._ExcludeDispatchKeyGuard(_BATCHED):
        if all(dim is None for dim in dims):
            return cast("list[Any]", _CALL(spec, parts))
        # Below the only level, of tensors that nobody records, is the call
        # itself, without another way through the dispatcher.
        call = _run if level == 1 and _are_plain(parts) else _CALL
        results = _mapped(spec, parts, dims, interpreter.batchSize(), call)
    return [functorch._add_batch_dim(result, 0, level) for result in results]


def _are_plain(values: Sequence[Any]) -> bool:
    """Whether their memory tells all of the values, at the outermost level."""
    return not (
        is_traced()
        or differentiates_forwards()
        or (_C.is_grad_enabled() and _C._any_requires_grad(*values))
        or any(way_of_one(value) is not Way.GRAPH for value in values)
    )


def _refuse_random(record: Record) -> None:
    """Draws are by the numbers that rand is given: the same for each."""
    if _DRAWS.search(record.formula.text):
        _core.fail(
            "BadOption",
            "randomness",
            "'different': rand draws by the numbers it is given",
            "map a seed, as s of rand(s, i, j); or pass randomness='same'",
        )


_DRAWS = re.compile(r"\brandn?\s*\(")


def _mapped(
    spec: str,
    values: Sequence[Any],
    dims: Sequence[int | None],
    size: int,
    call: Callable[[str, Sequence[Any]], list[Any]] = _CALL,
) -> list[Any]:
    """The rule of vmap: one more dimension of the batch, before all others."""
    record = record_of(spec)
    if isinstance(record, System):  # takes no batches
        return record.mapped(functools.partial(_CALL, spec), values, dims, size)
    ranks = tuple(
        [
            value.dim() - (dim is not None)
            for value, dim in zip(values, dims, strict=True)
        ]
    )
    lift = _lift(spec, ranks, tuple(dims))
    if lift.is_read_anew:
        record.check(_without_dimension(values, dims))
    lifted = []
    for k, (value, dim) in enumerate(zip(values, dims, strict=True)):
        spaces = lift.spaces[k]
        if spaces is not None:
            value = _lifted(value, dim, spaces)
            if dim is None and record.names[k] in record.likes:
                # Its gradient is one for each of the batch, not their sum.
                value = value.expand(size, *value.shape[1:])
        lifted.append(value)
    results = call(lift.spec, lifted)
    return [
        _lowered(record, like, result, ranks)
        for like, result in zip(record.likes, results, strict=True)
    ]


def _without_dimension(
    values: Sequence[Any], dims: Sequence[int | None]
) -> list[Any]:
    """Arrays without memory, of the shapes that a function of one sees."""
    shapes = [list(value.shape) for value in values]
    for shape, dim in zip(shapes, dims, strict=True):
        if dim is not None:
            del shape[dim]
    return [
        array_like(value.dtype, shape)
        for value, shape in zip(values, shapes, strict=True)
    ]


def _lowered(
    record: Record, like: str, result: Any, ranks: Sequence[int]
) -> Any:
    """A gradient without the dimensions that its argument did not have."""
    if like == "":
        return result
    rank = ranks[record.names.index(like)]
    while result.dim() > rank + 1:
        result = result.squeeze(1)
    return result


@functools.lru_cache(maxsize=4096)
def _with_batch_rank(spec: str, rank: int) -> str:
    """The same call, where so many dimensions are a batch's."""
    return json.dumps({**json.loads(spec), "batch_rank": rank})


@contextmanager
def _legacy_level() -> Iterator[int]:
    """The level of autograd's own vmap, less one inside the context."""
    level = _C._vmapmode_increment_nesting() - 1
    _C._vmapmode_decrement_nesting()
    _C._vmapmode_decrement_nesting()
    try:
        yield level
    finally:
        _C._vmapmode_increment_nesting()


def _legacy_vmap(spec: str, values: Sequence[Any]) -> list[Any]:
    """The rule of autograd's own vmap, as of `is_grads_batched`.

    What is in no batch of this level is given a dimension of extent 1.
    """
    with _legacy_level() as level:
        whole = [
            torch._remove_batch_dim(value, level, 1, 0) for value in values
        ]
        size = max(value.shape[0] for value in whole)
        dims = [None if value.shape[0] == 1 else 0 for value in whole]
        parts = [
            value[0] if dim is None else value
            for value, dim in zip(whole, dims, strict=True)
        ]
        results = _mapped(spec, parts, dims, size)
    return [torch._add_batch_dim(result, 0, level) for result in results]


_LIBRARY.impl("call", _run, "CPU")
_LIBRARY.impl("call", _run, "CUDA")
_LIBRARY.impl("call", _vmap, "FuncTorchBatched")
_LIBRARY.impl("call", _legacy_vmap, "Batched")
_LIBRARY.impl("call", _autograd, "Autograd", with_keyset=True)
torch.library.register_fake("tilefold::call", _fake, lib=_LIBRARY)
