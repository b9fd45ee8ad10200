# python_bindings/tilefold/sklearn/likelihood.py - of many points, by products.
"""`System`: the matrix of a Gaussian process, which is never stored.

Solutions are by conjugate gradients, the logarithm of the determinant by
stochastic Lanczos quadrature (Ubaru, Chen and Saad, Fast estimation of
tr(f(A)), 2017), and the trace of its derivative by vectors of random signs
(Hutchinson, 1990).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import tilefold
from tilefold import solve as systems
from tilefold.sklearn.pair_formula import PairFormula, pair_formula

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel as Covariance

    from tilefold import Formula
    from tilefold.sklearn.covariance import CovarianceFormula

__all__ = ["Likelihood", "System"]


class Likelihood(NamedTuple):
    """The log marginal likelihood, its standard error, its gradient by theta.

    `warning` says what did not converge.
    """

    value: float
    error: float
    gradient: Any
    warning: str


class System:
    """K(X, X), the noise of its kernels and `alpha` on the diagonal.

    `points` have shape (N, D); `alpha` is a number, or has shape (N,).
    """

    def __init__(
        self,
        formula: CovarianceFormula,
        kernel: Covariance,
        points: Any,
        alpha: Any,
    ) -> None:
        self._formula, self._kernel = formula, kernel
        self._points = points
        term, names, _ = pair_formula(formula.smooth)
        values = formula.values(kernel)
        self._pair = PairFormula(term, names, values, formula.is_positive)
        diagonal = self._noise(points) + np.asarray(alpha, np.float64)
        self._ridge = float(np.min(diagonal))
        self._matrix = self._pair.matrix(points)
        if np.ptp(diagonal) > 0:
            self._matrix = self._matrix.add_diag(diagonal - self._ridge)

    def cross(self, points: Any) -> tilefold.Kernel:
        """The lazy (M, N) matrix of other points (M, D) with these."""
        return self._pair.matrix(points, self._points)

    def variances(self, points: Any) -> Any:
        """The prior variances of points (M, D), noise included: (M,)."""
        return self._pair.matrix(points).diag() + self._noise(points)

    def covariances(self, points: Any) -> Any:
        """The prior covariances of points (M, D), noise included: (M, M)."""
        values = self._pair.matrix(points).dense()
        values[np.diag_indices_from(values)] += self._noise(points)
        return values

    def solve(self, sides: Any, tol: float) -> tuple[Any, str]:
        """A⁻¹ b for sides (N, E), and what to warn of."""
        options = {
            "rtol": tol,
            "maxiter": None,
            "preconditioner": "auto",
            "rank": None,
            "method": "cg",
        }
        found, _, told = systems.solve(
            self._matrix, sides, self._ridge, options
        )
        return found, told

    def likelihood(
        self,
        targets: Any,
        *,
        tol: float,
        probes: int,
        lanczos: int,
        seed: int,
        with_gradient: bool,
    ) -> Likelihood:
        """The sum over targets (N, T) of their log marginal likelihoods.

        Rasmussen and Williams, Gaussian processes for machine learning, 2006,
        equations 5.8 and 5.9.
        """
        count, width = targets.shape
        options = {
            "probes": max(probes, 2),
            "maxiter": lanczos,
            "preconditioner": "auto",
            "seed": seed,
        }
        logdet, _, info, warning = systems.log_determinant(
            self._matrix, None, self._ridge, options
        )
        signs = np.zeros((count, 0), targets.dtype)
        if with_gradient:
            random = np.random.default_rng(seed)
            signs = random.choice([-1, 1], (count, probes)).astype(
                targets.dtype
            )
        columns = np.concatenate([targets, signs], 1)
        found, told = self.solve(columns, tol)
        weights = found[:, :width]
        value = -0.5 * float(np.sum(targets * weights))
        value -= 0.5 * width * (logdet + count * np.log(2 * np.pi))
        gradient = None
        if with_gradient:
            # of αᵀ dA α - tr(A⁻¹ dA), half
            rows = np.concatenate(
                [0.5 * weights, (-0.5 * width / probes) * found[:, width:]], 1
            )
            columns = np.concatenate([weights, signs], 1)
            gradient = self._by_theta(rows, columns)
        return Likelihood(
            value, 0.5 * width * info.error, gradient, told or warning
        )

    # ---- derivatives ---------------------------------------------------------

    def _by_theta(self, rows: Any, columns: Any) -> Any:
        """The gradient of Σ_e rows_eᵀ A columns_e by theta."""
        free = [h for h in self._kernel.hyperparameters if not h.fixed]
        names = {h.name: self._formula.names[h.name] for h in free}
        slopes = dict.fromkeys(names.values(), 0.0)
        first, second = self._pair.points
        for text, given in (
            (self._formula.smooth, {first: self._points, second: self._points}),
            (self._formula.noise, {}),
        ):
            if text is None:
                continue
            values = self._formula.values(self._kernel, text)
            wanted = tuple(name for name in slopes if name in values)
            if not wanted:
                continue
            if given:
                formula, left, right = _slopes(text, wanted)
                given |= {left: rows, right: columns}
            else:
                formula, axes, left = _noise_slopes(text, wanted)
                sums = (rows * columns).sum(1)
                given = {left: sums if axes else float(sums.sum())}
                given |= dict.fromkeys(axes, self._points)
            found = formula({**values, **given})
            found = found if isinstance(found, tuple) else (found,)
            for name, slope in zip(wanted, found, strict=True):
                slopes[name] = slopes[name] + slope
        params = self._kernel.get_params()
        return np.concatenate(
            [
                np.atleast_1d(
                    slopes[names[h.name]] * np.asarray(params[h.name])
                )
                for h in free
            ]
        )

    def _noise(self, points: Any) -> Any:
        """What kernels add on the diagonal: a number, or (N,)."""
        text = self._formula.noise
        if text is None:
            return 0.0
        values = self._formula.values(self._kernel, text)
        formula = tilefold.compile(text)
        axes = dict(formula.names)
        if not any(axes.values()):
            return float(formula(values))
        given = {name: points for name, places in axes.items() if places}
        return tilefold.kernel(formula, {**values, **given}).diag()


@lru_cache(maxsize=64)
def _slopes(text: str, names: tuple[str, ...]) -> tuple[Formula, str, str]:
    """The gradient of Σ_ij g_i k(x_i, y_j) b_j by names; those of g and b."""
    term, _, _ = pair_formula(text)
    right, left = term._unused_name("b"), term._unused_name("g")
    skeleton = tilefold.compile(f"sum_j(operand*{right}_j)")
    product = tilefold.compile(skeleton._substitute([("operand", term, {})]))
    return product.grad(list(names), cotangent=left), left, right


@lru_cache(maxsize=64)
def _noise_slopes(
    text: str, names: tuple[str, ...]
) -> tuple[Formula, list[str], str]:
    """The gradient of Σ_i g_i w(x_i) by names; those of points, and that of g.

    Of noise that no point has a part in, it is that of g w.
    """
    formula = tilefold.compile(text)
    points = [name for name, axes in formula.names if axes]
    left = formula._unused_name("g")
    if not points:
        return formula.grad(list(names), cotangent=left), points, left
    diagonal = tilefold.compile(formula._diagonal())
    skeleton = tilefold.compile(f"sum_i(operand*{left}_i)")
    total = tilefold.compile(skeleton._substitute([("operand", diagonal, {})]))
    return total.grad(list(names)), points, left
