# python_bindings/tilefold/pair_term.py - a formula without a reduction, and the
# arrays it is given.
"""What a lazy matrix and its transpose share: `PairTerm`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.frameworks import (
    Framework,
    holding,
    is_read_by_dynamo,
    leave_graph,
    recording,
    unrecorded,
    with_few_points,
)
from tilefold.namespaces import complex_of, namespace_of, of_library
from tilefold.roles import Role
from tilefold.slices import of_batch, of_every_batch, selected

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

# The bits of an axis, as formulas spell them.
_AXES = {1: "i", 2: "j", 3: "ij"}


class PairTerm:
    """What a kernel and its transpose share."""

    def __init__(
        self,
        formula: _core.Formula,
        arguments: dict[str, Any],
        settings: dict[str, Any],
    ) -> None:
        self.formula: _core.Formula = formula
        self.arguments: dict[str, Any] = arguments
        self.settings: dict[str, Any] = settings
        self.batch: tuple[int, ...]
        self.dtype: str
        seen, points = with_few_points(formula, arguments, settings)
        with _looking_at(seen):
            self.batch, rows, columns, components, self.dtype = (
                formula._value_shape(seen, settings)
            )
        # Symbols where torch.compile reads what is computed of any sizes.
        self.points: tuple[int, int] = points or (max(rows, 0), max(columns, 0))
        self.components: int | None = components if components >= 0 else None
        self.derived: dict[tuple[Any, ...], _core.Formula] = {}

    @classmethod
    def sized(
        cls,
        formula: _core.Formula,
        arguments: dict[str, Any],
        settings: dict[str, Any],
    ) -> PairTerm:
        """One whose N, M and D are those of its matrix, not of its parts."""
        pair = cls(formula, arguments, settings)
        if any(type(v) is Role and v.axes for v in arguments.values()):
            formula, arguments = pair._subscripted()
            pair = cls(formula, arguments, settings)
        seen, _ = with_few_points(formula, arguments, settings)
        with _looking_at(seen):
            points, text = formula._own_sizes(seen, settings)
        if not points and not text:
            return pair
        own = dict(zip("NM", pair.points, strict=True))
        arguments = {**arguments, **{name: own[name] for name in points}}
        return cls(
            pair.compiled(text) if text else formula, arguments, settings
        )

    def _subscripted(self) -> tuple[_core.Formula, dict[str, Any]]:
        """The formula with subscripts for what `Vi` and `Vj` have declared.

        Axes that are said beside the text would not follow where it is
        transposed, or joined with another.
        """
        declared = {
            name: value.axes
            for name, value in self.arguments.items()
            if type(value) is Role
        }
        arguments = {
            name: value.value if declared.get(name) else value
            for name, value in self.arguments.items()
        }
        return self.compiled(self.formula._with_axes(declared)), arguments

    @property
    def shape(self) -> tuple[int, ...]:
        """Batches, rows, columns, and components where there are some."""
        ends = () if self.components is None else (self.components,)
        return (*self.batch, *self.points, *ends)

    def __reduce__(self) -> Any:
        return PairTerm, (self.formula, self.arguments, self.settings)

    @property
    def is_complex(self) -> bool:
        """Whether its values are complex."""
        return self.dtype.startswith("complex")

    def of_every_batch(self, vectors: Any) -> Any:
        """A matrix (M, E) that meets all batches, as in NumPy.

        As an argument it could be a batch of numbers as well.
        """
        if not self.batch or np.ndim(vectors) != 2:
            return vectors
        if not hasattr(vectors, "shape"):
            vectors = np.asarray(vectors)
        return vectors[None]

    def around(
        self,
        reduction: str,
        axes: int,
        count: int | None = None,
        weights: str = "",
        apart: bool = False,
        level: str = "",
    ) -> _core.Formula:
        """The formula of a reduction of the pair term.

        `weights` names an argument on the axis: a factor, or, `apart`, the
        second operand of the reduction. `level` names one on no axis.
        """
        key = (reduction, axes, count, weights, apart, level)
        if is_read_by_dynamo():
            _leave_graph()
        if key not in self.derived:
            on = _AXES[axes]
            text = f"{reduction}_{on}(operand"
            if weights:
                text += f"{', ' if apart else '*'}{weights}_{on}"
            last = level if count is None else str(count)
            text += f", {last})" if last else ")"
            self.derived[key] = self.inside(text)
        return self.derived[key]

    def best(self, count: int, axes: int) -> _core.Formula:
        """The formula of the `count` smallest values, then where they are."""
        key = ("best", axes, count, "", False, "")
        if key not in self.derived:
            on = _AXES[axes]
            lists = (f"{f}_{on}(operand, {count})" for f in ("kmin", "argkmin"))
            self.derived[key] = self.inside(f"[{', '.join(lists)}]")
        return self.derived[key]

    def inside(self, text: str) -> _core.Formula:
        """The formula in which the name `operand` stands for the pair term."""
        skeleton = self.compiled(text)
        operands: list[tuple[str, _core.Formula, dict[str, str]]] = [
            ("operand", self.formula, {})
        ]
        return self.compiled(skeleton._substitute(operands))

    def elements(self, query: str, i: Any = None, j: Any = None) -> Any:
        """As `evaluate`, recorded by a framework that records."""
        if is_read_by_dynamo():
            _leave_graph()
        if framework := recording(self.arguments.values()):
            return framework.elements(self, query, i, j)
        return self.evaluate(query, i, j)

    def evaluate(self, query: str, i: Any = None, j: Any = None) -> Any:
        """The pair term itself: "diag", "pairs" or "dense"."""
        rest = (self.arguments, query, i, j, self.settings)
        if not self.is_complex:
            return self.formula._evaluate(*rest)
        real, imaginary = (
            part.formula._evaluate(*rest) for part in self.parts()
        )
        return complex_of(real, imaginary)

    def parts(self) -> tuple[PairTerm, PairTerm]:
        """The real and the imaginary part of a complex pair term."""
        real, imaginary = (
            PairTerm(
                self.inside(f"{part}(operand)"), self.arguments, self.settings
            )
            for part in ("real", "imag")
        )
        return real, imaginary

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

    def selected(self, axis: int, index: Any) -> PairTerm:
        """The pair term on some points of an axis; None: on all."""
        if index is None:
            return self
        if self.settings.get("ranges") is not None:
            _core.fail("RangesOfElements")
        arguments = self._apart_from_batches()
        text, arguments = selected(self.formula, arguments, axis, index)
        return PairTerm(self.compiled(text), arguments, self.settings)

    def of_batch(self, parts: Sequence[Any]) -> PairTerm:
        """The pair term in some batches: an index for each dimension."""
        if self.settings.get("ranges") is not None:
            _core.fail("RangesOfElements")
        arguments = {
            name: of_batch(value, parts, self.batch)
            for name, value in self._apart_from_batches().items()
        }
        return PairTerm(self.formula, arguments, self.settings)

    def _apart_from_batches(self) -> dict[str, Any]:
        """The arguments, so that none can be taken for a batch of numbers."""
        if not self.batch:
            return self.arguments
        return of_every_batch(self.formula, self.arguments)

    def diagonal(self) -> Any:
        """The pair term at (k, k)."""
        if not recording(self.arguments.values()):
            return self.evaluate("diag")
        formula = self.compiled(self.formula._diagonal())
        return formula(self.arguments, **self.settings)

    def framework(self) -> Framework | None:
        """The framework that an argument is a tensor of; else None."""
        return holding(self.arguments.values())

    def library_dtype(self) -> Any:
        """Of the values: NumPy's dtype, or a framework's where it is met."""
        if framework := self.framework():
            return framework.dtype(self.dtype)
        if self.dtype == "bfloat16":
            import ml_dtypes  # which has made the arrays

            return np.dtype(ml_dtypes.bfloat16)
        array = of_library(self.arguments.values())
        if array is None or isinstance(array.dtype, np.dtype):
            return np.dtype(self.dtype)
        return getattr(namespace_of(array), self.dtype)

    def item_size(self) -> int:
        """Bytes of an element."""
        bits = self.dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
        return int(bits) // 8 if bits else 1


def _leave_graph() -> None:
    leave_graph(
        "a kernel from outside is computed with where torch.compile reads",
        "make the kernel in the function, of the tensors it is given",
    )


def _looking_at(arguments: dict[str, Any]) -> AbstractContextManager[Any]:
    """Where nothing is recorded, if there are tensors to be recorded.

    An export would have an operation for it in its graph.
    """
    return (
        nullcontext() if holding(arguments.values()) is None else unrecorded()
    )
