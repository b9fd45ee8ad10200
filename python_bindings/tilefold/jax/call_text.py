# python_bindings/tilefold/jax/call_text.py - a call of a formula as data.
"""`Call`: all of a call but its arrays, hashable, and as text.

It is the one parameter of the primitive: programs are the same where it is,
and the text is what a compiled program says to the library.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote_plus

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Call", "call_of"]


class _Said(NamedTuple):
    """What is said of a call: two are the same where this is.

    `axes`: those that `Vi`, `Vj` or `Pm` declared of each argument, -1 where
    none were; `batch`: how many leading dimensions of each are a batch's;
    `ranges`: the batch of the lists of ranges that follow the arguments.
    """

    formula: str
    steps: tuple[tuple[int, tuple[str, ...], str, bool], ...]
    names: tuple[str, ...]
    axes: tuple[int, ...]
    batch: int
    options: tuple[tuple[str, Any], ...]
    ranges: tuple[int, ...] | None
    backend: str


class Call:
    """A call, but for its arrays; one object for the same one, mostly."""

    def __init__(self, said: _Said) -> None:
        self.said = said
        self.names = said.names
        self.batch = said.batch
        self._hash = hash(said)
        self._derived: dict[tuple[Any, ...], Call] = {}

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Call) and self.said == other.said

    def __repr__(self) -> str:
        return f"<{self.formula!r}>"

    @functools.cached_property
    def formula(self) -> _core.Formula:
        """The formula, differentiated."""
        return formula_of(self.said.formula, self.said.steps)

    @functools.cached_property
    def text(self) -> str:
        """What python_bindings/ffi/call_text.h reads."""
        said = self.said
        parts = {
            "formula": said.formula,
            "names": ",".join(said.names),
            "batch": str(said.batch),
        }
        if said.steps:
            parts["steps"] = ";".join(map(_step_text, said.steps))
        if any(axes >= 0 for axes in said.axes):
            parts["axes"] = ",".join(map(str, said.axes))
        if said.ranges is not None:
            parts["ranges"] = ",".join(map(str, said.ranges))
        parts.update((name, str(value)) for name, value in said.options)
        return "&".join(
            f"{key}={quote_plus(value.encode('utf-8', 'surrogatepass'))}"
            for key, value in parts.items()
        )

    def axes(self, k: int) -> int:
        """The bits of the axes that an argument is on: 1 i, 2 j."""
        declared = self.said.axes[k]
        if declared >= 0:
            return declared
        return int(self.formula._axes_of(self.names[k])[1])

    @functools.cached_property
    def likes(self) -> tuple[str, ...]:
        """Of each result the argument whose shape it has, or ""."""
        return tuple(self.formula._results)

    @functools.cached_property
    def seeds(self) -> dict[str, str]:
        """Of each cotangent and tangent what it is like; "": the result."""
        return dict(self.formula._seeds)

    @functools.cached_property
    def moves(self) -> dict[str, str]:
        """Of each argument that moves in the last step, its tangent."""
        if not self.said.steps or self.said.steps[-1][0] != _FORWARD:
            return {}
        before = self._with(steps=self.said.steps[:-1]).seeds
        return {
            argument: seed
            for seed, argument in self.seeds.items()
            if seed not in before
        }

    def gradient(self, names: Sequence[str], axes: Sequence[int]) -> Call:
        """The gradients by some arguments.

        Takes a cotangent of each result behind the arguments; `axes`: those of
        the results.
        """
        if all(declared < 0 for declared in self.said.axes):
            axes = [-1] * len(axes)  # subscripts say them
        return self._derive(tuple(names), True, tuple(axes))

    def tangent(self, names: Sequence[str]) -> Call:
        """The derivative where some arguments move; takes their tangents."""
        return self._derive(tuple(names), False)

    def base(self) -> Call:
        """The call before its last step, which takes no tangents of it."""
        tangents = set(self.moves.values())
        kept = [k for k, n in enumerate(self.names) if n not in tangents]
        return self._with(
            steps=self.said.steps[:-1],
            names=tuple(self.names[k] for k in kept),
            axes=tuple(self.said.axes[k] for k in kept),
        )

    def of_formula(self, places: Sequence[int]) -> Call:
        """The call before all steps, of some of the arguments."""
        return self._with(
            steps=(),
            names=tuple(self.names[k] for k in places),
            axes=tuple(self.said.axes[k] for k in places),
        )

    def in_batch(self, ranges: tuple[int, ...] | None) -> Call:
        """The same, where one more leading dimension is a batch's."""
        return self._with(batch=self.batch + 1, ranges=ranges)

    def without_batch(self) -> Call:
        """The same of one of a batch."""
        return self._with(batch=0)

    def _with(self, **changes: Any) -> Call:
        return interned(self.said._replace(**changes))

    def _derive(
        self,
        names: tuple[str, ...],
        is_gradient: bool,
        axes: tuple[int, ...] = (),
    ) -> Call:
        key = (names, is_gradient, axes)
        if key not in self._derived:
            formula, seeds = self.formula._derive(list(names), is_gradient)
            if not is_gradient:
                like = dict(formula._seeds)
                axes = tuple(
                    self.said.axes[self.names.index(like[seed])]
                    for seed in seeds
                )
            self._derived[key] = self._with(
                steps=steps_of(formula),
                names=(*self.names, *seeds),
                axes=(*self.said.axes, *axes),
            )
        return self._derived[key]


_FORWARD = 1  # DerivationStep::Kind


def steps_of(
    formula: _core.Formula,
) -> tuple[tuple[int, tuple[str, ...], str, bool], ...]:
    """The steps by which a formula was differentiated."""
    return tuple(
        (kind, tuple(names), seed, keeps)
        for kind, names, seed, keeps in formula.__reduce__()[1][1]
    )


def _step_text(step: tuple[int, tuple[str, ...], str, bool]) -> str:
    kind, names, seed, keeps_values = step
    return f"{kind}:{seed}:{int(keeps_values)}:{','.join(names)}"


@functools.lru_cache(maxsize=4096)
def formula_of(text: str, steps: tuple[Any, ...]) -> _core.Formula:
    """A formula by its text and its derivation."""
    return _core.Formula(
        text,
        [
            (kind, list(names), seed, keeps)
            for kind, names, seed, keeps in steps
        ],
    )


@functools.lru_cache(maxsize=4096)
def interned(said: _Said) -> Call:
    """The call that is said."""
    return Call(said)


def call_of(
    formula: _core.Formula,
    names: Sequence[str],
    axes: Sequence[int],
    batch: int,
    options: tuple[tuple[str, Any], ...] = (),
    ranges: tuple[int, ...] | None = None,
    backend: str = "",
) -> Call:
    """The call of a formula; `backend` is "tiled" for one in jax.numpy."""
    return interned(
        _Said(
            formula.text,
            steps_of(formula),
            tuple(names),
            tuple(axes),
            batch,
            options,
            ranges,
            backend,
        )
    )
