# python_bindings/tilefold/dask_calls.py - calls of formulas over Dask's arrays.
"""`results_of`: a formula that reduces once, pass after pass, or never.

Every pass computes the arrays anew, when what it reads of earlier passes is
there: no chunk is held until the last pass has read it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.graph_manipulation import bind

from tilefold import _core
from tilefold.dask_plan import FIRST, Plan, described, mapped, zeros_like
from tilefold.namespaces import complex_of
from tilefold.result_types import axes_of
from tilefold.roles import Role
from tilefold.steps import steps_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold.reduction import Reduction
    from tilefold.steps import Argument, Like, Result, Step

__all__ = ["results_of"]

_AXES = ("", "i", "j")


def results_of(
    reduction: Reduction,
    given: Mapping[str, Any],
    split_every: int | None = None,
    batch_rank: int | None = None,
) -> Any:
    """The results, lazy: an array, or a tuple of several."""
    if split_every is not None and (
        type(split_every) is not int or split_every < 2
    ):
        cure = "pass how many states are merged at a time: a number from 2 on"
        _core.fail("BadOption", "split_every", repr(split_every), cure)
    formula = reduction.formula
    given = _without_settings(given)
    axes = {
        name: axes_of(formula, name, value) for name, value in given.items()
    }
    arrays = {
        name: described(name, value, axes[name], batch_rank or 0)
        for name, value in given.items()
    }
    settings = {} if batch_rank is None else {"batch_rank": batch_rank}
    made_up = _as_given(zeros_like(arrays), given)
    chosen = reduction.ranges is not None
    pairs = {"ranges": reduction.ranges} if chosen else {}
    formula._check_call(made_up, {**settings, **pairs})
    program = formula._program(made_up, settings, chosen)
    is_one = len(program["sweeps"]) == len(program["results"]) == 1
    if is_one and 3 not in axes.values() and _reduces(program["sweeps"][0]):
        own = {name: _AXES[bits] for name, bits in axes.items()}
        plan = Plan(reduction, arrays, own, split_every, settings)
        if plan.keeps_its_points:
            return plan.result()
    if batch_rank is not None:
        made_up["batch_rank"] = batch_rank
    steps, results = steps_of(formula, made_up, chosen)
    return _Several(reduction, arrays, axes, split_every).run(steps, results)


def _without_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments alone; settings of one call in one memory are refused."""
    arguments = dict(given)
    for name in ("session", "sum_batch", "out", "accumulate"):
        if arguments.pop(name, None) is not None:
            _core.fail(
                "BadOption",
                name,
                "given to a call over Dask's arrays",
                "leave it out; options= are those of all tasks",
            )
    return arguments


def _as_given(made_up: dict[str, Any], given: Mapping[str, Any]) -> Any:
    """Arrays without memory, declared on axes as those given are."""
    return {
        name: Role(made_up[name], value.axes)
        if isinstance(value, Role)
        else made_up[name]
        for name, value in given.items()
    }


def _reduces(sweep: Mapping[str, Any]) -> bool:
    return any(node[0] == "reduce" for node in sweep["nodes"])


class _Several:
    """A call of several passes: what they left, and the arrays to read."""

    def __init__(
        self,
        reduction: Reduction,
        given: Mapping[str, Any],
        axes: Mapping[str, int],
        split_every: int | None,
    ) -> None:
        self.reduction = reduction
        self.split_every = split_every
        self.given = dict(given)
        self.axes = axes
        self.left: dict[str, Any] = {}
        for bits, axis in ((1, "i"), (2, "j")):
            lengths = [
                given[name].shape[0] for name in given if axes[name] & bits
            ]
            if lengths:
                self.given[f"#{axis}"] = float(lengths[0])
        self.given |= {"@i": FIRST, "@j": FIRST}

    def run(
        self,
        steps: list[Step],
        results: list[Result],
    ) -> Any:
        """The results, after all steps."""
        last: list[Any] = []  # what the pass before left
        for step in steps:
            axes = {name: a.axis for name, a in step.arguments.items()}
            own = {
                name: self._argument(argument, last if step.reduces else [])
                for name, argument in step.arguments.items()
            }
            if step.reduces:
                by = self.reduction._of_text(step.text, step.is_chosen)
                found = Plan(by, own, axes, self.split_every, {}).result()
            else:
                formula = _core.compile(step.text)
                found = mapped(formula, own, axes, self.reduction.options)
            left = {leaf.name: leaf.of(found) for leaf in step.leaves}
            self.left |= left
            if step.reduces:
                last = [found]
        joined: list[Any] = []
        for name, dtype, is_imaginary, like in results:
            value = self.left[name]
            if is_imaginary:
                real = joined.pop()
                kind = np.result_type(real.dtype, np.complex64)
                value = da.map_blocks(complex_of, real, value, dtype=kind)
            else:
                value = value.astype(dtype)
            joined.append(self._as_argument(value, like) if like else value)
        return joined[0] if len(joined) == 1 else tuple(joined)

    def _as_argument(self, value: da.Array, like: Like) -> da.Array:
        """A gradient in the shape, and in the chunks, of its argument."""
        argument = self.given[like.name]
        shape = np.shape(argument)
        if value.size == math.prod(shape):
            return value.reshape(shape) if value.shape != shape else value
        chunks = argument.chunks if isinstance(argument, da.Array) else -1
        return da.broadcast_to(value, shape, chunks=chunks)

    def _numbers(self, axis: str) -> da.Array:
        """Those of the points of an axis, in the chunks of an array on it."""
        bit = _AXES.index(axis)
        arrays = [self.given[n] for n, bits in self.axes.items() if bits & bit]
        own = (a.chunks[0] for a in arrays if isinstance(a, da.Array))
        chunks = next(own, -1)
        return da.arange(arrays[0].shape[0], chunks=(chunks,), dtype=np.int64)

    def _argument(self, argument: Argument, after: list[Any]) -> Any:
        """An argument of a step; of an array of the call's, after others."""
        if argument.source in self.left or argument.source[0] == "%":
            value = (
                self._numbers(argument.axis)
                if argument.source[0] == "%"
                else self.left[argument.source]
            )
            if argument.part:
                dtype = ("uint16", "uint16", "int16")[int(argument.part)]
                return da.map_blocks(argument.of, value, dtype=dtype)
            return argument.of(value)
        value = argument.of(self.given[argument.source])
        if after and isinstance(value, da.Array):
            return bind(value, after, seed=(value.name, after[0].name))
        return value
