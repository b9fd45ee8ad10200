# python_bindings/tilefold/torch/records.py - what a recorded call was.
"""`Record`: a call beside its values, as nodes of a graph keep it.

A record knows what it computes of values, and its derivatives as records
again. A graph, the operator and the transforms treat all kinds of them alike.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import _C
from torch.autograd import forward_ad

from tilefold import _core
from tilefold.ranges import Ranges, require_ranges
from tilefold.result_types import few, few_columns
from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class _Kept:
    """What was made of a formula: derivatives, and texts of its calls."""

    def __init__(self) -> None:
        self.derived: dict[tuple[Any, ...], tuple[Any, list[str]]] = {}
        self.specs: dict[tuple[Any, ...], str] = {}


_KEPT: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()


def _kept(formula: Any) -> _Kept:
    """What is kept of a formula while it lives."""
    found = _KEPT.get(formula)
    if found is None:
        found = _KEPT.setdefault(formula, _Kept())
    return found


class Record:
    """A call of a formula, beside its values.

    `roles` has the axes that `Vi`, `Vj` or `Pm` declared of each argument, or
    None, and is empty where none was; `settings` are keywords of the call;
    `parts` are the names that a kind of record is made of beside these.
    """

    __slots__ = ("formula", "names", "parts", "roles", "settings")

    query = "result"
    kept = 0  # how many of the results derivatives read, after the values
    smooth: int | None = None  # how many have derivatives; all

    def __init__(
        self,
        formula: Any,
        names: list[str],
        roles: list[int | None],
        settings: dict[str, Any],
        parts: Sequence[str] = (),
    ) -> None:
        self.parts: list[str] = list(parts)
        self.formula: Any = formula
        self.names: list[str] = names
        self.roles: list[int | None] = roles
        self.settings: dict[str, Any] = settings

    @classmethod
    def of(
        cls, formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
    ) -> tuple[Record, list[Any]]:
        """The record of a call, and its values without the roles of some."""
        values = list(arguments.values())
        roles: list[int | None] = []
        if Role in map(type, values):
            roles = [
                value.axes if type(value) is Role else None for value in values
            ]
            values = [bare(value) for value in values]
        return cls(formula, list(arguments), roles, settings), values

    def arguments(self, values: Sequence[Any]) -> dict[str, Any]:
        """The arguments of the call, by name."""
        arguments = dict(zip(self.names, values, strict=True))
        if self.roles:
            for name, axes in zip(self.names, self.roles, strict=False):
                if axes is not None:
                    arguments[name] = Role(arguments[name], axes)
        return arguments

    def results(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """What is computed of the values."""
        return as_tuple(self.formula(self.arguments(values), **self.settings))

    def gradients(
        self, values: Sequence[Any], names: list[str], cotangents: Any
    ) -> dict[str, Any]:
        """The gradients by some arguments, by name."""
        found = self._derived(values, names, cotangents, True)
        return dict(zip(names, found, strict=True))

    def tangents(
        self, values: Sequence[Any], moving: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The derivatives of the results, where some arguments move."""
        return self._derived(values, list(moving), moving.values(), False)

    def _derived(
        self,
        values: Sequence[Any],
        names: list[str],
        seeds: Iterable[Any],
        is_gradient: bool,
    ) -> tuple[Any, ...]:
        """The results of a derivative, given its cotangents or tangents."""
        kept = _kept(self.formula).derived
        key = (tuple(names), is_gradient)
        if key not in kept:
            kept[key] = self.formula._derive(names, is_gradient)
        formula, seed_names = kept[key]
        arguments = self.arguments(values)
        if self.roles:
            axes = self._axes_of_seeds(names, is_gradient)
            seeds = [
                seed if axis is None else Role(seed, axis)
                for seed, axis in zip(seeds, axes, strict=True)
            ]
        arguments.update(zip(seed_names, seeds, strict=True))
        return as_tuple(formula(arguments, **self.settings))

    def _axes_of_seeds(
        self, names: list[str], is_gradient: bool
    ) -> list[int | None]:
        """What roles say of cotangents, which no subscript says anything of.

        A cotangent is on the axes of its result, a tangent on those of what
        moves; None: as subscripts have it.
        """
        if not is_gradient:
            return [self.roles[self.names.index(name)] for name in names]
        own = self.formula._axes_of_result(
            {
                self.formula._axes_of(name)[0]: axes
                for name, axes in zip(self.names, self.roles, strict=True)
                if axes is not None
            }
        )
        return [
            self.axes(self.names.index(like)) if like else own
            for like in self.likes
        ]

    def axes(self, k: int) -> int:
        """The bits of the axes that an argument is on: 1 i, 2 j."""
        role = self.roles[k] if self.roles else None
        if role is not None:
            return role
        return int(self.formula._axes_of(self.names[k])[1])

    def few(self, k: int, shape: list[Any]) -> list[Any]:
        """An argument's shape without a batch, with few points for many."""
        return list(few(self.axes(k), shape, self.few_columns))

    @property
    def few_columns(self) -> int:
        """Few points of j."""
        return few_columns([self.axes(k) for k in range(len(self.names))])

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
        return list(
            self.formula._result_types(
                self.arguments(stand_ins),
                self.settings_of_few(),
                self.settings.get("ranges") is not None,
            )
        )

    def settings_of_few(self) -> dict[str, Any]:
        """Those of a call with few points, without batches, of all pairs."""
        return {**self.settings, "batch_rank": 0, "ranges": None}

    def check(self, stand_ins: Sequence[Any]) -> None:
        """Fails where a call of arrays of these shapes would."""
        self.formula._check_call(self.arguments(stand_ins), self.settings)

    def spec(self) -> str:
        """The record as text, which `record_of` in operator.py reads."""
        refuse_unwritten(self.settings)
        options, ranges = map(self.settings.get, ("options", "ranges"))
        said = (
            tuple(self.names),
            tuple(self.roles),
            options,
            self.settings.get("batch_rank"),
            self.query,
            tuple(self.parts),
        )
        if options is not None or ranges is not None:
            return spec_of(self.formula, *said, ranges)
        kept = _kept(self.formula).specs
        if said not in kept:
            kept[said] = spec_of(self.formula, *said)
        return kept[said]


def spec_of(
    formula: Any,
    names: Sequence[str],
    roles: Sequence[int | None],
    options: Any = None,
    batch_rank: int | None = None,
    query: str = "result",
    parts: Sequence[str] = (),
    ranges: Any = None,
) -> str:
    """What the operator takes of a call, beside its values.

    `formula`: its text or an object. `roles`: of each argument the axes that
    are declared, or None.
    """
    if isinstance(formula, str):
        formula = _core.compile(formula)  # refuses what is none
    known = [formula._axes_of(name)[0] for name in names]
    for at, name in enumerate(known):
        if name in known[:at]:
            first = names[known.index(name)]
            _core.fail("DuplicateArgument", name, first, names[at])
    text, derivation, session = formula.__reduce__()[1]
    return json.dumps(
        {
            "formula": text,
            "derivation": derivation,
            "names": known,
            "roles": roles,
            "batch_rank": batch_rank,
            "options": {**_of_session(session), **_written(options)},
            "query": query,
            "parts": parts,
            "ranges": _lists(ranges),
        }
    )


# What torch._dynamo.assume_constant_result sets, which is slow to import.
spec_of._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _of_session(session: Any) -> dict[str, Any]:
    """The settings of a formula's session that results depend on."""
    if session is None:
        return {}
    given = session.options.__reduce__()[0].keywords
    names = ("tolerance", "untrusted")
    return {name: given[name] for name in names if given.get(name)}


_LISTS: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary({})


def _lists(ranges: Any) -> str | None:
    """Ranges as text, which is kept: there may be many."""
    if ranges is None:
        return None
    require_ranges(ranges)
    text = _LISTS.get(ranges)
    if text is None:
        batch, *lists = ranges._lists.__reduce__()[1]
        numbers = [np.asarray(one).tolist() for one in lists]
        text = _LISTS[ranges] = json.dumps([list(batch), *numbers])
    return text


def ranges_of(text: str) -> Ranges:
    """The ranges that `_lists` has written."""
    batch, *lists = json.loads(text)
    arrays = [np.asarray(one, np.int64) for one in lists]
    return Ranges._of(tuple(batch), _core._Ranges(tuple(batch), *arrays))


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


def refuse_unwritten(settings: dict[str, Any]) -> None:
    """Of a call's settings, those that no text says."""
    if settings.get("session") is not None:
        refuse_setting("session", settings["session"])


def as_tuple(results: Any) -> tuple[Any, ...]:
    """What a formula gives: one array, or several."""
    return results if isinstance(results, tuple) else (results,)


def needed(names: Iterable[str], needs: Iterable[bool]) -> list[str]:
    """The arguments whose gradients are asked for."""
    return [name for name, need in zip(names, needs, strict=True) if need]


def save(ctx: Any, values: Sequence[Any]) -> None:
    """Keeps what derivatives read; only tensors may be saved."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    ctx.others = None
    if len(tensors) < len(values):
        ctx.others = [
            _SAVED if isinstance(value, torch.Tensor) else value
            for value in values
        ]
    ctx.save_for_backward(*tensors)
    if forward_ad._current_level >= 0 or is_transformed():
        ctx.save_for_forward(*tensors)


# Stands for a tensor among what is kept as it is.
_SAVED = object()


def is_transformed() -> bool:
    """Whether one of `torch.func`'s transforms is under way."""
    return _C._functorch.maybe_current_level() is not None


def saved(ctx: Any) -> list[Any]:
    """What `save` was given; tensors with their place in the graph."""
    if ctx.others is None:
        return list(ctx.saved_tensors)
    tensors = iter(ctx.saved_tensors)
    return [next(tensors) if one is _SAVED else one for one in ctx.others]


def of_all(
    names: Iterable[str], found: dict[str, Any], values: Iterable[Any]
) -> Iterator[Any]:
    """The gradients of all arguments, None where none was asked for."""
    for name, value in zip(names, values, strict=True):
        gradient = found.get(name)
        # On the tensor's device: it may be a parameter of the CPU.
        if gradient is not None and gradient.device != value.device:
            gradient = gradient.to(value.device)
        yield gradient


def array_like(dtype: Any, shape: Sequence[Any]) -> Any:
    """An array of NumPy's that takes no memory, for a tensor."""
    name = str(dtype).removeprefix("torch.")
    known = "float16" if name == "bfloat16" else name
    return np.broadcast_to(np.zeros((), known), [int(n) for n in shape])


def plain(value: Any) -> Any:
    """Without the lazy signs that views may have."""
    if value.is_neg() or value.is_conj():
        return value.resolve_conj().resolve_neg()
    return value
