# python_bindings/tilefold/operators.py - Python's operators, and what NumPy
# asks of values.
"""What traced values and kernels have in common: `Operators`.

Each operator, each function of NumPy and each method that has none of its own
becomes one call, `apply`, with the function's name as `tilefold.functions` has
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.dialects import extremum, of_numpy, of_torch
from tilefold.functions import is_function

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import ClassVar, Self

__all__ = ["Operators"]


class Operators:
    """The operators of a value, and its part of the protocols."""

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    @classmethod
    def apply(
        cls, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """What a function of NumPy, PyTorch or the operators gives."""
        raise NotImplementedError

    # ---- operators ----------------------------------------------------------

    def _binary(self, name: str, a: Any, b: Any) -> Self:
        result: Self = self.apply(name, (a, b), {})
        return result

    def _unary(self, name: str) -> Self:
        result: Self = self.apply(name, (self,), {})
        return result

    def __add__(self, other: Any) -> Self:
        """Gives ``K + other``: values added pair by pair, lazily."""
        return self._binary("add", self, other)

    def __radd__(self, other: Any) -> Self:
        """Gives ``other + K``: values added pair by pair, lazily."""
        return self._binary("add", other, self)

    def __sub__(self, other: Any) -> Self:
        """Gives ``K - other``: values subtracted pair by pair, lazily."""
        return self._binary("sub", self, other)

    def __rsub__(self, other: Any) -> Self:
        """Gives ``other - K``: values subtracted pair by pair, lazily."""
        return self._binary("sub", other, self)

    def __mul__(self, other: Any) -> Self:
        """Gives ``K * other``: values multiplied pair by pair, lazily."""
        return self._binary("mul", self, other)

    def __rmul__(self, other: Any) -> Self:
        """Gives ``other * K``: values multiplied pair by pair, lazily."""
        return self._binary("mul", other, self)

    def __truediv__(self, other: Any) -> Self:
        """Gives ``K / other``: values divided pair by pair, lazily."""
        return self._binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        """Gives ``other / K``: values divided pair by pair, lazily."""
        return self._binary("div", other, self)

    def __pow__(self, other: Any) -> Self:
        """Gives ``K ** other``: powers of values, lazily."""
        return self._binary("pow", self, other)

    def __rpow__(self, other: Any) -> Self:
        """Gives ``other ** K``: powers with values as exponents, lazily."""
        return self._binary("pow", other, self)

    def __mod__(self, other: Any) -> Self:
        """Gives ``K % other``: remainders, lazily."""
        return self._binary("mod", self, other)

    def __rmod__(self, other: Any) -> Self:
        """Gives ``other % K``: remainders, lazily."""
        return self._binary("mod", other, self)

    def __floordiv__(self, other: Any) -> Self:
        """Gives ``K // other``: quotients rounded down, lazily."""
        return self._binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        """Gives ``other // K``: quotients rounded down, lazily."""
        return self._binary("floordiv", other, self)

    def __and__(self, other: Any) -> Self:
        """Gives ``K & other``: whether both are true, lazily."""
        return self._binary("and_", self, other)

    def __rand__(self, other: Any) -> Self:
        """Gives ``other & K``: whether both are true, lazily."""
        return self._binary("and_", other, self)

    def __or__(self, other: Any) -> Self:
        """Gives ``K | other``: whether one is true, lazily."""
        return self._binary("or_", self, other)

    def __ror__(self, other: Any) -> Self:
        """Gives ``other | K``: whether one is true, lazily."""
        return self._binary("or_", other, self)

    def __matmul__(self, other: Any) -> Any:
        """Gives ``K @ other``: the product of matrices, or an inner product."""
        return self.apply("matmul", (self, other), {})

    def __rmatmul__(self, other: Any) -> Any:
        """Gives ``other @ K``: the product of matrices, or an inner product."""
        return self.apply("matmul", (other, self), {})

    def __lt__(self, other: Any) -> Self:
        """Gives ``K < other``: whether values are below, lazily."""
        return self._binary("lt", self, other)

    def __le__(self, other: Any) -> Self:
        """Gives ``K <= other``: whether values are not above, lazily."""
        return self._binary("le", self, other)

    def __gt__(self, other: Any) -> Self:
        """Gives ``K > other``: whether values are above, lazily."""
        return self._binary("gt", self, other)

    def __ge__(self, other: Any) -> Self:
        """Gives ``K >= other``: whether values are not below, lazily."""
        return self._binary("ge", self, other)

    def __eq__(self, other: Any) -> Self:  # type: ignore[override]
        """Gives ``K == other``: whether values are equal, lazily."""
        return self._binary("eq", self, other)

    def __ne__(self, other: Any) -> Self:  # type: ignore[override]
        """Gives ``K != other``: whether values differ, lazily."""
        return self._binary("ne", self, other)

    def __neg__(self) -> Self:
        """Gives ``-K``: values with the other sign, lazily."""
        return self._unary("neg")

    def __pos__(self) -> Self:
        """Gives ``+K``: the same values."""
        return self._unary("positive")

    def __abs__(self) -> Self:
        """Gives ``abs(K)``: values without their sign, lazily."""
        return self._unary("abs")

    def __invert__(self) -> Self:
        """Gives ``~K``: whether values are false, lazily."""
        return self._unary("invert")

    # ---- what NumPy and PyTorch ask -----------------------------------------

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """What NumPy's functions of single values ask for."""
        if method != "__call__":
            _core.fail("TracedFunction", f"{ufunc.__name__}.{method}")
        name = ufunc.__name__
        return self.apply(name, *of_numpy(name, inputs, kwargs))

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        """What NumPy's functions of whole arrays ask for."""
        name = function.__name__
        return self.apply(name, *of_numpy(name, args, kwargs))

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """What PyTorch's functions ask for."""
        return cls._of_torch(function.__name__.strip("_"), args, kwargs or {})

    @classmethod
    def _of_torch(
        cls, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """What a function of PyTorch's gives, by its name."""
        operands, given = of_torch(name, args, kwargs)
        if name in ("max", "min") and "axis" in given:
            return extremum(operands[0], name, **given)
        if name in ("max", "min") and len(operands) > 1:
            name = f"{name}imum"
        return cls.apply(name, operands, given)

    def __getattr__(self, name: str) -> Any:
        """Methods such as x.exp(): any function that has none here."""
        if name.startswith("_") or not is_function(name):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
            )
        return lambda *args, **kwargs: self.apply(name, (self, *args), kwargs)
