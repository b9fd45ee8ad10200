# python_bindings/tilefold/gpytorch/__init__.py - GPyTorch by formulas.
"""GPyTorch's kernels, computed by tilefold.

    from tilefold.gpytorch import RBFKernel, ScaleKernel

    covariance = ScaleKernel(RBFKernel(ard_num_dims=3))
    model = tilefold.gpytorch.convert(model)      # one that is there already

They are subclasses of GPyTorch's, with the same parameters and state dicts.
Their matrices are never stored: scale, sum, product and active dimensions are
one formula. `FormulaKernel` makes a kernel of any formula.
"""

from __future__ import annotations

_NEEDED = {"gpytorch": (1, 15), "linear_operator": (0, 6)}


def _require(name: str, least: tuple[int, int]) -> None:
    """Raises `ImportError` where a library is missing or too old."""
    import importlib
    import importlib.metadata

    cure = "pip install 'tilefold[gpytorch]'"
    try:
        importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"tilefold.gpytorch needs {name}, which cannot be imported: {cure}"
        ) from error
    version = importlib.metadata.version(name)
    found = tuple(int(part) for part in version.split(".")[:2])
    if found < least:
        raise ImportError(
            f"tilefold.gpytorch needs {name} {least[0]}.{least[1]} or later, "
            f"but found {version}: {cure}"
        )


for _name, _least in _NEEDED.items():
    _require(_name, _least)

from tilefold.gpytorch.convert import convert, install  # noqa: E402
from tilefold.gpytorch.formula_kernel import (  # noqa: E402
    FormulaKernel,
    Parameter,
)
from tilefold.gpytorch.kernels import (  # noqa: E402
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
from tilefold.gpytorch.operator import KernelOperator  # noqa: E402

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
