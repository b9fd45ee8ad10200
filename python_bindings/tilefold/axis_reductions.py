# python_bindings/tilefold/axis_reductions.py - reductions over axes of kernels.
"""What the methods of `Reductions` do, given the kernel.

A formula reduces over i, j or both; what it gives is an array, and its library
reduces that over batches and components where they are named, too. Over the
components alone, a kernel stays lazy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.expression import Expression, applied
from tilefold.functions import norm_of_order
from tilefold.namespaces import (
    beside,
    namespace_of,
    reduced,
    reshaped,
    swapped,
)
from tilefold.roles import Role, detached
from tilefold.slices import is_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "best",
    "best_over",
    "norm_over",
    "one_point_axis",
    "quantile_over",
    "reduced_over",
    "softmax_over",
    "spread_over",
]

# What becomes of partial results over the axes that are left: a method of
# arrays; those that are not here reduce over i and j only.
_AFTERWARDS = {
    "sum": "sum", "mean": "mean", "max": "amax", "min": "amin",
    "prod": "prod", "any": "any", "all": "all", "count": "sum",
}  # fmt: skip
# Of the components of a value, by functions of the formula.
_COMPONENTS = {
    "sum": "sum({0})", "max": "max({0})", "min": "min({0})",
    "mean": "sum({0})/{n}", "norm": "norm({0})",
    "argmin": "argmin({0})", "argmax": "argmax({0})",
}  # fmt: skip
_OF_CONDITIONS = ("any", "all", "count")


def reduced_over(
    kernel: Any, name: str, axis: Any = None, keepdims: bool = False
) -> Any:
    """A reduction over one axis, several, or all: None."""
    bits = 0 if keepdims else _of_matrix(kernel, axis)
    if bits and name not in _OF_CONDITIONS:
        pair = kernel._pair
        return pair.around(name, bits)(pair.arguments, **pair.settings)
    axes = positions(kernel, name, axis)
    points = [a for a in axes if _bits(kernel, a)]
    rest = [a for a in axes if not _bits(kernel, a)]
    if not points:
        return _of_components(kernel, name, axes, keepdims)
    if rest and name not in _AFTERWARDS:
        _core.fail("KernelPointAxes", name, kernel.shape, described(kernel))
    pair = kernel._pair
    if name == "mean" and rest and _meets_some_pairs(kernel):
        # Batches may meet different numbers of pairs.
        total = reduced_over(kernel, "sum", axes, keepdims)
        return total / beside(total, _counted(kernel, axes, keepdims))
    if name in _OF_CONDITIONS and pair.dtype != "bool":
        pair = applied("ne", (pair, 0), {})
    summed: Any = None
    if name == "sum" and not pair.is_complex:
        summed = tuple(a for a in rest if a < len(pair.batch)) or None
    formula = pair.around(name, sum(_bits(kernel, a) for a in points))
    settings = {**pair.settings, "sum_batch": summed}
    result = formula(pair.arguments, **settings)
    gone = [*points, *(summed or ())]
    for a in sorted(set(rest) - set(gone), reverse=True):
        result = _afterwards(result, name, a - sum(g < a for g in gone))
    return _kept(kernel, result, axes) if keepdims else result


def spread_over(
    kernel: Any, name: str, axis: Any, ddof: Any, keepdims: bool
) -> Any:
    """`var` and `std`, of n - ddof in place of n values."""
    result = reduced_over(kernel, name, axis, keepdims)
    if ddof == 0:
        return result
    places = positions(kernel, name, axis)
    if not _meets_some_pairs(kernel):
        count = math.prod(kernel.shape[place] for place in places)
        ratio = count / (count - ddof) if count > ddof else float("nan")
        return result * (ratio if name == "var" else ratio**0.5)
    counts = _counted(kernel, places, keepdims)
    left = np.where(counts > ddof, counts - ddof, np.nan)
    ratios = counts / left if name == "var" else np.sqrt(counts / left)
    return result * beside(result, ratios)


def quantile_over(kernel: Any, q: Any, axis: Any, keepdims: bool) -> Any:
    """In one call for all levels."""
    several = getattr(q, "ndim", None) != 0 and hasattr(q, "__len__")
    levels = [float(level) for level in (q if several else [q])]
    is_vector = len(levels) != 1
    # Undeclared, they might be read as one of each point, or of each batch.
    given = Role([levels], 0) if is_vector else levels[0]
    axes = positions(kernel, "quantile", axis)
    bits = sum(_bits(kernel, place) for place in axes)
    if not all(_bits(kernel, place) for place in axes):
        _core.fail(
            "KernelPointAxes", "quantile", kernel.shape, described(kernel)
        )
    pair = kernel._pair
    name = pair.formula._unused_name("q")
    formula = pair.around("quantile", bits, level=name)
    result = formula({**pair.arguments, name: given}, **pair.settings)
    for place in range(result.ndim - 1, 0, -1) if is_vector else ():
        result = swapped(result, place, place - 1)
    if several and not is_vector:
        result = reshaped(result, (1, *result.shape))
    if not keepdims:
        return result
    shape = [1 if a in axes else n for a, n in enumerate(kernel.shape)]
    return reshaped(result, (*result.shape[:several], *shape))


def norm_over(kernel: Any, order: Any, axis: Any, keepdims: bool) -> Any:
    """Of the components, or of what lies along other axes."""
    places = positions(kernel, "norm", axis)
    # Of a whole matrix, NumPy's 2-norm is the largest singular value.
    if order not in ((None, "fro") if len(places) > 1 else (None, 2)):
        if len(places) > 1:
            _core.fail("TracedFunction", f"norm of order {order}")
        return norm_of_order(
            abs(kernel),
            order,
            lambda name, of: getattr(of, name)(places[0], keepdims),
        )
    if places == [kernel.ndim - 1] and kernel._pair.components is not None:
        return _of_components(kernel, "norm", places, keepdims)
    return (abs(kernel) ** 2).sum(tuple(places), keepdims) ** 0.5


def softmax_over(kernel: Any, axis: Any, values: Any) -> Any:
    """Weights, or means with them."""
    bits = one_point_axis(kernel, "softmax", axis)
    if values is None:
        return (kernel - kernel.logsumexp(axis, keepdims=True)).exp()
    pair = kernel._pair
    name = pair.formula._unused_name("v")
    formula = pair.around("softmax", bits, weights=name, apart=True)
    values = pair.of_every_batch(values)
    return formula({**pair.arguments, name: values}, **pair.settings)


def best_over(
    kernel: Any,
    name: str,
    axis: Any,
    count: int | None,
    keepdims: bool = False,
) -> Any:
    """Argmin and the like, over one axis: of points, or of components."""
    pair = kernel._pair
    bits = 0 if axis is None or keepdims else _of_matrix(kernel, axis)
    if bits:
        return pair.around(name, bits, count)(pair.arguments, **pair.settings)
    place = one_axis(kernel, name, axis)
    bits = _bits(kernel, place)
    if bits:
        formula = pair.around(name, bits, count)
        result = formula(pair.arguments, **pair.settings)
        return _kept(kernel, result, [place]) if keepdims else result
    return _of_components(kernel, name, [place], keepdims)


def best(kernel: Any, k: int, axis: int) -> tuple[Any, Any]:
    """The k smallest values over an axis of points, and where: in one pass.

    A vector of both has the values' dtype, which holds places up to the width
    of its significands; beyond, and over components, it is two passes.
    """
    pair = kernel._pair
    place = one_axis(kernel, "kmin", axis)
    bits = _bits(kernel, place)
    most = 2**53 if pair.dtype == "float64" else 2**24
    is_count = is_integer(k) and k > 0
    if not bits or not is_count or kernel.shape[place] > most:
        return kernel.kmin(k, axis), kernel.argkmin(k, axis)
    formula = pair.best(int(k), bits)
    both = formula(pair.arguments, **pair.settings)
    places = detached(both[..., k:])
    return both[..., :k], _whole(places)


def _whole(numbers: Any) -> Any:
    """As int64, by the method or the function that their library has."""
    if hasattr(numbers, "astype"):
        return numbers.astype("int64")
    if hasattr(numbers, "long"):
        return numbers.long()
    library = namespace_of(numbers)
    return library.astype(numbers, library.int64)


def _of_components(
    kernel: Any, name: str, axes: Sequence[int], keepdims: bool
) -> Any:
    """Still lazy: of the components of each pair alone."""
    shape = kernel.shape
    is_components = kernel._pair.components is not None and list(axes) == [
        len(shape) - 1
    ]
    if not is_components or name not in _COMPONENTS:
        _core.fail("KernelPointAxes", name, shape, described(kernel))
    pair = kernel._pair
    operand = Expression.of_pair(pair)
    form = _COMPONENTS[name].replace("{n}", str(pair.components))
    if keepdims:
        form = f"[{form}]"
    value = operand.made(form, [operand], int(keepdims))
    return kernel._like(value.fused())


def _afterwards(result: Any, name: str, axis: int) -> Any:
    method = _AFTERWARDS[name]
    if not hasattr(result, method):  # NumPy's arrays have max, and no amax
        method = name
    return reduced(result, method, axis)


def _kept(kernel: Any, result: Any, axes: Sequence[int]) -> Any:
    """The result with an axis of one where one was reduced."""
    shape = [1 if a in axes else n for a, n in enumerate(kernel.shape)]
    return reshaped(result, tuple(shape))


# ---- pairs that are met -----------------------------------------------------


def _meets_some_pairs(kernel: Any) -> bool:
    return kernel._pair.settings.get("ranges") is not None


def _counted(kernel: Any, places: Sequence[int], keepdims: bool) -> Any:
    """How many values become one over these axes, of the pairs that are met.

    An array that broadcasts with the result.
    """
    ranges = kernel._pair.settings["ranges"]
    first = len(kernel._pair.batch)
    bits = sum(_bits(kernel, place) for place in places)
    kept = [
        1 if place in places else kernel.shape[place]
        for place in (first, first + 1)
    ]
    counts = ranges._counts(bits, math.prod(kept))
    # The axes of the kernel, of one where they are reduced, or all counts are
    # the same; and before them those that only the ranges have.
    ends = [1] * (kernel.ndim - first - 2)
    lacking = [1] * (first - len(ranges.batch))
    counts = counts.reshape((*lacking, *ranges.batch, *kept, *ends))
    for place in places:
        if not _bits(kernel, place):
            here = place - kernel.ndim
            if counts.shape[here] == 1:  # the same in all of it
                counts = counts * kernel.shape[place]
            else:
                counts = counts.sum(here, keepdims=True)
    gone = tuple(place - kernel.ndim for place in places)
    return counts if keepdims else counts.squeeze(gone)


# ---- axes -------------------------------------------------------------------


def positions(kernel: Any, name: str, axis: Any) -> list[int]:
    """The axes that are meant, ascending, from 0; None: all."""
    ndim = kernel.ndim
    given = range(ndim) if axis is None else axis
    places = list(given) if isinstance(given, (tuple, list, range)) else [given]
    for place in places:
        if not is_integer(place) or not -ndim <= place < ndim:
            _fail(kernel, name, place)
    found = sorted({int(place) % ndim for place in places})
    if len(found) != len(places) or not places:
        _fail(kernel, name, axis)
    return found


def _of_matrix(kernel: Any, axis: Any) -> int:
    """The bits of the axes where a matrix has no others; 0: look closer."""
    pair = kernel._pair
    if pair.batch or pair.components is not None:
        return 0
    if axis is None:
        return 3
    if type(axis) is int and -2 <= axis < 2:
        return int(kernel._columns if axis % 2 else kernel._rows)
    return 0


def one_axis(kernel: Any, name: str, axis: Any) -> int:
    """One axis, of points or components."""
    if not is_integer(axis):
        _fail(kernel, name, axis)
    return positions(kernel, name, axis)[0]


def one_point_axis(kernel: Any, name: str, axis: Any) -> int:
    """The bit of the formula's axis: i or j."""
    bits = _bits(kernel, one_axis(kernel, name, axis))
    if not bits:
        _fail(kernel, name, axis)
    return bits


def _bits(kernel: Any, place: int) -> int:
    """Of i and j as formulas count them, 0 for other axes."""
    first = len(kernel._pair.batch)
    if place == first:
        return int(kernel._rows)
    return int(kernel._columns) if place == first + 1 else 0


def _fail(kernel: Any, name: str, axis: Any) -> Any:
    _core.fail("KernelAxis", name, axis, kernel.shape, described(kernel))


def described(kernel: Any) -> str:
    """What each axis is: "axis 0 is i, 1 is j"."""
    names = ["a batch dimension"] * len(kernel._pair.batch)
    names += ["j", "i"] if kernel._transposed else ["i", "j"]
    if kernel._pair.components is not None:
        names.append("the components")
    parts = [f"{place} is {name}" for place, name in enumerate(names)]
    return "axis " + ", ".join(parts[:-1]) + " and " + parts[-1]
