# docs/generate/errors.py - the index of errors, from the table of messages.
"""Every message a user can meet: what raises it, an example, and the cure.

Examples are the messages that golden tests hold, of formulas and of arrays;
where no test has the whole text, a call of met.txt is run.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from generate import met
from generate.markdown import anchor, block, code, plain
from generate.tables import ROOT, rows, strings

CLASSES = {
    "Formula": "FormulaError",
    "Argument": "ArgumentError",
    "Shape": "ShapeError",
    "DType": "DTypeError",
    "Device": "DeviceError",
    "Warning": "ConvergenceWarning",
    "OutOfMemory": "OutOfMemory",
    "Cancelled": "Cancelled",
    "Internal": "InternalError",
}


class Diagnostic(NamedTuple):
    """A row of diagnostics.def."""

    code: str
    family: str
    found: str
    cure: str
    section: str


class Example(NamedTuple):
    """How a message is met: what was written, if it is known, and the text.

    `source` is a formula or a call of `language`, `""` where the message shows
    it; `when` is a sentence on when it is met. `message` is `""` where the
    sentence says why it is not met here.
    """

    source: str
    message: str
    language: str = "text"
    when: str = ""


def diagnostics() -> list[Diagnostic]:
    """All rows, in the table's order."""
    found = rows("formulas/diagnostics.def", "DIAGNOSTIC")
    return [Diagnostic(*row.fields, row.section) for row in found]


def pattern(diagnostic: Diagnostic) -> re.Pattern[str]:
    """What the first line of a message of this code looks like."""
    text = re.sub(r"\\\{\d\\\}", "(.+?)", re.escape(diagnostic.found))
    return re.compile(text + r"(?=\n|$)", re.DOTALL)


def formula_messages() -> dict[str, Example]:
    """Those of tests/formulas/messages.txt, by code; the shortest formula."""
    path = ROOT / "tests/formulas/messages.txt"
    found: dict[str, Example] = {}
    for text in path.read_text(encoding="utf-8").split("\n=== "):
        head, _, rest = text.removeprefix("=== ").partition("\n")
        name, _, keops = head.partition(" | ")
        formula, _, message = rest.partition("\n---\n")
        source = f"{formula}\nKeOps: {keops}" if keops else ""
        example = Example(source, message.rstrip())
        if name not in found or "⟪" in message:
            found[name] = example
    return found


def _test_strings() -> list[str]:
    """Text in tests that may be a message."""
    paths = sorted((ROOT / "tests").rglob("*.cpp"))
    paths += sorted((ROOT / "tests/python").glob("*.py"))
    found = [text for path in paths for text in strings(path)]
    return [text for text in found if len(text) > 15]


def golden(texts: list[str], diagnostic: Diagnostic) -> str:
    """The message of a test that this row made; the longest, with its cure."""
    matcher = pattern(diagnostic)
    fixed = max(re.split(r"\{\d\}", diagnostic.found), key=len)
    near = [text for text in texts if fixed in text]
    fitting = [text.rstrip() for text in near if matcher.match(text)]
    return max(fitting, key=len, default="")


@functools.cache
def examples() -> dict[str, Example]:
    """An example for every code, in the table's order."""
    formulas, texts, calls = formula_messages(), _test_strings(), met.read()
    ran = _ran(calls)
    found = {}
    for row in diagnostics():
        if row.code in calls:
            found[row.code] = _example(row, calls[row.code], ran)
        elif row.code in formulas:
            found[row.code] = formulas[row.code]
        elif message := golden(texts, row):
            found[row.code] = Example("", message)
        else:
            raise ValueError(f"no example of {row.code}: add one to met.txt")
    return found


def _ran(calls: dict[str, met.Met]) -> dict[str, tuple[str, str]]:
    """The code and the message that each entry with a call has met."""
    apart = {k: v for k, v in calls.items() if v.source and v.is_apart}
    in_c = {k: v.source for k, v in calls.items() if v.is_c}
    found = met.run_apart(apart) | met.run_c(in_c)
    for name, entry in calls.items():
        if entry.source and name not in apart and not entry.is_c:
            found[name] = met.run(entry.source)
    return found


def _example(
    row: Diagnostic, entry: met.Met, ran: dict[str, tuple[str, str]]
) -> Example:
    """The example of an entry of met.txt."""
    if row.code not in ran:
        why = "It needs a GPU, or what the tests have in the place of one."
        return Example("", "", when=entry.when or why)
    name, message = ran[row.code]
    if name not in ("", row.code) or not pattern(row).match(message):
        raise ValueError(f"met.txt: {row.code} gave {name}: {message!r}")
    language = "c" if entry.is_c else "python"
    return Example(entry.source, message, language, entry.when)


def entry(row: Diagnostic, example: Example) -> str:
    """The section of one diagnostic."""
    parts = [f"({anchor('error', row.code)})=", f"## {code(row.code)}"]
    parts.append(
        f"{code(row.found)} — {{py:exc}}`tilefold.{CLASSES[row.family]}`"
    )
    if example.when:
        word = "Met by" if example.message else "Not met here"
        parts.append(f"{word}: {example.when}")
    if example.source:
        parts.append(block(example.source, example.language))
    if example.message:
        parts.append(block(example.message))
    if re.sub(r"\{\d\}", "", row.cure):  # and not what the message alone says
        parts.append(f"**Cure:** {plain(row.cure)}.")
    return "\n\n".join(parts).replace(")=\n\n", ")=\n", 1)


def sections() -> dict[str, list[Diagnostic]]:
    """The rows by section of the table."""
    found: dict[str, list[Diagnostic]] = {}
    for row in diagnostics():
        found.setdefault(row.section, []).append(row)
    return found
