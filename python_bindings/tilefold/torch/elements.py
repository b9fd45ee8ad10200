# python_bindings/tilefold/torch/elements.py - values of pair terms, recorded.
"""All values of a pair term k(x_i, y_j), and their derivatives of any order.

Of the values K, with the cotangents G, the gradients are those of
Σ_ij k(x_i, y_j)·G[i, j], a formula with G as a table. Where these gradients
have the cotangents h, the derivative of Σ⟨h, gradient⟩ by G is the matrix of
k's derivative along h, and by the arguments the gradient of Σ_ij of that times
G: two nodes, each of which the other's derivative is made of.
"""

from __future__ import annotations

from typing import Any

import torch

from tilefold.pair_term import PairTerm
from tilefold.roles import Role, bare
from tilefold.torch.records import (
    Record,
    by_name,
    gradients,
    needed,
    plain,
    recorded,
    save,
    saved,
)


def elements(pair: PairTerm, query: str, i: Any, j: Any) -> Any:
    """What `PairTerm.evaluate` gives, recorded."""
    if pair.is_complex:
        real, imaginary = (elements(part, query, i, j) for part in pair.parts())
        return torch.complex(real, imaginary)
    chosen = pair.selected(1, i).selected(2, j)
    if query == "pairs":
        return chosen.diagonal()
    return _dense(chosen.formula, chosen.arguments, chosen.settings)


def _dense(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    record, values = recorded(formula, arguments, settings)
    return _Dense.apply(record, *values)  # type: ignore[no-untyped-call]


class _Dense(torch.autograd.Function):
    """All values of a pair term as a node of PyTorch's graph."""

    @staticmethod
    def forward(ctx: Any, record: Record, *values: Any) -> Any:
        """The values, of shape (…, N, M) or (…, N, M, E)."""
        ctx.record = record
        save(ctx, values)
        result = record.formula._evaluate(
            record.arguments(values), "dense", None, None, record.settings
        )
        if not result.is_floating_point():
            ctx.mark_non_differentiable(result)
        return result

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        values = saved(ctx)
        names = needed(record.names, ctx.needs_input_grad[1:])
        found = by_name(
            names,
            _DenseGradient.apply(record, names, cotangent, *values),  # type: ignore[no-untyped-call]
        )
        return None, *gradients(record.names, found, values)


class _DenseGradient(torch.autograd.Function):
    """The gradients of Σ_ij k(x_i, y_j)·G[i, j] by arguments of k."""

    @staticmethod
    def forward(
        ctx: Any, record: Record, names: list[str], weights: Any, *values: Any
    ) -> Any:
        """One for each of `names`; `weights` is G."""
        ctx.record, ctx.names = record, names
        save(ctx, [weights, *values])
        pair = PairTerm(
            record.formula, record.arguments(values), record.settings
        )
        found = of_values(pair, names, weights)
        all_found = tuple(found[name] for name in names)
        return all_found[0] if len(names) == 1 else all_found

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """By G the derivative of k along the cotangents, as a matrix."""
        record = ctx.record
        weights, *values = saved(ctx)
        along = dict(zip(ctx.names, cotangents, strict=True))
        pair = PairTerm(
            record.formula, record.arguments(values), record.settings
        )
        moved = _moved(pair, along)
        by_weights = None
        if ctx.needs_input_grad[2]:
            matrix = _dense(moved.formula, moved.arguments, moved.settings)
            by_weights = matrix.to(weights.dtype)
        names = needed(record.names, ctx.needs_input_grad[3:])
        found: dict[str, Any] = {}
        if names:
            more, of_moved = recorded(
                moved.formula, moved.arguments, moved.settings
            )
            found = by_name(
                names,
                _DenseGradient.apply(more, names, weights, *of_moved),  # type: ignore[no-untyped-call]
            )
        return None, None, by_weights, *gradients(record.names, found, values)


_SUFFIXES = {0: ("",), 1: ("_i",), 2: ("_j",), 3: ("_i", "_j")}


def _moved(pair: PairTerm, along: dict[str, Any]) -> PairTerm:
    """The derivative of a pair term where arguments move, a pair term too."""
    axes = dict(pair.formula.names)
    arguments, terms = dict(pair.arguments), []
    for name, tangent in along.items():
        spelled = pair.formula._unused_name(f"tangent_{name}")
        given = pair.arguments[name]
        arguments[spelled] = (
            Role(plain(tangent), given.axes)
            if isinstance(given, Role)
            else plain(tangent)
        )
        terms += [
            f"jvp(operand, {name}{on}, {spelled}{on})"
            for on in _SUFFIXES[axes[name]]
        ]
    return PairTerm(pair.inside(" + ".join(terms)), arguments, pair.settings)


def of_values(pair: PairTerm, names: list[str], weights: Any) -> dict[str, Any]:
    """The gradients of Σ_ij k(x_i, y_j)·weights[…, i, j] by arguments."""
    if weights.numel() == 0:
        return {
            name: torch.zeros_like(bare(pair.arguments[name])) for name in names
        }
    form, tables = _weighted(pair, plain(weights))
    seed = Record(pair.formula, [], [], {}).seed("grad")
    formula = pair.inside(f"sum_ij({form})").grad(names, cotangent=seed)
    arguments = {**pair.arguments, **tables, seed: 1.0}
    return by_name(names, formula(arguments, **pair.settings))


def _weighted(pair: PairTerm, weights: Any) -> tuple[str, dict[str, Any]]:
    """The pair term times weights[…, i, j], and the arguments that takes."""
    free = pair.formula._unused_name
    table, width = free("G"), free("w")
    rows, columns = pair.points
    arguments = {table: weights}
    if pair.components is None:
        # A table of one row is read as a vector, one of one element as such.
        place = f"{table}[j]" if columns > 1 else table
        place = f"{table}[i, j]" if rows > 1 else place
        return f"operand*{place}", arguments
    arguments[table] = weights.flatten(-3, -2)
    if rows * columns == 1:
        return f"operand·{table}", arguments
    arguments[width] = columns
    return f"operand·{table}[i*{width} + j]", arguments
