# tests/python/fake_gpu.py - an array library whose arrays say that they are on
# a GPU: their memory is NumPy's, which the fake driver's kernels work on.
"""`array`, `Array` and what tilefold asks of such a library.

`Alone` is an array of no library: it has no `from_dlpack` beside it.
"""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path

import numpy as np

import tilefold

CPU, CUDA = 1, 2
_ROOT = Path(__file__).parents[2]


def library(name: str) -> str:
    """A library that the build made for tests, by its path."""
    found = sorted(_ROOT.glob(f"build/python*/**/lib{name}.so"))
    assert found, f"lib{name}.so is not built: run scripts/setup --tests"
    return str(found[0])


class Driver:
    """The fake driver's numbers, as attributes."""

    def __init__(self) -> None:
        self.__dict__["_library"] = ctypes.CDLL(library("fake_cuda"))
        self._library.tilefold_fake_get.restype = ctypes.c_longlong
        self._library.tilefold_fake_stream.restype = ctypes.c_longlong

    def __getattr__(self, name: str) -> int:
        return self._library.tilefold_fake_get(name.encode())

    def __setattr__(self, name: str, value: int) -> None:
        number = ctypes.c_longlong(value)
        assert self._library.tilefold_fake_set(name.encode(), number)

    @property
    def stream(self) -> int:
        """Of the last launch."""
        return self._library.tilefold_fake_stream()

    @contextlib.contextmanager
    def capture(self):
        """What is queued meanwhile on the libraries' streams waits.

        It is what `replay` runs, until `destroy_graph`.
        """
        self.captures = 1
        try:
            yield
        finally:
            self.captures = 0

    def replay(self) -> None:
        """Launch the graph that was captured."""
        assert self._library.tilefold_fake_replay() == 0

    def destroy_graph(self) -> None:
        self._library.tilefold_fake_destroy_graph()

    def reset(self) -> None:
        """A card of its own again."""
        self._library.tilefold_fake_reset()


class Stream:
    """As PyTorch's: its number is `cuda_stream`."""

    def __init__(self, number: int) -> None:
        self.cuda_stream = number


class cuda:  # noqa: N801 - as libraries call it
    """The part of a library that knows streams."""

    current = 77

    @staticmethod
    def current_stream(device: int) -> Stream:
        """The stream on which the library works."""
        assert device >= 0
        return Stream(cuda.current)


class Alone:
    """Memory of NumPy's that calls itself a device's."""

    def __init__(self, memory, device: int = 0) -> None:
        self.memory = np.asarray(memory)
        self.device = device
        self.asked: list[int] = []  # streams that it was lent for

    @property
    def dtype(self):
        return self.memory.dtype

    @property
    def shape(self):
        return self.memory.shape

    @property
    def ndim(self):
        return self.memory.ndim

    def __getitem__(self, key):
        return type(self)(self.memory[key], self.device)

    def __dlpack_device__(self):
        return CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream not in (None, 0)
        self.asked.append(stream)
        bfloat = self.memory.dtype == np.dtype("V2")
        memory = self.memory.view("uint16") if bfloat else self.memory
        capsule = memory.__dlpack__()
        _set_device(capsule, CUDA, self.device)
        if bfloat:
            _tensor(capsule).code = 4
        return capsule


class Array(Alone):
    """An array of this module, which has a `from_dlpack`."""


Alone.__module__ = "nowhere"


def from_dlpack(owner) -> Array:
    """What a library of arrays does with a result."""
    kind, device = owner.__dlpack_device__()
    assert kind == CUDA
    capsule = owner.__dlpack__(stream=cuda.current, max_version=(1, 0))
    _set_device(capsule, CPU, 0)
    return Array(np.from_dlpack(_Lent(capsule)), device)


class _Lent:
    def __init__(self, capsule) -> None:
        self.capsule = capsule

    def __dlpack_device__(self):
        return CPU, 0

    def __dlpack__(self, **_):
        return self.capsule


class _Tensor(ctypes.Structure):
    """DLTensor, as far as it is changed."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
    )


def _tensor(capsule) -> _Tensor:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    get.restype = ctypes.c_void_p
    for function in (get, is_valid):
        function.argtypes = [ctypes.py_object, ctypes.c_char_p]
    if is_valid(capsule, b"dltensor"):
        return _Tensor.from_address(get(capsule, b"dltensor"))
    after_version_and_flags = 32
    return _Tensor.from_address(
        get(capsule, b"dltensor_versioned") + after_version_and_flags
    )


def _set_device(capsule, kind: int, number: int) -> None:
    tensor = _tensor(capsule)
    tensor.device, tensor.number = kind, number


def bfloat16(values) -> np.ndarray:
    """Numbers as bfloat16, rounded towards zero, of the dtype V2."""
    bits = np.asarray(values, np.float32).view(np.uint32) >> 16
    return bits.astype(np.uint16).view("V2")


def array(values, dtype=None, device: int = 0) -> Array:
    """A C-contiguous array on a device."""
    return Array(np.array(values, dtype), device)


def asarray(values, device: int) -> Array:
    """As the array API standard has it."""
    return Array(np.array(values), device)


def numpy(value) -> np.ndarray:
    """The memory of an Array, or of a tilefold.DeviceArray."""
    return (value if isinstance(value, Alone) else from_dlpack(value)).memory


def settings(**changed) -> tilefold.Options:
    return tilefold.Options(
        **{
            "cuda_driver": library("fake_cuda"),
            "nvrtc": library("fake_nvrtc"),
            **changed,
        }
    )


def numbers(*shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def agree(there, here, tolerance=3e-6):
    for got, wanted in zip(there, here, strict=True):
        wanted = np.asarray(wanted)
        assert got.shape == wanted.shape
        assert got.dtype == wanted.dtype
        scale = np.abs(wanted).max(initial=0) or 1
        np.testing.assert_allclose(
            got / scale, wanted / scale, rtol=0, atol=tolerance
        )
