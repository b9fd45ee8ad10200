# python_bindings/tilefold/compat/pykeops/lazy_reductions.py - of LazyTensors.
"""`LazyReductions`: reductions, products with vectors, and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold.compat.pykeops.calls import (
    check_accumulator,
    check_backend,
    check_options,
    described,
    explained,
    reference,
    written,
)
from tilefold.compat.pykeops.genred import Layout
from tilefold.compat.pykeops.layers import run_over
from tilefold.compat.pykeops.lazy_operations import LazyOperations
from tilefold.compat.pykeops.lazy_state import (
    LazyState,
    Symbol,
    broadcast,
    is_lazy,
)
from tilefold.compat.pykeops.nodes import NUMBER, I, J, join, leaf
from tilefold.compat.pykeops.operations import fail
from tilefold.compat.pykeops.parse import Alias
from tilefold.compat.pykeops.reductions import (
    INDEX,
    SUMS,
    plan,
    reduction_name,
)
from tilefold.compat.pykeops.systems import kernel_system
from tilefold.errors import Error

if TYPE_CHECKING:
    from tilefold.compat.pykeops.nodes import Node

__all__ = ["LazyReductions"]

_OPTIONS = {
    "backend",
    "device_id",
    "ranges",
    "out",
    "dtype_acc",
    "use_double_acc",
    "sum_scheme",
    "enable_chunks",
    "use_fast_math",
    "optional_flags",
    "rec_multVar_highdim",
}


class LazyReductions(LazyOperations):
    """Reductions over i and j; those over the last axis are lazy.

    `axis`, or `dim`, counts batch dimensions: nbatchdims for i, nbatchdims + 1
    for j. Results are arrays (…, M, V) or (…, N, V). With `call=False`, and
    where arguments are symbolic, the result is a callable. Raises ValueError.
    """

    def reduction(
        self,
        reduction_op: str,
        other: Any = None,
        opt_arg: int | None = None,
        axis: int | None = None,
        dim: int | None = None,
        call: bool = True,
        is_complex: bool | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> Any:
        """A reduction by KeOps's name, `other` being the weights."""
        axis = dim if axis is None else axis
        inner = -1 if axis is None else axis - self.nbatchdims
        if inner not in {0, 1}:
            fail(
                f"axis is {axis}: reductions are over {self.nbatchdims} (i) "
                f"or {self.nbatchdims + 1} (j)"
            )
        reduction = reduction_name(reduction_op, other is not None)
        if kwargs:
            _check_keywords(reduction, kwargs)
        if other is None:
            made = self._like(self._node)
        else:
            made = self._binary("Weighted", self._operand(other))
        state = made.__dict__
        is_symbolic = made._is_symbolic
        if call and not is_symbolic and state.get("_dtype") is not None:
            return made._computed(reduction, inner, opt_arg, kwargs)
        state.update(
            reduction_op=reduction,
            axis=inner,
            opt_arg=opt_arg,
            kwargs=kwargs,
        )
        plan(made._node, reduction, inner, opt_arg)  # refuses what it cannot
        return made

    def _computed(
        self, reduction: str, axis: int, opt_arg: int | None, kwargs: Any
    ) -> Any:
        """The reduction of the arrays that are held."""
        rank = len(self.batchdims or ())
        return _reduced(
            self,
            self._values,
            (reduction, axis, opt_arg),
            self._lengths(),
            rank,
            kwargs,
        )

    def _lengths(self) -> tuple[int, int]:
        """The points on i and j; one where no variable is on an axis."""
        ni, nj = self.ni, self.nj
        return 1 if ni is None else ni, 1 if nj is None else nj

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `call=False` or symbolic arguments left to compute."""
        if self.reduction_op is None:
            fail("a LazyTensor is called where it is a reduction of symbols")
        given = {**self.__dict__["kwargs"], **kwargs}
        if self.reduction_op == "Solve":
            return self._solved(args, given)
        _check_keywords(self.reduction_op, given)
        values, layout = self._laid_out(args)
        return _reduced(
            self,
            values,
            (self.reduction_op, self.axis, self.opt_arg),
            layout.lengths,
            layout.rank,
            given,
        )

    @property
    def callfun(self) -> Any:
        """What a reduction calls: itself. Programs print it."""
        if self.reduction_op is None:
            raise AttributeError("callfun: a LazyTensor that is no reduction")
        return self

    def _laid_out(self, args: tuple[Any, ...]) -> tuple[list[Any], Layout]:
        """The values, arguments among them, and what their shapes say."""
        values = list(_filled(self._values, args))
        aliases = []
        shapes = []
        for k, (value, one) in enumerate(
            zip(values, self._node.leaves, strict=True)
        ):
            if one.category == NUMBER or not hasattr(value, "shape"):
                continue
            if one.is_complex and not self.arrays.is_complex(value):
                values[k] = value = self.arrays.as_complex(value)
            dim = one.dim // 2 if one.is_complex else one.dim
            aliases.append(Alias(None, k, dim, one.category))
            shapes.append(value.shape)
        return values, Layout(aliases, shapes)

    # Over the last axis, lazily, or over i or j.

    def _inner(self, axis: int, dim: int | None) -> int | None:
        """The axis of i or j, None for that of components."""
        axis = axis if dim is None else dim
        if axis == -1 or axis == self.nbatchdims + 2:
            return None
        if axis is None:
            fail(
                f"axis is None: it is {self.nbatchdims} (i), "
                f"{self.nbatchdims + 1} (j), or -1 for the components"
            )
        return axis

    def sum(self, axis: int = -1, dim: int | None = None, **kwargs: Any) -> Any:
        """The sum."""
        over = self._inner(axis, dim)
        if over is None:
            return self._unary("Sum")
        return self.reduction("Sum", axis=over, **kwargs)

    def min(self, axis: int = -1, dim: int | None = None, **kwargs: Any) -> Any:
        """The minimum."""
        over = self._inner(axis, dim)
        if over is None:
            return self._unary("Min")
        return self.reduction("Min", axis=over, **kwargs)

    def max(self, axis: int = -1, dim: int | None = None, **kwargs: Any) -> Any:
        """The maximum."""
        over = self._inner(axis, dim)
        if over is None:
            return self._unary("Max")
        return self.reduction("Max", axis=over, **kwargs)

    def argmin(
        self, axis: int = -1, dim: int | None = None, **kwargs: Any
    ) -> Any:
        """Where the first minimum is, int64."""
        over = self._inner(axis, dim)
        if over is None:
            return self._unary("ArgMin")
        return self.reduction("ArgMin", axis=over, **kwargs)

    def argmax(
        self, axis: int = -1, dim: int | None = None, **kwargs: Any
    ) -> Any:
        """Where the first maximum is, int64."""
        over = self._inner(axis, dim)
        if over is None:
            return self._unary("ArgMax")
        return self.reduction("ArgMax", axis=over, **kwargs)

    # Over i or j.

    def logsumexp(
        self,
        axis: int | None = None,
        dim: int | None = None,
        weight: Any = None,
        other: Any = None,
        **kwargs: Any,
    ) -> Any:
        """The logarithm of Σ exp(self) weight."""
        weight = other if weight is None else weight
        return self.reduction("LogSumExp", weight, None, axis, dim, **kwargs)

    def sumsoftmaxweight(
        self,
        weight: Any,
        axis: int | None = None,
        dim: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Σ exp(self) weight / Σ exp(self)."""
        name = "SumSoftMaxWeight"
        return self.reduction(name, weight, None, axis, dim, **kwargs)

    def Kmin(  # noqa: N802
        self,
        K: int,  # noqa: N803
        axis: int | None = None,
        dim: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """The K smallest values, (…, M, K)."""
        return self.reduction("KMin", None, K, axis, dim, **kwargs)

    def argKmin(  # noqa: N802
        self,
        K: int,  # noqa: N803
        axis: int | None = None,
        dim: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Where the K smallest values are, int64."""
        return self.reduction("ArgKMin", None, K, axis, dim, **kwargs)

    def Kmin_argKmin(  # noqa: N802
        self,
        K: int,  # noqa: N803
        axis: int | None = None,
        dim: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """The K smallest values, and where they are."""
        return self.reduction("KMin_ArgKMin", None, K, axis, dim, **kwargs)

    # Products.

    def __matmul__(self, v: Any, **kwargs: Any) -> Any:
        """The product with (…, N, E), or with (N,)."""
        if not self.is_complex and self._node.dim != 1:
            fail(
                f"K @ v of a K of shape {self.shape}: its last axis has to be 1"
            )
        if not isinstance(v, self.arrays.kind):
            raise TypeError(
                f"[KeOps] K @ v takes {self.arrays.library}, not {type(v)}"
            )
        shape = v.shape
        is_vector = len(shape) == 1
        is_complex = self.is_complex or self.arrays.is_complex(v)
        if (
            kwargs
            or is_complex
            or len(shape) > 2
            or self.batchdims
            or self.ranges is not None
            or self._is_symbolic
            or not shape
        ):
            result = self._product(v, kwargs)
            return result.reshape(-1) if is_vector else result
        if "reduction_op" in self.__dict__:
            fail("a reduced LazyTensor takes no operation")
        if self.nj is not None and self.nj != shape[0]:
            fail(f"K @ v of shapes {self.shape} and {tuple(shape)}")
        dim = 1 if is_vector else shape[1]
        right = (v.reshape(-1, 1),) if is_vector else (v,)
        node, values = join(
            "Mult", self._node, self._values, leaf(J, dim), right
        )
        made = node.plans.get(_SUM_J) or plan(node, *_SUM_J)
        if not made.is_plain:
            lengths = (self._lengths()[0], shape[0])
            result = _run(self, made, node, values, lengths, 0, None)
            return result.reshape(-1) if is_vector else result
        named = zip(made.names, made.numbers, strict=True)
        try:
            result = made.formula(**{name: values[k] for name, k in named})
        except Error as error:
            raise explained(error, described(node.leaves)) from None
        if result.dtype != v.dtype and self._dtype in {
            None,
            self.arrays.dtype_name(v),
        }:
            result = self.arrays.cast(result, v.dtype)
        result = self.arrays.connected(result, values, made.numbers)
        return result.reshape(-1) if is_vector else result

    def _product(self, v: Any, kwargs: dict[str, Any]) -> Any:
        """The product by way of a LazyTensor of v."""
        shape = tuple(v.shape)
        if not shape:
            fail(f"K @ v of a K of shape {self.shape} and a number v")
        if v.ndim == 1 and self._is_symbolic:
            fail("K @ v of a symbolic K: expected a v of shape (N, E)")
        new = (1, *shape, 1) if v.ndim == 1 else (*shape[:-2], 1, *shape[-2:])
        other = self.lt_constructor(v.reshape(new))
        made = self.mulop(other)
        return made.sum(made.dim() - 2, **kwargs)

    def matvec(self, v: Any) -> Any:
        """`self @ v`."""
        return self @ v

    def rmatvec(self, v: Any) -> Any:
        """`self.T @ v`."""
        return self.T @ v

    # Systems.

    def solve(
        self, other: Any, var: Any = None, call: bool = True, **kwargs: Any
    ) -> Any:
        """x, such that the sum of self·x, plus αx, is `other`.

        `other`: an array (…, M, E), or a LazyTensor on i or j; x is on the
        other axis. `var`: a symbolic variable of self, in which it is linear;
        then it is the unknown. `alpha` (1e-10) and `eps` (1e-6) are those of
        KernelSolve. Symbolic, it gives a callable.
        """
        if not isinstance(other, LazyState):
            other = self.lt_constructor(other, 0)
        other = self._operand(other)
        _check_solve_keywords(kwargs)
        if other._node.operation != "Var" or other.axis not in {I, J}:
            fail(
                "solve: the right-hand side is an array (M, E), or a "
                "LazyTensor of an array or a symbol on i or j, no formula"
            )
        if self.is_complex or other.is_complex:
            fail("solve is for real LazyTensors; one of these is complex")
        axis = 1 - other.axis
        symbols = len(self.symbolic_variables)
        if not other.symbolic_variables and symbols > int(var is not None):
            fail("solve: where self has symbolic variables, so has other")
        if var is None:
            place = self.new_variable_index()
            var = self.lt_constructor((place, other.ndim, axis))
            made = self.mulop(var)
        else:
            if not (is_lazy(var) and _holds(self._values, var._values)):
                fail("solve: var is one of the symbolic variables of self")
            made = self._like(self._node)
        made.__dict__.update(
            reduction_op="Solve",
            axis=axis,
            kwargs=kwargs,
            _unknown=var._values[0],
            _other=other,
        )
        if other._dtype is not None and made._dtype is None:
            made.__dict__["_dtype"] = other._dtype
        ready = not other.symbolic_variables and made._dtype is not None
        return made() if call and ready else made

    def _solved(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The solution, with these arguments."""
        _check_solve_keywords(kwargs)
        state = self.__dict__
        other = state["_other"]
        if not other.symbolic_variables:
            if args:
                fail("this system has no arguments")
            args = (other._values[0],)
        unknown = state["_unknown"]
        place = [one is unknown for one in self._values].index(True)
        values, layout = self._laid_out(args)
        key = ("Sum", self.axis, None)
        settings: dict[str, Any] = {
            name: kwargs[name] for name in ("ranges",) if name in kwargs
        }
        check_backend(kwargs.get("backend", self.backend) or "auto")

        def evaluate(given: Any) -> Any:
            return _reduced(
                self, given, key, layout.lengths, layout.rank, settings
            )

        batch = self.batchdims or ()
        for value in values:
            if layout.rank and getattr(value, "ndim", 0) > 2:
                batch = broadcast(batch, value.shape[:-2])
        b = values[place]
        if b.shape[-2] != layout.lengths[1 - (self.axis or 0)]:
            fail(
                f"solve: {b.shape[-2]} unknowns of "
                f"{layout.lengths[1 - (self.axis or 0)]} equations: the "
                "operator has to be square"
            )
        if not self.arrays.is_floating(b):
            b = self.arrays.cast(b, reference(values, self.arrays).dtype)
        values[place] = self.arrays.broadcast(b, (*batch, *b.shape[-2:]))
        alpha, eps = kwargs.get("alpha", 1e-10), kwargs.get("eps", 1e-6)
        quick = None
        if kwargs.get("ranges", self.ranges) is None:
            quick = kernel_system(self._node, place, self.axis or 0)
        return self.arrays.solved(evaluate, place, alpha, eps, quick, values)


_SUM_J = ("Sum", 1, None)


def _over(name: str, doc: str) -> Any:
    def method(
        self: Any,
        axis: int | None = None,
        dim: int | None = None,
        **kwargs: Any,
    ) -> Any:
        return self.reduction(name, None, None, axis, dim, **kwargs)

    method.__doc__ = doc
    return method


def _renamed(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, name)(*args, **kwargs)

    method.__doc__ = f"The same as `{name}`."
    return method


for _name, _operation in {
    "sum_reduction": "Sum",
    "min_reduction": "Min",
    "max_reduction": "Max",
    "argmin_reduction": "ArgMin",
    "argmax_reduction": "ArgMax",
    "min_argmin": "Min_ArgMin",
    "max_argmax": "Max_ArgMax",
}.items():
    setattr(
        LazyReductions, _name, _over(_operation, f"{_operation} over i or j.")
    )
for _name in (
    "logsumexp",
    "sumsoftmaxweight",
    "min_argmin",
    "max_argmax",
    "Kmin",
    "argKmin",
    "Kmin_argKmin",
):
    setattr(LazyReductions, f"{_name}_reduction", _renamed(_name))


def _check_keywords(reduction: str, kwargs: dict[str, Any]) -> None:
    """KeOps's kinds of errors for what it does not know."""
    unknown = set(kwargs) - _OPTIONS
    if unknown:
        raise TypeError(f"[KeOps] unexpected keywords: {sorted(unknown)}")
    check_options(
        reduction in SUMS,
        kwargs.get("dtype_acc", "auto"),
        kwargs.get("use_double_acc", False),
        kwargs.get("sum_scheme", "auto"),
    )


def _holds(values: Any, variable: Any) -> bool:
    """Whether a symbolic variable is one of them."""
    return (
        len(variable) == 1
        and type(variable[0]) is Symbol
        and any(one is variable[0] for one in values)
    )


def _check_solve_keywords(kwargs: dict[str, Any]) -> None:
    if "out" in kwargs:
        raise TypeError("[KeOps] solve has no out=")
    rest = {k: v for k, v in kwargs.items() if k not in {"alpha", "eps"}}
    _check_keywords("Sum", rest)


def _filled(values: Any, args: tuple[Any, ...]) -> Any:
    """The variables, arguments in the place of symbols."""
    places = sorted({x.ind for x in values if type(x) is Symbol})
    if len(args) == len(places):
        given = dict(zip(places, args, strict=True))
    elif places and len(args) == places[-1] + 1:
        given = dict(enumerate(args))
    else:
        fail(f"{len(args)} arguments for the symbolic variables {places}")
    for value in values:
        yield given[value.ind] if type(value) is Symbol else value


def _reduced(
    lazy: Any,
    values: Any,
    key: tuple[str, int | None, int | None],
    lengths: tuple[int, int],
    rank: int,
    kwargs: dict[str, Any],
) -> Any:
    """The result of a reduction, with the settings of its call."""
    node = lazy._node
    reduction, axis, opt_arg = key
    made = node.plans.get(key) or plan(node, reduction, axis or 0, opt_arg)
    backend = kwargs.get("backend", lazy.backend)
    if backend is not None:
        check_backend(backend)
    if "dtype_acc" in kwargs:
        like = reference(values, lazy.arrays)
        check_accumulator(kwargs["dtype_acc"], lazy.arrays.dtype_name(like))
    ranges = kwargs.get("ranges", lazy.ranges)
    result = _run(lazy, made, node, values, lengths, rank, ranges)
    out = kwargs.get("out")
    return result if out is None else written(out, result, lazy.arrays)


def _run(
    lazy: Any,
    made: Any,
    node: Node,
    values: Any,
    lengths: tuple[int, int],
    rank: int,
    ranges: Any,
) -> Any:
    """The computation itself."""
    arrays = lazy.arrays
    result = run_over(
        ranges, made, node, values, arrays, lengths=lengths, rank=rank
    )
    if made.kind == INDEX or isinstance(result, tuple):
        return result
    return arrays.connected(result, values, made.numbers)
