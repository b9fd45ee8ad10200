# python_bindings/tilefold/sklearn/pair_kernels.py - weights of pairs of points.
"""`read_weights`: what `kernel` and `kernel_params` mean beside a bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tilefold import Formula
from tilefold import compile as compiled
from tilefold import kernel as lazy_kernel
from tilefold.errors import Error
from tilefold.sklearn.pair_formula import refuse_complex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold import Kernel, Options

__all__ = ["WeightKernel", "read_weights"]

# Names that a formula may have for the bandwidth.
_BANDWIDTHS = ("h", "l")


class WeightKernel(NamedTuple):
    """A formula of x_i and y_j, and the values of its other names."""

    formula: Formula
    parameters: dict[str, Any]
    points: tuple[str, str] = ("x", "y")

    def matrix(self, x: Any, y: Any, options: Options | None = None) -> Kernel:
        """The lazy (N, M) matrix of points (N, D) and (M, D)."""
        rows, columns = self.points
        arguments = {**self.parameters, rows: x, columns: y}
        made = lazy_kernel(self.formula, arguments, options=options)
        is_one = made.ndim == 3 and made.shape[2] == 1
        return made[..., 0] if is_one else made


def read_weights(
    kernel: str,
    named: Mapping[str, str],
    parameters: Mapping[str, Any] | None,
    bandwidth: float,
    x: Any,
) -> WeightKernel:
    """The kernel that an estimator of the points x (N, D) means.

    `named` has formulas by name; another text is a formula itself, or a name
    of the catalogue. h and l are the bandwidth; of a kernel that is not
    `named`, where `parameters` say no other. Raises `ValueError` for what is
    no formula of two points, values that are missing or not read, a bandwidth
    in `parameters` of a named kernel, and kernels that are no single real
    number.
    """
    unknown = f"the kernel {kernel!r} is neither one of {', '.join(named)} nor "
    try:
        formula = compiled(named.get(kernel, kernel))
    except Error as error:
        raise ValueError(f"{unknown}a formula: {error}") from error
    axes = {name: bits for name, bits in formula.names if bits}
    if not axes and kernel.isidentifier():
        raise ValueError(
            f"{unknown}a formula in x_i and y_j, nor a kernel of the catalogue"
        )
    if axes != {"x": 1, "y": 2} or not formula._is_pair_term:
        raise ValueError(
            f"the kernel {kernel!r} is no formula of the points x_i and y_j; "
            "write it of both and without a reduction, as in "
            "'exp(-|x_i - y_j|²/2h²)'"
        )
    given = {
        formula._axes_of(name)[0]: value
        for name, value in (parameters or {}).items()
    }
    needed = {name for name, _ in formula.names} - {"x", "y"}
    for name in sorted(set(given) - needed):
        raise ValueError(
            f"kernel_params has {name!r}, which the kernel {kernel!r} does "
            "not read; leave it away"
        )
    for name in needed.intersection(_BANDWIDTHS):
        if name in given and kernel in named:  # else it would be two numbers
            raise ValueError(
                f"kernel_params has {name!r}, which the kernel {kernel!r} "
                "takes from bandwidth; leave it away, and pass bandwidth=…"
            )
        given.setdefault(name, float(bandwidth))
    for name in sorted(needed - set(given)):
        raise ValueError(
            f"the kernel {kernel!r} has no value for {name!r}; pass "
            f"kernel_params={{{name!r}: …}}"
        )
    made = WeightKernel(formula, given)
    matrix = made.matrix(x[:1, :], x[:1, :])
    if matrix.ndim != 2:
        raise ValueError(
            f"the kernel {kernel!r} has {matrix.shape[2]} components for a "
            "pair of points; a weight is one number"
        )
    refuse_complex(matrix, kernel)
    return made
