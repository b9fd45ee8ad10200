# python_bindings/tilefold/compat/pykeops/numpy/callables.py - by place.
"""`Genred` and its short forms."""

from __future__ import annotations

from tilefold.compat.pykeops.genred import GenericGenred
from tilefold.compat.pykeops.genred_functions import functions_of
from tilefold.compat.pykeops.numpy_arrays import NumpyArrays
from tilefold.compat.pykeops.solve import GenericKernelSolve

__all__ = ["Genred", "KernelSolve", "generic_argkmin", "generic_argmin"]
__all__ += ["generic_logsumexp", "generic_sum"]


class Genred(GenericGenred):
    """A formula of NumPy's arrays; see `GenericGenred`."""

    arrays = NumpyArrays


class KernelSolve(GenericKernelSolve):
    """A formula of arrays, inverted; see `GenericKernelSolve`."""

    genred = Genred


generic_sum, generic_logsumexp, generic_argmin, generic_argkmin = functions_of(
    Genred
)
