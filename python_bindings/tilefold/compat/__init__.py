# python_bindings/tilefold/compat/__init__.py - other libraries' interfaces.
"""Stand-ins for other libraries, whose programs run on tilefold unmodified."""

from __future__ import annotations

import importlib as _importlib
from types import ModuleType as _ModuleType

__all__ = ["keopscore", "pykeops"]


def __getattr__(name: str) -> _ModuleType:
    """The stand-ins, which are imported where they are wanted."""
    if name in __all__:
        return _importlib.import_module(f"tilefold.compat.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
