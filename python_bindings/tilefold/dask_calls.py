# python_bindings/tilefold/dask_calls.py - calls of formulas over Dask's arrays.
"""`results_of`: a formula that reduces once, pass after pass, or never.

Every pass computes the arrays anew, when what it reads of earlier passes is
there: no chunk is held until the last pass has read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.graph_manipulation import bind

from tilefold import _core
from tilefold.dask_plan import FIRST, Plan, described, mapped, zeros_like
from tilefold.passes import complex_of, steps_of
from tilefold.roles import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold.passes import Argument, Step
    from tilefold.reduction import Reduction

__all__ = ["results_of"]

_AXES = ("", "i", "j")


def results_of(
    reduction: Reduction,
    given: Mapping[str, Any],
    split_every: int | None = None,
    batch_rank: int | None = None,
) -> Any:
    """The results, lazy: an array, or a tuple of several."""
    formula = reduction.formula
    given = _without_settings(given)
    axes = {
        name: value.axes
        if isinstance(value, Role)
        else formula._axes_of(name)[1]
        for name, value in given.items()
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
        return Plan(reduction, arrays, own, split_every, settings).result()
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
        results: list[tuple[str, str, bool]],
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
        for name, dtype, is_imaginary in results:
            value = self.left[name]
            if is_imaginary:
                kind = np.result_type(joined[-1].dtype, np.complex64)
                joined[-1] = da.map_blocks(
                    complex_of, joined[-1], value, dtype=kind
                )
            else:
                joined.append(value.astype(dtype))
        return joined[0] if len(joined) == 1 else tuple(joined)

    def _argument(self, argument: Argument, after: list[Any]) -> Any:
        """An argument of a step; of an array of the call's, after others."""
        if argument.source in self.left:
            value = self.left[argument.source]
            if argument.part:
                dtype = ("uint16", "uint16", "int16")[int(argument.part)]
                return value.map_blocks(argument.of, dtype=dtype)
            return value
        value = argument.of(self.given[argument.source])
        if after and isinstance(value, da.Array):
            return bind(value, after, seed=(value.name, after[0].name))
        return value
