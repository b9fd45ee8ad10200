# examples/gallery/statistics/plot_sunspots.py - the Sun's cycle, by particles.
r"""How long is the Sun's cycle? A posterior as a cloud of particles
================================================================

The square root of the number of sunspots in a year is told by the nine years
before it, but not exactly: coefficients :math:`\theta` have a posterior. The
particles :math:`\theta_i` are moved until they are a sample of it (Liu and Wang
2016):

.. math::

   \theta_i \leftarrow \theta_i + \frac{\eta}{N} \sum_j \left(
       k(\theta_j, \theta_i)\, \nabla \log p(\theta_j)
       + \nabla_{\theta_j} k(\theta_j, \theta_i) \right)

The first term pulls them to where the posterior is large, the second pushes
them apart. ``grad`` is a function of the language, so nobody differentiates the
kernel by hand. Of 600 particles in ten dimensions its gradients would be 29 MB
at each of 200 steps.
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import sunspots

import tilefold

# %%
# Regression of a year on nine years before it, and a constant.

table = sunspots.load_pandas().data
y = np.sqrt(table.SUNACTIVITY.to_numpy())
z = np.stack([y[9 - k : -k] for k in range(1, 10)], 1)
z = np.column_stack([z - y.mean(), np.ones(len(z))])
t = y[9:] - y.mean()
noise, prior = 1.4, 1.0

# %%
# Particles live where the posterior is as wide in all directions; the score is
# one of a Gaussian there, but any would do.

precision = z.T @ z / noise**2 + np.eye(10) / prior**2
mean = np.linalg.solve(precision, z.T @ t) / noise**2
root = np.linalg.cholesky(np.linalg.inv(precision))


def score(u):
    """The gradient of the log posterior at θ = mean + root u, (N, 10)."""
    θ = mean + u @ root.T
    gradient = (t - θ @ z.T) @ z / noise**2 - θ / prior**2
    return gradient @ root


direction = tilefold.compile(
    "mean_j (k*s_j + grad(k, u_j)) with k = exp(-|u_i - u_j|²/2h²)"
)
random = np.random.default_rng(0)
u = random.standard_normal((600, 10)) * 0.3 + 1
few, s = u[:50], score(u[:50])
k = np.exp(-((few[:, None] - few) ** 2).sum(-1) / 2)
by_hand = k @ s + (k[..., None] * (few[:, None] - few)).sum(1)
np.testing.assert_allclose(direction(u=few, s=s, h=1), by_hand / 50, rtol=1e-9)
for _ in range(200):
    u = u + 0.5 * direction(u=u, s=score(u), h=1.5)

# %%
# The posterior of this model is known: a Gaussian, of which u has the mean 0
# and deviations of 1. Those of few particles are a little less.

print(f"means {abs(u.mean(0)).max():.3f}, deviations {u.std(0).round(2)}")
assert abs(u.mean(0)).max() < 0.05
assert abs(u.std(0) - 1).max() < 0.25

# %%
# Each particle is a model, and has a spectrum.

θ = mean + u @ root.T
periods = np.linspace(4, 30, 600)
waves = np.exp(-2j * np.pi * np.arange(1, 10)[:, None] / periods)
power = noise**2 / np.abs(1 - θ[:, :9] @ waves) ** 2
longest = periods[power[:, periods < 14].argmax(1)]
low, middle, high = np.quantile(longest, [0.05, 0.5, 0.95])
print(f"the cycle is {middle:.1f} years, from {low:.1f} to {high:.1f}")

figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.6), layout="constrained")
axes[0].plot(table.YEAR, table.SUNACTIVITY, color="#e69f00", lw=1)
axes[0].set(xlabel="year", ylabel="sunspots")
axes[0].set_title("three centuries of sunspots")
axes[1].semilogy(periods, power[::6].T, color="#0072b2", lw=0.3, alpha=0.3)
axes[1].semilogy(periods, np.median(power, 0), color="black", label="median")
axes[1].axvspan(low, high, color="#e69f00", alpha=0.3, lw=0, label="9 of 10")
axes[1].set(xlabel="period, years", ylabel="power", xlim=(4, 30))
axes[1].set_title(f"a cycle of {middle:.1f} years")
axes[1].legend()
plt.show()
