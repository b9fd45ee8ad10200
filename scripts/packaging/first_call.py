#!/usr/bin/env python3
# scripts/packaging/first_call.py - what a wheel's first call takes.
"""`first_call.py MOST`: milliseconds of an import and of a first call.

Of processes that each find an empty cache the least is printed, for other
programs only add to it; more than MOST milliseconds of the call are a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

TIMES = 11
PROGRAM = """
import time
import numpy as np
x = np.random.default_rng(1).random((200, 3))
b = x[:, 0].copy()
start = time.perf_counter()
import tilefold
imported = time.perf_counter()
result = tilefold.reduce("sum_j exp(-|x_i - x_j|^2/2l^2) b_j", x=x, b=b, l=0.5)
end = time.perf_counter()
dense = np.exp(-2 * ((x[:, None] - x) ** 2).sum(-1)) @ b
assert np.allclose(result, dense, rtol=1e-12), "the result is wrong"
print(1e3 * (imported - start), 1e3 * (end - imported))
"""


def measured() -> tuple[float, float]:
    """Milliseconds of the import, behind NumPy's, and of the first call."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"HOME": home},
            cwd=home,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    imported, called = map(float, done.stdout.split())
    return imported, called


if __name__ == "__main__":
    most = float(sys.argv[1])
    imports, calls = zip(*(measured() for _ in range(TIMES)), strict=True)
    print(
        f"import {min(imports):.1f} ms beside NumPy's, first call "
        f"{min(calls):.1f} ms (the least of {TIMES} processes)"
    )
    if min(calls) > most:
        sys.exit(f"the first call takes more than {most:.0f} ms")
