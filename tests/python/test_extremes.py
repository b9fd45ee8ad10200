# tests/python/test_extremes.py - every function of the language, of the most
# extreme numbers there are: none ends the process, and none takes long.
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE
from tilefold import _core

tables = dict(_core.language())
FUNCTIONS = sorted(
    {
        name
        for title in ("operations", "functions made of them")
        for name, _ in tables[title]
        if name.isidentifier() and name not in ("neg", "and", "or", "not")
    }
)
INFIX = ["+", "-", "*", "/", "mod", "//", "^", "<", "<=", "==", "!=", ">"]
# Of the text: orders, exponents, sizes and counts that a loop may not follow.
LITERALS = [
    "besselj(1e300, x_i)", "bessely(-1e9, x_i)", "besseli(-1e300, x_i)",
    "besselk(1/0, x_i)", "besselk(0/0, x_i)", "grad(besselj(1e9, x_i), x_i)",
    "polygamma(2000000000, x_i)", "polygamma(1e300, x_i)",
    "grad(polygamma(1000000, x_i), x_i)", "x_i^2147483647", "x_i^-2147483648",
    "x_i^9223372036854775807", "x_i^1e300", "grad(x_i^1000000000, x_i)",
    "jvp(x_i^1000000000, x_i, 1)", "(x_i + y_i)^100000000",
    "bspline(t, x_i, 2)", "bspline(t, x_i, 100000)", "bspline(t, x_i, 1e300)",
    "sum(repeat(x_i, 1000000000))", "sum(arange(1000000000)*x_i)",
    "sum(pad(t, 0, 1000000000)*x_i)", "sum(onehot(x_i, 1000000000))",
    "kmin_j(x_j, 1000000000)", "argkmin_j(x_j, 1e300)", "t[1000000000]",
    "t[x_i]", "softdtw(t, t, x_i)", "kron(t, t, [1000000000], [1000000000])",
    "tensordot(t, t, [4], [4], [1000000000], [0])", "rand(1e300, x_i, x_i)",
    "sum_j randn(7, x_j, x_j)", "n_i^100", "n_i^-3", "n_i // m_i",
    "n_i mod m_i", "n_i*m_i", "x_i^n_i", "besselj(n_i, x_i)",
    "polygamma(n_i, x_i)", "x_i mod n_i", "rand(n_i, m_i, n_i)",
]  # fmt: skip

# Prints a line for every formula, before it runs and when it is done. What
# takes ten times what the slowest function may is too long.
PROGRAM = """
import sys, time
import numpy as np, tilefold
dtype, isa, *formulas = sys.stdin.read().splitlines()
ends = [np.finfo(dtype).max, np.finfo(dtype).tiny,
        np.finfo(dtype).smallest_subnormal, np.inf]
sizes = [0, 1e-9, 0.3, 0.5, 1, 1.5, 2, 2.5, 7, 64.5, 171, 999.5, 1000, 1001,
         3e4, 1e8, 2**31, 2**63, 1e20, 1e38, *ends]
with np.errstate(over="ignore"):
    x = np.array([*sizes, *(-v for v in sizes), np.nan]).astype(dtype)
whole = [0, 1, -1, 2, 3, 7, 2**31, -2**31, 2**53 + 1, 2**62, 2**63 - 1, -2**63]
n = np.resize(np.array(whole), x.size)
arrays = {"x": x, "y": x, "t": np.linspace(0, 1, 4, dtype=dtype), "n": n,
          "m": n[::-1].copy()}
session = tilefold.Session(
    tilefold.Options(cache_directory="", threads=1, isa=isa))
for text in formulas:
    print("begins", text, flush=True)
    start = time.process_time()
    try:
        formula = tilefold.compile(text, session=session)
        given = {name: arrays[name] for name, _ in formula.names}
        formula(given)
    except tilefold.FormulaError as error:
        if error.code == "NoReduction":
            tilefold.kernel(formula, given).dense()
    except tilefold.Error:
        pass
    spent = time.process_time() - start
    assert spent < 5, (text, spent)
print("ends")
"""


def calls(name: str) -> list[str]:
    """With each number of operands that it takes: numbers of two points."""
    found = []
    for count in (1, 2, 3):
        operands = ", ".join(("x_i", "y_j", "x_j")[:count])
        text = f"{name}({operands})"
        try:
            tilefold.compile(text)
        except tilefold.FormulaError:
            continue
        found += [f"sum_j {text}", f"sum_j grad({text}, x_i)"]
    return found


def run(formulas: list[str], dtype: str, isa: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join([dtype, isa, *formulas]),
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.endswith("ends\n"), done.stdout[-200:] + done.stderr
    return done.stdout


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_function_of_extreme_numbers(dtype, isa):
    formulas = [text for name in FUNCTIONS for text in calls(name)]
    assert len(formulas) > 1.5 * len(FUNCTIONS)
    formulas += [f"sum_j (x_i {sign} y_j)" for sign in INFIX]
    for power in ("x_i^y_j", "x_i^n_i*y_j", "x_i^-3*y_j"):
        formulas.append(f"sum_j grad({power}, x_i)")
    run(formulas, dtype, isa)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_number_of_the_text_is_a_number_of_turns(dtype):
    assert run(LITERALS, dtype, PORTABLE[0]).count("begins") == len(LITERALS)


INFINITE = [np.inf, -np.inf, 1.5, -1.5, 0.0, 1e308, -1e308, 1e-300]


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("text", "of"), [
    ("a_i mod b_j", np.mod),
    ("a_i // b_j", np.floor_divide),
    ("logaddexp(a_i, b_j)", np.logaddexp),
    ("atan2(a_i, b_j)", np.arctan2),
])  # fmt: skip
def test_infinite_and_largest_numbers_are_numpys(text, of, dtype, isa):
    with np.errstate(all="ignore"):
        a = np.array(INFINITE).astype(dtype)
        b = np.array([*INFINITE, 2.0, -2.0]).astype(dtype)
        b = b[b != 0] if of in (np.mod, np.floor_divide) else b
        wanted = of(a[:, None], b)
        if of in (np.mod, np.floor_divide):  # of 1e308 by 1.5: no digits
            wanted[abs(a[:, None] / b) > 1e15] = np.nan
    session = tilefold.Session(tilefold.Options(isa=isa))
    found = tilefold.kernel(text, a=a, b=b, session=session).dense()
    found[np.isnan(wanted)] = np.nan
    np.testing.assert_allclose(found, wanted, 1e-6, 1e-38)


def test_what_exceeds_is_refused_or_has_no_value():
    x = np.array([0.5, 3.0])
    for text in ("besselj(1e300, x_i)", "polygamma(2000000000, x_i)"):
        assert np.isnan(tilefold.reduce(text, x=x)).all()
    for text in ("kmin_j(x_j, 1000000000)", "sum(onehot(x_i, 1000000000))"):
        with pytest.raises(tilefold.Error):
            tilefold.reduce(text, x=x)
