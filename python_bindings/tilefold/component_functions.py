# python_bindings/tilefold/component_functions.py - NumPy's and PyTorch's
# functions of whole vectors, of the components of a traced value.
"""What `cumsum`, `sort`, `einsum` and others make of components.

A traced vector has as many components as its source, so that such a function
is written out: one term for each component of its result. Values of formulas
are scalars and vectors; what would be a matrix is refused, with what to write
for it.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core
from tilefold.frameworks import described, unrecorded
from tilefold.functions import concatenated
from tilefold.namespaces import dtype_name
from tilefold.roles import bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "ALONG",
    "COMPONENT_FUNCTIONS",
    "COMPONENT_METHODS",
    "TENSOR_METHODS",
    "einsum",
    "refuse",
]

_MOST_SORTED = 16  # components: 120 comparisons
_MATRIX = "values of a formula are numbers and vectors, and this is a matrix: "
_DTYPES = ("bool", "int64", "float32", "float64", "complex64", "complex128")


def refuse(name: str, cure: str) -> NoReturn:
    """Refuses a function in a sentence that says what to write for it."""
    _core.fail("TracedOther", name, cure)


def _parts(a: Any) -> list[Any]:
    """The components, those of a number as well."""
    if not a.rank:
        return [a]
    return [a.made(f"{{0}}[{k}]", [a], 0) for k in range(a.shape[-1])]


def _numbers(a: Any) -> Any:
    """1 and 0 for truth values, of which sums are counts."""
    return a.made("where({0}, 1, 0)", [a], a.rank) if a.is_truth else a


def _vector(name: str, a: Any, axis: Any = None) -> Any:
    """A vector, of whose one axis the function is."""
    if not a.rank or axis not in (None, 0, -1, (0,), (-1,), [0], [-1]):
        of = "a number" if not a.rank else f"axis {axis}"
        refuse(f"{name} of {of}", "a point has one axis, of its components")
    return a


def _accumulated(name: str, combine: Callable[[Any, Any], Any]) -> Any:
    def call(a: Any, axis: Any = None) -> Any:
        parts = _parts(_numbers(_vector(name, a, axis)))
        return concatenated(list(itertools.accumulate(parts, combine)))

    return call


def _differences(a: Any, n: int = 1, axis: Any = -1) -> Any:
    """`numpy.diff`, n times over; of truth values, whether they differ."""
    size = _vector("diff", a, axis).shape[-1]
    if not 0 <= operator.index(n) < size:
        refuse(
            f"diff(…, n={n})",
            f"a vector of {size} components has differences of order 1 to "
            f"{size - 1}",
        )
    apart = operator.ne if a.is_truth else operator.sub
    parts = _parts(a)
    for _ in range(n):
        parts = [apart(b, c) for c, b in itertools.pairwise(parts)]
    return concatenated(parts) if n else a


def _rolled(a: Any, shift: Any, axis: Any = None) -> Any:
    """`numpy.roll`."""
    parts = _parts(_vector("roll", a, axis))
    if isinstance(shift, (tuple, list)) and len(shift) == 1:
        (shift,) = shift
    if not hasattr(shift, "__index__"):
        refuse(f"roll(…, {shift!r})", "pass one whole number")
    first = -operator.index(shift) % len(parts)
    return concatenated([*parts[first:], *parts[:first]])


def _flipped(a: Any, axis: Any = None) -> Any:
    """`numpy.flip`."""
    return concatenated(_parts(_vector("flip", a, axis))[::-1])


def _sorted(a: Any, axis: Any = -1) -> Any:
    """`numpy.sort`, by comparisons of neighbours; NaN comes last."""
    parts = _parts(_numbers(_vector("sort", a, axis)))
    if len(parts) > _MOST_SORTED:
        refuse(
            f"sort of {len(parts)} components",
            f"at most {_MOST_SORTED} are sorted for each pair; sort the "
            "array before, as in np.sort(x, axis=1)",
        )
    if "complex" in _dtype(a):
        refuse("sort of complex values", "sort x.real, x.imag or abs(x)")
    for last in range(len(parts) - 1, 0, -1):
        for k in range(last):
            a, b = parts[k], parts[k + 1]
            swap = a.made("({1} < {0} or {0} != {0})", [a, b], 0)
            parts[k] = a.made("where({0}, {1}, {2})", [swap, b, a], 0)
            parts[k + 1] = a.made("where({0}, {1}, {2})", [swap, a, b], 0)
    return concatenated(parts)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`numpy.trapezoid`: the integral of what is straight between points."""
    ends = _parts(_numbers(_vector("trapezoid", y, axis)))
    widths = [dx] * (len(ends) - 1)
    if x is not None:
        at = type(y).of(x)
        if at.rank != 1 or at.shape[-1] != len(ends):
            refuse(
                "trapezoid of such x",
                f"x is a vector of {len(ends)} components, as y is",
            )
        widths = _parts(_differences(at))
    areas = [
        width * (before + after) / 2.0
        for width, (before, after) in zip(
            widths, itertools.pairwise(ends), strict=True
        )
    ]
    if not areas:
        refuse("trapezoid of one component", "it takes two or more")
    return functools.reduce(operator.add, areas)


def _without_nan(
    a: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """`numpy.nan_to_num`; infinity is the largest number of the type."""
    dtype = _dtype(a)
    if "complex" in dtype:
        parts = [
            _without_nan(part, nan, posinf, neginf) for part in (a.real, a.imag)
        ]
        return a.made("({0} + im*{1})", parts, a.rank)
    if "float" not in dtype:
        return a
    if None in (posinf, neginf):
        if any(name not in ("float32", "float64") for name in _float_types(a)):
            refuse(
                "nan_to_num of floats of 16 bits",
                "values are computed in float32: pass posinf= and neginf=",
            )
        largest = float(np.finfo(dtype).max)
        posinf = largest if posinf is None else posinf
        neginf = -largest if neginf is None else neginf
    values = [type(a).of(value) for value in (nan, posinf, neginf)]
    return a.made(
        "where({0} != {0}, {1}, where({0} == inf, {2}, "
        "where({0} == -inf, {3}, {0})))",
        [a, *values],
        a.rank,
    )


def _dtype(a: Any) -> str:
    """Of the value of each pair, such as "float32"."""
    text, arguments = a.to_formula()
    with unrecorded():
        found: str = _core.compile(text)._value_shape(described(arguments), {})[
            4
        ]
    return found


def _types_of_sources(a: Any) -> list[str]:
    values = [bare(source.value) for source in a.sources.values()]
    return [
        dtype_name(value.dtype) for value in values if hasattr(value, "dtype")
    ]


def _float_types(a: Any) -> list[str]:
    return [name for name in _types_of_sources(a) if "float" in name]


def _converted(a: Any, dtype: Any, copy: Any = True) -> Any:
    """`astype`: where the formula computes in that type already."""
    del copy  # nothing is
    wanted = dtype_name(dtype)
    given = _dtype(a)
    if given == wanted:
        return a
    if wanted == "bool":
        return a != 0
    if "int" in wanted and given != "bool":
        refuse(f"astype({wanted})", "write np.trunc(x), which keeps the type")
    try:
        beside = np.result_type(np.float32, *_types_of_sources(a)).name
    except TypeError:  # bfloat16, which NumPy does not know
        beside = ""
    if wanted != beside or ("int" not in given and given != "bool"):
        refuse(
            f"astype({wanted})",
            "a formula computes in one type, that of its arrays: convert "
            f"them before, as in x.astype({wanted!r})",
        )
    return _numbers(a) if given == "bool" else a.made("(1.0*{0})", [a], a.rank)


def _moved(a: Any, dtype: Any) -> Any:
    """`Tensor.to`, of a type alone."""
    if dtype_name(dtype) not in _DTYPES:
        refuse(f"to({dtype!r})", "move the arrays before")
    return _converted(a, dtype)


def _squeezed(a: Any, axis: Any = None) -> Any:
    """A vector of one component as a number; a longer one as it is."""
    if not a.rank or a.shape[-1] != 1:
        return a if axis is None else _vector("squeeze", a, axis)
    return _parts(_vector("squeeze", a, axis))[0]


def _kron(a: Any, b: Any) -> Any:
    """`numpy.kron` of vectors: all products of two components."""
    a, b = type(a).of(a), type(a).of(b)
    if a.rank == 2 or b.rank == 2:
        refuse("kron of a matrix", f"{_MATRIX}take its rows one by one")
    if a.rank and b.rank:
        return a.made("outer({0}, {1})", [a, b], 1)
    return a * b


def _outer(*_: Any, **__: Any) -> NoReturn:
    refuse(
        "outer",
        f"{_MATRIX}np.kron(x, y) has its elements as one vector, and x @ A @ y "
        "is (A * np.outer(x, y)).sum()",
    )


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if axes not in (1, ((0,), (0,)), ([0], [0]), (0, 0)):
        refuse("tensordot", "x @ y is that of two vectors")
    return a @ b


# ---- einsum -----------------------------------------------------------------


def einsum(kind: Any, subscripts: Any, *operands: Any) -> Any:
    """`numpy.einsum` of vectors and matrices, with a number or a vector."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])  # as PyTorch takes them, too
    inputs, output = _read_subscripts(subscripts, len(operands))
    values = [kind.of(value) for value in operands]
    sizes: dict[str, int] = {}
    for labels, value in zip(inputs, values, strict=True):
        shape = value.shape[-value.rank :] if value.rank else ()
        if len(labels) != len(shape) or len(set(labels)) != len(labels):
            refuse(
                f"einsum of {labels!r} and a value of {len(shape)} axes",
                "a point has one axis; a diagonal is taken of the array before",
            )
        for label, size in zip(labels, shape, strict=True):
            if sizes.setdefault(label, size) != size:
                refuse(
                    f"einsum where {label!r} is {sizes[label]} and {size} long",
                    "pass as many components",
                )
    if len(output) > 1:
        refuse(
            f"einsum to {output!r}",
            f"{_MATRIX}np.kron(x, y) has the products of two vectors as one",
        )
    terms = list(zip(inputs, values, strict=True))
    while any(len(labels) == 2 for labels, _ in terms):
        terms = _without_a_matrix(terms, output, kind)
    factors, result = [], None
    for label in dict.fromkeys(labels for labels, _ in terms):
        product = functools.reduce(
            operator.mul, [value for labels, value in terms if labels == label]
        )
        if label == output:
            result = product
        else:
            factors.append(product.sum(axis=-1) if label else product)
    for factor in factors:
        result = factor if result is None else factor * result
    return result


def _read_subscripts(text: Any, count: int) -> tuple[list[str], str]:
    """The letters of each operand, and of the result."""
    if not isinstance(text, str) or "." in text:
        refuse("einsum of that", "write its subscripts as a text: 'i,i->'")
    whole, arrow, output = text.replace(" ", "").partition("->")
    inputs = whole.split(",")
    if not arrow:
        output = "".join(
            sorted(
                letter
                for letter in set(whole) - {","}
                if whole.count(letter) == 1
            )
        )
    known = set(output) <= set(whole) and len(set(output)) == len(output)
    if (
        len(inputs) != count
        or not known
        or not whole.replace(",", "a").isalpha()
    ):
        refuse(f"einsum of {text!r}", "write a letter for each axis: 'i,i->'")
    return inputs, output


def _without_a_matrix(
    terms: Sequence[tuple[str, Any]], output: str, kind: Any
) -> list[tuple[str, Any]]:
    """Multiplies a matrix by the vectors of one of its two letters."""
    for labels, matrix in terms:
        if len(labels) != 2:
            continue
        for place, label in enumerate(labels):
            others = [each for each, _ in terms if label in each]
            if label == output or sum(len(each) == 2 for each in others) > 1:
                continue
            vectors = [value for each, value in terms if each == label]
            ones = kind.of([1] * matrix.shape[-2:][place])
            by = functools.reduce(operator.mul, vectors or [ones])
            product = by @ matrix if place == 0 else matrix @ by
            rest = [
                each
                for each in terms
                if each[0] != label and each[1] is not matrix
            ]
            return [*rest, (labels[1 - place], product)]
    refuse(
        "einsum of these matrices",
        "multiply matrices that are the same for all pairs before",
    )


# Functions of the vector's one axis, which a lazy array calls its last.
ALONG: dict[str, Callable[..., Any]] = {
    "cumsum": _accumulated("cumsum", operator.add),
    "cumprod": _accumulated("cumprod", operator.mul),
    "diff": _differences,
    "roll": _rolled,
    "flip": _flipped,
    "sort": _sorted,
    "trapezoid": _trapezoid,
    "trapz": _trapezoid,
}
# Functions that name no axis.
WHOLE: dict[str, Callable[..., Any]] = {
    "nan_to_num": _without_nan,
    "astype": _converted,
    "to": _moved,
    "double": lambda a: _converted(a, "float64"),
    "float": lambda a: _converted(a, "float32"),
    "squeeze": _squeezed,
    "kron": _kron,
    "outer": _outer,
    "ger": _outer,
    "tensordot": _tensordot,
}
COMPONENT_FUNCTIONS = {**ALONG, **WHOLE}
# Those that arrays have as methods; x.sort() is in place.
COMPONENT_METHODS = {*COMPONENT_FUNCTIONS} - {
    "sort", "trapezoid", "trapz", "tensordot",
}  # fmt: skip
# Methods of tensors alone, whose arguments are read as PyTorch's.
TENSOR_METHODS = {"diff", "roll", "flip", "nan_to_num"}
