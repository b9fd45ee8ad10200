# tests/python/test_random_plans.py - every kind of plan that the compiler can
# choose, by random formulas at the edges of tiles, panels and scratch.
"""Each call is compared with NumPy in float64. Its arrays lie among infinities,
NaN, and the largest and smallest numbers, whose places no result may depend on;
and it has the same bits when it is repeated among others, in any order, on any
number of threads, and in another process, whose scratch holds NaN, zeros and
huge numbers in turn.

Kinds of plan, tiles, nests and what plans turn on are those of the compiler's
tables. What was met is counted, and printed when all tests are through; a test
fails where something that it stands for was not met.

TILEFOLD_SAMPLE, a word, chooses a share of the tiles and other formulas;
TILEFOLD_RANDOM_SEED=7 makes others of all.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sample
from instruction_sets import HERE
from plan_families import FAMILIES
from random_plans import (
    CUTS,
    REALS,
    SWITCHES,
    TABLES,
    TILE_ROWS,
    Call,
    Wish,
    draw,
    traits_of,
)

IS_WHOLE = sample.is_whole()
SEED = os.environ.get(
    "TILEFOLD_RANDOM_SEED", "1" if IS_WHOLE else sample.SAMPLE
)
KINDS = [row["name"] for row in TABLES["plan kinds"]]
NESTS = [row["name"] for row in TABLES["nests"]]
SETS = {row["name"]: row for row in TABLES["instruction sets"]}
TRIES = 40
ENOUGH = 2 if IS_WHOLE else 1  # calls by a tile


def lacks(what: str) -> str:
    """Why this machine cannot meet it; empty where it can."""
    if what in ("kind Blocks", "weight_parts on", "filter on"):
        has = any(SETS[isa]["bf16"] for isa in HERE)
        return "" if has else "no instruction set here adds products of bf16"
    if what == "parts on":
        has = any(SETS[isa]["blocks"] for isa in HERE)
        return "" if has else "no instruction set here multiplies blocks"
    return ""


def suits(kind: str, isa: str, real: str) -> bool:
    """Whether an instruction set has plans of a kind."""
    if kind == "Blocks":
        return bool(SETS[isa]["bf16"]) and real == "f32"
    return True


def tiles_of(kind: str) -> list[tuple[str, str, str, int, str]]:
    """(instruction set, dtype, row of tiles.def, number, tile): each tile of
    each row once, by one of the instruction sets that have it."""
    sets: dict[tuple[str, str, str], list[str]] = {}
    for row in TABLES["tiles"]:
        isa, real = row["isa"], row["real"]
        if row["kind"] == kind and isa in HERE and suits(kind, isa, real):
            name = TILE_ROWS[kind, isa, real]
            sets.setdefault((name, real, row["tiles"]), []).append(isa)
    generator = random.Random(f"{SEED}/tiles/{kind}")
    return [
        (generator.choice(those), real, name, number, tile)
        for (name, real, tiles), those in sets.items()
        for number, tile in enumerate(tiles.split())
    ]


def check(call: Call, start: int) -> Counter[str]:
    """Against NumPy, and with other numbers around its arrays; what it met."""
    met: Counter[str] = Counter()
    for use in call.kernels():
        met += traits_of(use)
    call.surround(None)
    found = call.compute()
    error = call.error(found)
    assert error <= 1, f"{error:.3g} of what is allowed\n{call.describe()}"
    call.bits = found.tobytes()
    repeat(call, start)
    return met


def repeat(call: Call, start: int, **options: int) -> None:
    call.surround(start)
    assert call.compute(**options).tobytes() == call.bits, (
        f"other bits, of {options}, extremes from {start} on\n{call.describe()}"
    )


def repeat_in_any_order(generator: random.Random, calls: list[Call]) -> None:
    """Among calls that leave extremes in scratch and states."""
    order = calls * (2 if IS_WHOLE else 1)
    generator.shuffle(order)
    for call in order:
        if generator.randrange(2):
            other = generator.choice(calls)
            other.surround(generator.randrange(9), inside=True)
            other.compute()
        threads = generator.choice([None, None, None, 1, 3])
        options = {"threads": threads} if threads else {}
        repeat(call, generator.randrange(9), **options)


def print_counts(record_property, met: Counter[str]) -> None:
    """At the end of all tests."""
    record_property("met", json.dumps(met))


@pytest.mark.sample(1.0)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_plan(kind, record_property):
    """All its tiles; of a sample, the kind."""
    if lacks(f"kind {kind}"):
        pytest.skip(lacks(f"kind {kind}"))
    generator = random.Random(f"{SEED}/{kind}")
    tiles = tiles_of(kind)
    if not IS_WHOLE:
        tiles = generator.sample(tiles, -(-len(tiles) // 10))
    met: Counter[str] = Counter()
    calls = []
    for isa, real, row, number, tile in tiles:
        wanted = {f"kind {kind}", f"tile {row}, {real}: {tile}"}
        found = 0
        for _ in range(TRIES):
            call = draw(generator, kind, isa, number, Wish(real=real))
            now = check(call, generator.randrange(9))
            calls.append(call)
            met += now
            found += wanted <= set(now)
            if found == ENOUGH:
                break
    repeat_in_any_order(generator, calls)
    print_counts(record_property, met)
    wanted = {f"tile {row}, {real}: {tile}" for _, real, row, _, tile in tiles}
    assert {f"kind {kind}", *wanted} <= set(met)


def test_every_kind_has_a_family():
    assert set(FAMILIES) == set(KINDS)


SHORT_KINDS = ["Short", "Plain", "Chain", "Crowded"]
SUMS = [*SHORT_KINDS, "Wide", "Long", "Gradient"]
#: What makes it likely; of what is not here, anything does.
WISHES = {
    "nest single_panel": Wish(
        [*SHORT_KINDS, "Extreme", "Location"], nest="single_panel"
    ),
    "nest values": Wish(["Values"]),
    "k_block on": Wish(["Long", "LongLocation"]),
    "min_stage_cycles on": Wish(SHORT_KINDS),
    "weight_parts on": Wish(["Blocks"]),
    "filter on": Wish(["LongList"], real="f32"),
    "parts on": Wish(["Long"], real="f32"),
    "several pieces of rows": Wish(SUMS, sizes=lambda _: (3001, 65)),
    "several segments of columns": Wish(
        SHORT_KINDS, sizes=lambda plan: (70, 32 * plan["panel"] + 1),
        is_varied=False,
    ),
    "row tasks of chosen pairs": Wish(SUMS, has_ranges=True),
    "batches": Wish(SUMS, has_batches=True),
    "rows are folded": Wish(SUMS, folds=True),
    "the call decides the width": Wish(["Wide", "Softmax"]),
    "a block that its state limits": Wish(
        ["Wide"], sizes=lambda _: (1100, 17), is_varied=False, widths=[129, 130]
    ),
    "scratch that no thread keeps": Wish(
        ["Wide", "LongSoftmax"], real="f64", is_varied=False,
        widths=[129, 130], sizes=lambda plan: (9, plan["panel"] + 1),
    ),
    "lanes over the many of few points": Wish(
        SHORT_KINDS, sizes=lambda _: (2, (1 << 17) + 1), is_planned=False
    ),
    "components taken for points": Wish(
        ["Plain"], is_planned=False, adjoins=True
    ),
}  # fmt: skip
BESIDE = {"": 0, "one less than": -1, "one more than": 1}
COLUMN_TILED = ["Wide", "Softmax", "LongSoftmax", "List", "LongList"]


def at_edge(step: str, beside: int) -> Wish:
    """Two steps of points, or one more or less."""

    def sizes(plan: dict[str, Any]) -> tuple[int, int]:
        if step == "row tile":
            return 2 * plan["lanes"] * plan["row_vectors"] + beside, 33
        return 33, 2 * plan[step] + beside

    kinds = [kind for kind in KINDS if kind != "Values"]
    return Wish(COLUMN_TILED if step == "column_tile" else kinds, sizes=sizes)


EDGES = {
    f"{beside} whole {step}s".strip(): at_edge(step, number)
    for step in ("panel", "column_tile", "row tile")
    for beside, number in BESIDE.items()
}
THINGS = [
    *(f"nest {name}" for name in NESTS),
    *(f"{name} {state}" for name in SWITCHES for state in ("on", "off")),
    *CUTS,
    *EDGES,
    "column tiles",
    "no column tiles",
]


@pytest.mark.sample(1.0)
@pytest.mark.parametrize("what", THINGS)
def test_everything_that_plans_do(what, record_property):
    """Nests, what plans turn on, how calls are cut, and edges."""
    if lacks(what):
        pytest.skip(lacks(what))
    generator = random.Random(f"{SEED}/{what}")
    wish = {**WISHES, **EDGES}.get(what, Wish())
    met: Counter[str] = Counter()
    calls = []
    for number in range(TRIES):
        kind = generator.choice(wish.kinds)
        real = wish.real or generator.choice(REALS)
        sets = [isa for isa in HERE if suits(kind, isa, real)]
        if not sets:
            continue
        call = draw(generator, kind, generator.choice(sets), number, wish)
        met += check(call, generator.randrange(9))
        calls.append(call)
        if met[what] and len(calls) >= (3 if IS_WHOLE else 1):
            break
    repeat_in_any_order(generator, calls)
    print_counts(record_property, met)
    assert met[what]


def hashes(kinds: list[str]) -> dict[str, str]:
    """Of the results of a call of each kind, in this order."""
    found = {}
    for kind in kinds:
        generator = random.Random(f"{SEED}/process/{kind}")
        isa = generator.choice([isa for isa in HERE if suits(kind, isa, "f32")])
        call = draw(generator, kind, isa, generator.randrange(6), Wish())
        call.surround(generator.randrange(9))
        found[kind] = hashlib.sha256(call.compute().tobytes()).hexdigest()
    return found


def test_another_process_computes_the_same_bits():
    kinds = [kind for kind in KINDS if not lacks(f"kind {kind}")]
    if not IS_WHOLE:
        kinds = random.Random(f"{SEED}/process").sample(kinds, 5)
    code = (
        "import json, sys, test_random_plans as plans;"
        "print(json.dumps(plans.hashes(sys.argv[1:])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *reversed(kinds)],
        cwd=Path(__file__).parent,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TILEFOLD_POISON": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == hashes(kinds)
