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
from tilefold.dask_plan import described as _described
from tilefold.dask_plan import zeros_like
from tilefold.dask_solve import conjugate_gradients
from tilefold.pair_term import PairTerm
from tilefold.reduction import Reduction
from tilefold.roles import Role, bare
from tilefold.slices import I, J

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from tilefold.kernel import Kernel

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


def call(formula: _core.Formula, /, **arguments: Any) -> Any:
    """`formula(**arguments)`, lazy."""
    options = arguments.pop("options", None)
    batch_rank = arguments.pop("batch_rank", None)
    for name in ("session", "ranges", "sum_batch", "out", "accumulate"):
        if arguments.pop(name, None) is not None:
            _core.fail(
                "BadOption",
                name,
                "given to a call over Dask's arrays",
                "leave it out; options= are those of all tasks",
            )
    segment = getattr(options, "segment", None) or _SEGMENT
    reduction = Reduction(formula, segment=segment, options=options)
    return results_of(reduction, arguments, None, batch_rank)


def elements(pair: PairTerm, query: str, i: Any, j: Any) -> Any:
    """What `PairTerm.evaluate` gives, lazy: a block for each two chunks."""
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
            found = delayed(_block)(block.formula, values, axes)
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
    pair = kernel._pair
    if pair.is_complex or np.iscomplexobj(bare(side)):
        _refuse(
            "systems of complex numbers",
            "make it of numpy.asarray(…), which holds all of them",
        )
    name = pair.formula._unused_name()
    product = pair.around("sum", kernel._columns, weights=name)

    def times(vectors: Any) -> Any:
        return call(
            product, **pair.arguments, **pair.settings, **{name: vectors}
        )

    rows = pair.selected(I, slice(0, 1, 1)).points
    if rows[1] != len(side):
        _core.fail(
            "BadOption",
            "b",
            f"one of {len(side)} rows, beside a kernel of {rows[1]}",
            "pass an array of as many rows as the kernel has",
        )
    return conjugate_gradients(times, side, ridge, pair.dtype, options)


def inv_quad_logdet(
    kernel: Kernel,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> NoReturn:
    """Log determinants need a preconditioner, which is of one machine."""
    del kernel, side, ridge, solving, options
    _refuse(
        "log determinants",
        "make it of numpy.asarray(…), which holds all of them",
    )


def _refuse(what: str, cure: str) -> NoReturn:
    _core.fail("BadOption", "K", f"one of Dask's arrays: {what}", cure)
