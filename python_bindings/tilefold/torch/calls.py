# python_bindings/tilefold/torch/calls.py - calls of formulas, recorded.
"""A call of a formula with a tensor of which PyTorch records something.

Plain tensors never come here: the C call reads their memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold import _core
from tilefold.frameworks import leave_graph
from tilefold.roles import Role, bare
from tilefold.torch.evaluate import (
    as_tensors,
    evaluate,
    is_watched,
)
from tilefold.torch.records import SETTINGS, Record, array_like, spec_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def call(formula: Any, /, **arguments: Any) -> Any:
    """`formula(**arguments)`, recorded."""
    settings: dict[str, Any] = {}
    sum_batch = None
    if not _NO_ARRAYS.isdisjoint(arguments):
        sum_batch = arguments.pop("sum_batch", None)
        settings = {
            name: arguments.pop(name) for name in SETTINGS if name in arguments
        }
    record, values = Record.of(formula, arguments, settings)
    if sum_batch is not None:
        checked = {**settings, "sum_batch": sum_batch}
        seen = values
        if is_watched(values):
            tensors = as_tensors(values)
            seen = [array_like(one.dtype, one.shape) for one in tensors]
        with torch.no_grad():
            formula._check_call(record.arguments(seen), checked)
    return _given(evaluate(record, values), sum_batch)


_NO_ARRAYS = frozenset((*SETTINGS, "sum_batch"))


def _given(results: Sequence[Any], sum_batch: Any) -> Any:
    """The one result, summed over batches, or several."""
    is_summed = sum_batch is not None and sum_batch != ()
    if len(results) == 1:
        return results[0].sum(dim=sum_batch) if is_summed else results[0]
    if is_summed:
        _core.fail("SumBatchOf", "a derivative", "sum each of them yourself")
    return tuple(results)


def compiled(formula: Any, /, *mapping: Any, **keywords: Any) -> Any:
    """A call under `torch.compile`: Dynamo looks into this function."""
    if mapping:
        keywords = {**mapping[0], **keywords}
    sum_batch = keywords.get("sum_batch")
    for name in ("session", "out", "accumulate"):
        if keywords.get(name) is not None and keywords[name] is not False:
            leave_graph(
                f"{name}= is in a call that torch.compile reads",
                "leave it out, or call it outside of the function",
            )
            return _outside(formula, keywords)
    names = [name for name in keywords if name not in _NO_VALUES]
    roles = tuple(
        [
            keywords[name].axes if isinstance(keywords[name], Role) else None
            for name in names
        ]
    )
    values = as_tensors([bare(keywords[name]) for name in names])
    batch_rank = keywords.get("batch_rank")
    if not _are_batches(sum_batch, values, batch_rank):
        leave_graph(
            f"sum_batch names {sum_batch}, which is no batch dimension",
            "batch dimensions are the leading ones, counted from 0",
        )
        return _outside(formula, keywords)
    spec = spec_of(
        formula,
        tuple(names),
        roles,
        keywords.get("options"),
        batch_rank,
        ranges=keywords.get("ranges"),
    )
    return _given(torch.ops.tilefold.call(spec, values), sum_batch)


_NO_VALUES = (*SETTINGS, "sum_batch", "out", "accumulate")


def _outside(formula: Any, keywords: dict[str, Any]) -> Any:
    """The call, of which Dynamo sees nothing."""
    if isinstance(formula, str):
        formula = _core.compile(formula)
    return formula(keywords)


# What torch._dynamo.disable sets, which is slow to import.
_outside._torchdynamo_disable = True  # type: ignore[attr-defined]


def _are_batches(
    dimensions: Any, values: Sequence[Any], batch_rank: int | None
) -> bool:
    """Whether there are such batch dimensions, by the ranks of tensors."""
    if dimensions is None:
        return True
    if batch_rank is None:
        batch_rank = max([max(value.dim() - 2, 0) for value in values])
    if isinstance(dimensions, int):
        dimensions = (dimensions,)
    return all(0 <= dimension < batch_rank for dimension in dimensions)
