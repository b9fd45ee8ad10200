# python_bindings/tilefold/compat/keopscore/config.py - KeOps's settings.
"""The objects of `keopscore.config`, with what still means something here.

Attributes may be set freely, as programs do (`config.use_cuda = False`): what
KeOps reads before it compiles C++ has no effect on tilefold.
"""

from __future__ import annotations

import atexit
import functools
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

__all__ = [
    "CUDAConfig",
    "Config",
    "DetectPlatform",
    "OpenMPConfig",
    "config",
    "cuda_config",
    "get_config",
    "get_cuda_config",
    "get_openmp_config",
    "get_platform_config",
    "openmp_config",
    "platform_detector",
]


def check_health() -> None:
    """Prints what ``tilefold doctor`` finds of this machine, a line for each.

    Programs written for KeOps call it to see whether formulas can be compiled.

    See Also
    --------
    install

    Examples
    --------
    >>> from tilefold.compat import pykeops
    >>> pykeops.check_health()  # doctest: +ELLIPSIS
    ok ...
    """
    from tilefold.doctor import examine

    for name, finding, good in examine():
        print(f"{'ok' if good else 'BAD':4} {name:10} {finding}")


@functools.cache
def _gpus() -> str:
    """What tilefold says of the GPUs; it begins with "none" without any."""
    from tilefold import Session

    return str(Session()._describe_gpus()[0])


@functools.cache
def _scratch() -> str:
    """A folder of this process, empty and removed at its end."""
    folder = tempfile.mkdtemp(prefix="tilefold-pykeops-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Config:
    """Folders, and the compiler, of which there is none."""

    def __init__(self) -> None:
        self._build_folder: str | None = None

    def get_build_folder(self) -> str:
        """The folder set, else KEOPS_CACHE_FOLDER, else an empty one.

        Nothing is written to it: `TILEFOLD_CACHE_DIR` names the folder of
        compiled kernels.
        """
        named = self._build_folder or os.environ.get("KEOPS_CACHE_FOLDER")
        folder = named or _scratch()
        Path(folder).mkdir(parents=True, exist_ok=True)
        return folder

    get_default_build_path = get_build_folder
    get_keops_cache_folder = get_build_folder

    def set_different_build_folder(
        self, path: str | None = None, **_: Any
    ) -> None:
        """Names the folder; None is the one of the beginning."""
        self._build_folder = None if path is None else str(Path(path))
        self.get_build_folder()

    set_build_folder = set_different_build_folder

    def get_cxx_compiler(self) -> None:
        """None: no C++ compiler is used."""

    def get_use_cuda(self) -> bool:
        """Whether tilefold computes on a GPU here."""
        return not _gpus().startswith("none")

    def print_all(self) -> None:
        """Prints what was found."""
        print(f"build folder: {self.get_build_folder()}")
        print(f"GPUs: {_gpus()}")


class CUDAConfig(Config):
    """The GPU."""

    def get_cuda_block_size(self) -> int:
        """KeOps's block of threads; tilefold chooses its own."""
        return 192

    def get_gpu_props(self) -> tuple[int, str]:
        """The number of GPUs, and flags for a C++ compiler, of which none."""
        if not self.get_use_cuda():
            return 0, ""
        return max(1, _gpus().count("cuda:")), ""


class OpenMPConfig(Config):
    """Threads on the host."""

    def get_use_OpenMP(self) -> bool:  # noqa: N802
        """True: reductions run on all cores."""
        return True


class DetectPlatform(Config):
    """The machine."""

    def get_os(self) -> str:
        """The operating system and its version."""
        return f"{platform.system()} {platform.release()}"

    def get_python_version(self) -> str:
        """Python's version."""
        return platform.python_version()

    def get_env_type(self) -> str:
        """Whether Python runs in a virtual environment, and which kind."""
        if os.environ.get("CONDA_DEFAULT_ENV"):
            return f"conda ({os.environ['CONDA_DEFAULT_ENV']})"
        return "system" if sys.prefix == sys.base_prefix else "virtualenv"


config = Config()
cuda_config = CUDAConfig()
openmp_config = OpenMPConfig()
platform_detector = DetectPlatform()


def get_config() -> Config:
    """`config`."""
    return config


def get_cuda_config() -> CUDAConfig:
    """`cuda_config`."""
    return cuda_config


def get_openmp_config() -> OpenMPConfig:
    """`openmp_config`."""
    return openmp_config


def get_platform_config() -> DetectPlatform:
    """`platform_detector`."""
    return platform_detector


def __getattr__(name: str) -> Any:
    # `keopscore.config` is, in KeOps, now the module and now its object.
    if name.startswith("get_") or name == "set_different_build_folder":
        return getattr(config, name)
    if name in {"use_cuda", "cuda_standalone"}:
        return config.get_use_cuda()
    if name == "use_OpenMP":
        return openmp_config.get_use_OpenMP()
    raise AttributeError(
        f"module 'keopscore.config' has no attribute '{name}' here: tilefold "
        "compiles no C++"
    )
