# examples/exact_gp.py - a map of a valley from scattered heights.
"""The heights of a valley in Tennessee, from 20,000 of its 138,632 points.

An exact Gaussian process of GPyTorch whose Matérn kernel is tilefold's: no
matrix of 20,000² is stored, and systems are solved by conjugate gradients. The
length scale is the one that predicts left-out points around the centre best;
then all points are conditioned on, and the amplitude is that of the largest
likelihood, yᵀA⁻¹y/n. The heights are a part of Matplotlib (a fault near
Jacksboro, of the Shuttle Radar Topography Mission). What was left out is held
against the map, and against linear interpolation between the same points.

Usage: python examples/exact_gp.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from typing import Any

import gpytorch
import matplotlib as mpl
import numpy as np
import torch
from gpytorch import settings
from gpytorch.distributions import MultivariateNormal
from matplotlib.cbook import get_sample_data
from scipy.interpolate import LinearNDInterpolator
from torch import Tensor

from tilefold.gpytorch import MaternKernel

mpl.use("Agg")
import matplotlib.pyplot as plt

KNOWN, NOISE = 20_000, 0.02  # the variance beside the amplitude's
LENGTHS = [0.3, 0.45, 0.6, 0.9]  # km


class Model(gpytorch.models.ExactGP):
    """A Matérn process of smoothness 3/2, of unit variance, around 0."""

    def __init__(self, x: Tensor, y: Tensor, length: float) -> None:
        super().__init__(x, y, gpytorch.likelihoods.GaussianLikelihood())
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = MaternKernel(nu=1.5)
        self.covar_module.lengthscale = length
        self.likelihood.noise = NOISE
        self.eval()

    def forward(self, x: Tensor) -> MultivariateNormal:
        """The prior at (N, 2) points."""
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))

    @torch.no_grad()
    def mean(self, x: Tensor) -> Tensor:
        """The posterior mean at (N, 2) points, without variances."""
        with settings.skip_posterior_variances(), settings.max_cholesky_size(0):
            return self(x).mean

    @torch.no_grad()
    def deviation(self, x: Tensor) -> Tensor:
        """The posterior standard deviation, a linear system for each point."""
        weights = self.prediction_strategy.mean_cache
        amplitude = (self.train_targets @ weights / len(weights)).sqrt()
        with settings.max_cholesky_size(0):
            return amplitude * self(x).stddev


def heights() -> tuple[Tensor, Tensor]:
    """Places (H, W, 2) in km, and heights (H, W) in m."""
    found = get_sample_data("jacksboro_fault_dem.npz")
    z = torch.tensor(found["elevation"], dtype=torch.float32)
    shrink = np.cos(np.deg2rad((found["ymin"] + found["ymax"]) / 2))
    north = torch.arange(len(z)) * 111.2 * float(found["dy"])
    east = torch.arange(z.shape[1]) * 111.2 * float(found["dx"] * shrink)
    return torch.stack(torch.meshgrid(north, east, indexing="ij"), -1), z


def rmse(found: Tensor, exact: Tensor) -> float:
    """Where there are numbers: linear interpolation has no edges."""
    return (found - exact).square().nanmean().sqrt().item()


def best_length(x: Tensor, y: Tensor) -> float:
    """By a quarter of the 4,000 points around the centre, left out."""
    near = (x - x.mean(0)).norm(dim=1).argsort()[:4000]
    out, others = near[::4], near[torch.arange(4000) % 4 > 0]
    return min(
        LENGTHS,
        key=lambda l: rmse(Model(x[others], y[others], l).mean(x[out]), y[out]),
    )


def draw(path: str, z: Tensor, found: Tensor, row: int, line: Any) -> None:
    """The map beside the truth, and a line through both."""
    figure = plt.figure(figsize=(10, 8), layout="constrained")
    axes = figure.subplot_mosaic("AB;CC", height_ratios=[3, 2])
    titles = "all 138,632 heights", f"from {KNOWN:,} of them"
    for axis, title, shown in zip("AB", titles, (z, found), strict=True):
        axes[axis].imshow(shown, cmap="gist_earth", vmin=150, vmax=1100)
        axes[axis].axhline(row, color="#c0392b", lw=1)
        axes[axis].set(title=title, xticks=[], yticks=[])
    places, mean, spread = line
    axes["C"].plot(z[row], "k.", ms=3, label="heights along the line")
    axes["C"].plot(found[row], color="#c0392b", lw=1, label="posterior mean")
    bars = {"fmt": "none", "ecolor": "#c0392b", "capsize": 2}
    axes["C"].errorbar(places, mean, 2 * spread, label="±2 deviations", **bars)
    axes["C"].set(xlabel="pixels to the east", ylabel="height, m")
    axes["C"].legend()
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main(path: str) -> None:
    """Prints how far off it is where it was not told, and draws it."""
    places, z = heights()
    x, y = places.reshape(-1, 2), z.ravel()
    order = torch.randperm(len(y), generator=torch.manual_seed(0))
    known, rest = order[:KNOWN], order[KNOWN:]
    mean, scale = y[known].mean(), y[known].std()
    targets = (y[known] - mean) / scale
    length = best_length(x[known], targets)
    model = Model(x[known], targets, length)
    found = mean + scale * model.mean(x)
    row, columns = 172, torch.arange(0, 403, 20)
    spread = scale * model.deviation(places[row, columns])
    line = LinearNDInterpolator(x[known].numpy(), y[known].numpy())
    own = rmse(found[rest], y[rest])
    other = rmse(torch.tensor(line(x[rest].numpy())), y[rest])
    print(f"length scale {length} km; {own:.1f} m off where it was not told")
    print(f"linear interpolation is {other:.1f} m off")
    assert own < other
    found = found.reshape(z.shape)
    draw(path, z, found, row, (columns, found[row, columns], spread))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "exact_gp.png")
