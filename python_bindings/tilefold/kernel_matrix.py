# python_bindings/tilefold/kernel_matrix.py - a pair term as a lazy matrix.
"""`Kernel`: the N×M matrix of a formula, which is never stored.

Every operation is a formula of its own around the pair term, compiled and
reduced like any other; a transpose only exchanges the axes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core
from tilefold.array_conventions import ArrayConventions
from tilefold.axis_reductions import best, one_point_axis
from tilefold.expression import with_diagonal
from tilefold.frameworks import (
    is_exported,
    is_read_by_dynamo,
    kernel_in_graph,
    leave_graph,
)
from tilefold.indexing import indexed
from tilefold.linear_operator import LinearOperatorMethods
from tilefold.linear_systems import LinearSystems
from tilefold.namespaces import reshaped, swapped
from tilefold.neighbors import neighbors
from tilefold.operations import Operations, is_lazy_matrix
from tilefold.pair_term import PairTerm
from tilefold.reductions import Reductions
from tilefold.slices import I, J, listed
from tilefold.threads import register_if_loaded
from tilefold.trace import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from tilefold.array_types import ArrayLike, Keyword
    from tilefold.lazy_value import Lazy
    from tilefold.neighbors import Neighbors
    from tilefold.ranges import Ranges

__all__ = ["Kernel", "kernel"]


def kernel(
    formula: str | _core.Formula | Callable[..., Any] | Lazy,
    arguments: Mapping[str, Keyword] | None = None,
    /,
    *,
    session: _core.Session | None = None,
    options: _core.Options | None = None,
    ranges: Ranges | None = None,
    **arrays: Keyword,
) -> Kernel:
    """Makes the lazy (N, M) matrix of a formula without a reduction.

    Arrays are kept, not copied, and read when something is computed.

    Parameters
    ----------
    formula : str, Formula, callable or Lazy
        The pair term, as in ``"exp(-|x_i - y_j|²/2l²)"``; or a Python function
        of one point x and one point y, which is traced, in functions of NumPy,
        PyTorch or JAX; or a lazy array, which brings its arguments.
    arguments : Mapping, optional
        The arrays by name, as one mapping.
    session : Session, optional
        Whose threads, options and kernels it has; the default one.
    options : Options, optional
        Settings of all that is computed of it.
    ranges : Ranges, optional
        The pairs that reductions meet; single elements cannot be read then.
    **arrays : array
        Arguments by their names: shapes and dtypes as in ``Formula``.

    Returns
    -------
    Kernel
        The matrix, of shape (N, M); (..., N, M) in batches, (N, M, E) of
        vectors.

    Raises
    ------
    FormulaError
        Where the text cannot be read.
    ShapeError, DTypeError, ArgumentError
        Where arrays do not fit the formula or each other, and for a formula
        that reduces.

    See Also
    --------
    lazy : the same by broadcasting arrays.
    reduce : one reduction of a formula.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
    >>> K = tilefold.kernel("|x_i - y_j|", x=x, y=y)
    >>> K @ np.ones(3)
    array([4., 3.])
    >>> tilefold.kernel(lambda x, y: np.abs(x - y), x=x, y=y).sum(axis=1)
    array([4., 3.])
    """
    if is_read_by_dynamo():
        if is_exported():
            leave_graph(
                "a kernel is made in a function that is exported",
                "pass strict=False to torch.export.export",
            )
        elif isinstance(formula, (str, _core.Formula)) and session is None:
            given = {**(arguments or {}), **arrays}
            made: Kernel = kernel_in_graph(formula, given, options, ranges)
            return made
        else:
            leave_graph(
                "a kernel of a session or of a Python function is made in a "
                "function that torch.compile reads",
                "make it of text and arrays alone, or outside of the function",
            )
    register_if_loaded()
    if is_lazy_matrix(formula):
        text, own = formula.to_matrix_formula()
        for name in _core.arguments(arguments, arrays):
            _core.fail("UnknownArgument", name, "its own: " + ", ".join(own))
        formula, given = text, own
    elif callable(formula) and not isinstance(formula, _core.Formula):
        _core.arguments(arguments, arrays)  # refuses what is given twice
        formula, given = trace(formula, {**(arguments or {}), **arrays})
    else:
        given = _core.arguments(arguments, arrays)
    if not isinstance(formula, _core.Formula):
        formula = _core.compile(formula, session=session)
    settings: dict[str, Any] = {"options": options}
    if session is not None:
        settings["session"] = session
    if ranges is not None:
        settings["ranges"] = ranges
    return Kernel(PairTerm.sized(formula, given, settings))


class Kernel(
    ArrayConventions,
    LinearOperatorMethods,
    Reductions,
    LinearSystems,
    Operations,
):
    """A lazy matrix of shape (N, M), of which only results are stored.

    Made by ``tilefold.kernel``. Rows are the points of i, columns those of j.
    Batch dimensions come first, as in (B, N, M); where the values of pairs are
    vectors their components come last, as in (N, M, E). Indexing and reductions
    count these axes as NumPy does, and arrays broadcast with them; only ``T``,
    ``K @ b`` and ``diag`` are of i and j whatever else there is, and a kernel
    of numbers beside one of vectors goes with each component.

    Operators, and NumPy's and PyTorch's functions of single values, make
    another kernel, of one formula: ``np.exp(-K)``, ``np.where(K > 0.5, K, 0)``,
    ``u[:, None] * K * v``. Results belong to the library of the arrays. SciPy
    takes a kernel of NumPy arrays for a linear operator.

    Parameters
    ----------
    pair : PairTerm
        The formula with its arrays, which ``tilefold.kernel`` makes.
    transposed : bool, default False
        Whether rows are the points of j.

    See Also
    --------
    kernel, lazy

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
    >>> K = tilefold.kernel("|x_i - y_j|", x=x, y=y)
    >>> K.shape, K.sum(axis=1), (2 * K.T) @ np.ones(2)
    ((2, 3), array([4., 3.]), array([ 2.,  2., 10.]))
    >>> K[0]
    array([0., 1., 3.])
    >>> scaled = np.array([1.0, 2.0])[:, None] * K
    >>> float(scaled.max())
    4.0
    """

    __module__ = "tilefold"  # where it is found

    __slots__ = ("__weakref__", "_pair", "_transposed")

    def __init__(self, pair: PairTerm, transposed: bool = False) -> None:
        self._pair = pair
        self._transposed = transposed

    # ---- what it is ---------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, M), after batch dimensions and before components: a tuple."""
        width = self._pair.components
        ends = () if width is None else (width,)
        return (*self._pair.batch, *self._matrix_shape, *ends)

    @property
    def ndim(self) -> int:
        """2, and one more for each batch dimension and for components."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers the whole array would have: an int."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """Of the values: NumPy's dtype, of tensors PyTorch's."""
        return self._pair.library_dtype()

    @property
    def T(self) -> Kernel:  # noqa: N802
        """I and j exchanged, as a ``Kernel``; nothing is computed."""
        return Kernel(self._pair, not self._transposed)

    @property
    def real(self) -> Kernel:
        """The real parts, as a ``Kernel``; nothing is computed."""
        return self._like(self._pair.parts()[0]) if self._is_complex else self

    @property
    def imag(self) -> Kernel:
        """The imaginary parts, as a ``Kernel``; nothing is computed."""
        if not self._is_complex:
            return 0 * self
        return self._like(self._pair.parts()[1])

    def __len__(self) -> int:
        """How many rows there are, or matrices of a batch."""
        return self.shape[0]

    def __repr__(self) -> str:
        """Tells the shape and the formula."""
        transpose = ".T" if self._transposed else ""
        return (
            f"tilefold.Kernel of shape {self.shape}: "
            f"({self._pair.formula.text}){transpose}"
        )

    # ---- products -----------------------------------------------------------

    def __matmul__(self, vector: ArrayLike) -> Any:
        """Gives ``K @ b``: (N,) for b of shape (M,), (N, E) for (M, E).

        Of a kernel of vectors, ``Σ_j K[i, j] b[j]``: (N, E) for b of shape
        (M,).

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K @ np.ones(2)
        array([1., 1.])
        """
        if isinstance(vector, Operations) or is_lazy_matrix(vector):
            _core.fail("KernelProduct")
        if (joined := self._joined("matmul", self, vector)) is not None:
            return joined
        if self._pair.components is not None:
            self._refuse_two_readings(vector)
        name = self._pair.formula._unused_name()
        formula = self._pair.around("sum", self._columns, weights=name)
        vectors = self._pair.of_every_batch(vector)
        arguments = {**self._pair.arguments, name: vectors}
        return formula(arguments, **self._pair.settings)

    def __rmatmul__(self, vector: ArrayLike) -> Any:
        """Gives ``b @ K``: (M,) for b of shape (N,), (E, M) for (E, N)."""
        if is_lazy_matrix(vector):
            _core.fail("KernelProduct")
        if self._pair.components is not None:
            _core.fail(
                "KernelVectorProduct",
                "b @ K",
                self.shape,
                "(K * b[:, None, None]).sum(-3)",
                "(K * b[:, None]).sum(-2)",
            )
        given: Any = vector
        if np.ndim(given) < 2:
            return self.T @ given
        if not hasattr(given, "ndim"):
            given = np.asarray(given)
        return swapped(self.T @ swapped(given, -1, -2), -1, -2)

    def _refuse_two_readings(self, vector: Any) -> None:
        """NumPy would sum over the components where those are as many."""
        if self._matrix_shape[1] == self._pair.components:
            one = "b[:, None]" if np.ndim(vector) < 2 else "b"
            _core.fail(
                "KernelVectorProduct",
                "K @ b",
                self.shape,
                f"(K * {one}).sum(-2)",
                "(K * b).sum(-1)",
            )

    # ---- algebra ------------------------------------------------------------

    def _binary(self, name: str, a: Any, b: Any) -> Any:
        if name in ("add", "sub"):
            joined = self._joined(name, a, b)
            if joined is not None:
                return joined
        return super()._binary(name, a, b)

    def _kernel_itself(self) -> Kernel:
        return self

    def _upright(self) -> PairTerm:
        """The pair term whose rows are the kernel's."""
        return self._pair.transposed() if self._transposed else self._pair

    @classmethod
    def _of_pair(cls, pair: PairTerm) -> Self:
        return cls(pair)

    def _like(self, pair: PairTerm) -> Kernel:
        """Another kernel that is read as this one."""
        return Kernel(pair, self._transposed)

    @property
    def _is_complex(self) -> bool:
        return self._pair.is_complex

    def add_diag(self, values: ArrayLike) -> Kernel:
        """Adds a diagonal: ``K + diag(values)``, still lazy.

        With ``ranges`` it is added where the pair (k, k) is met.

        Parameters
        ----------
        values : float or array
            A number for all, or shape (N,); (..., N) in batches.

        Returns
        -------
        Kernel
            Of one formula, without the matrix of the diagonal.

        Raises
        ------
        ShapeError
            Where values have another length.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K.add_diag(np.array([5.0, 7.0])).dense()
        array([[5., 1.],
               [1., 7.]])
        """
        return Kernel(with_diagonal(self._upright(), values))

    # ---- the best, and the near ---------------------------------------------

    def topk(self, k: int, axis: int, largest: bool = True) -> tuple[Any, Any]:
        """Finds the k largest, or smallest, values along an axis, and where.

        Parameters
        ----------
        k : int
            How many, at least 1.
        axis : int
            The axis, of points, as NumPy counts those of ``shape``.
        largest : bool, default True
            Whether the largest are sought, or the smallest.

        Returns
        -------
        tuple of array
            Values (N, k), best first, and their places, int64; of equal values
            the first comes first.

        Raises
        ------
        ArgumentError
            For an axis that there is not.
        FormulaError
            For a k that is not from 1 to 1024.

        Examples
        --------
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = tilefold.kernel("|x_i - y_j|", x=x, y=y)
        >>> values, places = K.topk(2, axis=1)
        >>> places
        array([[2, 1],
               [2, 0]])
        """
        signed = -self if largest else self
        values, places = best(signed, k, axis)
        return (-values if largest else values), places

    def radius_neighbors(
        self, radius: float, axis: int = -1, return_distance: bool = False
    ) -> Neighbors:
        """Finds the pairs that have a value of at most a radius.

        Of a kernel of distances: one with values below those where points
        coincide is refused, as far as a few points tell. Threads evaluate
        blocks of some 10⁵ pairs and keep what they find: memory is that of the
        result, not of N×M. NaN is no neighbour.

        Parameters
        ----------
        radius : float
            The largest value that is near, in the units of the values.
        axis : int, default -1
            Axis 1 lists for each row the columns, axis 0 for each column the
            rows.
        return_distance : bool, default False
            Whether values are kept.

        Returns
        -------
        Neighbors
            ``indptr`` (N + 1,) and ``indices`` (n,), int64 and ascending, and
            ``distances`` (n,) or None.

        Raises
        ------
        ShapeError
            Where a pair has no single value, or there are batches.
        ArgumentError
            For what is no distance.

        Examples
        --------
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> K = tilefold.kernel("|x_i - y_j|", x=x, y=y)
        >>> near = K.radius_neighbors(1.0)
        >>> near.indptr, near.indices
        (array([0, 2, 4]), array([0, 1, 0, 1]))
        """
        if self.ndim != 2:
            _core.fail("NeighborsShape", self.shape)
        by_rows = one_point_axis(self, "radius_neighbors", axis) == J
        pair = self._pair if by_rows else self._pair.transposed()
        return neighbors(pair, radius, return_distance)

    # ---- elements -----------------------------------------------------------

    def diag(self) -> Any:
        """Computes the values K[k, k] for all k, in O(N).

        Returns
        -------
        array
            Shape (N,); (..., N) in batches, (N, E) of vectors.

        Raises
        ------
        ShapeError
            Where the matrix is not square.

        Examples
        --------
        >>> K = tilefold.kernel("x_i·x_j", x=np.array([1.0, 3.0]))
        >>> K.diag()
        array([1., 9.])
        """
        height, width = self._matrix_shape
        if height != width:
            _core.fail("KernelNotSquare", self.shape)
        return self._pair.diagonal()

    def dense(self) -> Any:
        """Computes the whole matrix as an array, which may be large.

        Returns
        -------
        array
            Of ``shape`` and ``dtype``, in the library of the arrays.

        Raises
        ------
        OutOfMemory
            Where it cannot be allocated.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K.dense()
        array([[0., 1.],
               [1., 0.]])
        """
        return self._values(None, None)

    def __getitem__(self, index: Any) -> Any:
        """Indexes as NumPy does an array of the same shape; blocks stay lazy.

        ``K[3]``, ``K[:, 3]`` and the pairs ``K[i, j]`` are arrays. ``K[2:9]``,
        ``K[rows]``, ``K[mask]`` and ``K[2:9, columns]`` are kernels on the
        points chosen, for ``K[:1000] @ b``; ``.dense()`` makes an array of one.
        So are some batches or one of a kernel (B, N, M), ``K[2]``, and
        components of one of vectors (N, M, E), ``K[..., 0]``.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0, 3.0]))
        >>> K[2], K[:2].shape
        (array([3., 2., 0.]), (2, 3))
        """
        return indexed(self, index)

    # ---- what it is not -----------------------------------------------------

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses to be an array by accident; ``dense`` makes one."""
        self._refuse("KernelNotArray")

    def __bool__(self) -> NoReturn:
        """Refuses to be one truth value; ``any`` and ``all`` tell."""
        self._refuse("KernelTruth")

    def __iter__(self) -> NoReturn:
        """Refuses to be iterated over; ``K[i]`` gives a row."""
        self._refuse("KernelIteration")

    # ---- helpers ------------------------------------------------------------

    def _refuse(self, code: str) -> NoReturn:
        size = float(self._pair.item_size()) * self.size
        _core.fail(code, self.shape, _size_text(size))

    @property
    def _matrix_shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self._pair.points
        return (columns, rows) if self._transposed else (rows, columns)

    @property
    def _columns(self) -> int:
        """The formula's axis of the columns."""
        return I if self._transposed else J

    @property
    def _rows(self) -> int:
        return I + J - self._columns

    def _values(self, rows: Any, columns: Any) -> Any:
        """Dense, for lists of row numbers; None for all."""
        if not self._transposed:
            return self._pair.elements("dense", rows, columns)
        values = self._pair.elements("dense", columns, rows)
        first = len(self._pair.batch)
        return swapped(values, first, first + 1)

    def _elements(self, rows: Any, columns: Any) -> Any:
        """K[i, j] for lists or numbers i and j, paired as in NumPy."""
        height, width = self._matrix_shape
        i, j = listed(rows, height), listed(columns, width)
        try:
            i, j = np.broadcast_arrays(i, j)
        except ValueError:
            _core.fail("KernelPairs", i.size, j.size)
        if self._transposed:
            i, j = j, i
        values = self._pair.elements("pairs", i.ravel(), j.ravel())
        place = len(self._pair.batch)
        if i.ndim == 0:
            return values[(*(slice(None),) * place, 0, ...)]
        shape = tuple(values.shape)
        return reshaped(values, shape[:place] + i.shape + shape[place + 1 :])


def _size_text(size: float) -> str:
    units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    unit = 0
    while size >= 1024 and unit + 1 < len(units):
        size /= 1024
        unit += 1
    return f"{size:.1f} {units[unit]}" if unit else f"{size:.0f} bytes"
