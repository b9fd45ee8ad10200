# bench/tasks/scipy_operators/task.py - a lazy kernel in SciPy's solvers.
"""SciPy's eigsh (six eigenvalues, tol 1e-4) with a Gaussian kernel of 20,000
points, as `tilefold.scipy.operator` and as a matrix that is made first; and 16
columns through the operator, in one pass and one after the other, as
`scipy.sparse.linalg.aslinearoperator(K)` has them. Memory is the growth of the
resident peak in the first call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench.case import Case
from bench.goals import at_most, times_faster
from bench.spectra import Products, Spectrum

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.spectra import Points

TITLE = "SciPy's operators"
TABLE = "times"


def _of(make: Callable[[int], Points], count: int, quick: bool) -> Points:
    """The problem, or a small one."""
    return make(1_000 if quick else count)


CASES = [
    Case(
        name="scipy_operators_eigsh",
        title="eigsh, 20,000 points, 6 eigenvalues, float32",
        problem=partial(_of, Spectrum, 20_000),
        tolerance=1e-3,
        contenders=("scipy_dense", "tilefold"),
        goals=(
            at_most(
                "eigsh, N = 20,000", "tilefold/seconds/median", 2.2, 1, " s"
            ),
            times_faster("scipy_dense", 10),
            at_most("its memory", "tilefold/peak_bytes", 60, 1e-6, " MB"),
        ),
    ),
    Case(
        name="scipy_operators_columns",
        title="16 columns, 20,000 points, float32",
        problem=partial(_of, Products, 20_000),
        tolerance=1e-5,
        contenders=("one_by_one", "tilefold"),
        # In the time of four columns at most.
        goals=(times_faster("one_by_one", 4),),
    ),
]
