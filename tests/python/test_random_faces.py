# tests/python/test_random_faces.py - random formulas by every way to call one:
# each gives what NumPy gives in float64.
"""A few hundred cases, the same ones every time, or of a sample those of its
word: calls in memory, kernels, data in parts, PyTorch, Dask, JAX, and chosen
pairs, half of them of the smallest sizes.

TILEFOLD_RANDOM_FACES=5000 makes as many cases; TILEFOLD_RANDOM_SEED=7 makes
others.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
from collections import Counter

import numpy as np
import pytest

import sample
import tilefold
from random_face_calls import FACES
from random_faces import EDGES, FaceCase, Tally, face_case, sizes_of

FIXED = "1"
SEED = os.environ.get(
    "TILEFOLD_RANDOM_SEED", FIXED if sample.is_whole() else sample.SAMPLE
)
#: Of an ordinary run.
ORDINARY = sum(face.count for face in FACES.values())
COUNT = int(os.environ.get("TILEFOLD_RANDOM_FACES", str(ORDINARY)))


def count_of(name: str) -> int:
    """How many cases a face has, of all of them its share."""
    return max(1, FACES[name].count * COUNT // ORDINARY)


def case_of(name: str, number: int, seed: str = SEED) -> FaceCase:
    face = FACES[name]
    generator = random.Random(f"{seed}/{name}/{number}")
    return face_case(generator, number, face.cases, face.smooth)


@pytest.fixture(autouse=True)
def wide():
    """JAX in 64 bits, where it is there."""
    if not importlib.util.find_spec("jax"):
        yield
        return
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.sample(1.0)
@pytest.mark.parametrize("name", FACES)
def test_every_face(name, record_property):
    """Each call is right, or refused with a reason; few are refused."""
    face = FACES[name]
    for library in face.library.split():
        pytest.importorskip(library)
    tally = Tally()
    for number in range(count_of(name)):
        tried = case_of(name, number)
        choices = random.Random(f"{SEED}/{name}/{number}/calls")
        with np.errstate(all="ignore"):
            tally.check(tried, face.answers(tried, choices))
    met = {
        f"{name}: answered": tally.answers,
        f"{name}: refused": tally.refusals.total(),
    }
    record_property("met", json.dumps(met))
    for words, count in tally.refusals.most_common():
        print(f"{count:5} {words}")
    assert tally.answers > 0
    assert tally.answers_most(face.least), tally.refusals.most_common(5)


def test_the_cases_cover_the_smallest_sizes():
    """And long axes; of an ordinary run of faces that have sizes alike."""
    for name in ("calls", "kernels", "ranges", "torch gradients"):
        met: Counter[str] = Counter()
        for number in range(50):
            tried = case_of(name, number, FIXED)
            met.update(sizes_of(tried))
            met["long"] += max(tried.points.values()) > 50
        assert all(met[word] >= 2 for word in [*EDGES, "long"]), (name, met)


def test_a_wrong_answer_is_found():
    """The bounds are narrow enough for a number that is wrong in float32."""
    found = total = 0
    for number in range(20):
        tried = case_of("calls", number, FIXED)
        right = tilefold.reduce(tried.text, **tried.arrays)
        values = np.array(np.asarray(right), np.float64)
        finite = np.isfinite(values)
        if not finite.any():
            continue
        wrong = np.where(finite, values * (1 + 1e-2) + 1e-3, values)
        total += 1
        try:
            Tally().check(tried, [wrong_answer(wrong, tried)])
        except AssertionError:
            found += 1
    assert found >= 0.8 * total
    assert total >= 10


def wrong_answer(values, tried):
    from random_faces import Answer

    return Answer("a wrong call", lambda: values, tried.wanted)
