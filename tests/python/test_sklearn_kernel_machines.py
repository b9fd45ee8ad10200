# tests/python/test_sklearn_kernel_machines.py - kernel machines are
# scikit-learn's estimators.
"""scikit-learn's own checks, and its tools around the estimators."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from tilefold.sklearn import (
    FormulaKernel,
    GaussianProcessRegressor,
    KernelRidge,
    Nystroem,
    NystroemRidge,
    SpectralClustering,
)

FORMULA = {"kernel": "exp(-|x_i - y_j|/l)", "kernel_params": {"l": 2.0}}
SMOOTH = {"kernel": "exp(-|x_i - y_j|²/2l²)", "kernel_params": {"l": 5.0}}
AFFINITY = {
    "affinity": "1/(1 + |x_i - y_j|²/l²)",
    "kernel_params": {"l": 1.5},
}
ESTIMATORS = [
    KernelRidge(),
    KernelRidge(direct_below=0, **FORMULA),
    Nystroem(),
    Nystroem(**FORMULA),
    NystroemRidge(),
    NystroemRidge(100, alpha=1e-3, **SMOOTH),
    SpectralClustering(),
    SpectralClustering(3, **AFFINITY),
    GaussianProcessRegressor(),
    GaussianProcessRegressor(
        FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1.0, l=(3.0, (1, 9))),
        alpha=0.1,
        direct_below=0,
        random_state=0,
    ),
]


def name_of(check):
    return getattr(check, "func", check).__name__


def checks():
    """All but those of arrays of other libraries, which a child has."""
    for number, estimator in enumerate(ESTIMATORS):
        found = estimator_checks_generator(estimator, mark=None)
        for place, (_, check) in enumerate(found):
            if not name_of(check).startswith("check_array_api"):
                title = f"{type(estimator).__name__}{number}"
                name = f"{title}-{place}-{name_of(check)}"
                yield pytest.param(estimator, check, id=name)


@pytest.mark.sample(0.3)
@pytest.mark.filterwarnings("ignore")  # of which checks make many
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_an_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


ARRAY_API = """
import unittest, warnings
from tests.python import test_sklearn_kernel_machines as machines
warnings.simplefilter("ignore")
done = 0
for estimator in machines.ESTIMATORS[::2]:  # of each class one
    for _, check in machines.estimator_checks_generator(estimator, mark=None):
        if not machines.name_of(check).startswith("check_array_api"):
            continue
        where = str(check.keywords)
        if "cupy" in where or "dpnp" in where or "cuda" in where:
            continue
        if "mps" in where or "xpu" in where:
            continue
        try:
            check(estimator)
        except unittest.SkipTest as skipped:
            print("skipped", where, skipped)
            continue
        except Exception as error:
            raise RuntimeError(f"{estimator} {check}") from error
        done += 1
print("checks:", done)
"""


def test_arrays_of_other_libraries_stay_theirs():
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, "-c", ARRAY_API],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": path},
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    print(found.stdout)
    assert int(found.stdout.rpartition("checks:")[2]) >= 8
