# bench/statements.py - a chain of light statements, for every tool.
"""Twenty elementwise statements, repeated, and the sum of what they give.

`STEPS` is the one list of them: the text for tilefold, NumPy's float64 and
every contender are made of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench.case import Measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import Array

ROWS = range(4, 14)  # n of the arrays (n, 16), in turn
WIDTH = 16
SAMPLE = 0.02  # seconds that a run repeats the calls, at least


class Step(NamedTuple):
    """One statement: name(operand, constant); the text has {} for x."""

    name: str
    constant: float
    text: str


def _step(name: str, constant: float = 0.0) -> Step:
    texts = {
        "add": "{{}} + {}" if constant > 0 else "{{}} - {}",
        "multiply": "{{}}*{}",
        "exp": "exp({}*{{}})",
    }
    text = texts.get(name, name + "({{}})").format(abs(constant))
    return Step(name, constant, text)


STEPS = [
    _step("add", 0.1),
    _step("sin"),
    _step("multiply", 1.1),
    _step("cos"),
    _step("add", 0.2),
    _step("relu"),
    _step("add", -0.1),
    _step("exp", 0.5),
    _step("add", 0.3),
    _step("sigmoid"),
    _step("multiply", 1.2),
    _step("sin"),
    _step("add", 0.4),
    _step("cos"),
    _step("add", -0.2),
    _step("relu"),
    _step("add", 0.5),
    _step("exp", 0.4),
    _step("multiply", 1.3),
    _step("sigmoid"),
]


def step(number: int) -> Step:
    """The statement of that number, from 0; after the last comes the first."""
    return STEPS[number % len(STEPS)]


def function(count: int, tools: Any) -> Callable[[Any], Any]:
    """The chain as a function of an array, with sin, cos, exp, relu and
    sigmoid of `tools`."""

    def chain(x: Any) -> Any:
        for name, constant, _ in map(step, range(count)):
            if name == "add":
                x = x + constant
            elif name == "multiply":
                x = x * constant
            elif name == "exp":
                x = tools.exp(constant * x)
            else:
                x = getattr(tools, name)(x)
        return x.sum()

    return chain


class Double:
    """The tools of `function`, of NumPy."""

    exp, sin, cos = np.exp, np.sin, np.cos

    @staticmethod
    def relu(x: Array) -> Array:
        return np.maximum(x, 0)

    @staticmethod
    def sigmoid(x: Array) -> Array:
        return 1 / (1 + np.exp(-x))


@dataclass(frozen=True)
class StatementProblem:
    """Arrays of 4 to 13 rows; a result is the ten sums."""

    count: int

    @property
    def pairs(self) -> float:
        """Elements of an array, in the mean."""
        return WIDTH * sum(ROWS) / len(ROWS)

    @property
    def sizes(self) -> dict[str, Any]:
        """Statements, n, the width and the type."""
        sizes = {"statements": self.count, "n": f"{ROWS[0]}…{ROWS[-1]}"}
        return {**sizes, "D": WIDTH, "dtype": "float32"}

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        names = ["x_j", *(f"t{k + 1}" for k in range(self.count))]
        lines = [
            f"{names[k + 1]} = {step(k).text.format(names[k])}"
            for k in range(self.count)
        ]
        return f"sum_j sum({names[-1]}) with " + ", ".join(lines)

    @cached_property
    def arrays(self) -> list[Array]:
        """One for each n, standard normal."""
        random = np.random.default_rng(6)
        return [random.standard_normal((n, WIDTH), np.float32) for n in ROWS]

    def error(self, result: Any) -> float:
        """Largest |r - o| by the number of elements, which are about 1.

        Of the first arrays only, where the result has fewer sums.
        """
        sums = np.atleast_1d(np.asarray(result, np.float64))
        chain = function(self.count, Double)
        arrays = self.arrays[: len(sums)]
        exact = [float(chain(x.astype(np.float64))) for x in arrays]
        sizes = [x.size for x in arrays]
        errors = np.abs(sums - exact) / sizes
        return float(np.nan_to_num(errors, nan=np.inf).max())


def in_turn(rounds: Callable[[int], Any]) -> Callable[[], Measured]:
    """The time of one call, where rounds(k) makes k calls of each array.

    What `rounds` returns is the ten sums.
    """

    def run() -> Measured:
        count = 1
        while True:
            start = time.perf_counter()
            result = rounds(count)
            seconds = time.perf_counter() - start
            if seconds > SAMPLE:
                break
            count *= 2
        return Measured(result, seconds / (count * len(ROWS)))

    return run


def calls_in_turn(calls: list[Callable[[], Any]]) -> Callable[[], Measured]:
    """As in_turn, of one function without arguments for each array."""

    def rounds(count: int) -> Any:
        for _ in range(count - 1):
            for call in calls:
                call()
        return np.array([float(call()) for call in calls])

    return in_turn(rounds)
