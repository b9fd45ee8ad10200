# python_bindings/tilefold/array_conventions.py - what the array API standard
# asks of arrays, of kernels.
"""`device`, `mT`, `astype` and the like, as attributes of lazy matrices.

Results belong to the library of a kernel's arrays: PyTorch's tensors, JAX's
arrays or others of the standard; to NumPy where all are NumPy's, and to the
other library where one is mixed with NumPy.

What type numbers have is NumPy's rule in all of them: int64 with float32 is
float64, though PyTorch and JAX have float32 for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.namespaces import (
    arrays_in,
    dtype_name,
    namespace_of,
    of_library,
)
from tilefold.pair_term import PairTerm
from tilefold.slices import changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilefold.kernel_matrix import Kernel

__all__ = ["ArrayConventions"]

_SINGLES = {"complex64": "float32", "complex128": "float64"}


class ArrayConventions:
    """Those of a kernel."""

    __slots__ = ()

    @property
    def device(self) -> Any:
        """Where the arrays are, as their library says; "cpu" of NumPy's."""
        array = of_library(self._kernel_itself()._pair.arguments.values())
        return getattr(array, "device", "cpu")

    @property
    def mT(self) -> Kernel:  # noqa: N802
        """The last two axes exchanged, as a ``Kernel``; not of vectors."""
        kernel = self._kernel_itself()
        if kernel._pair.components is not None:
            _core.fail("KernelMatrixOnly", "mT", kernel.shape)
        return kernel.T

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """Gives the standard's functions, of the library of the results."""
        array = of_library(self._kernel_itself()._pair.arguments.values())
        return np if array is None else namespace_of(array, api_version)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Kernel:
        """Makes the kernel of the same arrays on another device.

        Parameters
        ----------
        device : object
            As the library of the arrays names it; NumPy's has "cpu" alone.
        stream : object, optional
            Handed to the ``to_device`` of the arrays.

        Returns
        -------
        Kernel
            Of arrays that their library has moved.

        Raises
        ------
        ValueError, RuntimeError
            For a device that the library of the arrays does not know or have.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.zeros(3))
        >>> K.to_device("cpu").device
        'cpu'
        """
        values = self._kernel_itself()._pair.arguments.values()
        other = of_library(values)

        def moved(array: Any) -> Any:
            if other is not None and isinstance(array, np.ndarray):
                return namespace_of(other).asarray(array, device=device)
            if hasattr(array, "to_device"):
                return array.to_device(
                    device, **({} if stream is None else {"stream": stream})
                )
            return array.to(device) if hasattr(array, "to") else array

        return self._with_arrays(moved)

    def astype(self, dtype: Any, /, *, copy: bool = True) -> Kernel:
        """Makes the kernel of values of another type.

        From one float to another its arrays are converted, so that a kernel of
        float32 as float64 computes in double. Numbers become complex, integers
        floats, and anything is true or not.

        Parameters
        ----------
        dtype : dtype or str
            A dtype of any library, or its name.
        copy : bool, default True
            Without effect: nothing is copied but arrays that are converted.

        Returns
        -------
        Kernel
            Of values of that type.

        Raises
        ------
        DTypeError
            For other conversions, and where integers among the arrays make
            values wider.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.zeros(3, np.float32))
        >>> K.astype("float64").dtype
        dtype('float64')
        """
        del copy  # nothing is
        kernel = self._kernel_itself()
        given, wanted = kernel._pair.dtype, dtype_name(dtype)
        if given == wanted:
            return kernel
        found: Any = kernel != 0 if wanted == "bool" else None
        if found is None:
            found = self._converted(wanted)
        if found is None or found._pair.dtype != wanted:
            _core.fail("KernelCast", given, wanted)
        result: Kernel = found
        return result

    def _converted(self, wanted: str) -> Any:
        """None where there is no way to it."""
        kernel: Any = self._kernel_itself()
        given = kernel._pair.dtype
        if wanted in _SINGLES and given not in _SINGLES:
            real = kernel.astype(_SINGLES[wanted])
            return real * _ones(real, wanted)
        if "float" in given or given in _SINGLES:
            if "float" not in wanted and wanted not in _SINGLES:
                return None
            return self._with_arrays(lambda array: _as_float(array, wanted))
        if wanted in ("float16", "float32", "float64"):
            return kernel * _ones(kernel, wanted)
        return None

    def _with_arrays(self, change: Callable[[Any], Any]) -> Kernel:
        """The same formula of other arrays; numbers stay."""
        kernel = self._kernel_itself()
        pair = kernel._pair
        arguments = {
            name: changed(value, change)
            if any(hasattr(array, "dtype") for array in arrays_in([value]))
            else value
            for name, value in pair.arguments.items()
        }
        return kernel._like(PairTerm(pair.formula, arguments, pair.settings))

    def _kernel_itself(self) -> Kernel:
        """The kernel that the methods are of."""
        raise NotImplementedError


def _ones(kernel: Any, dtype: str) -> Any:
    """A column of them; a number would not tell its type."""
    is_vector = kernel._pair.components is not None
    return np.ones((kernel._matrix_shape[0], *(1,) * (1 + is_vector)), dtype)


def _as_float(array: Any, wanted: str) -> Any:
    """An array of floats, or of complex numbers, as one of another width."""
    given = dtype_name(array.dtype)
    if given in _SINGLES:
        wanted = {v: k for k, v in _SINGLES.items()}.get(wanted, wanted)
    elif "float" in given:
        wanted = _SINGLES.get(wanted, wanted)
    else:
        return array
    if hasattr(array, "to"):  # PyTorch's
        return array.to(getattr(namespace_of(array), wanted))
    if hasattr(array, "__dlpack__") and not hasattr(array, "astype"):
        library = namespace_of(array)
        return library.astype(array, getattr(library, wanted))
    return array.astype(wanted)
