# python_bindings/tilefold/compat/pykeops/lazy_tensor.py - the classes of both.
"""`GenericLazyTensor`, `ComplexGenericLazyTensor`: what libraries share."""

from __future__ import annotations

from typing import Any

from tilefold.compat.pykeops.lazy_reductions import LazyReductions
from tilefold.compat.pykeops.lazy_state import REAL_ONLY, TAKES_COMPLEX
from tilefold.compat.pykeops.operations import fail

__all__ = ["ComplexGenericLazyTensor", "GenericLazyTensor"]
__all__ += ["RealGenericLazyTensor", "constructors"]


class GenericLazyTensor(LazyReductions):
    """A formula with its arrays, an array (…, M, N, D) that is never stored.

    See `LazyState` for what one is made of.
    """


class RealGenericLazyTensor(GenericLazyTensor):
    """What programs call: of complex numbers it makes a complex one."""

    def __new__(
        cls, x: Any = None, axis: Any = None, is_complex: bool = False
    ) -> Any:
        """One, or a ComplexLazyTensor of complex numbers."""
        if is_complex or cls.arrays.is_complex_input(x):
            return cls.complex_class(x, axis)
        return object.__new__(cls)


class ComplexGenericLazyTensor(GenericLazyTensor):
    """A LazyTensor of complex numbers.

    `_shape` counts real numbers, `shape` complex ones. Reductions over i and j
    are sums.
    """

    is_complex = True

    @property
    def dtype(self) -> str | None:
        """Such as "complex64"; None where no array is part of it."""
        names = {"float32": "complex64", "float64": "complex128"}
        return names.get(self._dtype or "")

    @property
    def shape(self) -> tuple[int, ...]:
        """(…, M, N, D), without a D of 1."""
        shape = (*self._shape[:-1], self._shape[-1] // 2)
        return shape[:-1] if shape[-1] == 1 else shape

    @property
    def real(self) -> Any:
        """The real part."""
        return self._unary("ComplexReal", is_complex=False)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return self._unary("ComplexImag", is_complex=False)

    def angle(self) -> Any:
        """The argument, in (-π, π]."""
        return self._unary("ComplexAngle", is_complex=False)

    def conj(self) -> Any:
        """The complex conjugate."""
        return self._unary("Conj")

    def __abs__(self) -> Any:
        return self._unary("ComplexAbs", is_complex=False)

    def exp(self) -> Any:
        """The exponential."""
        return self._unary("ComplexExp")

    def square(self) -> Any:
        """z²."""
        return self._binary("ComplexMult", self)

    def __pow__(self, exponent: Any) -> Any:
        if exponent == 2:
            return self.square()
        return fail(f"a complex LazyTensor to the power of {exponent}")

    def sum(self, axis: int = -1, dim: int | None = None, **kwargs: Any) -> Any:
        """The sum."""
        over = self._inner(axis, dim)
        if over is None:
            return self._unary("ComplexSum")
        return self.reduction("Sum", axis=over, **kwargs)

    def _unary(self, operation: str, *literals: Any, **settings: Any) -> Any:
        self._check(operation)
        return super()._unary(operation, *literals, **settings)

    def _binary(
        self, operation: str, other: Any, *literals: Any, **settings: Any
    ) -> Any:
        self._check(operation)
        if operation == "Concat" and not other.is_complex:
            fail(REAL_ONLY.format(operation))
        return super()._binary(operation, other, *literals, **settings)

    @staticmethod
    def _check(operation: str) -> None:
        """ValueError where an operation is one of real numbers."""
        if operation not in TAKES_COMPLEX:
            fail(REAL_ONLY.format(operation))

    def _arithmetic(self, operation: str, other: Any, is_right: bool) -> Any:
        other = self._operand(other)
        name = f"Complex{operation}"
        if not other.is_complex:
            if operation == "Mult":
                made = other._binary("ComplexRealScal", self, is_complex=True)
                return made
            other = other.real2complex()
        if is_right:
            return other._binary(name, self)
        return self._binary(name, other)

    def real2complex(self) -> Any:
        """Of real LazyTensors only."""
        fail("real2complex is for real LazyTensors; this one is complex")

    def imag2complex(self) -> Any:
        """Of real LazyTensors only."""
        fail("imag2complex is for real LazyTensors; this one is complex")

    def exp1j(self) -> Any:
        """Of real LazyTensors only."""
        fail("exp1j is for real LazyTensors; this one is complex")

    def keops_tensordot(self, *args: Any) -> Any:  # noqa: ARG002
        """Of real LazyTensors only."""
        fail("keops_tensordot is for real LazyTensors; this one is complex")


def constructors(made: Any) -> tuple[Any, ...]:
    """Var, Vi, Vj and Pm of one library."""

    def variable(
        x_or_ind: Any, dim: int | None = None, cat: int | None = None
    ) -> Any:
        """An array, or the place of an argument and its components."""
        if dim is None:
            return made(x_or_ind, cat)
        return made((x_or_ind, dim, cat))

    def of(name: str, category: int) -> Any:
        def short(x_or_ind: Any, dim: int | None = None) -> Any:
            return variable(x_or_ind, dim, category)

        short.__name__ = name
        short.__doc__ = f"`Var(x_or_ind, dim, {category})`."
        return short

    variable.__name__ = "Var"
    return (variable, *map(of, ("Vi", "Vj", "Pm"), (0, 1, 2)))
