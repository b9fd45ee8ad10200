# tests/tools/mutations.py - faults put into the sources must fail a test.
"""Mutation tests: each fault put into the sources must make a test fail.

A mutant is one source file with one text replaced. Its object, in a unity build
that of the sources it is compiled with, is compiled with the build's own
command, put first on the link line of the test program (or in place of its twin
in libtilefold_llvm.so), and the program, in a scratch folder, must then fail.
Nothing in the tree or in the build is touched but BUILD_FOLDER/mutants, where
sources have the same paths on every run, for ccache. As many mutants are tried
at once as there are processors. A run makes a tenth of all, which the word
TILEFOLD_SAMPLE chooses; where that is `all`, or not set, it makes all that this
processor can tell.

    python tests/tools/mutations.py BUILD_FOLDER [--only WORD]
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import compile_commands
import sample
from mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT = 120  # seconds; a mutant that hangs is caught too


class Build:
    """A configured and built Ninja folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        entries = json.loads(
            (self.folder / "compile_commands.json").read_text()
        )
        self._compile = {
            source: entry
            for entry in entries
            for source in compile_commands.sources_of(entry)
        }

    def compile(self, source: Path, mutant: Path, target: Path) -> None:
        entry = self._compile[str(source)]
        unit = Path(entry["file"])
        if unit != source:
            text = unit.read_text().replace(f'"{source}"', f'"{mutant}"')
            mutant = mutant.with_name("unit.cpp")
            mutant.write_text(text)
        words = shlex.split(entry["command"])
        words[words.index("-c") + 1] = str(mutant)
        words[words.index("-o") + 1] = str(target)
        # What the file includes from its own folder is still found.
        words[1:1] = ["-w", "-iquote", str(source.parent)]
        subprocess.run(words, cwd=entry["directory"], check=True)

    def object_of(self, source: Path) -> str:
        words = shlex.split(self._compile[str(source)]["command"])
        return words[words.index("-o") + 1]

    def link_command(self, output: str) -> list[str]:
        listed = subprocess.run(
            ["ninja", "-C", str(self.folder), "-t", "commands", "-s", output],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        line = listed.strip().splitlines()[-1]
        # ": && link … && what follows the link"
        words = shlex.split(line)
        begin = words.index("&&") + 1
        return words[begin : words.index("&&", begin)]


def link(build: Build, output: str, old: str, new: Path, target: Path) -> None:
    """Links `output` again as `target`, with the mutant's object."""
    words = build.link_command(output)
    words[words.index("-o") + 1] = str(target)
    if old in words:
        words[words.index(old)] = str(new)
    else:  # in a library: whoever comes first provides the symbols
        words.insert(words.index("-o"), str(new))
    subprocess.run(words, cwd=build.folder, check=True)


def check_texts() -> None:
    """Of all mutants, also those that are not made on this run."""
    for mutant in MUTANTS:
        count = (ROOT / mutant.file).read_text().count(mutant.old)
        if count != 1:
            raise SystemExit(
                f"{mutant.file}: the text to replace stands there "
                f"{count} times:\n{mutant.old}"
            )


def make(build: Build, number: int, scratch: Path) -> Path:
    """The mutated test program, beside the libraries it loads."""
    mutant = MUTANTS[number]
    source = ROOT / mutant.file
    folder = build.folder / "mutants" / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / source.name
    copy.write_text(source.read_text().replace(mutant.old, mutant.new))
    built = folder / "mutant.o"
    build.compile(source, copy, built)
    program = scratch / mutant.program
    for library in (build.folder / "bin").glob("libtilefold*.so"):
        shutil.copy(library, scratch)
    old = build.object_of(source)
    if "backends/llvm" in mutant.file:
        name = "libtilefold_llvm.so"
        link(build, f"bin/{name}", old, built, scratch / name)
        shutil.copy(build.folder / "bin" / mutant.program, program)
    else:
        link(build, f"bin/{mutant.program}", old, built, program)
    return program


def is_caught(build: Build, number: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        program = make(build, number, Path(folder))
        try:
            done = subprocess.run(
                [program, f"--gtest_filter={MUTANTS[number].filter}"],
                cwd=folder,
                env=os.environ
                | {"GTEST_FAIL_FAST": "1", "TILEFOLD_SAMPLE": "all"},
                capture_output=True,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def chosen(only: str) -> list[int]:
    """The numbers of the mutants that this run makes."""
    words = set(Path("/proc/cpuinfo").read_text().split())
    numbers = []
    for k, mutant in enumerate(MUTANTS):
        if mutant.needs and mutant.needs not in words:
            print(f"not here  {mutant.fault}: needs {mutant.needs}")
        elif only in mutant.fault:
            numbers.append(k)
    if only or sample.is_whole():
        return numbers
    numbers.sort(key=lambda k: sample.number_of(MUTANTS[k].fault))
    return numbers[: -(-len(numbers) // 10)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument(
        "--only", default="", help="those whose fault says this"
    )
    options = parser.parse_args()
    check_texts()
    build = Build(options.build)
    numbers = chosen(options.only)
    survivors = 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        caught = pool.map(lambda number: is_caught(build, number), numbers)
        for number, result in zip(numbers, caught, strict=True):
            survivors += not result
            print(
                f"{'caught' if result else 'SURVIVED':8}  "
                f"{MUTANTS[number].fault}",
                flush=True,
            )
    print(f"{len(numbers) - survivors} passed, {survivors} failed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
