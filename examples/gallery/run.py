# examples/gallery/run.py - runs the gallery's scripts, with time and memory.
"""Runs all scripts of the gallery, or some, each in a process of its own.

Prints of each its seconds by the clock, those of all cores together, and the
peak of its resident memory, libraries included. Ends with 1 if a script fails,
or takes more than 1 GB or 40 seconds of cores: 20 on two that have nothing else
to do.

Usage: python examples/gallery/run.py [-o FOLDER] [NAME…]

`scripts/docs --examples` does it for all, with the packages that they need. A
NAME is a part of a path: "physics", "galaxies" or "images/plot_mean". With -o
pictures are saved in the FOLDER.
"""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS, MEGABYTES = 40, 1000


def scripts(names: list[str]) -> list[Path]:
    """The paths that hold one of `names`, or all."""
    paths = sorted(HERE.glob("*/plot_*.py"))
    found = [
        path
        for path in paths
        if not names or any(n in path.as_posix() for n in names)
    ]
    if not found:
        sys.exit(f"no script of {HERE} is named {' or '.join(names)}")
    return found


def draw(path: Path, folder: str | None) -> None:
    """Runs one script here, and saves its pictures."""
    import matplotlib.pyplot as plt

    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
    runpy.run_path(str(path), run_name="__main__")
    for number in plt.get_fignums() if folder else []:
        name = path.stem.removeprefix("plot_")
        end = f"_{number}" if number > 1 else ""
        plt.figure(number).savefig(f"{folder}/{name}{end}.png", dpi=100)


def measure(path: Path, folder: str | None) -> bool:
    """Runs a script in a process, prints what it took; whether that is good."""
    command = [sys.executable, __file__, "--here", str(path)]
    command += ["-o", folder] if folder else []
    given = {**os.environ, "MPLBACKEND": "Agg"}
    start = time.perf_counter()
    child = subprocess.Popen(command, env=given)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    cores, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3
    within = cores < SECONDS and megabytes < MEGABYTES
    verdict = "" if within else "  too much"
    if child.returncode:
        verdict = f"  failed ({child.returncode})"
    name = path.relative_to(HERE).as_posix()
    print(
        f"{seconds:6.1f} s {cores:6.1f} s of cores {megabytes:5.0f} MB  {name}"
        f"{verdict}",
        flush=True,
    )
    return not verdict


def main() -> int:
    """Runs what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-o", dest="folder", metavar="FOLDER")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        draw(given.here, given.folder)
        return 0
    if given.folder:
        Path(given.folder).mkdir(parents=True, exist_ok=True)
    good = [measure(path, given.folder) for path in scripts(given.names)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
