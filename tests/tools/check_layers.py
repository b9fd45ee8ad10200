# tests/tools/check_layers.py - rules of the house that no compiler checks.
"""Checks the tree and prints one line a fault: `path:line: what, and the cure`.

1. Includes point left: a file includes files of its own room and of those
   that ARROWS lets its room see; of a room with a door only the door.
2. The first line of a file names the file.
3. A source has at most 600 lines, a function at most 60 without the labels
   of its cases.
4. Lists of sources in CMake files are sorted.
5. Nothing but tests names a folder of one machine.
6. Every row of diagnostics.def is raised somewhere.
7. No circle: a header and its source are one unit, and no unit includes
   itself by way of others.
8. No circle of the package's Python modules, whether a module is imported at
   the top or in a function; what only type checkers read does not count.
9. What only one architecture's compiler knows is in a folder of its name,
   but for rooflines that are measured on one; what only one operating system
   knows is in a folder of its name in runtime/system.
10. What the public header includes, itself or by way of others, is none of
   HIDDEN: who installs it needs neither Boost nor the backends.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LLVM = "compiler/backends/llvm/"
CUDA = "compiler/backends/cuda/"
# Each room, and the rooms it sees, which see what those see. A file belongs to
# the longest room its path begins with.
ARROWS = {
    "formulas": [],
    "compiler": ["compiler/build"],
    CUDA + "device": [],
    "compiler/ir": ["formulas"],
    "compiler/language": ["compiler/ir"],
    "compiler/monoids": ["compiler/ir"],
    "compiler/passes": ["compiler/monoids"],
    "compiler/build": [
        "compiler/language",
        "compiler/passes",
        "compiler/backends/reference",
    ],
    "compiler/artifact": ["compiler/ir"],
    "compiler/backends/reference": ["compiler/monoids"],
    "compiler/backends/cpu": ["compiler/passes", "compiler/artifact"],
    "compiler/backends/cpu/lower": ["compiler/backends/cpu"],
    "compiler/backends/llvm": [],
    LLVM + "memory": ["compiler/backends/llvm"],
    LLVM + "lanes": ["compiler/backends/cpu/lower"],
    LLVM + "module": [LLVM + "lanes", LLVM + "memory"],
    LLVM + "evaluate": [LLVM + "module"],
    LLVM + "pack": [LLVM + "evaluate"],
    LLVM + "matmul": [LLVM + "pack"],
    LLVM + "monoids": [LLVM + "matmul"],
    LLVM + "pipelining": ["compiler/backends/cpu/lower"],
    LLVM + "nest": [LLVM + "monoids", LLVM + "pipelining"],
    LLVM + "image": [LLVM + "nest"],
    CUDA + "text": ["compiler/ir"],
    CUDA + "sites": [CUDA + "text", "compiler/passes"],
    CUDA + "plan": [CUDA + "sites"],
    CUDA + "lower": [CUDA + "plan"],
    CUDA + "evaluate": [CUDA + "lower"],
    CUDA + "monoids": [CUDA + "evaluate"],
    CUDA + "image": [
        CUDA + "device",
        CUDA + "monoids",
        "compiler/artifact",
    ],
    "runtime": ["compiler"],
    "runtime/core": ["compiler", "compiler/backends/cpu"],
    "runtime/system": ["runtime/core"],
    "runtime/cpu": ["runtime/system"],
    "runtime/schedule": ["runtime/cpu"],
    "runtime/cache": ["runtime/schedule", "compiler/backends/llvm"],
    "runtime/cuda": ["runtime/cache", CUDA + "image"],
    "runtime/device": ["runtime/cuda"],
    "runtime/bind": ["runtime/device"],
    "runtime/session": ["runtime/bind", "compiler/backends/cpu/lower"],
    "runtime/solve": ["runtime/session"],
    "runtime/tensor": ["compiler"],
    "runtime/c": ["runtime/solve", "runtime/tensor"],
    "python_bindings": ["runtime/solve", "runtime/tensor"],
}
# Where circles are looked for.
WITHOUT_CIRCLES = ["formulas", "compiler", "runtime", "python_bindings"]
TOPS = ["formulas", "compiler", "runtime", "python_bindings"]
FOLDERS = [
    *TOPS,
    *("bench", "cmake", "command", "examples", "include", "scripts", "tests"),
]
NAMED = {".cpp", ".def", ".h", ".py", ".cmake", ".map", ""}
# The Python package, and its module that is no Python.
PACKAGE = "python_bindings/tilefold"
COMPILED = "tilefold._core"
DOORS = {LLVM: LLVM + "factory.h"}
MOST_LINES = 600
MOST_FUNCTION_LINES = 60

# Folders of one architecture each, and what is of one.
ARCHITECTURES = {"aarch64", "x86_64"}
OF_ONE_ARCHITECTURE = re.compile(
    r"\b(?:immintrin|x86intrin|xmmintrin|emmintrin|cpuid|arm_neon|arm_sve)\.h"
    r"|\b_mm(?:256|512)?_\w+\(|\b__builtin_(?:ia32|aarch64|cpu)_\w+"
    r"|\b(?:__x86_64__|__i386__|__aarch64__|__arm64__|_M_X64|_M_ARM64)\b"
    r'|\btarget(?:_clones)?\("|\b__asm__ volatile\('
)
# Folders of one operating system each, and what is of one.
SYSTEMS = {"linux", "macos"}
OF_ONE_SYSTEM = re.compile(
    r"\b(?:__linux__|__APPLE__|cpu_set_t|dladdr1?|gettid|link_map|memfd_create"
    r"|sched_\w+affinity|sched_getcpu|secure_getenv|sigtimedwait|sysctlbyname"
    r"|st_mtim|st_mtimespec|MADV_HUGEPAGE|MAP_JIT|__forced_unwind)\b"
    r'|"/(?:proc|sys)/'
)

# The C++ interface, and what its users need not have.
PUBLIC = "runtime/session/session.h"
HIDDEN = ("boost/", "compiler/backends/", "llvm/")

# Headers that this tree has another one for: of two definitions of a template
# in one library, the linker takes either.
REPLACED = {"<nanobind/stl/string.h>": "python_bindings/text_caster.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/")
# What stands before the `{` of a function: a list of parameters, perhaps one
# of initialisers; of no type, namespace or list of numbers.
FUNCTION = re.compile(
    r"(?!(template <.*> )?(struct|class|union)\b[^()]*\{$)"
    r"(?!(inline )?namespace|enum|extern)[^=]*\(.*\{$|.*operator.*\(.*\{$"
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


def is_in(path: str, folder: str) -> bool:
    """Whether `path` is the folder or lies in it."""
    return path == folder or path.startswith(folder + "/")


def room_of(path: str) -> str:
    """The room a file is in; "" outside the rooms."""
    rooms = [room for room in ARROWS if is_in(path, room)]
    return max(rooms, key=len, default="")


def seen_from(room: str) -> set[str]:
    """The rooms that files of `room` may include from."""
    seen, left = set(), [room]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += ARROWS[here]
    return seen


def includes_of(source: Source) -> Iterator[tuple[int, str]]:
    """Each line that includes a file of the tree, and the file."""
    for number, line in enumerate(source.lines, 1):
        match = INCLUDE.match(line)
        if match and room_of(match[1]):
            yield number, match[1]


def door_of(path: str) -> str:
    """The one file that others may include of where `path` lies; "": any."""
    return next(
        (door for folder, door in DOORS.items() if path.startswith(folder)), ""
    )


def check_includes(source: Source) -> Iterator[Fault]:
    """Includes point left, and to the doors of rooms that have one."""
    own = room_of(source.path)
    if not own:
        return
    seen = seen_from(own)
    for number, target in includes_of(source):
        room = room_of(target)
        door = door_of(target)
        if door and not door_of(source.path) and target != door:
            text = f"includes {target}; only {door} may be"
            yield Fault(source.path, number, text)
        elif room not in seen:
            text = f"includes {target}; {own}/ does not see {room}/"
            yield Fault(source.path, number, text)


def unit_of(path: str) -> str:
    """What a header and its source are together: the path of both."""
    return path.rpartition(".")[0]


def circles_of(units: dict[str, set[str]]) -> Iterator[list[str]]:
    """The shortest circle through each unit that is on one, once each."""
    found = set()
    for start in sorted(units):
        came_from = dict.fromkeys(sorted(units[start]), start)
        order = list(came_from)
        for unit in order:  # grows: a search by breadth
            for target in sorted(units.get(unit, ())):
                if target not in came_from:
                    came_from[target] = unit
                    order.append(target)
        if start not in came_from:
            continue
        circle = [came_from[start]]
        while circle[-1] != start:
            circle.append(came_from[circle[-1]])
        if not found & set(circle):
            found |= set(circle)
            yield circle[::-1]


def check_circles(sources: list[Source]) -> Iterator[Fault]:
    """No unit includes itself by way of others."""
    units: dict[str, set[str]] = {}
    for source in sources:
        if any(is_in(source.path, room) for room in WITHOUT_CIRCLES):
            targets = {unit_of(target) for _, target in includes_of(source)}
            unit = unit_of(source.path)
            units.setdefault(unit, set()).update(targets - {unit})
    for circle in circles_of(units):
        text = "a circle: " + " -> ".join([*circle, circle[0]])
        yield Fault(circle[0], 1, text)


def package_module(path: str) -> str:
    """The name of a module of the package by its path; "" for other files."""
    start = PACKAGE + "/"
    if not path.startswith(start) or not path.endswith(".py"):
        return ""
    inside = path.removeprefix(start).removesuffix(".py")
    return "tilefold." + inside.replace("/", ".")


def is_for_type_checkers(node: ast.AST) -> bool:
    """Whether it is `if TYPE_CHECKING:`."""
    if not isinstance(node, ast.If):
        return False
    name = ast.unparse(node.test).rpartition(".")[2]
    return name == "TYPE_CHECKING"


def run_time_imports(node: ast.AST) -> Iterator[str]:
    """The dotted names that are imported at the top and in functions."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = [node.module] if node.module else []
        start = ".".join(["tilefold", *module] if node.level else module)
        yield from (f"{start}.{alias.name}" for alias in node.names)
    skipped = node.body if is_for_type_checkers(node) else []
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield from run_time_imports(child)


def imported_modules(source: Source, modules: set[str]) -> set[str]:
    """Modules of the package that a module imports; packages by a name.

    What is imported from outside of a package runs the package's own file.
    """
    found = set()
    own = package_module(source.path).rpartition(".")[0]
    for name in run_time_imports(ast.parse("\n".join(source.lines))):
        parts = name.split(".")
        if parts[0] != "tilefold":
            continue
        starts = [".".join(parts[:k]) for k in range(len(parts), 0, -1)]
        module = next((one for one in starts if one in modules), "")
        found |= {module} - {""}
        for start in starts:
            package = f"{start}.__init__"
            is_above = own == start or own.startswith(start + ".")
            if package in modules and (not is_above or not module):
                found.add(package)
                break
    return found


def check_modules(sources: list[Source]) -> Iterator[Fault]:
    """No module of the package imports itself by way of others."""
    named = {package_module(s.path): s for s in sources}
    named.pop("", None)
    known = {*named, COMPILED}
    graph = {
        name: imported_modules(source, known) - {name}
        for name, source in named.items()
    }
    for circle in circles_of(graph):
        text = "a circle: " + " -> ".join([*circle, circle[0]])
        yield Fault(named[circle[0]].path, 1, text)


def check_public(sources: list[Source]) -> Iterator[Fault]:
    """Nothing hidden is included by what the public header includes."""
    named = {source.path: source for source in sources}
    left = [PUBLIC] if PUBLIC in named else []
    for path in left:  # grows: all that it includes
        for number, line in enumerate(named[path].lines, 1):
            match = ANY_INCLUDE.match(line)
            target = match[1] if match else ""
            if target.startswith(HIDDEN):
                text = f"includes {target}, and {PUBLIC} includes this"
                yield Fault(path, number, text)
            elif target in named and target not in left:
                left.append(target)


def check_replaced(source: Source) -> Iterator[Fault]:
    """No header that another one stands for."""
    for number, line in enumerate(source.lines, 1):
        for header, other in REPLACED.items():
            if source.is_cpp and line.startswith(f"#include {header}"):
                text = f"includes {header}; {other} stands for it"
                yield Fault(source.path, number, text)


def lines_that_match(
    source: Source, pattern: re.Pattern[str], said: str
) -> Iterator[Fault]:
    """A fault for each line in which there is such a word."""
    for number, line in enumerate(source.lines, 1):
        match = pattern.search(line)
        if match:
            yield Fault(source.path, number, f"{match[0]} {said}")


def check_architectures(source: Source) -> Iterator[Fault]:
    """Nothing of one architecture outside of its folder."""
    parts = set(source.path.split("/"))
    if source.is_cpp and not parts & {*ARCHITECTURES, "roofline"}:
        said = "is of one architecture: see runtime/cpu"
        yield from lines_that_match(source, OF_ONE_ARCHITECTURE, said)


def check_systems(source: Source) -> Iterator[Fault]:
    """Nothing of one operating system outside of its folder."""
    top, *parts = source.path.split("/")
    if source.is_cpp and top in TOPS and not SYSTEMS & set(parts):
        said = "is of one system: see runtime/system"
        yield from lines_that_match(source, OF_ONE_SYSTEM, said)


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


def functions_of(lines: list[str]) -> Iterator[tuple[int, int]]:
    """The line of each function's `{`, and its lines without labels of cases.

    As clang-format has it, a block ends with a `}` below the first letter of
    what stands before its `{`, in one line or several.
    """
    head: list[str] = []
    end = ""
    start = size = 0
    for number, line in enumerate(lines, 1):
        if start:
            if line.startswith(end):
                yield start, size
                start, head = 0, []
            elif not line.lstrip().startswith("case "):
                size += 1
            continue
        code = line.partition("//")[0].rstrip()
        if not code or code.lstrip().startswith("#"):
            continue
        head.append(code)
        if code.endswith("{") and FUNCTION.match(" ".join(head).lstrip()):
            end = head[0][: len(head[0]) - len(head[0].lstrip())] + "}"
            start, size = number, 0
        elif code[-1] in "{};:":
            head = []


def check_functions(source: Source) -> Iterator[Fault]:
    """At most 60 lines between the braces."""
    if not source.is_cpp:
        return
    for start, size in functions_of(source.lines):
        if size > MOST_FUNCTION_LINES:
            yield Fault(source.path, start, f"a function of {size} lines")


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
        if room_of(source.path) and source not in table
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
    check_replaced,
    check_first_line,
    check_length,
    check_functions,
    check_lists,
    check_machines,
    check_architectures,
    check_systems,
]


def faults_of(root: Path) -> list[Fault]:
    """Every fault of the tree, by path and line."""
    sources = read_tree(root)
    faults = [
        f for source in sources for check in CHECKS for f in check(source)
    ]
    faults += [*check_circles(sources), *check_modules(sources)]
    faults += check_public(sources)
    return sorted([*faults, *check_rows(sources)])


def main() -> int:
    """Prints the faults of this repository; 1 if there are any."""
    faults = faults_of(Path(__file__).resolve().parents[2])
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
