# python_bindings/tilefold/torch/evaluate.py - a formula as a node of a graph.
"""`Evaluate`: what PyTorch's graph keeps of a call, and its derivatives.

Backward evaluates `Formula.grad`, forward mode `Formula.jvp`: formulas like
any other, called like any other, so that they are recorded in their turn and
any order is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import _SingleLevelFunction

from tilefold.torch.records import (
    Record,
    by_name,
    gradients,
    needed,
    plain,
    save,
    saved,
    seed_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[Record, tuple[Any, ...]], tuple[Any, ...]]


class Evaluate(_SingleLevelFunction):
    """A formula as a node of PyTorch's graph.

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
            if not (result.is_floating_point() or result.is_complex()):
                ctx.mark_non_differentiable(result)
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        values = saved(ctx)
        names = needed(record.names, ctx.needs_input_grad[2:])
        seed = record.seed("grad")
        arguments = record.arguments(values)
        seeds = seed_names(record.formula, seed, len(cotangents))
        for k, (name, cotangent) in enumerate(
            zip(seeds, cotangents, strict=True)
        ):
            arguments[name] = _given(ctx, k, cotangent)
        formula = record.formula.grad(names, cotangent=seed)
        found = by_name(names, formula(arguments, **record.settings))
        return None, None, *gradients(record.names, found, values)

    @staticmethod
    def jvp(ctx: Any, _run: Any, _record: Any, *tangents: Any) -> Any:
        """The tangents of the results, where some arguments have one."""
        record = ctx.record
        moving = {
            name: plain(tangent)
            for name, tangent in zip(record.names, tangents, strict=True)
            if tangent is not None
        }
        seed = record.seed("tan")
        formula = record.formula.jvp(list(moving), tangent=seed)
        arguments = record.arguments(saved(ctx))
        for name, tangent in moving.items():
            arguments[f"{seed}_{name}" if len(moving) > 1 else seed] = tangent
        results = formula(arguments, **record.settings)
        return results if isinstance(results, tuple) else (results,)


def _given(ctx: Any, k: int, cotangent: Any) -> Any:
    """The cotangent of a result as kernels read it; zeros where it has none."""
    if cotangent is not None:
        return plain(cotangent).contiguous()
    shape, dtype = ctx.results[k]
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = torch.float64
    return torch.zeros(shape, dtype=dtype)
