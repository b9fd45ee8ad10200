# python_bindings/tilefold/operations.py - kernels in the code of NumPy and
# PyTorch.
"""What NumPy's and PyTorch's functions and operators do with a kernel.

A function of single values, as in `np.exp(K)` and `K > 0.5`, makes another
kernel of one formula (`tilefold.expression`). One of whole arrays, as in
`np.mean(K, axis=1)`, is the method of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.expression import applied
from tilefold.frameworks import is_read_by_dynamo, leave_graph
from tilefold.functions import JOINS, is_function, nansum
from tilefold.operators import Operators

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, Self

    from typing_extensions import TypeIs

    from tilefold.pair_term import PairTerm
else:
    Protocol = object  # typing's takes a tenth of the time of an import

__all__ = [
    "ATTRIBUTES",
    "DERIVED",
    "METHODS",
    "OF_VECTORS",
    "SAME",
    "LazyMatrix",
    "Operations",
    "attribute_of",
    "is_lazy_matrix",
    "method_of",
]

# Functions of whole arrays, and the methods that are meant.
METHODS = {
    **{
        name: name
        for name in (
            "sum", "mean", "max", "min", "prod", "any", "all", "var", "std",
            "logsumexp", "argmin", "argmax", "trace", "norm", "softmax",
            "median", "quantile",
        )
    },
    "amax": "max", "amin": "min", "count_nonzero": "count",
    "diag": "diag", "diagonal": "diag", "transpose": "transpose",
    "vector_norm": "norm", "linalg_norm": "norm", "linalg_vector_norm": "norm",
    "matrix_transpose": "transpose", "linalg_diagonal": "diag",
}  # fmt: skip
# Those that are made of methods; each is given the value, and settings.
DERIVED: dict[str, Callable[..., Any]] = {
    "average": lambda value, **given: value.mean(**given),
    "ptp": lambda value, **given: value.max(**given) - value.min(**given),
    "percentile": lambda value, q, **given: value.quantile(
        np.asarray(q) / 100, **given
    ),
    "nansum": nansum,
}
# Functions of whole arrays that are attributes.
ATTRIBUTES = ("shape", "ndim", "size")
# Products of PyTorch's under one name, and those of NumPy's that pair other
# axes of matrices than products do.
SAME = {"mv": "matmul", "mm": "matmul"}
OF_VECTORS = ("inner", "vdot")
# Those of matrices: of more axes, NumPy takes the first two for them.
_OF_MATRICES = ("trace", "diag", "transpose")


def method_of(
    value: Any, name: str, settings: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The method that a function of arrays is, and its settings."""
    method = METHODS[name]
    if method in _OF_MATRICES and value.ndim != 2:
        _core.fail("KernelMatrixOnly", name, value.shape)
    return method, dict(settings)


def attribute_of(value: Any, name: str, settings: Mapping[str, Any]) -> Any:
    """The attribute that a function of arrays is."""
    axis = settings.get("axis")
    if name == "size" and axis is not None:
        return value.shape[axis]
    return getattr(value, name)


class LazyMatrix(Protocol):
    """A matrix that is no kernel, but can be one: `tilefold.Lazy`."""

    def to_matrix_formula(self) -> tuple[str, dict[str, Any]]:
        """The formula of the matrix, and its arguments."""

    def _kernel(self) -> Operations:
        """The matrix as a kernel."""


def is_lazy_matrix(value: Any) -> TypeIs[LazyMatrix]:
    """Whether a value is a matrix by its formula."""
    return hasattr(value, "to_matrix_formula")


class Operations(Operators):
    """The operators of a kernel, and its part of the protocols."""

    __slots__ = ()

    def _upright(self) -> PairTerm:
        raise NotImplementedError

    @classmethod
    def _of_pair(cls, pair: PairTerm) -> Self:
        raise NotImplementedError

    @classmethod
    def apply(
        cls, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Does what a function of NumPy, PyTorch or the operators does.

        What Python's operators and the protocols of both libraries come to.
        Functions of single values make another kernel, those of whole arrays
        compute.

        Parameters
        ----------
        name : str
            The function's name there, such as "exp" or "mul".
        args : sequence
            Its operands: kernels, lazy arrays, arrays and numbers.
        kwargs : Mapping
            Its keywords, such as ``axis``.

        Returns
        -------
        Kernel or array
            The kernel of one formula, or the result.

        Raises
        ------
        ArgumentError
            For a function that has no meaning here.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> tilefold.Kernel.apply("mul", (K, 2), {}).dense()
        array([[0., 2.],
               [2., 0.]])
        """
        name = SAME.get(name, name)
        if name in ("matmul", "rmatmul"):
            a, b = args if name == "matmul" else args[::-1]
            return a @ b if isinstance(a, Operations) else b.__rmatmul__(a)
        if name == "dot":
            return _dot(*args)
        if name in OF_VECTORS:
            _core.fail("TracedFunction", f"{name} of matrices")
        first = args[0] if args else None
        if isinstance(first, Operations):
            if name in METHODS and len(_kernels(args)) == 1:
                method, given = method_of(first, name, kwargs)
                return getattr(first, method)(*args[1:], **given)
            if name in DERIVED:
                return DERIVED[name](first, *args[1:], **kwargs)
            if name in ATTRIBUTES:
                return attribute_of(first, name, kwargs)
        if not is_function(name) and name not in JOINS:
            _core.fail("TracedFunction", name)
        operands = [_operand(value) for value in args]
        named = {key: _operand(value) for key, value in kwargs.items()}
        return cls._of_pair(applied(name, operands, named))

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """What PyTorch's functions ask for."""
        if is_read_by_dynamo():
            leave_graph(
                "a kernel from outside is computed with where torch.compile "
                "reads",
                "make the kernel in the function, of the tensors it is given",
            )
        return super().__torch_function__(function, types, args, kwargs)


def _kernels(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, Operations)]


def _operand(value: Any) -> Any:
    """A kernel or a lazy matrix as its pair term."""
    if isinstance(value, Operations):
        return value._upright()
    if is_lazy_matrix(value):
        return value._kernel()._upright()
    return value


def _dot(a: Any, b: Any) -> Any:
    """As `numpy.dot` of two matrices, or of a matrix and a vector."""
    for value in _kernels((a, b)):
        if value.ndim != 2:
            _core.fail("KernelMatrixOnly", "dot", value.shape)
    return a @ b if isinstance(a, Operations) else b.__rmatmul__(a)
