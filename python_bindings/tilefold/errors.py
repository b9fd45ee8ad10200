# python_bindings/tilefold/errors.py - what tilefold raises.
"""The exceptions of tilefold, each an `Error`, and its one warning."""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "Cancelled",
    "ConvergenceWarning",
    "DTypeError",
    "DeviceError",
    "Error",
    "FormulaError",
    "InternalError",
    "OutOfMemory",
    "RowError",
    "ShapeError",
]


class Error(Exception):
    """Any error of tilefold.

    `formula` is the text concerned ("" where there is none), `span` the
    characters of it that the error points at, and `code` the name of the
    error, which never changes ("UnknownFunction").
    """

    formula: str
    span: tuple[int, int]
    code: str

    def __init__(
        self,
        message: str = "",
        formula: str = "",
        span: tuple[int, int] = (0, 0),
        code: str = "",
    ) -> None:
        super().__init__(message, formula, span, code)
        self.formula = formula
        self.span = span
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class FormulaError(Error, ValueError):
    """The text of a formula cannot be read, or reads two ways."""


class ShapeError(Error, ValueError):
    """Shapes of arrays do not fit the formula or each other."""


class DTypeError(Error, TypeError):
    """An array holds elements that are not computed with."""


class ArgumentError(Error, TypeError):
    """An argument is missing, unknown, or used in the wrong way."""


class RowError(ArgumentError, IndexError):
    """A row or column of a kernel that does not exist."""


class OutOfMemory(Error, MemoryError):  # noqa: N818
    """Memory could not be allocated; the message says how much."""


class DeviceError(Error, RuntimeError):
    """A device, a driver or the compiler library is not there or failed."""


class Cancelled(Error, RuntimeError):  # noqa: N818
    """A progress callback asked to stop."""


class InternalError(Error, RuntimeError):
    """A bug of tilefold."""


class ConvergenceWarning(UserWarning):
    """A solve ended before the residual was small enough."""
