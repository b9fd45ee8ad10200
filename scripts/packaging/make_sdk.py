#!/usr/bin/env python3
# scripts/packaging/make_sdk.py - what of a wheel programs in C and C++ need, as
# an archive for machines without Python.
"""`make_sdk.py WHEEL FOLDER`: writes tilefold-VERSION-PLATFORM.tar.gz there.

The archive holds one folder: `tilefold` with headers, libraries and a CMake
package, as it is in the wheel, `tilefold.libs` beside it, which the libraries
look for there, and the licences. Its bytes depend on the wheel alone.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import tarfile
import zipfile
from pathlib import Path

# Of the wheel, and where it is in the archive.
PARTS = [
    (re.compile(r"tilefold/(include|lib)/.+"), r"\g<0>"),
    (re.compile(r"tilefold/libtilefold_llvm\.so"), r"\g<0>"),
    (re.compile(r"tilefold\.libs/.+"), r"\g<0>"),
    (re.compile(r"[^/]+\.dist-info/licenses/(.+)"), r"licenses/\1"),
    (re.compile(r"[^/]+\.dist-info/(sboms/.+)"), r"\1"),
]


def place_of(name: str) -> str | None:
    """Where a file of the wheel is in the archive, if it is."""
    for pattern, place in PARTS:
        if found := pattern.fullmatch(name):
            return found.expand(place)
    return None


def make(wheel: Path, folder: Path) -> Path:
    """The path of the archive."""
    name, version, *_, platform = wheel.stem.split("-")
    top = f"{name}-{version}-{platform.split('.')[-1]}"
    archive = folder / f"{top}.tar.gz"
    date = int(os.environ["SOURCE_DATE_EPOCH"])
    with (
        zipfile.ZipFile(wheel) as inside,
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, mtime=date) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for one in sorted(inside.namelist()):
            place = place_of(one)
            if place is None or one.endswith("/"):
                continue
            contents = inside.read(one)
            entry = tarfile.TarInfo(f"{top}/{place}")
            entry.size, entry.mtime = len(contents), date
            entry.mode = 0o755 if ".so" in one else 0o644
            tar.addfile(entry, io.BytesIO(contents))
    return archive


if __name__ == "__main__":
    made = make(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")
