# python_bindings/tilefold/compat/pykeops/systems.py - solved as kernels.
"""`kernel_system`: systems whose formula is a kernel times the unknown.

Of k(x_i, y_j) b_j, with a number k, the matrix is a `tilefold.kernel`, whose
`solve` has preconditioners; other formulas are left to KeOps's method, which
knows nothing but products.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import tilefold
from tilefold.compat.pykeops.emit import Emitter, children
from tilefold.compat.pykeops.nodes import I, J
from tilefold.solve import solve as solved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilefold.compat.pykeops.nodes import Node

__all__ = ["kernel_system"]


class Factor(NamedTuple):
    """The kernel of a formula: compiled, and (name, number) of its values."""

    formula: Any
    reads: tuple[tuple[str, int], ...]


def kernel_system(
    node: Node, place: int, axis: int
) -> Callable[[Sequence[Any], Any, float], Any] | None:
    """What solves K x + αx = b, given (values, α, eps), b among the values.

    It gives None where it does not converge. None where the formula is no
    kernel times the variable `place`, on the reduced axis.
    """
    key = ("Kernel", axis, place)
    if key not in node.plans:
        node.plans[key] = _factor(node, place, axis)
    factor = node.plans[key]
    if factor is None:
        return None

    def solve(values: Sequence[Any], alpha: Any, eps: float) -> Any:
        return _solution(factor, values, place, alpha, eps)

    return solve


def _factor(node: Node, place: int, axis: int) -> Factor | None:
    if node.operation != "Mult":
        return None
    unknown = node.leaves[place]
    parts = children(node, tuple(range(len(node.leaves))))
    for (kernel, own), (other, number) in (parts, parts[::-1]):
        if (
            other.operation == "Var"
            and number[0] == place
            and unknown.category == axis
            and not node.is_complex
            and kernel.dim == 1
            and place not in own[: len(kernel.leaves)]
        ):
            return _compiled(kernel, own)
    return None


def _compiled(kernel: Node, own: tuple[int, ...]) -> Factor | None:
    emitter = Emitter(kernel)
    text = emitter.real(kernel, tuple(range(len(kernel.leaves))))
    views = any(as_complex for _, as_complex in emitter.reads)
    if emitter.axes != {I, J} or views:
        return None
    formula = tilefold.compile(text + emitter.ending)
    named = {name: own[number] for (number, _), name in emitter.reads.items()}
    reads = tuple((name, named[name]) for name, _ in formula.names)
    return Factor(formula, reads)


_OPTIONS = {
    "maxiter": None,
    "preconditioner": "auto",
    "method": "cg",
    "rank": None,
}


def _solution(
    factor: Factor, values: Sequence[Any], place: int, alpha: Any, eps: float
) -> Any:
    b = _detached(values[place])
    given = {name: _detached(values[k]) for name, k in factor.reads}
    if not _is_plain([b, *given.values()]) or np.size(alpha) != 1:
        return None
    largest = float((b * b).sum(0).max()) ** 0.5 if math.prod(b.shape) else 0.0
    # KeOps ends where |r|² < size(b) eps², of all columns together; nearer
    # than the solution is rounded there is nothing to be had.
    least = eps * len(b) ** 0.5
    if not largest > least:
        return None
    rounding = np.finfo(str(b.dtype).removeprefix("torch.")).eps
    rtol = max(least / largest, 4 * float(rounding))
    kernel = tilefold.kernel(factor.formula, given)
    if kernel.shape != (len(b), len(b)):
        return None
    ridge = float(alpha.item() if hasattr(alpha, "item") else alpha)
    if not ridge >= 0:
        return None
    x, info, _ = solved(kernel, b, ridge, {"rtol": rtol, **_OPTIONS})
    return x if info.converged else None


def _detached(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _is_plain(values: Sequence[Any]) -> bool:
    """Arrays of float32 or float64 in the host's memory, without batches."""
    return all(
        isinstance(value, (int, float))
        or (
            getattr(value, "ndim", 3) <= 2
            and str(value.dtype).removeprefix("torch.")
            in {"float32", "float64"}
            and str(getattr(value, "device", "cpu")) == "cpu"
        )
        for value in values
    )
