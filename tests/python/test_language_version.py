# tests/python/test_language_version.py - words of the language come and go with
# its version alone.
"""TILEFOLD_UPDATE_GOLDEN=1 writes those of a version that has no file yet."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from tilefold import _core

FOLDER = Path(__file__).parents[1] / "formulas"


def words() -> str:
    """Each spelling under the title of its table, in the order of letters."""
    lines = [
        f"{title}: {spelling}\n"
        for title, rows in _core.language()
        for spelling, _ in rows
    ]
    return "".join(sorted(set(lines)))


def numbers(path: Path) -> tuple[int, ...]:
    version = path.stem.removeprefix("language-")
    return tuple(map(int, version.split(".")))


def test_the_words_of_this_version():
    path = FOLDER / f"language-{_core.language_version}.txt"
    if os.environ.get("TILEFOLD_UPDATE_GOLDEN") == "1" and not path.exists():
        path.write_text(words(), encoding="utf-8")
    assert words() == path.read_text(encoding="utf-8"), (
        "the words have changed: raise formulas/language_version.h"
    )


def test_minor_versions_lose_no_word():
    files = sorted(FOLDER.glob("language-*.txt"), key=numbers)
    assert files
    assert numbers(files[-1]) == numbers(
        Path(f"language-{_core.language_version}.txt")
    )
    for earlier, later in itertools.pairwise(files):
        if numbers(earlier)[0] == numbers(later)[0]:
            lost = set(earlier.read_text().splitlines()) - set(
                later.read_text().splitlines()
            )
            assert not lost
