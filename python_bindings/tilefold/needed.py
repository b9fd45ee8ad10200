# python_bindings/tilefold/needed.py - the libraries of each face, and how old
# they may be.
"""`require` raises `ImportError` where one of them is missing or too old.

They are those of the extras in pyproject.toml.
"""

from __future__ import annotations

import importlib
import re
from typing import NamedTuple

__all__ = ["NEEDED", "Needed", "require"]


class Needed(NamedTuple):
    """A library: its module, its package, and the oldest version."""

    module: str
    package: str
    least: tuple[int, int]


#: By module of tilefold. What others cannot be imported without comes first.
NEEDED: dict[str, tuple[Needed, ...]] = {
    "dask": (Needed("dask", "dask", (2025, 1)),),
    "gpytorch": (
        Needed("torch", "torch", (2, 4)),
        Needed("linear_operator", "linear_operator", (0, 6)),
        Needed("gpytorch", "gpytorch", (1, 15)),
    ),
    "jax": (
        Needed("jaxlib", "jaxlib", (0, 6)),
        Needed("jax", "jax", (0, 6)),
    ),
    "scipy": (Needed("scipy", "scipy", (1, 11)),),
    "sklearn": (
        Needed("scipy", "scipy", (1, 13)),
        Needed("sklearn", "scikit-learn", (1, 9)),
    ),
    "torch": (Needed("torch", "torch", (2, 4)),),
}


def require(face: str) -> None:
    """Imports the libraries of `tilefold.{face}`.

    Raises `ModuleNotFoundError` for one that is missing, and `ImportError` for
    one that is too old, both with the command that installs it.
    """
    for module, package, least in NEEDED[face]:
        needs = f"tilefold.{face} needs {package}"
        try:
            library = importlib.import_module(module)
        except ModuleNotFoundError as error:
            cure = f"pip install 'tilefold[{face}]'"
            missing = f"{needs}: {cure}"
            raise ModuleNotFoundError(missing, name=module) from error
        found = str(getattr(library, "__version__", ""))
        # Of a pre-release, such as 1.16rc1, the numbers alone. A checkout may
        # have none, and is taken for a new one.
        numbers = re.findall(r"\d+", found)[:2]
        if numbers and tuple(map(int, numbers)) < least:
            oldest = ".".join(map(str, least))
            raise ImportError(
                f"{needs} {oldest} or later, but found {found}: "
                f"pip install -U 'tilefold[{face}]'",
                name=module,
            )
