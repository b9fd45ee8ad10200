# python_bindings/tilefold/operations.py - kernels in the code of NumPy and
# PyTorch.
"""What NumPy's and PyTorch's functions and operators do with a kernel.

A function of single values, as in `np.exp(K)` and `K > 0.5`, makes another
kernel of one formula (`tilefold.expression`). One of whole arrays, as in
`np.mean(K, axis=1)`, is the method of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from tilefold.pair_term import PairTerm

__all__ = ["ATTRIBUTES", "METHODS", "Operations", "method_call", "of_torch"]

# Functions of whole arrays, and the methods that are meant.
METHODS = {
    **{
        name: name
        for name in (
            "sum", "mean", "max", "min", "prod", "any", "all", "var", "std",
            "logsumexp", "argmin", "argmax", "trace", "norm", "softmax",
        )
    },
    "amax": "max", "amin": "min", "count_nonzero": "count",
    "diag": "diag", "diagonal": "diag", "transpose": "transpose",
    "vector_norm": "norm", "linalg_norm": "norm", "linalg_vector_norm": "norm",
    "matrix_transpose": "transpose", "linalg_diagonal": "diag",
}  # fmt: skip
# Functions of whole arrays that are attributes.
ATTRIBUTES = ("shape", "ndim", "size")
# Those of matrices: of more axes, NumPy takes the first two for them.
_OF_MATRICES = ("trace", "diag", "transpose")
_RENAMED = {"dim": "axis", "keepdim": "keepdims", "ord": "order", "p": "order"}
_SPREADS = ("var", "std")


def method_call(
    function: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, Sequence[Any], dict[str, Any]]:
    """The method that a function of arrays is, and what it is given."""
    method = METHODS[function]
    known = {"axis", "keepdims", "order", "ddof", "k"}
    given = {}
    for key, value in kwargs.items():
        name = _RENAMED.get(key, key)
        if name in known:
            given[name] = value
        elif value is not None:
            _core.fail("TracedFunction", f"{function}(…, {key}=…)")
    value = args[0]
    if method in _OF_MATRICES and value.ndim != 2:
        _core.fail("KernelMatrixOnly", function, value.shape)
    return method, args[1:], given


def of_torch(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Keywords as NumPy has them, where PyTorch means something else."""
    given = dict(kwargs)
    if name in ("max", "min") and (len(args) > 1 or "dim" in kwargs):
        _core.fail("TracedFunction", f"{name}(…, dim), which gives two tensors")
    if name in _SPREADS:
        unbiased = given.pop("unbiased", None)
        correction = given.pop("correction", None)
        if correction is None:
            correction = 0 if unbiased is False else 1
        given["ddof"] = correction
    return given


class Operations:
    """The operators of a kernel, and its part of the protocols."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _upright(self) -> PairTerm:
        raise NotImplementedError

    @classmethod
    def _of_pair(cls, pair: PairTerm) -> Self:
        raise NotImplementedError

    @classmethod
    def apply(
        cls, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """What a function of NumPy, PyTorch or the operators gives."""
        if name in ("matmul", "rmatmul"):
            a, b = args if name == "matmul" else args[::-1]
            return a @ b if isinstance(a, Operations) else b.__rmatmul__(a)
        if name == "dot":
            return _dot(*args)
        first = args[0] if args else None
        if isinstance(first, Operations):
            if name in METHODS and len(_kernels(args)) == 1:
                method, rest, given = method_call(name, args, kwargs)
                return getattr(first, method)(*rest, **given)
            if name in ATTRIBUTES:
                return getattr(first, name)
        from tilefold.expression import applied  # only where it is wanted

        operands = [_operand(value) for value in args]
        named = {key: _operand(value) for key, value in kwargs.items()}
        return cls._of_pair(applied(name, operands, named))

    # ---- operators ----------------------------------------------------------

    def _binary(self, name: str, a: Any, b: Any) -> Self:
        result: Self = self.apply(name, (a, b), {})
        return result

    def _unary(self, name: str) -> Self:
        result: Self = self.apply(name, (self,), {})
        return result

    def __add__(self, other: Any) -> Self:
        return self._binary("add", self, other)

    def __radd__(self, other: Any) -> Self:
        return self._binary("add", other, self)

    def __sub__(self, other: Any) -> Self:
        return self._binary("sub", self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._binary("sub", other, self)

    def __mul__(self, other: Any) -> Self:
        return self._binary("mul", self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._binary("mul", other, self)

    def __truediv__(self, other: Any) -> Self:
        return self._binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._binary("div", other, self)

    def __pow__(self, other: Any) -> Self:
        return self._binary("pow", self, other)

    def __rpow__(self, other: Any) -> Self:
        return self._binary("pow", other, self)

    def __mod__(self, other: Any) -> Self:
        return self._binary("mod", self, other)

    def __rmod__(self, other: Any) -> Self:
        return self._binary("mod", other, self)

    def __floordiv__(self, other: Any) -> Self:
        return self._binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._binary("floordiv", other, self)

    def __and__(self, other: Any) -> Self:
        return self._binary("and_", self, other)

    def __rand__(self, other: Any) -> Self:
        return self._binary("and_", other, self)

    def __or__(self, other: Any) -> Self:
        return self._binary("or_", self, other)

    def __ror__(self, other: Any) -> Self:
        return self._binary("or_", other, self)

    def __lt__(self, other: Any) -> Self:
        return self._binary("lt", self, other)

    def __le__(self, other: Any) -> Self:
        return self._binary("le", self, other)

    def __gt__(self, other: Any) -> Self:
        return self._binary("gt", self, other)

    def __ge__(self, other: Any) -> Self:
        return self._binary("ge", self, other)

    def __eq__(self, other: Any) -> Self:  # type: ignore[override]
        return self._binary("eq", self, other)

    def __ne__(self, other: Any) -> Self:  # type: ignore[override]
        return self._binary("ne", self, other)

    def __neg__(self) -> Self:
        return self._unary("neg")

    def __pos__(self) -> Self:
        return self._unary("positive")

    def __abs__(self) -> Self:
        return self._unary("abs")

    def __invert__(self) -> Self:
        return self._unary("invert")

    # ---- what NumPy and PyTorch ask -----------------------------------------

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        if method != "__call__":
            _core.fail("TracedFunction", f"{ufunc.__name__}.{method}")
        return self.apply(ufunc.__name__, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        return self.apply(function.__name__, args, kwargs)

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = function.__name__.strip("_")
        return cls.apply(name, args, of_torch(name, args, kwargs or {}))

    def __getattr__(self, name: str) -> Any:
        """Methods such as K.exp(): any function that has none here."""
        from tilefold.trace import is_function  # only where it is wanted

        if name.startswith("_") or not is_function(name):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
            )
        return lambda *args, **kwargs: self.apply(name, (self, *args), kwargs)


def _kernels(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, Operations)]


def _operand(value: Any) -> Any:
    """A kernel or a lazy matrix as its pair term."""
    if isinstance(value, Operations):
        return value._upright()
    if hasattr(value, "spelled_matrix"):
        return value._kernel()._upright()
    return value


def _dot(a: Any, b: Any) -> Any:
    """As `numpy.dot` of two matrices, or of a matrix and a vector."""
    for value in _kernels((a, b)):
        if value.ndim != 2:
            _core.fail("KernelMatrixOnly", "dot", value.shape)
    return a @ b if isinstance(a, Operations) else b.__rmatmul__(a)
