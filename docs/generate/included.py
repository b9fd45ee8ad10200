# docs/generate/included.py - sections of READMEs, as parts of a page.
"""Text stands in one place: the site takes it from the source's READMEs."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

from generate.tables import ROOT

#: Pages that hold what a file of the source says.
PAGES = {
    "CHANGELOG.md": "/project/changelog",
    "CONTRIBUTING.md": "/project/contributing",
    "SECURITY.md": "/project/security",
    "bench/README.md": "/performance/method",
    "bench/RESULTS.md": "/performance/index",
    "bench/results/emerald_rapids/README.md": "/performance/emerald_rapids",
    "bench/results/zen3/README.md": "/performance/zen3",
    "bench/results/zen4/README.md": "/performance/zen4",
    "compiler/README.md": "/how/compiler",
    "formulas/README.md": "/guide/formulas",
    "python_bindings/FEATURES.md": "/guide/features",
    "runtime/README.md": "/how/running",
}
_HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCED = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def section(page: str, path: str, heading: str, level: int) -> str:
    """A section of a file, its heading at `level`; without heading if 0.

    `page` is the name of the page, `heading` `""` for the whole file.
    """
    text = (ROOT / path).read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    body = _part(text, path, heading)
    own = len(body) - len(body.lstrip("#"))
    if level == 0:
        body = body.partition("\n")[2].lstrip("\n")
    body = _shifted(body, (level or 1) - own)
    parts = _FENCED.split(body)
    parts[::2] = [_linked(part, page, path) for part in parts[::2]]
    return "".join(parts).rstrip()


def _headings(text: str) -> list[re.Match[str]]:
    """The headings of a file; a line of code in a block is none."""
    spans = [m.span() for m in re.finditer(r"^```.*?^```$", text, re.M | re.S)]
    return [
        match
        for match in _HEADING.finditer(text)
        if not any(low <= match.start() < high for low, high in spans)
    ]


def _part(text: str, path: str, heading: str) -> str:
    """The file from a heading to the next one that is no deeper."""
    found = _headings(text)
    if not heading:
        return text[found[0].start() :]
    for index, match in enumerate(found):
        if match[2] == heading:
            ends = [m for m in found[index + 1 :] if len(m[1]) <= len(match[1])]
            end = ends[0].start() if ends else len(text)
            return text[match.start() : end]
    raise ValueError(f"{path} has no section '{heading}'")


def _shifted(text: str, by: int) -> str:
    """Headings that much deeper."""
    for match in reversed(_headings(text)):
        depth = max(1, len(match[1]) + by)
        text = text[: match.start()] + "#" * depth + text[match.end(1) :]
    return text


def _linked(text: str, page: str, path: str) -> str:
    """Links of a README as links of a page of the site."""
    folder = PurePosixPath(path).parent

    def mended(match: re.Match[str]) -> str:
        is_image, words, target = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        file, _, _ = target.partition("#")
        full = os.path.normpath(folder / file) if file else path
        if is_image:
            back = os.path.relpath(ROOT / full, ROOT / "docs" / page / "..")
            return f"![{words}]({back})"
        if full in PAGES:
            return f"[{words}]({PAGES[full]}.md)"
        return words

    return _LINK.sub(mended, text)
