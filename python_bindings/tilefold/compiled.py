# python_bindings/tilefold/compiled.py - what torch.compile sees of a formula.
"""The Python function in the place of `Formula.__call__`.

A call of a formula is a slot of its type, in C. Dynamo, which reads Python,
looks a method up in the type's dictionary instead: this one is there, and the
slot stays what it is, so that no other call takes longer for it.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import TYPE_CHECKING, Any

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["show_call"]


def __call__(  # noqa: N807
    self: _core.Formula, arguments: Mapping[str, Any] = {}, /, **arrays: Any
) -> Any:
    """Computes the formula; see the class."""
    if "torch" in sys.modules:
        import torch

        if torch.compiler.is_compiling():
            from tilefold.torch.calls import compiled

            return compiled(self, {**arguments, **arrays})
    return self(arguments, **arrays)


def show_call() -> None:
    """Puts the function into the dictionary of the type.

    Set as an attribute of the type it would become the slot. The proxy that
    `__dict__` gives refers to the dictionary itself.
    """
    (dictionary,) = gc.get_referents(_core.Formula.__dict__)
    dictionary["__call__"] = __call__
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(_core.Formula))
