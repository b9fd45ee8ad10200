# python_bindings/tilefold/compat/keopscore/formulas/__init__.py - operations.
"""The operations of formulas by name: `maths`."""

from tilefold.compat.keopscore.formulas import maths

__all__ = ["maths"]
