# python_bindings/tilefold/gpytorch/convert.py - models of GPyTorch, converted.
"""`convert` makes a model's kernels formulas; `install` those of a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import gpytorch.kernels as theirs
import gpytorch.kernels.keops as with_keops

from tilefold.gpytorch import kernels as ours

if TYPE_CHECKING:
    import torch

    Module = TypeVar("Module", bound=torch.nn.Module)

__all__ = ["convert", "install"]

_NAMES = [name for name in ours.__all__ if name != "TermKernel"]
_OURS: dict[type, type] = {
    getattr(module, name): getattr(ours, name)
    for module in (theirs, with_keops)
    for name in _NAMES
    if hasattr(module, name)
}


def convert(module: Module) -> Module:
    """Makes the kernels of a module formulas, in place, and returns it.

    Only their class changes: parameters, priors, constraints and state dicts
    are what they were. Kernels of other classes, such as ones of your own,
    stay; those of KeOps are converted, too.

    Parameters
    ----------
    module : torch.nn.Module
        A model, or a kernel.

    Returns
    -------
    torch.nn.Module
        The same object.

    See Also
    --------
    tilefold.gpytorch.install : the same for all kernels at once.

    Examples
    --------
    >>> import gpytorch
    >>> kernel = tilefold.gpytorch.convert(gpytorch.kernels.RBFKernel())
    >>> isinstance(kernel, tilefold.gpytorch.RBFKernel)
    True
    """
    for part in module.modules():
        kind = _OURS.get(type(part))
        if kind is not None:
            part.__class__ = kind
    return module


def install() -> None:
    """Puts the kernels into ``gpytorch.kernels``, for scripts as they are.

    What has been imported by name before, as by ``from gpytorch.kernels import
    RBFKernel``, stays GPyTorch's.

    See Also
    --------
    tilefold.gpytorch.convert : the same for the kernels of one model.

    Examples
    --------
    >>> from unittest import mock
    >>> import gpytorch
    >>> theirs, keops = vars(gpytorch.kernels), vars(gpytorch.kernels.keops)
    >>> with mock.patch.dict(theirs), mock.patch.dict(keops):  # undone
    ...     tilefold.gpytorch.install()
    ...     gpytorch.kernels.RBFKernel is tilefold.gpytorch.RBFKernel
    True
    """
    for module in (theirs, with_keops):
        _put(module)


def _put(module: Any) -> None:
    for name in _NAMES:
        if hasattr(module, name):
            setattr(module, name, getattr(ours, name))
