# python_bindings/tilefold/reduction_identity.py - which reductions are one.
"""What a `Reduction` is told apart by, and the states that it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.reduction_arguments import digest

if TYPE_CHECKING:
    from tilefold.ranges import Ranges

__all__ = ["ReductionIdentity"]


class ReductionIdentity:
    """Equality, hashes and names of a reduction."""

    __slots__ = ()

    formula: _core.Formula
    segment: int
    options: _core.Options | None
    ranges: Ranges | None

    def _token(self) -> tuple[Any, ...]:
        """What it is told apart by."""
        options = repr(self.options) if self.options else ""
        return (*self._spelled(), self.segment, options, self._pairs())

    def _spelled(self) -> tuple[str, str]:
        """What stands for the formula.

        Its text names what it is differentiated by, but not the cotangent's
        argument, nor whether the formula's own result comes first.
        """
        _, derivation, _ = self.formula.__reduce__()[1]
        return repr(self.formula), repr(derivation)

    def _pairs(self) -> str:
        """What stands for the pairs that are met."""
        return "" if self.ranges is None else self.ranges._digest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReductionIdentity):
            return NotImplemented
        return self._token() == other._token()

    def __hash__(self) -> int:
        return hash(self._token())

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return ("tilefold.Reduction", *self._token())

    def _name(self) -> str:
        """What stands for the formula and the settings of all calls."""
        return digest(self.formula.text, self._token())

    def _monoid(self) -> str:
        """What stands for the formula, segment and pairs, in this version."""
        formula = self._spelled()
        return digest(_core.version, *formula, self.segment, self._pairs())
