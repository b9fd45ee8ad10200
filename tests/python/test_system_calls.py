# tests/python/test_system_calls.py - what a first call asks of the system.
from __future__ import annotations

import re
import subprocess
import sys

PROGRAM = """
import numpy as np, tilefold
out = tilefold.reduce("sum_j exp(-|x_i - x_j|²)", x=np.zeros((5, 3)))
assert np.array_equal(out, np.full(5, 5.0)), out
assert tilefold.stats().compiles == 1
"""


def test_a_first_call_starts_nothing_and_writes_to_the_cache_alone(tmp_path):
    log, cache = tmp_path / "log", tmp_path / "cache"
    subprocess.run(
        [
            *("strace", "-f", "-qq", "-o", str(log)),
            *("-e", "trace=execve,execveat,socket,connect,openat,open,creat"),
            *(sys.executable, "-B", "-c", PROGRAM),
        ],
        env={"HOME": str(tmp_path), "TILEFOLD_CACHE_DIR": str(cache)},
        check=True,
    )
    calls = log.read_text()
    assert len(re.findall(r"\bexecve(at)?\(", calls)) == 1
    assert not re.findall(r"\b(socket|connect)\(", calls)
    written = re.findall(
        r'open(?:at)?\((?:\w+, )?"([^"]+)", [^)]*O_(?:WRONLY|RDWR|CREAT)', calls
    )
    # Names in a folder that is open already are relative to it.
    elsewhere = [
        path
        for path in written
        if path.startswith("/") and not path.startswith((str(cache), "/dev/"))
    ]
    assert not elsewhere
    assert list(cache.glob("*"))
