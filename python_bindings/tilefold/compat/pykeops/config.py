# python_bindings/tilefold/compat/pykeops/config.py - pykeops.config.
"""What `pykeops.config` holds. Attributes may be set, to no effect."""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path
from typing import Any

from tilefold.compat.keopscore import config as _settings
from tilefold.compat.keopscore.config import (
    config,
    cuda_config,
    openmp_config,
    platform_detector,
)

__all__ = [
    "config",
    "cuda_config",
    "get_build_folder",
    "numpy_found",
    "openmp_config",
    "platform_detector",
    "pykeops_base",
    "pykeops_cpp_name",
    "pykeops_cuda",
    "pykeops_nvrtc_name",
    "pykeops_openmp",
    "python_includes",
    "torch_found",
]

numpy_found = True
torch_found = importlib.util.find_spec("torch") is not None

pykeops_base = config
pykeops_cuda = cuda_config
pykeops_openmp = openmp_config
get_build_folder = config.get_build_folder
set_build_folder = config.set_different_build_folder

# Flags of a C++ compiler, of which there is none.
python_includes = ""


def pykeops_nvrtc_name(type: str = "src") -> str:  # noqa: A002
    """The path that KeOps's binary for GPUs would have; nothing is there."""
    suffix = ".cpp" if type == "src" else _suffix()
    return str(Path(get_build_folder(), "pykeops_nvrtc" + suffix))


def pykeops_cpp_name(tag: str = "", extension: str = "") -> str:
    """The path that KeOps's binary of a formula would have."""
    return str(Path(get_build_folder(), f"pykeops_cpp_{tag}{extension}"))


def _suffix() -> str:
    return sysconfig.get_config_var("EXT_SUFFIX") or ".so"


def __getattr__(name: str) -> Any:
    if name == "gpu_available":
        return cuda_config.get_use_cuda()
    if name == "bin_folder":
        return get_build_folder()
    return getattr(_settings, name)
