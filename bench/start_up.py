# bench/start_up.py - how much longer a process lives than one with NumPy.
"""Pairs of new processes, one with a package and one without."""

from __future__ import annotations

import compileall
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.case import Measured
from bench.fresh import Finished, FreshPython

if TYPE_CHECKING:
    from bench.points import GaussianProblem

PAIRS = 5  # of processes in a sample; of their times the least counts
NUMPY_ONLY = ""  # the inputs are loaded, nothing else
LLVM = "libtilefold_llvm.so"


class StartUp:
    """Times one program against the program that only loads NumPy."""

    def __init__(
        self,
        problem: GaussianProblem,
        folder: Path,
        environment: dict[str, str],
        paths: tuple[Path, ...] = (),
    ) -> None:
        site = Path(np.__file__).parents[1]
        path = ":".join(map(str, [*paths, site]))
        self._python = FreshPython(
            problem, folder, {**environment, "PYTHONPATH": path}, ["-S"]
        )

    def ask(self, program: str) -> Finished:
        """Runs a program once, untimed."""
        return self._python.run(program)

    def measure(self, program: str) -> Measured:
        """The difference in seconds. The program notes "inside"."""
        with_it, without = [], []
        for _ in range(PAIRS):
            without.append(self._python.run(NUMPY_ONLY).seconds)
            with_it.append(self._python.run(program))
        seconds = min(done.seconds for done in with_it) - min(without)
        inside = min(done.notes["inside"] for done in with_it)
        notes = {"inside, ms": inside * 1e3}
        return Measured(with_it[-1].result, seconds, notes)


def copy_tilefold(folder: Path, llvm: bool) -> Path:
    """The package as a wheel installs it, below `folder`.

    Without `llvm`, its library is a file that nobody may read and that no
    loader takes.
    """
    import tilefold
    from tilefold import _core

    package = folder / "tilefold"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for source in Path(tilefold.__file__).parent.glob("*.py"):
        shutil.copy(source, package)
    for library in Path(_core.__file__).parent.glob("*.so"):
        shutil.copy(library, package)
    compileall.compile_dir(package, quiet=1)
    if not llvm:
        (package / LLVM).write_text("not a library")
        (package / LLVM).chmod(0)
    return folder
