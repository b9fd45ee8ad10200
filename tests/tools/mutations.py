# tests/tools/mutations.py - faults put into the sources must fail a test.
"""Mutation tests: each fault put into the sources must make a test fail.

A mutant is one file with one text replaced (mutants.py). What is compiled from
it is compiled again with the build's own commands, put first on the link line
of the test program (or in place of its twin in libtilefold_llvm.so), and the
named tests must then fail - in a scratch folder of the build, where the same
tests have passed without the fault. The tree is never touched. A fault that
the tests let pass, that no longer compiles, or whose text is no longer there,
fails the run.

    python tests/tools/mutations.py BUILD_FOLDER [--all | --only WORD]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
LLVM = "compiler/backends/llvm/"
LLVM_LIBRARY = "libtilefold_llvm.so"
FAILED = re.compile(r"^\[  FAILED  \] (\S+?)(?:,| \(|$)", re.MULTILINE)


class BrokenMutantError(Exception):
    """The fault cannot be put in: the table is out of date."""


class Outcome(NamedTuple):
    """What the tests did."""

    passed: bool
    what: str  # the first test that failed, or how the program ended
    seconds: float


class Build:
    """A configured and built Ninja folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        entries = json.loads(
            (self.folder / "compile_commands.json").read_text()
        )
        self._compile = {entry["file"]: entry for entry in entries}

    def _words(self, unit: str) -> list[str]:
        entry = self._compile.get(str(ROOT / unit))
        if entry is None:
            raise BrokenMutantError(f"the build does not compile {unit}")
        return shlex.split(entry["command"])

    def object_of(self, unit: str) -> str:
        """The object file of the source `unit`, as link lines name it."""
        words = self._words(unit)
        return words[words.index("-o") + 1]

    def compile(self, unit: str, shadow: Path, target: Path) -> None:
        """Compiles `unit`; files below `shadow` hide those of the tree."""
        words = self._words(unit)
        source = shadow / unit if (shadow / unit).exists() else ROOT / unit
        words[words.index("-c") + 1] = str(source)
        words[words.index("-o") + 1] = str(target)
        beside = str((ROOT / unit).parent)
        words[1:1] = ["-w", "-iquote", str(shadow), "-iquote", beside]
        if shutil.which("ccache"):
            words.insert(0, "ccache")
        run_tool(words, self.folder)

    def link(self, output: str, units: dict[str, Path], target: Path) -> None:
        """Links `output` again as `target`, with other objects for `units`."""
        words = self._link_command(output)
        words[words.index("-o") + 1] = str(target)
        for unit, built in units.items():
            old = self.object_of(unit)
            if old in words:
                words[words.index(old)] = str(built)
            else:  # in a library: whoever comes first provides the symbols
                words.insert(words.index("-o"), str(built))
        run_tool(words, self.folder)

    def _link_command(self, output: str) -> list[str]:
        listed = subprocess.run(
            ["ninja", "-C", str(self.folder), "-t", "commands", "-s", output],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        # ": && link … && what follows the link"
        words = shlex.split(listed.strip().splitlines()[-1])
        begin = words.index("&&") + 1
        return words[begin : words.index("&&", begin)]


def run_tool(words: list[str], folder: Path) -> None:
    """Runs a compiler or linker, whose failure is the table's fault."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise BrokenMutantError("does not compile:\n" + done.stderr[-2000:])


def copy_programs(build: Build, mutant: Mutant, scratch: Path) -> None:
    """The test program, beside the libraries it loads."""
    for name in (mutant.program, LLVM_LIBRARY):
        source = build.folder / "bin" / name
        if source.exists() and not (scratch / name).exists():
            shutil.copy(source, scratch)


def mutated(mutant: Mutant, text: str) -> str:
    """`text` with the fault in; how it is broken into lines is no matter."""
    pattern = r"\s+".join(map(re.escape, mutant.old.split()))
    places = list(re.finditer(pattern, text))
    if len(places) != 1:
        raise BrokenMutantError(
            f"{mutant.file} has the text to replace {len(places)} times:\n"
            f"{mutant.old}"
        )
    return text[: places[0].start()] + mutant.new + text[places[0].end() :]


def make(build: Build, mutant: Mutant, scratch: Path) -> None:
    """Builds the mutant's test program in `scratch`."""
    text = mutated(mutant, (ROOT / mutant.file).read_text())
    changed = scratch / "shadow" / mutant.file
    changed.parent.mkdir(parents=True)
    changed.write_text(text)
    units = {}
    for number, unit in enumerate(mutant.through or (mutant.file,)):
        units[unit] = scratch / f"{number}.o"
        build.compile(unit, scratch / "shadow", units[unit])
    name = LLVM_LIBRARY if mutant.file.startswith(LLVM) else mutant.program
    build.link(f"bin/{name}", units, scratch / name)
    copy_programs(build, mutant, scratch)


def run_tests(mutant: Mutant, scratch: Path, limit: float | None) -> Outcome:
    """Runs the mutant's tests in `scratch` until one fails."""
    command = [
        str(scratch / mutant.program),
        f"--gtest_filter={mutant.filter}",
        "--gtest_fail_fast",
        "--gtest_brief=1",
    ]
    start = time.monotonic()
    # A cache of its own: the fault is not in the key of a kernel.
    environment = {**os.environ, "TILEFOLD_CACHE_DIR": str(scratch / "cache")}
    process = subprocess.Popen(
        command,
        cwd=scratch,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # tests fork
        process.communicate()
        return Outcome(False, "ran on for ever", time.monotonic() - start)
    seconds = time.monotonic() - start
    failed = FAILED.search(text)
    if process.returncode == 0:
        some = re.search(r"[1-9]\d* tests? from", text)
        return Outcome(bool(some), "" if some else "no such test", seconds)
    if failed:
        return Outcome(False, failed[1], seconds)
    return Outcome(False, f"ended with status {process.returncode}", seconds)


class Judge:
    """Says of a mutant whether the tests catch it."""

    def __init__(self, build: Build, scratch: Path) -> None:
        self._build = build
        self._scratch = scratch
        self.limits: dict[tuple[str, str], float] = {}

    def check_baseline(self, mutant: Mutant) -> None:
        """Runs the mutant's tests without it, once for all of one filter."""
        key = mutant.program, mutant.filter
        if key in self.limits:
            return
        folder = self._scratch / f"sound-{len(self.limits)}"
        folder.mkdir()
        copy_programs(self._build, mutant, folder)
        outcome = run_tests(mutant, folder, None)
        if not outcome.passed:
            raise SystemExit(
                f"{mutant.program} {mutant.filter} fails as it is: "
                f"{outcome.what}"
            )
        self.limits[key] = 15 + 4 * outcome.seconds

    def judge(self, number: int, mutant: Mutant) -> bool:
        """Whether a test fails; prints the verdict."""
        folder = self._scratch / str(number)
        folder.mkdir()
        try:
            make(self._build, mutant, folder)
        except BrokenMutantError as error:
            print(f"BROKEN    {mutant.fault}: {error}", flush=True)
            return False
        outcome = run_tests(
            mutant, folder, self.limits[mutant.program, mutant.filter]
        )
        shutil.rmtree(folder)
        verdict = "SURVIVED" if outcome.passed else "caught"
        print(
            f"{verdict:8}  {mutant.fault}  [{outcome.what or mutant.filter}]",
            flush=True,
        )
        return not outcome.passed


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument(
        "--all", action="store_true", help="not only the sample"
    )
    parser.add_argument(
        "--only", default="", help="those whose fault or file says this"
    )
    return parser.parse_args()


def main() -> int:
    """Prints one line a mutant; 1 if one is not caught."""
    options = parse_arguments()
    chosen = {
        number: mutant
        for number, mutant in enumerate(MUTANTS)
        if (options.all or options.only or mutant.every_run)
        and options.only in f"{mutant.fault} {mutant.file}"
    }
    build = Build(options.build)
    # Below the build, so that the compiler cache knows the paths again.
    scratch = build.folder / "mutants"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    judge = Judge(build, scratch)
    for mutant in chosen.values():
        judge.check_baseline(mutant)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        caught = list(pool.map(judge.judge, chosen, chosen.values()))
    shutil.rmtree(scratch)
    print(f"{sum(caught)} passed, {len(caught) - sum(caught)} failed")
    return 0 if all(caught) else 1


if __name__ == "__main__":
    sys.exit(main())
