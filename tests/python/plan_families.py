# tests/python/plan_families.py - recipes for each kind of plan.
"""`FAMILIES` has a function for each row of
compiler/backends/cpu/plan_kinds.def: it makes a random recipe that is likely to
have such a plan."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from random_recipes import (
    FLOOR,
    SHORT,
    WIDTHS,
    Arrays,
    Maker,
    Part,
    Places,
    Recipe,
    Result,
)

Family = Callable[[Maker], Recipe]
FAMILIES: dict[str, Callable[[Maker], Recipe]] = {}


def family(
    kind: str,
) -> Callable[[Callable[[Maker], Recipe]], Callable[[Maker], Recipe]]:
    def add(make: Callable[[Maker], Recipe]) -> Callable[[Maker], Recipe]:
        FAMILIES[kind] = make
        return make

    return add


def long_length(make: Maker) -> int:
    return make.choose([6, 7, 8, *WIDTHS, 193, 200])


@family("Values")
def values(make: Maker) -> Recipe:
    pair = make.choose([make.power, make.plain])(make.choose(SHORT))
    if make.one_in(2):
        pair = make.plain(long_length(make))
    pair = make.scaled(pair)
    if make.one_in(3):
        row = make.number("i")
        return make.recipe(
            row.text, lambda a: Result(row.of(a), 9 + np.abs(row.of(a)))
        )
    if make.one_in(2):
        return make.recipe(
            pair.text,
            lambda a: Result(pair.of(a), 1 + np.abs(pair.of(a))),
            kernel=True,
        )
    vector = make.vector(make.choose([2, 3, 5, 9, 17]))

    def compute(a: Arrays) -> Result:
        value = pair.of(a)[:, :, None] * vector.of(a)
        return Result(value, 1 + np.abs(value))

    return make.recipe(
        f"{pair.text}*{vector.text}", compute, kernel=True, numbers=17
    )


@family("Fold")
def fold(make: Maker) -> Recipe:
    pair = make.scaled(make.power(make.choose([1, 2, 3])))

    def compute(a: Arrays) -> Result:
        t = pair.of(a)
        size = np.abs(t)
        ends = [
            getattr(t, name)(1, initial=start)
            for name, start in (("min", np.inf), ("max", -np.inf))
        ]
        one = np.ones(len(t))
        value = [one * t.shape[1], t.sum(1), (t**2).sum(1), *ends, size.sum(1)]
        largest = size.max(1, initial=1)
        scale = [one, size.sum(1) + 1, (t**2).sum(1) + 1, largest, largest]
        return Result(
            np.stack(value, -1), np.stack([*scale, size.sum(1) + 1], -1)
        )

    return make.recipe(
        f"fold_j({pair.text}, [0, 0, 0, inf, -inf, 0], add, join) with "
        "add(s, t) = [s[0] + 1, s[1] + t, s[2] + t², min(s[3], t), "
        "max(s[4], t), s[5] + abs(t)], "
        "join(s, t) = [s[:3] + t[:3], min(s[3], t[3]), max(s[4], t[4]), "
        "s[5] + t[5]]",
        compute,
        numbers=6,
    )


def short_or_no_vector(make: Maker) -> Part | None:
    return make.choose([None, make.vector(make.choose([1, 2, 3]))])


@family("Long")
def long(make: Maker) -> Recipe:
    length = long_length(make)
    pair = make.scaled(make.choose([make.power, make.plain])(length))
    wide = make.vector(make.choose(make.widths)) if make.one_in(3) else None
    recipe = make.of_sums(make.sum_of(pair, wide or short_or_no_vector(make)))
    if make.real == "f32" and make.one_in(2):  # for products of matrices
        recipe.tolerance = 2e-2
        recipe.options = {"tolerance": 4e-3}
    return recipe


@family("Layers")
def layers(make: Maker) -> Recipe:
    """A network of two layers, as a number or a vector of each pair."""
    inside, outside = make.choose([6, 7, 16, 33]), make.choose([2, 6, 9, 17])
    x, y = make.points(inside)
    matrix = make.parameter("A", outside, inside)
    text = f"relu({matrix} @ tanh({x} - {y})/{inside})"

    def units(a: Arrays) -> np.ndarray:
        hidden = np.tanh(a["x"][:, None] - a["y"])
        return np.maximum(hidden @ a["A"].T / inside, 0)

    def compute(a: Arrays) -> Result:
        of_pairs = units(a)
        return Result(of_pairs.sum(1), (of_pairs + FLOOR).sum(1))

    if make.one_in(2):
        return make.recipe(f"sum_j {text}", compute, numbers=64)
    weights = make.parameter("d", outside)
    pair = Part(f"{weights}·{text}", lambda a: units(a) @ a["d"])
    return make.of_sums(make.sum_of(make.scaled(pair), None), numbers=64)


@family("LongFunctions")
def long_functions(make: Maker) -> Recipe:
    """What each component of a difference or a product has."""
    length = make.choose([6, 7, 9, 17, 33, 65])
    x, y = make.points(length)
    pair = make.choose([
        Part(
            f"sum(exp(-abs({x} - {y})))/{length}",
            lambda a: np.exp(-abs(a["x"][:, None] - a["y"])).mean(2),
        ),
        Part(
            f"sum(tanh(abs({x}*{y})))/{length}",
            lambda a: np.tanh(abs(a["x"][:, None] * a["y"])).mean(2),
        ),
        Part(
            f"sum(log(1 + abs({x} - {y})))/{length}",
            lambda a: np.log1p(abs(a["x"][:, None] - a["y"])).mean(2),
        ),
    ])  # fmt: skip
    return make.of_sums(
        make.sum_of(make.scaled(pair), short_or_no_vector(make))
    )


def of_weighted(make: Maker, score: Part, vector: Part) -> Recipe:
    """A softmax."""

    def compute(a: Arrays) -> Result:
        scores, of_points = score.of(a), vector.of(a)
        weights = np.exp(scores - scores.max(1, keepdims=True, initial=-1e9))
        weights /= weights.sum(1, keepdims=True)
        size = 1 + np.abs(scores).max(initial=0)
        return Result(
            weights @ of_points, size * (weights @ np.abs(of_points)) + 1e-3
        )

    return make.recipe(f"softmax_j({score.text}, {vector.text})", compute)


def score(make: Maker, length: int) -> Part:
    x, y = make.points(length)
    squares = make.squares(length)
    return make.choose([
        Part(f"{x}·{y}", lambda a: a["x"] @ a["y"].T),
        Part(f"-|{x} - {y}|²", lambda a: -squares(a)),
        Part(
            f"({x}·{y} + sin(9{make.named('p', 'j')}))",
            lambda a: a["x"] @ a["y"].T + np.sin(9 * a["p"]),
        ),
    ])  # fmt: skip


@family("LongSoftmax")
def long_softmax(make: Maker) -> Recipe:
    width = make.choose([6, *make.widths])
    return of_weighted(make, score(make, long_length(make)), make.vector(width))


@family("Softmax")
def softmax(make: Maker) -> Recipe:
    pair = score(make, make.choose(SHORT))
    if make.one_in(2):
        width = make.choose([1, 2, 5, *make.widths])
        return of_weighted(make, pair, make.vector(width))

    def compute(a: Arrays) -> Result:
        scores = pair.of(a)
        largest = scores.max(1, keepdims=True, initial=-1e9)
        value = largest[:, 0] + np.log(np.exp(scores - largest).sum(1))
        return Result(value, 2 + np.abs(scores).max(1, initial=0))

    return make.recipe(f"logsumexp_j({pair.text})", compute)


@family("Blocks")
def blocks(make: Maker) -> Recipe:
    """Weighted sums of bf16, with weights of eight bits."""
    pair = score(make, make.choose(SHORT))
    width = make.choose(make.widths)
    text = make.named("v", "j", width, dtype="bf16")
    recipe = of_weighted(make, pair, Part(text, lambda a: a["v"]))
    recipe.tolerance = 2e-2
    recipe.options = {"tolerance": 4e-3}
    return recipe


def of_the_smallest(make: Maker, length: int) -> Recipe:
    x, y = make.points(length)
    squares = make.squares(length)
    count = make.choose([2, 3, 5, 10, 16, 31, 40])
    if make.one_in(2):
        return make.recipe(
            f"argkmin_j(|{x} - {y}|², {count})",
            lambda a: Places(squares(a), count),
        )

    def compute(a: Arrays) -> Result:
        values = np.sort(squares(a), 1)[:, :count]
        rest = ((0, 0), (0, count - values.shape[1]))
        values = np.pad(values, rest, constant_values=np.inf)
        return Result(values, np.full_like(values, length))

    return make.recipe(f"kmin_j(|{x} - {y}|², {count})", compute)


@family("LongList")
def long_list(make: Maker) -> Recipe:
    return of_the_smallest(make, long_length(make))


@family("List")
def list_(make: Maker) -> Recipe:
    return of_the_smallest(make, make.choose(SHORT))


def of_places(make: Maker, pair: Part) -> Recipe:
    name, sign = make.choose([("argmin", 1), ("argmax", -1)])
    return make.recipe(
        f"{name}_j {pair.text}", lambda a: Places(sign * pair.of(a), 0)
    )


@family("LongLocation")
def long_location(make: Maker) -> Recipe:
    return of_places(make, make.plain(long_length(make)))


@family("Location")
def location(make: Maker) -> Recipe:
    return of_places(make, make.scaled(make.plain(make.choose(SHORT))))


@family("Wide")
def wide(make: Maker) -> Recipe:
    length, width = make.choose(SHORT), make.choose(make.widths)
    pair = make.scaled(make.choose([make.power, make.plain])(length))
    sums = [make.sum_of(pair, make.vector(width))]
    if make.one_in(3):
        other = make.scaled(make.power(length))
        sums.append(make.sum_of(other, make.vector(width)))
    if make.one_in(4):
        below = make.sum_of(make.power(length), None)
        return quotient(make, sums[0], below)
    recipe = make.of_sums(*sums)
    if make.one_in(3):
        return with_rows(make, recipe, width)
    return recipe


def quotient(make: Maker, above: Part, below: Part) -> Recipe:
    """Of two sums, of which the second one is of positive terms."""

    def compute(a: Arrays) -> Result:
        (value, scale), (sums, _) = above.of(a), below.of(a)
        with np.errstate(all="ignore"):
            value = value / sums[:, None]
            scale = np.where(sums[:, None] > 0, scale / sums[:, None], 1)
        return Result(value, 2 * scale)

    return make.recipe(f"{above.text}/{below.text}", compute, can_choose=True)


def with_rows(make: Maker, recipe: Recipe, width: int) -> Recipe:
    """Times vectors of rows."""
    vector = make.vector(width, "i")

    def compute(a: Arrays) -> Result:
        inner = recipe.compute(a)
        assert isinstance(inner, Result)
        factor = vector.of(a)
        return Result(
            inner.value * factor, inner.scale * (np.abs(factor) + FLOOR)
        )

    return make.recipe(
        f"({recipe.text})*{vector.text}", compute, can_choose=True
    )


@family("Points")
def points(make: Maker) -> Recipe:
    point = make.number("j")
    name = make.choose(["sum", "max", "min", "argmax", "argmin"])

    def compute(a: Arrays) -> Result | Places:
        terms = point.of(a)
        if name == "sum":
            return Result(terms.sum(), np.abs(terms).sum())
        if name.startswith("arg"):
            return Places(terms[None] * (-1 if name == "argmax" else 1), 0)
        start = np.inf if name == "min" else -np.inf
        size = np.abs(terms).max(initial=1)
        return Result(getattr(terms, name)(initial=start), size)

    return make.recipe(f"{name}_j ({point.text})", compute)


@family("Extreme")
def extreme(make: Maker) -> Recipe:
    pair = make.scaled(make.plain(make.choose(SHORT)))
    name = make.choose(["max", "min"])
    width = make.choose([0, 0, 1, 3, 5])
    vector = make.vector(width) if width else None
    start = np.inf if name == "min" else -np.inf

    def compute(a: Arrays) -> Result:
        terms = pair.of(a)
        if vector:
            terms = terms[:, :, None] * vector.of(a)
        value = getattr(terms, name)(1, initial=start)
        size = np.abs(terms).max(initial=1)
        return Result(value, np.full_like(value, size))

    text = f"{pair.text}*{vector.text}" if vector else pair.text
    return make.recipe(f"{name}_j ({text})", compute, numbers=5)


def moved(make: Maker, length: int) -> tuple[Part, Part]:
    """Σ_j k (x_i - y_j), and the kernel k."""
    pair = make.power(length)
    kernel = make.chosen(pair)

    def compute(a: Arrays) -> np.ndarray:
        values, x, y = kernel(a), a["x"], a["y"]
        sums = values.sum(1)[:, None] * x - values @ y
        size = values.sum(1)[:, None] * np.abs(x) + values @ np.abs(y)
        return np.stack([sums, size])

    return Part(f"(sum_j {pair.text}*(x_i - y_j))", compute), pair


@family("Gradient")
def gradient(make: Maker) -> Recipe:
    return make.of_sums(moved(make, make.choose([2, 3, 4]))[0])


@family("Gradients")
def gradients(make: Maker) -> Recipe:
    sums, pair = moved(make, make.choose([3, 4, 5]))
    total = make.sum_of(pair, None)

    def compute(a: Arrays) -> Result:
        (value, scale), (numbers, size) = sums.of(a), total.of(a)
        return Result(value * numbers[:, None], 2 * scale * size[:, None])

    return make.recipe(f"{sums.text}*{total.text}", compute, can_choose=True)


@family("Short")
def short(make: Maker) -> Recipe:
    pair = make.scaled(make.power(make.choose([1, 2, 3])))
    vector = make.choose([None, None, make.vector(1)])
    return make.of_sums(make.sum_of(pair, vector))


@family("Chain")
def chain(make: Maker) -> Recipe:
    pair = make.scaled(make.chain(make.choose([1, 2, 3, 5])))
    vector = make.choose([None, None, make.vector(1)])
    return make.of_sums(make.sum_of(pair, vector))


@family("Crowded")
def crowded(make: Maker) -> Recipe:
    pair = make.scaled(make.power(make.choose([4, 5])))
    vector = make.choose([None, make.vector(2)])
    return make.of_sums(make.sum_of(pair, vector))


def of_one_axis(make: Maker) -> Recipe:
    """A sum over points and their components."""
    vector = make.named("b", "j", make.choose([2, 3, 5, *make.widths]))
    other = make.named("c", "j", len_of(make, "b"))
    part = make.choose([
        Part(f"{vector}", lambda a: a["b"]),
        Part(f"sin(4{vector})", lambda a: np.sin(4 * a["b"])),
        Part(f"{vector}*{other}", lambda a: a["b"] * a["c"]),
        Part(f"abs({vector} - {other})", lambda a: np.abs(a["b"] - a["c"])),
    ])  # fmt: skip

    def compute(a: Arrays) -> Result:
        values = part.of(a)
        return Result(values.sum(), (np.abs(values) + FLOOR).sum())

    return make.recipe(f"sum_j sum({part.text})", compute)


def len_of(make: Maker, name: str) -> int:
    return make.specs[name].components


@family("Plain")
def plain(make: Maker) -> Recipe:
    if make.adjoins or make.one_in(12):
        return of_one_axis(make)
    if make.one_in(2):
        pair = make.scaled(make.plain(make.choose(SHORT)))
        return make.of_sums(make.sum_of(pair, short_or_no_vector(make)))
    pair = make.scaled(make.power(make.choose([1, 2, 3])))
    return make.of_sums(make.sum_of(pair, make.vector(make.choose([3, 4, 5]))))
