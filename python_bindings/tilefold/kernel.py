# python_bindings/tilefold/kernel.py - a pair term as a lazy matrix.
"""`Kernel`: the N×M matrix of a formula, which is never stored.

Every operation is a formula of its own around the pair term, compiled and
reduced like any other; a transpose only exchanges the axes.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core
from tilefold.errors import ConvergenceWarning
from tilefold.pair_term import PairTerm, any_requires_grad, spelled, unused
from tilefold.slices import chosen, is_integer, listed, numbers_of, split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tilefold.lazy_value import Lazy
    from tilefold.neighbors import Neighbors
    from tilefold.ranges import Ranges

__all__ = ["Kernel", "kernel"]

I, J = 1, 2  # noqa: E741 - the bits of an axis


def kernel(
    formula: str | _core.Formula | Callable[..., Any] | Lazy,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    session: _core.Session | None = None,
    options: _core.Options | None = None,
    ranges: Ranges | None = None,
    **arrays: Any,
) -> Kernel:
    """Makes the lazy (N, M) matrix of a pair term.

    `formula` has no reduction, as in "exp(-|x_i - y_j|²/2l²)"; arrays are
    given by name, or as one mapping. They are read when something is
    computed, not copied. `ranges` says which pairs its reductions meet; its
    elements cannot be read then.

    A Python function of one point x and one point y does as well: it is
    traced (see `tilefold.trace`) and gives the same kernel as its formula.

        K = tilefold.kernel(lambda x, y: np.exp(-((x - y)**2).sum()), x=x, y=y)

    A `tilefold.Lazy` value is a kernel by its formula and its arrays.

    Raises `FormulaError`, `ShapeError`, `DTypeError`, `ArgumentError`.
    """
    given = {**(arguments or {}), **arrays}
    if hasattr(formula, "spelled_matrix"):
        text, own = formula.spelled_matrix()
        for name in given:
            _core.fail("UnknownArgument", name, "its own: " + ", ".join(own))
        formula, given = text, own
    if callable(formula) and not isinstance(formula, _core.Formula):
        formula, given = _traced(formula, given)
    if not isinstance(formula, _core.Formula):
        formula = _core.compile(formula, session=session)
    settings: dict[str, Any] = {"options": options}
    if session is not None:
        settings["session"] = session
    if ranges is not None:
        settings["ranges"] = ranges
    return Kernel(PairTerm(formula, given, settings))


def _traced(
    function: Callable[..., Any], given: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    from tilefold.trace import trace  # only where it is wanted

    return trace(function, given)


class Kernel:
    """A lazy matrix of shape (N, M), or (…, N, M) in batches.

    Made by `tilefold.kernel`. Rows are the points of i, columns those of j.
    Results belong to the library of the arrays.
    """

    __slots__ = ("__weakref__", "_pair", "_transposed")
    __array_ufunc__ = None  # NumPy leaves b @ K to __rmatmul__
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, pair: PairTerm, transposed: bool = False) -> None:
        self._pair = pair
        self._transposed = transposed

    # ---- what it is ---------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, M), after the batch dimensions."""
        *batch, rows, columns = self._pair.shape
        if self._transposed:
            rows, columns = columns, rows
        return (*batch, rows, columns)

    @property
    def ndim(self) -> int:
        """2, and one more for each batch dimension."""
        return len(self._pair.shape)

    @property
    def T(self) -> Kernel:  # noqa: N802
        """The transpose; nothing is computed."""
        return Kernel(self._pair, not self._transposed)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        transpose = ".T" if self._transposed else ""
        return (
            f"tilefold.Kernel of shape {self.shape}: "
            f"({self._pair.formula.text}){transpose}"
        )

    # ---- products -----------------------------------------------------------

    def __matmul__(self, vector: Any) -> Any:
        """K @ b: (N,) for b of shape (M,), (N, E) for (M, E)."""
        if isinstance(vector, Kernel):
            _core.fail("KernelProduct")
        name = self._pair.formula._unused_name()
        formula = self._pair.around("sum", self._columns, weights=name)
        arguments = {**self._pair.arguments, name: vector}
        return formula(arguments, **self._pair.settings)

    def __rmatmul__(self, vector: Any) -> Any:
        """B @ K: (M,) for b of shape (N,), (E, M) for (E, N)."""
        if np.ndim(vector) < 2:
            return self.T @ vector
        return (self.T @ vector.swapaxes(-1, -2)).swapaxes(-1, -2)

    # ---- algebra ------------------------------------------------------------

    def _upright(self) -> PairTerm:
        """The pair term whose rows are the kernel's."""
        return self._pair.transposed() if self._transposed else self._pair

    def _combined(
        self, operation: str, other: Any, reflected: bool = False
    ) -> Kernel:
        """One fused kernel of two, or of one and a number."""
        if hasattr(other, "spelled_matrix"):
            other = kernel(other)
        if not isinstance(other, Kernel) and np.ndim(other) > 0:
            _core.fail("KernelScalar", np.shape(other))
        mine = self._upright()
        if isinstance(other, Kernel):
            theirs: Any = other._upright()
            if mine.settings.get("ranges") is not theirs.settings.get("ranges"):
                _core.fail("RangesDiffer")
        else:
            theirs = mine.with_term(*spelled(other, mine.arguments))
        return Kernel(mine.combined(operation, theirs, reflected))

    def __add__(self, other: Any) -> Kernel:
        return self._combined("+", other)

    def __radd__(self, other: Any) -> Kernel:
        return self._combined("+", other)

    def __sub__(self, other: Any) -> Kernel:
        return self._combined("-", other)

    def __rsub__(self, other: Any) -> Kernel:
        return self._combined("-", other, reflected=True)

    def __mul__(self, other: Any) -> Kernel:
        return self._combined("*", other)

    def __rmul__(self, other: Any) -> Kernel:
        return self._combined("*", other)

    def __truediv__(self, other: Any) -> Kernel:
        return self._combined("/", other)

    def __rtruediv__(self, other: Any) -> Kernel:
        return self._combined("/", other, reflected=True)

    def __pow__(self, other: Any) -> Kernel:
        return self._combined("^", other)

    def __neg__(self) -> Kernel:
        return self._combined("*", -1.0)

    def add_diag(self, values: Any) -> Kernel:
        """K + diag(values), still lazy: a number, or shape (N,)."""
        mine = self._upright()
        name = unused("s", mine.arguments)
        text = f"where(i == j, {name}{'_i' if np.ndim(values) else ''}, 0)"
        return Kernel(mine.combined("+", mine.with_term(text, {name: values})))

    # ---- reductions ---------------------------------------------------------

    def sum(self, axis: int | None = None) -> Any:
        """Sums over i (axis 0), j (axis 1) or both (None)."""
        return self._reduce("sum", self._both_or(axis, "sum"))

    def mean(self, axis: int | None = None) -> Any:
        """Averages over i (axis 0), j (axis 1) or both (None)."""
        return self._reduce("mean", self._both_or(axis, "mean"))

    def max(self, axis: int | None = None) -> Any:
        """The largest value over an axis; NaN where any is."""
        return self._reduce("max", self._both_or(axis, "max"))

    def min(self, axis: int | None = None) -> Any:
        """The smallest value over an axis; NaN where any is."""
        return self._reduce("min", self._both_or(axis, "min"))

    def logsumexp(self, axis: int | None = None) -> Any:
        """Log Σ exp(K) over an axis, without overflow."""
        return self._reduce("logsumexp", self._both_or(axis, "logsumexp"))

    def argmin(self, axis: int) -> Any:
        """Where the first smallest value along an axis is, int64."""
        return self._reduce("argmin", self._axes(axis, "argmin"))

    def argmax(self, axis: int) -> Any:
        """Where the first largest value along an axis is, int64."""
        return self._reduce("argmax", self._axes(axis, "argmax"))

    def kmin(self, k: int, axis: int) -> Any:
        """The `k` smallest values along an axis, ascending: (N, k)."""
        return self._reduce("kmin", self._axes(axis, "kmin"), k)

    def argkmin(self, k: int, axis: int) -> Any:
        """Where the `k` smallest values along an axis are: (N, k), int64."""
        return self._reduce("argkmin", self._axes(axis, "argkmin"), k)

    def topk(self, k: int, axis: int, largest: bool = True) -> tuple[Any, Any]:
        """The `k` largest (or smallest) values along an axis, and where.

        (N, k) values, best first, and their places, int64; of equal values
        the first comes first.
        """
        signed = -self if largest else self
        values, places = signed.kmin(k, axis), signed.argkmin(k, axis)
        return (-values if largest else values), places

    def radius_neighbors(
        self, radius: float, axis: int = -1, return_distance: bool = False
    ) -> Neighbors:
        """Which pairs have a value of at most `radius`.

        Of a kernel of distances. For each row (axis 1) the columns, or for
        each column (axis 0) the rows, ascending: `Neighbors` of indptr
        (N + 1,), indices (n,), int64, and distances (n,) where asked for,
        else None. NaN is no neighbour.

        Threads evaluate blocks of some 10⁵ pairs and keep what they find:
        memory is that of the result, not N×M. Raises `ShapeError` where a
        pair has no single value, or there are batches.
        """
        from tilefold.neighbors import neighbors  # only where it is wanted

        by_rows = self._axes(axis, "radius_neighbors") == J
        pair = self._pair if by_rows else self._pair.transposed()
        return neighbors(pair, radius, return_distance)

    # ---- linear systems ----------------------------------------------------

    def solve(
        self,
        b: Any,
        ridge: Any = 0.0,
        rtol: float = 1e-6,
        maxiter: int | None = None,
        preconditioner: str | None = "auto",
        info: bool = False,
        method: str = "cg",
    ) -> Any:
        """Solves (K + ridge·I) x = b, for a symmetric K.

        b has shape (N,) or (N, E), and so has x. K is square and symmetric,
        which is not checked. `method` is "cg", conjugate gradients, for a
        positive definite matrix; "minres", minimal residuals, for any
        symmetric one and a ridge of any sign; or "auto", the first until it
        meets an indefinite matrix, and then the second. An iteration takes
        one product with K, of all columns together; there are at most
        `maxiter` (min(10 N, 1000) unless given), until
        |b - (K + ridge·I) x| <= rtol |b| for each column. Vectors are kept in
        double precision.

        `preconditioner` is "cholesky" (up to 100 rows of K, chosen by
        pivoting; "pivoted_cholesky" is the same), "nystrom" (as many, spread
        evenly), None, or "auto": "cholesky" with "cg" for 500 points and more
        with a ridge, else None. Both suppose that K itself is positive, up to
        small eigenvalues. `info=True` gives (x, info), a
        `tilefold.solve.SolveInfo`.

        Warns with `ConvergenceWarning` where the residual stays larger.
        PyTorch records it, for tensors that require grad. Raises
        `ShapeError`, `ArgumentError`.
        """
        options = {
            "rtol": rtol,
            "maxiter": maxiter,
            "preconditioner": preconditioner,
            "method": method,
        }
        if any_requires_grad([b, ridge, *self._pair.arguments.values()]):
            from tilefold import torch  # only where it is there already

            x, found, warning = torch.solve(self, b, ridge, options)
        else:
            from tilefold.solve import solve  # only where it is wanted

            x, found, warning = solve(self, b, ridge, options)
        if warning:
            warnings.warn(warning, ConvergenceWarning, stacklevel=2)
        return (x, found) if info else x

    # ---- elements -----------------------------------------------------------

    def diag(self) -> Any:
        """K[k, k] for all k, in O(N): shape (N,)."""
        if self.shape[-1] != self.shape[-2]:
            _core.fail("KernelNotSquare", self.shape)
        return self._pair.diagonal()

    def dense(self) -> Any:
        """The whole matrix as an array."""
        return self._values(None, None)

    def __getitem__(self, index: Any) -> Any:
        """Elements as NumPy indexes them; blocks of rows and columns lazily.

        `K[3]`, `K[:, 3]` and the pairs `K[i, j]` are arrays. `K[2:9]`,
        `K[rows]`, `K[mask]` and `K[2:9, columns]` are kernels on the points
        chosen, for `K[:1000] @ b`; `.dense()` makes an array of one.
        """
        rows, columns = split(index)
        if not isinstance(rows, slice) and not isinstance(columns, slice):
            return self._pairs(rows, columns)
        if is_integer(rows):
            return self._block(listed(rows, self.shape[-2]), columns, -2)
        if is_integer(columns):
            return self._block(rows, listed(columns, self.shape[-1]), -1)
        pair = self._pair.selected(
            I + J - self._columns, chosen(rows, self.shape[-2])
        ).selected(self._columns, chosen(columns, self.shape[-1]))
        return Kernel(pair, self._transposed)

    # ---- what it is not -----------------------------------------------------

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse("KernelNotArray")

    def __bool__(self) -> NoReturn:
        self._refuse("KernelTruth")

    def __iter__(self) -> NoReturn:
        self._refuse("KernelIteration")

    # ---- helpers ------------------------------------------------------------

    def _refuse(self, code: str) -> NoReturn:
        size = float(self._pair.item_size())
        for extent in self.shape:
            size *= extent
        _core.fail(code, self.shape, _size_text(size))

    @property
    def _columns(self) -> int:
        return I if self._transposed else J

    def _axes(self, axis: Any, reduction: str) -> int:
        """0 or 1 (or -2, -1) of the matrix to i or j of the formula."""
        last = (self.ndim - 1, -1)
        first = (self.ndim - 2, -2)
        if not is_integer(axis) or axis not in last + first:
            _core.fail("KernelAxis", reduction, axis)
        return self._columns if axis in last else I + J - self._columns

    def _both_or(self, axis: Any, reduction: str) -> int:
        return I + J if axis is None else self._axes(axis, reduction)

    def _reduce(self, reduction: str, axes: int, count: int = 0) -> Any:
        formula = self._pair.around(reduction, axes, count)
        return formula(self._pair.arguments, **self._pair.settings)

    def _block(self, rows: Any, columns: Any, single: int) -> Any:
        """A dense row (single = -2) or column (-1), or a part of it."""
        values = self._values(
            numbers_of(rows, self.shape[-2]),
            numbers_of(columns, self.shape[-1]),
        )
        return values[..., 0, :] if single == -2 else values[..., 0]

    def _values(self, rows: Any, columns: Any) -> Any:
        """Dense, for lists of row numbers; None for all."""
        if not self._transposed:
            return self._pair.evaluate("dense", rows, columns)
        return self._pair.evaluate("dense", columns, rows).swapaxes(-1, -2)

    def _pairs(self, rows: Any, columns: Any) -> Any:
        """K[i, j] for lists or numbers i and j, paired as in NumPy."""
        i = listed(rows, self.shape[-2])
        j = listed(columns, self.shape[-1])
        if i.shape != j.shape and i.size != 1 and j.size != 1:
            _core.fail("KernelPairs", i.size, j.size)
        i, j = np.broadcast_arrays(i, j)
        if self._transposed:
            i, j = j, i
        values = self._pair.evaluate("pairs", i.ravel(), j.ravel())
        if i.ndim == 0:
            return values[..., 0]
        return values.reshape(tuple(values.shape[:-1]) + i.shape)


def _size_text(size: float) -> str:
    units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    unit = 0
    while size >= 1024 and unit + 1 < len(units):
        size /= 1024
        unit += 1
    return f"{size:.1f} {units[unit]}" if unit else f"{size:.0f} bytes"
