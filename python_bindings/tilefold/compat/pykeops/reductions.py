# python_bindings/tilefold/compat/pykeops/reductions.py - reductions, compiled.
"""`plan`: a node and a reduction of it, as a formula of tilefold's.

A plan is kept by its node. What KeOps gives as a pair, or for each component,
is one formula of several parts: reductions of the same values share their
pass over the pairs.
"""

from __future__ import annotations

import numbers
import re
from typing import TYPE_CHECKING, Any

import tilefold
from tilefold.compat.pykeops.emit import SUFFIX, Emitter, children
from tilefold.compat.pykeops.nodes import I, J, Node
from tilefold.compat.pykeops.operations import fail

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["INDEX", "ONES", "PAIR", "VALUE", "Plan", "plan", "reduction_name"]

VALUE, INDEX, PAIR = "value", "index", "pair"
_VARIABLE = re.compile(r"\b[vz]\d+(?=_|\b)")
ONES = ("onei", "onej")  # an argument of ones on i, and one on j

_NAMES = {
    "Sum": "Sum",
    "LogSumExp": "LogSumExp",
    "LogSumExpWeight": "LogSumExp",
    "SumSoftMaxWeight": "SumSoftMaxWeight",
    "SoftMax": "SumSoftMaxWeight",
    "Min": "Min",
    "Max": "Max",
    "ArgMin": "ArgMin",
    "ArgMax": "ArgMax",
    "Min_ArgMin": "Min_ArgMin",
    "MinArgMin": "Min_ArgMin",
    "Max_ArgMax": "Max_ArgMax",
    "MaxArgMax": "Max_ArgMax",
    "KMin": "KMin",
    "ArgKMin": "ArgKMin",
    "KMin_ArgKMin": "KMin_ArgKMin",
    "KMinArgKMin": "KMin_ArgKMin",
}

SUMS = {"Sum", "LogSumExp", "SumSoftMaxWeight"}


def reduction_name(name: str, is_weighted: bool) -> str:
    """KeOps's name of a reduction; ValueError where there is none."""
    found = _NAMES.get(name)
    if name == "LogSumExpWeight" and not is_weighted:
        fail("LogSumExpWeight needs a second formula, the weights")
    if found is None:
        known = ", ".join(sorted(_NAMES))
        fail(f"unknown reduction {name!r}: it is one of {known}")
    return found


class Plan:
    """A reduction of a node, compiled.

    `formula`: of tilefold's language; `reads`: of each argument its name, the
    number of the variable, and whether it is read as complex numbers;
    `ones`: the axes whose points are only counted; `kind`: values, indices or
    both; `dim`: components of a value; `count`: how many are kept of each
    row, 0 for one; `is_complex`: the result is.
    """

    __slots__ = (
        "axis",
        "count",
        "dim",
        "formula",
        "is_complex",
        "is_plain",
        "kind",
        "names",
        "numbers",
        "ones",
        "reads",
        "reduction",
        "text",
    )

    def __init__(
        self,
        text: str,
        emitter: Emitter,
        ones: list[int],
        kind: str,
        dim: int,
        is_complex: bool,
        key: tuple[str, int, int],
    ) -> None:
        self.text = text
        self.reduction, self.axis, count = key
        self.formula = tilefold.compile(text)
        written = set(_VARIABLE.findall(text))
        self.reads = [
            (name, number, as_complex)
            for (number, as_complex), name in emitter.reads.items()
            if name in written
        ]
        self.names = [name for name, _, _ in self.reads]
        self.numbers = [number for _, number, _ in self.reads]
        self.ones = ones
        self.kind = kind
        self.dim = dim
        self.count = count
        self.is_complex = is_complex
        views = any(as_complex for _, _, as_complex in self.reads)
        self.is_plain = not (
            ones or views or is_complex or emitter.has_trace
        ) and (kind == VALUE and count == 0)

    def parts(self, node: Node) -> list[Plan]:
        """Of a pair of values and indices, each by itself."""
        names = self.reduction.split("_")
        count = self.count or None
        return [plan(node, name, self.axis, count) for name in names]


def plan(node: Node, reduction: str, axis: int, opt_arg: Any = None) -> Plan:
    """The plan of a reduction over i (axis 0) or j (axis 1)."""
    key = (reduction, axis, opt_arg)
    found: Plan | None = node.plans.get(key)
    if found is None:
        try:
            found = _made(node, *key)
        except RecursionError:
            found = None
        if found is None:
            fail(
                "the formula has too many levels: of several hundred terms, "
                "reduce some at a time, and add the results"
            )
        node.plans[key] = found
    return found


def _made(node: Node, reduction: str, axis: int, opt_arg: Any) -> Plan:
    emitter = Emitter(node)
    numbers = tuple(range(len(node.leaves)))
    parts = [(node, numbers)]
    if node.operation == "Weighted":
        parts = children(node, numbers)
    complex_result = parts[-1][0].is_complex
    if complex_result and reduction != "Sum":
        fail(f"{reduction} of complex numbers: they have no order")
    texts = [
        emitter.complex(*one) if one[0].is_complex else emitter.real(*one)
        for one in parts
    ]
    ones = [one for one in (I, J) if one not in emitter.axes]
    for one in ones:
        texts[0] = f"({texts[0]}*{ONES[one]}{SUFFIX[one]}[0])"
    dims = [one.dim for one, _ in parts]
    if reduction in _WEIGHTED and len(parts) == 1:
        fail(f"{reduction} needs a second formula, the weights")
    if reduction not in {*_WEIGHTED, "LogSumExp"} and len(parts) > 1:
        fail(f"{reduction} takes no second formula: it has no weights")
    count = _kept_count(reduction, opt_arg)
    text, kind = _BUILD[reduction](texts, dims, SUFFIX[axis], count)
    if dims[-1] == 1 and kind == VALUE and not (count or complex_result):
        text = f"[{text}]"  # (M, 1) at once, as KeOps shapes it
    text += emitter.ending
    done = (reduction, axis, count)
    return Plan(text, emitter, ones, kind, dims[-1], complex_result, done)


def _kept_count(reduction: str, opt_arg: Any) -> int:
    """How many are kept of each row, 0 for one; ValueError."""
    if "KMin" not in reduction:
        if opt_arg:
            fail(f"{reduction} takes no opt_arg, and is given {opt_arg!r}")
        return 0
    if opt_arg is None:
        fail(f"{reduction} needs opt_arg, how many are kept of each row")
    is_whole = isinstance(opt_arg, numbers.Real) and opt_arg % 1 == 0
    if not is_whole or opt_arg < 1:
        fail(f"{reduction} keeps {opt_arg!r} of each row: expected 1 or more")
    return int(opt_arg)


_WEIGHTED = {"SumSoftMaxWeight"}

Built = tuple[str, str]


def _simple(stem: str, kind: str = VALUE) -> Callable[..., Built]:
    def build(
        texts: list[str], _dims: list[int], axis: str, _count: int
    ) -> Built:
        return f"{stem}{axis}({texts[0]})", kind

    return build


def _log_sum_exp(
    texts: list[str], dims: list[int], axis: str, _count: int
) -> Built:
    if dims[0] != 1:
        fail(f"LogSumExp of a formula of dimension {dims[0]}: it has to be 1")
    given = ", ".join(texts)
    if dims[-1] == 1:
        return f"logsumexp{axis}({given})", VALUE
    weighted = f"softmax{axis}({given})"
    return f"logsumexp{axis}({texts[0]}) + log({weighted})", VALUE


def _soft_max(
    texts: list[str], dims: list[int], axis: str, _count: int
) -> Built:
    if dims[0] != 1:
        fail(f"SoftMax of a formula of dimension {dims[0]}: it has to be 1")
    return f"softmax{axis}({', '.join(texts)})", VALUE


def _with_index(stem: str) -> Callable[..., Built]:
    def build(
        texts: list[str], _dims: list[int], axis: str, _count: int
    ) -> Built:
        part = f"{axis}({texts[0]})"
        return f"[{stem}{part}, arg{stem}{part}]", PAIR

    return build


def _kept(stems: tuple[str, ...], kind: str) -> Callable[..., Built]:
    def build(
        texts: list[str], dims: list[int], axis: str, count: int
    ) -> Built:
        term, dim = texts[0], dims[0]
        values = [term] if dim == 1 else [f"({term})[{k}]" for k in range(dim)]
        parts = [
            f"{stem}{axis}({value}, {count})"
            for stem in stems
            for value in values
        ]
        if len(parts) == 1:
            return parts[0], kind
        return f"[{', '.join(parts)}]", kind

    return build


_BUILD: dict[str, Callable[..., Built]] = {
    "Sum": _simple("sum"),
    "Min": _simple("min"),
    "Max": _simple("max"),
    "ArgMin": _simple("argmin", INDEX),
    "ArgMax": _simple("argmax", INDEX),
    "LogSumExp": _log_sum_exp,
    "SumSoftMaxWeight": _soft_max,
    "Min_ArgMin": _with_index("min"),
    "Max_ArgMax": _with_index("max"),
    "KMin": _kept(("kmin",), VALUE),
    "ArgKMin": _kept(("argkmin",), INDEX),
    "KMin_ArgKMin": _kept(("kmin", "argkmin"), PAIR),
}
