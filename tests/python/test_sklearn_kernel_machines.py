# tests/python/test_sklearn_kernel_machines.py - kernel machines are
# scikit-learn's estimators.
"""scikit-learn's own checks, and its tools around the estimators."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
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
    needed,
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


# ---- libraries that are missing or too old -----------------------------------

OLD = "pip install -U 'tilefold[sklearn]'"


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (
            "import sys; sys.modules['sklearn'] = None",
            "ModuleNotFoundError tilefold.sklearn needs scikit-learn: "
            "pip install 'tilefold[sklearn]'",
        ),
        (
            "import sys; sys.modules['scipy'] = None",
            "ModuleNotFoundError tilefold.sklearn needs scipy: "
            "pip install 'tilefold[sklearn]'",
        ),
        (
            "import sklearn; sklearn.__version__ = '1.8rc1'",
            "ImportError tilefold.sklearn needs scikit-learn 1.9 or later, "
            f"but found 1.8rc1: {OLD}",
        ),
        (
            "import scipy; scipy.__version__ = '1.12.0'",
            "ImportError tilefold.sklearn needs scipy 1.13 or later, but "
            f"found 1.12.0: {OLD}",
        ),
        ("import sklearn; sklearn.__version__ = '1.10.dev0'", "imported"),
    ],
)
def test_a_missing_or_old_library_is_named_with_its_cure(found, message):
    code = (
        f"{found}\nimport tilefold\n"
        "try: import tilefold.sklearn; print('imported')\n"
        "except ImportError as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == message


@pytest.mark.checkout
def test_the_oldest_versions_are_those_of_the_package():
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    extra = project["project"]["optional-dependencies"]["sklearn"]
    assert set(extra) == {
        f"{package}>={least[0]}.{least[1]}"
        for package, least in needed.LEAST.values()
    }
