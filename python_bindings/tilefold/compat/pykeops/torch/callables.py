# python_bindings/tilefold/compat/pykeops/torch/callables.py - by place.
"""`Genred` and its short forms."""

from __future__ import annotations

from tilefold.compat.pykeops.genred import GenericGenred
from tilefold.compat.pykeops.genred_functions import functions_of
from tilefold.compat.pykeops.solve import GenericKernelSolve
from tilefold.compat.pykeops.torch_arrays import TorchArrays

__all__ = ["Genred", "KernelSolve", "generic_argkmin", "generic_argmin"]
__all__ += ["generic_logsumexp", "generic_sum"]


class Genred(GenericGenred):
    """A formula of PyTorch's tensors; see `GenericGenred`."""

    arrays = TorchArrays


class KernelSolve(GenericKernelSolve):
    """A formula of arrays, inverted; see `GenericKernelSolve`."""

    genred = Genred


generic_sum, generic_logsumexp, generic_argmin, generic_argkmin = functions_of(
    Genred
)
