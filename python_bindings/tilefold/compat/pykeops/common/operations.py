# python_bindings/tilefold/compat/pykeops/common/operations.py - solvers.
"""Conjugate gradients, and how reductions are made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tilefold.compat.pykeops.common.utils import get_tools
from tilefold.compat.pykeops.conjugate_gradients import conjugate_gradients

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ConjugateGradientSolver",
    "KernelLinearSolver",
    "postprocess",
    "preprocess",
]


def ConjugateGradientSolver(  # noqa: N802
    binding: str,
    linop: Callable[[Any], Any],
    b: Any,
    eps: float = 1e-6,
) -> Any:
    """The solution of linop(x) = b, by conjugate gradients from 0.

    `binding`: "numpy" or "torch"; `linop`: a linear map of arrays of b's
    shape, symmetric and positive definite. Stops where |r|² < size(b)·eps²
    (Hestenes & Stiefel, 1952). Where the map is not definite or holds NaN,
    or after ten times as many steps as unknowns, it stops with a
    `tilefold.ConvergenceWarning` and gives the best so far.
    """
    del binding  # arrays of both have what is needed
    return conjugate_gradients(linop, b, eps)


def KernelLinearSolver(*_: Any, **__: Any) -> NoReturn:  # noqa: N802
    """Raises NotImplementedError: a prototype of KeOps for dense kernels."""
    raise NotImplementedError(
        "KernelLinearSolver is not provided: use KernelSolve, "
        "LazyTensor.solve, or tilefold.kernel(…).solve(b, ridge=…), which "
        "has preconditioners"
    )


def preprocess(reduction_op: str, formula2: str | None) -> tuple[str, Any]:
    """KeOps's own reduction behind another, and its second formula."""
    if reduction_op in ("SumSoftMaxWeight", "SoftMax"):
        return "Max_SumShiftExpWeight", f"Concat(IntCst(1),{formula2})"
    if reduction_op == "LogSumExp":
        weighted = "Weight" if formula2 else ""
        return "Max_SumShiftExp" + weighted, formula2
    if reduction_op == "LogSumExpWeight":
        if not formula2:
            raise ValueError(
                "LogSumExpWeight reduction requires a weight formula (given "
                "as formula2 kwarg)"
            )
        return "Max_SumShiftExpWeight", formula2
    return reduction_op, formula2


def postprocess(
    out: Any,
    binding: str,
    reduction_op: str,
    nout: int,  # noqa: ARG001
    opt_arg: int | None,
    dtype: Any,  # noqa: ARG001
) -> Any:
    """What a reduction gives, of the floats (…, V) in which KeOps keeps it.

    Those are (max, Σ) pairs, values beside indices, or K of each.
    """
    tools = get_tools(binding)
    name = reduction_op.replace("_", "")
    if name in {"SumSoftMaxWeight", "SoftMax"}:
        return out[..., 2:] / out[..., 1:2]
    if name == "LogSumExp":
        return out[..., :1] + tools.log(out[..., 1:])
    if name in {"ArgMin", "ArgMax"}:
        return tools.long(out)
    if name in {"MinArgMin", "MaxArgMax"}:
        half = out.shape[-1] // 2
        return out[..., :half], tools.long(out[..., half:])
    if name in {"KMin", "ArgKMin"}:
        rows = tools.view(out, (*out.shape[:-1], opt_arg, -1))
        rows = rows[..., 0] if rows.shape[-1] == 1 else rows
        return tools.long(rows) if name == "ArgKMin" else rows
    if name == "KMinArgKMin":
        pairs = tools.view(out, (*out.shape[:-1], opt_arg, 2, -1))
        both = pairs[..., 0, :], tools.long(pairs[..., 1, :])
        if pairs.shape[-1] == 1:
            return both[0][..., 0], both[1][..., 0]
        return both
    return out
