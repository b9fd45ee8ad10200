# python_bindings/tilefold/sdk.py - what programs in C and C++ build with.
"""Headers, library and CMake package of the installed tilefold."""

from __future__ import annotations

import sys
from pathlib import Path

from tilefold import _core

__all__ = ["get_cmake_dir", "get_include", "get_library"]


def get_include() -> str:
    """The folder of headers, which a compiler is given as -I.

    It has ``tilefold/tilefold.h`` for C, ``tilefold/tilefold.hpp`` for C++17
    and, for programs that have none, ``dlpack/dlpack.h``.

    Returns
    -------
    str
        The path, in the installed package.

    See Also
    --------
    get_library, get_cmake_dir

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(tilefold.get_include()).name
    'include'
    """
    return str(_folder() / "include")


def get_library() -> str:
    """The path of the library for C, which a program links or loads.

    It has the functions of ``tilefold.h`` and nothing else. Python's own
    module does not use it: sessions of the two share nothing but the cache.

    Returns
    -------
    str
        The path, in the installed package.

    See Also
    --------
    get_include, get_cmake_dir

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(tilefold.get_library()).name
    'libtilefold.so.1'
    """
    is_mac = sys.platform == "darwin"
    name = "libtilefold.1.dylib" if is_mac else "libtilefold.so.1"
    return str(_folder() / "lib" / name)


def get_cmake_dir() -> str:
    """The folder that CMake is given as ``tilefold_DIR``.

    ``find_package(tilefold)`` then finds the installed package, and the target
    ``tilefold::tilefold`` has its headers and its library.

    Returns
    -------
    str
        The path, in the installed package.

    See Also
    --------
    get_include, get_library

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(tilefold.get_cmake_dir()).parts[-3:]
    ('lib', 'cmake', 'tilefold')
    """
    return str(_folder() / "lib" / "cmake" / "tilefold")


def _folder() -> Path:
    """The package's folder, as it is installed."""
    return Path(_core.__file__).parent
