# python_bindings/tilefold/compat/keopscore/utils/misc_utils.py - messages.
"""KeOps's messages, warnings and errors."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from tilefold.compat import keopscore

__all__ = [
    "CHECK_MARK",
    "CROSS_MARK",
    "KeOps_Error",
    "KeOps_Message",
    "KeOps_Print",
    "KeOps_Warning",
]

CHECK_MARK = "✅"
CROSS_MARK = "❌"


def KeOps_Print(  # noqa: N802
    message: object, force_print: bool = False, **options: Any
) -> None:
    """Prints where `keopscore.verbose` is set, or always."""
    if keopscore.verbose or force_print:
        print(message, **options)


def KeOps_Message(  # noqa: N802
    message: str, use_tag: bool = True, **options: Any
) -> None:
    """Prints "[KeOps] …" where `keopscore.verbose` is set."""
    KeOps_Print(f"[KeOps] {message}" if use_tag else message, **options)


def KeOps_Warning(message: str, newline: bool = False) -> None:  # noqa: N802
    """Prints "[KeOps] Warning : …" where `keopscore.verbose` is set."""
    before = "\n" if newline else ""
    KeOps_Print(f"{before}[KeOps] Warning : {message}")


def KeOps_Error(  # noqa: N802
    message: str, show_line_number: bool = True
) -> NoReturn:
    """Raises ValueError "[KeOps] Error : …", with the caller's line."""
    text = f"[KeOps] Error : {message}"
    if show_line_number:
        caller = sys._getframe(1)
        text += f" (error at line {caller.f_lineno} in file "
        text += f"{caller.f_code.co_filename})"
    raise ValueError(text)
