# bench/card.py - a GPU through NVIDIA's driver alone: arrays, streams' time.
"""`Card` needs no array library: what it makes speaks DLPack."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Card", "CardArray", "NoCard"]

CUDA = 2  # of DLPack's devices
_KINDS = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5, "b": 6}  # V: bfloat16


class NoCard(Exception):  # noqa: N818 - a state of a machine, not an error
    """There is no GPU; says why."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


def _capsule(managed: _Managed) -> Any:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(managed), b"dltensor", None)


def _tensor_in(capsule: Any) -> _Tensor:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return _Tensor.from_address(get(capsule, b"dltensor") or 0)


class CardArray:
    """An array on a GPU, strided as NumPy's is; made by `Card.put`."""

    def __init__(self, card: Card, array: Any) -> None:
        self.card = card
        self.dtype = array.dtype
        self.shape = array.shape
        self.ndim = array.ndim
        low, high = _reach(array)
        self._memory = card.allocate(high - low)
        if array.size:
            card.copy_in(self._memory, array.ctypes.data + low, high - low)
        size = array.dtype.itemsize
        steps = [stride // size for stride in array.strides]
        self._extents = (ctypes.c_int64 * (array.ndim or 1))(*array.shape)
        self._steps = (ctypes.c_int64 * (array.ndim or 1))(*steps)
        # Nothing is deleted by who borrows it: the array outlives its calls.
        self._managed = _Managed(
            _Tensor(
                self._memory - low,
                CUDA,
                card.number,
                array.ndim,
                _KINDS[array.dtype.kind],
                8 * size,
                1,
                self._extents,
                self._steps,
                0,
            ),
            None,
            None,
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.card.number

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        """Copies of `Card.put` are there when it returns."""
        return _capsule(self._managed)

    def __del__(self) -> None:
        if hasattr(self, "_memory"):
            self.card.free(self._memory)


def _reach(array: Any) -> tuple[int, int]:
    """Bytes before and after element 0 that an array covers."""
    if array.size == 0:
        return 0, 0
    steps = [
        (extent - 1) * stride
        for extent, stride in zip(array.shape, array.strides, strict=True)
    ]
    low = sum(step for step in steps if step < 0)
    return low, sum(step for step in steps if step > 0) + array.itemsize


class Card:
    """One GPU. Raises NoCard."""

    def __init__(self, number: int = 0, driver: str | None = None) -> None:
        path = driver or os.environ.get("TILEFOLD_CUDA_DRIVER", "libcuda.so.1")
        try:
            self._driver = ctypes.CDLL(path)
        except OSError as error:
            raise NoCard(f"no CUDA device: {error}") from error
        count = ctypes.c_int(0)
        if self._driver.cuInit(0) or self._driver.cuDeviceGetCount(
            ctypes.byref(count)
        ):
            raise NoCard("no CUDA device: the driver finds none")
        if number >= count.value:
            raise NoCard(f"no CUDA device {number} among {count.value}")
        self.number = number
        device, self._context = ctypes.c_int(0), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(device), number)
        self._call(
            "cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device
        )
        self._call("cuCtxPushCurrent_v2", self._context)
        self.name = self._name(device)

    def _name(self, device: ctypes.c_int) -> str:
        text = ctypes.create_string_buffer(200)
        self._call("cuDeviceGetName", text, len(text), device)
        return text.value.decode()

    def _call(self, name: str, *arguments: Any) -> None:
        if status := getattr(self._driver, name)(*arguments):
            raise RuntimeError(f"{name} failed with {status}")

    def close(self) -> None:
        """Leaves the context, which others go on using."""
        self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    # ---- memory -------------------------------------------------------------

    def allocate(self, size: int) -> int:
        """Memory of the card, by its address."""
        address = ctypes.c_uint64(0)
        self._call("cuMemAlloc_v2", ctypes.byref(address), _size(max(size, 1)))
        return address.value

    def free(self, address: int) -> None:
        """Gives memory back, once what uses it is done."""
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def copy_in(self, to: int, source: int, size: int) -> None:
        """From the host's memory."""
        self._call(
            "cuMemcpyHtoD_v2",
            ctypes.c_uint64(to),
            ctypes.c_void_p(source),
            _size(size),
        )

    def put(self, array: Any) -> CardArray:
        """A copy on the card; of bfloat16, as the dtype V2."""
        return CardArray(self, np.asarray(array))

    def get(self, result: Any) -> Any:
        """A C-contiguous result, as NumPy's array."""
        capsule = result.__dlpack__()
        tensor = _tensor_in(capsule)
        kind = {code: kind for kind, code in _KINDS.items()}[tensor.code]
        dtype = np.dtype(bool if kind == "b" else f"{kind}{tensor.bits // 8}")
        array = np.empty(tensor.shape[: tensor.axes], dtype)
        self.wait()
        if array.size:
            self._call(
                "cuMemcpyDtoH_v2",
                ctypes.c_void_p(array.ctypes.data),
                ctypes.c_uint64(tensor.data + tensor.offset),
                _size(array.nbytes),
            )
        return array

    # ---- time ---------------------------------------------------------------

    def wait(self) -> None:
        """Until everything that is queued is done."""
        self._call("cuCtxSynchronize")

    def seconds(self, call: Callable[[], object], times: int) -> float:
        """Of one of `times` calls in a row, by events of the default stream."""
        begin, end = ctypes.c_void_p(), ctypes.c_void_p()
        for event in (begin, end):
            self._call("cuEventCreate", ctypes.byref(event), 0)
        self._call("cuEventRecord", begin, None)
        for _ in range(times):
            call()
        self._call("cuEventRecord", end, None)
        self._call("cuEventSynchronize", end)
        milliseconds = ctypes.c_float(0)
        self._call("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        for event in (begin, end):
            self._call("cuEventDestroy_v2", event)
        return milliseconds.value / 1e3 / times


def _size(size: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(size)


if __name__ == "__main__":
    try:
        print(Card().name)
    except NoCard as reason:
        print(reason)
        sys.exit(3)
