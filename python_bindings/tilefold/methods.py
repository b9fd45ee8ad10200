# python_bindings/tilefold/methods.py - methods of formulas, for Dynamo.
"""Functions of Python's in the dictionary of the type `Formula`."""

from __future__ import annotations

import gc
from typing import Any

from tilefold import _core

__all__ = ["put", "show_methods"]


def show_methods() -> None:
    """Puts functions of Python's in the place of methods of C++.

    Dynamo takes these for functions without a `self`. It is done once torch is
    there.
    """
    methods = {
        name: _wrapped(name, method)
        for name, method in vars(_core.Formula).items()
        if type(method).__name__ == "nb_method" and not name.startswith("__")
    }
    if methods:
        put(methods)


def put(functions: dict[str, Any]) -> None:
    """Changes the dictionary of the type, to which its proxy refers.

    Set as an attribute of the type, `__call__` would become the slot.
    """
    (dictionary,) = gc.get_referents(vars(_core.Formula))
    dictionary.update(functions)
    # To set another attribute makes the type forget what it has looked up.
    _core.Formula.__module__ = "tilefold._core"


def _wrapped(name: str, method: Any) -> Any:
    """A method of C++ as one of Python's."""

    def call(self: _core.Formula, /, *values: Any, **named: Any) -> Any:
        return method(self, *values, **named)

    call.__name__ = name
    call.__qualname__ = f"Formula.{name}"
    call.__doc__ = method.__doc__
    return call
