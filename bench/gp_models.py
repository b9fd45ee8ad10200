# bench/gp_models.py - Gaussian processes of GPyTorch, with any kernel classes.
"""A step of training, by the module that kernels come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gpytorch
import torch

from bench.calibration import cores
from bench.gp_problems import LENGTH, NOISE, SCALE, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.gp_problems import ExactProblem, SparseProblem

TOLERANCE = 0.01  # of conjugate gradients; GPyTorch's own, in training, is 1
NEAR = 1e-3  # the ridge that Cholesky decompositions of inducing points need


class _Exact(gpytorch.models.ExactGP):
    def __init__(self, x: Any, y: Any, likelihood: Any, kernel: Any) -> None:
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = kernel

    def forward(self, x: Any) -> Any:
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(x), self.covar_module(x)
        )


def exact_step(
    problem: ExactProblem, scale_of: Any, kernel_of: Any, rank: int = 15
) -> Callable[[], Step]:
    """Forward and backward by conjugate gradients.

    `rank` is that of the preconditioner, 0 for none.
    """
    torch.set_num_threads(cores())
    x, y = map(torch.from_numpy, problem.data)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = NOISE
    kernel = _scaled(scale_of, kernel_of)
    model = _Exact(x, y, likelihood, kernel).train()
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def run() -> Step:
        torch.manual_seed(0)  # the same probes in each step
        with (
            gpytorch.settings.max_cholesky_size(0),
            gpytorch.settings.min_preconditioning_size(0),
            gpytorch.settings.max_preconditioner_size(rank),
            gpytorch.settings.cg_tolerance(TOLERANCE),
        ):
            return _step(model, lambda: -marginal(model(x), y))

    run()
    return run


class _Sparse(gpytorch.models.ApproximateGP):
    def __init__(self, inducing: Any, mean: Any, kernel: Any) -> None:
        distribution = gpytorch.variational.CholeskyVariationalDistribution(
            len(inducing)
        )
        strategy = gpytorch.variational.VariationalStrategy(
            self, inducing, distribution
        )
        super().__init__(strategy)
        strategy.variational_params_initialized.fill_(1)
        distribution.variational_mean.data.copy_(mean)
        distribution.chol_variational_covar.data.mul_(0.3)
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = kernel

    def forward(self, x: Any) -> Any:
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(x), self.covar_module(x)
        )


def sparse_step(
    problem: SparseProblem,
    scale_of: Any,
    kernel_of: Any,
    dtype: Any = torch.float32,
) -> Callable[[], Step]:
    """Forward and backward of the ELBO."""
    torch.set_num_threads(cores())
    x, y, inducing, mean = (
        torch.from_numpy(array).to(dtype)
        for array in (*problem.data, *problem.variational)
    )
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(dtype)
    likelihood.noise = NOISE
    kernel = _scaled(scale_of, kernel_of)
    model = _Sparse(inducing, mean, kernel).to(dtype).train()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=10**5)
    jitter = gpytorch.settings.variational_cholesky_jitter

    def run() -> Step:
        with jitter(float_value=NEAR, double_value=NEAR):
            return _step(model, lambda: -bound(model(x), y))

    run()
    return run


def _scaled(scale_of: Any, kernel_of: Any) -> Any:
    kernel = scale_of(kernel_of())
    kernel.outputscale, kernel.base_kernel.lengthscale = SCALE, LENGTH
    return kernel


def _step(model: Any, loss_of: Callable[[], Any]) -> Step:
    """The loss, backward, and the gradient by the length scale itself."""
    model.zero_grad()
    loss = loss_of()
    loss.backward()
    raw = model.covar_module.base_kernel.raw_lengthscale
    slope = torch.sigmoid(raw.detach())  # of softplus
    return Step(loss.item(), (raw.grad / slope).item())
