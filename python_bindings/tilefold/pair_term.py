# python_bindings/tilefold/pair_term.py - a formula without a reduction, and the
# arrays it is given.
"""What a lazy matrix and its transpose share: `PairTerm`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from tilefold import _core
from tilefold.errors import Error
from tilefold.slices import is_integer, selected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager


class Term(NamedTuple):
    """A number or a diagonal that a kernel is combined with."""

    formula: _core.Formula
    arguments: dict[str, Any]


class PairTerm:
    """What a kernel and its transpose share."""

    def __init__(
        self,
        formula: _core.Formula,
        arguments: dict[str, Any],
        settings: dict[str, Any],
    ) -> None:
        self.formula = formula
        self.arguments = arguments
        self.settings = settings
        with unrecorded():
            self.shape = formula._kernel_shape(arguments, settings)
        self.derived: dict[tuple[str, int, int, str], _core.Formula] = {}

    def __reduce__(self) -> Any:
        return PairTerm, (self.formula, self.arguments, self.settings)

    def around(
        self, reduction: str, axes: int, count: int = 0, weights: str = ""
    ) -> _core.Formula:
        """The formula of a reduction of the pair term."""
        key = (reduction, axes, count, weights)
        if key not in self.derived:
            self.derived[key] = self.compiled(self.formula._derive(*key))
        return self.derived[key]

    def evaluate(self, want: str, i: Any = None, j: Any = None) -> Any:
        """The pair term itself: "diag", "pairs" or "dense"."""
        rest = (self.arguments, want, i, j, self.settings)
        try:
            return self.formula._evaluate(*rest)
        except Error as error:
            if error.code != "ComplexResult":
                raise
        real, imaginary = (
            self.compiled(self.formula._applied(part))._evaluate(*rest)
            for part in ("real", "imag")
        )
        return real + 1j * imaginary

    def compiled(self, text: str) -> _core.Formula:
        """A formula in the kernel's session."""
        return _core.compile(text, session=self.settings.get("session"))

    def transposed(self) -> PairTerm:
        """The pair term with i and j exchanged."""
        formula = self.compiled(self.formula._transpose())
        settings = dict(self.settings)
        if "ranges" in settings:
            settings["ranges"] = settings["ranges"].T
        return PairTerm(formula, self.arguments, settings)

    def combined(
        self,
        operation: str,
        other: PairTerm | Term,
        reflected: bool = False,
    ) -> PairTerm:
        """Both pair terms in one; equal arrays under one name stay one.

        `reflected`: the other is the first operand.
        """
        arguments = dict(self.arguments)
        renamed = {}
        for name, value in other.arguments.items():
            free, number = name, 2
            while free in arguments and arguments[free] is not value:
                free, number = f"{name}{number}", number + 1
            arguments[free] = value
            if free != name:
                renamed[name] = free
        text = self.formula._combine(
            other.formula, operation, renamed, reflected
        )
        return PairTerm(self.compiled(text), arguments, self.settings)

    def with_term(self, text: str, arguments: dict[str, Any]) -> Term:
        """A term to combine with, in the kernel's session."""
        return Term(self.compiled(text), arguments)

    def selected(self, axis: int, index: Any) -> PairTerm:
        """The pair term on some points of an axis; None: on all."""
        if index is None:
            return self
        if self.settings.get("ranges") is not None:
            _core.fail("RangesOfElements")
        text, arguments = selected(self.formula, self.arguments, axis, index)
        return PairTerm(self.compiled(text), arguments, self.settings)

    def diagonal(self) -> Any:
        """The pair term at (k, k)."""
        if not any_requires_grad(self.arguments.values()):
            return self.evaluate("diag")
        formula = self.compiled(self.formula._diagonal())
        return formula(self.arguments, **self.settings)

    def item_size(self) -> int:
        """Bytes of an element, as far as the arrays say."""
        sizes = [
            value.dtype.itemsize
            for value in self.arguments.values()
            if getattr(value, "ndim", None)
        ]
        return max(sizes, default=8)


def unused(name: str, arguments: Mapping[str, Any]) -> str:
    """`name`, or the first of name2, name3 … that no argument has."""
    free, number = name, 2
    while free in arguments:
        free, number = f"{name}{number}", number + 1
    return free


def spelled(
    value: Any, arguments: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """A number as a term: whole ones as typed, others as parameters."""
    if is_integer(value) and abs(int(value)) <= 64:
        return str(int(value)), {}
    name = unused("s", arguments)
    return name, {name: value}


def unrecorded() -> AbstractContextManager[Any]:
    """Where tensors that require grad are only looked at."""
    torch = sys.modules.get("torch")
    return torch.no_grad() if torch else nullcontext()


def any_requires_grad(values: Iterable[Any]) -> bool:
    """Whether PyTorch records what is computed of the values."""
    torch = sys.modules.get("torch")
    return (
        torch is not None
        and torch.is_grad_enabled()
        and any(
            getattr(getattr(value, "value", value), "requires_grad", False)
            for value in values
        )
    )
