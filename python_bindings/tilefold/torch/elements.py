# python_bindings/tilefold/torch/elements.py - values of pair terms, recorded.
"""All values of a pair term k(x_i, y_j), and their derivatives of any order.

Of the values K, with the cotangents G, the gradients are those of
Σ_ij k(x_i, y_j)·G[i, j], a formula with G as a table. Where these gradients
have the cotangents h, the derivative of Σ⟨h, gradient⟩ by G is the matrix of
k's derivative along h, and by the arguments the gradient of Σ_ij of that times
G: two records, each of which the other's derivative is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold.pair_term import PairTerm
from tilefold.roles import Role, bare
from tilefold.torch.evaluate import evaluate
from tilefold.torch.records import Record, as_tuple, plain

if TYPE_CHECKING:
    from collections.abc import Sequence


def elements(pair: PairTerm, query: str, i: Any, j: Any) -> Any:
    """What `PairTerm.evaluate` gives, recorded."""
    if pair.is_complex:
        real, imaginary = (elements(part, query, i, j) for part in pair.parts())
        return torch.complex(real, imaginary)
    chosen = pair.selected(1, i).selected(2, j)
    if query == "pairs":
        return chosen.diagonal()
    return dense(chosen)


def dense(pair: PairTerm) -> Any:
    """All values, of shape (…, N, M) or (…, N, M, E)."""
    record, values = Dense.of(pair.formula, pair.arguments, pair.settings)
    return evaluate(record, values)[0]


class Dense(Record):
    """All values of a pair term."""

    __slots__ = ()

    query = "dense"

    def _pair(self, values: Sequence[Any]) -> PairTerm:
        return PairTerm(self.formula, self.arguments(values), self.settings)

    def results(self, values: Any) -> tuple[Any, ...]:
        """One matrix."""
        return (
            self.formula._evaluate(
                self.arguments(values), "dense", None, None, self.settings
            ),
        )

    def gradients(
        self, values: Sequence[Any], names: list[str], cotangents: Any
    ) -> dict[str, Any]:
        """Of the matrix, by arguments."""
        return gradients_of(self._pair(values), names, cotangents[0])

    def tangents(
        self, values: Sequence[Any], moving: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The matrix of the derivative."""
        return (dense(moved_along(self._pair(values), moving)),)

    @property
    def likes(self) -> list[str]:
        """The matrix is like no argument."""
        return [""]

    @property
    def seeds(self) -> dict[str, str]:
        """A pair term has none."""
        return {}

    def check(self, stand_ins: Sequence[Any]) -> None:
        """Fails where the shapes are no pair term's."""
        self._pair(stand_ins)

    def types(
        self, stand_ins: Sequence[Any]
    ) -> list[tuple[str, int, str, int]]:
        """That of the matrix, which is on both axes."""
        settings = self.settings_of_few()
        _, _, _, components, dtype = self.formula._value_shape(
            self.arguments(stand_ins), settings
        )
        return [("", 3, dtype, components)]


class DenseGradient(Dense):
    """The gradients of Σ_ij k(x_i, y_j)·G[i, j]; G is the last argument."""

    __slots__ = ()

    query = "dense_gradient"

    def arguments(self, values: Any) -> dict[str, Any]:
        """Those of the pair term."""
        return dict(list(super().arguments(values).items())[:-1])

    def results(self, values: Any) -> tuple[Any, ...]:
        """One gradient for each of the names `parts`."""
        found = _of_values(self._pair(values), self.parts, values[-1])
        return tuple(found[name] for name in self.parts)

    def gradients(
        self, values: Sequence[Any], names: list[str], cotangents: Any
    ) -> dict[str, Any]:
        """By G the derivative of k along the cotangents, as a matrix."""
        along = dict(zip(self.parts, cotangents, strict=True))
        moved = moved_along(self._pair(values), along)
        weights = values[-1]
        found = {}
        if self.names[-1] in names:
            found[self.names[-1]] = dense(moved).to(weights.dtype)
        others = [name for name in names if name != self.names[-1]]
        if others:
            found |= gradients_of(moved, others, weights)
        return found

    def tangents(
        self, values: Sequence[Any], moving: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Σ k·dG + Σ dk·G, each by its arguments."""
        pair, parts = self._pair(values), []
        moving = dict(moving)
        along = moving.pop(self.names[-1], None)
        if along is not None:
            parts.append(gradients_of(pair, self.parts, along))
        if moving:
            moved = moved_along(pair, moving)
            parts.append(gradients_of(moved, self.parts, values[-1]))
        return tuple(sum(part[name] for part in parts) for name in self.parts)

    @property
    def likes(self) -> list[str]:
        """The arguments by which it is."""
        return self.parts

    @property
    def seeds(self) -> dict[str, str]:
        """G has the shape of the matrix."""
        return {self.names[-1]: ""}

    def types(
        self, stand_ins: Sequence[Any]
    ) -> list[tuple[str, int, str, int]]:
        """Of each gradient, that of the formula it is a result of."""
        settings = self.settings_of_few()
        pair = PairTerm(self.formula, self.arguments(stand_ins), settings)
        formula, arguments = _gradient_formula(pair, self.parts, stand_ins[-1])
        return list(formula._result_types(arguments, settings))

    def few(self, k: int, shape: list[Any]) -> list[Any]:
        """G has as many rows and columns as there are few points."""
        if k == len(self.names) - 1:
            return [2, self.few_columns, *shape[2:]]
        return super().few(k, shape)


def gradients_of(
    pair: PairTerm, names: list[str], weights: Any
) -> dict[str, Any]:
    """The gradients of Σ_ij k(x_i, y_j)·weights[…, i, j], by name."""
    if not names:
        return {}
    record, values = Dense.of(pair.formula, pair.arguments, pair.settings)
    gradient = DenseGradient(
        pair.formula,
        [*record.names, pair.formula._unused_name("G")],
        [*(record.roles or [None] * len(values)), None],
        pair.settings,
        names,
    )
    found = evaluate(gradient, [*values, weights])
    return dict(zip(names, found, strict=True))


_SUFFIXES = {0: ("",), 1: ("_i",), 2: ("_j",), 3: ("_i", "_j")}


def moved_along(pair: PairTerm, along: dict[str, Any]) -> PairTerm:
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


def _of_values(
    pair: PairTerm, names: list[str], weights: Any
) -> dict[str, Any]:
    """The same as `gradients_of`, computed."""
    if weights.numel() == 0:
        return {
            name: torch.zeros_like(bare(pair.arguments[name])) for name in names
        }
    formula, arguments = _gradient_formula(pair, names, plain(weights))
    found = as_tuple(formula(arguments, **pair.settings))
    return dict(zip(names, found, strict=True))


def _gradient_formula(
    pair: PairTerm, names: list[str], weights: Any
) -> tuple[Any, dict[str, Any]]:
    """The formula of the gradients, and its arguments."""
    form, tables = _weighted(pair, weights)
    seed = pair.formula._unused_name("grad1")
    formula = pair.inside(f"sum_ij({form})").grad(names, cotangent=seed)
    return formula, {**pair.arguments, **tables, seed: 1.0}


def _weighted(pair: PairTerm, weights: Any) -> tuple[str, dict[str, Any]]:
    """The pair term times weights[…, i, j], and the arguments that takes."""
    free = pair.formula._unused_name
    table, width = free("G"), free("w")
    rows, columns = pair.points
    arguments = {table: weights}
    if pair.components is None:
        return f"operand*{table}[i, j]", arguments
    *batch, rows, columns, components = weights.shape
    arguments[table] = weights.reshape(*batch, rows * columns, components)
    if rows * columns == 1:
        return f"operand·{table}", arguments
    arguments[width] = columns
    return f"operand·{table}[i*{width} + j]", arguments
