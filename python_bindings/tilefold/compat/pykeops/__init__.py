# python_bindings/tilefold/compat/pykeops/__init__.py - pykeops, on tilefold.
"""What `import pykeops` gives once `install()` was called.

    import tilefold.compat.pykeops
    tilefold.compat.pykeops.install()
    from pykeops.torch import LazyTensor      # tilefold's

    python -m tilefold.compat.pykeops program.py argument …
    python -m tilefold.compat.pykeops -m module argument …
    pytest -p tilefold.compat.pykeops tests

Names, arguments, shapes and errors are those of KeOps 2.3; formulas are
compiled in milliseconds, and no C++ compiler is asked for. A program may also
name this package itself, which replaces nothing:
`from tilefold.compat.pykeops.torch import LazyTensor`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

from tilefold.compat import keopscore
from tilefold.compat.keopscore import check_health
from tilefold.compat.pykeops.registration import VERSION, install, uninstall

__all__ = [
    "check_health",
    "clean_pykeops",
    "get_build_folder",
    "install",
    "set_build_folder",
    "set_verbose",
    "uninstall",
]

__version__ = VERSION

# Whether messages are printed; nothing here prints by itself.
verbose = os.environ.get("PYKEOPS_VERBOSE") != "0"

default_device_id = 0
numpy_found = True
torch_found = importlib.util.find_spec("torch") is not None

# Modules by the names that KeOps has after `import pykeops`.
_MODULES = {
    "common": "common",
    "config": "config",
    "numpy": "numpy",
    "pykeopsconfig": "config",
    "torch": "torch",
}


def set_verbose(val: bool) -> None:
    """Sets `verbose`, of `keopscore` too."""
    global verbose
    verbose = val
    keopscore.verbose = val


def set_build_folder(path: str | None = None) -> None:
    """Names the folder of `get_build_folder`; None is an empty one."""
    keopscore.set_build_folder(path)


def get_build_folder() -> str:
    """A folder that exists. Compiled kernels lie in TILEFOLD_CACHE_DIR."""
    return str(keopscore.config.config.get_build_folder())


def clean_pykeops(recompile_jit_binaries: bool = True) -> None:  # noqa: ARG001
    """Forgets the formulas compiled so far, in this process."""
    importlib.import_module("tilefold.compat.pykeops.nodes").clear()


def show_cuda_status() -> None:
    """Prints whether tilefold computes on a GPU here."""
    keopscore.config.cuda_config.print_all()


def pytest_load_initial_conftests() -> None:
    """Of `pytest -p tilefold.compat.pykeops`: before any test is imported."""
    install()


def pytest_collect_directory(path: Any, parent: Any) -> Any:
    """A checkout of KeOps is a folder of tests, not the package itself."""
    if path.name in {"pykeops", "keopscore"} and (path / "test").is_dir():
        import pytest

        return pytest.Dir.from_parent(parent, path=path)
    return None


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{_MODULES[name]}")
    if name in {"test_numpy_bindings", "test_torch_bindings"}:
        bindings = importlib.import_module(f"{__name__}.bindings")
        return getattr(bindings, name)
    if name in {"Kernel", "Formula", "kernel_product"}:
        raise AttributeError(f"pykeops.{name} is of KeOps 1: use a LazyTensor")
    raise AttributeError(f"module 'pykeops' has no attribute '{name}'")


if __name__ == "pykeops":  # in a process that was spawned
    install(force=True)
