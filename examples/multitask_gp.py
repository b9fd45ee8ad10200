# examples/multitask_gp.py - several tasks that share latent processes.
"""Four noisy curves that share two latent Gaussian processes (LMC).

    f_t(x) = Σ_q a_tq g_q(x),    g_q ~ GP(0, k_q)

The linear model of coregionalisation (Álvarez et al. 2012), fitted with
inducing points to minibatches (Hensman et al. 2015): GPyTorch's variational
strategies, whose kernels are tilefold's. Each task was not measured somewhere;
the others tell what is there. The diagonals that a strategy asks of a kernel
are compared with GPyTorch's at every size of its switch to lazy matrices.

Usage: python examples/multitask_gp.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import gpytorch
import matplotlib as mpl
import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.variational import (
    CholeskyVariationalDistribution,
    LMCVariationalStrategy,
    VariationalStrategy,
)
from torch import Tensor

import tilefold.gpytorch

mpl.use("Agg")
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from types import ModuleType

TASKS = 4
GAPS = [(2.0, 2.6), (0.4, 1.0), (1.2, 1.8), (2.6, 3.0)]  # not measured


class Model(gpytorch.models.ApproximateGP):
    """Tasks that are mixtures of latent processes."""

    def __init__(self, kernel: Any, inducing: int) -> None:
        batch = kernel.batch_shape
        places = torch.linspace(0, 3, inducing).expand(*batch, -1)[..., None]
        values = CholeskyVariationalDistribution(inducing, batch)
        latent = VariationalStrategy(self, places, values)
        super().__init__(LMCVariationalStrategy(latent, TASKS, batch[0]))
        self.covar_module = kernel

    def forward(self, x: Tensor) -> MultivariateNormal:
        """The prior of the latent processes at (…, N, 1) points."""
        return MultivariateNormal(
            x.new_zeros(x.shape[:-1]), self.covar_module(x)
        )


def truth(x: Tensor, task: Tensor) -> Tensor:
    """What each task is without noise."""
    phase = 0.5 * task
    return phase.cos() * torch.sin(2 * x) + phase.sin() * torch.sin(7 * x + 1)


def measurements(count: int) -> tuple[Tensor, ...]:
    """Points (N, 1), tasks (N,) and noisy values (N,), outside of the gaps."""
    x, task = 3 * torch.rand(2 * count), torch.randint(TASKS, (2 * count,))
    low, high = torch.tensor(GAPS)[task].T
    kept = ((x < low) | (x > high)).nonzero()[:count, 0]
    x, task = x[kept], task[kept]
    return x[:, None], task, truth(x, task) + 0.2 * torch.randn(len(x))


def latent_kernel(module: ModuleType, latents: int) -> Any:
    """A Matérn kernel for each latent process, by the classes of a module."""
    batch = torch.Size([latents])
    matern = module.MaternKernel(nu=2.5, batch_shape=batch)
    return module.ScaleKernel(matern, batch_shape=batch)


def fit(
    x: Tensor, task: Tensor, y: Tensor, epochs: int
) -> tuple[Model, gpytorch.likelihoods.GaussianLikelihood]:
    """The model and its noise, after Adam on minibatches of 256."""
    model = Model(latent_kernel(tilefold.gpytorch, 2), inducing=24)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    parameters = [*model.parameters(), *likelihood.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=0.03)
    for _ in range(epochs):
        for rows in torch.randperm(len(y)).split(256):
            optimiser.zero_grad()
            loss = -bound(model(x[rows], task_indices=task[rows]), y[rows])
            loss.backward()
            optimiser.step()
    return model.eval(), likelihood.eval()


def check_diagonals(kernel: Any, x: Tensor) -> None:
    """A diagonal (Q, N) is that of GPyTorch's matrix, dense or lazy."""
    theirs = latent_kernel(gpytorch.kernels, len(kernel.outputscale))
    theirs.load_state_dict(kernel.state_dict())
    dense = theirs(x).to_dense().diagonal(dim1=-2, dim2=-1)
    for size in (0, 1, 800):
        with gpytorch.settings.max_cholesky_size(size):
            torch.testing.assert_close(kernel(x, diag=True), dense)


def draw(axis: Any, measured: Any, grid: Any, found: Any, exact: Any) -> None:
    """Measurements, the truth, and the mean with two standard deviations."""
    mean, spread = found.mean, 2 * found.stddev
    axis.plot(*measured, ".", ms=2, color="0.6")
    axis.plot(grid, exact, "k--", lw=1)
    axis.plot(grid, mean, color="#c0392b")
    band = {"color": "#c0392b", "alpha": 0.25, "lw": 0}
    axis.fill_between(grid, mean - spread, mean + spread, **band)


def main(path: str) -> None:
    """Fits, predicts, also where a task was not measured, and draws it."""
    torch.manual_seed(0)
    x, task, y = measurements(2000)
    model, likelihood = fit(x, task, y, epochs=30)
    check_diagonals(model.covar_module, x[:500])
    noise = likelihood.noise.item() ** 0.5
    print(f"noise {noise:.3f}")
    grid = torch.linspace(0, 3, 300)
    figure, axes = plt.subplots(
        TASKS, sharex=True, figsize=(8, 8), layout="constrained"
    )
    for t, axis in enumerate(axes):
        tasks = torch.full_like(grid, t, dtype=torch.long)
        with torch.no_grad():
            found = model(grid[:, None], task_indices=tasks)
        exact, own = truth(grid, tasks), task == t
        error = (found.mean - exact).square().mean().sqrt().item()
        assert error < noise, f"task {t} is {error:.3f} off"
        draw(axis, (x[own, 0], y[own]), grid, found, exact)
        axis.axvspan(*GAPS[t], color="0.92", lw=0, zorder=0)
        axis.set_ylabel(f"task {t}")
        print(f"task {t}: {own.sum()} measurements, error {error:.3f}")
    axes[0].set_title(
        "No measurement of a task where it is grey: the others tell\n"
        "points measured, dashed the truth, red mean ± 2 deviations",
        fontsize=10,
    )
    figure.savefig(path, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "multitask_gp.png")
