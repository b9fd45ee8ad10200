# python_bindings/tilefold/roles.py - declares the axis of an argument.
"""`Vi`, `Vj` and `Pm`: which axis an argument lies on, said at the call."""

from __future__ import annotations

from typing import Any

__all__ = ["Pm", "Role", "Vi", "Vj", "bare", "detached"]


class Role:
    """An argument and the axes it is declared on: 0 none, 1 i, 2 j."""

    __slots__ = ("__weakref__", "axes", "value")

    def __init__(self, value: Any, axes: int) -> None:
        self.value = value
        self.axes = axes

    def __repr__(self) -> str:
        return f"{('Pm', 'Vi', 'Vj')[self.axes]}({self.value!r})"


def Vi(value: Any) -> Role:  # noqa: N802
    """Declares an array of one point for each i: shape (N,) or (N, D)."""
    return Role(value, 1)


def Vj(value: Any) -> Role:  # noqa: N802
    """Declares an array of one point for each j: shape (M,) or (M, D)."""
    return Role(value, 2)


def Pm(value: Any) -> Role:  # noqa: N802
    """Declares a parameter: shape (), (D,), (1, D) or (R, C)."""
    return Role(value, 0)


def bare(value: Any) -> Any:
    """A value without the role it was declared with."""
    return value.value if isinstance(value, Role) else value


def detached(value: Any) -> Any:
    """A tensor without its graph; other values, and roles, as they are."""
    if isinstance(value, Role):
        return Role(detached(value.value), value.axes)
    return value.detach() if hasattr(value, "detach") else value
