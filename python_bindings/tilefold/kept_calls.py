# python_bindings/tilefold/kept_calls.py - calls that merge states.
"""The calls of the states that a `Reduction` merged last.

They need no numbers of arguments, only their types, so that one serves all
states of a kind, on any thread.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from tilefold import _core

if TYPE_CHECKING:
    from tilefold.states import StateKind

__all__ = ["KeptCalls", "require_own"]

_MOST = 16


class KeptCalls:
    """Calls by the kind of their states, as many as are worth keeping."""

    __slots__ = ("_calls", "_lock")

    def __init__(self) -> None:
        self._calls: OrderedDict[StateKind, _core.PartialCall] = OrderedDict()
        self._lock = Lock()

    def of(self, kind: StateKind) -> _core.PartialCall | None:
        """The one that is kept of a kind."""
        with self._lock:
            if kind in self._calls:
                self._calls.move_to_end(kind)
            return self._calls.get(kind)

    def keep(self, kind: StateKind, call: _core.PartialCall) -> None:
        """Keeps one, and lets go of those that were asked for long ago."""
        with self._lock:
            self._calls[kind] = call
            while len(self._calls) > _MOST:
                self._calls.popitem(last=False)


def require_own(own: StateKind, kind: StateKind) -> None:
    """Refuses states that another plan, machine or version left."""
    if own.fingerprint != kind.fingerprint:
        _core.fail(
            "BadOption",
            "state",
            "one of another plan, machine or version",
            "pin the code of all machines by "
            'options=tilefold.Options(isa="x86-64-v3"), or merge with '
            "mixed=True, for other last bits",
        )
