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
    """Sets whether messages may be printed, of keopscore too.

    Programs written for KeOps set it; nothing here prints by itself, so that
    it only changes what ``verbose`` is when it is read.

    Parameters
    ----------
    val : bool
        What ``verbose`` is from here on.

    See Also
    --------
    check_health

    Examples
    --------
    >>> from tilefold.compat import pykeops
    >>> before = pykeops.verbose
    >>> pykeops.set_verbose(False)
    >>> pykeops.verbose
    False
    >>> pykeops.set_verbose(before)
    """
    global verbose
    verbose = val
    keopscore.verbose = val


def set_build_folder(path: str | None = None) -> None:
    """Names the folder that ``get_build_folder`` gives, for programs that ask.

    Nothing is built there: compiled kernels lie in ``TILEFOLD_CACHE_DIR``.

    Parameters
    ----------
    path : str, optional
        The folder, which is made where it is not there; else the one of
        ``KEOPS_CACHE_FOLDER``, or an empty one of this process.

    Raises
    ------
    OSError
        Where the folder cannot be made.

    See Also
    --------
    get_build_folder

    Examples
    --------
    >>> import tempfile
    >>> from tilefold.compat import pykeops
    >>> folder = tempfile.mkdtemp()
    >>> pykeops.set_build_folder(folder)
    >>> pykeops.get_build_folder() == folder
    True
    >>> pykeops.set_build_folder()
    """
    keopscore.set_build_folder(path)


def get_build_folder() -> str:
    """Gives a folder that exists, for programs that ask KeOps for one.

    Nothing is built there: compiled kernels lie in ``TILEFOLD_CACHE_DIR``.

    Returns
    -------
    str
        The folder that was named, here or by ``KEOPS_CACHE_FOLDER``, else an
        empty one of this process.

    See Also
    --------
    set_build_folder, clean_pykeops

    Examples
    --------
    >>> from pathlib import Path
    >>> from tilefold.compat import pykeops
    >>> Path(pykeops.get_build_folder()).is_dir()
    True
    """
    return str(keopscore.config.config.get_build_folder())


def clean_pykeops(recompile_jit_binaries: bool = True) -> None:  # noqa: ARG001
    """Forgets the formulas that were compiled so far, in this process.

    Kernels on disk stay, until ``tilefold cache clear`` removes them.

    Parameters
    ----------
    recompile_jit_binaries : bool, default True
        Without effect: there are no binaries of KeOps.

    See Also
    --------
    get_build_folder

    Examples
    --------
    >>> from tilefold.compat import pykeops
    >>> pykeops.clean_pykeops()
    """
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
