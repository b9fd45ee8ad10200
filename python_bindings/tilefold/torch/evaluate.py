# python_bindings/tilefold/torch/evaluate.py - a record as a node of a graph.
"""`evaluate`: a record's results, by the way that PyTorch's state asks for.

A tensor that requires grad or has a tangent makes a node of the graph
(`Evaluate`), whose derivatives are records evaluated in their turn, so that any
order is exact. Anything else that PyTorch sees of tensors and their memory does
not tell goes through the operator.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import _C
from torch._functorch.utils import unwrap_dead_wrappers
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from tilefold import _core
from tilefold.quantization import Quantized
from tilefold.roles import bare
from tilefold.torch.records import (
    Record,
    is_transformed,
    needed,
    of_all,
    plain,
    save,
    saved,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Run = Callable[[Record, Sequence[Any]], tuple[Any, ...]]

PLAIN = (torch.Tensor, torch.nn.Parameter)

_is_batched = _C._functorch.is_legacy_batchedtensor
_is_wrapped = _C._functorch.is_functorch_wrapped_tensor


class Way(enum.Enum):
    """By what way a call goes."""

    GRAPH = enum.auto()  # as a node
    OPERATOR = enum.auto()  # PyTorch sees more than memory tells
    # The same, of tensors whose transform is over: a function that vjp gave is
    # called late.
    ALIVE = enum.auto()


def is_traced() -> bool:
    """Whether a mode or a trace sees each operation."""
    return (
        _C._len_torch_dispatch_stack() > 0
        or _C._get_tracing_state() is not None
    )


def way_of(values: Iterable[Any]) -> Way:
    """The way for values without roles."""
    if is_transformed() or is_traced():
        return Way.OPERATOR
    for value in values:
        way = way_of_one(value)
        if way is not Way.GRAPH:
            return way
    return Way.GRAPH


def way_of_one(value: Any) -> Way:
    """What a value asks for by itself."""
    if type(value) in PLAIN:
        if _is_wrapped(value):
            return Way.ALIVE
        if value.is_meta or value.is_nested or _is_batched(value):
            return Way.OPERATOR
        return Way.GRAPH
    return Way.OPERATOR if isinstance(value, torch.Tensor) else Way.GRAPH


def is_watched(values: Iterable[Any]) -> bool:
    """Whether PyTorch sees of the values what their memory does not hold."""
    return way_of(map(bare, values)) is not Way.GRAPH


def is_seen(values: Iterable[Any]) -> bool:
    """The same, or whether the values may have tangents."""
    return differentiates_forwards() or is_watched(values)


def differentiates_forwards() -> bool:
    """Whether tangents are computed now."""
    return forward_ad._current_level >= 0 and _C._is_fwd_grad_enabled()


def refuse_nested(arguments: Mapping[str, Any]) -> None:
    """Refuses tensors whose parts have lengths of their own."""
    for name, value in arguments.items():
        tensor = bare(value)
        if isinstance(tensor, torch.Tensor) and tensor.is_nested:
            _core.fail(
                "BadOption",
                f"'{name}'",
                "a nested tensor",
                f"call it for each part of {name}.unbind()",
            )


def evaluate(record: Record, values: Sequence[Any]) -> tuple[Any, ...]:
    """The results, recorded."""
    way = way_of(values)
    if way is Way.GRAPH:
        return recorded(_run, record, values)
    if way is Way.ALIVE:
        return evaluate(record, unwrap_dead_wrappers(tuple(values)))
    tensors = as_tensors(values)
    if any(tensor.is_nested for tensor in tensors):
        refuse_nested(dict(zip(record.names, values, strict=False)))
    return tuple(torch.ops.tilefold.call.default(record.spec(), tensors))


def _run(record: Record, values: Sequence[Any]) -> tuple[Any, ...]:
    """The call itself: nothing is recorded inside a node's forward."""
    return record.results(values)


def recorded(
    run: Run, record: Record, values: Sequence[Any]
) -> tuple[Any, ...]:
    """What `run` gives, as nodes of the graph."""
    return Evaluate.apply(run, record, *values)  # type: ignore


def as_tensors(values: Sequence[Any]) -> list[Any]:
    """Values as the operator takes them. Dynamo looks into these functions.

    Codes become the numbers that they stand for, in double precision where
    other arrays have it.
    """
    if all(isinstance(value, torch.Tensor) for value in values):
        return list(values)
    tensors = [_as_tensor(value) for value in values]
    types = [tensor.dtype for tensor in tensors if tensor is not None]
    wide = torch.float64 in types or torch.complex128 in types
    return [
        _numbers(value, wide) if tensor is None else tensor
        for value, tensor in zip(values, tensors, strict=True)
    ]


def _numbers(codes: Quantized, wide: bool) -> Any:
    """What codes stand for."""
    zero, step = _of_numpy(codes.zero), _of_numpy(codes.step)
    numbers = (_of_numpy(codes.codes).double() - zero) * step
    return numbers if wide else numbers.float()


def _as_tensor(value: Any) -> Any:
    """A value as a tensor; None of codes."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, complex):
        return torch.scalar_tensor(value, dtype=torch.complex128, device="cpu")
    if isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat)):
        number: Any = value
        return torch.scalar_tensor(number, dtype=torch.float64, device="cpu")
    if isinstance(value, Quantized):
        return None
    return _of_numpy(np.asarray(value))  # lists are of float64 in NumPy


def _of_numpy(array: Any) -> Any:
    """A tensor where the array is, whatever the default device may be."""
    return torch.as_tensor(array, device="cpu")


class Evaluate(_SingleLevelFunction):
    """A record as a node of PyTorch's graph.

    It is a Function of one level of transforms: `torch.autograd.Function` is
    one for all of them, but neither `torch.compile` nor a `jvp` beside a
    `backward` go with that.
    """

    @staticmethod
    def forward(ctx: Any, run: Run, record: Record, *values: Any) -> Any:
        """The results that `run` gives; tensors are saved, others kept."""
        ctx.record, ctx.results = record, None
        ctx.set_materialize_grads(False)
        results = run(record, values)
        save(ctx, (*values, *results[: record.kept]))
        if len(results) == 1 and results[0].dtype.is_floating_point:
            return results  # as most do: it has a cotangent, and a tangent
        ctx.results = [(r.shape, r.dtype, r.device) for r in results]
        smooth = results[: record.smooth]
        fixed = [r for r in smooth if not _has_derivative(r.dtype)]
        ctx.mark_non_differentiable(*fixed, *results[len(smooth) :])
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        if all(cotangent is None for cotangent in cotangents):
            return (None,) * (2 + len(record.names))
        values = saved(ctx)
        names = needed(record.names, ctx.needs_input_grad[2:])
        given = [
            _given(ctx, k, cotangent) for k, cotangent in enumerate(cotangents)
        ]
        found = record.gradients(values, names, given)
        values = values[: len(record.names)]
        return None, None, *of_all(record.names, found, values)

    @staticmethod
    def jvp(ctx: Any, _run: Any, _record: Any, *tangents: Any) -> Any:
        """The tangents of the results, where some arguments have one."""
        record = ctx.record
        kinds = ctx.results or ()
        if kinds and not any(_has_derivative(dtype) for _, dtype, _ in kinds):
            return (None,) * len(kinds)
        moving = {
            name: plain(tangent)
            for name, tangent in zip(record.names, tangents, strict=True)
            if tangent is not None
        }
        if not is_transformed():
            return record.tangents(saved(ctx), moving)
        # Levels outside may have tangents of their own, which PyTorch keeps
        # from being computed here; those of this level are `moving`.
        with forward_ad._set_fwd_grad_enabled(True):
            return record.tangents(list(map(_still, saved(ctx))), moving)


def _still(value: Any) -> Any:
    """A tensor without the tangent that it has at this level."""
    if not isinstance(value, torch.Tensor):
        return value
    primal, _ = forward_ad.unpack_dual(value, level=0)  # type: ignore[no-untyped-call]
    return primal


def _has_derivative(dtype: Any) -> bool:
    return bool(dtype.is_floating_point or dtype.is_complex)


def _given(ctx: Any, k: int, cotangent: Any) -> Any:
    """The cotangent of a result as kernels read it; zeros where it has none."""
    if cotangent is not None:
        return plain(cotangent).contiguous()
    shape, dtype, device = ctx.results[k]
    if not _has_derivative(dtype):
        dtype = torch.float64
    return torch.zeros(shape, dtype=dtype, device=device)
