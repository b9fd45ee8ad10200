# tests/python/test_limits.py - operations of float32 are as exact as
# tests/numerics/limits.csv says, which the reference of the language shows.
from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy import special

import test_random as random_numbers
import tilefold
from instruction_sets import PORTABLE

ROOT = Path(__file__).parents[2]
COUNT, COMPONENTS = 1 << 15, 16


class Limit(NamedTuple):
    """A row: what is computed, of what, and how far off it may be.

    `size` is what an error is relative to, in the place of the result.
    """

    operation: str
    formula: str
    arguments: str
    wanted: str
    size: str
    words: str
    ulp: float


def limits() -> list[Limit]:
    path = ROOT / "tests/numerics/limits.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Limit(**{**row, "ulp": float(row["ulp"])}) for row in rows]


def drawn(random: np.random.Generator, kind: str) -> np.ndarray:
    """Arguments of float32, of which some are small and some are integers."""
    if kind == "vectors":
        return random.standard_normal((COUNT, COMPONENTS)).astype("float32")
    if kind == "matrix":
        size = (COMPONENTS, COMPONENTS)
        return random.standard_normal(size).astype("float32")
    if kind == "whole":
        return random.integers(-(2**31), 2**31, COUNT)
    if found := re.fullmatch(r"(\S+) to (\S+)( log)?", kind):
        low, high = float(found[1]), float(found[2])
        if found[3]:
            values = np.exp(random.uniform(np.log(low), np.log(high), COUNT))
        else:
            values = random.uniform(low, high, COUNT)
            near = np.clip(random.standard_normal(COUNT), low, high)
            values[::4] = near[::4]
            values[1::4] = np.round(values[1::4])
        return np.clip(values.astype("float32"), low, high)
    choices = np.array(kind.split(), "float32")
    return random.choice(choices, COUNT)


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("limit", limits(), ids=lambda row: row.formula)
def test_no_result_is_further_off_than_its_limit(limit, isa):
    random = np.random.default_rng(11)
    given = {
        name: drawn(random, kind)
        for name, kind in re.findall(r"(\w): ([^,]+)", limit.arguments)
    }
    out = np.asarray(
        tilefold.reduce(limit.formula, given, options=tilefold.Options(isa=isa))
    )
    scope = {"np": np, "special": special, "random": random_numbers}
    scope |= {
        name: array.astype(np.float64) if array.dtype.kind == "f" else array
        for name, array in given.items()
    }
    with np.errstate(all="ignore"):
        wanted = np.asarray(eval(limit.wanted, scope))
        if not limit.ulp:
            np.testing.assert_array_equal(out, wanted)
            return
        size = abs(eval(limit.size, scope) if limit.size else wanted)
    held = np.isfinite(wanted) & (size < np.finfo("float32").max)
    tiny = np.finfo("float32").tiny
    unit = np.spacing(np.maximum(size, tiny)[held].astype("float32"))
    errors = abs(out[held].astype(np.float64) - wanted[held]) / unit
    assert held.mean() > 0.7
    assert errors.max() <= limit.ulp + 1e-6


def test_every_operation_is_measured_or_has_a_limit():
    """By ulp.csv, which measures functions of one number on all numbers."""
    path = ROOT / "tests/numerics/ulp.csv"
    with path.open(encoding="utf-8", newline="") as file:
        measured = {row["function"] for row in csv.DictReader(file)}
    table = (ROOT / "compiler/ir/ops.def").read_text(encoding="utf-8")
    rows = re.findall(r'^OP\((\w+), *"([^"]+)"', table, re.MULTILINE)
    limited = {row.operation for row in limits()}
    assert limited <= {name for name, _ in rows}
    missing = {name for name, word in rows if word not in measured} - limited
    assert missing == set()
