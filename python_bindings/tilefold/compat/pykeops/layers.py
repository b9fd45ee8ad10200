# python_bindings/tilefold/compat/pykeops/layers.py - pairs listed repeatedly.
"""`run_over`: a reduction over the pairs that `ranges` list.

Pairs that are listed several times count as often. They come in layers, each
a set of pairs, of which the first has all of them; the results of the layers
are combined here.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold.compat.pykeops.calls import reference, run
from tilefold.compat.pykeops.emit import children
from tilefold.compat.pykeops.ranges import as_ranges
from tilefold.compat.pykeops.reductions import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilefold.compat.pykeops.nodes import Node

__all__ = ["run_over"]

_EXTREMA = {"Min", "Max", "ArgMin", "ArgMax", "Min_ArgMin", "Max_ArgMax"}


def run_over(
    ranges: Any,
    made: Plan,
    node: Node,
    values: Sequence[Any],
    arrays: Any,
    *,
    lengths: tuple[int, int],
    rank: int,
    like: Any = None,
) -> Any:
    """As `calls.run`; `ranges` are KeOps's six lists, or None."""
    settings: dict[str, Any] = {"lengths": lengths, "rank": rank, "like": like}
    if ranges is None:
        return run(made, node, values, arrays, **settings)
    layers = as_ranges(ranges, made.axis, lengths)
    if len(layers) == 1 or made.reduction in _EXTREMA:
        return run(made, node, values, arrays, ranges=layers[0], **settings)
    settings["like"] = reference(values, arrays, like)

    def each(made: Plan, node: Node, values: Sequence[Any]) -> list[Any]:
        return [
            run(made, node, values, arrays, ranges=layer, **settings)
            for layer in layers
        ]

    if made.reduction == "Sum":
        return reduce(operator.add, each(made, node, values))
    if made.count:
        pair = plan(node, "KMin_ArgKMin", made.axis, made.count)
        return _smallest(made, each(pair, node, values), arrays)
    scores = each(*_scores(made, node, values))
    means = None
    if node.operation == "Weighted":
        soft = plan(node, "SumSoftMaxWeight", made.axis)
        means = each(soft, node, values)
    # Rows without any pair are -inf, and computed of zeros instead, so that
    # their gradients are not NaN.
    with np.errstate(divide="ignore", invalid="ignore"):
        return _exponentials(made, scores, means, arrays.module)


def _smallest(made: Plan, found: list[Any], arrays: Any) -> Any:
    """The smallest of those of each layer: values, indices or both."""
    values, indices = zip(*found, strict=True)
    axis = -1 if made.dim == 1 else -2
    both = arrays.smallest(values, indices, made.count, axis)
    return {"KMin": both[0], "ArgKMin": both[1]}.get(made.reduction, both)


def _scores(
    made: Plan, node: Node, values: Sequence[Any]
) -> tuple[Plan, Node, list[Any]]:
    """How log Σ exp of the scores is computed, without weights."""
    score, numbers = node, tuple(range(len(values)))
    if node.operation == "Weighted":
        score, numbers = children(node, numbers)[0]
    own = [values[k] for k in numbers[: len(score.leaves)]]
    return plan(score, "LogSumExp", made.axis), score, own


def _exponentials(
    made: Plan, scores: list[Any], means: list[Any] | None, module: Any
) -> Any:
    """The mean Σ exp(s) w / Σ exp(s) of all layers, or log Σ exp(s) w.

    `scores`: log Σ exp(s) of each layer; `means`: its mean, where there are
    weights.
    """
    peak = reduce(module.maximum, scores)
    # It cancels, in derivatives of any order too.
    peak = peak.detach() if hasattr(peak, "detach") else peak
    empty = module.isneginf(peak)
    zero = module.zeros_like(peak)
    peak = module.where(empty, zero, peak)
    shares = [
        module.exp(module.where(empty, zero, score) - peak) for score in scores
    ]
    total = reduce(operator.add, shares)
    result = peak + module.log(total)
    if means is not None:
        mean = reduce(
            operator.add,
            (
                share * module.where(module.isneginf(score), zero, mean)
                for share, score, mean in zip(
                    shares, scores, means, strict=True
                )
            ),
        )
        mean = mean / total
        if made.reduction == "SumSoftMaxWeight":
            return module.where(empty, np.nan, mean)
        result = result + module.log(mean)
    return module.where(empty, -np.inf, result)
