# python_bindings/tilefold/dask_framework.py - what is asked of Dask's arrays.
"""Functions of `tilefold.frameworks.Framework`, of calls that are lazy."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import dask.array as da
import numpy as np
from dask.delayed import delayed

from tilefold import _core
from tilefold.dask_calls import results_of
from tilefold.dask_logdet import MOST_FACTORED, factored, log_determinant
from tilefold.dask_plan import described as _described
from tilefold.dask_plan import zeros_like
from tilefold.dask_preconditioner import nystrom
from tilefold.dask_solve import System, check, dots, solved
from tilefold.pair_term import PairTerm
from tilefold.reduction import Reduction
from tilefold.roles import Role, bare
from tilefold.slices import I, J

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from tilefold.dask_preconditioner import Nystrom
    from tilefold.kernel_matrix import Kernel

__all__ = [
    "call",
    "concrete",
    "described",
    "dtype",
    "elements",
    "holds",
    "inv_quad_logdet",
    "real_numbers",
    "records",
    "solve",
    "unrecorded",
]

_SEGMENT = 8192
_LONG = 500  # points from which on a system has a preconditioner by itself


def holds(values: Iterable[Any]) -> bool:
    """Whether some of the values are Dask's arrays."""
    return any(isinstance(bare(value), da.Array) for value in values)


records = holds  # all that is computed of them is Dask's to compute


def unrecorded() -> AbstractContextManager[Any]:
    """Where nothing is recorded: it is the values that are lazy."""
    return nullcontext()


def described(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, arrays of the same shapes for Dask's."""
    found = {}
    for name, value in arguments.items():
        own = bare(value)
        if isinstance(own, da.Array):
            own = _described(name, own, 0)  # refuses lengths not known
            (own,) = zeros_like({name: own}).values()
        found[name] = Role(own, value.axes) if isinstance(value, Role) else own
    return found


def concrete(numbers: Any) -> Any:
    """Whole numbers, computed."""
    return np.asarray(numbers)


def dtype(name: str) -> Any:
    """NumPy's element type of a name, such as "float32"."""
    return np.dtype(name)


def real_numbers(values: Any, dtype: Any) -> Any:
    """An array of numbers: of float32 where `dtype` is, else of float64."""
    narrow = np.dtype(dtype) in (np.dtype("float32"), np.dtype("complex64"))
    return np.asarray(values, np.float32 if narrow else np.float64)


def call(
    formula: _core.Formula, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    """`formula(arguments, **settings)`, lazy."""
    options = settings.pop("options", None)
    ranges = settings.pop("ranges", None)
    batch_rank = settings.pop("batch_rank", None)
    segment = getattr(options, "segment", None) or _SEGMENT
    reduction = Reduction(
        formula, segment=segment, options=options, ranges=ranges
    )
    return results_of(reduction, {**arguments, **settings}, None, batch_rank)


def elements(pair: PairTerm, query: str, i: Any, j: Any) -> Any:
    """What `PairTerm.evaluate` gives, lazy: a block for each two chunks."""
    if pair.settings.get("ranges") is not None:
        _core.fail("RangesOfElements")
    if query == "pairs":
        _refuse(
            "single pairs", "take rows and columns: K[rows][:, columns].dense()"
        )
    chosen = pair.selected(1, i).selected(2, j)
    if query == "diag":
        return chosen.diagonal()
    return _dense(chosen)


def _dense(pair: PairTerm) -> da.Array:
    """Blocks of two chunks each, in Dask's array of them."""
    if pair.batch:
        _refuse("all values of a batch", "take them one by one: K[0].dense()")
    ends = () if pair.components is None else (pair.components,)
    rows, columns = (_slices(pair, axis) for axis in (I, J))
    blocks = []
    for i in rows:
        upper = pair.selected(I, i)
        line = []
        for j in columns:
            block = upper.selected(J, j)
            values = {k: bare(v) for k, v in block.arguments.items()}
            axes = {
                k: v.axes
                for k, v in block.arguments.items()
                if isinstance(v, Role)
            }
            # Pure, so that the same block has one name in all graphs.
            found = delayed(_block, pure=True)(block.formula, values, axes)
            shape = (i.stop - i.start, j.stop - j.start, *ends)
            line.append(da.from_delayed(found, shape, np.dtype(pair.dtype)))
        blocks.append(da.concatenate(line, axis=1))
    return da.concatenate(blocks, axis=0)


def _slices(pair: PairTerm, axis: int) -> list[slice]:
    """The chunks of the points of an axis: of the first array that has some."""
    total = pair.points[axis - 1]
    chunks = (total,)
    for name, value in pair.arguments.items():
        own = pair.formula._axes_of(name)[1]
        if isinstance(value, Role):
            own = value.axes
        if own & axis and isinstance(bare(value), da.Array):
            chunks = bare(value).chunks[0]
            break
    ends = np.cumsum((0, *chunks)).tolist()
    return [slice(a, b, 1) for a, b in pairwise(ends)]


def _block(
    formula: _core.Formula, values: dict[str, Any], axes: dict[str, int]
) -> Any:
    """All values of two chunks."""
    arguments = {
        name: Role(value, axes[name]) if name in axes else value
        for name, value in values.items()
    }
    return PairTerm(formula, arguments, {}).evaluate("dense")


def solve(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """What `tilefold.solve.solve` gives, of products over the chunks."""
    points = _points_of(kernel)
    if points != len(side):
        _core.fail(
            "BadOption",
            "b",
            f"one of {len(side)} rows, beside a kernel of {points}",
            "pass an array of as many rows as the kernel has",
        )
    b = da.asarray(side)
    system = _system(kernel, ridge, b.dtype)
    check(options, system.ridge)
    chosen = options["preconditioner"]
    if chosen == "auto":
        is_long = points >= _LONG and system.ridge > 0
        chosen = "nystrom" if is_long and options["method"] == "cg" else None
    found = _preconditioner(
        kernel, system, chosen, options["rank"], b.chunks[0]
    )
    return solved(system, b, options, found)


def inv_quad_logdet(
    kernel: Kernel,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> tuple[Any, Any, Any, str]:
    """What `tilefold.solve.inv_quad_logdet` gives, computed by chunks."""
    columns, value, info, warning = np.zeros(()), 0.0, None, ""
    if options is not None:
        value, info, warning = _logdet(kernel, ridge, options)
    if side is not None:
        x, _, told = solve(kernel, side, ridge, solving)
        columns = dots(da.asarray(side).astype(x.dtype), x).compute()
        warning = warning or told
    dtype = kernel._pair.library_dtype()
    return (
        real_numbers(columns, dtype),
        real_numbers(value, dtype),
        info,
        warning,
    )


def _logdet(
    kernel: Kernel, ridge: Any, options: dict[str, Any]
) -> tuple[float, Any, str]:
    """The value, how it went, and what to warn of."""
    points = _points_of(kernel)
    system = _system(kernel, ridge)
    check(options, system.ridge)
    if points < MOST_FACTORED // (1 + kernel._pair.is_complex):
        matrix = kernel.dense().astype(system.wide).compute()
        return factored(matrix + system.ridge * np.eye(points))
    slices = _slices(kernel._pair, I)
    chunks = tuple(part.stop - part.start for part in slices)
    chosen = options["preconditioner"]
    chosen = "nystrom" if chosen == "auto" else chosen
    found = _preconditioner(kernel, system, chosen, None, chunks)
    return log_determinant(system, chunks, options, found)


def _points_of(kernel: Kernel) -> int:
    """The points of a kernel that is square."""
    rows: int
    rows, columns = kernel.shape[-2:]
    if rows != columns or kernel._pair.batch:
        _refuse(
            f"a system of shape {kernel.shape}", "pass a kernel of shape (N, N)"
        )
    return rows


def _system(kernel: Kernel, ridge: Any, dtype: Any = np.float16) -> System:
    """K + ridge·I, of products over the chunks with vectors of a dtype."""
    pair = kernel._pair
    columns = kernel._columns
    if pair.is_complex:  # the transpose of a Hermitian one is another
        pair, columns = kernel._upright(), 2
    name = pair.formula._unused_name()
    product = pair.around("sum", columns, weights=name)

    def times(vectors: Any) -> Any:
        given = {**pair.arguments, name: vectors}
        return call(product, given, dict(pair.settings))

    own = np.result_type(pair.dtype, dtype, np.float32)
    return System(times, float(np.asarray(bare(ridge))), own.name)


def _preconditioner(
    kernel: Kernel,
    system: System,
    chosen: str | None,
    rank: int | None,
    chunks: tuple[int, ...],
) -> Nystrom | None:
    if chosen != "nystrom":
        return None
    return nystrom(kernel, system.ridge, rank, chunks)


def _refuse(what: str, cure: str) -> NoReturn:
    _core.fail("BadOption", "K", f"one of Dask's arrays: {what}", cure)
