# python_bindings/tilefold/compat/pykeops/common/__init__.py - of both sides.
"""What `pykeops.numpy` and `pykeops.torch` share, by KeOps's names."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = (
    "get_options",
    "gpu_utils",
    "lazy_tensor",
    "operations",
    "parse_type",
    "utils",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "keops_io":
        raise AttributeError(
            "pykeops.common.keops_io loads KeOps's compiled C++, of which "
            "tilefold has none: use Genred or LazyTensor"
        )
    raise AttributeError(f"module 'pykeops.common' has no attribute '{name}'")
