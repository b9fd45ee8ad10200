# tests/tools/check_layers.py - rules of the house that no compiler checks.
"""Checks the tree and prints one line a fault: `path:line: what, and the cure`.

1. Includes point left only: formulas <- compiler <- runtime <-
   python_bindings; of backends/llvm only its door may be included elsewhere.
2. The first line of a file names the file.
3. A source has at most 600 lines, a function at most 70 without the labels
   of its cases.
4. Lists of sources in CMake files are sorted.
5. Nothing but tests names a folder of one machine.
6. Every row of diagnostics.def is raised somewhere.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOMS = ["formulas", "compiler", "runtime", "python_bindings"]
FOLDERS = [*ROOMS, "bench", "examples", "scripts", "tests"]
NAMED = {".cpp", ".def", ".h", ".py", ".cmake", ".map", ""}
LLVM = "compiler/backends/llvm/"
LLVM_DOOR = LLVM + "factory.h"
MOST_LINES = 600
MOST_FUNCTION_LINES = 70

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/")
FUNCTION = re.compile(
    r"^(?!template <.*> (struct|class) )"
    r"(?!namespace|struct|class|enum|union|extern|#|\s).*\{$"
)
LIST_ENTRY = re.compile(r"^\s+([\w/]+\.cpp)\)?$")
ROW = re.compile(r"^DIAGNOSTIC\((\w+),")


class Fault(NamedTuple):
    """One line of output."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class Source(NamedTuple):
    """A file by its path from the root, and its lines."""

    path: str
    lines: list[str]

    @property
    def suffix(self) -> str:
        """The suffix; "" for scripts and CMakeLists.txt."""
        if self.path.endswith("CMakeLists.txt"):
            return ""
        return Path(self.path).suffix

    @property
    def is_cpp(self) -> bool:
        """Whether the file is C++."""
        return self.suffix in {".cpp", ".h"}


def read_tree(root: Path) -> list[Source]:
    """Every source below `root`, by path."""
    paths = [root / "CMakeLists.txt"]
    for folder in FOLDERS:
        paths += sorted((root / folder).rglob("*"))
    sources = []
    for path in paths:
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        source = Source(str(path.relative_to(root)), [])
        if source.suffix in NAMED:
            text = path.read_text(encoding="utf-8")
            sources.append(source._replace(lines=text.splitlines()))
    return sources


def room_of(path: str) -> int:
    """The room's place from the left; -1 outside the rooms."""
    room = path.split("/")[0]
    return ROOMS.index(room) if room in ROOMS else -1


def check_includes(source: Source) -> Iterator[Fault]:
    """Includes point left, and to the one door of backends/llvm."""
    own = room_of(source.path)
    for number, line in enumerate(source.lines, 1):
        match = INCLUDE.match(line)
        if not match or own < 0:
            continue
        target = match[1]
        if room_of(target) > own:
            text = f"includes {target}, to the right of {ROOMS[own]}/"
            yield Fault(source.path, number, text)
        inside = source.path.startswith(LLVM)
        if target.startswith(LLVM) and target != LLVM_DOOR and not inside:
            text = f"includes {target}; only {LLVM_DOOR} may be"
            yield Fault(source.path, number, text)


def check_first_line(source: Source) -> Iterator[Fault]:
    """The first line, or the one after #!, names the file."""
    first = source.lines[0] if source.lines else ""
    if first.startswith("#!") and len(source.lines) > 1:
        first = source.lines[1]
    if source.path not in first:
        yield Fault(source.path, 1, "the first line does not name the file")


def check_length(source: Source) -> Iterator[Fault]:
    """At most 600 lines; tables may be longer."""
    if source.suffix != ".def" and len(source.lines) > MOST_LINES:
        text = f"{len(source.lines)} lines; {MOST_LINES} are the limit"
        yield Fault(source.path, MOST_LINES, text)


def check_functions(source: Source) -> Iterator[Fault]:
    """At most 70 lines from `{` to `}` at the margin (clang-format)."""
    start = size = 0
    for number, line in enumerate(source.lines, 1):
        if source.is_cpp and FUNCTION.match(line):
            start, size = number, 0
        elif line.startswith("}") and start:
            if size > MOST_FUNCTION_LINES:
                yield Fault(source.path, start, f"a function of {size} lines")
            start = 0
        elif not line.lstrip().startswith("case "):
            size += 1


def check_lists(source: Source) -> Iterator[Fault]:
    """Neighbouring .cpp entries of a CMake file are in order."""
    if not source.path.endswith("CMakeLists.txt"):
        return
    previous = ""
    for number, line in enumerate(source.lines, 1):
        match = LIST_ENTRY.match(line)
        entry = match[1] if match else ""
        if entry and entry < previous:
            yield Fault(source.path, number, f"{entry} after {previous}")
        previous = entry


def check_machines(source: Source) -> Iterator[Fault]:
    """No folder of one machine."""
    for number, line in enumerate(source.lines, 1):
        if MACHINE.search(line) and not source.path.startswith("tests/"):
            yield Fault(source.path, number, "names a folder of one machine")


def check_rows(sources: list[Source]) -> Iterator[Fault]:
    """Every row of diagnostics.def is raised by some source."""
    table = [s for s in sources if s.path == "formulas/diagnostics.def"]
    text = "\n".join(
        "\n".join(source.lines)
        for source in sources
        if room_of(source.path) >= 0 and source not in table
    )
    used = set(
        re.findall(r'Code::(\w+)|fail\(\s*"(\w+)"|_refuse\("(\w+)"', text)
    )
    names = {name for groups in used for name in groups if name}
    for source in table:
        for number, line in enumerate(source.lines, 1):
            match = ROW.match(line)
            if match and match[1] not in names:
                yield Fault(source.path, number, f"{match[1]} is never raised")


CHECKS: list[Callable[[Source], Iterator[Fault]]] = [
    check_includes,
    check_first_line,
    check_length,
    check_functions,
    check_lists,
    check_machines,
]


def faults_of(root: Path) -> list[Fault]:
    """Every fault of the tree, by path and line."""
    sources = read_tree(root)
    faults = [
        f for source in sources for check in CHECKS for f in check(source)
    ]
    return sorted([*faults, *check_rows(sources)])


def main() -> int:
    """Prints the faults of this repository; 1 if there are any."""
    faults = faults_of(Path(__file__).resolve().parents[2])
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
