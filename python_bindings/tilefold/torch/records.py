# python_bindings/tilefold/torch/records.py - what a recorded call was.
"""`Record`: a call beside its values, as nodes of a graph keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Keywords of a call that are no arrays.
SETTINGS = ("session", "options", "ranges", "batch_rank")


class Record:
    """What a call was, beside its values.

    `roles` has the axes that `Vi`, `Vj` or `Pm` declared of each argument, or
    None; `settings` are keywords of the call.
    """

    __slots__ = ("formula", "names", "roles", "settings")

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

    def results(self, values: Any) -> tuple[Any, ...]:
        """What the formula gives of the values, always as a tuple."""
        results = self.formula(self.arguments(values), **self.settings)
        return results if isinstance(results, tuple) else (results,)

    def seed(self, kind: str) -> str:
        """A name, "grad1" or so, for a cotangent or tangent; it is free."""
        taken = [name for name, _ in self.formula.names]
        level = 1
        while any(name.startswith(f"{kind}{level}") for name in taken):
            level += 1
        return f"{kind}{level}"


def recorded(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> tuple[Record, list[Any]]:
    """What a call is, and its values without the roles of some."""
    given = arguments.values()
    roles = [value.axes if isinstance(value, Role) else None for value in given]
    record = Record(formula, list(arguments), roles, settings)
    return record, [bare(value) for value in given]


def needed(names: Iterable[str], needs: Iterable[bool]) -> list[str]:
    """The arguments whose gradients are asked for."""
    return [name for name, need in zip(names, needs, strict=True) if need]


def save(ctx: Any, values: Iterable[Any]) -> None:
    """Keeps what derivatives read; only tensors may be saved."""
    values = list(values)
    ctx.is_tensor = [isinstance(value, torch.Tensor) for value in values]
    ctx.others = [
        None if isinstance(value, torch.Tensor) else value for value in values
    ]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)


def saved(ctx: Any) -> list[Any]:
    """What `save` was given; tensors with their place in the graph."""
    tensors = iter(ctx.saved_tensors)
    return [
        next(tensors) if is_tensor else other
        for is_tensor, other in zip(ctx.is_tensor, ctx.others, strict=True)
    ]


def gradients(
    names: Iterable[str], found: dict[str, Any], values: Iterable[Any]
) -> Iterator[Any]:
    """Those of all arguments, None where none was asked for."""
    for name, value in zip(names, values, strict=True):
        gradient = found.get(name)
        # On the tensor's device: it may be a parameter of the CPU.
        yield gradient if gradient is None else gradient.to(value.device)


def plain(value: Any) -> Any:
    """Without the lazy signs that views may have."""
    return value.resolve_conj().resolve_neg()


def by_name(names: list[str], results: Any) -> dict[str, Any]:
    """What a formula of gradients gave: one array, or several."""
    if len(names) == 1:
        results = (results,)
    return dict(zip(names, results, strict=True))


def seed_names(formula: Any, seed: str, count: int) -> list[str]:
    """The cotangents' names: one, or one for each result."""
    if count == 1:
        return [seed]
    return [f"{seed}_{name or 'value'}" for name in formula._results]
