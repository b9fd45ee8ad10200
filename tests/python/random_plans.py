# tests/python/random_plans.py - calls of random recipes by any plan, at the
# edges of tiles, panels and scratch; what they cover, as words.
from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from held import Held
from plan_families import FAMILIES
from random_recipes import Maker
from random_terms import NUMPY_DTYPES, TABLES
from tilefold import _core

if TYPE_CHECKING:
    import random

    from random_recipes import Places, Recipe, Result, Spec

#: What the reference keeps of a call at most.
MOST_NUMBERS, MOST_PAIRS = 6_000_000, 1_200_000
#: Of the sum of the terms' magnitudes.
TOLERANCES = {"f32": 2e-5, "f64": 1e-11}
REALS = list(TOLERANCES)


BYTES = {row["name"]: int(row["bytes"]) for row in TABLES["instruction sets"]}
#: Rows of tiles.def, by the first kind and instruction set that have them.
ROW_NAMES: dict[str, str] = {}
for _row in TABLES["tiles"]:
    ROW_NAMES.setdefault(_row["row"], f"{_row['kind']} of {_row['isa']}")
#: The row, by kind, instruction set and dtype.
TILE_ROWS = {
    (row["kind"], row["isa"], row["real"]): ROW_NAMES[row["row"]]
    for row in TABLES["tiles"]
}
#: Fields by which something is done or not, and the number by which it is not.
SWITCHES = {
    row["name"]: int(row["off"])
    for row in TABLES["plan fields"]
    if row["off"] != "None"
}
KEPT_SCRATCH = int(TABLES["limits"][0]["value"])


def numbers_of(plan: str) -> dict[str, Any]:
    """Its fields."""
    fields = dict(part.split("=") for part in plan.split())
    return {
        key: value if key in ("isa", "nest") else int(value)
        for key, value in fields.items()
    }


def text_of(fields: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in fields.items())


def swapped(text: str) -> str:
    """With the other axes."""
    other = {"i": "j", "j": "i"}
    text = re.sub(r"_([ij])(?![A-Za-z])", lambda m: "_" + other[m[1]], text)
    return re.sub(r"@([ij])", lambda m: "@" + other[m[1]], text)


class Call:
    """A recipe with arrays of some sizes and a plan; computed as often as one
    likes."""

    def __init__(
        self,
        random: random.Random,
        recipe: Recipe,
        sizes: tuple[int, int],
        settings: dict[str, Any],
        batch: int = 0,
        swap: bool = False,
        adjoins: bool = False,
    ) -> None:
        self.recipe, self.settings = recipe, settings
        self.rows, self.columns = sizes
        # As many points as batches could be read in two ways.
        while batch in sizes and batch:
            batch += 1
        self.batch = batch
        self.ranges = None
        self.is_swapped = swap and not recipe.kernel
        text = swapped(recipe.text) if self.is_swapped else recipe.text
        self.text = text.replace("@i", "i").replace("@j", "j")
        self.formula = tilefold.compile(self.text)
        self.held = {
            name: self._held(random, spec, adjoins)
            for name, spec in self._read()
        }
        self.bits: bytes | None = None

    def _read(self) -> list[tuple[str, Spec]]:
        """The arguments that the formula has."""
        names = {name for name, _ in self.formula.names}
        return [(n, s) for n, s in self.recipe.specs.items() if n in names]

    def _held(self, random: random.Random, spec: Spec, adjoins: bool) -> Held:
        shape = [self.rows if spec.axis == "i" else self.columns]
        shape += [spec.components] * (spec.components > 0)
        shape = list(spec.shape) or shape
        if self.batch and spec.components and random.randrange(3):
            shape.insert(0, self.batch)
        generator = np.random.default_rng(random.randrange(2**32))
        values = generator.uniform(spec.least, 1, shape)
        if spec.dtype[0] in "iu":
            values = np.rint(3 * values)
        dtype = "float32" if spec.dtype == "bf16" else NUMPY_DTYPES[spec.dtype]
        values = values.astype(dtype)
        if spec.dtype == "bf16":
            values = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
        return Held(values, spec.dtype, None if adjoins else random)

    def choose_pairs(self, random: random.Random) -> None:
        """Ranges of tiles of which some meet."""
        cuts = [
            np.unique([0, *(random.randrange(n + 1) for _ in range(4)), n])
            for n in (self.rows, self.columns)
        ]
        visit = np.array([
            [random.random() < 0.6 for _ in cuts[1][1:]] for _ in cuts[0][1:]
        ]).reshape(len(cuts[0]) - 1, len(cuts[1]) - 1)  # fmt: skip
        ranges = tilefold.Ranges(*cuts, visit)
        self.recipe.masks[:] = [ranges.mask(self.rows, self.columns)]
        self.ranges = ranges.T if self.is_swapped else ranges

    def surround(self, start: int | None, inside: bool = False) -> None:
        for held in self.held.values():
            held.surround(start, inside)

    def arguments(self) -> dict[str, Any]:
        arrays = {name: held.view for name, held in self.held.items()}
        if any(held.dtype == "bf16" for held in self.held.values()):
            import torch

            arrays = {
                name: torch.from_numpy(array.copy())
                if isinstance(array, np.ndarray)
                else array
                for name, array in arrays.items()
            }
        return arrays

    def options(self, **more: Any) -> dict[str, Any]:
        settings = {
            "options": tilefold.Options(
                **self.settings, **self.recipe.options, **more
            )
        }
        return settings | ({"ranges": self.ranges} if self.ranges else {})

    def kernels(self) -> list[dict[str, Any]]:
        return _core._kernels(
            self.formula, self.arguments(), self.options(), self.recipe.kernel
        )

    def compute(self, **more: Any) -> np.ndarray:
        if self.recipe.kernel:
            result = tilefold.kernel(
                self.formula, **self.arguments(), **self.options(**more)
            ).dense()
        else:
            result = self.formula(self.arguments(), **self.options(**more))
        if isinstance(result, (np.ndarray, np.generic)):
            return np.asarray(result)
        return result.float().numpy()

    def wanted(self) -> list[Result | Places]:
        """Of each batch."""
        results = []
        for number in range(max(self.batch, 1)):
            arrays = {"N": np.empty(self.rows), "M": np.empty(self.columns)}
            for name, held in self.held.items():
                spec = self.recipe.specs[name]
                values = held.values.astype(np.float64)
                is_batch = values.ndim > spec.rank
                arrays[name] = values[number] if is_batch else values
            with np.errstate(all="ignore"):
                results.append(self.recipe.compute(arrays))
        return results

    def has_batches(self) -> bool:
        return any(
            held.values.ndim > self.recipe.specs[name].rank
            for name, held in self.held.items()
        )

    def error(self, found: np.ndarray) -> float:
        """Relative to what is allowed."""
        tolerance = self.recipe.tolerance or TOLERANCES[self.recipe.real]
        parts = found if self.has_batches() else [found]
        wanted = self.wanted()[: len(parts)]
        return max(
            one.error(np.asarray(part), tolerance)
            for one, part in zip(wanted, parts, strict=True)
        )

    def describe(self) -> str:
        arrays = ", ".join(
            f"{name}: {held.dtype}{list(held.values.shape)}"
            for name, held in self.held.items()
        )
        ranges = " ranges" if self.ranges else ""
        return f"{self.text}\n{arrays}{ranges}\n{self.settings}"


#: How a call is cut, and what its kernel is made for.
CUTS: dict[str, Callable[[dict[str, Any], dict[str, Any]], bool]] = {
    "several pieces of rows": lambda use, _: use["row_pieces"] > 1,
    "several segments of columns": lambda use, _: use["column_pieces"] > 1,
    "row tasks of chosen pairs": lambda use, _: use["row_tasks"] > 0,
    "batches": lambda use, _: use["batches"] > 1,
    "rows are folded": lambda use, _: use["folds_rows"],
    "the call decides the width": lambda use, _: use["width"] > 1,
    "a block that its state limits": lambda use, plan: (
        0 < use["block"] < min(plan["row_block"], use["rows"])
    ),
    "scratch that no thread keeps": lambda use, _: (
        use["scratch"] > KEPT_SCRATCH
    ),
    "lanes over the many of few points": lambda use, _: use["one_point"],
    "components taken for points": lambda use, _: use["flat_width"] > 1,
}


def traits_of(use: dict[str, Any]) -> Counter[str]:
    """What a kernel of a call is, as words to be counted."""
    fields = numbers_of(use["plan"])
    tile = f"{fields['row_vectors']}x{fields['columns']}"
    tile += (
        f"/{fields['min_stage_cycles']}" if fields["min_stage_cycles"] else ""
    )
    real = "f32" if 4 * fields["lanes"] == BYTES[fields["isa"]] else "f64"
    row = TILE_ROWS[use["kind"], fields["isa"], real]
    words = [
        f"kind {use['kind']}",
        f"nest {fields['nest']}",
        f"instruction set {fields['isa']}",
        f"tile {row}, {real}: {tile}",
        *(
            f"{name} {'off' if fields.get(name, off) == off else 'on'}"
            for name, off in SWITCHES.items()
        ),
        "column tiles" if use["column_tiles"] else "no column tiles",
    ]
    if fields["nest"] != "values":
        words += _edges("panel", use["columns"], fields["panel"])
        words += _edges(
            "row tile", use["rows"], fields["lanes"] * fields["row_vectors"]
        )
        if use["column_tiles"]:
            words += _edges(
                "column_tile", use["columns"], fields["column_tile"]
            )
    words += [name for name, holds in CUTS.items() if holds(use, fields)]
    return Counter(words)


def _edges(name: str, size: int, step: int) -> list[str]:
    """Where `size` lies beside a multiple of `step`."""
    names = {step - 1: "one less than", 0: "", 1: "one more than"}
    if size < step - 1 or size % step not in names:
        return []
    return [" ".join(f"{names[size % step]} whole {name}s".split())]


# ---- making calls -----------------------------------------------------------


def plans_of(call: Call) -> list[str]:
    """Those that may be forced, best first."""
    if not call.recipe.kernel:
        return call.formula.plans(call.arguments(), **call.options())
    return [kernel["plan"] for kernel in call.kernels()]


def vary(random: random.Random, fields: dict[str, Any]) -> None:
    """Panels and blocks that small sizes reach, or those of the plan."""
    if fields["nest"] == "values" or random.randrange(2):
        return
    columns = fields["columns"]
    fields["panel"] = columns * random.randrange(1, 2 + 48 // columns)
    fields["column_tile"] = random.choice([1, 5, 13, fields["column_tile"]])
    multiple = int(np.lcm(64, fields["lanes"] * fields["row_vectors"]))
    fields["row_block"] = multiple * random.randrange(1, 4)
    if fields["k_block"] or random.randrange(4) == 0:
        fields["k_block"] = random.choice([0, 6, 17])


def sizes_of(random: random.Random, fields: dict[str, Any]) -> tuple[int, int]:
    """Points of both axes: at the edges of what the plan has."""
    lanes, tile = fields["lanes"], fields["lanes"] * fields["row_vectors"]
    panel, column_tile = fields["panel"], fields["column_tile"]
    rows = random.choice([
        1, lanes - 1, lanes + 1, tile - 1, tile, tile + 1, 2 * tile + 1,
        random.randrange(1, 3 * tile),
    ])  # fmt: skip
    columns = random.choice([
        1, lanes + 1, column_tile - 1, column_tile, column_tile + 1,
        2 * column_tile + 1, panel - 1, panel, panel + 1, 2 * panel,
        2 * panel + 1, 3 * panel - 1,
        random.randrange(1, 3 * panel),
    ])  # fmt: skip
    return max(rows, 1), max(columns, 1)


@dataclass
class Wish:
    """What is left to chance where it is not said."""

    kinds: list[str] = field(default_factory=lambda: list(FAMILIES))
    real: str = ""
    nest: str = ""
    sizes: Callable[[dict[str, Any]], tuple[int, int]] | None = None
    is_planned: bool | None = None  # by a plan that is forced
    is_varied: bool | None = None
    folds: bool = False
    has_batches: bool = False
    has_ranges: bool = False
    adjoins: bool = False  # arrays lie as those of C
    widths: list[int] = field(default_factory=list)


def draw(
    random: random.Random, kind: str, isa: str, number: int, wish: Wish
) -> Call:
    """A call by plan `number` of a formula that is likely of this kind."""
    while True:
        call = _drawn(random, kind, isa, number, wish)
        try:
            call.kernels()
        except tilefold.ArgumentError as error:
            if error.code != "BadPlan":
                raise
            continue  # not every formula has the nest that is wished for
        return call


def _drawn(
    random: random.Random, kind: str, isa: str, number: int, wish: Wish
) -> Call:
    real = "f32" if kind == "Blocks" else wish.real or random.choice(REALS)
    make = Maker(random, isa, real)
    make.folds = wish.folds
    make.adjoins = wish.adjoins
    make.widths = wish.widths or make.widths
    recipe = FAMILIES[kind](make)
    plans = plans_of(Call(random, recipe, (3, 3), {"isa": isa}))
    half = random.choice([0, len(plans) // 2]) if len(plans) > 6 else 0
    fields = numbers_of(plans[(number + half) % len(plans)])
    is_planned = random.randrange(8) > 0
    if wish.is_planned is not None:
        is_planned = wish.is_planned
    if is_planned and wish.is_varied is not False:
        vary(random, fields)
    if wish.nest and fields["nest"] == "reduce":
        fields["nest"] = wish.nest
    rows, columns = (wish.sizes or functools.partial(sizes_of, random))(fields)
    if fields["nest"] == "single_panel":
        columns = min(columns, fields["panel"])
    if not wish.sizes:
        most = min(MOST_NUMBERS // recipe.numbers, MOST_PAIRS)
        rows = max(1, min(rows, most // columns))
    settings = {"plan": text_of(fields)} if is_planned else {}
    batch = 2 if wish.has_batches or random.randrange(8) == 0 else 0
    call = Call(
        random,
        recipe,
        (rows, columns),
        {"isa": isa, **settings},
        batch if not wish.sizes or wish.has_batches else 0,
        swap=random.randrange(3) == 0 and not wish.adjoins,
        adjoins=wish.adjoins,
    )
    chooses = wish.has_ranges or random.randrange(5) == 0
    if recipe.can_choose and chooses and not call.has_batches():
        call.choose_pairs(random)
    return call
