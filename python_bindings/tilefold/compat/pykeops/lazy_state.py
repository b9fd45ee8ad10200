# python_bindings/tilefold/compat/pykeops/lazy_state.py - of a LazyTensor.
"""`LazyState`: a node beside its arrays, and how two of them become one."""

from __future__ import annotations

import copy
import importlib
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from tilefold.compat.pykeops.emit import keops_text
from tilefold.compat.pykeops.nodes import (
    NUMBER,
    PARAMETER,
    I,
    J,
    Node,
    Unread,
    apply,
    constant,
    join,
    leaf,
    transposed,
    unary,
)
from tilefold.compat.pykeops.operations import (
    COMPLEX_OPERANDS,
    TRANSPARENT,
    fail,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["REAL_ONLY", "TAKES_COMPLEX", "LazyState", "Symbol", "is_lazy"]


class Symbol(NamedTuple):
    """A variable whose array comes with a call, at this place."""

    ind: int
    dim: int
    cat: int

    def __reduce__(self) -> Any:
        # A copy is the same variable.
        return _symbol, tuple(self)


def _symbol(ind: int, dim: int, cat: int) -> Symbol:
    """The variable, made once."""
    key = (ind, dim, cat)
    return _SYMBOLS.setdefault(key, Symbol(*key))


_SYMBOLS: dict[tuple[int, int, int], Symbol] = {}

# Operations that complex LazyTensors have.
TAKES_COMPLEX = frozenset(
    {*COMPLEX_OPERANDS, *TRANSPARENT, "Concat", "Weighted"}
)
REAL_ONLY = (
    "{} is for real LazyTensors, and one of these is complex: take its .real "
    "and .imag, or abs(), or write it of + - * / exp() and conj()"
)
_REDUCED = "a reduced LazyTensor takes no operation"


def is_lazy(value: Any) -> bool:
    """Whether it is a LazyTensor of any library."""
    return isinstance(value, LazyState)


class _Empty:
    """The formula of a LazyTensor that was made of nothing."""

    def __getattr__(self, name: str) -> Any:
        fail("an empty LazyTensor takes no operation")


class LazyState:
    """A formula with its arrays, of the shape (…, M, N, D).

    `x`: a number or a list of them, an array of parameters (D,), of points
    (M, D) with `axis` 0 or 1, of (…, M, 1, D), (…, 1, N, D) or (…, 1, 1, D),
    or (ind, dim, cat) for an argument that comes with a call. Raises
    ValueError and TypeError.
    """

    # What KeOps marks its classes by.
    __GenericLazyTensor__ = True
    __array_ufunc__ = None

    arrays: ClassVar[Any] = None
    real_class: ClassVar[Any] = None
    complex_class: ClassVar[Any] = None

    _node: Node = _Empty()  # type: ignore[assignment]
    _values: tuple[Any, ...] = ()
    _dtype: str | None = None
    batchdims: tuple[int, ...] | None = None
    ni: int | None = None
    nj: int | None = None
    axis: int | None = None
    ind: int | None = None
    ranges: Any = None
    backend: str | None = None
    is_complex = False
    _is_symbolic = False  # whether a variable comes with a call
    # Of what a reduction gives that is not computed yet.
    reduction_op: str | None = None
    opt_arg: Any = None
    formula2: str | None = None

    def __init__(
        self,
        x: Any = None,
        axis: int | None = None,
        is_complex: bool = False,  # noqa: ARG002, the class says it
    ) -> None:
        if isinstance(x, self.arrays.kind):
            self._set_array(x, axis)
        elif x is None:
            return
        elif type(x) is tuple:
            self._set_symbol(x, axis)
        elif type(x) is int or isinstance(x, bool):
            self._node, self.axis = constant("IntCst", int(x)), PARAMETER
        elif self.arrays.is_number(x) or isinstance(x, list):
            self._set_numbers(x, axis)
        else:
            raise TypeError(
                f"LazyTensors are made of {self.arrays.library}, numbers, lists"
                f" of numbers or tuples of three integers, not of {type(x)}"
            )

    def _set_symbol(self, x: tuple[int, ...], axis: int | None) -> None:
        if len(x) != 3 or any(type(one) is not int for one in x):
            fail("LazyTensor(tuple): expected (ind, dim, cat), integers")
        if axis is not None:
            fail("LazyTensor((ind, dim, cat)) has no axis")
        if x[1] < 1 or x[2] not in {I, J, PARAMETER}:
            fail(f"LazyTensor({x}): dim is positive, cat one of 0, 1, 2")
        symbol = _symbol(*x)
        self.ind, _, self.axis = symbol
        self._node = leaf(symbol.cat, symbol.dim, self.is_complex)
        self._values = (symbol,)
        self._is_symbolic = True

    def _set_numbers(self, x: Any, axis: int | None) -> None:
        if axis not in {None, PARAMETER}:
            fail("lists of numbers are parameters: axis is None or 2")
        self.axis = PARAMETER
        if isinstance(x, list):
            self._check_list(x)
        if not isinstance(x, list):
            self._node = leaf(NUMBER, 1 + self.is_complex, self.is_complex)
            x = complex(x) if self.is_complex else float(x)
        elif len(x) == 1:
            self._set_numbers(x[0], axis)
            return
        else:
            size = len(x) * (1 + self.is_complex)
            self._node = leaf(PARAMETER, size, self.is_complex)
        self._values = (x,)

    def _check_list(self, x: list[Any]) -> None:
        """ValueError or TypeError where a list is none of numbers."""
        if not x:
            fail("a LazyTensor of an empty list: expected numbers")
        for one in x:
            number = self.arrays.is_number(one) and not hasattr(one, "strip")
            if not number and getattr(one, "shape", None) != ():
                raise TypeError(
                    f"[KeOps] LazyTensors are made of lists of numbers; one "
                    f"holds {one!r:.40}"
                )

    def _set_array(self, x: Any, axis: int | None) -> None:
        """An array of parameters, or of points on an axis."""
        shape = x.shape
        rank = len(shape)
        state = self.__dict__
        if rank >= 3:
            if axis is not None:
                fail("axis is for arrays of two dimensions; the shape says it")
            x, axis = self._squeezed(x, shape)
        elif rank == 2:
            if axis not in {I, J, PARAMETER}:
                fail("LazyTensor of a 2-D array: axis is 0 (i) or 1 (j)")
        else:
            if axis not in {None, PARAMETER}:
                fail("an array of one dimension is a parameter: no axis 0, 1")
            if rank == 0:
                x, shape = x.reshape(1), (1,)
            axis = PARAMETER
        is_complex = self.is_complex
        dim = shape[-1] * 2 if is_complex else shape[-1]
        state["_node"] = leaf(axis, dim, is_complex)
        state["_values"] = (x,)
        state["axis"] = axis
        state["_dtype"] = _REAL_NAMES.get(x.dtype) or self._real_name(x)
        if axis == I:
            state["ni"] = shape[-3] if rank >= 3 else shape[0]
        elif axis == J:
            state["nj"] = shape[-2]

    def _real_name(self, x: Any) -> str:
        """The name of the type of numbers, or of the parts of complex ones."""
        name = self.arrays.dtype_name(x)
        name = {"complex64": "float32", "complex128": "float64"}.get(name, name)
        return _REAL_NAMES.setdefault(x.dtype, name)

    def _squeezed(self, x: Any, shape: Any) -> tuple[Any, int]:
        """Without the axes of one, and what it is on."""
        if len(shape) > 3:
            self.batchdims = tuple(shape[:-3])
        if shape[-2] == 1:
            if shape[-3] == 1:
                return x.squeeze(-2).squeeze(-2), PARAMETER
            return x.squeeze(-2), I
        if shape[-3] == 1:
            return x.squeeze(-3), J
        return fail(
            f"LazyTensor of shape {tuple(shape)}: expected (…, M, 1, D), "
            "(…, 1, N, D) or (…, 1, 1, D)"
        )

    # What it is.

    @property
    def ndim(self) -> int | None:
        """Components, as KeOps counts them: two of a complex number."""
        return self._node.dim if "_node" in self.__dict__ else None

    @property
    def nbatchdims(self) -> int:
        """The number of batch dimensions."""
        return len(self.batchdims or ())

    @property
    def dtype(self) -> str | None:
        """Such as "float32"; None where no array is part of it."""
        return self._dtype

    @property
    def _shape(self) -> tuple[int, ...]:
        given = (self.ni, self.nj, self.ndim)
        sizes = [1 if one is None else one for one in given]
        return (*(self.batchdims or ()), *sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """(…, M, N, D), without a D of 1."""
        shape = self._shape
        return shape[:-1] if shape[-1] == 1 else shape

    def dim(self) -> int:
        """The number of dimensions, D among them."""
        return len(self._shape)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The arrays, without axes of one."""
        return tuple(
            x for x in self._values if type(x) is not Symbol and x is not Unread
        )

    @property
    def symbolic_variables(self) -> tuple[tuple[int, int, int], ...]:
        """(ind, dim, cat) of each argument that comes with a call."""
        return tuple(
            (x.ind, x.dim, x.cat) for x in self._values if type(x) is Symbol
        )

    def new_variable_index(self) -> int:
        """The first index that no symbolic variable has."""
        used = [one[0] for one in self.symbolic_variables]
        return max(used, default=-1) + 1

    def _places(self) -> list[int]:
        """Of each variable its place in KeOps's formula."""
        following = iter(range(self.new_variable_index(), 2**31))
        return [
            x.ind if type(x) is Symbol else next(following)
            for x in self._values
        ]

    @property
    def formula(self) -> str | None:
        """The formula in KeOps's spelling."""
        if "_node" not in self.__dict__:
            return None
        return keops_text(self._node, self._places())

    @property
    def tools(self) -> Any:
        """The namespace of functions for this library's arrays."""
        return self.get_tools()

    def get_tools(self) -> Any:
        """The namespace of functions for this library's arrays."""
        name = self.arrays.name
        module = f"tilefold.compat.pykeops.{name}.utils"
        return getattr(importlib.import_module(module), f"{name}tools")

    def __str__(self) -> str:
        text = f"KeOps LazyTensor\n    formula: {self.formula}"
        symbols = ", ".join(f"Var{one}" for one in self.symbolic_variables)
        if symbols:
            text += f"\n    symbolic variables: {symbols}"
        text += f"\n    shape: {self.shape}"
        if self.reduction_op is not None:
            text += f"\n    reduction: {self.reduction_op} (axis={self.axis})"
            if self.opt_arg is not None:
                text += f"\n        opt_arg: {self.opt_arg}"
        return text

    __repr__ = object.__repr__

    # How others are made of it.

    def lt_constructor(
        self, x: Any = None, axis: int | None = None, is_complex: bool = False
    ) -> Any:
        """A LazyTensor of the same library."""
        is_complex = is_complex or self.arrays.is_complex_input(x)
        made = self.complex_class if is_complex else self.real_class
        return made(x, axis)

    def _like(self, node: Node, is_complex: bool | None = None) -> Any:
        """Another formula of the same arrays."""
        kind = type(self)
        if is_complex is not None and is_complex != self.is_complex:
            kind = self.complex_class if is_complex else self.real_class
        state = self.__dict__
        if "reduction_op" in state:
            fail(_REDUCED)
        made = object.__new__(kind)  # that of the class asks for its values
        made.__dict__ = {**state, "_node": node}
        return made

    def init(self, is_complex: bool = False) -> Any:
        """The same arrays and settings."""
        return self._like(self._node, is_complex)

    def _unary(
        self,
        operation: str,
        *literals: Any,
        is_complex: bool | None = None,
    ) -> Any:
        node = unary(operation, self._node, literals)
        return self._like(node, is_complex)

    def _operand(self, other: Any) -> Any:
        """Another operand, as a LazyTensor."""
        if not isinstance(other, LazyState):
            if other is None:
                raise TypeError("[KeOps] None is no operand of a LazyTensor")
            return self.lt_constructor(other)
        if other.arrays is not self.arrays:
            fail(
                f"a LazyTensor of {self.arrays.library} and one of "
                f"{other.arrays.library} in one formula: convert the arrays"
            )
        return other

    def _binary(
        self,
        operation: str,
        other: Any,
        *literals: Any,
        is_complex: bool | None = None,
    ) -> Any:
        """An operation with another operand, this one on the left."""
        if other.is_complex and (
            operation not in TAKES_COMPLEX
            or (operation == "Concat" and not self.is_complex)
        ):
            fail(REAL_ONLY.format(operation))
        node, values = join(
            operation,
            self._node,
            self._values,
            other._node,
            other._values,
            literals,
        )
        made = self._like(node, is_complex)
        made.__dict__["_values"] = values
        _promote(made.__dict__, self, other)
        return made

    def _nary(self, operation: str, *others: Any, literals: Any = ()) -> Any:
        """An operation of several operands, this one first."""
        operands = [self, *map(self._operand, others)]
        kinds = {one.is_complex for one in operands}
        if kinds != {False} and (operation != "Concat" or len(kinds) > 1):
            fail(REAL_ONLY.format(operation))
        terms = [(one._node, one._values) for one in operands]
        node, values = apply(operation, terms, tuple(literals))
        made = self._like(node)
        made.__dict__["_values"] = values
        for other in operands[1:]:
            _promote(made.__dict__, made, other)
        return made

    def join(self, other: Any, is_complex: bool = False) -> Any:
        """The arrays and settings of both, of this one's formula."""
        made = self._binary("Factorize", other, is_complex=is_complex)
        return made

    def t(self) -> Any:
        """The transpose: i and j exchanged, also of ranges."""
        node = transposed(self._node)
        made = copy.copy(self)
        made._node = node
        made._values = tuple(map(_exchanged, self._values))
        made.ni, made.nj = self.nj, self.ni
        if self.ranges is not None:
            made.ranges = (*self.ranges[3:], *self.ranges[:3])
        if self.axis in {I, J}:
            made.axis = 1 - self.axis
        return made

    @property
    def T(self) -> Any:  # noqa: N802
        """The transpose."""
        return self.t()


_REAL_NAMES: dict[Any, str] = {}  # of element types


def _exchanged(value: Any) -> Any:
    """A variable on the other axis."""
    if type(value) is not Symbol or value.cat == PARAMETER:
        return value
    return _symbol(value.ind, value.dim, 1 - value.cat)


def _promote(state: dict[str, Any], left: Any, right: Any) -> None:
    """The settings of two LazyTensors; ValueError where they differ."""
    for name, theirs in right.__dict__.items():
        if name in _SAME and theirs is not None:
            ours = state.get(name)
            if ours is None:
                state[name] = theirs
            elif ours != theirs:
                said = name.lstrip("_")
                fail(
                    f"LazyTensors of {said} {ours} and {theirs} in one formula"
                )
        elif name in _OTHERS:
            _promote_other(state, left, right, name)


# What two LazyTensors have to agree on, where both have it.
_SAME = {"_dtype", "ni", "nj", "backend"}
_OTHERS = {"reduction_op", "batchdims", "ranges", "_is_symbolic"}


def _promote_other(
    state: dict[str, Any], left: Any, right: Any, name: str
) -> None:
    """The batches and ranges of both."""
    if name == "reduction_op":
        fail(_REDUCED)
    if name == "_is_symbolic":
        state[name] = True
    if name == "batchdims" and right.batchdims:
        state["batchdims"] = broadcast(left.batchdims or (), right.batchdims)
    if name == "ranges" and right.ranges is not None:
        if left.ranges is not None and not _equal(left.ranges, right.ranges):
            fail("LazyTensors with different ranges in one formula")
        state["ranges"] = right.ranges


def broadcast(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """The batch dimensions of both, as NumPy has them; ValueError."""
    longest = max(len(left), len(right))
    ours = (1,) * (longest - len(left)) + tuple(left)
    theirs = (1,) * (longest - len(right)) + tuple(right)
    for one, other in zip(ours, theirs, strict=True):
        if one != other and 1 not in (one, other):
            fail(f"batch dimensions {left} and {right} do not broadcast")
    return tuple(
        other if one == 1 else one
        for one, other in zip(ours, theirs, strict=True)
    )


def _equal(left: Any, right: Any) -> bool:
    """Whether two tuples of ranges say the same."""
    pairs = zip(left, right, strict=True)
    return left is right or all(
        one is other
        or (
            tuple(one.shape) == tuple(other.shape)
            and bool((one == other).all())
        )
        for one, other in pairs
    )
