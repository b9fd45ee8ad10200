# python_bindings/tilefold/compat/pykeops/common/get_options.py - backends.
"""What `backend="GPU_1D"` and its like name."""

from __future__ import annotations

from typing import Any

from tilefold.compat.keopscore.config import cuda_config

__all__ = ["BACKENDS", "get_tag_backend"]

BACKENDS = (
    "auto",
    "CPU",
    "GPU",
    "GPU_1D",
    "GPU_1D_device",
    "GPU_1D_host",
    "GPU_2D",
    "GPU_2D_device",
    "GPU_2D_host",
)


def get_tag_backend(
    backend: str,
    variables: Any,
    str: bool = False,  # noqa: A002
) -> tuple[Any, Any, Any]:
    """(GPU?, 2D?, arrays on the device?) as 0 or 1, or as KeOps's words.

    Raises ValueError for another backend, or arrays on both sides.
    """
    if backend not in BACKENDS:
        raise ValueError(
            f"Invalid backend '{backend}'. Should be one of {BACKENDS}"
        )
    parts = backend.split("_")
    gpu = int(parts[0] == "GPU")
    if backend == "auto":
        gpu = int(cuda_config.get_use_cuda())
    grid = int(parts[1:2] == ["2D"])
    memory = int(parts[2] == "device") if len(parts) > 2 else _memory(variables)
    if not str:
        return gpu, grid, memory
    return (
        ("CPU", "GPU")[gpu],
        ("1D", "2D")[grid],
        ("host", "device")[memory],
    )


def _memory(variables: Any) -> int:
    places = {int(bool(getattr(each, "is_cuda", False))) for each in variables}
    if len(places) > 1:
        raise ValueError(
            "At least two input variables have different memory locations "
            "(Cpu/Gpu)."
        )
    return places.pop() if places else 0
