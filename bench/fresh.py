# bench/fresh.py - runs a little program in a new Python process.
"""Programs for tasks in which the process itself is what counts.

A program finds x, y, b, l and TEXT defined by `INPUTS`, puts its result in
`out` and whatever it has to say in `notes`; the last line it prints is JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench.points import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.points import GaussianProblem

INPUTS = f"""
import json, sys, time
import numpy as np
x, y, b = (np.load(f"{{sys.argv[1]}}/{{name}}.npy") for name in "xyb")
l, TEXT = float(sys.argv[2]), {TEXT!r}
out, notes = np.zeros(1), {{}}
"""
OUTPUT = """
print(json.dumps({"out": out.ravel().tolist(), "notes": notes}))
"""


class Finished(NamedTuple):
    """What a process left."""

    result: Any
    notes: dict[str, Any]
    seconds: float  # from its start to its end


class FreshPython:
    """Starts programs on the arrays of a problem."""

    def __init__(
        self,
        problem: GaussianProblem,
        folder: Path,
        environment: Mapping[str, str],
        flags: Sequence[str] = (),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in "xyb":
            np.save(folder / f"{name}.npy", getattr(problem, name))
        self._arguments = [str(folder), repr(problem.length)]
        self._environment = {**os.environ, **environment}
        # A program that is not kept as bytecode is compiled each time.
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._flags = list(flags)

    def run(self, program: str) -> Finished:
        """Runs one program. Raises RuntimeError with its last words."""
        text = INPUTS + program + OUTPUT
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *self._flags, "-c", text, *self._arguments],
            capture_output=True,
            text=True,
            env=self._environment,
            check=False,
        )
        seconds = time.perf_counter() - start
        if done.returncode:
            raise RuntimeError(
                f"exit code {done.returncode}\n{done.stderr[-2000:]}"
            )
        said = json.loads(done.stdout.splitlines()[-1])
        return Finished(np.array(said["out"]), said["notes"], seconds)
