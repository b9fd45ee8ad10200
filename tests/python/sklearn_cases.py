# tests/python/sklearn_cases.py - scikit-learn's own checks of estimators.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

ROOT = Path(__file__).parents[2]


def name_of(check):
    return getattr(check, "func", check).__name__


def concerns(estimator, name):
    """Whether a check would not skip itself.

    Those of arrays of other libraries are for a child.
    """
    if name.endswith("_output_format_decision_function"):
        return hasattr(estimator, "decision_function")
    return not name.startswith("check_array_api")


def checks(estimators):
    """Estimators with the checks that concern them."""
    for number, estimator in enumerate(estimators):
        found = estimator_checks_generator(estimator, mark=None)
        for place, (_, check) in enumerate(found):
            if concerns(estimator, name_of(check)):
                title = f"{type(estimator).__name__}{number}"
                name = f"{title}-{place}-{name_of(check)}"
                yield pytest.param(estimator, check, id=name)


_ARRAY_API = """
import importlib, warnings
from sklearn.utils import estimator_checks as checks
from sklearn.utils._array_api import NamespaceAndDevice as Place
warnings.simplefilter("ignore")
module = importlib.import_module(MODULE)
places = Place("array_api_strict", None), Place("torch", "cpu")
for estimator in module.WITH_ARRAYS:
    name = type(estimator).__name__
    for place in places:
        for kind in "float64", "float32":
            checks.check_array_api_input(
                name, estimator, *place, kind, check_values=True,
                check_sample_weight=True)
        checks.check_array_api_input_and_values(name, estimator, *place)
        checks.check_array_api_same_namespace(name, estimator, *place)
        numpy = Place("numpy", None)
        for pair in (place, numpy), (numpy, place):
            checks.check_array_api_mixed_inputs(
                name, estimator, *pair, check_values=True)
    print("passed", repr(estimator))
"""


def passed_with_arrays(module):
    """What a child says in which SciPy takes arrays of other libraries.

    It has to be told before SciPy is imported.
    """
    program = _ARRAY_API.replace("MODULE", repr(module))
    return child(program, SCIPY_ARRAY_API="1").splitlines()


def child(program, **variables):
    """What a Python process prints; its errors are the caller's."""
    paths = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "tools")]
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | variables,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


_MEMORY = """
import resource
import numpy as np
from tilefold.sklearn import *
random = np.random.default_rng(0)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
def run(points, queries):
    WORK
few, many = random.random((2000, 2)), random.random((100_000, 2))
run(few, few)
before = peak()
run(many, many[:QUERIES])
print(peak() - before)
"""


def megabytes(work, queries=5000):
    """How much a child's memory grows by work on 100,000 points."""
    program = _MEMORY.replace("WORK", work).replace("QUERIES", str(queries))
    return int(child(program))
