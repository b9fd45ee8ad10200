# python_bindings/tilefold/lazy_value.py - arrays whose operations are written
# down.
"""`Lazy`: what `tilefold.lazy` gives, a traced value with an array's shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core
from tilefold.component_functions import ALONG, COMPONENT_FUNCTIONS
from tilefold.dialects import extremum, with_dim
from tilefold.expression import Shape, is_array, placed, require_one_reading
from tilefold.frameworks import described, unrecorded
from tilefold.functions import JOINS, POWERS, concatenated
from tilefold.kernel_matrix import Kernel, kernel
from tilefold.lazy_reductions import LazyReductions
from tilefold.operations import (
    ATTRIBUTES,
    DERIVED,
    METHODS,
    OF_VECTORS,
    SAME,
    attribute_of,
    method_of,
)
from tilefold.slices import is_all, is_integer
from tilefold.trace import Source, Tracer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

__all__ = ["Lazy", "by_shape", "on_axis"]

_AXES = {"i": "i", "j": "j", 0: "i", 1: "j"}
_NAMES = {"i": "x", "j": "y", "": "p"}


def on_axis(x: Any, axis: Any) -> Lazy:
    """An array of shape (N,) or (N, D) on the axis that is named."""
    dimensions = np.ndim(x)
    if axis not in _AXES or isinstance(axis, bool):
        _core.fail("LazyAxis", repr(axis))
    if dimensions not in (1, 2):
        _core.fail("LazyShape", _shape(x))
    on = _AXES[axis]
    return Lazy.from_source(Source(x, _NAMES[on], on), dimensions - 1)


def _shape(x: Any) -> tuple[int, ...]:
    """As NumPy has it, of a tensor or a list too."""
    return tuple(x.shape if hasattr(x, "shape") else np.shape(x))


def by_shape(x: Any) -> Lazy:
    """An array on the axis that its shape says, or a parameter."""
    shape = _shape(x)
    if len(shape) < 2:
        return Lazy.parameter(x)
    if len(shape) == 2 or (shape[-3] != 1 and shape[-2] != 1):
        _core.fail("LazyNoAxis", shape)
    if not hasattr(x, "shape"):
        x = np.asarray(x)
    if shape[-2] != 1:
        return _on("j", x[..., 0, :, :])
    if shape[-3] != 1:
        return _on("i", x[..., 0, :])
    if len(shape) == 3:
        return Lazy.from_source(_Single(x[0, 0], "p"), 1)
    return _on("", x[..., 0, :])


def _on(axis: str, x: Any) -> Lazy:
    return Lazy.from_source(Source(x, _NAMES[axis], axis), 1)


class _Single(Source):
    """An array of shape (1, 1, D): one point, on an axis without others.

    It is a parameter beside other arrays on i and j, and the only point of
    an axis that has none.
    """


class Lazy(LazyReductions, Tracer):
    """A lazy array of shape (N, M) or (N, M, D), after batch dimensions.

    Made by ``tilefold.lazy``, and by operations of such values with others and
    with numbers, arrays that ``lazy`` takes without an axis, and, where there
    are components, arrays of shape (D,). An axis that it does not depend on has
    length 1. A value that depends on i and j is a matrix, and answers as a
    ``Kernel`` does: arrays broadcast with it as in NumPy.

    The last axis of an (N, M, D) value holds components: ``sum``, ``mean``,
    ``max``, ``min`` and ``norm`` of ``axis=-1`` combine them at each pair,
    ``[..., k]`` takes one, and ``x @ y`` is the inner product. Reductions over
    the axes of N and M, ``K @ b``, and all else that a ``Kernel`` has, compute.

    Parameters
    ----------
    form : str
        How it is written down; ``{0}`` is the first operand.
    operands : sequence of Lazy
        The values that it is made of.
    rank : {0, 1, 2}
        Of a scalar, a vector or a matrix at each pair.
    sources : Mapping
        The arguments that it takes, by the id of each.

    See Also
    --------
    lazy, Kernel

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0], [3.0]])
    >>> xi, yj = tilefold.lazy(x, axis="i"), tilefold.lazy(y, axis="j")
    >>> D = ((xi - yj) ** 2).sum(-1).sqrt()
    >>> D
    tilefold.Lazy of shape (2, 3): sqrt(sum(pow((x_i - y_j), 2)))
    >>> D @ np.ones(3), D.argmin(axis=1)
    (array([4., 3.]), array([0, 1]))
    """

    __module__ = "tilefold"  # where it is found

    __slots__ = ("_kept", "_value_shape")

    def __init__(
        self,
        form: str,
        operands: Sequence[Tracer],
        rank: int,
        sources: Mapping[int, Source],
    ) -> None:
        super().__init__(form, operands, rank, sources)
        self._kept: Kernel | None = None
        self._value_shape: tuple[Any, ...] = ()

    @classmethod
    def of(cls, value: Any) -> Any:
        """Makes a lazy array of a value that meets one in an operation.

        Numbers with a fraction become arguments, so that others find the same
        kernel; whole ones are written into the formula.

        Parameters
        ----------
        value : array, float or sequence
            As ``tilefold.lazy`` takes it without an axis; several side by side
            are components.

        Returns
        -------
        Lazy
            The value, or itself where it is one.

        Raises
        ------
        ArgumentError
            For a kernel.
        ShapeError
            For an array that does not say which axis it is on.

        Examples
        --------
        >>> tilefold.Lazy.of(2).shape
        (1, 1)
        """
        if isinstance(value, Kernel):
            _core.fail("TracedValue", "Kernel")
        if isinstance(value, (cls, list, tuple)):
            return super().of(value)
        if isinstance(value, (float, np.floating)):
            return cls.parameter(value)
        if np.ndim(value) > 2:
            return by_shape(value)
        if np.ndim(value) == 2 and len(value) == 1:
            return cls.parameter(value[0])
        return super().of(value)

    @classmethod
    def made(cls, form: str, operands: Any, rank: int) -> Self:
        """Makes a value of others by the text of a formula.

        Parameters
        ----------
        form : str
            The text; ``{0}`` is the first operand.
        operands : sequence of Lazy
            What the text refers to.
        rank : {0, 1, 2}
            Of the value: a scalar, a vector or a matrix at each pair.

        Returns
        -------
        Lazy
            The value; shapes that do not fit are refused here.

        Raises
        ------
        FormulaError, ShapeError
            Where the text cannot be read, or operands do not fit it.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([0.0, 2.0]), axis="i")
        >>> y = tilefold.lazy(np.array([0.0, 1.0]), axis="j")
        >>> tilefold.Lazy.made("max({0}, {1})", [x, y], 0).sum(axis=1)
        array([1., 4.])
        """
        value = super().made(form, operands, rank)
        value._measure()
        return value

    @classmethod
    def apply(cls, name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """Does what a function of NumPy, PyTorch or the operators does.

        What Python's operators and the protocols of both libraries come to;
        products and reductions of matrices compute.

        Parameters
        ----------
        name : str
            The function's name there, such as "exp" or "mul".
        args : sequence
            Its operands: lazy arrays, kernels, arrays and numbers.
        kwargs : Mapping
            Its keywords, such as ``axis``.

        Returns
        -------
        Lazy or array
            The value, or the result.

        Raises
        ------
        ArgumentError
            For a function that has no meaning here.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([0.0, 2.0]), axis="i")
        >>> tilefold.Lazy.apply("mul", (x, 2), {}).shape
        (2, 1)
        """
        name = SAME.get(name, name)
        if name in OF_VECTORS or _is_of_all_pairs(name, args, kwargs):
            _core.fail("TracedFunction", f"{name} of arrays of all pairs")
        if name in ALONG:
            kwargs = {**kwargs, "axis": -1}
        if name in ("matmul", "rmatmul", "dot"):
            a, b = args[::-1] if name == "rmatmul" else args
            if _is_matrix(a) or _is_matrix(b):
                return _matrix_product(a, b)
        elif name in METHODS and isinstance(args[0], Lazy):
            method, given = method_of(args[0], name, kwargs)
            return getattr(args[0], method)(*args[1:], **given)
        elif name in DERIVED and isinstance(args[0], Lazy) and not args[0].rank:
            return DERIVED[name](args[0], *args[1:], **kwargs)
        elif name in ATTRIBUTES:
            return attribute_of(args[0], name, kwargs)
        elif name not in JOINS:
            shape = _shape_of_matrix(args)
            if shape is None:
                _require_axes(args)
            else:
                matrices = [not value.rank for value in args if _is_full(value)]
                require_one_reading(name, shape, matrices)
                args = [_beside(value, shape) for value in args]
        if any(isinstance(value, Kernel) for value in args):
            return Kernel.apply(name, args, kwargs)
        if name in POWERS and isinstance(args[1], (float, np.floating)):
            args = (args[0], cls.literal(args[1]))
        return super().apply(name, args, kwargs)

    @classmethod
    def _joined(cls, name: str, parts: Sequence[Any], axis: Any) -> Any:
        """Along the last axis, which are the components."""
        values = [part for part in parts if isinstance(part, Lazy)]
        rank = max(value.rank for value in values)
        ndim = max(value.ndim for value in values)
        last = ndim if name == "stack" else ndim - 1
        if rank != (name != "stack") or axis not in (-1, last):
            where = "" if axis is None else f", axis {axis}"
            _core.fail("TracedFunction", f"{name} of points{where},")
        return concatenated([cls.of(part) for part in parts])

    # ---- what it is ---------------------------------------------------------

    def _measure(self) -> None:
        text, arguments = self.to_formula()
        with unrecorded():
            self._value_shape = _core.compile(text)._value_shape(
                described(arguments), {}
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, M), (N, M, D) of vectors, after batch dimensions: a tuple."""
        if not self._value_shape:
            self._measure()
        batch, rows, columns, components, _ = self._value_shape
        ends = (components,) if self.rank else ()
        return (*batch, max(rows, 1), max(columns, 1), *ends)

    @property
    def ndim(self) -> int:
        """2, 3 of vectors, and one more for each batch dimension: an int."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers the whole array would have: an int."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """Of the values: NumPy's dtype, of tensors PyTorch's."""
        return self._kernel().dtype

    @property
    def T(self) -> Kernel:  # type: ignore[override]  # noqa: N802
        """The transpose, as a ``Kernel``; nothing is computed."""
        return self._kernel().T

    def __repr__(self) -> str:
        """Tells the shape and the formula."""
        return f"tilefold.Lazy of shape {self.shape}: {self.to_formula()[0]}"

    def _is_matrix(self) -> bool:
        """Whether it depends on i and on j."""
        return _axes_of([self]) == {"i", "j"}

    def _kernel(self) -> Kernel:
        """The value as a matrix that is made once."""
        if self._kept is None:
            self._kept = kernel(self)
        return self._kept

    def to_matrix_formula(self) -> tuple[str, dict[str, Any]]:
        """Writes the matrix down as a formula with its arguments.

        A single point is on an axis that has no other points.

        Returns
        -------
        tuple of str and dict
            The text, and the arrays by name, as ``tilefold.kernel`` takes them.

        Raises
        ------
        ShapeError
            Where it depends on one axis only.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([0.0, 2.0]), axis="i")
        >>> y = tilefold.lazy(np.array([0.0, 1.0]), axis="j")
        >>> text, arrays = (x * y).to_matrix_formula()
        >>> text, sorted(arrays)
        ('(x_i * y_j)', ['x', 'y'])
        """
        sources = dict(self.sources)
        for axis in "ij":
            if any(source.axis == axis for source in sources.values()):
                continue
            for key, source in sources.items():
                if isinstance(source, _Single):
                    value = source.value[None]
                    sources[key] = Source(value, _NAMES[axis], axis)
                    break
            else:
                _core.fail("LazyMissingAxis", self.shape, axis)
        return self.to_formula(replaced=sources)

    # ---- components ---------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        """As a kernel is indexed; components of vectors stay lazy."""
        parts = index if isinstance(index, tuple) else (index,)
        if self.rank and _of_components(parts, self.ndim):
            if _is_plain(parts[-1]) or not self._is_matrix():
                return super().__getitem__(parts[-1])
            return kernel(self)[index]
        if not self._is_matrix():
            _core.fail("LazyPoint", repr(index), self.shape)
        return self._kernel()[index]

    def _fold(self, name: str, axis: Any, kwargs: Mapping[str, Any]) -> Any:
        """Over the components, lazily, or over points, which computes."""
        axis, given, is_torch = with_dim(name, axis, kwargs)
        if isinstance(axis, (tuple, list)) and len(axis) == 1:
            axis = axis[0]
        if is_torch and name in ("max", "min"):
            return extremum(self, name, axis, **given)
        if self.rank and axis in (-1, self.ndim - 1):
            return super()._fold(name, -1, given)
        return getattr(self._kernel(), name)(axis=axis, **given)

    # ---- reductions ---------------------------------------------------------

    def _reduced(
        self, name: str, before: Any, axis: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        axis, given, _ = with_dim(name, axis, kwargs)
        return getattr(self._kernel(), name)(*before, axis=axis, **given)

    def __getattr__(self, name: str) -> Any:
        """Functions such as K.exp(); else what a kernel has."""
        if not name.startswith("_") and hasattr(Kernel, name):
            return getattr(self._kernel(), name)
        return super().__getattr__(name)

    def __len__(self) -> int:
        """How many rows there are, or matrices of a batch."""
        return self.shape[0]

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """As of a kernel."""
        return self._kernel().__array_namespace__(api_version)

    def __aslinearoperator__(self) -> Any:
        """As of a kernel."""
        return self._kernel().__aslinearoperator__()

    # ---- what it is not -----------------------------------------------------

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses to be an array by accident; ``dense`` makes one."""
        self._refuse("__array__", "TracedArray")

    def __bool__(self) -> NoReturn:
        """Refuses to be one truth value; ``any`` and ``all`` tell."""
        self._refuse("__bool__", "TracedTruth")

    def __iter__(self) -> NoReturn:
        """Refuses to be iterated over; ``K[i]`` gives a row."""
        self._refuse("__iter__", "TracedLength")

    def _refuse(self, method: str, code: str) -> NoReturn:
        """In the words of a kernel where it is one."""
        if self._is_matrix():
            getattr(self._kernel(), method)()
        _core.fail(code)


def _is_of_all_pairs(name: str, args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether a function of components would be one of points here."""
    if name in ALONG:
        first = args[0]
        last = (-1, first.ndim - 1) if isinstance(first, Lazy) else ()
        return not (last and first.rank and kwargs.get("axis") in last)
    return name == "einsum" or (
        name in COMPONENT_FUNCTIONS and name != "nan_to_num"
    )


def _axes_of(operands: Any) -> set[str]:
    """Those that some of the values depend on."""
    return {
        source.axis
        for value in operands
        if isinstance(value, Lazy)
        for source in value.sources.values()
    } - {""}


def _is_full(value: Any) -> bool:
    return isinstance(value, Lazy) and value._is_matrix()


def _shape_of_matrix(operands: Any) -> Shape | None:
    """What arrays broadcast with; None where an axis has no points yet."""
    values = [value for value in operands if isinstance(value, Lazy)]
    if _axes_of(values) != {"i", "j"}:
        return None
    widths = [value.shape[-1] for value in values if value.rank]
    rows, columns = (
        max(value.shape[place - value.rank] for value in values)
        for place in (-2, -1)
    )
    return Shape(rows, columns, max(widths, default=None))


def _beside(value: Any, shape: Shape) -> Any:
    """An array as it broadcasts with a matrix."""
    if isinstance(value, (list, tuple)) and any(
        isinstance(part, Tracer) for part in value
    ):
        return value  # components side by side
    if isinstance(value, (Lazy, Kernel)) or not is_array(value):
        return value
    given = _shape(value)
    if shape.components is not None or len(given) <= 2:
        return placed(Lazy, value, shape)
    # Of shape (…, N, 1, D) or (…, 1, M, D), with components; or a batch of
    # what broadcasts.
    if given[-2] in (1, shape.rows) and given[-1] in (1, shape.columns):
        _core.fail("LazyNoAxis", given)
    return by_shape(value)


def _of_components(parts: tuple[Any, ...], ndim: int) -> bool:
    """Whether an index takes all points, and something of the components."""
    if not parts or parts[-1] is Ellipsis or is_all(parts[-1]):
        return False
    points = parts[:-1]
    dots = sum(part is Ellipsis for part in points)
    return (dots == 1 or len(parts) == ndim) and all(
        part is Ellipsis or is_all(part) for part in points
    )


def _is_plain(part: Any) -> bool:
    """A component, or those from one to another."""
    if isinstance(part, slice):
        return part.step in (None, 1)
    return is_integer(part)


def _require_axes(operands: Any) -> None:
    """Refuses arrays that NumPy would broadcast along i or j.

    One of shape (D,) goes with the components of a value that has some; beside
    a matrix it would be a row of it.
    """
    has_components = any(
        isinstance(value, Lazy) and value.rank for value in operands
    )
    for value in operands:
        if isinstance(value, (Lazy, Kernel)):
            continue
        shape = _shape(value)
        is_row = len(shape) == 1 or (len(shape) == 2 and shape[0] == 1)
        if (len(shape) == 2 and not is_row) or (is_row and not has_components):
            _core.fail("LazyNoAxis", shape)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, Lazy) and not value.rank


def _matrix_product(a: Any, b: Any) -> Any:
    """K @ b or b @ K, of an array b."""
    if isinstance(a, Lazy) and isinstance(b, Lazy):
        _core.fail("LazyProduct", a.shape, b.shape)
    if isinstance(a, Lazy):
        return a._kernel() @ b
    return b._kernel().__rmatmul__(a)
