#!/usr/bin/env python3
# tests/tools/check_macos.py - judges what scripts/compile-macos built.
"""`check_macos.py BUILD`: what is exported is what should be, and what is
looked up when a file is loaded is of libraries that a Mac has: a function that
only Linux has would be among it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path("/usr/lib/llvm-22/bin")
FILES = ("tilefold", "libtilefold.dylib", "libtilefold_llvm.so", "_core.*.so")
# Symbols of C++'s own library, and of those that are left out of the link.
OF_CXX = (
    r"_?_ZN?K?St|_?_ZT[ISTV]|_?_Z(?:da|dl|na|nw)|_?_cxa_|_?_gxx_personality"
)
OF_LIBRARIES = r"Sleef_|utf8proc_|XXH|llvm_|LLVM|_?_ZN?K?4llvm|_?Py"
EXPECTED = re.compile(f"_(?:{OF_CXX}|{OF_LIBRARIES})")


def lines_of(tool: str, *arguments: str | Path) -> list[str]:
    command = [TOOLS / tool, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def foreign(path: Path) -> list[str]:
    """Symbols that no library of a Mac is known to have."""
    faults = []
    for line in lines_of("llvm-nm", "-m", "--undefined-only", path):
        name = line.split(" external ")[-1].split()[0]
        is_linked = "(from lib" in line or name == "dyld_stub_binder"
        if not is_linked and not EXPECTED.match(name):
            faults.append(f"{path.name}: nothing on a Mac has {name}")
    return faults


def exports(path: Path, wanted: Path) -> list[str]:
    """What is exported beside, or missing from, a list."""
    lines = lines_of("llvm-nm", "--defined-only", "--extern-only", path)
    found = {line.split()[-1] for line in lines}
    patterns = wanted.read_text().split()
    listed = re.compile("|".join(p.replace("*", ".*") for p in patterns))
    beside = sorted(name for name in found if not listed.fullmatch(name))
    missing = sorted({p for p in patterns if "*" not in p} - found)
    return [
        *(f"{path.name}: exports {name}" for name in beside),
        *(f"{path.name}: lacks {name}" for name in missing),
    ]


def loading(path: Path) -> list[str]:
    """How it is found, for which processor and system it is."""
    commands = "\n".join(lines_of("llvm-otool", "-hl", path))
    wanted = {"LC_BUILD_VERSION": "no version of macOS", "minos 13.0": "minos"}
    if path.suffix == ".dylib":
        wanted["name @rpath/libtilefold.1.dylib"] = "another name"
    if path.name == "tilefold":
        wanted["path @loader_path"] = "no path to the library"
    return [
        f"{path.name}: {said}"
        for text, said in wanted.items()
        if text not in commands
    ]


def main() -> int:
    build = Path(sys.argv[1])
    paths = [next((build / "bin").glob(name)) for name in FILES]
    lists = build / "exports"
    faults = [
        fault for path in paths for fault in foreign(path) + loading(path)
    ]
    faults += exports(paths[1], lists / "tilefold.txt")
    faults += exports(paths[2], lists / "tilefold_llvm.txt")
    faults += exports(paths[3], lists / "tilefold_core.txt")
    print(
        "\n".join(faults)
        or "as they should be: " + ", ".join(p.name for p in paths)
    )
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
