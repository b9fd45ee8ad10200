# python_bindings/tilefold/torch/__init__.py - tilefold in PyTorch.
"""Formulas of tensors: gradients, transforms, `torch.compile`, modules.

Nothing has to be called: `tilefold.reduce`, formulas and kernels come here by
themselves where PyTorch records, transforms or compiles what is computed of a
tensor. Derivatives of any order are exact, since a formula's derivatives are
formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold.needed import require

require("torch")

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch._subclasses.fake_tensor import is_fake

import tilefold.torch.operator  # noqa: F401  (registers it)
from tilefold import _core
from tilefold.frameworks import requires_grad
from tilefold.methods import show_methods
from tilefold.result_types import with_few_points as few_points
from tilefold.roles import Role, bare
from tilefold.torch.calls import call as call
from tilefold.torch.elements import elements as elements
from tilefold.torch.evaluate import is_seen, is_traced, refuse_nested
from tilefold.torch.module import Kernel
from tilefold.torch.records import (
    array_like,
    is_transformed,
    spec_of,
)
from tilefold.torch.solves import inv_quad_logdet as inv_quad_logdet
from tilefold.torch.solves import solve as solve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

# What is not here is asked of a framework: see tilefold.frameworks.
__all__ = ["Kernel", "spec"]


show_methods()


def spec(
    formula: Any,
    names: Sequence[str],
    *,
    roles: Sequence[int | None] | None = None,
    options: Any = None,
) -> str:
    """Writes down a call for ``torch.ops.tilefold.call(spec, values)``.

    For TorchScript and for programs that call the operator by themselves.

    Parameters
    ----------
    formula : str or Formula
        The text, or what ``tilefold.compile`` made of it.
    names : sequence of str
        Those of the values, in their order.
    roles : sequence of int or None, optional
        The axes of each: 0 none, 1 i, 2 j; None where the formula's subscripts
        say them.
    options : Options, optional
        Settings of the call.

    Returns
    -------
    str
        The text that the operator takes.

    Raises
    ------
    FormulaError
        Where the formula cannot be read.

    See Also
    --------
    tilefold.torch.call : a call without a text.

    Examples
    --------
    >>> import torch
    >>> spec = tilefold.torch.spec("sum_j |x_i - y_j|", ["x", "y"])
    >>> x, y = torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0, 3.0])
    >>> torch.ops.tilefold.call(spec, [x, y])
    [tensor([4., 3.])]
    """
    given = [None] * len(names) if roles is None else list(roles)
    return spec_of(formula, list(names), given, options)


def holds(values: Iterable[Any]) -> bool:
    """Whether some of the values are tensors."""
    return any(isinstance(bare(value), torch.Tensor) for value in values)


def records(values: Iterable[Any]) -> bool:
    """Whether PyTorch records what is computed of the values."""
    given = list(values)
    has_gradients = torch.is_grad_enabled() and any(map(requires_grad, given))
    return has_gradients or (holds(given) and is_seen(given))


def described(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, arrays of the same shapes for tensors without memory."""
    if not is_seen(arguments.values()):
        return arguments
    _require_one_device(arguments)
    return {name: _described(value) for name, value in arguments.items()}


def with_few_points(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Any, Any]] | None:
    """Arrays of few points, and N and M, where sizes are symbols; else None.

    What is computed for any number of points must not depend on one.
    """
    refuse_nested(arguments)
    values = list(map(bare, arguments.values()))
    if not any(map(_has_symbols, values)):
        return None
    return few_points(formula, arguments, settings.get("batch_rank"), _stand_in)


def _has_symbols(value: Any) -> bool:
    """Whether a tensor has sizes that are not known."""
    return isinstance(value, torch.Tensor) and any(
        isinstance(extent, torch.SymInt) for extent in value.shape
    )


def _require_one_device(arguments: dict[str, Any]) -> None:
    """Tensors of no memory beside others: nobody else sees that."""
    devices = {
        name: tensor.device
        for name, value in arguments.items()
        if isinstance(tensor := bare(value), torch.Tensor) and tensor.ndim > 0
    }
    for name, device in devices.items():
        first = next(iter(devices.values()))
        if "meta" in (first.type, device.type) and device != first:
            _core.fail("OtherDevice", name, device, first)


def _described(value: Any) -> Any:
    """An array of NumPy's that takes no memory, for a tensor or a symbol."""
    if isinstance(value, Role):
        return Role(_described(value.value), value.axes)
    return _stand_in(value, getattr(value, "shape", ()))


def _stand_in(value: Any, shape: tuple[Any, ...]) -> Any:
    """The same of another shape; a number where it is none."""
    if isinstance(value, torch.SymInt):
        return 1
    if isinstance(value, torch.Tensor):
        return array_like(value.dtype, shape)
    return array_like(np.asarray(value).dtype, shape) if shape else value


def unrecorded() -> AbstractContextManager[Any]:
    """Where PyTorch records nothing."""
    return torch.no_grad()


def concrete(numbers: Any) -> Any:
    """Whole numbers, without what transforms wrap them in."""
    if is_traced() or is_fake(numbers):
        _core.fail(
            "BadOption",
            "K[…]",
            "read by a tensor where PyTorch traces",
            "index by numbers or lists, or the points: kernel(…, x=x[rows])",
        )
    if not is_transformed():
        return numbers
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(
        numbers
    ) and not functorch.is_batchedtensor(numbers):
        numbers = functorch.get_unwrapped(numbers)
    with temporarily_clear_interpreter_stack():
        return np.asarray(numbers.cpu())


def dtype(name: str) -> Any:
    """PyTorch's element type of a name, such as "float32"."""
    return getattr(torch, name)


def real_numbers(values: Any, dtype: Any) -> Any:
    """A tensor of numbers: of float32 where `dtype` is, else of float64."""
    real = {torch.complex64: torch.float32, torch.float32: torch.float32}
    wide = real.get(dtype, torch.float64)
    return torch.as_tensor(values, dtype=wide, device="cpu")
