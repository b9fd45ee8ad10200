# tests/python/test_processor.py - a processor that is older than any kernel.
from __future__ import annotations

import subprocess
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "build/python/bin/test_runtime"


def test_a_processor_without_avx2_is_refused_with_what_to_use():
    """Under emulation: Python's NumPy does not start on such a one."""
    done = subprocess.run(
        [
            *("qemu-x86_64", "-cpu", "Nehalem", str(PROGRAM)),
            "--gtest_filter=OptionsTest.HaveDefaults",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1  # of a test that failed, not of a signal
    assert (
        "this machine does not run 'x86-64-v3'\n"
        "use a processor with AVX2, BMI2 and FMA: Intel's of 2013 and later, "
        "AMD's of 2015 and later" in done.stdout
    ), done.stdout
