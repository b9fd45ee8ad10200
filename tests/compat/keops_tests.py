# tests/compat/keops_tests.py - KeOps's own tests and programs, on tilefold.
"""Runs KeOps's tests, and its tutorials, by the pytest plugin and the runner.

    git clone --branch v2.3 https://github.com/getkeops/keops /tmp/keops
    git clone https://github.com/jeanfeydy/geomloss /tmp/geomloss
    TILEFOLD_KEOPS_TESTS=/tmp/keops TILEFOLD_GEOMLOSS_TESTS=/tmp/geomloss \\
        python tests/compat/keops_tests.py
    … python tests/compat/keops_tests.py pykeops geomloss    # some suites
    … python tests/compat/keops_tests.py programs knn        # and programs

geomloss's tests import pytest_check and Hypothesis, which are to be installed.
Nothing of KeOps is copied: its checkout is read where it lies, unmodified.
The table counts the tests of each file that pass, fail and are skipped, and
how many seconds they took; of programs, each that ended without an error. The
exit status is 0 where none failed. Without a checkout there is nothing to do,
which a sentence says.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KEOPS, GEOMLOSS = "TILEFOLD_KEOPS_TESTS", "TILEFOLD_GEOMLOSS_TESTS"
# Each suite: whose checkout, and its folder of tests.
SUITES = {
    "pykeops": (KEOPS, "pykeops/pykeops/test"),
    "keopscore": (KEOPS, "keopscore/keopscore/test"),
    "geomloss": (GEOMLOSS, "tests"),
}
PROGRAMS = "pykeops/pykeops"
FOLDERS = ("tutorials", "examples", "benchmarks")
# What a program needs that is not here, or how it is called.
LEFT_OUT = {
    "__init__.py": "no program",
    "benchmark_KNN.py": "imports FAISS, JAX and other GPU libraries",
    "benchmark_utils.py": "imported by others",
    "dataset_utils.py": "imported by others",
    "plot_accuracy.py": "names np.NaN, which NumPy 2 does not have",
    "plot_gpu_select_example.py": "selects among GPUs",
    "plot_gpu_select_numpy.py": "selects among GPUs",
    "plot_gpytorch.py": "holds a link alone",
    "plot_knn_mnist.py": "downloads MNIST",
    "plot_multi_gpu.py": "uses two GPUs",
}
SECONDS = 900  # the longest that a program may take


def main() -> int:
    chosen = sys.argv[1:]
    if not os.environ.get(KEOPS):
        print(f"nothing to run: {KEOPS} names no checkout of KeOps")
        return 0
    failed: list[str] = []
    if chosen[:1] != ["programs"]:
        failed += _suites(chosen or list(SUITES))
    if not chosen or chosen[0] == "programs":
        failed += _programs(chosen[1:])
    for name in failed:
        print(f"FAILED {name}")
    return 1 if failed else 0


def _suites(names):
    print(f"{'file':44} {'passed':>6} {'failed':>6} {'skipped':>7} seconds")
    failed = []
    for name in names:
        variable, folder = SUITES[name]
        if not os.environ.get(variable):
            print(f"{name}: {variable} names no checkout")
            continue
        tests = Path(os.environ[variable]) / folder
        totals = collections.Counter()
        for file, row in sorted(_results(tests).items()):
            counts = collections.Counter(row["outcomes"].values())
            totals += counts
            _row(f"{name}/{file}", counts, row["seconds"])
            failed += [
                f"{name}: {test}"
                for test, outcome in row["outcomes"].items()
                if outcome == "failed"
            ]
        _row(name, totals, 0)
        if not totals["passed"]:
            failed.append(f"{name}: no test ran")
    return failed


def _row(name, counts, seconds):
    passed, wrong, skipped = (
        counts[outcome] for outcome in ("passed", "failed", "skipped")
    )
    print(f"{name:44} {passed:6} {wrong:6} {skipped:7} {seconds:7.1f}")


def _results(tests):
    """Of each file of a folder: the outcome of each test, and seconds."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "results.json"
        done = subprocess.run(
            [sys.executable, __file__, "--run", tests, report],
            cwd=scratch,
            capture_output=True,
            text=True,
            check=False,
            env=_environment(scratch),
        )
        if os.environ.get("TILEFOLD_COMPAT_LOG") or not report.exists():
            print(done.stdout[-30000:], done.stderr[-3000:])
        return json.loads(report.read_text()) if report.exists() else {}


def _environment(scratch):
    # Tests and programs find the modules of their checkout by themselves, but
    # for geomloss, which lies in src; matplotlib draws into memory.
    paths = [os.environ.get("PYTHONPATH", "")]
    if os.environ.get(GEOMLOSS):
        paths.insert(0, str(Path(os.environ[GEOMLOSS], "src")))
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "MPLBACKEND": "Agg",
        "PYKEOPS_VERBOSE": "0",
        "TILEFOLD_CACHE_DIR": os.environ.get("TILEFOLD_CACHE_DIR", scratch),
    }


class _Report:
    """A plugin of pytest that notes the outcome of each test."""

    def __init__(self):
        self.files = {}

    def _file(self, nodeid):
        name = Path(nodeid.partition("::")[0]).name
        return self.files.setdefault(name, {"outcomes": {}, "seconds": 0})

    def pytest_collectreport(self, report):
        if report.failed:
            self._file(report.nodeid)["outcomes"][report.nodeid] = "failed"

    def pytest_runtest_logreport(self, report):
        row = self._file(report.nodeid)
        row["seconds"] += report.duration
        if report.when == "call" or report.outcome != "passed":
            row["outcomes"][report.nodeid] = report.outcome


def _run(tests, report):
    """In a process of its own: the tests of one folder."""
    import hypothesis
    import pytest

    # Limits of milliseconds are for machines that do nothing else.
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")
    noted = _Report()
    options = ["-q", "-p", "tilefold.compat.pykeops", "-p", "no:cacheprovider"]
    options += ["--tb=short", "-W", "ignore", "--rootdir", tests]
    # Options of the checkout are for tools that are not here.
    options += ["--continue-on-collection-errors", "-o", "addopts="]
    pytest.main([*options, tests], plugins=[noted])
    Path(report).write_text(json.dumps(noted.files))


def _programs(names):
    checkout = Path(os.environ[KEOPS]) / PROGRAMS
    failed = []
    for folder in FOLDERS:
        for path in sorted((checkout / folder).rglob("*.py")):
            name = str(path.relative_to(checkout))
            if names and not any(each in name for each in names):
                continue
            if path.name in LEFT_OUT:
                print(f"{name:64} left out: {LEFT_OUT[path.name]}")
                continue
            started = time.monotonic()
            reason = _program(path)
            seconds = time.monotonic() - started
            word = "FAILED" if reason else "ok"
            print(f"{name:64} {word:6} {seconds:7.1f}", flush=True)
            if reason:
                failed.append(f"{name}: {reason}")
    return failed


def _program(path):
    """Why a program did not run to its end; "" where it did."""
    with tempfile.TemporaryDirectory() as scratch:
        # Some read data beside them, and write some folders above.
        below = Path(scratch, "a", "b", "c", "d")
        below.mkdir(parents=True)
        (below / "data").symlink_to(path.parent / "data")
        command = [sys.executable, "-W", "ignore"]
        command += ["-m", "tilefold.compat.pykeops", path]
        try:
            done = subprocess.run(
                command,
                cwd=below,
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
                env=_environment(scratch),
            )
        except subprocess.TimeoutExpired:
            return f"ran longer than {SECONDS} s"
    if done.returncode == 0:
        return ""
    return "\n".join(done.stderr.strip().splitlines()[-8:]) or "no message"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        _run(*sys.argv[2:4])
    else:
        raise SystemExit(main())
