# python_bindings/tilefold/tracer_components.py - what combines components.
"""`sum`, `norm` and others, as methods of traced values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.functions import FOLD_SETTINGS, refuse_other_keywords

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        """Computes the Euclidean norm of the components.

        Parameters
        ----------
        order : {None, 2, "fro"}, optional
            All of which mean the same of a vector.
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
        order = kwargs.get("p", kwargs.get("ord", order))
        if order not in (None, 2, "fro"):
            _core.fail("TracedFunction", f"norm of order {order}")
        return self._fold("norm", axis, kwargs)

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
        refuse_other_keywords(name, kwargs, FOLD_SETTINGS)
        axis = kwargs.get("dim", axis)
        if axis not in (None, -1, 0, (-1,), (0,)):
            _core.fail("TracedFunction", f"{name} over axis {axis}")
        if self.rank == 0:
            return self.made("abs({0})", [self], 0) if name == "norm" else self
        kept = bool(kwargs.get("keepdim") or kwargs.get("keepdims"))
        form = f"[{name}({{0}})]" if kept else f"{name}({{0}})"
        return self.made(form, [self], int(kept))
