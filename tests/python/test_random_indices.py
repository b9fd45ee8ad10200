# tests/python/test_random_indices.py - any index of kernels of any width, with
# batches, transposed, and of parts of one another, as NumPy has it.
"""What is refused is refused by a message that says what to write; nearly all
that NumPy takes is taken."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import sample
import tilefold
from plan_families import FAMILIES
from random_indices import random_index
from random_plans import Call
from random_recipes import Maker

IS_WHOLE = sample.is_whole()
SEED = os.environ.get(
    "TILEFOLD_RANDOM_SEED", "1" if IS_WHOLE else sample.SAMPLE
)
CODES = {"KernelIndex", "KernelLists", "KernelPairs", "WrongComponents"}
SIZES = [1, 2, 3, 5, 8, 17, 33]


def kernel_of(generator: random.Random) -> tuple[tilefold.Kernel, np.ndarray]:
    """A kernel of random values, and its array."""
    while True:
        make = Maker(generator, "", generator.choice(["f32", "f64", "f64"]))
        recipe = FAMILIES["Values"](make)
        if recipe.kernel:
            break
    sizes = generator.choice(SIZES), generator.choice(SIZES)
    batch = generator.choice([0, 0, 2, 3])
    call = Call(generator, recipe, sizes, {}, batch)
    kernel = tilefold.kernel(call.formula, call.arguments())
    dense = kernel.dense()
    assert call.error(dense) <= 1, call.describe()
    return kernel, dense


def transposed(dense: np.ndarray, has_batch: bool) -> np.ndarray:
    return np.swapaxes(dense, has_batch, has_batch + 1)


def tolerance_of(dense: np.ndarray) -> float:
    """Other sizes may have other plans: bits may differ."""
    return 1e-4 if dense.dtype == np.float32 else 1e-10


def try_index(
    kernel: tilefold.Kernel, dense: np.ndarray, index: tuple
) -> tuple[bool, bool]:
    """Whether NumPy takes it, and whether it is taken here."""
    try:
        wanted = dense[index]
    except IndexError:
        wanted = None
    found, refusal = None, ""
    try:
        found = kernel[index]
    except tilefold.Error as error:
        refusal = error.code
    if refusal:
        assert wanted is None or refusal in CODES, index
        return wanted is not None, False
    assert wanted is not None, index
    # Lists of rows are int64, which a mask of row numbers is computed with.
    assert np.dtype(found.dtype) in (dense.dtype, np.dtype(np.float64))
    atol = tolerance_of(dense) * (1 + np.abs(dense).max(initial=0))
    dense_found = found.dense() if hasattr(found, "dense") else found
    assert np.shape(dense_found) == wanted.shape, index
    np.testing.assert_allclose(dense_found, wanted, atol=atol, err_msg=index)
    if hasattr(found, "dense"):
        compute_with(found, wanted, atol)
    return True, True


def compute_with(part: tilefold.Kernel, dense: np.ndarray, atol: float) -> None:
    """Sums over rows, and over columns."""
    assert part.shape == dense.shape
    batches = len(part._pair.batch)
    for axis in (batches, batches + 1):
        if dense.size:
            np.testing.assert_allclose(
                part.sum(axis), dense.sum(axis), atol=atol * dense.shape[axis]
            )


@pytest.mark.sample(1.0)
@pytest.mark.parametrize("number", range(40 if IS_WHOLE else 6))
def test_any_index_is_numpys(number):
    generator = random.Random(f"{SEED}/indices/{number}")
    indices = np.random.default_rng(generator.randrange(2**32))
    kernel, dense = kernel_of(generator)
    has_batch = len(kernel._pair.batch) > 0
    counts = np.zeros(2, int)
    for _ in range(25):
        index = random_index(indices, dense.shape)
        counts += try_index(kernel, dense, index)
        other = random_index(indices, transposed(dense, has_batch).shape)
        counts += try_index(kernel.T, transposed(dense, has_batch), other)
    known, taken = counts
    assert taken > 0.4 * known


def test_parts_of_parts_are_numpys():
    """An index of what an index has left lazy."""
    generator = random.Random(f"{SEED}/parts")
    indices = np.random.default_rng(generator.randrange(2**32))
    tried = 0
    for _ in range(40 if IS_WHOLE else 10):
        part, dense = kernel_of(generator)
        for _ in range(3):
            index = random_index(indices, dense.shape, new_axes=False)
            try:
                part, dense = part[index], dense[index]
            except (tilefold.Error, IndexError):
                continue
            if not hasattr(part, "dense"):
                break
            atol = tolerance_of(dense) * (1 + np.abs(dense).max(initial=0))
            np.testing.assert_allclose(part.dense(), dense, atol=atol)
            tried += 1
    assert tried > 10


def test_new_axes_are_refused():
    generator = random.Random(f"{SEED}/axes")
    kernel, dense = kernel_of(generator)
    for index in [None, (None, 0), (0, None), (..., None)]:
        assert dense[index].ndim >= 0
        with pytest.raises(tilefold.ArgumentError) as caught:
            kernel[index]
        assert caught.value.code == "KernelIndex"
