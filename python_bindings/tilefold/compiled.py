# python_bindings/tilefold/compiled.py - formulas as Python sees them, and
# torch.compile with it.
"""`compile` and `reduce`, and the function in the place of `Formula.__call__`.

A call of a formula is a slot of its type, in C. Dynamo, which reads Python,
looks a method up in the type's dictionary instead: a function of Python's is
there, and the slot stays what it is, so that no other call takes longer for it.
"""

from __future__ import annotations

import sys
from typing import Any
from weakref import WeakValueDictionary

from tilefold import _core
from tilefold.methods import put, show_methods
from tilefold.threads import register_if_loaded

__all__ = ["compile", "reduce", "show_call"]


# One object for a text while one is alive: torch.compile knows it again.
_FORMULAS: WeakValueDictionary[str, _core.Formula] = WeakValueDictionary()


def compile(  # noqa: A001
    formula: str | bytes, *, session: _core.Session | None = None
) -> _core.Formula:
    """Parses a formula; `Formula` says how to call it.

    Kernels are compiled when arrays of new types come, and kept. Raises
    `FormulaError` with a caret.
    """
    if session is not None or type(formula) is not str:
        return _core.compile(formula, session=session)
    found = _FORMULAS.get(formula)
    if found is None:
        if "torch" in sys.modules:
            show_methods()
        register_if_loaded()
        found = _FORMULAS[formula] = _core.compile(formula)
    return found


def _is_traced() -> bool:
    """Whether it is Dynamo that looks into the caller."""
    if "torch" not in sys.modules:
        return False
    import torch

    return torch.compiler.is_compiling()


def reduce(formula: str | bytes, /, *mapping: Any, **arrays: Any) -> Any:
    """Computes a formula over pairs of points.

        tilefold.reduce("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                        x=x, y=y, b=b, l=0.5)

    Arrays are given by name, or as one mapping. See `Formula` for shapes,
    dtypes, `out`, `accumulate`, `session` and `options`.

    Raises `FormulaError` with a caret, `ShapeError`, `DTypeError`,
    `ArgumentError`, `OutOfMemory`.
    """
    if _is_traced():
        from tilefold.torch.calls import compiled

        return compiled(formula, *mapping, **arrays)
    return _core.compile(formula)(*mapping, **arrays)


def __call__(self: _core.Formula, /, *mapping: Any, **arrays: Any) -> Any:  # noqa: N807
    """Computes the formula; see the class."""
    if _is_traced():
        from tilefold.torch.calls import compiled

        return compiled(self, *mapping, **arrays)
    return self(*mapping, **arrays)


def show_call() -> None:
    """Puts `__call__` into the dictionary of the type."""
    put({"__call__": __call__})
