# python_bindings/tilefold/torch/calls.py - calls of formulas, recorded.
"""A call of a formula with a tensor of which PyTorch records something.

Plain tensors never come here: the C call reads their memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold import _core
from tilefold.frameworks import CALL_SETTINGS, leave_graph
from tilefold.roles import Role, bare
from tilefold.torch.evaluate import (
    as_tensors,
    evaluate,
    is_watched,
)
from tilefold.torch.records import Record, array_like, spec_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def call(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    """`formula(arguments, **settings)`, recorded."""
    sum_batch = settings.pop("sum_batch", None)
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
    settings = {k: keywords[k] for k in keywords if k in CALL_SETTINGS}
    given = list(mapping[0].items()) if mapping else []
    given += [(k, keywords[k]) for k in keywords if k not in CALL_SETTINGS]
    for name in ("session", "out", "accumulate"):
        if settings.get(name) is not None and settings[name] is not False:
            leave_graph(
                f"{name}= is in a call that torch.compile reads",
                "leave it out, or call it outside of the function",
            )
            return _outside(formula, mapping, keywords)
    roles = tuple(
        [value.axes if isinstance(value, Role) else None for _, value in given]
    )
    values = as_tensors([bare(value) for _, value in given])
    sum_batch = settings.get("sum_batch")
    batch_rank = settings.get("batch_rank")
    if not _are_batches(sum_batch, values, batch_rank):
        leave_graph(
            f"sum_batch names {sum_batch}, which is no batch dimension",
            "batch dimensions are the leading ones, counted from 0",
        )
        return _outside(formula, mapping, keywords)
    spec = spec_of(
        formula,
        tuple([name for name, _ in given]),
        roles,
        settings.get("options"),
        batch_rank,
        ranges=settings.get("ranges"),
    )
    return _given(torch.ops.tilefold.call(spec, values), sum_batch)


def _outside(formula: Any, mapping: Any, keywords: dict[str, Any]) -> Any:
    """The call, of which Dynamo sees nothing."""
    if isinstance(formula, str):
        formula = _core.compile(formula)
    return formula(*mapping, **keywords)


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
