# python_bindings/tilefold/solve.py - what `Kernel.solve` gives back.
"""Linear systems with kernels, as `Kernel.solve` hands them over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilefold import _core
from tilefold.roles import detached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilefold.kernel_matrix import Kernel

__all__ = ["LogdetInfo", "SolveInfo"]


class SolveInfo(NamedTuple):
    """How a solve went, from ``Kernel.solve(..., info=True)``.

    Attributes
    ----------
    iterations : int
        Products with the matrix, of all columns together.
    residuals : array of float64
        ``|b - (K + ridge) x| / |b|`` of each column, shape (E,), or () for a
        vector b; recomputed from x in double precision.
    converged : bool
        Whether all residuals are at most rtol.
    rank : int
        Of the preconditioner; 0 without one.

    See Also
    --------
    tilefold.Kernel.solve

    Examples
    --------
    >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=np.linspace(0, 1, 9))
    >>> x, info = K.solve(np.ones(9), info=True)
    >>> info.converged
    True
    """

    iterations: int
    residuals: np.ndarray[Any, np.dtype[np.float64]]
    converged: bool
    rank: int


SolveInfo.iterations.__doc__ = "Products with the matrix."
SolveInfo.residuals.__doc__ = "``|b - (K + ridge) x| / |b|`` of each column."
SolveInfo.converged.__doc__ = "Whether all residuals are at most rtol."
SolveInfo.rank.__doc__ = "Of the preconditioner; 0 without one."


class LogdetInfo(NamedTuple):
    """How a log determinant was found, from ``Kernel.logdet(..., info=True)``.

    Attributes
    ----------
    error : float
        The standard error of the estimate, of the probes and of what the
        quadrature leaves; 0 where the matrix was factored.
    probes : int
        Random vectors; 0 where the matrix was factored.
    steps : int
        Of Lanczos' method; 0 where the matrix was factored.
    rank : int
        Of the preconditioner; 0 without one.

    See Also
    --------
    tilefold.Kernel.logdet, tilefold.Kernel.inv_quad_logdet

    Examples
    --------
    >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=np.linspace(0, 1, 9))
    >>> value, info = K.logdet(info=True)
    >>> info.exact, info.error
    (True, 0.0)
    """

    error: float
    probes: int
    steps: int
    rank: int

    @property
    def exact(self) -> bool:
        """Whether the matrix was factored: exact to rounding."""
        return self.steps == 0


LogdetInfo.error.__doc__ = "The standard error of the estimate."
LogdetInfo.probes.__doc__ = "Random vectors; 0 where it was factored."
LogdetInfo.steps.__doc__ = "Of Lanczos' method; 0 where it was factored."
LogdetInfo.rank.__doc__ = "Of the preconditioner; 0 without one."


def solve(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, SolveInfo, str]:
    """The solution, how it went, and what to warn of."""
    formulas, arguments, name = _system(kernel)
    x, iterations, residuals, converged, rank, warning = _core._solve(
        *formulas,
        {**arguments, name: side},
        name,
        kernel._pair.settings,
        {"ridge": detached(ridge), **options},
    )
    shape = () if x.ndim == 1 else (-1,)
    found = np.array(residuals).reshape(shape)
    return x, SolveInfo(iterations, found, converged, rank), warning


def log_determinant(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[float, list[float] | None, LogdetInfo, str]:
    """The value, bᴴ A⁻¹ b by columns, how it went, and what to warn of.

    The second is None unless the matrix was factored.
    """
    formulas, arguments, name = _system(kernel)
    if side is not None:
        arguments = {**arguments, name: side}
    value, error, probes, steps, rank, quadratics, warning = (
        _core._log_determinant(
            *formulas,
            arguments,
            name,
            kernel._pair.settings,
            {"ridge": detached(ridge), **options},
        )
    )
    is_exact = quadratics is not None
    info = LogdetInfo(error, 0 if is_exact else probes, steps, rank)
    return value, quadratics, info, warning


def inv_quad_logdet(
    kernel: Kernel,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> tuple[Any, Any, LogdetInfo | None, str]:
    """bᵀ A⁻¹ b by columns, log det A, how that went, and what to warn of."""
    value, quadratics, info, warning = 0.0, None, None, ""
    if options is not None:
        value, quadratics, info, warning = log_determinant(
            kernel, side, ridge, options
        )
    columns: Any = np.zeros(())
    if side is not None and quadratics is not None:
        columns = np.array(quadratics).reshape(() if np.ndim(side) < 2 else -1)
    elif side is not None:
        x, _, told = solve(kernel, side, ridge, solving)
        if not hasattr(side, "conj"):
            side = np.asarray(side)
        columns = (detached(side).conj() * x).sum(0).real
        warning = warning or told
    return (
        _like(kernel, columns), _like(kernel, np.float64(value)), info, warning
    )  # fmt: skip


def require_system(kernel: Kernel, sides: Sequence[Any] = ()) -> None:
    """Fails as a system does, of whose arrays only the shapes are known."""
    shape = kernel.shape
    if kernel._pair.components is not None:
        _core.fail("SolveVectors", shape)
    if len(shape) > 2:
        _core.fail("SolveBatches", shape)
    if shape[0] != shape[1]:
        _core.fail("SolveNotSquare", shape)
    if kernel._pair.settings.get("ranges") is not None:
        _core.fail("RangesOfElements")
    for side in sides:
        given = tuple(side.shape if hasattr(side, "shape") else np.shape(side))
        if len(given) not in (1, 2) or given[0] != shape[0]:
            _core.fail("SolveSide", given, shape[0])


def require_counts(options: dict[str, Any], **least: int) -> None:
    """Refuses a setting below what it must at least be; None is its default."""
    for name, bound in least.items():
        if options.get(name) is not None and options[name] < bound:
            _core.fail(
                "BadOption",
                name,
                repr(options[name]),
                f"pass a whole number, {bound} or above",
            )


def _system(
    kernel: Kernel,
) -> tuple[tuple[Any, Any, Any], dict[str, Any], str]:
    """Formulas of K b, of K and of its imaginary parts; arguments; b's name."""
    pair = kernel._pair
    name = pair.formula._unused_name()
    if not pair.is_complex:
        product = pair.around("sum", kernel._columns, weights=name)
        return (product, pair.formula, None), pair.arguments, name
    upright = kernel._upright()  # the transpose of a Hermitian one is another
    real, imaginary = upright.parts()
    product = upright.around("sum", 2, weights=name)
    formulas = (product, real.formula, imaginary.formula)
    return formulas, upright.arguments, name


def _like(kernel: Kernel, value: Any) -> Any:
    """Numbers as the library of the kernel's arrays has them."""
    framework = kernel._pair.framework()
    if framework is None:
        return value[()]
    return framework.real_numbers(value, kernel._pair.library_dtype())
