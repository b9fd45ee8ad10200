# python_bindings/tilefold/torch/calls.py - which way a call of tensors goes.
"""A call of a formula with a tensor of which PyTorch records something.

Plain tensors never come here: the C call reads their memory. A tensor that
requires grad, or has a tangent, becomes a node of the graph (`Evaluate`);
anything else that PyTorch sees and memory does not tell goes through the
operator.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._functorch.utils import unwrap_dead_wrappers

from tilefold import _core
from tilefold.quantization import Quantized
from tilefold.roles import Role, bare
from tilefold.torch.evaluate import Evaluate
from tilefold.torch.operator import is_watched, refuse_setting, spec_of
from tilefold.torch.records import SETTINGS, Record, recorded


def call(formula: Any, /, *positional: Any, **keywords: Any) -> Any:
    """`formula(*positional, **keywords)`, recorded."""
    settings: dict[str, Any] = {
        name: keywords.pop(name) for name in SETTINGS if name in keywords
    }
    sum_batch = keywords.pop("sum_batch", None)
    arguments = {**(positional[0] if positional else {}), **keywords}
    if any(map(_is_wrapped, arguments.values())):
        # A function that vjp gave is called when its transform is over.
        arguments = dict(
            zip(
                arguments,
                unwrap_dead_wrappers(tuple(arguments.values())),
                strict=True,
            )
        )
    is_traced = is_watched(map(bare, arguments.values()))
    result = (traced if is_traced else evaluate)(formula, arguments, settings)
    if sum_batch is None or sum_batch == ():
        return result
    if not is_traced:
        with torch.no_grad():
            checked = {**settings, "sum_batch": sum_batch}
            formula._check_call(arguments, checked)
    return result.sum(dim=sum_batch)


def _is_wrapped(value: Any) -> bool:
    """Whether it is a tensor of torch.func's transforms."""
    return isinstance(
        value, torch.Tensor
    ) and torch._C._functorch.is_functorch_wrapped_tensor(value)


def evaluate(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    """The results as nodes of PyTorch's graph."""
    record, values = recorded(formula, arguments, settings)
    results = Evaluate.apply(_run, record, *values)
    return results[0] if len(results) == 1 else results


def _run(record: Record, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The call itself: nothing is recorded inside a node's forward."""
    return record.results(values)


def compiled(formula: Any, keywords: dict[str, Any]) -> Any:
    """A call that Dynamo looks into: of arrays and settings by name."""
    settings = {
        name: keywords.pop(name) for name in SETTINGS if name in keywords
    }
    for name in ("out", "accumulate"):
        if keywords.pop(name, None):
            refuse_setting(name, True)
    sum_batch = keywords.pop("sum_batch", None)
    result = traced(formula, keywords, settings)
    if sum_batch is None or sum_batch == ():
        return result
    return result.sum(dim=sum_batch)


def traced(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    """The results by way of the operator. Dynamo looks into this function."""
    for name in ("session", "ranges"):
        if settings.get(name) is not None:
            refuse_setting(name, settings[name])
    roles = tuple(
        value.axes if isinstance(value, Role) else None
        for value in arguments.values()
    )
    values = [_tensor(name, value) for name, value in arguments.items()]
    spec = spec_of(
        formula,
        tuple(arguments),
        roles,
        settings.get("options"),
        settings.get("batch_rank"),
    )
    results = torch.ops.tilefold.call(spec, values)
    return results[0] if len(results) == 1 else tuple(results)


def _tensor(name: str, value: Any) -> Any:
    """An argument as the operator takes it."""
    value = bare(value)
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, Quantized):
        _core.fail(
            "BadOption",
            name,
            "a tilefold.Quantized",
            "pass its dequantize() where PyTorch transforms or compiles",
        )
    if isinstance(value, complex):
        return torch.scalar_tensor(value, dtype=torch.complex128)
    if isinstance(value, (bool, int, float)):
        return torch.scalar_tensor(value, dtype=torch.float64)
    return torch.as_tensor(value)
