# python_bindings/tilefold/roles.py - declares the axis of an argument.
"""`Vi`, `Vj` and `Pm`: which axis an argument lies on, said at the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike

__all__ = ["Pm", "Role", "Vi", "Vj", "bare", "detached"]


class Role:
    """An argument and the axes it is declared on: 0 none, 1 i, 2 j."""

    __slots__ = ("__weakref__", "axes", "value")

    def __init__(self, value: Any, axes: int) -> None:
        self.value: Any = value
        self.axes: int = axes

    def __repr__(self) -> str:
        return f"{('Pm', 'Vi', 'Vj')[self.axes]}({self.value!r})"


def Vi(value: ArrayLike) -> Role:  # noqa: N802
    """Declares that an argument has one point for each i.

    For names whose subscripts do not say it, such as those of KeOps' spelling.

    Parameters
    ----------
    value : array
        Shape (N,), (N, D) or (..., N, D), of any library and dtype.

    Returns
    -------
    Role
        The array with its axis, to be passed in the array's place.

    See Also
    --------
    Vj, Pm

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
    >>> tilefold.reduce("sum_j |x - y|", x=tilefold.Vi(x), y=tilefold.Vj(y))
    array([4., 3.])
    """
    return Role(value, 1)


def Vj(value: ArrayLike) -> Role:  # noqa: N802
    """Declares that an argument has one point for each j.

    For names whose subscripts do not say it, such as those of KeOps' spelling.

    Parameters
    ----------
    value : array
        Shape (M,), (M, D) or (..., M, D), of any library and dtype.

    Returns
    -------
    Role
        The array with its axis, to be passed in the array's place.

    See Also
    --------
    Vi, Pm

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
    >>> tilefold.reduce("sum_i |x - y|", x=tilefold.Vi(x), y=tilefold.Vj(y))
    array([1., 1., 5.])
    """
    return Role(value, 2)


def Pm(value: ArrayLike) -> Role:  # noqa: N802
    """Declares that an argument is a parameter, the same for all pairs.

    For names whose subscripts do not say it, such as those of KeOps' spelling.

    Parameters
    ----------
    value : array or float
        Shape (), (D,), (1, D), (R, C) or (..., R, C), of any library and dtype.

    Returns
    -------
    Role
        The array with its axis, none, to be passed in the array's place.

    See Also
    --------
    Vi, Vj

    Examples
    --------
    >>> x = np.array([0.0, 1.0])
    >>> tilefold.reduce("sum_j g |x_i - x_j|", x=x, g=tilefold.Pm(2.0))
    array([2., 2.])
    """
    return Role(value, 0)


def bare(value: Any) -> Any:
    """A value without the role it was declared with."""
    return value.value if isinstance(value, Role) else value


def detached(value: Any) -> Any:
    """A tensor without its graph; other values, and roles, as they are."""
    if isinstance(value, Role):
        return Role(detached(value.value), value.axes)
    return value.detach() if hasattr(value, "detach") else value
