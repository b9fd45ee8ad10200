# python_bindings/tilefold/lazy_value.py - arrays whose operations are written
# down.
"""`Lazy`: what `tilefold.lazy` gives, a traced value with an array's shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core
from tilefold.expression import Shape, is_array, placed, require_one_reading
from tilefold.frameworks import described, unrecorded
from tilefold.functions import JOINS, POWERS
from tilefold.kernel import Kernel, kernel
from tilefold.operations import ATTRIBUTES, METHODS, method_call, of_torch
from tilefold.slices import is_all, is_integer
from tilefold.trace import Source, Tracer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

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


class Lazy(Tracer):
    """A lazy array of shape (N, M) or (N, M, D), after batch dimensions.

    Made by `tilefold.lazy` and by operations of such values with others and
    with numbers, arrays that `lazy` takes without an axis, and, where there
    are components, arrays of shape (D,). An axis that it does not depend on
    has length 1. A value that depends on i and j is a matrix, and answers as
    a `tilefold.Kernel` does: arrays broadcast with it as in NumPy.

    The last axis of an (N, M, D) value holds components: `sum`, `mean`, `max`,
    `min` and `norm` of `axis=-1` combine them at each pair, `[..., k]` takes
    one, and `x @ y` is the inner product. Reductions over the axes of N and M,
    `K @ b`, and all else that a `tilefold.Kernel` has, compute.
    """

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
        """As of traced values; numbers with a fraction are arguments."""
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
        """As of traced values; shapes that do not fit are refused here."""
        value = super().made(form, operands, rank)
        value._measure()
        return value

    @classmethod
    def apply(cls, name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """As of traced values; products and reductions of matrices, too."""
        if name in ("matmul", "rmatmul", "dot"):
            a, b = args[::-1] if name == "rmatmul" else args
            if _is_matrix(a) or _is_matrix(b):
                return _matrix_product(a, b)
        elif name in METHODS and isinstance(args[0], Lazy):
            method, rest, given = method_call(name, args, kwargs)
            return getattr(args[0], method)(*rest, **given)
        elif name in ATTRIBUTES:
            return getattr(args[0], name)
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
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = function.__name__.strip("_")
        return cls.apply(name, args, of_torch(name, args, kwargs or {}))

    # ---- what it is ---------------------------------------------------------

    def _measure(self) -> None:
        text, arguments = self.to_formula()
        with unrecorded():
            self._value_shape = _core.compile(text)._value_shape(
                described(arguments), {}
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, M), (N, M, D) of vectors; batch dimensions come first."""
        if not self._value_shape:
            self._measure()
        batch, rows, columns, components, _ = self._value_shape
        ends = (components,) if self.rank else ()
        return (*batch, max(rows, 1), max(columns, 1), *ends)

    @property
    def ndim(self) -> int:
        """2, 3 of vectors, and one more for each batch dimension."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers the whole array would have."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """Of the values: NumPy's dtype, of tensors PyTorch's."""
        return self._kernel().dtype

    @property
    def T(self) -> Kernel:  # noqa: N802
        """The transpose; nothing is computed."""
        return self._kernel().T

    def __repr__(self) -> str:
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
        """The formula of the matrix, and its arguments.

        A single point is on an axis that has no other points.
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
        axis = kwargs.get("dim", kwargs.get("axis", axis))
        if isinstance(axis, (tuple, list)) and len(axis) == 1:
            axis = axis[0]
        if self.rank and axis in (-1, self.ndim - 1):
            return super()._fold(name, -1, {**kwargs, "dim": -1})
        return self._reduced(name, (), axis, kwargs)

    # ---- reductions ---------------------------------------------------------

    def _reduced(
        self, name: str, before: Any, axis: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        given = {
            key: value
            for key, value in kwargs.items()
            if key not in ("axis", "dim")
        }
        axis = kwargs.get("dim", axis)
        if "keepdim" in given:
            given["keepdims"] = given.pop("keepdim")
        surplus = [key for key in given if key not in ("keepdims", "ddof")]
        if surplus:
            _core.fail("TracedFunction", f"{name}(…, {surplus[0]}=…)")
        return getattr(self._kernel(), name)(*before, axis=axis, **given)

    def mean(self, axis: Any = None, **kwargs: Any) -> Any:
        """The average over points, or of the components."""
        if self.rank and axis in (-1, self.ndim - 1):
            return self.apply(
                "div", (self.sum(axis, **kwargs), self.shape[-1]), {}
            )
        return self._reduced("mean", (), axis, kwargs)

    def norm(self, order: Any = None, axis: Any = None, **kwargs: Any) -> Any:
        """The Euclidean norm of the components, or along points."""
        axis = kwargs.pop("dim", axis)
        order = kwargs.pop("p", kwargs.pop("ord", order))
        if self.rank and axis in (-1, self.ndim - 1):
            return super().norm(order, axis, **kwargs)
        if not self._is_matrix():
            _core.fail("LazyNorm", axis, self.shape)
        return self._kernel().norm(order, axis, **kwargs)

    def prod(self, axis: Any = None, **kwargs: Any) -> Any:
        """The product over an axis, several, or all (None)."""
        return self._reduced("prod", (), axis, kwargs)

    def any(self, axis: Any = None, **kwargs: Any) -> Any:
        """Whether any value over an axis is true, or not 0."""
        return self._reduced("any", (), axis, kwargs)

    def all(self, axis: Any = None, **kwargs: Any) -> Any:
        """Whether all values over an axis are true, or not 0."""
        return self._reduced("all", (), axis, kwargs)

    def count(self, axis: Any = None, **kwargs: Any) -> Any:
        """How many values over an axis are true, or not 0: int64."""
        return self._reduced("count", (), axis, kwargs)

    def logsumexp(self, axis: Any = None, **kwargs: Any) -> Any:
        """Log Σ exp(K) over an axis, without overflow."""
        return self._reduced("logsumexp", (), axis, kwargs)

    def var(self, axis: Any = None, **kwargs: Any) -> Any:
        """The variance: Σ |K - mean|² / (n - ddof), of n values."""
        return self._reduced("var", (), axis, kwargs)

    def std(self, axis: Any = None, **kwargs: Any) -> Any:
        """The root of the variance."""
        return self._reduced("std", (), axis, kwargs)

    def median(self, axis: Any = None, **kwargs: Any) -> Any:
        """The middle value over an axis, or the mean of the middle two."""
        return self._reduced("median", (), axis, kwargs)

    def quantile(self, q: Any, axis: Any = None, **kwargs: Any) -> Any:
        """As of a kernel: the values that a part `q` is below."""
        return self._reduced("quantile", (q,), axis, kwargs)

    def argmin(self, axis: Any = None, **kwargs: Any) -> Any:
        """Where the first smallest value along an axis is, int64."""
        return self._reduced("argmin", (), axis, kwargs)

    def argmax(self, axis: Any = None, **kwargs: Any) -> Any:
        """Where the first largest value along an axis is, int64."""
        return self._reduced("argmax", (), axis, kwargs)

    def softmax(self, axis: Any = None, values: Any = None) -> Any:
        """As of a kernel, over an axis of points."""
        return self._kernel().softmax(axis, values)

    def kmin(self, k: int, axis: Any = None, **kwargs: Any) -> Any:
        """The `k` smallest values along an axis of points, ascending."""
        return self._reduced("kmin", (k,), axis, kwargs)

    def argkmin(self, k: int, axis: Any = None, **kwargs: Any) -> Any:
        """Where the `k` smallest values are, int64."""
        return self._reduced("argkmin", (k,), axis, kwargs)

    def __getattr__(self, name: str) -> Any:
        """Functions such as K.exp(); else what a kernel has."""
        if not name.startswith("_") and hasattr(Kernel, name):
            return getattr(self._kernel(), name)
        return super().__getattr__(name)

    def __len__(self) -> int:
        return self.shape[0]

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """As of a kernel."""
        return self._kernel().__array_namespace__(api_version)

    def __aslinearoperator__(self) -> Any:
        """As of a kernel."""
        return self._kernel().__aslinearoperator__()

    # ---- what it is not -----------------------------------------------------

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse("__array__", "TracedArray")

    def __bool__(self) -> NoReturn:
        self._refuse("__bool__", "TracedTruth")

    def __iter__(self) -> NoReturn:
        self._refuse("__iter__", "TracedLength")

    def _refuse(self, method: str, code: str) -> NoReturn:
        """In the words of a kernel where it is one."""
        if self._is_matrix():
            getattr(self._kernel(), method)()
        _core.fail(code)


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
