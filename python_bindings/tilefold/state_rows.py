# python_bindings/tilefold/state_rows.py - the rows of states.
"""States side by side, of another stride, and as one state of all points."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tilefold.states import StateKind

__all__ = ["as_kind", "in_order", "whole"]


def as_kind(state: State, kind: StateKind) -> State:
    """The state as one of another plan, whose rows may lie apart otherwise.

    Raises ArgumentError unless both are of one monoid.
    """
    own = state.kind
    if own == kind:
        return state
    if (own.monoid, own.slots) != (kind.monoid, kind.slots):
        _core.fail(
            "BadOption",
            "state",
            "one of another formula, other types of arguments, another "
            "segment or version of tilefold",
            "merge states of one formula: mixed=True is for those of other "
            "plans and machines",
        )
    same = replace(own, fingerprint=kind.fingerprint, stride=kind.stride)
    return State(
        same,
        {node: _wide(s, own, kind) for node, s in state.nodes.items()},
        {part: _wide(s, own, kind) for part, s in state.fragments.items()},
    )


def _wide(states: Any, own: StateKind, kind: StateKind) -> Any:
    """An array of another stride."""
    found = np.zeros((*states.shape[:2], kind.stride))
    found[..., : own.rows] = states[..., : own.rows]
    return found


def in_order(
    states: Iterable[State], stride_of: Callable[[StateKind], int]
) -> State:
    """The rows of all states, which follow one another; of one or more.

    `stride_of` gives the stride that states of a kind have.
    """
    joined, *others = sorted(states, key=lambda state: state.kind.first_row)
    for later in others:
        _require_next(joined, later)
        one = joined.kind
        kind = one.of_rows(one.first_row, one.rows + later.kind.rows)
        joined = _beside(joined, later, kind.of_stride(stride_of(kind)))
    return joined


def _beside(state: State, later: State, kind: StateKind) -> State:
    """The rows of both, as a state of this kind."""
    rows, more = state.kind.rows, later.kind.rows

    def both(states: Any, others: Any) -> dict[Any, Any]:
        found = {}
        for node, given in states.items():
            array = np.zeros((*given.shape[:2], kind.stride))
            array[..., :rows] = given[..., :rows]
            array[..., rows : rows + more] = others[node][..., :more]
            found[node] = array
        return found

    return State(
        kind,
        both(state.nodes, later.nodes),
        both(state.fragments, later.fragments),
    )


def _require_next(state: State, later: State) -> None:
    """Raises ArgumentError unless the rows of one follow those of the other."""
    one, other = state.kind, later.kind
    if one.first_row + one.rows != other.first_row:
        _core.fail(
            "BadOption",
            "states",
            f"rows up to {one.first_row + one.rows}, then rows from "
            f"{other.first_row}",
            "pass the states of rows that follow one another",
        )
    if one.of_rows(0, 0) != other.of_rows(0, 0) or (
        state.nodes.keys() != later.nodes.keys()
        or state.fragments.keys() != later.fragments.keys()
    ):
        _core.fail(
            "BadOption",
            "states",
            "states of different points",
            "merge the states of all points of each rows first",
        )


def whole(state: State, call: _core.PartialCall) -> Any:
    """The one state of all points: nodes joined from the right."""
    kind = state.kind
    layout = call.layout
    if layout["rows"] != kind.rows:
        _core.fail(
            "BadOption",
            "state",
            f"one of {kind.rows} rows, beside arrays of {layout['rows']}",
            "pass the arrays of the state's rows",
        )
    if kind.folds and kind.kept and kind.rows != kind.total_rows:
        _core.fail(
            "BadOption",
            "state",
            f"one of {kind.rows} of {kind.total_rows} points of "
            f"{kind.kept}, all of which make the one result",
            "concatenate() the states of all rows first",
        )
    if not state.nodes:
        return call.leave(0, 0)
    order = sorted(state.nodes, key=kind.points)
    joined = state.nodes[order[-1]]
    for node in reversed(order[:-1]):
        states = state.nodes[node].copy()
        call.merge(states, joined)
        joined = states
    return joined
