# tests/python/test_tuning.py - plans timed once, and kept.
"""`Options(tune=True)` and `Formula.plans`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE

if TYPE_CHECKING:
    from pathlib import Path

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"


def points(count: int, dimension: int, width: int = 0) -> dict[str, Any]:
    """Arguments of GAUSSIAN, `count` on either axis."""
    random = np.random.default_rng(3)
    shape = (count, width) if width else (count,)
    return {
        "x": random.random((count, dimension), dtype=np.float32),
        "y": random.random((count, dimension), dtype=np.float32),
        "b": random.random(shape, dtype=np.float32),
        "l": 0.5,
    }


def gaussian(arrays: dict[str, Any]) -> np.ndarray:
    """The sum in float64."""
    x, y = (arrays[name].astype(np.float64) for name in "xy")
    distances = ((x[:, None] - y[None]) ** 2).sum(-1)
    return np.exp(-distances / (2 * arrays["l"] ** 2)) @ arrays["b"]


def session(folder: Path | str, **settings: Any) -> tilefold.Session:
    """One that tunes, with a cache of its own."""
    return tilefold.Session(
        tilefold.Options(tune=True, cache_directory=str(folder), **settings)
    )


@pytest.mark.parametrize(
    ("formula", "dimension", "width"),
    [
        (GAUSSIAN, 3, 0),
        (GAUSSIAN, 16, 0),
        (GAUSSIAN, 64, 0),
        (GAUSSIAN, 500, 0),
        ("argkmin_j(|x_i - y_j|², 10)", 3, 0),
        ("softmax_j(x_i·y_j/8, b_j)", 64, 64),
        ("logsumexp_j(-|x_i - y_j|²)", 3, 0),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_at_least_six_plans_can_be_forced(
    formula: str, dimension: int, width: int, dtype: type
) -> None:
    arrays = {
        name: array.astype(dtype) if name != "l" else array
        for name, array in points(50, dimension, width).items()
        if f"{name}_" in formula or (name == "l" and "l²" in formula)
    }
    compiled = tilefold.compile(formula)
    plans = compiled.plans(**arrays)
    assert len(set(plans)) >= 6
    expected = compiled(**arrays)
    for plan in plans:
        forced = compiled(**arrays, options=tilefold.Options(plan=plan))
        np.testing.assert_allclose(forced, expected, rtol=3e-5)


def random_plan(random: np.random.Generator, isa: str) -> str:
    """Any numbers that the text of a plan may have."""
    lanes = 8 if isa == "x86-64-v3" else 16
    row_vectors, columns = random.integers(1, 9), random.integers(1, 7)
    panel = columns * random.integers(1, 40)
    multiple = np.lcm(64, lanes * row_vectors)
    row_block = multiple * random.integers(1, 8192 // multiple + 1)
    stage = random.choice([0, 0, 1, 9, 30])
    return (
        f"isa={isa} nest=reduce lanes={lanes} row_vectors={row_vectors} "
        f"columns={columns} panel={panel} row_block={row_block} "
        f"unroll={random.integers(4, 12)} k_block={random.integers(0, 30)} "
        f"column_tile={random.integers(1, 200)} min_stage_cycles={stage}"
    )


@pytest.mark.parametrize("seed", range(32))
@pytest.mark.parametrize("isa", PORTABLE)
def test_any_plan_that_is_taken_gives_the_same_result(
    seed: int, isa: str
) -> None:
    random = np.random.default_rng(seed)
    plan = random_plan(random, isa)
    formula, dimension, width = [
        (GAUSSIAN, 3, 0),
        (GAUSSIAN, 40, 0),
        (GAUSSIAN, 8, 11),
        ("softmax_j(x_i·y_j/8, b_j)", 13, 9),
        ("logsumexp_j(b_j x_i·y_j)", 5, 0),
        ("max_j (b_j x_i·y_j)", 3, 0),
        ("argmin_j (b_j x_i·y_j)", 3, 0),
        ("sum_j where(x_i·y_j < 0, b_j, -b_j)", 6, 17),
    ][seed % 8]
    arrays = points(int(random.integers(1, 2600)), dimension, width)
    if formula != GAUSSIAN:
        del arrays["l"]
    expected = tilefold.reduce(formula, **arrays)
    alone, *others = (
        tilefold.reduce(
            formula,
            **arrays,
            options=tilefold.Options(plan=plan, isa=isa, threads=threads),
        )
        for threads in (1, 2, 3, 8)
    )
    np.testing.assert_allclose(alone, expected, rtol=3e-5, err_msg=plan)
    for found in others:
        np.testing.assert_array_equal(found, alone, err_msg=plan)


def test_a_plan_with_blocks_of_broken_tiles_is_refused() -> None:
    plan = (
        "isa=x86-64-v3 nest=reduce lanes=8 row_vectors=3 columns=4 panel=256 "
        "row_block=1008 unroll=5 k_block=0 min_stage_cycles=0"
    )
    with pytest.raises(tilefold.ArgumentError, match="multiple of 192"):
        tilefold.Options(plan=plan)


@pytest.mark.parametrize("isa", PORTABLE)
def test_a_plan_has_vectors_of_the_dtype_that_is_computed(isa: str) -> None:
    """Those of the other one would leave out rows, or write beyond them."""
    bytes_of_vector = 32 if isa == "x86-64-v3" else 64
    for dtype, size, other in ((np.float64, 8, 4), (np.float32, 4, 8)):
        x = np.random.default_rng(5).random(100).astype(dtype)
        for bytes_of_number in (size, other):
            lanes = bytes_of_vector // bytes_of_number
            plan = (
                f"isa={isa} nest=reduce lanes={lanes} row_vectors=1 columns=2 "
                "panel=64 row_block=64 unroll=8 k_block=0 column_tile=64 "
                "min_stage_cycles=0"
            )
            options = tilefold.Options(plan=plan, isa=isa)
            call = partial(
                tilefold.reduce, "sum_j exp(-(x_i-x_j)²)", x=x, options=options
            )
            if bytes_of_number == size:
                wanted = np.exp(-((x[:, None] - x) ** 2)).sum(1)
                np.testing.assert_allclose(call(), wanted, rtol=1e-5)
                continue
            with pytest.raises(tilefold.ArgumentError) as caught:
                call()
            assert caught.value.code == "BadPlan"
            assert f"{bytes_of_vector // size} expected" in str(caught.value)


def test_a_tuned_call_computes_the_same(tmp_path: Path) -> None:
    arrays = points(1100, 3)
    out = tilefold.reduce(GAUSSIAN, **arrays, session=session(tmp_path))
    np.testing.assert_allclose(out, gaussian(arrays), rtol=1e-5)


def test_plans_are_timed_once_and_the_winner_is_kept(tmp_path: Path) -> None:
    arrays = points(1100, 3)
    first = session(tmp_path)
    out = tilefold.reduce(GAUSSIAN, **arrays, session=first)
    timed = first.stats().compiles
    assert timed >= 2
    again = tilefold.reduce(GAUSSIAN, **arrays, session=first)
    assert first.stats().compiles == timed
    second = session(tmp_path)
    kept = tilefold.reduce(GAUSSIAN, **arrays, session=second)
    assert second.stats().compiles == 0
    assert second.stats().disk_hits == 1
    np.testing.assert_array_equal(out, again)
    np.testing.assert_array_equal(out, kept)


def test_small_calls_are_not_worth_it(tmp_path: Path) -> None:
    small = session(tmp_path)
    tilefold.reduce(GAUSSIAN, **points(100, 3), session=small)
    assert small.stats().compiles == 1
    tilefold.reduce(GAUSSIAN, **points(1100, 3), session=small)
    assert small.stats().compiles >= 2


def test_a_forced_plan_wins(tmp_path: Path) -> None:
    arrays = points(1100, 3)
    plan = tilefold.compile(GAUSSIAN).plans(**arrays)[-1]
    forced = session(tmp_path, plan=plan)
    tilefold.reduce(GAUSSIAN, **arrays, session=forced)
    assert forced.stats().compiles == 1


def test_without_a_cache_plans_are_timed_again() -> None:
    arrays = points(1100, 3)
    for _ in range(2):
        fresh = session("")
        out = tilefold.reduce(GAUSSIAN, **arrays, session=fresh)
        assert fresh.stats().compiles >= 2
    np.testing.assert_allclose(out, gaussian(arrays), rtol=1e-5)


def test_a_damaged_winner_is_found_again(tmp_path: Path) -> None:
    arrays = points(1100, 3)
    tilefold.reduce(GAUSSIAN, **arrays, session=session(tmp_path))
    for entry in tmp_path.iterdir():
        entry.write_bytes(entry.read_bytes()[:-3] + b"???")
    again = session(tmp_path)
    out = tilefold.reduce(GAUSSIAN, **arrays, session=again)
    assert again.stats().compiles >= 2
    np.testing.assert_allclose(out, gaussian(arrays), rtol=1e-5)


@pytest.mark.parametrize("width", [0, 3])
def test_every_kernel_of_a_derivative_is_tuned(
    tmp_path: Path, width: int
) -> None:
    arrays = points(1100, 3, width)
    gradient = tilefold.compile(GAUSSIAN).grad(["x", "y", "l"])
    cotangent = np.ones(arrays["b"].shape, np.float32)
    expected = gradient(**arrays, grad=cotangent)
    tuning = session(tmp_path)
    found = gradient(**arrays, grad=cotangent, session=tuning)
    assert tuning.stats().compiles >= 4
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-2)


def test_tables_masks_and_batches_are_tuned_without_harm(
    tmp_path: Path,
) -> None:
    random = np.random.default_rng(4)
    table = random.random((5, 7))
    r, c = random.integers(0, 5, 1100), random.integers(0, 7, 1100)
    tuning = session(tmp_path)
    out = tilefold.reduce(
        "sum_j where(j <= i, A[r_i, c_j], 0)",
        A=table,
        r=r,
        c=c,
        session=tuning,
    )
    mask = np.tril(np.ones((1100, 1100)))
    expected = (table[r[:, None], c[None]] * mask).sum(1)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    x = random.random((40, 200, 2))
    y = random.random((40, 200, 2))
    maxima = tilefold.reduce("max_j x_i·y_j", x=x, y=y, session=tuning)
    np.testing.assert_allclose(
        maxima, np.einsum("bid,bjd->bij", x, y).max(-1), rtol=1e-14
    )
    assert tuning.stats().compiles >= 4


def test_the_environment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEFOLD_TUNE", "1")
    tuning = tilefold.Session(tilefold.Options(cache_directory=str(tmp_path)))
    tilefold.reduce(GAUSSIAN, **points(1100, 3), session=tuning)
    assert tuning.stats().compiles >= 2
    monkeypatch.setenv("TILEFOLD_TUNE", "maybe")
    with pytest.raises(tilefold.ArgumentError, match="TILEFOLD_TUNE"):
        tilefold.Session()
