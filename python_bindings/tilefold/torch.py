# python_bindings/tilefold/torch.py - gradients recorded by PyTorch.
"""Formulas of tensors that require grad.

Nothing has to be called: `tilefold.reduce`, formulas and kernels come here by
themselves when a tensor requires grad and PyTorch records. What is saved for
the backward pass are the arguments. Backward evaluates `Formula.grad`, a
formula like any other, so that it is recorded in its turn: any order is
exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold.kernel import Kernel
from tilefold.pair_term import PairTerm
from tilefold.roles import Role
from tilefold.solve import solve as solve_without_record

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__: list[str] = []


def call(formula: Any, /, *positional: Any, **keywords: Any) -> Any:
    """`formula(*positional, **keywords)`, recorded."""
    settings: dict[str, Any] = {
        name: keywords.pop(name)
        for name in ("session", "options", "ranges")
        if name in keywords
    }
    sum_batch = keywords.pop("sum_batch", None)
    arguments = {**(positional[0] if positional else {}), **keywords}
    result = _evaluate(formula, arguments, settings)
    if sum_batch is None or sum_batch == ():
        return result
    with torch.no_grad():
        formula._check_call(arguments, {**settings, "sum_batch": sum_batch})
    return result.sum(dim=sum_batch)


def solve(
    kernel: Any, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """What `tilefold.solve.solve` gives, recorded."""
    pair = kernel._pair
    values, roles = _without_roles(pair.arguments)
    record = _Record(pair.formula, list(pair.arguments), roles, pair.settings)
    system = _System(record, kernel._transposed, options)
    x = _Solve.apply(  # type: ignore[no-untyped-call]
        system, side, ridge, *values
    )
    return x, system.info, system.warning


def _evaluate(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    values, roles = _without_roles(arguments)
    record = _Record(formula, list(arguments), roles, settings)
    return _Evaluate.apply(record, *values)  # type: ignore[no-untyped-call]


def _without_roles(
    arguments: dict[str, Any],
) -> tuple[list[Any], list[int | None]]:
    """The bare values, and the axes that some were declared on."""
    return [
        value.value if isinstance(value, Role) else value
        for value in arguments.values()
    ], [
        value.axes if isinstance(value, Role) else None
        for value in arguments.values()
    ]


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


def _save(ctx: Any, values: Iterable[Any]) -> None:
    """Keeps what the backward pass reads; only tensors may be saved."""
    values = list(values)
    ctx.is_tensor = [isinstance(value, torch.Tensor) for value in values]
    ctx.others = [
        None if isinstance(value, torch.Tensor) else value for value in values
    ]
    ctx.save_for_backward(
        *(value for value in values if isinstance(value, torch.Tensor))
    )


def _saved(ctx: Any) -> list[Any]:
    """What `_save` was given; tensors with their place in the graph."""
    saved = iter(ctx.saved_tensors)
    return [
        next(saved) if is_tensor else other
        for is_tensor, other in zip(ctx.is_tensor, ctx.others, strict=True)
    ]


class _Evaluate(torch.autograd.Function):
    """A formula as a node of PyTorch's graph."""

    @staticmethod
    def forward(ctx: Any, record: _Record, *values: Any) -> Any:
        """The results; tensors are saved, other values kept."""
        ctx.record = record
        _save(ctx, values)
        results = record.formula(record.arguments(values), **record.settings)
        for result in results if isinstance(results, tuple) else (results,):
            if not (result.is_floating_point() or result.is_complex()):
                ctx.mark_non_differentiable(result)
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        values = _saved(ctx)
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
            arguments[name] = cotangent.resolve_conj().contiguous()
        formula = record.formula.grad(needed, cotangent=seed)
        gradients = formula(arguments, **record.settings)
        if len(needed) == 1:
            gradients = (gradients,)
        found = dict(zip(needed, gradients, strict=True))
        return None, *(
            _where(found.get(name), value)
            for name, value in zip(record.names, values, strict=True)
        )


def _where(gradient: Any, value: Any) -> Any:
    """On the tensor's device: it may be a parameter of the CPU."""
    return gradient if gradient is None else gradient.to(value.device)


class _System:
    """What a solve was, beside its values."""

    def __init__(
        self, record: _Record, transposed: bool, options: dict[str, Any]
    ) -> None:
        self.record = record
        self.transposed = transposed
        self.options = options
        self.info: Any = None
        self.warning = ""

    def kernel(self, values: Any) -> Any:
        """The kernel of the values."""
        record = self.record
        pair = PairTerm(
            record.formula, record.arguments(values), record.settings
        )
        return Kernel(pair, self.transposed)


class _Solve(torch.autograd.Function):
    """A linear system as a node of PyTorch's graph.

    Of x = A⁻¹ b, the gradient by b is A⁻¹ g, for A is symmetric, and that by
    A is -(A⁻¹ g) xᵀ, of which kernels only take the product with dA.
    """

    @staticmethod
    def forward(
        ctx: Any, system: _System, side: Any, ridge: Any, *values: Any
    ) -> Any:
        """The solution; it is saved beside the arguments."""
        x, system.info, system.warning = solve_without_record(
            system.kernel(values), side, ridge, system.options
        )
        x = torch.as_tensor(x)  # where the ridge is all that is a tensor
        ctx.system = system
        _save(ctx, [x, ridge, *values])
        return x

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        """The gradients by b, the ridge and the kernel's arguments."""
        system = ctx.system
        x, ridge, *values = _saved(ctx)
        kernel = system.kernel(values)
        adjoint = kernel.solve(cotangent, ridge, **system.options)
        _, by_side, by_ridge, *by_values = ctx.needs_input_grad
        names = system.record.names
        needed = [
            name for name, need in zip(names, by_values, strict=True) if need
        ]
        found = _by_arguments(kernel, needed, -adjoint, x) if needed else {}
        return (
            None,
            adjoint if by_side else None,
            -(adjoint * x).sum() if by_ridge else None,
            *(found.get(name) for name in names),
        )


def _by_arguments(
    kernel: Any, needed: list[str], rows: Any, columns: Any
) -> dict[str, Any]:
    """The gradients of rows · (K columns) by arguments of K."""
    pair = kernel._pair
    name = pair.formula._unused_name()
    formula = pair.around("sum", kernel._columns, weights=name)
    seed = _Record(formula, [], [], {}).seed()
    gradients = formula.grad(needed, cotangent=seed)(
        {**pair.arguments, name: columns, seed: rows}, **pair.settings
    )
    if len(needed) == 1:
        gradients = (gradients,)
    return dict(zip(needed, gradients, strict=True))


def _seed_names(record: _Record, seed: str, count: int) -> list[str]:
    """The cotangents' names: one, or one for each result."""
    if count == 1:
        return [seed]
    return [f"{seed}_{name}" for name in record.formula._results]
