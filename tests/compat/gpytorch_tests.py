# tests/compat/gpytorch_tests.py - GPyTorch's own tests, with our kernels.
"""Runs the tests of GPyTorch with its kernels, and with those of tilefold.

    git clone --branch v1.15.2 https://github.com/cornellius-gp/gpytorch /tmp/g
    TILEFOLD_GPYTORCH_TESTS=/tmp/g python tests/compat/gpytorch_tests.py
    … python tests/compat/gpytorch_tests.py kernels lazy      # some folders

Nothing of GPyTorch is copied: its checkout, of the version that is installed,
is read where it lies. Each folder of its tests is run twice, each time in a
process of its own: as it is, and after `tilefold.gpytorch.install()`. The
table counts the tests of each folder that pass with its kernels, those of
them that pass with ours, and those that fail with ours alone, by name. The exit
status is 0 where there are none of these but the ones of `EXCLUDED`.

The tests of KeOps kernels see to it that KeOps is called, by a mock of its
`LazyTensor`. Our kernels do not call it: the mock becomes a no-op.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

# What cannot pass, and why.
EXCLUDED = {
    "test_kernel_output_no_structure": (
        "asks that a scaled sum is a ConstantMulLinearOperator; it is one "
        "formula"
    ),
}


def main() -> int:
    checkout = os.environ.get("TILEFOLD_GPYTORCH_TESTS")
    if not checkout:
        print("TILEFOLD_GPYTORCH_TESTS names no checkout of GPyTorch")
        return 2
    tests = Path(checkout) / "test"
    folders = sys.argv[1:] or _folders(tests)
    print(f"{'folder':18} {'theirs':>7} {'ours':>7} {'failed':>7}  seconds")
    failed: list[str] = []
    sums = [0, 0, 0]
    for folder in folders:
        started = time.monotonic()
        theirs = _passed(tests, folder, "theirs")
        ours = _passed(tests, folder, "ours")
        missing = sorted(theirs - ours)
        failed += missing
        counts = (len(theirs), len(theirs & ours), len(missing))
        sums = [
            total + count for total, count in zip(sums, counts, strict=True)
        ]
        seconds = time.monotonic() - started
        _row(folder, counts, f"{seconds:8.0f}")
    _row("all", sums, "")
    unknown = [name for name in failed if not _reason(name)]
    for name in failed:
        print(f"{name}: {_reason(name) or 'FAILED'}")
    return 1 if unknown else 0


def _row(name, counts, end):
    theirs, ours, failed = counts
    print(f"{name:18} {theirs:7} {ours:7} {failed:7} {end}", flush=True)


def _folders(tests):
    """The folders of tests; those with KeOps apart, and files alone."""
    found = [path.name for path in tests.iterdir() if path.is_dir()]
    names = sorted(name for name in found if not name.startswith("__"))
    return [*names, "kernels/keops", "."]


def _reason(test):
    name = test.rpartition("::")[2]
    return EXCLUDED.get(name, "")


def _passed(tests, folder, kernels):
    """The tests of a folder that pass."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "passed.json"
        command = [sys.executable, __file__, "--run", kernels, folder, report]
        done = subprocess.run(
            command,
            cwd=tests.parent,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        if not report.exists():
            print(done.stdout[-3000:], done.stderr[-3000:])
            raise SystemExit(f"no report of {folder} with {kernels}")
        if os.environ.get("TILEFOLD_COMPAT_LOG"):
            print(done.stdout[-20000:])
        return set(json.loads(report.read_text()))


class _Report:
    """A plugin of pytest that notes what passes."""

    def __init__(self):
        self.passed = []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.passed.append(report.nodeid)


def _run(kernels, folder, report):
    """In a process of its own: the tests of one folder."""
    import pytest

    if kernels == "ours":
        import tilefold.gpytorch

        tilefold.gpytorch.install()
        _without_keops_mock()
    sys.path.insert(0, str(Path.cwd()))
    plugin = _Report()
    arguments = ["-q", "-rf", "-p", "no:cacheprovider"]
    arguments += ["--tb=short", "--rootdir=.", "-W", "ignore"]
    pytest.main([*arguments, *_chosen(folder)], plugins=[plugin])
    Path(report).write_text(json.dumps(plugin.passed))


def _chosen(folder):
    """What pytest is given: a folder without those that are apart."""
    if folder == ".":
        return [str(path) for path in sorted(Path("test").glob("test_*.py"))]
    if folder == "kernels":
        return ["test/kernels", "--ignore=test/kernels/keops"]
    return [f"test/{folder}"]


def _without_keops_mock():
    """The mock of KeOps' lazy tensors does nothing and says it was called."""
    try:
        from gpytorch.test import base_keops_test_case
    except ImportError:
        return
    base_keops_test_case.patch = lambda *_, **__: mock.MagicMock(
        __enter__=lambda _: SimpleNamespace(called=True)
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        _run(*sys.argv[2:5])
    else:
        raise SystemExit(main())
