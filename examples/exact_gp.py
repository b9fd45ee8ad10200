# examples/exact_gp.py - a map of a valley from scattered heights.
"""The heights of a valley in Tennessee, from 20,000 of its 138,632 points.

An exact Gaussian process of GPyTorch whose Matérn kernel is tilefold's: no
matrix of 20,000² is stored, and systems are solved by conjugate gradients. Its
length scale and amplitude climb the marginal likelihood of the 4,000 points
around the centre, by its gradient; then all points are conditioned on. The
heights are a part of Matplotlib (a fault near Jacksboro, of the Shuttle Radar
Topography Mission, whose error of 10 m is the noise). What was left out is held
against the map, and against linear interpolation between the same points.

Usage: python examples/exact_gp.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import gpytorch
import matplotlib as mpl
import numpy as np
import torch
from gpytorch import settings
from gpytorch.distributions import MultivariateNormal
from matplotlib.cbook import get_sample_data
from scipy.interpolate import LinearNDInterpolator
from torch import Tensor

from tilefold.gpytorch import MaternKernel, ScaleKernel

if TYPE_CHECKING:
    from collections.abc import Iterator

mpl.use("Agg")
import matplotlib.pyplot as plt

KNOWN, LEARNED, STEPS = 20_000, 4_000, 25
NOISE = 10.0  # m


class Model(gpytorch.models.ExactGP):
    """A Matérn process of smoothness 3/2 around 0, beside known noise."""

    def __init__(self, x: Tensor, y: Tensor, noise: float) -> None:
        super().__init__(x, y, gpytorch.likelihoods.GaussianLikelihood())
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = ScaleKernel(MaternKernel(nu=1.5))
        self.covar_module.base_kernel.lengthscale = 0.5
        self.likelihood.noise = noise**2
        self.likelihood.raw_noise.requires_grad_(False)

    def forward(self, x: Tensor) -> MultivariateNormal:
        """The prior at (N, 2) points."""
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))

    @torch.no_grad()
    def mean(self, x: Tensor) -> Tensor:
        """The posterior mean at (N, 2) points, without variances."""
        with settings.skip_posterior_variances(), iterative():
            return self.eval()(x).mean

    @torch.no_grad()
    def deviation(self, x: Tensor) -> Tensor:
        """The posterior standard deviation, a linear system for each point."""
        with iterative():
            return self.eval()(x).stddev


@contextmanager
def iterative() -> Iterator[None]:
    """Systems by conjugate gradients, with a preconditioner of rank 100."""
    with settings.max_cholesky_size(0), settings.max_preconditioner_size(100):
        yield


def learned(x: Tensor, y: Tensor, noise: float) -> Model:
    """A model of the largest marginal likelihood, by Adam."""
    model = Model(x, y, noise)
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(
        model.likelihood, model
    )
    chosen = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.Adam(chosen, lr=0.15)
    with iterative():
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = -likelihood(model(x), y)
            loss.backward()
            optimizer.step()
    return model


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
    center = (x[known] - x[known].mean(0)).norm(dim=1)
    near = center.argsort()[:LEARNED]
    model = learned(x[known][near], targets[near], NOISE / scale.item())
    model.set_train_data(x[known], targets, strict=False)
    found = mean + scale * model.mean(x)
    row, columns = 172, torch.arange(0, 403, 20)
    spread = scale * model.deviation(places[row, columns])
    line = LinearNDInterpolator(x[known].numpy(), y[known].numpy())
    own = rmse(found[rest], y[rest])
    other = rmse(torch.tensor(line(x[rest].numpy())), y[rest])
    kernel = model.covar_module
    length = kernel.base_kernel.lengthscale.item()
    amplitude = scale.item() * kernel.outputscale.sqrt().item()
    print(f"length scale {length:.2f} km, amplitude {amplitude:.0f} m")
    print(f"{own:.1f} m off where it was not told")
    print(f"linear interpolation is {other:.1f} m off")
    assert own < other
    found = found.reshape(z.shape)
    draw(path, z, found, row, (columns, found[row, columns], spread))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "exact_gp.png")
