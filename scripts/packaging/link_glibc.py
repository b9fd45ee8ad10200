#!/usr/bin/env python3
# scripts/packaging/link_glibc.py - links the libraries of a wheel for an older
# glibc than this machine's.
"""CMake's linker launcher: `link_glibc.py STUBS g++ -shared …`.

Objects know no versions of glibc's symbols; the link chooses them. It is made
against STUBS, libraries without contents that the Zig compiler carries for
every glibc, and libstdc++, libgcc and compression libraries are taken from
their archives. `link_glibc.py --stubs TARGET STUBS` makes STUBS of a target as
x86_64-linux-gnu.2.28.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SHIMS = Path(__file__).with_name("glibc_2_28.c")
LIBRARIES = (
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libc.so.6",
    "libld.so.?",  # whose soname is the loader's
)
# What LLVM names and nothing calls.
UNUSED = ("libz3.so",)
STATIC = ("libutf8proc", "libxxhash", "libz", "libzstd")


def make_stubs(target: str, stubs: Path) -> None:
    """Leaves Zig's libraries for `target`, and our shims, in `stubs`."""
    stubs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        cache = {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}
        source = Path(folder, "empty.c")
        source.write_text("int tilefold_nothing;\n")
        subprocess.run(
            [
                *(sys.executable, "-m", "ziglang", "cc", "-target", target),
                *("-shared", str(source), "-o", f"{folder}/empty.so"),
            ],
            env=os.environ | cache,
            check=True,
        )
        for name in LIBRARIES:
            (found,) = Path(folder, "o").glob(f"*/{name}")
            (stubs / found.name).write_bytes(found.read_bytes())
    subprocess.run(
        [
            *(os.environ.get("CC", "gcc"), "-O2", "-fPIC", "-Wall", "-Werror"),
            *("-fvisibility=hidden", "-fstack-protector-strong"),
            *("-c", str(SHIMS), "-o", str(stubs / "shims.o")),
        ],
        check=True,
    )


def of_the_compiler(compiler: str, name: str) -> str:
    """Path of a file that the compiler links by itself."""
    found = subprocess.run(
        [compiler, f"-print-file-name={name}"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    if not Path(found).is_absolute():
        raise SystemExit(f"{compiler} has no {name}")
    return found


def static(argument: str) -> str | None:
    """The archive of a shared library; None for what is not wanted."""
    path = Path(argument)
    if path.name in UNUSED:
        return None
    if path.suffix == ".so" and path.stem in STATIC:
        archive = path.with_suffix(".a")
        if not archive.exists():
            raise SystemExit(f"{archive} is missing: install its -dev package")
        return str(archive)
    return argument


def link(stubs: Path, command: list[str]) -> int:
    """Runs the command, of a shared library with other libraries."""
    if "-shared" not in command:
        return subprocess.call(command)
    compiler = command[0]
    system = [stubs / "shims.o"]
    system += [
        of_the_compiler(compiler, name)
        for name in ("libstdc++.a", "libgcc.a", "libgcc_s.so.1")
    ]
    system += [path for name in LIBRARIES for path in stubs.glob(name)]
    wanted = [word for word in map(static, command) if word]
    command = [word for word in wanted if not word.startswith("-l")]
    command += ["-nodefaultlibs", "-Wl,--as-needed", "-Wl,--exclude-libs,ALL"]
    # Functions of the same instructions are kept once: 0.7 MB of a wheel.
    command += ["-s", "-fuse-ld=gold", "-Wl,--gc-sections,--icf=safe"]
    return subprocess.call(command + [str(path) for path in system])


if __name__ == "__main__":
    if sys.argv[1] == "--stubs":
        make_stubs(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(link(Path(sys.argv[1]), sys.argv[2:]))
