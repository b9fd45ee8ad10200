# tests/python/gpytorch_cases.py - kernels of GPyTorch, with ours beside them.
"""Each kernel class of `tilefold.gpytorch`, as it is made for the tests."""

from __future__ import annotations

import gpytorch.kernels as theirs
import torch

import tilefold.gpytorch as ours

DIMENSIONS = 3

# Name of a case: the class, its arguments, and whether it knows ARD.
CASES = {
    "rbf": ("RBFKernel", {}, True),
    "matern 1/2": ("MaternKernel", {"nu": 0.5}, True),
    "matern 3/2": ("MaternKernel", {"nu": 1.5}, True),
    "matern 5/2": ("MaternKernel", {"nu": 2.5}, True),
    "rational quadratic": ("RQKernel", {}, True),
    "periodic": ("PeriodicKernel", {}, True),
    "cosine": ("CosineKernel", {}, False),
    "linear": ("LinearKernel", {}, True),
    "polynomial": ("PolynomialKernel", {"power": 3}, False),
    "piecewise 0": ("PiecewisePolynomialKernel", {"q": 0}, True),
    "piecewise 1": ("PiecewisePolynomialKernel", {"q": 1}, True),
    "piecewise 2": ("PiecewisePolynomialKernel", {"q": 2}, True),
    "piecewise 3": ("PiecewisePolynomialKernel", {"q": 3}, True),
    "spectral mixture": (
        "SpectralMixtureKernel",
        {"num_mixtures": 2, "ard_num_dims": DIMENSIONS},
        False,
    ),
    "one spectral": (
        "SpectralMixtureKernel",
        {"num_mixtures": 1, "ard_num_dims": DIMENSIONS},
        False,
    ),
    "constant": ("ConstantKernel", {}, False),
}


def pair(case, *, batch=(), ard=False):
    """The kernel of GPyTorch and ours, with the same parameters."""
    name, arguments, _ = CASES[case]
    arguments = dict(arguments)
    if batch:
        arguments["batch_shape"] = torch.Size(batch)
    if ard:
        arguments["ard_num_dims"] = DIMENSIONS
    return same_parameters(
        getattr(theirs, name)(**arguments), getattr(ours, name)(**arguments)
    )


def same_parameters(one, other, dtype=torch.float64, seed=0):
    """Both in a dtype, with the same random parameters."""
    one, other = one.to(dtype), other.to(dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in one.parameters():
            values = torch.rand(parameter.shape, generator=generator)
            parameter.copy_(values)
    other.load_state_dict(one.state_dict(), strict=True)
    return one, other


def structures():
    """Kernels made of others: a maker for each library's classes."""
    return {
        "scaled": lambda k: k.ScaleKernel(k.RBFKernel(ard_num_dims=3)),
        "sum": lambda k: (
            k.ScaleKernel(k.RBFKernel(active_dims=[0]))
            + k.MaternKernel(nu=1.5, active_dims=[1, 2])
        ),
        "product": lambda k: k.ScaleKernel(
            k.RBFKernel(active_dims=[0]) * k.PeriodicKernel(active_dims=[1])
        ),
        "linear in a product": lambda k: k.RBFKernel() * k.LinearKernel(),
        "linear in a sum": lambda k: k.LinearKernel() + k.RBFKernel(),
        "constant in a sum": lambda k: k.ConstantKernel() + k.RBFKernel(),
        "nested": lambda k: (
            k.ScaleKernel(
                (k.RBFKernel() + k.CosineKernel()) * k.RQKernel(active_dims=[2])
            )
            + k.PolynomialKernel(power=2)
        ),
        "batches": lambda k: k.ScaleKernel(
            k.RBFKernel(batch_shape=torch.Size([2])),
            batch_shape=torch.Size([2]),
        ),
        "batch of scales": lambda k: k.ScaleKernel(
            k.RBFKernel(), batch_shape=torch.Size([2])
        ),
        "arc": lambda k: k.ArcKernel(k.MaternKernel(nu=2.5), ard_num_dims=3),
        "multitask": lambda k: k.MultitaskKernel(
            k.RBFKernel(), num_tasks=2, rank=1
        ),
        "multitask of a sum": lambda k: k.MultitaskKernel(
            k.ScaleKernel(k.RBFKernel()) + k.MaternKernel(), num_tasks=3
        ),
        "lcm": lambda k: k.LCMKernel(
            [k.RBFKernel(), k.MaternKernel(nu=1.5)], num_tasks=2, rank=2
        ),
    }
