# docs/generate/c_interface.py - the reference of C, from the header.
"""Comments and declarations of include/tilefold/tilefold.h, in its order."""

from __future__ import annotations

import re
from pathlib import Path

from generate.markdown import anchor, block, code, plain
from generate.tables import ROOT

HEADER = ROOT / "include/tilefold/tilefold.h"
_SECTION = re.compile(r"^/\* -+ (.*?) -+ \*/$", re.MULTILINE)
_PIECE = re.compile(
    r"(?P<comment>/\*(?:(?!\*/).)*\*/\n)?"
    r"(?P<declared>"
    r"(?:#define [^\n]*(?:\\\n[^\n]*)*\n)+"
    r"|typedef struct \w+ \{.*?^\} \w+;\n"
    r"|[a-z][^;{}#]*?;\n)",
    re.MULTILINE | re.DOTALL,
)


def prose(comment: str) -> str:
    """A comment without its marks."""
    text = re.sub(r"^/\*|\*/$", "", comment.strip())
    return re.sub(r"^[ \t]*\*? ?", "", text, flags=re.MULTILINE).strip()


def _words(text: str) -> str:
    """Prose in which only what stands in backquotes is code."""
    parts = text.split("`")
    parts[::2] = [plain(part) for part in parts[::2]]
    parts[1::2] = [code(part) for part in parts[1::2]]
    return "".join(parts)


def rules(header: Path = HEADER) -> str:
    """What holds of every function: the list in the first comment."""
    text = header.read_text(encoding="utf-8")
    first = re.match(r"/\*.*?\*/", text, re.DOTALL)
    if first is None:
        raise ValueError(f"{header} does not begin with a comment")
    lines = prose(first[0]).partition("What holds of every function:")[2]
    items = re.split(r"\n(?= *\d+\. )", lines.strip())
    *listed, last = [re.sub(r"\s*\n +", " ", item) for item in items]
    last, _, after = last.partition("\n\n")
    parts = [_words(item.strip()) for item in [*listed, last]]
    return "\n".join(parts) + "\n\n" + _words(after.replace("\n", " "))


def pieces(header: Path = HEADER) -> dict[str, list[tuple[str, str, str]]]:
    """(name, comment, declaration) by section of the header."""
    text = header.read_text(encoding="utf-8")
    text = text.partition("#ifdef __cplusplus\n}")[0]
    parts = _SECTION.split(text)
    found: dict[str, list[tuple[str, str, str]]] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        listed = found.setdefault(title, [])
        for match in _PIECE.finditer(body):
            declared = match["declared"].replace(" TILEFOLD_NOEXCEPT", "")
            listed.append((_name(declared), match["comment"] or "", declared))
    return found


def _name(declared: str) -> str:
    """What a declaration is of."""
    if declared.startswith("#define"):
        return declared.split()[1].partition("(")[0]
    if declared.startswith("typedef"):
        callback = re.search(r"\(\*(\w+)\)", declared)
        if callback:
            return callback[1]
        return re.findall(r"\w+", declared)[-1]
    return re.findall(r"(\w+)\(", declared)[0]


def page(header: Path = HEADER) -> str:
    """A section for each of the header's, an entry for each declaration."""
    parts = []
    for title, listed in pieces(header).items():
        parts.append(f"## {title[:1].upper()}{title[1:]}")
        for name, comment, declared in listed:
            kind = "macro" if declared.startswith("#") else "c"
            parts.append(f"({anchor(kind, name)})=\n### {code(name)}")
            if comment:
                parts.append(_words(prose(comment)))
            parts.append(block(declared.rstrip(), "c"))
    return "\n\n".join(parts)
