# python_bindings/tilefold/compat/pykeops/genred.py - formulas, called by place.
"""`GenericGenred`: a formula of KeOps's as a function of arrays."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from tilefold.compat.pykeops.calls import (
    axis_lengths,
    check_accumulator,
    check_backend,
    check_options,
    described,
    explained,
    reference,
    written,
)
from tilefold.compat.pykeops.layers import run_over
from tilefold.compat.pykeops.nodes import PARAMETER, Node, Term, join
from tilefold.compat.pykeops.operations import fail
from tilefold.compat.pykeops.parse import (
    Alias,
    Number,
    parse_alias,
    parse_aliases,
    parse_formula,
)
from tilefold.compat.pykeops.reductions import (
    SUMS,
    VALUE,
    Plan,
    plan,
    reduction_name,
)
from tilefold.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bound", "GenericGenred", "compiled"]

MOST_SHAPES = 256  # checked shapes of one callable


class Layout:
    """What the shapes of a call's arguments say.

    `lengths`: points on i and j; `rank`: batch dimensions; `is_plain`:
    arrays are handed over as they are.
    """

    __slots__ = ("is_plain", "lengths", "rank")

    def __init__(self, aliases: list[Alias], shapes: Sequence[Any]) -> None:
        ranks = [len(shape) for shape in shapes]
        self.rank = max(0, max(ranks, default=2) - 2)
        found: dict[int, int] = {}
        for alias, shape in zip(aliases, shapes, strict=True):
            _check_shape(alias, shape, found, self.rank)
        self.lengths = axis_lengths(found)
        self.is_plain = self.rank == 0


def _check_shape(
    alias: Alias, shape: Any, found: dict[int, int], rank: int
) -> None:
    """ValueError where an argument does not have its declared shape."""
    name = alias.name or f"argument {alias.position}"
    if not shape:
        if alias.category == PARAMETER and alias.dim == 1:
            return
        fail(f"{name} is a number: expected an array, (…, {alias.dim})")
    if shape[-1] != alias.dim:
        fail(
            f"{name} has shape {tuple(shape)}: its last dimension is declared "
            f"to be {alias.dim}"
        )
    if alias.category == PARAMETER:
        if len(shape) > rank + 1 and shape[-2] != 1:
            fail(
                f"{name} has shape {tuple(shape)}: expected one parameter, "
                f"({alias.dim},), or one for each batch, (…, {alias.dim})"
            )
        return
    axis = "ij"[alias.category]
    if len(shape) < 2:
        fail(f"{name} has shape {tuple(shape)}: expected points, (…, M, D)")
    known = found.setdefault(alias.category, shape[-2])
    if known != shape[-2]:
        fail(
            f"{name} has {shape[-2]} points on {axis}, where another argument "
            f"has {known}: they have to agree"
        )


def compiled(
    term: Term, reduction: str, axis: int, opt_arg: int | None
) -> tuple[Node, tuple[Any, ...], Plan]:
    """The node of a reduction, its variables and its plan."""
    node, variables = term
    return node, variables, plan(node, reduction, axis, opt_arg)


class Bound:
    """A reduction whose arguments come by place."""

    def __init__(
        self, term: Term, aliases: list[Alias], reduction: str, axis: int,
        opt_arg: int | None,
    ) -> None:  # fmt: skip
        self.aliases = aliases
        self.node, variables, self.plan = compiled(
            term, reduction, axis, opt_arg
        )
        self.axis = axis
        self.variables = variables
        self.places = [
            (self.plan.names[k], variables[number])
            for k, number in enumerate(self.plan.numbers)
        ]
        numbers = any(isinstance(one, Number) for one in variables)
        self.is_plain = self.plan.is_plain and not numbers
        self.names = tuple(name for name, _ in self.places)
        self.order = tuple(place for _, place in self.places)
        self.in_order = self.order == tuple(range(len(aliases)))
        self.layouts: dict[tuple[Any, ...], Layout] = {}

    def layout(self, args: Sequence[Any]) -> Layout:
        """What is known of arguments of such shapes."""
        key = tuple([arg.shape for arg in args])
        found = self.layouts.get(key)
        if found is None:
            found = Layout(self.aliases, key)
            if len(self.layouts) >= MOST_SHAPES:
                self.layouts.clear()
            self.layouts[key] = found
        return found

    def said(self) -> list[str]:
        """What messages call the variables of the node."""
        found = described(self.node.leaves)
        for k, place in enumerate(self.variables):
            if not isinstance(place, Number) and self.aliases[place].name:
                found[k] = repr(self.aliases[place].name)
        return found

    def values(self, args: Sequence[Any]) -> list[Any]:
        """The value of each variable of the node."""
        return [
            one.value if isinstance(one, Number) else args[one]
            for one in self.variables
        ]


class GenericGenred:
    """A formula of KeOps's, reduced over i (axis 0) or j (axis 1).

    `formula`: KeOps's spelling; `aliases`: a declaration of each argument,
    such as "x = Vi(3)". Called with arrays (…, M, D) for Vi, (…, N, D) for Vj
    and (…, D) for Pm, it gives (…, M, V), or (…, N, V) for axis 0, of their
    dtype. Options for accumulation and scheduling are checked and change
    nothing. Raises ValueError.
    """

    arrays: ClassVar[Any] = None

    def __init__(
        self,
        formula: str,
        aliases: Sequence[str],
        reduction_op: str = "Sum",
        axis: int = 0,
        dtype: str | None = None,
        opt_arg: int | None = None,
        formula2: str | None = None,
        cuda_type: str | None = None,
        dtype_acc: str = "auto",
        use_double_acc: bool = False,
        sum_scheme: str = "auto",
        enable_chunks: bool = True,
        rec_multVar_highdim: bool | int | None = False,  # noqa: N803
        use_fast_math: bool = True,
        optional_flags: Any = None,
    ) -> None:
        del optional_flags  # LazyTensors of KeOps pass it on
        _warn_old(dtype, cuda_type)
        if axis not in {0, 1}:
            fail(f"axis is {axis!r}: 0 reduces over i, 1 over j")
        self.reduction_op = reduction_op
        reduction = reduction_name(reduction_op, bool(formula2))
        is_sum = reduction in SUMS
        check_options(is_sum, dtype_acc, use_double_acc, sum_scheme)
        self.formula = formula
        self.formula2 = formula2
        self.aliases = list(aliases)
        self.axis = axis
        self.opt_arg = opt_arg
        self.dtype = dtype or cuda_type
        self.dtype_acc = dtype_acc
        self.rec_multVar_highdim = rec_multVar_highdim
        self.optional_flags = {
            "dtype_acc": dtype_acc,
            "use_double_acc": use_double_acc,
            "sum_scheme": sum_scheme,
            "enable_chunks": enable_chunks,
            "use_fast_math": use_fast_math,
        }
        self._bind()

    def _bind(self) -> None:
        """Reads the formula, and compiles it."""
        aliases = parse_aliases(self.aliases)
        term, aliases = parse_formula(self.formula, aliases)
        if self.formula2:
            weights, aliases = parse_formula(self.formula2, aliases)
            term = join("Weighted", *term, *weights)
        reduction = reduction_name(self.reduction_op, bool(self.formula2))
        self._bound = Bound(term, aliases, reduction, self.axis, self.opt_arg)
        self.nargs = len(aliases)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_bound"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def __call__(
        self,
        *args: Any,
        backend: str = "auto",
        device_id: int = -1,  # noqa: ARG002
        ranges: Any = None,
        out: Any = None,
    ) -> Any:
        """The reduction of these arrays."""
        bound = self._bound
        if len(args) != self.nargs:
            fail(
                f"{self.formula!r} has {self.nargs} arguments, as declared in "
                f"{self.aliases}; {len(args)} are given"
            )
        if backend != "auto":
            check_backend(backend)
        try:
            layout = bound.layout(args)
        except AttributeError:
            args = tuple(_as_arrays(args, self.arrays))
            layout = bound.layout(args)
        if self.dtype_acc != "auto" and args:
            like = reference(args, self.arrays)
            check_accumulator(self.dtype_acc, self.arrays.dtype_name(like))
        if bound.is_plain and layout.is_plain and ranges is None:
            found = args if bound.in_order else [args[k] for k in bound.order]
            try:
                result = bound.plan.formula(
                    **dict(zip(bound.names, found, strict=True))
                )
            except Error as error:
                raise explained(error, bound.said()) from None
            if not isinstance(result, self.arrays.kind):
                self._refuse(args)
            if result.dtype != args[bound.order[0]].dtype:
                like = reference(found, self.arrays)
                result = self.arrays.cast(result, like.dtype)
        else:
            result = self._slow(bound, layout, args, ranges)
        return self._given(result, args, out)

    def _slow(
        self, bound: Bound, layout: Layout, args: Any, ranges: Any
    ) -> Any:
        """A call with batches, ranges, complex views or indices."""
        node, made = bound.node, bound.plan
        kind = self.arrays.kind
        if not all(isinstance(one, kind) or not one.shape for one in args):
            self._refuse(args)
        result = run_over(
            ranges,
            made,
            node,
            bound.values(args),
            self.arrays,
            lengths=layout.lengths,
            rank=layout.rank,
            like=args[0] if args else None,
        )
        if made.is_complex:
            result = self.arrays.as_real(result)
        return result

    def _refuse(self, args: Any) -> NoReturn:
        """Of arrays of another library."""
        kinds = ", ".join(dict.fromkeys(type(one).__name__ for one in args))
        fail(
            f"a Genred of {self.arrays.library} is called with {kinds}: "
            "convert the arguments, or take that of the other library"
        )

    def _given(self, result: Any, args: Any, out: Any) -> Any:
        """The result with its gradients, in `out` where one is given."""
        if self._bound.plan.kind == VALUE:
            result = self.arrays.connected(result, args, self._bound.order)
        if out is None:
            return result
        return written(out, result, self.arrays)


def _as_arrays(args: Sequence[Any], arrays: Any) -> list[Any]:
    """Lists and numbers among the arguments, as arrays of the others' type."""
    like = next((one for one in args if hasattr(one, "shape")), None)
    return [
        one if hasattr(one, "shape") else arrays.array(one, like)
        for one in args
    ]


_OLD_WARNED: set[str] = set()


def _warn_old(dtype: Any, cuda_type: Any) -> None:
    """Once, of keywords that KeOps does not need any more."""
    for name, value in (("dtype", dtype), ("cuda_type", cuda_type)):
        if value is not None and name not in _OLD_WARNED:
            _OLD_WARNED.add(name)
            warnings.warn(
                f"[KeOps] keyword {name} is deprecated: arguments say it",
                DeprecationWarning,
                stacklevel=3,
            )


def split_output(
    output: str, aliases: Sequence[str]
) -> tuple[list[str], int, int]:
    """Of generic_*: the aliases, the axis, and the output's dimension."""
    alias = parse_alias(output, 0)
    if alias.category == PARAMETER:
        fail(f"the output {output!r} is Vi or Vj")
    return list(aliases), 1 - alias.category, alias.dim
