# python_bindings/tilefold/torch/evaluate.py - a record as a node of a graph.
"""`evaluate`: a record's results, by the way that PyTorch's state asks for.

A tensor that requires grad or has a tangent makes a node of the graph
(`Evaluate`), whose derivatives are records evaluated in their turn, so that any
order is exact. Anything else that PyTorch sees of tensors and their memory does
not tell goes through the operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from tilefold.roles import bare
from tilefold.torch.records import Record, needed, of_all, plain, save, saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Run = Callable[[Record, Sequence[Any]], tuple[Any, ...]]

PLAIN = (torch.Tensor, torch.nn.Parameter)


def is_transformed() -> bool:
    """Whether one of `torch.func`'s transforms is under way."""
    return _C._functorch.maybe_current_level() is not None


def is_watched(values: Iterable[Any]) -> bool:
    """Whether PyTorch sees of the values what their memory does not hold."""
    return (
        is_transformed()
        or _C._len_torch_dispatch_stack() > 0
        or _C._get_tracing_state() is not None
        or any(
            isinstance(value, torch.Tensor)
            and (
                type(value) not in PLAIN
                or value.is_meta
                or _C._functorch.is_legacy_batchedtensor(value)
            )
            for value in map(bare, values)
        )
    )


def is_seen(values: Iterable[Any]) -> bool:
    """The same, or whether the values may have tangents."""
    may_move = forward_ad._current_level >= 0 and _C._is_fwd_grad_enabled()
    return may_move or is_watched(values)


def evaluate(record: Record, values: Sequence[Any]) -> tuple[Any, ...]:
    """The results, recorded."""
    if is_watched(values):
        tensors = [as_tensor(value) for value in values]
        return tuple(torch.ops.tilefold.call(record.spec(), tensors))
    return recorded(_run, record, values)


def _run(record: Record, values: Sequence[Any]) -> tuple[Any, ...]:
    """The call itself: nothing is recorded inside a node's forward."""
    return record.results(values)


def recorded(
    run: Run, record: Record, values: Sequence[Any]
) -> tuple[Any, ...]:
    """What `run` gives, as nodes of the graph."""
    results = Evaluate.apply(run, record, *values)  # type: ignore[attr-defined]
    return tuple(results)


def as_tensor(value: Any) -> Any:
    """A value as the operator takes it. Dynamo looks into this function."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, complex):
        return torch.scalar_tensor(value, dtype=torch.complex128)
    if isinstance(value, (bool, int, float)):
        return torch.scalar_tensor(value, dtype=torch.float64)
    return torch.as_tensor(value)


class Evaluate(_SingleLevelFunction):
    """A record as a node of PyTorch's graph.

    It is a Function of one level of transforms: `torch.autograd.Function` is
    one for all of them, but neither `torch.compile` nor a `jvp` beside a
    `backward` go with that.
    """

    @staticmethod
    def forward(ctx: Any, run: Run, record: Record, *values: Any) -> Any:
        """The results that `run` gives; tensors are saved, others kept."""
        ctx.record = record
        ctx.set_materialize_grads(False)
        save(ctx, values)
        results = run(record, values)
        ctx.results = [(result.shape, result.dtype) for result in results]
        for result in results:
            if not _has_derivative(result.dtype):
                ctx.mark_non_differentiable(result)
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        values = saved(ctx)
        names = needed(record.names, ctx.needs_input_grad[2:])
        given = [
            _given(ctx, k, cotangent) for k, cotangent in enumerate(cotangents)
        ]
        found = record.gradients(values, names, given)
        return None, None, *of_all(record.names, found, values)

    @staticmethod
    def jvp(ctx: Any, _run: Any, _record: Any, *tangents: Any) -> Any:
        """The tangents of the results, where some arguments have one."""
        record = ctx.record
        if not any(_has_derivative(dtype) for _, dtype in ctx.results):
            return (None,) * len(ctx.results)
        moving = {
            name: plain(tangent)
            for name, tangent in zip(record.names, tangents, strict=True)
            if tangent is not None
        }
        return record.tangents(saved(ctx), moving)


def _has_derivative(dtype: Any) -> bool:
    return bool(dtype.is_floating_point or dtype.is_complex)


def _given(ctx: Any, k: int, cotangent: Any) -> Any:
    """The cotangent of a result as kernels read it; zeros where it has none."""
    if cotangent is not None:
        return plain(cotangent).contiguous()
    shape, dtype = ctx.results[k]
    return torch.zeros(
        shape, dtype=dtype if _has_derivative(dtype) else torch.float64
    )
