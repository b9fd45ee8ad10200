# python_bindings/tilefold/gpytorch/__init__.py - GPyTorch by formulas.
"""GPyTorch's kernels, computed by tilefold.

    from tilefold.gpytorch import RBFKernel, ScaleKernel

    covariance = ScaleKernel(RBFKernel(ard_num_dims=3))
    model = tilefold.gpytorch.convert(model)      # one that is there already

They are subclasses of GPyTorch's, with the same parameters and state dicts.
Their matrices are never stored: scale, sum, product and active dimensions are
one formula, and so is its gradient. What is made of up to
`gpytorch.settings.max_cholesky_size` points is a dense matrix, as in GPyTorch.
`FormulaKernel` makes a kernel of any formula; kernels of GPyTorch that are not
here are found here as its own, and they, its models and strategies, take these
for its own. Products by values
are exact, on whichever side the matrices of this package are: what
linear_operator makes of one of its own times one of these is taught to it here.

Derivatives are right to any order through products, rows, diagonals, dense
matrices and Cholesky factors of them. `inv_quad_logdet` by conjugate gradients
has first ones: linear_operator counts its saved solutions as constants.
"""

from __future__ import annotations

from typing import Any

from tilefold.needed import require

require("gpytorch")

from tilefold.gpytorch.convert import convert, install
from tilefold.gpytorch.formula_kernel import (
    FormulaKernel,
    Parameter,
)
from tilefold.gpytorch.kernels import (
    AdditiveKernel,
    ArcKernel,
    ConstantKernel,
    CosineKernel,
    IndexKernel,
    LCMKernel,
    LinearKernel,
    MaternKernel,
    MultitaskKernel,
    PeriodicKernel,
    PiecewisePolynomialKernel,
    PolynomialKernel,
    ProductKernel,
    RBFKernel,
    RQKernel,
    ScaleKernel,
    SpectralMixtureKernel,
)
from tilefold.gpytorch.operator import KernelOperator

__all__ = [
    "AdditiveKernel",
    "ArcKernel",
    "ConstantKernel",
    "CosineKernel",
    "FormulaKernel",
    "IndexKernel",
    "KernelOperator",
    "LCMKernel",
    "LinearKernel",
    "MaternKernel",
    "MultitaskKernel",
    "Parameter",
    "PeriodicKernel",
    "PiecewisePolynomialKernel",
    "PolynomialKernel",
    "ProductKernel",
    "RBFKernel",
    "RQKernel",
    "ScaleKernel",
    "SpectralMixtureKernel",
    "convert",
    "install",
]


def __getattr__(name: str) -> Any:
    """A kernel of GPyTorch that has no formula here: its own."""
    import gpytorch.kernels

    found = getattr(gpytorch.kernels, name, None)
    if not isinstance(found, type):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
