# python_bindings/tilefold/reductions.py - kernels reduced over their axes.
"""One rule of axes, NumPy's: those of `K.shape`, counted from either end.

They are the batch dimensions, i and j (of a transpose j and i), and the
components where values are vectors.
"""

from __future__ import annotations

from typing import Any

from tilefold.axis_reductions import (
    best_over,
    norm_over,
    quantile_over,
    reduced_over,
    softmax_over,
    spread_over,
)
from tilefold.dialects import takes_dim

__all__ = ["Reductions"]


@takes_dim
class Reductions:
    """Those of a kernel; over components alone, those of a vector stay lazy."""

    __slots__ = ()

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Sums over an axis, several, or all.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; sums of integers
            and of bool are int64, others have the dtype of the values.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.sum(axis=1)
        array([4., 3.])
        """
        return reduced_over(self, "sum", axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Averages over an axis, several, or all.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; at least float32.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.mean(axis=0)
        array([0.5, 0.5, 2.5])
        """
        return reduced_over(self, "mean", axis, keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Multiplies over an axis, several, or all.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of the dtype of
            the values.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.prod(axis=0)
        array([0., 0., 6.])
        """
        return reduced_over(self, "prod", axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Finds the largest value over an axis, several, or all.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; NaN where any
            value is NaN, -inf of no values.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.max(axis=1)
        array([3., 2.])
        """
        return reduced_over(self, "max", axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Finds the smallest value over an axis, several, or all.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; NaN where any
            value is NaN, inf of no values.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.min(axis=1)
        array([0., 0.])
        """
        return reduced_over(self, "min", axis, keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Tells whether any value over an axis is true, or not 0.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of dtype bool.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> (K > 2).any(axis=1)
        array([ True, False])
        """
        return reduced_over(self, "any", axis, keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Tells whether all values over an axis are true, or not 0.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of dtype bool.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> (K < 3).all(axis=1)
        array([False,  True])
        """
        return reduced_over(self, "all", axis, keepdims)

    def count(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Counts the values over an axis that are true, or not 0.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of dtype int64.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> (K > 0).count(axis=1)
        array([2, 2])
        """
        return reduced_over(self, "count", axis, keepdims)

    def logsumexp(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Computes ``log Σ exp(K)`` over an axis, without overflow.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of the dtype of
            the values.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> (0 * K).logsumexp(axis=1).round(4)
        array([1.0986, 1.0986])
        """
        return reduced_over(self, "logsumexp", axis, keepdims)

    def var(
        self, axis: Any = None, ddof: float = 0, keepdims: bool = False
    ) -> Any:
        """Computes the variance ``Σ |K - mean|² / (n - ddof)`` of n values.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        ddof : float, default 0
            What n is lessened by: 1 for an estimate from a sample.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of the dtype of
            the values, real.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.var(axis=0)
        array([0.25, 0.25, 0.25])
        """
        return spread_over(self, "var", axis, ddof, keepdims)

    def std(
        self, axis: Any = None, ddof: float = 0, keepdims: bool = False
    ) -> Any:
        """Computes the standard deviation, the root of the variance.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        ddof : float, default 0
            What n is lessened by: 1 for an estimate from a sample.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of the dtype of
            the values, real.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.std(axis=0)
        array([0.5, 0.5, 0.5])
        """
        return spread_over(self, "std", axis, ddof, keepdims)

    def median(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Finds the middle value over an axis, or the mean of the middle two.

        Exact, by counting: no row of the matrix is stored or sorted.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes, of points, of ``shape``, as NumPy counts them; None, the
            default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; NaN where any
            value is NaN.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.median(axis=1)
        array([1., 1.])
        """
        return self.quantile(0.5, axis, keepdims)

    def quantile(self, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Finds the values that a part of those over an axis is below.

        Linear between two values, as in NumPy and PyTorch; exact, by counting.

        Parameters
        ----------
        q : float or sequence of float
            The part, from 0 to 1; several become the first axis of the result.
        axis : int, tuple of int, or None
            Axes, of points, of ``shape``, as NumPy counts them; None, the
            default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; NaN where any
            value is NaN, and of a level outside [0, 1].

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.quantile(0.25, axis=1)
        array([0.5, 0.5])
        """
        return quantile_over(self, q, axis, keepdims)

    def norm(
        self, order: Any = None, axis: Any = None, keepdims: bool = False
    ) -> Any:
        """Computes the Euclidean norm over an axis, Frobenius' over two.

        Parameters
        ----------
        order : {None, 2, "fro"}, optional
            2 over one axis, "fro" over several, is what None means.
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of the dtype of
            the values, real.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.norm(axis=1).round(4)
        array([3.1623, 2.2361])
        """
        return norm_over(self, order, axis, keepdims)

    def argmin(self, axis: int, keepdims: bool = False) -> Any:
        """Finds where the first smallest value along an axis is.

        Parameters
        ----------
        axis : int
            The axis, of points or of components, as NumPy counts those of
            ``shape``.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of dtype int64.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.argmin(axis=1)
        array([0, 1])
        """
        return best_over(self, "argmin", axis, None, keepdims)

    def argmax(self, axis: int, keepdims: bool = False) -> Any:
        """Finds where the first largest value along an axis is.

        Parameters
        ----------
        axis : int
            The axis, of points or of components, as NumPy counts those of
            ``shape``.
        keepdims : bool, default False
            Whether reduced axes stay, with length 1.

        Returns
        -------
        array or float
            Of the axes that are left, in the arrays' library; of dtype int64.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.argmax(axis=1)
        array([2, 2])
        """
        return best_over(self, "argmax", axis, None, keepdims)

    def kmin(self, k: int, axis: int) -> Any:
        """Finds the k smallest values along an axis of points.

        Parameters
        ----------
        k : int
            How many, at least 1; inf stands where there are fewer points.
        axis : int
            The axis, of points, as NumPy counts those of ``shape``.

        Returns
        -------
        array of shape (N, k)
            Ascending, of the dtype of the values; batches come first.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.kmin(2, axis=1)
        array([[0., 1.],
               [0., 1.]])
        """
        return best_over(self, "kmin", axis, k)

    def argkmin(self, k: int, axis: int) -> Any:
        """Finds where the k smallest values along an axis of points are.

        Parameters
        ----------
        k : int
            How many, at least 1.
        axis : int
            The axis, of points, as NumPy counts those of ``shape``.

        Returns
        -------
        array of shape (N, k), int64
            By ascending values, of equal ones the first first; batches come
            first.

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> K.argkmin(2, axis=1)
        array([[0, 1],
               [1, 0]])
        """
        return best_over(self, "argkmin", axis, k)

    def softmax(self, axis: int, values: Any = None) -> Any:
        """Computes ``exp(K) / Σ exp(K)`` over an axis, without overflow.

        With values, their means with these weights, in one pass.

        Parameters
        ----------
        axis : int
            The axis, of points, as NumPy counts those of ``shape``.
        values : array, optional
            Numbers of the M points on the axis: shape (M,) or (M, E).

        Returns
        -------
        Kernel or array
            The weights, lazily; of values an array of shape (N,) or (N, E).

        Raises
        ------
        ArgumentError
            For an axis that there is not, or that it is not defined over.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=[0.0, 1.0], y=[0.0, 1.0, 3.0])
        >>> (0 * K).softmax(axis=1, values=[0.0, 1.0, 3.0]).round(4)
        array([1.3333, 1.3333])
        """
        return softmax_over(self, axis, values)
