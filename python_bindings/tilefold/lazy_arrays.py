# python_bindings/tilefold/lazy_arrays.py - array code read as a formula.
"""`lazy`: arrays whose broadcast operations become one formula.

    xi, yj = tilefold.lazy(x, axis="i"), tilefold.lazy(y, axis="j")
    K = (-((xi - yj)**2).sum(-1) / (2 * l**2)).exp()
    K @ b; K.sum(axis=1); K.argkmin(10, axis=1)

Nothing of shape (N, M) is ever made: a value is written down as the text of a
formula, as in `tilefold.trace`, and compiled when it is reduced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilefold.frameworks import is_read_by_dynamo, leave_graph
from tilefold.lazy_value import Lazy, by_shape, on_axis

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike

__all__ = ["lazy"]


def lazy(x: ArrayLike, axis: str | int | None = None) -> Lazy:
    """Puts an array on an axis, to compute with all pairs lazily.

    NumPy's operators and functions know the result, and PyTorch's do of
    tensors. Arrays are kept, not copied, and read when something is computed.

    Parameters
    ----------
    x : array or float
        With an axis: shape (N,), N numbers, or (N, D), N points. Without: shape
        (..., N, 1, D) is on i, (..., 1, M, D) on j, and (), (D,) or
        (..., 1, 1, D) is a parameter.
    axis : {"i", "j", 0, 1}, optional
        The axis that the points are on: 0 is i, 1 is j.

    Returns
    -------
    Lazy
        The array with axes for i, j and, of points, components.

    Raises
    ------
    ArgumentError
        For an axis that there is not.
    ShapeError
        Where neither the axis nor the shape says where the points are.

    See Also
    --------
    kernel : the same by the text of a formula.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0], [3.0]])
    >>> xi, yj = tilefold.lazy(x, axis="i"), tilefold.lazy(y, axis="j")
    >>> ((xi - yj) ** 2).sum(-1).min(axis=1)
    array([0., 0.])
    >>> D = tilefold.lazy(x[:, None, :]) - tilefold.lazy(y[None, :, :])
    >>> D.shape
    (2, 3, 1)
    """
    if is_read_by_dynamo():
        leave_graph(
            "lazy arrays are computed with where torch.compile reads",
            "write the formula as text, as in tilefold.kernel(text, x=x, y=y)",
        )
    return by_shape(x) if axis is None else on_axis(x, axis)
