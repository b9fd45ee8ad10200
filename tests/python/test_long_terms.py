# tests/python/test_long_terms.py - the code of a pair that is long is there
# once, whatever reduces it: LLVM takes more than twice as long for twice as
# much of it.
from __future__ import annotations

import re

import numpy as np
import pytest

import tilefold
from conftest import stages_of
from instruction_sets import PORTABLE

random = np.random.default_rng(5)
ALIGNED = "softdtw(x_i, y_j, 0.5)"
REDUCTIONS = [
    "min_j {}", "max_j {}", "argmin_j {}", "argmax_j {}", "kmin_j({}, 4)",
    "argkmin_j({}, 4)", "logsumexp_j {}", "softmax_j({}, y_j)", "mean_j {}",
    "prod_j {}", "any_j ({} < 1)", "sum_j {}*y_j", "sum_ij {}",
    "fold_j({}, [0, 0], add, join) with add(s, f) = s + [1, f], "
    "join(s, t) = s + t",
]  # fmt: skip


def sequences(length: int, dtype: str = "float32") -> dict[str, np.ndarray]:
    return {
        "x": random.random((5, length)).astype(dtype),
        "y": random.random((6, length)).astype(dtype),
    }


def instructions(text: str, length: int, dtype: str, isa: str) -> int:
    """Those of LLVM's IR, of all functions."""
    explained = tilefold.compile(text).explain(
        **sequences(length, dtype), options=tilefold.Options(isa=isa)
    )
    functions = re.findall(r"^define .*?^}", explained, re.M | re.S)
    assert functions
    return sum(
        line.startswith("  ") for body in functions for line in body.split("\n")
    )


@pytest.mark.parametrize(
    ("dtype", "isa"), [("float32", PORTABLE[-1]), ("float64", PORTABLE[0])]
)
def test_the_code_of_a_long_term_is_there_once(dtype, isa):
    of_sum = instructions(f"sum_j {ALIGNED}", 5, dtype, isa)
    for reduction in REDUCTIONS:
        text = reduction.format(ALIGNED)
        # What a list of the smallest is beside the term: 1,400.
        assert instructions(text, 5, dtype, isa) < of_sum + 1600, text
    gradient = f"grad({ALIGNED}, x_i)"
    of_sum = instructions(f"sum_j {gradient}", 4, dtype, isa)
    text = f"max_j {gradient}[0]"
    assert instructions(text, 4, dtype, isa) < of_sum + 1600


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_block_is_longer_than_code_generation_likes(dtype, isa):
    """It takes time by the square of a block's length: 30 × 30 took 10.7 s."""
    formula, given = f"sum_j {ALIGNED}", sequences(14, dtype)
    options = tilefold.Options(isa=isa)
    compiled = tilefold.compile(formula)
    code = stages_of(compiled, given, options=options)["LLVM IR"]["text"]
    blocks = re.split(r"^[\w.]+:.*$", code, flags=re.M)
    lengths = [
        sum(line.startswith("  ") for line in block.split("\n"))
        for block in blocks
    ]
    assert sum(length > 900 for length in lengths) > 2
    assert max(lengths) <= 2010
    bound = 1e-5 if dtype == "float32" else 1e-13
    assert compiled.check(given, options=options) < bound


def test_four_times_as_long_a_term_has_four_times_as_much_code():
    counts = [
        instructions(f"argmin_j {ALIGNED}", length, "float32", PORTABLE[-1])
        for length in (5, 10)
    ]
    assert counts[1] < 4.5 * counts[0]


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_long_terms_are_reduced_as_numbers_of_a_table_are(reduction):
    given = sequences(5, "float64")
    matrix = tilefold.kernel(ALIGNED, given).dense()
    found = tilefold.reduce(reduction.format(ALIGNED), given)
    kept = {"A": matrix, "r": np.arange(5), "c": np.arange(6), **given}
    formula = tilefold.compile(reduction.format("A[r_i, c_j]"))
    wanted = formula({name: kept[name] for name, _ in formula.names})
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
