# python_bindings/tilefold/torch/records.py - what a recorded call was.
"""`Record`: a call beside its values, as nodes of a graph keep it.

A record knows what it computes of values, and its derivatives as records
again. A graph, the operator and the transforms treat all kinds of them alike.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import torch

from tilefold import _core
from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Keywords of a call that are no arrays, and that derivatives take, too.
SETTINGS = ("session", "options", "ranges", "batch_rank")


class Record:
    """A call of a formula, beside its values.

    `roles` has the axes that `Vi`, `Vj` or `Pm` declared of each argument, or
    None; `settings` are keywords of the call.
    """

    __slots__ = ("formula", "names", "roles", "settings")

    query = "result"

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

    @classmethod
    def of(
        cls, formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
    ) -> tuple[Record, list[Any]]:
        """The record of a call, and its values without the roles of some."""
        given = arguments.values()
        roles = [
            value.axes if isinstance(value, Role) else None for value in given
        ]
        record = cls(formula, list(arguments), roles, settings)
        return record, [bare(value) for value in given]

    def arguments(self, values: Any) -> dict[str, Any]:
        """The arguments of the call, by name."""
        return {
            name: value if axes is None else Role(value, axes)
            for name, axes, value in zip(
                self.names, self.roles, values, strict=True
            )
        }

    def results(self, values: Any) -> tuple[Any, ...]:
        """What is computed of the values."""
        return as_tuple(self.formula(self.arguments(values), **self.settings))

    def gradients(
        self, values: Sequence[Any], names: list[str], cotangents: Any
    ) -> dict[str, Any]:
        """The gradients by some arguments, by name."""
        seed = self._seed("grad")
        arguments = self.arguments(values)
        if len(cotangents) == 1:
            arguments[seed] = cotangents[0]
        else:
            for like, cotangent in zip(self.likes, cotangents, strict=True):
                arguments[f"{seed}_{like or 'value'}"] = cotangent
        formula = self.formula.grad(names, cotangent=seed)
        found = as_tuple(formula(arguments, **self.settings))
        return dict(zip(names, found, strict=True))

    def tangents(
        self, values: Sequence[Any], moving: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The derivatives of the results, where some arguments move."""
        seed = self._seed("tan")
        arguments = self.arguments(values)
        for name, tangent in moving.items():
            arguments[f"{seed}_{name}" if len(moving) > 1 else seed] = tangent
        formula = self.formula.jvp(list(moving), tangent=seed)
        return as_tuple(formula(arguments, **self.settings))

    def _seed(self, kind: str) -> str:
        """A name, "grad1" or so, that no argument begins with."""
        taken = [name for name, _ in self.formula.names]
        level = 1
        while any(name.startswith(f"{kind}{level}") for name in taken):
            level += 1
        return f"{kind}{level}"

    def axes(self, k: int) -> int:
        """The bits of the axes that an argument is on: 1 i, 2 j."""
        role = self.roles[k]
        if role is not None:
            return role
        return int(self.formula._axes_of(self.names[k])[1])

    def few(self, k: int, shape: list[Any]) -> list[Any]:
        """An argument's shape without a batch, with few points for many."""
        axes = self.axes(k)
        if axes and shape:
            return [3 if axes == 2 else 2, *shape[1:]]
        return shape

    @property
    def likes(self) -> list[str]:
        """Of each result the argument whose shape it has, or ""."""
        return list(self.formula._results)

    @property
    def seeds(self) -> dict[str, str]:
        """Of each cotangent and tangent what it is like; "": the result."""
        return dict(self.formula._seeds)

    def types(
        self, stand_ins: Sequence[Any]
    ) -> list[tuple[str, int, str, int]]:
        """Of each result what `Formula._result_types` says."""
        settings = {**self.settings, "batch_rank": 0}
        return list(
            self.formula._result_types(self.arguments(stand_ins), settings)
        )

    def spec(self) -> str:
        """The record as text, which `record_of` in operator.py reads."""
        for name in ("session", "ranges"):
            if self.settings.get(name) is not None:
                refuse_setting(name, self.settings[name])
        return spec_of(
            self.formula,
            tuple(self.names),
            tuple(self.roles),
            self.settings.get("options"),
            self.settings.get("batch_rank"),
            self.query,
            tuple(self.parts()),
        )

    def parts(self) -> list[str]:
        """What else a kind of record is made of: names."""
        return []


def spec_of(
    formula: Any,
    names: Sequence[str],
    roles: Sequence[int | None],
    options: Any = None,
    batch_rank: int | None = None,
    query: str = "result",
    parts: Sequence[str] = (),
) -> str:
    """What the operator takes of a call, beside its values.

    `formula`: its text or an object. `roles`: of each argument the axes that
    are declared, or None.
    """
    if isinstance(formula, str):
        formula = _core.compile(formula)  # refuses what is none
    text, derivation = formula.__reduce__()[1][:2]
    return json.dumps(
        {
            "formula": text,
            "derivation": derivation,
            "names": names,
            "roles": roles,
            "batch_rank": batch_rank,
            "options": _written(options),
            "query": query,
            "parts": parts,
        }
    )


# What torch._dynamo.assume_constant_result sets, which is slow to import.
spec_of._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _written(options: Any) -> dict[str, Any]:
    """The options that are set, as JSON has them."""
    if options is None:
        return {}
    given = options.__reduce__()[0].keywords
    found = {name: value for name, value in given.items() if value is not None}
    for name in ("progress", "stream"):
        if name in found:
            refuse_setting(f"Options({name}=…)", found[name])
    return found


def refuse_setting(name: str, value: Any) -> None:
    """Of what no graph can keep."""
    _core.fail(
        "BadOption",
        name,
        type(value).__name__,
        "leave it out where PyTorch transforms or compiles the call",
    )


def as_tuple(results: Any) -> tuple[Any, ...]:
    """What a formula gives: one array, or several."""
    return results if isinstance(results, tuple) else (results,)


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


def of_all(
    names: Iterable[str], found: dict[str, Any], values: Iterable[Any]
) -> Iterator[Any]:
    """The gradients of all arguments, None where none was asked for."""
    for name, value in zip(names, values, strict=True):
        gradient = found.get(name)
        # On the tensor's device: it may be a parameter of the CPU.
        yield gradient if gradient is None else gradient.to(value.device)


def plain(value: Any) -> Any:
    """Without the lazy signs that views may have."""
    return value.resolve_conj().resolve_neg()
