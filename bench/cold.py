# bench/cold.py - a formula to be compiled, and what it is called with.
"""What contenders of first calls need of a problem."""

from __future__ import annotations

from typing import Any, Protocol

from bench.case import Problem


class ColdProblem(Problem, Protocol):
    """A formula and its arguments, of which x is a matrix."""

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        ...

    @property
    def arguments(self) -> dict[str, Any]:
        """As tilefold takes them."""
        ...
