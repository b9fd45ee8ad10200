# bench/gpu/own.py - tilefold on arrays of the driver.
"""Arrays lie in memory of the driver; work is queued on its default stream,
for which nobody waits: so it is with a stream that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bench.attention import BFLOAT16, AttentionProblem
from bench.case import Absent
from bench.gpu.contest import Contest
from bench.matrices import TEXT, MatrixProblem
from bench.statements import StatementProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.card import Card

LEAST_LENGTH = 8  # of vectors that tensor cores multiply


def tilefold_formula(
    problem: Any, card: Card, tolerance: float = 0.0
) -> Contest:
    """A compiled formula, or a lazy kernel."""
    options = tilefold.Options(stream=0, tolerance=tolerance)
    if isinstance(problem, MatrixProblem):
        return _matrix(problem, card, options)
    formula = tilefold.compile(problem.text)
    if isinstance(problem, StatementProblem):
        arrays = [card.put(array) for array in problem.arrays]

        def run_all() -> Any:
            return [formula(x=array, options=options) for array in arrays]

        return Contest(
            run_all,
            lambda sums: np.array([card.get(each) for each in sums]),
            len(arrays),
        )
    given = {
        name: card.put(value) if np.ndim(value) else value
        for name, value in _host(problem).items()
    }
    return Contest(lambda: formula(given, options=options), card.get)


def with_tolerance(
    tolerance: float, kind: type
) -> Callable[[Any, Card], Contest]:
    """The same of long vectors, by products of that error."""

    def prepare(problem: Any, card: Card) -> Contest:
        if type(problem) is not kind or _length_of(problem) < LEAST_LENGTH:
            raise Absent("of long vectors' products only")
        return tilefold_formula(problem, card, tolerance)

    return prepare


def _length_of(problem: Any) -> int:
    """Components of its vectors."""
    points = _host(problem).get("x", _host(problem).get("q"))
    return int(np.shape(points)[-1])


def tilefold_bound(problem: Any, card: Card) -> Contest:
    """The same, bound to its arrays."""
    if not isinstance(problem, StatementProblem):
        raise Absent("of interest for small calls only")
    formula = tilefold.compile(problem.text)
    bound = [
        formula.bind(x=card.put(array), options=tilefold.Options(stream=0))
        for array in problem.arrays
    ]
    return Contest(
        lambda: [each() for each in bound],
        lambda sums: np.array([card.get(each) for each in sums]),
        len(bound),
    )


def _matrix(
    problem: MatrixProblem, card: Card, options: tilefold.Options
) -> Contest:
    x, b = card.put(problem.x), card.put(problem.b)

    def run() -> Any:
        matrix = tilefold.kernel(TEXT, x=x, l=problem.length, options=options)
        return matrix @ b if problem.product else matrix.dense()

    return Contest(run, card.get)


def _host(problem: Any) -> dict[str, Any]:
    if isinstance(problem, AttentionProblem):
        arrays = problem.arrays
        if problem.dtype != BFLOAT16:
            return arrays
        return {
            name: (array.view(np.uint32) >> 16).astype(np.uint16).view("V2")
            for name, array in arrays.items()
        }
    return dict(problem.arguments)
