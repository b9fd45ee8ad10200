#!/usr/bin/env python3
# scripts/packaging/check_wheel.py - what must be so of a wheel.
"""`check_wheel.py WHEEL POLICY`: its tag, size, licences, libraries.

`check_wheel.py SDIST -`: what the source distribution holds.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from third_party import ROOT, licence_expression, parts

LIMIT = 20 * 10**6  # bytes
# glibc's, the compiler's, and the loader: of every system with glibc 2.28.
SYSTEM = re.compile(
    r"(lib(c|dl|gcc_s|m|pthread|rt)|ld-linux-(x86-64|aarch64))\.so\.\d$"
)
EXPORTS = {
    "_core": {
        "PyInit__core",
        "tilefold_get_num_threads",
        "tilefold_set_num_threads",
    },
    "libtilefold_llvm": {"tilefold_llvm_get_backend"},
}


class Library:
    """What the dynamic section of a library says."""

    def __init__(self, name: str, contents: bytes) -> None:
        self.name = name
        file = ELFFile(io.BytesIO(contents))
        dynamic = file.get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        tags = [(tag.entry.d_tag, tag) for tag in dynamic.iter_tags()]
        self.needed = [t.needed for name, t in tags if name == "DT_NEEDED"]
        # auditwheel writes the older kind.
        self.paths = [t.runpath for name, t in tags if name == "DT_RUNPATH"]
        self.paths += [t.rpath for name, t in tags if name == "DT_RPATH"]
        self.tags = {name: tag.entry.d_val for name, tag in tags}
        self.headers = {
            header.header.p_type: header.header.p_flags
            for header in file.iter_segments()
        }
        symbols = list(file.get_section_by_name(".dynsym").iter_symbols())
        self.exported = {
            symbol.name
            for symbol in symbols
            if symbol.entry.st_shndx not in ("SHN_UNDEF", "SHN_ABS")
            if symbol.entry.st_info.bind != "STB_LOCAL" and symbol.name
        }
        self.imported = {
            symbol.name
            for symbol in symbols
            if symbol.entry.st_shndx == "SHN_UNDEF"
        }
        versions = file.get_section_by_name(".gnu.version")
        self.unversioned = {
            symbol.name
            for symbol, version in zip(
                symbols, versions.iter_symbols(), strict=True
            )
            if symbol.entry.st_shndx == "SHN_UNDEF"
            if version.entry.ndx in ("VER_NDX_GLOBAL", "VER_NDX_LOCAL")
            if symbol.entry.st_info.bind != "STB_WEAK" and symbol.name
        }


def hardening(library: Library) -> list[str]:
    """What a library lacks, or has and should not."""
    tags, wrong = library.tags, []
    now = tags.get("DT_FLAGS", 0) & 8 or tags.get("DT_FLAGS_1", 0) & 1
    if not (now or "DT_BIND_NOW" in tags):
        wrong.append("is not bound when it is loaded (BIND_NOW)")
    if "DT_TEXTREL" in tags:
        wrong.append("has relocations in its text (TEXTREL)")
    # An empty part is the folder that a program is run in.
    if not all(
        part.startswith("$ORIGIN")
        for path in library.paths
        for part in path.split(":")
    ):
        wrong.append(f"looks for libraries in {library.paths}")
    if "PT_GNU_RELRO" not in library.headers:
        wrong.append("is writable once relocated (no RELRO)")
    if library.headers.get("PT_GNU_STACK", 1) & 1:
        wrong.append("has an executable stack")
    if "__stack_chk_fail" not in library.imported:
        wrong.append("does not look after its stack (-fstack-protector)")
    if not any(name.endswith("_chk") for name in library.imported):
        wrong.append("copies without looking at sizes (_FORTIFY_SOURCE)")
    return [f"{library.name} {what}" for what in wrong]


def symbols(library: Library, known: set[str]) -> list[str]:
    """What a library of ours exports or leaves undefined, and should not.

    `known` are the functions of the libraries beside it.
    """
    stem = library.name.rpartition("/")[2].split(".")[0]
    if stem == "libtilefold":
        own = {one for one in library.exported if one.startswith("tilefold_")}
    elif stem in EXPORTS:
        own = EXPORTS[stem]
    else:
        return []
    wrong = []
    if library.exported != own or not own:
        others = sorted(library.exported - own)
        wrong.append(
            f"{library.name} exports {others[:5]}, {len(others)} in all"
        )
    for name in sorted(library.unversioned - known):
        if stem != "_core" or not name.startswith(("Py", "_Py")):
            wrong.append(f"{library.name} leaves {name} undefined")
    return wrong


def libraries(wheel: zipfile.ZipFile) -> list[str]:
    """Of the libraries inside, what is wrong."""
    names = [name for name in wheel.namelist() if ".so" in name]
    wrong, grafted = [], set()
    rows = [row for row in parts() if row.linked == "SHARED"]
    inside = [Library(name, wheel.read(name)) for name in names]
    beside = [
        library.exported for library in inside if ".libs/" in library.name
    ]
    for library in inside:
        name = library.name
        wrong += symbols(library, set().union(*beside))
        if ".libs/" in name:
            grafted.add(name.rpartition("/")[2])
        else:
            wrong += hardening(library)
        known = {other.rpartition("/")[2] for other in names}
        wrong += [
            f"{name} needs {needed}"
            for needed in library.needed
            if needed not in known and not SYSTEM.match(needed)
        ]
    wrong += [
        f"{name} has no row in third_party.def"
        for name in grafted
        if not any(name.startswith(f"lib{row.file}") for row in rows)
    ]
    return wrong


def licences(wheel: zipfile.ZipFile) -> list[str]:
    """Of the texts, the expression and the bills of materials."""
    rows, names = parts(), wheel.namelist()
    (metadata_name,) = [n for n in names if n.endswith(".dist-info/METADATA")]
    folder = metadata_name.removesuffix("METADATA")
    wrong = [
        f"{path} is missing"
        for row in rows
        if (path := f"{folder}licenses/licenses/{row.file}.txt") not in names
    ]
    said = re.search(
        r"^License-Expression: (.+)$",
        wheel.read(metadata_name).decode(),
        re.MULTILINE,
    )
    if not said or said[1] != licence_expression(rows):
        wrong.append(f"License-Expression is {said and said[1]}")
    try:
        bill = json.loads(wheel.read(f"{folder}sboms/tilefold.cdx.json"))
    except KeyError:
        return [*wrong, "sboms/tilefold.cdx.json is missing"]
    if {part["name"] for part in bill["components"]} != {r.name for r in rows}:
        wrong.append("the bill of materials has other parts than the table")
    return wrong


def metadata(wheel: zipfile.ZipFile) -> list[str]:
    """Of what `pip show -v` and an index's page tell, what has changed.

    metadata.txt has it but for versions, and for what only developers install.
    """
    (name,) = [n for n in wheel.namelist() if n.endswith("/METADATA")]
    head, _, page = wheel.read(name).decode().partition("\n\n")
    told = "".join(
        f"{line}\n"
        for line in head.splitlines()
        if not re.match(r"(Metadata-)?Version: ", line)
        if not re.search(r'extra == "(bench|docs|examples|test)"$', line)
    )
    golden = Path(__file__).with_name("metadata.txt")
    if os.environ.get("TILEFOLD_UPDATE_GOLDEN") == "1":
        golden.write_text(told)
    wrong = []
    if told != golden.read_text():
        wrong.append(f"its metadata are not those of {golden.name}:\n{told}")
    if not page.lstrip().startswith("# tilefold\n"):
        wrong.append("its page is not the README")
    return wrong


def versions() -> list[str]:
    """Rows whose version is not that of this machine."""
    wrong = []
    for row in parts():
        if row.name in ("DLPack", "robin-map"):  # inside another's package
            continue
        if row.source.startswith("pypi:"):
            pins = (ROOT / "scripts/packaging/build.txt").read_text()
            name = row.source.removeprefix("pypi:")
            found = re.search(rf"^{name}==(.+)$", pins, re.MULTILINE)
            there = found[1] if found else "not pinned"
        else:
            there = subprocess.run(
                ["dpkg-query", "-W", "-f", "${Version}", row.source],
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            ).stdout
        there = there.rpartition(":")[2]
        if not re.match(rf"{re.escape(row.version)}\b", there):
            wrong.append(f"{row.name} {row.version} is {there or 'missing'}")
    return wrong


def source_distribution(path: Path) -> list[str]:
    """Of the source distribution, what is wrong."""
    with tarfile.open(path) as archive:
        files = {
            one.name.partition("/")[2]: one.size for one in archive.getmembers()
        }
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    wanted = ("LICENSE", "tests/python/conftest.py", "third_party.def")
    return [f"{name} is missing" for name in wanted if name not in files] + [
        f"{name} has {size} bytes"
        for name, size in files.items()
        if name.endswith((".png", ".jpg", ".svg")) and size > 200_000
    ]


def main(path: Path, policy: str) -> list[str]:
    """All that is wrong, a sentence each."""
    wrong = versions()
    size = path.stat().st_size
    if size > LIMIT:
        wrong.append(f"it has {size} bytes, of {LIMIT}")
    if policy not in path.name.removesuffix(".whl").split("-")[-1].split("."):
        wrong.append(f"its name does not end in {policy}")
    with zipfile.ZipFile(path) as wheel:
        wrong += libraries(wheel) + licences(wheel) + metadata(wheel)
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    level = re.search(r'"manylinux_2_(\d+)_\w+"', shown)
    if not level or int(level[1]) > int(policy.split("_")[2]):
        wrong.append(f"auditwheel says: {shown}")
    print(f"{path.name}: {size / 1e6:.1f} MB, glibc 2.{level and level[1]}")
    return wrong


if __name__ == "__main__":
    given = Path(sys.argv[1])
    if given.suffix == ".gz":
        problems = source_distribution(given)
    else:
        problems = main(given, sys.argv[2])
    print("\n".join(problems))
    sys.exit(bool(problems))
