# tests/python/test_examples_of_gpytorch.py - examples of Gaussian processes.
"""Those of GPyTorch, at a small size, beside dense matrices and its kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

gpytorch = pytest.importorskip("gpytorch")

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples import exact_gp, multitask_gp  # noqa: E402


def test_a_map_of_scattered_heights_is_that_of_dense_matrices():
    places, z = exact_gp.heights()
    assert places.shape == (344, 403, 2)
    chosen = torch.randperm(z.numel(), generator=torch.manual_seed(0))[:400]
    x, y = places.reshape(-1, 2)[chosen], z.ravel()[chosen]
    y = (y - y.mean()) / y.std()
    known, new = slice(0, 300), slice(300, 400)
    model = exact_gp.Model(x[known], y[known], 0.1)
    model.covar_module.base_kernel.lengthscale = 2.0
    scale = model.covar_module.outputscale.item()
    r = torch.cdist(x.double(), x.double()) * 3**0.5 / 2
    K = scale * (1 + r) * (-r).exp()
    A = K[known, known] + 0.1**2 * torch.eye(300)
    solved = torch.linalg.solve(A, K[known, new])
    expected = solved.mT @ y[known].double()
    with gpytorch.settings.eval_cg_tolerance(1e-4):
        mean, deviation = model.mean(x[new]), model.deviation(x[new])
    torch.testing.assert_close(mean.double(), expected, rtol=0, atol=1e-3)
    expected = (scale - (K[known, new] * solved).sum(0)).sqrt()
    torch.testing.assert_close(deviation.double(), expected, rtol=1e-2, atol=0)
    given = x[known], y[known], 0.1
    first, last = exact_gp.Model(*given), exact_gp.learned(*given)
    assert _likelihood(last) > _likelihood(first) + 0.1


def _likelihood(model):
    """Of the points, for each of them, by a Cholesky factor."""
    mlls = gpytorch.mlls
    found = mlls.ExactMarginalLogLikelihood(model.likelihood, model.train())
    with torch.no_grad():
        return found(model(*model.train_inputs), model.train_targets).item()


def test_tasks_are_mixed_as_by_the_kernels_of_gpytorch():
    torch.manual_seed(0)
    x, task, y = multitask_gp.measurements(300)
    low, high = torch.tensor(multitask_gp.GAPS)[task].T
    assert len(y) == 300
    assert not ((x[:, 0] > low) & (x[:, 0] < high)).any()
    model, _ = multitask_gp.fit(x, task, y, epochs=5)
    multitask_gp.check_diagonals(model.covar_module, x)
    kernel = multitask_gp.latent_kernel(gpytorch.kernels, 2)
    theirs = multitask_gp.Model(kernel, inducing=24).eval()
    theirs.load_state_dict(model.state_dict())
    with torch.no_grad():
        one, other = (m(x, task_indices=task) for m in (model, theirs))
    torch.testing.assert_close(one.mean, other.mean, rtol=0, atol=1e-4)
    torch.testing.assert_close(one.stddev, other.stddev, rtol=0, atol=1e-4)
