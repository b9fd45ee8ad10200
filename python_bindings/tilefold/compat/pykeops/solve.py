# python_bindings/tilefold/compat/pykeops/solve.py - KernelSolve.
"""`GenericKernelSolve`: a linear map given by a formula, inverted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tilefold.compat.pykeops.genred import GenericGenred
from tilefold.compat.pykeops.operations import fail

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GenericKernelSolve"]

_INLINE = re.compile(r"\s*Var\s*\(\s*(\d+)\s*,.*\)\s*")


class GenericKernelSolve:
    """Solves reduction(formula) + alpha x = b for the variable x.

    `formula` is linear in the variable that `varinvalias` names, an alias or
    "Var(i,d,c)", and the map from it is symmetric and positive definite. The
    argument at its place is b; the result has its shape. Solved by conjugate
    gradients until |r|² < size(b)·eps². Raises ValueError; warns where they do
    not converge.
    """

    genred: type[GenericGenred] = GenericGenred

    def __init__(
        self,
        formula: str,
        aliases: Sequence[str],
        varinvalias: str,
        axis: int = 0,
        **options: Any,
    ) -> None:
        options.pop("opt_arg", None)
        self.sum = self.genred(formula, aliases, "Sum", axis, **options)
        self.formula = formula
        self.aliases = self.sum.aliases
        self.axis = axis
        self.reduction_op = "Sum"
        self.varinvalias = varinvalias
        self.varinvpos = self._place(varinvalias)

    def _place(self, varinvalias: str) -> int:
        inline = _INLINE.fullmatch(varinvalias)
        if inline:
            place = int(inline.group(1))
            if place < self.sum.nargs:
                return place
        for alias in self.sum._bound.aliases:
            if alias.name == varinvalias:
                return alias.position
        return fail(f"no alias is named {varinvalias!r}: {self.aliases}")

    def __call__(
        self,
        *args: Any,
        backend: str = "auto",
        device_id: int = -1,
        alpha: Any = 1e-10,
        eps: float = 1e-6,
        ranges: Any = None,
    ) -> Any:
        """The solution for these arrays."""

        def evaluate(values: Sequence[Any]) -> Any:
            return self.sum(
                *values, backend=backend, device_id=device_id, ranges=ranges
            )

        arrays = self.sum.arrays
        values = list(args)
        if len(values) != self.sum.nargs:
            fail(f"{len(values)} arguments for {self.sum.nargs} variables")
        values[self.varinvpos] = arrays.broadcast(
            values[self.varinvpos], evaluate(values).shape
        )
        return arrays.solved(evaluate, self.varinvpos, alpha, eps, values)
