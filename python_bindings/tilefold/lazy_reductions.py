# python_bindings/tilefold/lazy_reductions.py - the reductions of lazy arrays.
"""What `Lazy` computes over axes of points, as a kernel does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.dialects import with_dim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold.kernel_matrix import Kernel

__all__ = ["LazyReductions"]


class LazyReductions:
    """Those of a lazy array, as methods.

    They are a kernel's, but for those over components, which stay lazy.
    """

    __slots__ = ()

    rank: int
    shape: Any
    ndim: Any

    def _is_matrix(self) -> bool:
        raise NotImplementedError

    def _kernel(self) -> Kernel:
        raise NotImplementedError

    def _reduced(
        self, name: str, before: Any, axis: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        raise NotImplementedError

    def mean(self, axis: Any = None, **kwargs: Any) -> Any:
        """Averages over an axis, several, or all.

        Over the components of vectors alone, it stays lazy.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.mean(axis=0)
        array([0.5, 0.5, 2.5])
        """
        if self.rank and axis in (-1, self.ndim - 1):
            lazy: Any = self
            total = lazy.sum(axis, **kwargs)
            return lazy.apply("div", (total, self.shape[-1]), {})
        return self._reduced("mean", (), axis, kwargs)

    def norm(self, order: Any = None, axis: Any = None, **kwargs: Any) -> Any:
        """Computes the Euclidean norm over an axis, Frobenius' over two.

        Over the components of vectors alone, it stays lazy.

        Parameters
        ----------
        order : {None, 2, "fro"}, optional
            2 over one axis, "fro" over several, is what None means.
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.norm(axis=1).round(4)
        array([3.1623, 2.2361])
        """
        axis, kwargs, _ = with_dim("norm", axis, kwargs)
        order = kwargs.pop("order", order)
        if self.rank and axis in (-1, self.ndim - 1):
            return super().norm(order, axis, **kwargs)  # type: ignore[misc]
        if not self._is_matrix():
            _core.fail("LazyNorm", axis, self.shape)
        return self._kernel().norm(order, axis, **kwargs)

    def prod(self, axis: Any = None, **kwargs: Any) -> Any:
        """Multiplies over an axis, several, or all.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.prod(axis=0)
        array([0., 0., 6.])
        """
        return self._reduced("prod", (), axis, kwargs)

    def any(self, axis: Any = None, **kwargs: Any) -> Any:
        """Tells whether any value over an axis is true, or not 0.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> (K > 2).any(axis=1)
        array([ True, False])
        """
        return self._reduced("any", (), axis, kwargs)

    def all(self, axis: Any = None, **kwargs: Any) -> Any:
        """Tells whether all values over an axis are true, or not 0.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> (K < 3).all(axis=1)
        array([False,  True])
        """
        return self._reduced("all", (), axis, kwargs)

    def count(self, axis: Any = None, **kwargs: Any) -> Any:
        """Counts the values over an axis that are true, or not 0.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> (K > 0).count(axis=1)
        array([2, 2])
        """
        return self._reduced("count", (), axis, kwargs)

    def logsumexp(self, axis: Any = None, **kwargs: Any) -> Any:
        """Computes ``log Σ exp(K)`` over an axis, without overflow.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> (0 * K).logsumexp(axis=1).round(4)
        array([1.0986, 1.0986])
        """
        return self._reduced("logsumexp", (), axis, kwargs)

    def var(self, axis: Any = None, **kwargs: Any) -> Any:
        """Computes the variance ``Σ |K - mean|² / (n - ddof)`` of n values.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool or float
            ``keepdims`` and ``ddof``; PyTorch's ``dim`` and ``keepdim`` are
            read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.var(axis=0)
        array([0.25, 0.25, 0.25])
        """
        return self._reduced("var", (), axis, kwargs)

    def std(self, axis: Any = None, **kwargs: Any) -> Any:
        """Computes the standard deviation, the root of the variance.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes of ``shape``, as NumPy counts them; None, the default, for all.
        **kwargs : bool or float
            ``keepdims`` and ``ddof``; PyTorch's ``dim`` and ``keepdim`` are
            read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.std(axis=0)
        array([0.5, 0.5, 0.5])
        """
        return self._reduced("std", (), axis, kwargs)

    def median(self, axis: Any = None, **kwargs: Any) -> Any:
        """Finds the middle value over an axis, or the mean of the middle two.

        Exact, by counting: no row of the matrix is stored or sorted.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Axes, of points, of ``shape``, as NumPy counts them; None, the
            default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.median(axis=1)
        array([1., 1.])
        """
        return self._reduced("median", (), axis, kwargs)

    def quantile(self, q: Any, axis: Any = None, **kwargs: Any) -> Any:
        """Finds the values that a part of those over an axis is below.

        Linear between two values, as in NumPy and PyTorch; exact, by counting.

        Parameters
        ----------
        q : float or sequence of float
            The part, from 0 to 1; several become the first axis of the result.
        axis : int, tuple of int, or None
            Axes, of points, of ``shape``, as NumPy counts them; None, the
            default, for all.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.quantile(0.25, axis=1)
        array([0.5, 0.5])
        """
        return self._reduced("quantile", (q,), axis, kwargs)

    def argmin(self, axis: Any = None, **kwargs: Any) -> Any:
        """Finds where the first smallest value along an axis is.

        Parameters
        ----------
        axis : int
            The axis, of points or of components, as NumPy counts those of
            ``shape``.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.argmin(axis=1)
        array([0, 1])
        """
        return self._reduced("argmin", (), axis, kwargs)

    def argmax(self, axis: Any = None, **kwargs: Any) -> Any:
        """Finds where the first largest value along an axis is.

        Parameters
        ----------
        axis : int
            The axis, of points or of components, as NumPy counts those of
            ``shape``.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.argmax(axis=1)
        array([2, 2])
        """
        return self._reduced("argmax", (), axis, kwargs)

    def softmax(self, axis: Any = None, values: Any = None) -> Any:
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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> (0 * K).softmax(axis=1, values=[0.0, 1.0, 3.0]).round(4)
        array([1.3333, 1.3333])
        """
        return self._kernel().softmax(axis, values)

    def kmin(self, k: int, axis: Any = None, **kwargs: Any) -> Any:
        """Finds the k smallest values along an axis of points.

        Parameters
        ----------
        k : int
            How many, at least 1; inf stands where there are fewer points.
        axis : int
            The axis, of points, as NumPy counts those of ``shape``.
        **kwargs : int
            PyTorch's ``dim`` in the place of axis.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.kmin(2, axis=1)
        array([[0., 1.],
               [0., 1.]])
        """
        return self._reduced("kmin", (k,), axis, kwargs)

    def argkmin(self, k: int, axis: Any = None, **kwargs: Any) -> Any:
        """Finds where the k smallest values along an axis of points are.

        Parameters
        ----------
        k : int
            How many, at least 1.
        axis : int
            The axis, of points, as NumPy counts those of ``shape``.
        **kwargs : int
            PyTorch's ``dim`` in the place of axis.

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
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = abs(tilefold.lazy(x, axis="i") - tilefold.lazy(y, axis="j"))
        >>> K.argkmin(2, axis=1)
        array([[0, 1],
               [1, 0]])
        """
        return self._reduced("argkmin", (k,), axis, kwargs)
