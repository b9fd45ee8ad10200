# python_bindings/tilefold/compat/pykeops/numpy/utils.py - kernels and tools.
"""`pykeops.numpy.utils`: dense kernels to compare with, and `numpytools`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilefold.compat.pykeops.numpy import Genred, KernelSolve
from tilefold.compat.pykeops.numpy.cluster import swap_axes

__all__ = [
    "WarmUpGpu",
    "chain_rules",
    "differences",
    "grad_np_kernel",
    "log_np_kernel",
    "log_sum_exp",
    "np_kernel",
    "np_kernel_sphere",
    "numpytools",
    "squared_distances",
]


class numpytools:  # noqa: N801
    """NumPy's functions by the names that both sides have."""

    Genred = Genred
    KernelSolve = KernelSolve
    arraysum = staticmethod(np.sum)
    arraytype = np.ndarray
    arrayname = "numpy"
    contiguous = staticmethod(np.ascontiguousarray)
    copy = staticmethod(np.copy)
    eq = staticmethod(np.equal)
    exp = staticmethod(np.exp)
    float_types = (float, np.float16, np.float32, np.float64)
    log = staticmethod(np.log)
    norm = staticmethod(np.linalg.norm)
    solve = staticmethod(np.linalg.solve)
    swap_axes = staticmethod(swap_axes)
    tile = staticmethod(np.tile)
    transpose = staticmethod(np.transpose)
    view = staticmethod(np.reshape)

    @staticmethod
    def is_tensor(x: Any) -> bool:
        """Whether it is an array."""
        return isinstance(x, np.ndarray)

    @staticmethod
    def permute(x: Any, *args: int) -> Any:
        """The array with its axes in this order."""
        return x.transpose(*args)

    @staticmethod
    def numpy(x: Any) -> Any:
        """The array itself."""
        return x

    @staticmethod
    def size(x: Any) -> int:
        """The number of elements."""
        return int(x.size)

    @staticmethod
    def long(x: Any) -> Any:
        """As int64."""
        return x.astype("int64")

    @staticmethod
    def dtype(x: Any) -> Any:
        """The dtype."""
        return x.dtype

    @staticmethod
    def dtypename(dtype: Any) -> str:
        """Its name, "float32"."""
        return str(np.dtype(dtype).name)

    @staticmethod
    def detect_complex(x: Any) -> bool:
        """Whether a number, a list or an array is complex."""
        if isinstance(x, list):
            return any(isinstance(each, complex) for each in x)
        return bool(np.iscomplexobj(x))

    @staticmethod
    def view_as_complex(x: Any) -> Any:
        """(…, 2D) real as (…, D) complex, the same memory."""
        return x.view(np.result_type(x.dtype, np.complex64))

    @staticmethod
    def view_as_real(x: Any) -> Any:
        """(…, D) complex as (…, 2D) real, the same memory."""
        return x.view(x.real.dtype)

    @staticmethod
    def rand(m: int, n: int, dtype: Any = "float32") -> Any:
        """Uniform in [0, 1): (m, n)."""
        return np.random.rand(m, n).astype(dtype)

    @staticmethod
    def randn(m: int, n: int, dtype: Any = "float32") -> Any:
        """Normal: (m, n)."""
        return np.random.randn(m, n).astype(dtype)

    @staticmethod
    def zeros(shape: Any, dtype: Any, *_: Any, **__: Any) -> Any:
        """Zeros; a device is ignored."""
        return np.zeros(shape, dtype=dtype)

    @staticmethod
    def empty(shape: Any, dtype: Any, *_: Any, **__: Any) -> Any:
        """An array that is not filled; a device is ignored."""
        return np.empty(shape, dtype=dtype)

    @staticmethod
    def eye(n: int, dtype: Any) -> Any:
        """The identity (n, n)."""
        return np.eye(n, dtype=dtype)

    @staticmethod
    def array(x: Any, dtype: Any, device: Any = None) -> Any:  # noqa: ARG004
        """A new array; the device is ignored."""
        return np.array(x, dtype=dtype)

    @staticmethod
    def device(x: Any) -> str:  # noqa: ARG004
        """The device of an array: "cpu"."""
        return "cpu"


def squared_distances(x: Any, y: Any) -> Any:
    """|x_m − y_n|² of x (M, D) and y (N, D): (M, N), never negative."""
    total = np.zeros((len(x), len(y)), dtype=np.result_type(x, y))
    for one, other in zip(x.T, y.T, strict=True):
        total += (one[:, None] - other[None, :]) ** 2
    return total


def differences(x: Any, y: Any) -> Any:
    """x_m − y_n by component, of x (M, D) and y (N, D): (D, M, N)."""
    return x.T[:, :, None] - y.T[:, None, :]


def np_kernel(x: Any, y: Any, s: float, kernel: str) -> Any:
    """The kernel matrix (M, N) of points, of length scale s.

    Of q = |x − y|²: "gaussian" exp(−q/s²), "laplacian" exp(−√q/s), "cauchy"
    1/(1 + q/s²), "inverse_multiquadric" 1/√(1 + q/s²).
    """
    return np.exp(log_np_kernel(x, y, s, kernel))


def log_np_kernel(x: Any, y: Any, s: float, kernel: str) -> Any:
    """The logarithm of `np_kernel`, without its rounding."""
    q = squared_distances(x, y) / (s * s)
    if kernel == "gaussian":
        return -q
    if kernel == "laplacian":
        return -np.sqrt(q)
    if kernel == "cauchy":
        return -np.log1p(q)
    if kernel == "inverse_multiquadric":
        return -0.5 * np.log1p(q)
    raise _unknown(kernel, "gaussian, laplacian, cauchy, inverse_multiquadric")


def grad_np_kernel(x: Any, y: Any, s: float, kernel: str) -> Any:
    """The derivative of `np_kernel` by q = |x − y|²: (M, N).

    That of "laplacian" is −∞ where the points coincide.
    """
    q = squared_distances(x, y) / (s * s)
    if kernel == "gaussian":
        return -np.exp(-q) / (s * s)
    if kernel == "laplacian":
        root = np.sqrt(q)
        with np.errstate(divide="ignore"):
            return -np.exp(-root) / (2 * s * s * root)
    if kernel == "cauchy":
        return -1 / (s * (1 + q)) ** 2
    if kernel == "inverse_multiquadric":
        return -0.5 / (s * s * (1 + q) ** 1.5)
    raise _unknown(kernel, "gaussian, laplacian, cauchy, inverse_multiquadric")


def np_kernel_sphere(nalpha: Any, nbeta: Any, s: float, kernel: str) -> Any:
    """The kernel matrix (M, N) of unit vectors (M, D) and (N, D).

    Of p = n·m: "linear" p, "binet" p², "gaussian_unoriented"
    exp((2p² − 2)/s²), "gaussian_oriented" exp((2p − 2)/s²).
    """
    p = nalpha @ nbeta.T
    if kernel == "linear":
        return p
    if kernel == "binet":
        return p**2
    if kernel == "gaussian_unoriented":
        return np.exp((2 * p * p - 2) / (s * s))
    if kernel == "gaussian_oriented":
        return np.exp((2 * p - 2) / (s * s))
    raise _unknown(
        kernel, "linear, binet, gaussian_unoriented, gaussian_oriented"
    )


def _unknown(kernel: str, known: str) -> ValueError:
    return ValueError(f"kernel is '{kernel}', and should be one of {known}")


def chain_rules(q: Any, ax: Any, by: Any, Aa: Any, p: Any) -> Any:  # noqa: N803
    """Σ_d q_md Σ_n 2 (x_m − y_n) A_mn p_nd: the gradient (M, D) by x, float32.

    Of Σ_m q_m·(Σ_n k_mn p_n), where `Aa` (M, N) is the derivative of k by
    |x − y|² (`grad_np_kernel`), q (M, E), p (N, E), ax (M, D), by (N, D).
    """
    weighted = 2 * differences(ax, by) * Aa
    return np.einsum("me,dmn,ne->md", q, weighted, p).astype("float32")


def log_sum_exp(mat: Any, axis: int = 0) -> Any:
    """The log Σ exp of an axis of a matrix, without overflow."""
    largest = mat.max(axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(mat - shift).sum(axis=axis, keepdims=True))
    return np.squeeze(shift + total, axis=axis)


def WarmUpGpu() -> None:  # noqa: N802
    """Does nothing: the first call needs no warming."""
