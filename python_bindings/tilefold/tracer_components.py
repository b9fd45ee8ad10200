# python_bindings/tilefold/tracer_components.py - what combines components.
"""`sum`, `norm` and others, as methods of traced values."""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.dialects import extremum, with_dim
from tilefold.functions import norm_of_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["ComponentMethods"]


class ComponentMethods:
    """Those of a traced value, which a lazy array has too."""

    __slots__ = ()

    rank: int

    @classmethod
    def apply(
        cls, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """What a function of a library, or of the operators, gives."""
        raise NotImplementedError

    @classmethod
    def made(cls, form: str, operands: Sequence[Any], rank: int) -> Any:
        """A value of others by the text of a formula."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one value, or of a lazy array of all."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        """Gives the components one by one."""
        raise NotImplementedError

    def sum(self, axis: Any = None, **kwargs: Any) -> Any:
        """Sums the components; of a lazy array, values over points.

        Parameters
        ----------
        axis : int, tuple of int, or None
            -1 are the components, which stay lazy; of a lazy array others are
            those of ``shape``, and None, the default, is all of them.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

        Returns
        -------
        Tracer, Lazy or array
            A value for each pair, or what it reduces to.

        Raises
        ------
        ArgumentError
            For an axis that there is not, and keywords that are not read.
        ShapeError
            For axes of points of a lazy array that depends on one axis alone.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([[0.0, 1.0], [2.0, 3.0]]), axis="i")
        >>> y = tilefold.lazy(np.zeros((3, 2)), axis="j")
        >>> (x - y).sum(-1).sum(axis=1)
        array([ 3., 15.])
        """
        return self._fold("sum", axis, kwargs)

    def max(self, axis: Any = None, **kwargs: Any) -> Any:
        """Finds the largest component; of a lazy array, value over points.

        Parameters
        ----------
        axis : int, tuple of int, or None
            -1 are the components, which stay lazy; of a lazy array others are
            those of ``shape``, and None, the default, is all of them.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

        Returns
        -------
        Tracer, Lazy or array
            A value for each pair, or what it reduces to.

        Raises
        ------
        ArgumentError
            For an axis that there is not, and keywords that are not read.
        ShapeError
            For axes of points of a lazy array that depends on one axis alone.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([[0.0, 1.0], [2.0, 3.0]]), axis="i")
        >>> y = tilefold.lazy(np.zeros((3, 2)), axis="j")
        >>> (x - y).max(-1).max(axis=1)
        array([1., 3.])
        """
        return self._fold("max", axis, kwargs)

    def min(self, axis: Any = None, **kwargs: Any) -> Any:
        """Finds the smallest component; of a lazy array, value over points.

        Parameters
        ----------
        axis : int, tuple of int, or None
            -1 are the components, which stay lazy; of a lazy array others are
            those of ``shape``, and None, the default, is all of them.
        **kwargs : bool
            ``keepdims``; PyTorch's ``dim`` and ``keepdim`` are read, too.

        Returns
        -------
        Tracer, Lazy or array
            A value for each pair, or what it reduces to.

        Raises
        ------
        ArgumentError
            For an axis that there is not, and keywords that are not read.
        ShapeError
            For axes of points of a lazy array that depends on one axis alone.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([[0.0, 1.0], [2.0, 3.0]]), axis="i")
        >>> y = tilefold.lazy(np.zeros((3, 2)), axis="j")
        >>> (x - y).min(-1).min(axis=1)
        array([0., 2.])
        """
        return self._fold("min", axis, kwargs)

    def norm(self, order: Any = None, axis: Any = None, **kwargs: Any) -> Any:
        """Computes a norm of the components, the Euclidean one by default.

        Parameters
        ----------
        order : {None, 2, "fro", inf, -inf} or positive number, optional
            The Euclidean norm by default; of order p it is the p-th root of
            the sum of p-th powers.
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar.

        Raises
        ------
        ArgumentError
            For other orders and axes.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(3), "x")
        >>> x.norm().to_formula()[0]
        'norm(x)'
        """
        axis, given, _ = with_dim("norm", axis, kwargs)
        order = given.pop("order", order)
        if order in (None, 2, "fro"):
            return self._fold("norm", axis, given)
        return norm_of_order(
            self.apply("abs", (self,), {}),
            order,
            lambda name, of: of._fold(name, axis, given),
        )

    def mean(self, axis: Any = None, **kwargs: Any) -> Any:
        """Averages the components.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.mean().to_formula()[0]
        '(sum(x) / 2)'
        """
        return self._fold("sum", axis, kwargs) / self._terms()

    def prod(self, axis: Any = None, **kwargs: Any) -> Any:
        """Multiplies the components.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.prod().to_formula()[0]
        '(x[0] * x[1])'
        """
        product: Any = self.made("{0}", [self], self.rank)
        if self.rank:
            product = functools.reduce(operator.mul, list(self))
        axis, given, _ = with_dim("prod", axis, kwargs)
        return self._as_fold("prod", product, axis, given)

    def any(self, axis: Any = None, **kwargs: Any) -> Any:
        """Tells whether a component is true.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.any().to_formula()[0]
        '(max(where(x, 1, 0)) > 0)'
        """
        found = self.made("where({0}, 1, 0)", [self], self.rank)
        return found._fold("max", axis, kwargs) > 0

    def all(self, axis: Any = None, **kwargs: Any) -> Any:
        """Tells whether all components are true.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.all().to_formula()[0]
        '(min(where(x, 1, 0)) > 0)'
        """
        found = self.made("where({0}, 1, 0)", [self], self.rank)
        return found._fold("min", axis, kwargs) > 0

    def var(self, axis: Any = None, **kwargs: Any) -> Any:
        """Computes the variance of the components.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool or int
            ``keepdims``, ``ddof``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.var().to_formula()[0]
        '(sum(pow((x - (sum(x) / 2)), 2)) / 2)'
        """
        axis, given, _ = with_dim("var", axis, kwargs)
        count = self._terms() - given.pop("ddof", 0)
        squares = (self - self.mean()) ** 2
        return squares._fold("sum", axis, given) / count

    def std(self, axis: Any = None, **kwargs: Any) -> Any:
        """Computes the standard deviation of the components.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool or int
            ``keepdims``, ``ddof``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.std().to_formula()[0]
        'sqrt((sum(pow((x - (sum(x) / 2)), 2)) / 2))'
        """
        return self.apply("sqrt", (self.var(axis, **kwargs),), {})

    def ptp(self, axis: Any = None, **kwargs: Any) -> Any:
        """Computes how far the largest component is from the smallest.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.ptp().to_formula()[0]
        '(max(x) - min(x))'
        """
        largest = self._fold("max", axis, kwargs)
        return largest - self._fold("min", axis, kwargs)

    def argmax(self, axis: Any = None, **kwargs: Any) -> Any:
        """Finds the place of the first largest component.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.argmax().to_formula()[0]
        'argmax(x)'
        """
        return self._fold("argmax", axis, kwargs)

    def argmin(self, axis: Any = None, **kwargs: Any) -> Any:
        """Finds the place of the first smallest component.

        Parameters
        ----------
        axis : int, optional
            -1 or 0, the one axis there is.
        **kwargs : bool
            ``keepdims``; PyTorch's names are read, too.

        Returns
        -------
        Tracer
            A scalar, or a vector of one component with ``keepdims``.

        Raises
        ------
        ArgumentError
            For other axes, and keywords that are not read.

        Examples
        --------
        >>> x = tilefold.trace.Tracer.parameter(np.zeros(2), "x")
        >>> x.argmin().to_formula()[0]
        'argmin(x)'
        """
        return self._fold("argmin", axis, kwargs)

    def dot(self, other: Any) -> Any:
        """Computes the inner product of two vectors at each pair.

        Parameters
        ----------
        other : Tracer, Lazy or array
            As many components: an array has shape (D,), of any real dtype.

        Returns
        -------
        Tracer or Lazy
            A scalar at each pair; of lazy matrices and arrays, ``K @ other``.

        Raises
        ------
        ShapeError
            For another number of components.
        ArgumentError
            For what has no value in a formula, and two lazy matrices.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([[0.0, 1.0], [2.0, 3.0]]), axis="i")
        >>> y = tilefold.lazy(np.ones((3, 2)), axis="j")
        >>> x.dot(y).sum(axis=1)
        array([ 3., 15.])
        """
        return self.apply("matmul", (self, other), {})

    def _fold(self, name: str, axis: Any, kwargs: Mapping[str, Any]) -> Any:
        axis, given, is_torch = with_dim(name, axis, kwargs)
        if is_torch and name in ("max", "min"):
            return extremum(self, name, axis, **given)
        form = f"{name}({{0}})"
        if self.rank == 0:
            form = {
                "norm": "abs({0})",
                "argmax": "0*{0}",
                "argmin": "0*{0}",
            }.get(name, "{0}")
        return self._as_fold(name, self.made(form, [self], 0), axis, given)

    def _as_fold(
        self, name: str, value: Any, axis: Any, given: Mapping[str, Any]
    ) -> Any:
        """What a fold gives, with its axis if that is kept."""
        if axis not in (None, -1, 0, (-1,), (0,)):
            _core.fail("TracedFunction", f"{name} over axis {axis}")
        if self.rank and given.get("keepdims"):
            return self.made("[{0}]", [value], 1)
        return value

    def _terms(self) -> int:
        return math.prod(self.shape)
