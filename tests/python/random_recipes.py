# tests/python/random_recipes.py - the parts of random formulas whose numbers
# are computed by matrices: pair terms, vectors of points, sums.
"""A `Recipe` is a formula with what it is in float64.

Formulas are written for a reduction over j. In their text `@i` and `@j` are the
numbers of the points, and both axes change places where j is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

Arrays = dict[str, np.ndarray]
TINY = 1e-30
FLOOR = 0.1  # of magnitudes: differences of numbers up to 1 are rounded
#: Components of vectors: around those that registers hold, a vector of lanes,
#: a cache line, and beyond what a tile holds.
WIDTHS = [9, 10, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 96, 100, 129, 130]
SHORT = [1, 2, 3, 4, 5]


@dataclass
class Spec:
    """Of an argument: its axis, its components (0: a number), its dtype."""

    axis: str
    components: int
    dtype: str
    least: float = -1.0  # its numbers are from here to 1
    shape: tuple[int, ...] = ()  # of a parameter, which is on no axis

    @property
    def rank(self) -> int:
        """Of its array, batches aside."""
        return len(self.shape) or 1 + (self.components > 0)


@dataclass
class Result:
    """The numbers wanted, and the size of what they were made of."""

    value: np.ndarray
    scale: np.ndarray

    def error(self, found: np.ndarray, tolerance: float) -> float:
        """Relative to what is allowed."""
        same = (found == self.value) | (np.isnan(found) & np.isnan(self.value))
        allowed = tolerance * self.scale + TINY
        with np.errstate(invalid="ignore"):
            errors = np.where(same, 0, np.abs(found - self.value) / allowed)
        return float(np.nan_to_num(errors, nan=np.inf).max(initial=0))


@dataclass
class Places:
    """Of columns that are the best of their rows; `count` of 0: one each."""

    terms: np.ndarray  # (N, M), the smaller the better
    count: int

    def error(self, found: np.ndarray, tolerance: float) -> float:
        columns = self.terms.shape[1]
        if not self.count:
            found = found.reshape(-1, 1)
        most = min(max(self.count, 1), columns)
        if (found[:, most:] != -1).any():
            return np.inf
        found = found[:, :most]
        wanted = np.sort(self.terms, 1)[:, :most]
        distinct = all(len(set(row)) == most for row in found.tolist())
        if not distinct or (found < 0).any() or (found >= columns).any():
            return np.inf
        reached = np.take_along_axis(self.terms, found, 1)
        scale = np.abs(self.terms).max(initial=TINY)
        return float(
            np.abs(reached - wanted).max(initial=0) / (tolerance * scale)
        )


@dataclass
class Recipe:
    text: str
    specs: dict[str, Spec]
    compute: Callable[[Arrays], Result | Places]
    real: str
    tolerance: float = 0.0  # beyond the usual
    options: dict[str, Any] = field(default_factory=dict)
    kernel: bool = False  # a pair term, to be made dense
    numbers: int = 1  # of a pair, that the reference keeps
    can_choose: bool = False  # pairs, by ranges
    masks: list[np.ndarray] = field(default_factory=list)


@dataclass
class Part:
    """Text with what it is: of pairs (N, M), of points (N,) or (N, E)."""

    text: str
    of: Callable[[Arrays], np.ndarray]


class Maker:
    """Makes recipes of one kind for an instruction set and a dtype."""

    def __init__(self, random: random.Random, isa: str, real: str) -> None:
        self.random = random
        self.isa, self.real = isa, real
        self.specs: dict[str, Spec] = {}
        self.masks: list[np.ndarray] = []  # of the pairs that a call meets
        self.folds = False  # sums are over both axes
        self.adjoins = False  # of one axis, whose arrays lie as those of C
        self.widths = WIDTHS

    def choose(self, values: Any) -> Any:
        return self.random.choice(list(values))

    def one_in(self, count: int) -> bool:
        return self.random.randrange(count) == 0

    def named(
        self, name: str, axis: str, components: int = 0, **settings: Any
    ) -> str:
        """The text of an argument, which is made where it is new."""
        dtype = settings.pop("dtype", self.real)
        self.specs.setdefault(name, Spec(axis, components, dtype, **settings))
        return f"{name}_{axis}"

    def parameter(self, name: str, *shape: int) -> str:
        """The text of a vector or matrix that is the same for all points."""
        self.specs[name] = Spec("", 0, self.real, shape=shape)
        return name

    def stored(self) -> str:
        """A dtype that is computed with as `real` is."""
        return self.choose([self.real, self.real, "f16", "i8"])

    # ---- numbers of points --------------------------------------------------

    def number(self, axis: str) -> Part:
        """One of a point."""
        name = self.choose("gh") if axis == "i" else self.choose("pq")
        text = self.named(name, axis)
        every = {"i": "N", "j": "M"}[axis]

        def counted(arrays: Arrays) -> np.ndarray:
            return np.arange(float(len(arrays[every]))) * 0.03125

        return self.choose([
            Part(text, lambda a: a[name]),
            Part(f"sin(8{text})", lambda a: np.sin(8 * a[name])),
            Part(
                f"cos(65536*{text})", lambda a: np.cos(65536 * a[name])
            ),
            Part(
                f"({text}*sin(@{axis}*0.03125))",
                lambda a: a[name] * np.sin(counted(a)),
            ),
            Part(
                f"(cos(@{axis}*0.03125) + {text})",
                lambda a: a[name] + np.cos(counted(a)),
            ),
            Part(
                f"exp({text})*tan({text})",
                lambda a: np.exp(a[name]) * np.tan(a[name]),
            ),
        ])  # fmt: skip

    # ---- vectors of points --------------------------------------------------

    def vector(self, width: int, axis: str = "j") -> Part:
        """One of `width` components, computed once a point."""
        w, b, c = ("w", "b", "c") if axis == "j" else ("r", "s", "t")
        number = self.named(w, axis, least=0.5)
        vector = self.named(b, axis, width, dtype=self.stored())

        def column(a: Arrays) -> np.ndarray:
            return a[w][:, None]

        forms = [
            Part(vector, lambda a: a[b]),
            Part(f"({number}*{vector})", lambda a: column(a) * a[b]),
            Part(f"(-{vector}/{number})", lambda a: -a[b] / column(a)),
            Part(
                f"tanh({vector})*{number}", lambda a: np.tanh(a[b]) * column(a)
            ),
            Part(
                f"(tanh({number})*{vector})",
                lambda a: np.tanh(column(a)) * a[b],
            ),
            Part(
                f"({number}²*{vector})", lambda a: column(a) ** 2 * a[b]
            ),
            Part(
                f"({number} + {vector}*{vector})",
                lambda a: column(a) + a[b] ** 2,
            ),
            Part(
                f"(sin(4{vector}) - {number})",
                lambda a: np.sin(4 * a[b]) - column(a),
            ),
            Part(
                f"where({number} < 0.75, {vector}, -2{vector})",
                lambda a: np.where(column(a) < 0.75, a[b], -2 * a[b]),
            ),
        ]  # fmt: skip
        if self.one_in(4):
            other = self.named(c, axis, width)
            forms = [
                Part(f"({vector}*{other})", lambda a: a[b] * a[c]),
                Part(
                    f"({vector} + {number}*{other})",
                    lambda a: a[b] + column(a) * a[c],
                ),
            ]
        return self.choose(forms)

    # ---- pair terms ---------------------------------------------------------

    def squares(self, length: int) -> Callable[[Arrays], np.ndarray]:
        def squares(a: Arrays) -> np.ndarray:
            x, y = a["x"], a["y"]
            if length <= max(SHORT):
                return sum(
                    (x[:, None, d] - y[None, :, d]) ** 2 for d in range(length)
                )
            far = (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T
            return np.maximum(far, 0)

        return squares

    def points(self, length: int, dtype: str = "") -> tuple[str, str]:
        x = self.named("x", "i", length, dtype=dtype or self.real)
        y = self.named("y", "j", length, dtype=dtype or self.real)
        return x, y

    def power(self, length: int) -> Part:
        """An exponential of two vectors."""
        x, y = self.points(length)
        squares = self.squares(length)
        return self.choose([
            Part(
                f"exp(-|{x} - {y}|²/{length})",
                lambda a: np.exp(-squares(a) / length),
            ),
            Part(
                f"exp({x}·{y}/{length})",
                lambda a: np.exp(a["x"] @ a["y"].T / length),
            ),
            Part(
                f"exp2(-|{x} - {y}|/{length})",
                lambda a: np.exp2(-np.sqrt(squares(a)) / length),
            ),
        ])  # fmt: skip

    def chain(self, length: int) -> Part:
        """Several functions, or a long one, of two vectors."""
        x, y = self.points(length)
        squares = self.squares(length)

        def product(a: Arrays) -> np.ndarray:
            return a["x"] @ a["y"].T / length

        return self.choose([
            Part(
                f"(1 + |{x} - {y}|²)^-1.3", lambda a: (1 + squares(a)) ** -1.3
            ),
            Part(
                f"softplus({x}·{y}/{length})",
                lambda a: np.logaddexp(0, product(a)),
            ),
            Part(
                f"tanh({x}·{y}/{length})*exp({x}·{y}/{length})",
                lambda a: np.tanh(product(a)) * np.exp(product(a)),
            ),
        ])  # fmt: skip

    def plain(self, length: int) -> Part:
        """Something else of two vectors."""
        x, y = self.points(length)
        squares = self.squares(length)
        return self.choose([
            Part(
                f"1/(1 + |{x} - {y}|²)", lambda a: 1 / (1 + squares(a)),
            ),
            Part(
                f"({x}·{y}/{length})²",
                lambda a: (a["x"] @ a["y"].T / length) ** 2,
            ),
            Part(
                f"√(1 + |{x} - {y}|²)/{length}",
                lambda a: np.sqrt(1 + squares(a)) / length,
            ),
            Part(
                f"(1 + {x}·{y}/{length})",
                lambda a: 1 + a["x"] @ a["y"].T / length,
            ),
        ])  # fmt: skip

    def scaled(self, pair: Part) -> Part:
        """Times numbers of its rows and columns, or with a mask."""
        if self.one_in(3):
            row = self.number("i")
            pair = _product(pair, row, lambda v: v[:, None])
        if self.one_in(2):
            column = self.number("j")
            pair = _product(pair, column, lambda v: v[None, :])
        if self.one_in(6):
            width = self.choose([1, 3, 40, 300])
            inner = pair.of
            pair = Part(
                f"where(abs(@i - @j) < {width}, {pair.text}, 0)",
                lambda a: inner(a) * band(len(a["N"]), len(a["M"]), width),
            )
        return pair

    def chosen(self, pair: Part) -> Callable[[Arrays], np.ndarray]:
        """Its values, zero where the call does not meet them."""

        def values(a: Arrays) -> np.ndarray:
            kernel = pair.of(a)
            for mask in self.masks:
                kernel = np.where(mask, kernel, 0)
            return kernel

        return values

    # ---- sums ---------------------------------------------------------------

    def sum_of(self, pair: Part, vector: Part | None) -> Part:
        """Σ_j of a pair term, which may weigh vectors; the second value is the
        sum of the magnitudes."""
        kernel = self.chosen(pair)

        def compute(a: Arrays) -> np.ndarray:
            values = kernel(a)
            size = np.where(values == 0, 0, np.abs(values) + FLOOR)
            if vector is None:
                return np.stack([values.sum(1), size.sum(1)])
            of_points = vector.of(a)
            return np.stack(
                [values @ of_points, size @ (np.abs(of_points) + FLOOR)]
            )

        inside = pair.text if vector is None else f"{pair.text}*{vector.text}"
        return Part(f"(sum_j {inside})", compute)

    def recipe(self, text: str, compute: Any, **more: Any) -> Recipe:
        return Recipe(
            text, self.specs, compute, self.real, masks=self.masks, **more
        )

    def of_sums(self, *sums: Part, numbers: int = 1) -> Recipe:
        """Their sum."""

        text = " + ".join(part.text for part in sums)
        folds = self.folds or self.one_in(10)

        def compute(a: Arrays) -> Result:
            both = sum(part.of(a) for part in sums)
            if folds:
                both = both.sum(1)
            return Result(both[0], both[1])

        if folds:
            text = text.replace("sum_j", "sum_ij")
        return self.recipe(text, compute, can_choose=True, numbers=numbers)


def band(rows: int, columns: int, width: int) -> np.ndarray:
    return np.abs(np.arange(rows)[:, None] - np.arange(columns)) < width


def _product(pair: Part, factor: Part, shaped: Any) -> Part:
    return Part(
        f"{pair.text}*{factor.text}",
        lambda a: pair.of(a) * shaped(factor.of(a)),
    )
