# python_bindings/tilefold/dask.py - formulas over Dask's arrays.
"""`reduce`: a reduction over arrays that outgrow memory, or one machine.

    x = da.from_zarr("x.zarr")
    y = da.from_zarr("y.zarr")
    out = tilefold.dask.reduce("sum_j exp(-|x_i - y_j|²) b_j", x=x, y=y, b=b)
    out.compute()                     # threads, processes or a cluster

Each pair of chunks becomes a state (`tilefold.Reduction`), states are merged
by a tree of Dask's tasks, and results are made of them: of the same bits as a
call in memory with `Options(segment=…)`, whatever the chunks, the scheduler,
and the workers that were lost on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.kernel_matrix import kernel as _kernel
from tilefold.needed import require
from tilefold.reduction import Reduction

require("dask")

import dask.array as da

from tilefold.dask_calls import results_of
from tilefold.dask_plan import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tilefold.array_types import ArrayLike, Keyword
    from tilefold.kernel_matrix import Kernel
    from tilefold.lazy_value import Lazy
    from tilefold.ranges import Ranges

__all__ = ["grad", "kernel", "reduce"]


def reduce(
    formula: str | _core.Formula,
    arguments: Mapping[str, Keyword] | None = None,
    /,
    *,
    segment: int = 8192,
    split_every: int | None = None,
    batch_rank: int | None = None,
    options: _core.Options | None = None,
    ranges: Ranges | None = None,
    **arrays: Keyword,
) -> Any:
    """Makes the result of a formula as a Dask array, computing nothing yet.

    Each pair of chunks becomes a ``tilefold.State``, of a float64 for each of
    its slots and rows; states are merged by a tree of tasks. The result has the
    bits of a call in memory with ``Options(segment=...)``. A formula of several
    passes (a variance, a quantile) reads the arrays once a pass, each after the
    one before: ``persist()`` what takes long to compute.

    Parameters
    ----------
    formula : str or Formula
        Any but folds between passes: see ``tilefold.Reduction.passes``.
    arguments : Mapping, optional
        The arrays by name, as one mapping.
    segment : int, default 8192
        How many points of the reduced axis are joined at a time; chunks of that
        axis end at multiples of it.
    split_every : int, optional
        How many states a task merges, from 2 on: 8.
    batch_rank : int, optional
        How many first dimensions of every array are a batch's; 0. They are in
        one chunk. Of formulas that reduce once.
    options : Options, optional
        Those of all tasks.
    ranges : Ranges, optional
        The pairs that are met, by the numbers of points on the whole axes.
    **arrays : array
        Dask's (arrays, frames), xarray's, or with chunks (Zarr, HDF5), or
        NumPy's: shapes and dtypes as in ``tilefold.Formula``. Those on one axis
        are rechunked to the chunks of the first.

    Returns
    -------
    dask.array.Array
        Chunked as the arrays on the kept axis are, in pieces of 64 MB of
        states; a tuple of several results.

    Raises
    ------
    ArgumentError
        For chunks whose lengths are not known, and what has no states.
    FormulaError, ShapeError, DTypeError
        As ``tilefold.reduce`` raises them, when the graph is made.

    Warns
    -----
    dask.array.PerformanceWarning
        Where the components of an array are in several chunks.

    See Also
    --------
    tilefold.dask.grad, tilefold.dask.kernel
    tilefold.Reduction : the same in parts, without Dask.

    Examples
    --------
    >>> import dask.array as da
    >>> y = da.arange(100_000, chunks=10_000, dtype=float)
    >>> out = tilefold.dask.reduce("sum_j y_j", y=y)
    >>> float(out.compute(scheduler="synchronous"))
    4999950000.0
    """
    reduction = Reduction(
        formula, segment=segment, options=options, ranges=ranges
    )
    given = _core.arguments(arguments, arrays)
    return results_of(reduction, given, split_every, batch_rank)


def grad(
    formula: str | _core.Formula,
    names: str | Sequence[str],
    arguments: Mapping[str, Keyword] | None = None,
    /,
    *,
    cotangent: ArrayLike = 1.0,
    value: bool = False,
    segment: int = 8192,
    split_every: int | None = None,
    options: _core.Options | None = None,
    ranges: Ranges | None = None,
    **arrays: Keyword,
) -> Any:
    """Makes gradients of a formula as Dask arrays, computing nothing yet.

    Parameters
    ----------
    formula : str or Formula
        As ``reduce`` takes it.
    names : str or sequence of str
        The arguments that it is differentiated by.
    arguments : Mapping, optional
        The arrays by name, as one mapping.
    cotangent : float or array, default 1.0
        Of the result's shape, (N,) or (N, E), and real; a number for all of it.
        1 is of its sum.
    value : bool, default False
        Whether the formula's own result comes first.
    segment : int, default 8192
        How many points of a reduced axis are joined at a time.
    split_every : int, optional
        How many states a task merges, from 2 on: 8.
    options : Options, optional
        Those of all tasks.
    ranges : Ranges, optional
        The pairs that are met, as ``reduce`` takes them.
    **arrays : array
        Shapes and dtypes as in ``tilefold.Formula``.

    Returns
    -------
    dask.array.Array, or a tuple of them
        Each of the shape of its argument.

    Raises
    ------
    ArgumentError
        For names that there are not, and what ``reduce`` raises.

    See Also
    --------
    tilefold.dask.reduce
    tilefold.Formula.grad : of arrays that fit into memory.

    Examples
    --------
    >>> import dask.array as da
    >>> y = da.arange(4, chunks=2, dtype=float)
    >>> tilefold.dask.grad("sum_j y_j^3", "y", y=y).compute()
    array([ 0.,  3., 12., 27.])
    """
    if not isinstance(formula, _core.Formula):
        formula = _core.compile(formula)
    given = _core.arguments(arguments, arrays)
    name = formula._unused_name("grad")
    derived = formula.grad(names, cotangent=name, value=value)
    if any(known == name for known, _ in derived.names):
        seed: Any = cotangent
        if np.ndim(seed) == 0:
            whole = reduce(formula, given, ranges=ranges)
            # In the result's chunks: an array of NumPy would be in the graph,
            # and of all its length.
            seed = da.full(
                whole.shape, seed, dtype=whole.dtype, chunks=whole.chunks
            )
        given[name] = seed
    reduction = Reduction(
        derived, segment=segment, options=options, ranges=ranges
    )
    return results_of(reduction, given, split_every)


def kernel(
    formula: str | _core.Formula | Callable[..., Any] | Lazy,
    arguments: Mapping[str, Keyword] | None = None,
    /,
    *,
    options: _core.Options | None = None,
    ranges: Ranges | None = None,
    **arrays: Keyword,
) -> Kernel:
    """Makes the lazy (N, M) matrix of a formula, over chunks of points.

    It is ``tilefold.kernel`` of Dask's arrays: products, reductions, ``diag``
    and ``dense`` are Dask arrays of which nothing is computed yet. ``solve``
    and ``logdet`` compute, with products over the chunks, and keep their
    vectors where they were computed; their preconditioner is "nystrom".

    Parameters
    ----------
    formula : str, Formula, callable or Lazy
        The pair term, as ``tilefold.kernel`` takes it.
    arguments : Mapping, optional
        The arrays by name, as one mapping.
    options : Options, optional
        Those of all tasks; ``segment`` of them is 8192.
    ranges : Ranges, optional
        The pairs that are not 0, as ``tilefold.kernel`` takes them.
    **arrays : array
        Dask's, or with chunks (Zarr, HDF5), or NumPy's: shapes and dtypes as in
        ``tilefold.Formula``.

    Returns
    -------
    Kernel
        Of shape (N, M), or (N, M, E) of vectors.

    Raises
    ------
    ArgumentError, FormulaError, ShapeError, DTypeError
        As ``tilefold.kernel`` raises them.

    See Also
    --------
    tilefold.dask.reduce
    tilefold.kernel : which takes arrays of Dask, too.

    Examples
    --------
    >>> import dask.array as da
    >>> x = da.arange(4, chunks=2, dtype=float)
    >>> K = tilefold.dask.kernel("|x_i - x_j|", x=x)
    >>> (K @ np.ones(4)).compute()
    array([6., 4., 4., 6.])
    """
    given = {
        name: described(name, value, 0)
        if hasattr(value, "chunks") or hasattr(value, "to_dask_array")
        else value
        for name, value in _core.arguments(arguments, arrays).items()
    }
    return _kernel(formula, given, options=options, ranges=ranges)
