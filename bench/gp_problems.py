# bench/gp_problems.py - what Gaussian processes are trained on.
"""One step of training of an exact process and of a sparse one (SVGP).

Of exact ones the loss and its gradient are compared with a Cholesky
decomposition in float64, of sparse ones with GPyTorch in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from bench.points import Array

DIMENSION = 4
LENGTH, SCALE, NOISE = 0.5, 1.5, 0.1


class Step(NamedTuple):
    """The loss of a step and its gradient by the length scale."""

    loss: float
    gradient: float


def points(count: int) -> tuple[Array, Array]:
    """Uniform points (count, 4), and a noisy function of them."""
    random = np.random.default_rng(8)
    x = random.random((count, DIMENSION), np.float32)
    y = np.sin(5 * x).sum(1) + 0.3 * random.standard_normal(count)
    return x, y.astype(np.float32)


@dataclass(frozen=True)
class ExactProblem:
    """Negative log likelihood by point, of n points; a result is a Step."""

    n: int

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type."""
        return {"N": self.n, "D": DIMENSION, "dtype": "float32"}

    @cached_property
    def data(self) -> tuple[Array, Array]:
        """The points, and what was measured there."""
        return points(self.n)

    def error(self, result: Step) -> float:
        """The larger of both, beside the sum of its terms' magnitudes.

        Half of the terms are of a logarithm of a determinant, which random
        probes estimate: that, not rounding, is most of the error.
        """
        data, logdet, pull, trace = self._exact
        constant = np.log(2 * np.pi)
        loss = (data + logdet + constant) / 2
        size = (data + abs(logdet) + constant) / 2
        gradient = (trace - pull) / 2
        errors = (
            abs(result.loss - loss) / size,
            abs(result.gradient - gradient) / ((abs(trace) + abs(pull)) / 2),
        )
        return float(np.nan_to_num(max(errors), nan=np.inf))

    @property
    def _exact(self) -> tuple[float, float, float, float]:
        """yᵀA⁻¹y, log det A, yᵀA⁻¹A'A⁻¹y and tr(A⁻¹A'), each by n.

        A' is the derivative by the length scale.
        """
        import torch

        x, y = (torch.from_numpy(array).double() for array in self.data)
        squares = torch.cdist(x, x).square_()
        matrix = SCALE * torch.exp(squares / (-2 * LENGTH**2))
        slope = squares.mul_(matrix).div_(LENGTH**3)
        matrix.diagonal().add_(NOISE)
        factor = torch.linalg.cholesky(matrix)
        weights = torch.cholesky_solve(y[:, None], factor)[:, 0]
        logdet = 2 * factor.diagonal().log().sum()
        trace = torch.cholesky_inverse(factor).mul_(slope).sum()
        found = (y @ weights, logdet, weights @ (slope @ weights), trace)
        data, logdet, pull, trace = (float(value) / self.n for value in found)
        return data, logdet, pull, trace


@dataclass(frozen=True)
class SparseProblem:
    """Negative ELBO of a minibatch, by point; a result is a Step."""

    batch: int
    inducing: int

    @property
    def pairs(self) -> float:
        """Pairs of points, among them those of inducing points."""
        return float(self.inducing) * (self.batch + self.inducing)

    @property
    def sizes(self) -> dict[str, Any]:
        """N, M, D and the type."""
        return {
            "N": self.batch,
            "M": self.inducing,
            "D": DIMENSION,
            "dtype": "float32",
        }

    @cached_property
    def data(self) -> tuple[Array, Array]:
        """A minibatch."""
        return points(self.batch)

    @cached_property
    def variational(self) -> tuple[Array, Array]:
        """The inducing points, and the mean of the variational values."""
        random = np.random.default_rng(9)
        shape = (self.inducing, DIMENSION)
        place = random.random(shape, np.float32)
        return place, random.standard_normal(self.inducing, np.float32)

    def error(self, result: Step) -> float:
        """The larger relative error of both."""
        import torch
        from gpytorch.kernels import RBFKernel, ScaleKernel

        from bench.gp_models import sparse_step

        exact = sparse_step(self, ScaleKernel, RBFKernel, torch.float64)()
        errors = [
            abs(found - right) / abs(right)
            for found, right in zip(result, exact, strict=True)
        ]
        return float(np.nan_to_num(max(errors), nan=np.inf))
