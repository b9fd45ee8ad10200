# python_bindings/tilefold/compat/pykeops/lazy_operations.py - methods.
"""`LazyOperations`: operators and lazy methods of real LazyTensors.

Each gives a LazyTensor; nothing is computed. Operands may be LazyTensors,
numbers, lists of numbers and arrays. Components are equal or 1, points and
batches agree, else ValueError.
"""

from __future__ import annotations

import numbers
from typing import Any

from tilefold.compat.pykeops.lazy_state import LazyState, Symbol
from tilefold.compat.pykeops.nodes import Unread
from tilefold.compat.pykeops.operations import TABLE, fail

__all__ = ["LazyOperations"]

_OPERATORS = {
    "+": "Add",
    "-": "Subtract",
    "*": "Mult",
    "/": "Divide",
    "|": "Scalprod",
    "<": "LessThan",
    "<=": "LessOrEqual",
    "==": "Equal",
    "!=": "NotEqual",
}


_NUMBERS = frozenset({int, float, complex})


def _equals(value: Any, number: int) -> bool:
    """Whether it is this number of Python's."""
    return type(value) in _NUMBERS and value == number


class LazyOperations(LazyState):
    """The operations of KeOps as methods."""

    # Arithmetic.

    def addop(self, other: Any, rversion: bool = False) -> Any:
        """The sum, without shortcuts."""
        return self._arithmetic("Add", other, rversion)

    def subop(self, other: Any, rversion: bool = False) -> Any:
        """The difference, without shortcuts."""
        return self._arithmetic("Subtract", other, rversion)

    def mulop(self, other: Any, rversion: bool = False) -> Any:
        """The product, without shortcuts."""
        return self._arithmetic("Mult", other, rversion)

    def divop(self, other: Any, rversion: bool = False) -> Any:
        """The quotient, without shortcuts."""
        return self._arithmetic("Divide", other, rversion)

    def _arithmetic(self, operation: str, other: Any, is_right: bool) -> Any:
        if getattr(type(other), "arrays", None) is not self.arrays:
            other = self._operand(other)
        if other.is_complex:
            promoted = self.real2complex()
            return promoted._arithmetic(operation, other, is_right)
        if is_right:
            return other._binary(operation, self)
        return self._binary(operation, other)

    def __add__(self, other: Any) -> Any:
        return self if _equals(other, 0) else self.addop(other)

    def __radd__(self, other: Any) -> Any:
        return self if _equals(other, 0) else self.addop(other, rversion=True)

    def __sub__(self, other: Any) -> Any:
        return self if _equals(other, 0) else self.subop(other)

    def __rsub__(self, other: Any) -> Any:
        if _equals(other, 0):
            return self._unary("Minus")
        return self.subop(other, rversion=True)

    def __mul__(self, other: Any) -> Any:
        return self._times(other, False)

    def __rmul__(self, other: Any) -> Any:
        return self._times(other, True)

    def _times(self, other: Any, is_right: bool) -> Any:
        if type(other) in _NUMBERS:
            if other == 0:
                return 0
            if other == 1:
                return self
            if other == -1:
                return self._unary("Minus")
        return self.mulop(other, rversion=is_right)

    def __truediv__(self, other: Any) -> Any:
        return self if _equals(other, 1) else self.divop(other)

    def __rtruediv__(self, other: Any) -> Any:
        if _equals(other, 0):
            return 0
        if _equals(other, 1) and not self.is_complex:
            return self._unary("Inv")
        return self.divop(other, rversion=True)

    def __or__(self, other: Any) -> Any:
        return self._binary("Scalprod", self._operand(other))

    def __ror__(self, other: Any) -> Any:
        return self._operand(other)._binary("Scalprod", self)

    def __neg__(self) -> Any:
        return self._unary("Minus")

    def __abs__(self) -> Any:
        return self._unary("Abs")

    def abs(self) -> Any:
        """The absolute values."""
        return abs(self)

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is int or isinstance(exponent, numbers.Integral):
            if exponent == 2:
                return self._unary("Square")
            return self._unary("Pow", int(exponent))
        if isinstance(exponent, numbers.Real):
            if exponent == 0.5:
                return self._unary("Sqrt")
            if exponent == -0.5:
                return self._unary("Rsqrt")
            exponent = self.lt_constructor(float(exponent))
        if not isinstance(exponent, LazyState):
            fail("the exponent is an integer, a float or a LazyTensor")
        if exponent.ndim not in {1, self.ndim}:
            fail(f"an exponent of dimension {exponent.ndim} of {self.ndim}")
        return self._binary("Powf", exponent)

    def power(self, exponent: Any) -> Any:
        """`self ** exponent`."""
        return self**exponent

    # Comparisons: 1 where they hold, else 0.

    def __eq__(self, other: Any) -> Any:
        return self._binary("Equal", self._operand(other))

    def __ne__(self, other: Any) -> Any:
        return self._binary("NotEqual", self._operand(other))

    def __lt__(self, other: Any) -> Any:
        return self._binary("LessThan", self._operand(other))

    def __gt__(self, other: Any) -> Any:
        return self._operand(other)._binary("LessThan", self)

    def __le__(self, other: Any) -> Any:
        return self._binary("LessOrEqual", self._operand(other))

    def __ge__(self, other: Any) -> Any:
        return self._operand(other)._binary("LessOrEqual", self)

    __hash__ = None  # type: ignore[assignment]

    # Functions of each component: `exp` and the others are made below.

    def atan2(self, other: Any) -> Any:
        """The angle of (other, self)."""
        return self._binary("Atan2", self._operand(other))

    def clamp(self, low: Any, high: Any) -> Any:
        """Limited to [low, high]."""
        if type(low) is int and type(high) is int:
            return self._unary("ClampInt", low, high)
        return self._nary("Clamp", low, high)

    def ifelse(self, positive: Any, negative: Any) -> Any:
        """`positive` where this is not negative, else `negative`."""
        return self._nary("IfElse", positive, negative)

    def mod(self, modulus: Any, offset: Any = 0) -> Any:
        """The rest: x - modulus*floor((x - offset)/modulus)."""
        return self._nary("Mod", modulus, offset)

    def round(self, digits: int = 0) -> Any:
        """Rounded to so many decimal places, halves away from zero."""
        if not isinstance(digits, int):
            fail(f"round takes a whole number of digits, not {digits!r}")
        return self._unary("Round", digits)

    # Vectors.

    def norm(self, dim: int) -> Any:
        """The Euclidean norm over the last axis."""
        if dim not in {-1, len(self._shape) - 1}:
            fail("norm is over the last axis")
        return self._unary("Norm2")

    def sqdist(self, other: Any) -> Any:
        """The squared distance."""
        return self._binary("SqDist", self._operand(other))

    def weightedsqnorm(self, weights: Any) -> Any:
        """Σ s x², or xᵀ S x for a matrix S as a vector of its rows."""
        return self._operand(weights)._binary("WeightedSqNorm", self)

    def weightedsqdist(self, other: Any, weights: Any) -> Any:
        """The weighted squared norm of the difference."""
        difference = self._binary("Subtract", self._operand(other))
        return difference.weightedsqnorm(weights)

    def softdtw_sqdist(self, other: Any, gamma: Any) -> Any:
        """Soft dynamic time warping, by squared distances."""
        return self._nary("SoftDTW_SqDist", other, gamma)

    def difference_matrix(self, other: Any) -> Any:  # noqa: ARG002
        """KeOps has no such operation behind the method."""
        fail("DifferenceMatrix is no operation of KeOps: write x - y")

    def elem(self, i: int) -> Any:
        """One component."""
        if type(i) is not int:
            fail("elem takes an integer")
        if i < 0:
            i += self.ndim or 1
        return self._unary("Elem", i)

    def extract(self, i: int, d: int) -> Any:
        """So many components, d, from i on."""
        if type(i) is not int or type(d) is not int:
            fail("extract takes two integers")
        return self._unary("Extract", i, d)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            every = slice(None)
            whole = all(one == every or one is Ellipsis for one in key[:-1])
            full = len(key) == len(self._shape) or Ellipsis in key[:-1]
            if not (whole and full):
                fail("LazyTensors are indexed by their last axis")
            key = key[-1]
        if isinstance(key, slice):
            if key.step not in {None, 1}:
                fail("slices of LazyTensors have no steps")
            size = self.ndim or 1
            start, stop, _ = key.indices(size)
            if (key.stop or 0) > size or (key.start or 0) >= size:
                fail(f"the slice is out of bounds: {size} components")
            return self.extract(start, stop - start)
        if isinstance(key, int):
            return self.elem(key)
        return fail("LazyTensors are indexed by integers and slices")

    def one_hot(self, D: int) -> Any:  # noqa: N803
        """1 at the nearest whole number, 0 elsewhere, of D components."""
        if type(D) is not int:
            fail("one_hot takes an integer")
        return self._unary("OneHot", D)

    def bspline(self, x: Any, k: int = 0) -> Any:
        """The B-splines of degree k over these knots, at x."""
        return self._binary("BSpline", self._operand(x), k)

    def concat(self, other: Any) -> Any:
        """The components of both, side by side."""
        return self._binary("Concat", self._operand(other))

    @staticmethod
    def concatenate(tuple_of_lt: Any, axis: int = -1) -> Any:
        """The components of all, side by side."""
        if not isinstance(tuple_of_lt, tuple) or not tuple_of_lt:
            fail("concatenate takes a tuple of LazyTensors")
        first = tuple_of_lt[0]
        if not isinstance(first, LazyState):
            fail("the first that is concatenated has to be a LazyTensor")
        if axis not in {-1, len(first._shape) - 1}:
            fail("LazyTensors are joined along their last axis")
        if len(tuple_of_lt) == 1:
            return first
        return first._nary("Concat", *tuple_of_lt[1:])

    @staticmethod
    def cat(tuple_of_lt: Any, dim: int) -> Any:
        """The components of all, side by side."""
        return LazyOperations.concatenate(tuple_of_lt, dim)

    def matvecmult(self, other: Any) -> Any:
        """A matrix, as a vector of its rows, times a vector."""
        return self._binary("MatVecMult", self._operand(other))

    def vecmatmult(self, other: Any) -> Any:
        """A vector times a matrix, as a vector of its rows."""
        return self._binary("VecMatMult", self._operand(other))

    def tensorprod(self, other: Any) -> Any:
        """All products of components, row after row."""
        return self._binary("TensorProd", self._operand(other))

    def keops_tensordot(
        self,
        other: Any,
        dimfa: Any,
        dimfb: Any,
        contfa: Any,
        contfb: Any,
        *order: Any,
    ) -> Any:
        """NumPy's tensordot of components in these shapes."""
        given = map(_tuple, (dimfa, dimfb, contfa, contfb, *order))
        return self._binary("TensorDot", self._operand(other), *given)

    def keops_kron(self, other: Any, dimfself: Any, dimfother: Any) -> Any:
        """NumPy's kron of components in these shapes."""
        given = map(_tuple, (dimfself, dimfother))
        return self._binary("Kron", self._operand(other), *given)

    # Derivatives.

    def grad(self, variable: Any, gradin: Any) -> Any:
        """The gradient by a variable, with a cotangent."""
        return self._nary("Grad", variable, gradin)

    def diff(self, variable: Any, diffin: Any) -> Any:
        """The derivative along a direction of a variable."""
        return self._nary("Diff", variable, diffin)

    def grad_matrix(self, variable: Any) -> Any:
        """The gradients of the components, one after the other."""
        return self._nary("GradMatrix", variable)

    def trace_operator(self, variable: Any) -> Any:
        """The trace of an operator that is linear in the variable.

        A symbolic variable is none of the result's: its value is not asked
        for.
        """
        made = self._nary("TraceOperator", variable)
        symbols = self._operand(variable)._values
        values = tuple(
            Unread if type(one) is Symbol and one in symbols else one
            for one in made._values
        )
        made._values = values
        made._is_symbolic = any(type(one) is Symbol for one in values)
        return made

    def divergence(self, variable: Any) -> Any:
        """Σ of the derivatives of component k by component k."""
        return self._nary("Divergence", variable)

    def laplacian(self, variable: Any) -> Any:
        """The sum of the second derivatives."""
        return self._nary("Laplacian", variable)

    def factorize(self, other: Any) -> Any:
        """The same value."""
        return self._binary("Factorize", self._operand(other))

    def auto_factorize(self) -> Any:
        """The same value."""
        return self._unary("AutoFactorize")

    # Complex numbers of real ones.

    def real2complex(self) -> Any:
        """The same number, x + 0i."""
        return self._unary("Real2Complex", is_complex=True)

    def imag2complex(self) -> Any:
        """Times the imaginary unit, ix."""
        return self._unary("Imag2Complex", is_complex=True)

    def exp1j(self) -> Any:
        """exp(ix)."""
        return self._unary("ComplexExp1j", is_complex=True)

    # By KeOps's names.

    def unary(
        self,
        operation: str,
        dimres: int | None = None,
        opt_arg: Any = None,
        opt_arg2: Any = None,
        is_complex: bool | None = None,
    ) -> Any:
        """An operation of KeOps's formulas, by its name."""
        given = [
            _literal(one) for one in (opt_arg, opt_arg2) if one is not None
        ]
        _known(operation, 1, len(given))
        made = self._unary(operation, *given, is_complex=is_complex)
        return _checked(made, operation, dimres)

    def binary(
        self,
        other: Any,
        operation: str,
        is_operator: bool = False,  # noqa: ARG002
        dimres: int | None = None,
        dimcheck: str | None = "sameor1",
        opt_arg: Any = None,
        opt_pos: str = "last",
        rversion: bool = False,
        is_complex: bool | None = None,
    ) -> Any:
        """An operation of two operands, by its name or operator."""
        operation = _OPERATORS.get(operation, operation)
        is_third = isinstance(opt_arg, LazyState)
        _known(operation, 2 + is_third, int(opt_arg is not None) - is_third)
        left, right = self, self._operand(other)
        _check_dims(dimcheck, operation, left.ndim, right.ndim)
        if rversion:
            left, right = right, left
        if is_third:
            between = (
                (opt_arg, right) if opt_pos == "middle" else (right, opt_arg)
            )
            return _checked(left._nary(operation, *between), operation, dimres)
        given = [] if opt_arg is None else [_literal(opt_arg)]
        made = left._binary(operation, right, *given, is_complex=is_complex)
        return _checked(made, operation, dimres)

    def ternary(
        self,
        other1: Any,
        other2: Any,
        operation: str,
        dimres: int | None = None,
        dimcheck: str | None = "sameor1",
        opt_arg: Any = None,
    ) -> Any:
        """An operation of three operands, by its name."""
        _known(operation, 3, int(opt_arg is not None))
        others = self._operand(other1), self._operand(other2)
        dims = [one.ndim for one in others]
        _check_dims(dimcheck, operation, self.ndim, *dims)
        given = [] if opt_arg is None else [_literal(opt_arg)]
        made = self._nary(operation, *others, literals=given)
        return _checked(made, operation, dimres)


_SIMPLE = {
    "exp": ("Exp", "The exponential."),
    "log": ("Log", "The natural logarithm."),
    "xlogx": ("XLogX", "x log(x), 0 at 0."),
    "cos": ("Cos", "The cosine."),
    "sin": ("Sin", "The sine."),
    "sinxdivx": ("SinXDivX", "sin(x)/x, 1 at 0."),
    "sinc": ("Sinc", "sin(πx)/(πx), 1 at 0."),
    "asin": ("Asin", "The arcsine."),
    "acos": ("Acos", "The arccosine."),
    "atan": ("Atan", "The arctangent."),
    "sqrt": ("Sqrt", "The square root."),
    "rsqrt": ("Rsqrt", "1/√x, 0 at 0."),
    "square": ("Square", "x²."),
    "sign": ("Sign", "-1, 0 or 1."),
    "step": ("Step", "1 where x is not negative, else 0."),
    "relu": ("ReLU", "x where it is positive, else 0."),
    "sqnorm2": ("SqNorm2", "The squared Euclidean norm."),
    "norm2": ("Norm2", "The Euclidean norm."),
    "normalize": ("Normalize", "x/|x|, 0 at 0."),
}


def _method(name: str, operation: str, doc: str) -> Any:
    def method(self: Any) -> Any:
        return self._unary(operation)

    method.__name__ = name
    method.__qualname__ = f"LazyOperations.{name}"
    method.__doc__ = doc
    return method


for _name, (_operation, _doc) in _SIMPLE.items():
    setattr(LazyOperations, _name, _method(_name, _operation, _doc))


def _known(operation: str, operands: int, literals: int) -> None:
    """ValueError where no operation has the name, or not so many operands."""
    row = TABLE.get(operation)
    if row is None:
        fail(f"unknown operation {operation!r}")
    for what, count, (least, most) in (
        ("operands", operands, row.operands),
        ("numbers", literals, row.literals),
    ):
        if not least <= count <= most:
            fail(f"{operation} has {least} {what}, and is given {count}")


def _tuple(given: Any) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(map(int, given))


def _literal(given: Any) -> Any:
    return given if isinstance(given, int) else _tuple(given)


def _checked(made: Any, operation: str, dimres: int | None) -> Any:
    """What an operation gave, with the dimension that was said."""
    if dimres is not None and made.ndim != dimres:
        fail(f"{operation} has dimension {made.ndim}, not {dimres}")
    return made


def _check_dims(check: str | None, operation: str, *dims: Any) -> None:
    """What KeOps's dimcheck asks for."""
    if check is None:
        return
    fits = {
        "same": len(set(dims)) == 1,
        "sameor1": len({*dims, 1}) <= 2,
        "vecand1": dims[-1] == 1,
    }
    if check not in fits:
        fail(f"dimcheck is one of {list(fits)} or None, not {check!r}")
    if not fits[check]:
        fail(f"{operation} of dimensions {dims}: {check} is asked for")
