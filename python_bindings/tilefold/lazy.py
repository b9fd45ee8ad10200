# python_bindings/tilefold/lazy.py - array code read as a formula.
"""`lazy`: arrays whose broadcast operations become one formula.

    xi, yj = tilefold.lazy(x, axis="i"), tilefold.lazy(y, axis="j")
    K = (-((xi - yj)**2).sum(-1) / (2 * l**2)).exp()
    K @ b; K.sum(axis=1); K.argkmin(10, axis=1)

Nothing of shape (N, M) is ever made: a value is written down as the text of a
formula, as in `tilefold.trace`, and compiled when it is reduced.
"""

from __future__ import annotations

from typing import Any

from tilefold.lazy_value import Lazy, by_shape, on_axis

__all__ = ["lazy"]


def lazy(x: Any, axis: str | int | None = None) -> Lazy:
    """An array that is on i, on j, or a parameter, to compute with lazily.

    With `axis` "i" or "j" (0 or 1), `x` has shape (N,), N scalars, or (N, D),
    N points. Without it the shape says: (…, N, 1, D) is on i, (…, 1, M, D) on
    j, and (), (D,) or (…, 1, 1, D) is a parameter, as in

        tilefold.lazy(x[:, None, :]) - tilefold.lazy(y[None, :, :])

    NumPy's operators and functions know the result (`Lazy`), and so do
    PyTorch's of tensors. Arrays are kept, not copied, and read when
    something is computed.

    Raises `ArgumentError` where neither says the axis.
    """
    return by_shape(x) if axis is None else on_axis(x, axis)
