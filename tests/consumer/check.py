# tests/consumer/check.py - one check of the installed library, by its name.
"""`check.py BUILD SCRATCH NAME`: 0 where it holds, 77 where it is skipped.

`install` installs to a folder of SCRATCH whose name has a space, compares the
tree with tree.txt, and moves the folder; the others build and run programs of
examples/c with what is there, each of which writes what output.txt says.
TILEFOLD_UPDATE_GOLDEN=1 writes tree.txt and symbols.txt anew.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples" / "c"
BUILD, SCRATCH = Path(sys.argv[1]), Path(sys.argv[2])
FIRST = SCRATCH / "first place"
PREFIX = SCRATCH / "a moved prefix"


def run(*command: object, **variables: str) -> str:
    """The output of a command; ends the check where it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        words = " ".join(str(word) for word in command)
        sys.exit(f"{words}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def skip_without(program: str) -> str:
    """The path of a program, without which the check is skipped."""
    cargo = Path.home() / ".cargo" / "bin"
    path = os.pathsep.join([os.environ.get("PATH", ""), str(cargo)])
    found = shutil.which(program, path=path)
    if not found:
        print(f"skipped: there is no {program}")
        sys.exit(77)
    return found


def differ(what: str, got: str, wanted: str) -> NoReturn:
    sys.exit(f"{what} differs.\n--- got\n{got}\n--- wanted\n{wanted}")


def compare(what: str, got: str, file: Path) -> None:
    """Ends the check where a text is not that of a file."""
    if os.environ.get("TILEFOLD_UPDATE_GOLDEN") == "1":
        file.write_text(got)
    if got != file.read_text():
        differ(what, got, file.read_text())


def check_output(*command: object, **variables: str) -> None:
    """Runs a program, which writes what all examples do."""
    cache = {"TILEFOLD_CACHE_DIR": str(SCRATCH / "cache")}
    got = run(*command, **(cache | variables))
    wanted = (EXAMPLES / "output.txt").read_text()
    if got != wanted:
        differ("the output", got, wanted)


def library_folder() -> Path:
    (found,) = PREFIX.rglob("libtilefold.so.1")
    return found.parent


def with_library() -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(library_folder())}


def tree_of(folder: Path) -> str:
    """Every file by its path; a link with what it is of."""
    lines = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            lines.append(f"{name} -> {path.readlink()}")
        elif path.is_file():
            lines.append(name)
    text = "".join(f"{line}\n" for line in lines)
    # Debian's folder of a machine; the module's of a Python
    text = re.sub(r"\blib/\w+-linux-gnu/", "lib/", text)
    text = re.sub(r"_core\.[\w.-]+\.so", "_core.so", text)
    return re.sub(r"(Targets)-\w+\.cmake", r"\1-config.cmake", text)


def install() -> None:
    shutil.rmtree(FIRST, ignore_errors=True)
    shutil.rmtree(PREFIX, ignore_errors=True)
    run("cmake", "--install", BUILD, "--prefix", FIRST)
    compare("the installed tree", tree_of(FIRST), HERE / "tree.txt")
    FIRST.rename(PREFIX)


def components() -> None:
    """Each by itself, as a distribution has a package and another of -dev.

    A program that was built with both runs with the first alone.
    """
    parts = {}
    for name in "runtime", "development":
        folder = SCRATCH / name
        shutil.rmtree(folder, ignore_errors=True)
        run(
            *("cmake", "--install", BUILD, "--prefix", folder),
            *("--component", name),
        )
        parts[name] = tree_of(folder).splitlines()
    wanted = (HERE / "tree.txt").read_text().splitlines()
    if sorted(parts["runtime"] + parts["development"]) != sorted(wanted):
        differ("both components", str(parts), "the lines of tree.txt, once")
    headers = ("include/", "lib/cmake/", "lib/pkgconfig/", "share/doc/")
    for line in wanted:
        is_header = line.startswith(headers) or line.startswith(
            "lib/libtilefold.so ->"
        )
        if (line in parts["development"]) != is_header:
            sys.exit(f"{line} is in the wrong component")
    binary = SCRATCH / "built_with_both"
    run(
        *("gcc", EXAMPLES / "gaussian.c", f"-I{PREFIX / 'include'}"),
        *(f"-L{library_folder()}", "-ltilefold", "-o", binary),
    )
    (library,) = (SCRATCH / "runtime").rglob("libtilefold.so.1")
    check_output(binary, LD_LIBRARY_PATH=str(library.parent))
    for name in parts:
        shutil.rmtree(SCRATCH / name)


def wheel() -> None:
    """The part that is in a wheel, in a folder of its own."""
    folder = SCRATCH / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    run(
        *("cmake", "--install", BUILD, "--prefix", folder),
        *("--component", "python"),
    )
    compare("the wheel's tree", tree_of(folder), HERE / "wheel.txt")
    package = folder / "tilefold" / "lib" / "cmake" / "tilefold"
    configured = SCRATCH / "of the wheel"
    build_project(configured, f"-Dtilefold_DIR={package}")
    check_output(configured / "consumer_c")
    check_output(configured / "consumer_cpp")
    shutil.rmtree(folder)


def write_npy(path: Path, rows: list[list[float]]) -> None:
    """A file of NumPy with rows of float64, without NumPy."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}"
    header += f", {len(rows[0])}), }}"
    header = header.ljust(117) + "\n"
    numbers = [number for row in rows for number in row]
    path.write_bytes(
        b"\x93NUMPY\1\0"
        + struct.pack("<H", len(header))
        + header.encode()
        + struct.pack(f"<{len(numbers)}d", *numbers)
    )


def command() -> None:
    """The program in bin, on files, numbers and mistakes."""
    program = PREFIX / "bin" / "tilefold"
    cache = {"TILEFOLD_CACHE_DIR": str(SCRATCH / "cache")}
    x = [[(i + 2 * d) / 4 for d in range(2)] for i in range(4)]
    write_npy(SCRATCH / "x.npy", x)
    words = ["sum_j exp(-|x_i - x_j|^2/l) w", f"x={SCRATCH / 'x.npy'}", "l=0.5"]
    wanted = [
        sum(2 * math.exp(-2 * math.dist(a, b) ** 2) for b in x) for a in x
    ]
    printed = run(program, "run", *words, "w=2", "-q", **cache)
    found = [float(line) for line in printed.splitlines()]
    file = SCRATCH / "out.npy"
    run(program, "run", *words, "w=2", "-o", file, "--check", "4", **cache)
    contents = file.read_bytes()
    assert b"'descr': '<f8', 'fortran_order': False, 'shape': (4,)" in contents
    assert (len(contents) - 32) % 64 == 0
    written = struct.unpack("<4d", contents[-32:])
    for got in found, written:
        if not all(map(math.isclose, got, wanted)):
            differ("the sum", str(got), str(wanted))
    shown = run(program, "explain", "sum_j w_j", "w=float32[9]", **cache)
    assert "nest=reduce" in shown
    assert "logsumexp" in run(program, "formulas")
    assert run(program, "--version").startswith("tilefold ")
    for status, part, *mistake in [
        (2, "'w' is not NAME=VALUE", "run", *words, "w"),
        (2, "is neither a number", "run", *words, "w=much"),
        (2, "not expected: --thread", "run", *words, "--thread", "2"),
        (2, "'none' is not above 0", "run", *words, "--threads", "none"),
        (2, "'rum' is no command", "rum", *words),
        (1, "none.npy: it cannot be opened", "run", *words, "w=none.npy"),
        (1, "unknown function 'expp'", "run", "sum_j expp(w_j)", "w=1,2"),
    ]:
        done = subprocess.run(
            [program, *mistake], capture_output=True, text=True, check=False
        )
        if done.returncode != status or part not in done.stderr:
            differ(f"the answer to {mistake}", done.stderr, part)


def symbols() -> None:
    """What the library exports; see compare()."""
    library = library_folder() / "libtilefold.so.1"
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    names = sorted(line.split()[-1] for line in lines)
    compare(
        "the list of symbols",
        "".join(f"{name}\n" for name in names),
        HERE / "symbols.txt",
    )
    header = (PREFIX / "include" / "tilefold" / "tilefold.h").read_text()
    declared = set(re.findall(r"\b(tilefold_\w+)\(", header))
    exported = {name.split("@")[0] for name in names if "@@" in name}
    exported.discard("TILEFOLD_1")
    if declared != exported:
        sys.exit(f"of the header or the library: {declared ^ exported}")
    kernels = ROOT / "compiler" / "artifact" / "kernel_abi.h"
    names = set(re.findall(r"\btilefold_\w+", kernels.read_text()))
    if others := {n for n in names if not n.startswith("tilefold_kernel_")}:
        sys.exit(f"kernel_abi.h has names of the C interface: {others}")


def standards() -> None:
    """The headers by themselves, in each standard.

    They find nothing but what lies in include, and the standard library.
    """
    include = PREFIX / "include"
    own = run("gcc", "-print-file-name=include").strip()
    machine = run("gcc", "-print-multiarch").strip()
    major = run("g++", "-dumpversion").strip().split(".")[0]
    standard_cpp = [
        f"/usr/include/c++/{major}",
        f"/usr/include/{machine}/c++/{major}",
    ]
    of_c = [own, "/usr/include", f"/usr/include/{machine}"]
    for compiler, standard, header in [
        ("gcc", "c99", "tilefold.h"),
        ("gcc", "c11", "tilefold.h"),
        ("g++", "c++11", "tilefold.h"),
        ("g++", "c++20", "tilefold.h"),
        ("g++", "c++17", "tilefold.hpp"),
        ("g++", "c++20", "tilefold.hpp"),
    ]:
        source = SCRATCH / f"{standard}-{header}.c"
        source.write_text(f"#include <tilefold/{header}>\n")
        folders = of_c if header == "tilefold.h" else standard_cpp + of_c
        run(
            *(compiler, "-x", "c++" if compiler == "g++" else "c", source),
            *(f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror"),
            *("-fsyntax-only", "-nostdinc", f"-I{include}"),
            *(word for one in folders for word in ("-isystem", one)),
        )
    written = {path.name for path in include.rglob("*.h*")}
    for path in (include / "tilefold").iterdir():
        for name in re.findall(
            r'^#include ["<](.+)[">]', path.read_text(), re.M
        ):
            where, _, file = name.rpartition("/")
            if where and not (
                where in ("tilefold", "dlpack") and file in written
            ):
                sys.exit(f"{path.name} includes {name}")


def build_project(folder: Path, *settings: str, **variables: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    run(
        *("cmake", "-G", "Ninja", "-S", HERE / "project", "-B", folder),
        *settings,
        **variables,
    )
    run("cmake", "--build", folder)


def find_package(compilers: tuple[str, str] = ("gcc", "g++")) -> None:
    folder = SCRATCH / f"project of {Path(compilers[0]).name}"
    prefix = f"-DCMAKE_PREFIX_PATH={PREFIX}"
    names = {"CC": compilers[0], "CXX": compilers[1]}
    build_project(folder, prefix, **names)
    check_output(folder / "consumer_c")
    check_output(folder / "consumer_cpp")
    done = subprocess.run(
        [
            *("cmake", "-G", "Ninja", "-S", str(HERE / "project")),
            *("-B", str(SCRATCH / "later"), prefix, "-DTILEFOLD_VERSION=99"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0 or "version: 0." not in done.stderr:
        sys.exit(f"version 99 was found:\n{done.stderr}")


def clang(name: str) -> str | None:
    """Clang, which may have its version in its name."""
    return shutil.which(name) or shutil.which(f"{name}-22")


def find_package_clang() -> None:
    compilers = clang("clang"), clang("clang++")
    if not all(compilers):
        skip_without("clang++")
    find_package(compilers)


def pkg_config() -> None:
    """By both compilers that are there, in both languages."""
    program = skip_without("pkg-config")
    variables = {"PKG_CONFIG_PATH": str(library_folder() / "pkgconfig")}
    flags = run(program, "--cflags", "--libs", "tilefold", **variables)
    binary = SCRATCH / "by_pkg_config"
    for compiler, standard, source in [
        ("gcc", "c99", "gaussian.c"),
        ("g++", "c++17", "gaussian.cpp"),
        ("clang", "c99", "gaussian.c"),
        ("clang++", "c++17", "gaussian.cpp"),
    ]:
        if path := clang(compiler) if "clang" in compiler else compiler:
            words = f'{path} -std={standard} "$1" {flags.strip()} -o "$2"'
            run("sh", "-c", words, "sh", EXAMPLES / source, binary)
            check_output(binary, **with_library())


def settings_of_build(*names: str) -> list[str]:
    """Where the build has found headers and Python, and others by name."""
    names += "Python_EXECUTABLE", "DLPACK_INCLUDE_DIR", "CUDA_INCLUDE_DIR"
    cache = (BUILD / "CMakeCache.txt").read_text()
    return [
        f"-D{name}={found[1]}"
        for name in names
        if (found := re.search(rf"^{name}:\w+=(.+)$", cache, re.MULTILINE))
    ]


def add_subdirectory() -> None:
    """Configured and compiled; the library itself is built already."""
    folder = SCRATCH / "subdirectory"
    shutil.rmtree(folder, ignore_errors=True)
    run(
        *("cmake", "-G", "Ninja", "-S", HERE / "project", "-B", folder),
        *(f"-DTILEFOLD_SOURCE={ROOT}", *settings_of_build()),
    )
    listed = run("ninja", "-C", folder, "-t", "targets", "all")
    objects = re.findall(r"^(\S*consumer_\w+\.dir/\S+\.o):", listed, re.M)
    if len(objects) != 2:
        sys.exit(f"objects of consumers: {objects}")
    run("ninja", "-C", folder, *objects)


def destdir() -> None:
    """Staged, as distributions do: the tree below it, and no word of it."""
    stage = SCRATCH / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    prefix = ("--prefix", "/opt/of a package")
    run("cmake", "--install", BUILD, *prefix, DESTDIR=str(stage))
    folder = stage / "opt" / "of a package"
    compare("the staged tree", tree_of(folder), HERE / "tree.txt")
    for file in folder.rglob("*"):
        if file.is_file() and os.fsencode(stage) in file.read_bytes():
            sys.exit(f"{file} names the folder that it was staged in")
    configured = SCRATCH / "of the stage"
    build_project(configured, f"-DCMAKE_PREFIX_PATH={folder}")
    check_output(configured / "consumer_c")
    shutil.rmtree(stage)


def lib64() -> None:
    """Another folder of libraries; they are built already."""
    configured, folder = SCRATCH / "for lib64", SCRATCH / "with lib64"
    shutil.rmtree(configured, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    run(
        *("cmake", "-G", "Ninja", "-S", ROOT, "-B", configured),
        *("-DCMAKE_INSTALL_LIBDIR=lib64", "-DTILEFOLD_TESTS=OFF"),
        # A program is linked for the folder that libraries will be in.
        "-DTILEFOLD_COMMAND=OFF",
        *settings_of_build("CMAKE_BUILD_TYPE"),
    )
    (configured / "bin").mkdir(exist_ok=True)
    for library in (BUILD / "bin").glob("libtilefold*"):
        copy = configured / "bin" / library.name
        shutil.copy2(library, copy, follow_symlinks=False)
    run("cmake", "--install", configured, "--prefix", folder)
    tree = "bin/tilefold\n" + tree_of(folder).replace("lib64/", "lib/")
    compare("the tree with lib64", tree, HERE / "tree.txt")
    if (folder / "lib").exists():
        sys.exit("something was installed in lib, beside lib64")
    project = SCRATCH / "of lib64"
    package = folder / "lib64" / "cmake" / "tilefold"
    # By name: CMake looks in lib64 of systems alone that have one.
    build_project(project, f"-Dtilefold_DIR={package}")
    check_output(project / "consumer_c")
    flags = run(
        *(skip_without("pkg-config"), "--cflags", "--libs", "tilefold"),
        PKG_CONFIG_PATH=str(folder / "lib64" / "pkgconfig"),
    )
    binary = SCRATCH / "by_pkg_config_of_lib64"
    run(
        *("sh", "-c", f'gcc -std=c99 "$1" {flags.strip()} -o "$2"', "sh"),
        *(EXAMPLES / "gaussian.c", binary),
    )
    shutil.rmtree(configured)


def llvm() -> None:
    """The compiler's library is found by a variable where it was moved.

    The folder that a program is run in is not looked at: whoever can write
    there could have it run anything.
    """
    library = library_folder() / "tilefold" / "libtilefold_llvm.so"
    moved = SCRATCH / "moved_llvm.so"
    binary = SCRATCH / "without_llvm"
    run(
        *("gcc", EXAMPLES / "gaussian.c", f"-I{PREFIX / 'include'}"),
        *(f"-L{library_folder()}", "-ltilefold", "-o", binary),
    )
    library.rename(moved)
    try:
        nowhere = {"TILEFOLD_CACHE_DIR": ""} | with_library()
        check_output(binary, **nowhere, TILEFOLD_LLVM=str(moved))
        here = SCRATCH / "a folder to be in"
        for name in library.name, f"tilefold/{library.name}":
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(moved, here / name)
        done = subprocess.run(
            [str(binary)],
            cwd=here,
            env=os.environ | nowhere,
            capture_output=True,
            text=True,
            check=False,
        )
        own = library_folder() / "libtilefold_llvm.so"
        for part in [str(own), "it is not there", "tilefold/libtilefold_llvm"]:
            if done.returncode != 1 or part not in done.stderr:
                sys.exit(f"{part!r} is not said:\n{done.stderr}")
        shutil.rmtree(here)
    finally:
        moved.rename(library)


def frozen() -> None:
    """A program of release 1's header, which later libraries run."""
    binary = SCRATCH / "frozen"
    run(
        *("gcc", "-std=c99", "-Werror", HERE / "frozen" / "program.c"),
        *(f"-I{HERE / 'frozen'}", f"-I{PREFIX / 'include'}"),
        *(f"-L{library_folder()}", "-ltilefold", "-lm", "-o", binary),
    )
    cache = {"TILEFOLD_CACHE_DIR": str(SCRATCH / "cache")}
    if (got := run(binary, **cache, **with_library())) != "ok\n":
        differ("the output", got, "ok\n")


def ctypes() -> None:
    library = library_folder() / "libtilefold.so.1"
    check_output(sys.executable, EXAMPLES / "gaussian.py", library)


def fortran() -> None:
    compiler = skip_without("gfortran")
    binary = SCRATCH / "by_fortran"
    run(
        *(compiler, "-std=f2008", "-Wall", EXAMPLES / "gaussian.f90"),
        *(f"-J{SCRATCH}", f"-L{library_folder()}", "-ltilefold"),
        *("-o", binary),
    )
    check_output(binary, **with_library())


def julia() -> None:
    program = skip_without("julia")
    check_output(
        program, "--startup-file=no", EXAMPLES / "gaussian.jl", **with_library()
    )


def r() -> None:
    program = skip_without("R")
    folder = SCRATCH / "of_r"
    folder.mkdir(exist_ok=True)
    shutil.copy(EXAMPLES / "gaussian_r.c", folder)
    include, libraries = PREFIX / "include", library_folder()
    run(
        *(program, "CMD", "SHLIB", folder / "gaussian_r.c"),
        PKG_CFLAGS=f'-I"{include}"',
        PKG_LIBS=f'-L"{libraries}" -ltilefold',
    )
    check_output(
        *("Rscript", EXAMPLES / "gaussian.R", folder / "gaussian_r.so"),
        **with_library(),
    )


def rust() -> None:
    compiler = skip_without("rustc")
    binary = SCRATCH / "by_rust"
    run(
        *(compiler, "--edition=2021", "-D", "warnings", "-O"),
        *(EXAMPLES / "gaussian.rs", "-L", library_folder(), "-o", binary),
    )
    check_output(binary, **with_library())


if __name__ == "__main__":
    SCRATCH.mkdir(parents=True, exist_ok=True)
    globals()[sys.argv[3]]()
