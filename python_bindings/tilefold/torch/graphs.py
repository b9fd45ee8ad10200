# python_bindings/tilefold/torch/graphs.py - kernels where torch.compile reads.
"""`GraphKernel`: a lazy matrix in a function that `torch.compile` reads.

Dynamo reads Python and does not see into formulas. What is asked of a kernel is
one call in its graph, therefore, of which it knows tensors and text alone
(`torch._dynamo.nonstrict_trace`). AOTAutograd traces that call, and finds the
operator in it.

This module is imported where Dynamo reads a call of `tilefold.kernel`: it takes
torch._dynamo, which is slow to import.
"""

from __future__ import annotations

import inspect
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch._dynamo
from torch._dynamo.variables import builtin
from torch.utils import _pytree as pytree

from tilefold.frameworks import leave_graph
from tilefold.kernel_matrix import Kernel
from tilefold.pair_term import PairTerm
from tilefold.roles import Role, bare
from tilefold.solve import LogdetInfo, SolveInfo
from tilefold.torch.evaluate import as_tensors, is_traced
from tilefold.torch.operator import record_of
from tilefold.torch.records import Record, spec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["GraphKernel", "kernel"]


def kernel(
    formula: Any, arguments: Mapping[str, Any], options: Any, ranges: Any
) -> Any:
    """What `tilefold.kernel` gives where Dynamo reads the call."""
    roles = tuple(
        value.axes if isinstance(value, Role) else None
        for value in arguments.values()
    )
    values = as_tensors([bare(arguments[name]) for name in arguments])
    spec = spec_of(formula, tuple(arguments), roles, options, ranges=ranges)
    kernel = GraphKernel(spec, values)
    # Refuses what is no kernel here, and not where it is multiplied.
    return _asked("_kernel_itself", _written(kernel), (), _NOTHING)


class GraphKernel(Kernel):
    """A kernel of which Dynamo knows tensors and text.

    Parameters
    ----------
    spec : str
        What `spec_of` says of the pair term.
    values : sequence of tensor
        Its arguments.
    """

    def __init__(self, spec: str, values: Sequence[Any]) -> None:
        self.spec = spec
        self.values = list(values)

    @classmethod
    def apply(
        cls, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """What a function of NumPy's or an operator gives."""
        return _applied(name, tuple(map(_written, args)), _written(kwargs))

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """What PyTorch's functions, and operators beside tensors, ask for."""
        name = f"{_name_of(function)}"  # as a text that nothing need guard
        written = tuple(map(_written, args)), _written(kwargs or {})
        return _of_torch(name, *written)

    def _binary(self, name: str, a: Any, b: Any) -> Any:
        return self.apply(name, (a, b), {})

    @property
    def dtype(self) -> Any:
        """Of the values: PyTorch's dtype."""
        return _sample(_written(self)).dtype

    @property
    def device(self) -> Any:
        """Where the tensors are."""
        return _sample(_written(self)).device

    def solve(self, *args: Any, info: bool = False, **kwargs: Any) -> Any:
        """What `Kernel.solve` gives."""
        found = _method("solve")(self, *args, **kwargs, info=info)
        return (found[0], SolveInfo(*found[1])) if info else found

    def logdet(self, *args: Any, info: bool = False, **kwargs: Any) -> Any:
        """What `Kernel.logdet` gives."""
        found = _method("logdet")(self, *args, **kwargs, info=info)
        return (found[0], LogdetInfo(*found[1])) if info else found

    def inv_quad_logdet(
        self, *args: Any, info: bool = False, **kwargs: Any
    ) -> Any:
        """What `Kernel.inv_quad_logdet` gives."""
        found = _method("inv_quad_logdet")(self, *args, **kwargs, info=info)
        return (*found[:2], LogdetInfo(*found[2])) if info else found

    def __reduce__(self) -> Any:
        return GraphKernel, (self.spec, self.values)

    @property
    def _pair(self) -> PairTerm:  # type: ignore[override]
        record = record_of(self.spec)
        settings = {"options": None, **record.settings}
        arguments = record.arguments(self.values)
        return PairTerm.sized(record.formula, arguments, settings)

    @property
    def _transposed(self) -> bool:  # type: ignore[override]
        return bool(record_of(self.spec).parts)


# ---- what a graph may hold ---------------------------------------------------


def _written(value: Any) -> Any:
    """A value as a tree of tensors, kernels, numbers and text.

    Dynamo asks for the value of a symbol, or of one in a slice, before it
    compares it with None: only what can be None is compared.
    """
    if isinstance(value, (torch.Tensor, int, float)):
        return ("value", value)
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return ("slice", *[_written(bound) for bound in bounds])
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return (kind, *[_written(one) for one in value])
    if isinstance(value, dict):
        return ("dict", {name: _written(value[name]) for name in value})
    if isinstance(value, GraphKernel):
        return ("kernel", {value.spec: value.values})  # text is a key, no leaf
    if isinstance(value, np.ndarray):
        return ("value", torch.as_tensor(value, device="cpu"))
    if value is None:
        return ("none",)
    if value is Ellipsis:
        return ("dots",)
    return ("value", value)


_NOTHING: Any = ("dict", {})  # keywords


def _read(tree: Any) -> Any:
    """What `_written` was given."""
    kind, *parts = tree
    if kind == "none":
        return None
    if kind == "dots":
        return Ellipsis
    if kind == "dict":
        return {name: _read(part) for name, part in parts[0].items()}
    if kind == "value":
        return _plain(parts[0])
    if kind == "slice":  # of symbols, which views of tensors take as they are
        return slice(
            *[None if bound[0] == "none" else bound[1] for bound in parts]
        )
    if kind == "kernel":
        kernel = GraphKernel(*next(iter(parts[0].items())))
        return Kernel(kernel._pair, kernel._transposed)
    read = map(_read, parts)
    return list(read) if kind == "list" else tuple(read)


def _plain(value: Any) -> Any:
    """A number as formulas take it, for a symbol."""
    if isinstance(value, torch.SymInt):
        return int(value)
    if isinstance(value, torch.SymFloat):  # a parameter, of any value
        number: Any = value
        return torch.scalar_tensor(number, dtype=torch.float64, device="cpu")
    return value


def _kept(result: Any) -> Any:
    """A result as a graph may hold it: of tensors, tuples, and kernels."""
    if isinstance(result, tuple):
        return tuple(map(_kept, result))
    if not isinstance(result, Kernel):
        return result
    pair = result._pair
    record, values = Record.of(pair.formula, pair.arguments, {})
    spec = spec_of(
        pair.formula,
        record.names,
        record.roles or [None] * len(values),
        pair.settings.get("options"),
        parts=["transposed"] * result._transposed,
        ranges=pair.settings.get("ranges"),
    )
    return {spec: as_tensors(values)}


def _found(kept: Any) -> Any:
    """What `_kept` was given, but kernels as Dynamo knows them."""
    if isinstance(kept, tuple):
        return tuple([_found(one) for one in kept])
    if isinstance(kept, dict):
        for spec in kept:
            return GraphKernel(spec, kept[spec])
    return kept


def _refusal(kept: Any) -> str:
    """Why there is no result; "" where there is one."""
    spec: str
    if isinstance(kept, dict):
        for spec in kept:
            if spec.startswith(_REFUSED):
                return spec[len(_REFUSED) :]
    return ""


_REFUSED = "refused: "


def _likeness(given: Any) -> tuple[str, ...]:
    """What a call is given but its tensors."""
    leaves, tree = pytree.tree_flatten(given)
    constants = (leaf for leaf in leaves if not isinstance(leaf, torch.Tensor))
    return (str(tree), *map(repr, constants))


def _in_graph(call: Callable[..., Any]) -> Callable[..., Any]:
    """What is computed, as one call in a graph.

    Of what is refused Dynamo would tell something else; it is told the message.
    """
    refusals: dict[Any, dict[str, list[Any]]] = {}

    def kept(*given: Any) -> Any:
        key = _likeness(given)
        if not is_traced() and key in refusals:
            return refusals[key]  # a graph gives one kind of result
        try:
            found = _kept(call(*given))
        except Exception as error:
            if not is_traced():
                raise
            refusals[key] = {f"{_REFUSED}{error}": []}
            return refusals[key]
        refusals.pop(key, None)
        return found

    in_graph = torch._dynamo.nonstrict_trace(kept)
    outside: Any = torch._dynamo.disable(call)  # type: ignore[no-untyped-call]

    def found(*given: Any) -> Any:
        kept = in_graph(*given)
        refusal = _refusal(kept)
        if refusal:
            leave_graph(refusal, "")
            return outside(*given)
        return _found(kept)

    return found


def _name_of(function: Any) -> str:
    name: str = function.__name__
    return name


_name_of._dynamo_marked_constant = True  # type: ignore[attr-defined]


@_in_graph
def _of_torch(name: str, args: Any, kwargs: Any) -> Any:
    """A function of PyTorch, or an operator beside a tensor."""
    given, named = list(map(_read, args)), _read(kwargs)
    if name.startswith("__r") and len(given) == 2:
        # An operator whose operands Dynamo has exchanged: __rsub__ of K - b.
        function = getattr(operator, _OPERATORS.get(name, name[3:-2]))
        found = function(*reversed(given))
    else:
        name = name.strip("_")
        found = Kernel._of_torch(name, given, named)
    return found


_OPERATORS = {"__rdiv__": "truediv", "__rand__": "and_", "__ror__": "or_"}


def _mend_operators() -> None:
    """Lets K @ b be the product: Dynamo has no reverse function of matmul.

    For an operator whose left operand is no tensor it calls the reverse one
    of the operands exchanged, and without one the operator itself.
    """
    builtin.populate_builtin_to_tensor_fn_map()
    reverse = builtin.BUILTIN_TO_TENSOR_RFN_MAP
    reverse.setdefault(operator.matmul, torch.Tensor.__rmatmul__)


_mend_operators()


@_in_graph
def _applied(name: str, args: Any, kwargs: Any) -> Any:
    """A function of kernels, or an operator."""
    found = Kernel.apply(name, list(map(_read, args)), _read(kwargs))
    return found


@_in_graph
def _asked(name: str, kernel: Any, args: Any, kwargs: Any) -> Any:
    """A method or an attribute of a kernel."""
    found = getattr(_read(kernel), name)
    if callable(found):
        found = found(*map(_read, args), **_read(kwargs))
    return found


@_in_graph
def _sample(kernel: Any) -> Any:
    """A tensor of the type of the values, where they are."""
    known = _read(kernel)
    return torch.empty((), dtype=known.dtype, device=known.device)


# ---- methods -----------------------------------------------------------------


def _method(name: str) -> Any:
    def method(self: GraphKernel, *args: Any, **kwargs: Any) -> Any:
        written = tuple(map(_written, args)), _written(kwargs)
        return _asked(name, _written(self), *written)

    method.__name__ = name
    method.__doc__ = getattr(Kernel, name).__doc__
    return method


def _attribute(name: str) -> Any:
    def attribute(self: GraphKernel) -> Any:
        return _asked(name, _written(self), (), _NOTHING)

    return property(attribute, doc=getattr(Kernel, name).__doc__)


def _show() -> None:
    """Puts the methods and attributes of kernels into the class."""
    special = ("__matmul__", "__rmatmul__", "__getitem__", "__len__")
    for name in set(dir(Kernel)) - set(vars(GraphKernel)):
        member = inspect.getattr_static(Kernel, name)
        if isinstance(member, property) and not name.startswith("_"):
            setattr(GraphKernel, name, _attribute(name))
        elif name in special or (
            inspect.isfunction(member) and not name.startswith("_")
        ):
            setattr(GraphKernel, name, _method(name))


_show()
