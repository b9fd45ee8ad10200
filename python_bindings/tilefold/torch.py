# python_bindings/tilefold/torch.py - gradients recorded by PyTorch.
"""Formulas of tensors that require grad.

Nothing has to be called: `tilefold.reduce`, formulas and kernels come here by
themselves when a tensor requires grad and PyTorch records. What is saved for
the backward pass are the arguments. Backward evaluates `Formula.grad`, a
formula like any other, so that it is recorded in its turn: any order is
exact.
"""

from __future__ import annotations

from typing import Any

import torch

from tilefold.roles import Role

__all__: list[str] = []


def call(formula: Any, /, *positional: Any, **keywords: Any) -> Any:
    """`formula(*positional, **keywords)`, recorded."""
    settings: dict[str, Any] = {
        name: keywords.pop(name)
        for name in ("session", "options")
        if name in keywords
    }
    arguments = {**(positional[0] if positional else {}), **keywords}
    return _evaluate(formula, arguments, settings)


def _evaluate(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    values = [
        value.value if isinstance(value, Role) else value
        for value in arguments.values()
    ]
    roles = [
        value.axes if isinstance(value, Role) else None
        for value in arguments.values()
    ]
    record = _Record(formula, list(arguments), roles, settings)
    return _Evaluate.apply(record, *values)  # type: ignore[no-untyped-call]


class _Record:
    """What a call was, beside its values."""

    def __init__(
        self,
        formula: Any,
        names: list[str],
        roles: list[int | None],
        settings: dict[str, Any],
    ) -> None:
        self.formula = formula
        self.names = names
        self.roles = roles
        self.settings = settings

    def arguments(self, values: Any) -> dict[str, Any]:
        """The arguments of the call, by name."""
        return {
            name: value if axes is None else Role(value, axes)
            for name, axes, value in zip(
                self.names, self.roles, values, strict=True
            )
        }

    def seed(self) -> str:
        """A name for the cotangent that the formula does not have."""
        taken = {name for name, _ in self.formula.names}
        level = 1
        while any(name.startswith(f"grad{level}") for name in taken):
            level += 1
        return f"grad{level}"


class _Evaluate(torch.autograd.Function):
    """A formula as a node of PyTorch's graph."""

    @staticmethod
    def forward(ctx: Any, record: _Record, *values: Any) -> Any:
        """The results; tensors are saved, other values kept."""
        ctx.record = record
        ctx.save_for_backward(
            *(value for value in values if isinstance(value, torch.Tensor))
        )
        ctx.others = [
            None if isinstance(value, torch.Tensor) else value
            for value in values
        ]
        ctx.is_tensor = [isinstance(value, torch.Tensor) for value in values]
        results = record.formula(record.arguments(values), **record.settings)
        for result in results if isinstance(results, tuple) else (results,):
            if not result.is_floating_point():
                ctx.mark_non_differentiable(result)
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        saved = iter(ctx.saved_tensors)
        values = [
            next(saved) if is_tensor else other
            for is_tensor, other in zip(ctx.is_tensor, ctx.others, strict=True)
        ]
        needed = [
            name
            for name, need in zip(
                record.names, ctx.needs_input_grad[1:], strict=True
            )
            if need
        ]
        seed = record.seed()
        arguments = record.arguments(values)
        for name, cotangent in zip(
            _seed_names(record, seed, len(cotangents)), cotangents, strict=True
        ):
            arguments[name] = cotangent.contiguous()
        formula = record.formula.grad(needed, cotangent=seed)
        gradients = formula(arguments, **record.settings)
        if len(needed) == 1:
            gradients = (gradients,)
        found = dict(zip(needed, gradients, strict=True))
        return (None, *(found.get(name) for name in record.names))


def _seed_names(record: _Record, seed: str, count: int) -> list[str]:
    """The cotangents' names: one, or one for each result."""
    if count == 1:
        return [seed]
    return [f"{seed}_{name}" for name in record.formula._results]
