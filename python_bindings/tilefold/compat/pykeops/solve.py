# python_bindings/tilefold/compat/pykeops/solve.py - KernelSolve.
"""`GenericKernelSolve`: a linear map given by a formula, inverted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tilefold.compat.pykeops.genred import GenericGenred
from tilefold.compat.pykeops.operations import fail
from tilefold.compat.pykeops.parse import Number
from tilefold.compat.pykeops.systems import kernel_system

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GenericKernelSolve"]

_INLINE = re.compile(r"\s*Var\s*\(\s*(\d+)\s*,.*\)\s*")


class GenericKernelSolve:
    """Solves reduction(formula) + alpha x = b for the variable x.

    `formula` is linear in the variable that `varinvalias` names, an alias or
    "Var(i,d,c)", and the map from it is symmetric and positive definite. The
    argument at its place is b; the result has its shape. Solved by conjugate
    gradients until |r|² < size(b)·eps², with a preconditioner where the formula
    is a kernel times the variable. Raises ValueError; warns where they do not
    converge.
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
        if not isinstance(varinvalias, str):
            fail(f"varinvalias is {varinvalias!r}: expected an alias's name")
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
        b, product = values[self.varinvpos], evaluate(values)
        shape = product.shape
        found = tuple(getattr(b, "shape", ()))
        if found[-2:] != tuple(shape[-2:]):
            fail(
                f"{self.varinvalias} has shape {found}, and the formula gives "
                f"{tuple(shape)}: the operator has to be square"
            )
        if not arrays.is_floating(b):
            b = arrays.cast(b, product.dtype)
        values[self.varinvpos] = arrays.broadcast(b, shape)
        quick = self._quick() if ranges is None else None
        return arrays.solved(
            evaluate, self.varinvpos, alpha, eps, quick, values
        )

    def _quick(self) -> Any:
        """What solves it of the arguments, as a kernel; None otherwise."""
        bound = self.sum._bound
        for k, place in enumerate(bound.variables):
            if place == self.varinvpos and not isinstance(place, Number):
                system = kernel_system(bound.node, k, self.axis)
                if system is None:
                    return None
                return lambda args, alpha, eps: system(
                    bound.values(args), alpha, eps
                )
        return None
