# python_bindings/tilefold/compat/keopscore/__init__.py - keopscore's names.
"""What `import keopscore` gives once `tilefold.compat.pykeops.install()` ran.

Settings and the names of operations; KeOps's symbolic algebra, which writes
C++, has no counterpart here.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from tilefold.compat.keopscore import config
from tilefold.compat.keopscore.config import check_health

__all__ = ["check_health", "clean_keops", "config", "set_build_folder"]

__version__ = "2.3"

# Whether messages are printed.
verbose = "0" not in (
    os.environ.get("KEOPS_VERBOSE"),
    os.environ.get("PYKEOPS_VERBOSE"),
)
# KeOps writes its C++ by these; here they have no effect.
debug_ops = False
debug_ops_at_exec = False
auto_factorize = False

set_build_folder = config.config.set_different_build_folder
show_gpu_config = config.cuda_config
cuda_block_size = config.cuda_config.get_cuda_block_size()


def clean_keops(recompile_jit_binary: bool = True) -> None:  # noqa: ARG001
    """Forgets the formulas compiled so far."""
    importlib.import_module("tilefold.compat.pykeops").clean_pykeops()


def __getattr__(name: str) -> Any:
    if name == "build_folder":
        return config.config.get_build_folder()
    if name == "show_cuda_status":
        return config.cuda_config.get_use_cuda()
    if name in {"formulas", "utils"}:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"module 'keopscore' has no attribute '{name}' here: tilefold has its "
        "own compiler in the place of KeOps's"
    )


if __name__ == "keopscore":  # in a process that was spawned
    importlib.import_module("tilefold.compat.pykeops").install(force=True)
