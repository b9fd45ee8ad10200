# python_bindings/tilefold/compat/pykeops/torch/utils.py - kernels and tools.
"""`pykeops.torch.utils`: dense kernels to compare with, and `torchtools`."""

from __future__ import annotations

from typing import Any

import torch

from tilefold.compat.pykeops.torch import Genred, KernelSolve
from tilefold.compat.pykeops.torch.cluster import swap_axes

__all__ = ["is_on_device", "squared_distances", "torch_kernel", "torchtools"]

_KERNELS: dict[str, Any] = {
    "gaussian": lambda q: torch.exp(-q),
    "laplacian": lambda q: torch.exp(-torch.sqrt(q)),
    "cauchy": lambda q: 1 / (1 + q),
    "inverse_multiquadric": lambda q: torch.rsqrt(1 + q),
}


def is_on_device(x: Any) -> bool:
    """Whether a tensor lies on a GPU."""
    return bool(x.is_cuda)


def squared_distances(x: Any, y: Any) -> Any:
    """|x_m − y_n|² of x (M, D) and y (N, D): (M, N), never negative."""
    total = torch.zeros((len(x), len(y)), dtype=x.dtype, device=x.device)
    for one, other in zip(x.unbind(1), y.unbind(1), strict=True):
        total = total + (one[:, None] - other[None, :]) ** 2
    return total


def torch_kernel(x: Any, y: Any, s: Any, kernel: str) -> Any:
    """The kernel matrix (M, N) of points, of length scale s.

    Of q = |x − y|²: "gaussian" exp(−q/s²), "laplacian" exp(−√q/s), "cauchy"
    1/(1 + q/s²), "inverse_multiquadric" 1/√(1 + q/s²).
    """
    if kernel not in _KERNELS:
        raise ValueError(
            f"kernel is '{kernel}', and should be one of {', '.join(_KERNELS)}"
        )
    return _KERNELS[kernel](squared_distances(x, y) / (s * s))


class torchtools:  # noqa: N801
    """PyTorch's functions by the names that both sides have."""

    Genred = Genred
    KernelSolve = KernelSolve
    arraytype = torch.Tensor
    arrayname = "torch"
    copy = staticmethod(torch.clone)
    eq = staticmethod(torch.eq)
    exp = staticmethod(torch.exp)
    float_types = (float,)
    is_tensor = staticmethod(torch.is_tensor)
    log = staticmethod(torch.log)
    norm = staticmethod(torch.linalg.norm)
    solve = staticmethod(torch.linalg.solve)
    swap_axes = staticmethod(swap_axes)

    @staticmethod
    def transpose(x: Any) -> Any:
        """The matrix with its axes exchanged."""
        return x.t()

    @staticmethod
    def permute(x: Any, *args: int) -> Any:
        """The tensor with its axes in this order."""
        return x.permute(*args)

    @staticmethod
    def contiguous(x: Any) -> Any:
        """The tensor, or a copy without strides."""
        return x.contiguous()

    @staticmethod
    def arraysum(x: Any, axis: int | None = None) -> Any:
        """The sum of all elements, or of an axis."""
        return x.sum() if axis is None else x.sum(dim=axis)

    @staticmethod
    def long(x: Any) -> Any:
        """As int64."""
        return x.long()

    @staticmethod
    def size(x: Any) -> int:
        """The number of elements."""
        return int(x.numel())

    @staticmethod
    def tile(x: Any, *args: Any) -> Any:
        """The tensor repeated along its axes."""
        return x.repeat(*args)

    @staticmethod
    def numpy(x: Any) -> Any:
        """As NumPy's array."""
        return x.detach().cpu().numpy()

    @staticmethod
    def view(x: Any, s: Any) -> Any:
        """The tensor with another shape."""
        return x.reshape(s)

    @staticmethod
    def dtype(x: Any) -> Any:
        """The dtype; the type of what is no tensor."""
        return getattr(x, "dtype", type(x))

    @staticmethod
    def dtypename(dtype: Any) -> Any:
        """Its name, "float32"."""
        if isinstance(dtype, torch.dtype):
            return str(dtype).removeprefix("torch.")
        if dtype is list:
            return "float32"
        if dtype is int:
            return int
        raise ValueError(f"[KeOps] {dtype} data type incompatible with KeOps.")

    @staticmethod
    def detect_complex(x: Any) -> bool:
        """Whether a number, a list or a tensor is complex."""
        if isinstance(x, list):
            return any(isinstance(each, complex) for each in x)
        if isinstance(x, torch.Tensor):
            return x.is_complex()
        return isinstance(x, complex)

    @staticmethod
    def view_as_complex(x: Any) -> Any:
        """(…, 2D) real as (…, D) complex."""
        return torch.view_as_complex(x.unflatten(-1, (-1, 2)))

    @staticmethod
    def view_as_real(x: Any) -> Any:
        """(…, D) complex as (…, 2D) real."""
        return torch.view_as_real(x).flatten(-2)

    @staticmethod
    def rand(m: int, n: int, dtype: Any = None, device: Any = None) -> Any:
        """Uniform in [0, 1): (m, n)."""
        return torch.rand(m, n, dtype=dtype, device=device)

    @staticmethod
    def randn(m: int, n: int, dtype: Any = None, device: Any = None) -> Any:
        """Normal: (m, n)."""
        return torch.randn(m, n, dtype=dtype, device=device)

    @staticmethod
    def zeros(
        shape: Any, dtype: Any, device: Any, requires_grad: bool = False
    ) -> Any:
        """Zeros."""
        return torch.zeros(
            *shape, dtype=dtype, device=device, requires_grad=requires_grad
        )

    @staticmethod
    def empty(
        shape: Any, dtype: Any, device: Any, requires_grad: bool = False
    ) -> Any:
        """A tensor that is not filled."""
        return torch.empty(
            *shape, dtype=dtype, device=device, requires_grad=requires_grad
        )

    @staticmethod
    def eye(n: int, dtype: Any, device: Any = None) -> Any:
        """The identity (n, n)."""
        return torch.eye(n, dtype=dtype, device=device)

    @staticmethod
    def array(x: Any, dtype: Any, device: Any = None) -> Any:
        """A new tensor of a dtype or its name."""
        if isinstance(dtype, str):
            dtype = getattr(torch, dtype)
        return torch.tensor(x, dtype=dtype, device=device)

    @staticmethod
    def device(x: Any) -> Any:
        """The device of a tensor; None of what is none."""
        return getattr(x, "device", None)
