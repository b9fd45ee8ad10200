# examples/c/gaussian.py - a sum of Gaussians at points, from Python's ctypes.
"""The C interface without the package, for who writes one for a language.

python gaussian.py path/to/libtilefold.so.1
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)


class DLTensor(Structure):
    """DLPack's array."""

    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class DLManagedTensor(Structure):
    """DLPack's array with an owner."""

    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", DLTensor),
    )


class Argument(Structure):
    """tilefold_argument."""

    _fields_ = (
        ("name", c_char_p),
        ("array", POINTER(DLTensor)),
        ("number", c_double),
        ("axes", c_int32),
        ("reserved", c_int32),
    )


library = ctypes.CDLL(sys.argv[1])
for name, result, *arguments in [
    ("error_code", c_char_p, c_void_p),
    ("error_message", c_char_p, c_void_p),
    ("error_free", None, c_void_p),
    ("session_create", c_void_p, c_void_p, POINTER(c_void_p)),
    ("session_free", None, c_void_p),
    (
        "reduce",
        c_void_p,
        c_void_p,
        c_char_p,
        POINTER(Argument),
        c_int64,
        c_void_p,
        POINTER(POINTER(DLManagedTensor)),
    ),
    ("tensor_free", None, POINTER(DLManagedTensor)),
]:
    function = getattr(library, f"tilefold_{name}")
    function.restype = result
    function.argtypes = arguments


class Error(Exception):
    """An error of tilefold; `code` does not change with versions."""

    def __init__(self, error: int) -> None:
        super().__init__(library.tilefold_error_message(error).decode())
        self.code = library.tilefold_error_code(error).decode()
        library.tilefold_error_free(error)


def check(error: int | None) -> None:
    """Raises what a function returned, if anything."""
    if error:
        raise Error(error)


def tensor_of(values: list[float], *shape: int) -> DLTensor:
    """An array of float64."""
    data = (c_double * len(values))(*values)
    extents = (c_int64 * len(shape))(*shape)
    tensor = DLTensor(
        data=ctypes.cast(data, c_void_p),
        device_type=1,
        ndim=len(shape),
        code=2,
        bits=64,
        lanes=1,
        shape=extents,
    )
    tensor.owned = data  # lives as long as the tensor
    return tensor


def reduce(session: c_void_p, text: str, **arrays: DLTensor) -> list[float]:
    """The numbers, float64, that a formula gives for float64 arrays."""
    given = (Argument * len(arrays))(
        *(
            Argument(name.encode(), ctypes.pointer(tensor), 0, -1, 0)
            for name, tensor in arrays.items()
        )
    )
    out = POINTER(DLManagedTensor)()
    check(
        library.tilefold_reduce(
            session, text.encode(), given, len(given), None, byref(out)
        )
    )
    tensor = out.contents.tensor
    values = ctypes.cast(tensor.data, POINTER(c_double))
    result = values[: tensor.shape[0]]
    library.tilefold_tensor_free(out)
    return result


x = tensor_of([(i + 2 * d) / 4 for i in range(4) for d in range(2)], 4, 2)
y = tensor_of([(2 * j - d) / 5 for j in range(5) for d in range(2)], 5, 2)
b = tensor_of([1.0 + j for j in range(5)], 5)
l = tensor_of([0.5])

session = c_void_p()
check(library.tilefold_session_create(None, byref(session)))
a = reduce(
    session, "sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j", x=x, y=y, b=b, l=l
)
for i, value in enumerate(a):
    print(f"a[{i}] = {value:.6f}")

# A mistake is an exception.
try:
    reduce(session, "sum_j expp(x_i - y_j)", x=x, y=y)
except Error as error:
    print("error:", error.code)
library.tilefold_session_free(session)
