# examples/gallery/statistics/plot_co2.py - carbon dioxide on Mauna Loa.
r"""Carbon dioxide on Mauna Loa, by a Gaussian process of GPyTorch
==============================================================

Thirty-four years of weekly measurements, explained by a trend, a season that
changes slowly, and weather (Rasmussen and Williams 2006, § 5.4.3):

.. math::

   k(s, t) = a e^{-(s - t)^2/2 l_a^2}
           + b e^{-(s - t)^2/2 l_b^2 - 2\sin^2(\pi(s - t))/p^2}
           + c e^{-|s - t|/l_c}

The kernels are GPyTorch's by their names, and their sum is one formula. What
GPyTorch makes by itself are four matrices of 1,703², 93 MB, and more of them
for the gradient.
"""

import gpytorch
import matplotlib.pyplot as plt
import numpy as np
import torch
from statsmodels.datasets import co2

from tilefold.gpytorch import (
    MaternKernel,
    PeriodicKernel,
    RBFKernel,
    ScaleKernel,
)

series = co2.load_pandas().data.dropna()
years = 1958 + (series.index - np.datetime64("1958-01-01")).days / 365.25
t = torch.tensor(years.to_numpy(), dtype=torch.float64)
ppm = torch.tensor(series.co2.to_numpy())
known = t < 1992
level = ppm[known].mean()

# %%
# Everything until 1992 is known, 1,703 weeks. The model is one as any other of
# GPyTorch.


class Model(gpytorch.models.ExactGP):
    """A trend, a season and weather."""

    def __init__(self, t, y, likelihood):
        super().__init__(t, y, likelihood)
        trend, slow, season = RBFKernel(), RBFKernel(), PeriodicKernel()
        weather = MaternKernel(0.5)
        trend.lengthscale, slow.lengthscale = 50, 90
        season.lengthscale, season.period_length = 1.3, 1
        weather.lengthscale = 1
        season.raw_period_length.requires_grad_(False)
        parts = ScaleKernel(trend), ScaleKernel(slow * season)
        parts = *parts, ScaleKernel(weather)
        for part, variance in zip(parts, (2000, 5, 0.3), strict=True):
            part.outputscale = variance
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = parts[0] + parts[1] + parts[2]

    def forward(self, t):
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(t), self.covar_module(t)
        )


likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
likelihood.noise = 0.05
model = Model(t[known], ppm[known] - level, likelihood).double()

# %%
# Parameters are learned from one week in eight, which tells of all of them but
# the noise.

few = model.train_inputs[0][::8], model.train_targets[::8]
model.set_train_data(*few, strict=False)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
first = None
for _ in range(40):
    optimiser.zero_grad()
    loss = -objective(model(few[0]), few[1])
    first = loss.item() if first is None else first
    loss.backward()
    optimiser.step()
print(f"negative log likelihood of a week: {first:.3f}, then {loss:.3f}")
assert loss < first

# %%
# All weeks are conditioned on.

model.set_train_data(t[known], ppm[known] - level, strict=False)
model.eval(), likelihood.eval()
ahead = torch.linspace(1990, 2002, 600, dtype=torch.float64)[:, None]
exactly = gpytorch.settings.eval_cg_tolerance(1e-4)
with torch.no_grad(), exactly, gpytorch.settings.max_preconditioner_size(100):
    found = likelihood(model(ahead))
    mean, spread = found.mean + level, found.stddev
    later = model(t[~known]).mean + level
error = (later - ppm[~known]).square().mean().sqrt()
print(f"ten years that were not known are off by {error:.2f} ppm")

# %%
# The same with matrices.

with torch.no_grad():
    k = model.covar_module
    K = k(t[known][:, None]).to_dense() + likelihood.noise * torch.eye(
        int(known.sum())
    )
    w = torch.linalg.solve(K, ppm[known] - level)
    dense = k(t[~known][:, None], t[known][:, None]).to_dense() @ w + level
torch.testing.assert_close(later, dense, rtol=0, atol=0.05)
assert error < 4

figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
axis.plot(t, ppm, ".", color="0.6", ms=2, label="measured")
axis.plot(ahead, mean, color="#0072b2", lw=1, label="mean")
axis.fill_between(
    ahead[:, 0], mean - 2 * spread, mean + 2 * spread,
    color="#56b4e9", alpha=0.4, lw=0, label="two standard deviations",
)  # fmt: skip
axis.axvline(1992, color="0.3", ls=":", label="known until here")
axis.set(xlabel="year", ylabel="CO₂, ppm", xlim=(1975, 2002), ylim=(325, 380))
axis.set_title("Carbon dioxide in the air on Mauna Loa")
axis.legend(loc="upper left")
plt.show()
