# scripts/packaging/tilefold_version.py - the version of what is built.
"""The version that CMakeLists.txt names, as scikit-build-core asks for it.

Of a commit of a checkout without the tag of that version it is followed by
.dev<commits>+g<commit>. A source distribution says its own.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["dynamic_metadata"]

ROOT = Path(__file__).resolve().parents[2]


def stated_version(root: Path = ROOT) -> str:
    """The version of CMakeLists.txt."""
    text = (root / "CMakeLists.txt").read_text()
    found = re.search(r"VERSION ([0-9.]+) LANGUAGES", text)
    if not found:
        raise ValueError("CMakeLists.txt names no version")
    return found[1]


def _git(root: Path, *words: str) -> str | None:
    """What git prints; None without git, or outside a checkout of `root`."""
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def full_version(root: Path = ROOT) -> str:
    """The version of PKG-INFO, of a tagged commit, or of one between."""
    package = root / "PKG-INFO"
    if package.exists():
        found = re.search(r"^Version: (\S+)$", package.read_text(), re.M)
        if found:
            return found[1]
    stated = stated_version(root)
    commit = _git(root, "rev-parse", "--short=9", "HEAD")
    tags = _git(root, "tag", "--points-at", "HEAD")
    if commit is None or tags is None or f"v{stated}" in tags.split():
        return stated
    commits = _git(root, "rev-list", "--count", "HEAD")
    return f"{stated}.dev{commits}+g{commit}"


def dynamic_metadata(
    field: str,
    settings: dict[str, Any],
    project: dict[str, Any],  # noqa: ARG001 - what providers are given
) -> str:
    """What scikit-build-core calls."""
    if field != "version" or settings:
        raise ValueError("tilefold_version gives the version, without settings")
    return full_version()
