# python_bindings/tilefold/frameworks.py - libraries that record what is
# computed, for gradients.
"""The libraries whose tensors may require gradients, and what they are asked.

A framework is a module of this package with the functions of `Framework`, and
a row of `_MODULES`. It is imported when its library is there already, so that
nobody waits for a library that is not used.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from tilefold import _core
from tilefold.roles import bare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Protocol
else:
    Protocol = object  # typing's takes a tenth of the time of an import

__all__ = [
    "CALL_SETTINGS",
    "Framework",
    "call",
    "computes_calls",
    "concrete",
    "described",
    "holding",
    "is_exported",
    "is_read_by_dynamo",
    "kernel_in_graph",
    "leave_graph",
    "makes_kernels_in_graphs",
    "read",
    "recording",
    "requires_grad",
    "unrecorded",
    "with_few_points",
]

# A library, and the module that knows it.
_MODULES = {
    "torch": "tilefold.torch",
    "jax": "tilefold.jax.framework",
    "dask.array": "tilefold.dask_framework",
}

# Keywords of a call that are no arrays; a mapping has only arrays.
CALL_SETTINGS = frozenset(
    (
        *("out", "accumulate", "session", "options"),
        *("ranges", "sum_batch", "batch_rank"),
    )
)

# Classes whose values no call of C++ reads: the framework computes it.
_COMPUTED = {("jaxlib", "ArrayImpl"), ("jax", "Tracer"), ("dask", "Array")}


class Framework(Protocol):
    """The functions of the module of a framework."""

    def holds(self, values: Iterable[Any]) -> bool:
        """Whether some of the values are its tensors."""

    def records(self, values: Iterable[Any]) -> bool:
        """Whether it records what is computed of the values."""

    def unrecorded(self) -> AbstractContextManager[Any]:
        """Where it records nothing."""

    def described(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments, arrays of the same shapes where memory is missing."""

    def concrete(self, numbers: Any) -> Any:
        """Whole numbers, without what transforms wrap them in."""

    def dtype(self, name: str) -> Any:
        """Its element type of a name, such as "float32"."""

    def real_numbers(self, values: Any, dtype: Any) -> Any:
        """A tensor of numbers: of float32 where `dtype` is, else of float64."""

    def call(
        self, formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
    ) -> Any:
        """`formula(arguments, **settings)`, recorded."""

    def elements(self, pair: Any, query: str, i: Any, j: Any) -> Any:
        """What `PairTerm.evaluate` gives, recorded."""

    def solve(
        self, kernel: Any, side: Any, ridge: Any, options: dict[str, Any]
    ) -> tuple[Any, Any, str]:
        """What `tilefold.solve.solve` gives, recorded."""

    def inv_quad_logdet(
        self,
        kernel: Any,
        side: Any,
        ridge: Any,
        solving: dict[str, Any],
        options: dict[str, Any] | None,
    ) -> tuple[Any, Any, Any, str]:
        """What `tilefold.solve.inv_quad_logdet` gives, recorded."""


def requires_grad(value: Any) -> bool:
    """Whether an argument says that it requires a gradient."""
    return bool(getattr(bare(value), "requires_grad", False))


_FOUND: dict[str, Framework | None] = {}


def _loaded() -> Iterator[Framework]:
    """Those whose library is there already, and new enough."""
    for library in _MODULES:
        if library not in _FOUND:
            if sys.modules.get(library) is None:
                continue
            try:
                _FOUND[library] = _imported(library)
            except ImportError:
                _FOUND[library] = None  # who needs it meets the message
        found = _FOUND[library]
        if found is not None:
            yield found


def _imported(library: str) -> Framework:
    return cast("Framework", importlib.import_module(_MODULES[library]))


def computes_calls(kind: type) -> bool:
    """Whether a call with a value of a type is its library's to compute."""
    return any(
        (base.__module__.partition(".")[0], base.__name__) in _COMPUTED
        for base in kind.__mro__
    )


def holding(values: Iterable[Any]) -> Framework | None:
    """The framework that some of the values are tensors of, if there is one."""
    given = list(values)
    return next((found for found in _loaded() if found.holds(given)), None)


def recording(values: Iterable[Any]) -> Framework | None:
    """The framework that records what is computed of the values, if any."""
    given = list(values)
    return next((found for found in _loaded() if found.records(given)), None)


def call(formula: Any, /, *positional: Any, **keywords: Any) -> Any:
    """`formula(*positional, **keywords)`, recorded.

    A formula calls it where an argument requires a gradient, or is one whose
    library transforms, traces or computes the call.
    """
    settings: dict[str, Any] = {}
    if not CALL_SETTINGS.isdisjoint(keywords):
        settings = {
            name: keywords.pop(name) for name in CALL_SETTINGS & keywords.keys()
        }
        settings.pop("out", None)  # what is recorded has none
        if settings.pop("accumulate", False):
            _core.fail("AccumulateNeedsOut")
    arguments = _core.arguments(positional[0] if positional else None, keywords)
    framework = _one_holding(arguments)
    if framework is None:
        for library, found in _FOUND.items():
            if found is None:
                _imported(library)
        names = (name for name in arguments if requires_grad(arguments[name]))
        _core.fail("RequiresGrad", next(names, ""))
    return framework.call(formula, arguments, settings)


# The frameworks of a type's values, of types that will have no others: an
# unknown library's may, once it is loaded.
_OF_TYPE: dict[type, tuple[Framework, ...]] = {}


def _frameworks_of(value: Any) -> tuple[Framework, ...]:
    """Those that hold the value."""
    kind = type(bare(value))
    found = _OF_TYPE.get(kind)
    if found is None:
        found = tuple(each for each in _loaded() if each.holds([value]))
        if found or kind.__module__ in {"builtins", "numpy"}:
            _OF_TYPE[kind] = found
    return found


def _one_holding(arguments: dict[str, Any]) -> Framework | None:
    """The framework of all tensors among the arguments."""
    one = None
    for value in arguments.values():
        for found in _frameworks_of(value):
            if one is not None and found is not one:
                _refuse_two(arguments, [one, found])
            one = found
    return one


def _refuse_two(arguments: dict[str, Any], found: list[Framework]) -> None:
    """Of tensors of several frameworks, by the first of another one."""
    libraries = [
        (name, library)
        for name, value in arguments.items()
        for library, framework in _FOUND.items()
        if framework in found and framework.holds([value])
    ]
    first = libraries[0][1]
    name, other = next(each for each in libraries if each[1] != first)
    _core.fail("TwoLibraries", name, other, first)


def described(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, of which types and shapes can be read in any case."""
    framework = holding(arguments.values())
    return framework.described(arguments) if framework else arguments


def with_few_points(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> tuple[dict[str, Any], Any]:
    """As `described`; few points, and how many there are, of symbolic sizes."""
    framework = holding(arguments.values())
    if framework is None:
        return arguments, None
    few = getattr(framework, "with_few_points", None)
    found = few and few(formula, arguments, settings)
    return found or (framework.described(arguments), None)


def concrete(numbers: Any) -> Any:
    """Whole numbers, without what a framework's transforms wrap them in."""
    framework = holding([numbers])
    return framework.concrete(numbers) if framework else numbers


def read(with_outer: Any, values: Any, refused: Exception) -> Any:
    """What a Python function gives, as a library's own tracer reads it.

    Asked where the function refused traced values. `with_outer` gives it with
    its outer values replaced; None where no library reads functions.
    """
    for found in _loaded():
        reads = getattr(found, "read", None)
        if reads is not None:
            return reads(with_outer, values, refused)
    return None


def unrecorded() -> AbstractContextManager[Any]:
    """Where tensors that require grad are only looked at."""
    contexts = [framework.unrecorded() for framework in _loaded()]
    if not contexts:
        return nullcontext()
    return contexts[0] if len(contexts) == 1 else _all_of(contexts)


@contextmanager
def _all_of(contexts: Iterable[AbstractContextManager[Any]]) -> Iterator[None]:
    """All of them, entered in turn."""
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield


# ---- torch.compile -----------------------------------------------------------


_make_kernel: Any = None


def makes_kernels_in_graphs(make: Callable[..., Any]) -> Callable[..., Any]:
    """Says what makes kernels where torch.compile reads: of a layer above."""
    global _make_kernel
    _make_kernel = make
    return make


def kernel_in_graph(*given: Any) -> Any:
    """A kernel, made where torch.compile reads."""
    return _make_kernel(*given)


def is_read_by_dynamo() -> bool:
    """Whether it is `torch.compile` that looks into the caller."""
    if sys.modules.get("torch") is None:
        return False
    import torch

    return torch.compiler.is_compiling()


def is_exported() -> bool:
    """Whether it is `torch.export` that looks into the caller."""
    import torch

    return torch.compiler.is_exporting()


def leave_graph(found: str, cure: str) -> None:
    """Has what Dynamo reads computed outside of its graph, or tells why.

    With fullgraph=True it is an error of PyTorch's, with this message.
    """
    import torch._dynamo

    torch._dynamo.graph_break(msg=f"tilefold: {found}\n{cure}".strip())
