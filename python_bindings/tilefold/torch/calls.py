# python_bindings/tilefold/torch/calls.py - calls of formulas, recorded.
"""A call of a formula with a tensor of which PyTorch records something.

Plain tensors never come here: the C call reads their memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold import _core
from tilefold.roles import Role, bare
from tilefold.torch.evaluate import as_tensor, evaluate, is_watched
from tilefold.torch.records import (
    SETTINGS,
    Record,
    refuse_setting,
    refuse_unwritten,
    spec_of,
)

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
    if sum_batch is not None and not is_watched(values):
        with torch.no_grad():
            checked = {**settings, "sum_batch": sum_batch}
            formula._check_call(record.arguments(values), checked)
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
    settings = {
        name: keywords.pop(name) for name in SETTINGS if name in keywords
    }
    refuse_unwritten(settings)
    for name in ("out", "accumulate"):
        if keywords.pop(name, None):
            refuse_setting(name, True)
    sum_batch = keywords.pop("sum_batch", None)
    roles = tuple(
        value.axes if isinstance(value, Role) else None
        for value in keywords.values()
    )
    values = [as_tensor(name, bare(keywords[name])) for name in keywords]
    spec = spec_of(
        formula,
        tuple(keywords),
        roles,
        settings.get("options"),
        settings.get("batch_rank"),
    )
    return _given(torch.ops.tilefold.call(spec, values), sum_batch)
