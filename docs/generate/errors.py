# docs/generate/errors.py - the index of errors, from the table of messages.
"""Every message a user can meet: what raises it, an example, and the cure.

Examples are the messages that golden tests hold, of formulas and of arrays;
where no test has the whole text, a call of met.txt is run.
"""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tilefold
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
MET = Path(__file__).parent / "met.txt"


class Diagnostic(NamedTuple):
    """A row of diagnostics.def."""

    code: str
    family: str
    found: str
    cure: str
    section: str


class Example(NamedTuple):
    """How a message is met: what was written, if it is known, and the text.

    `source` is a formula or a call, `""` where the message shows it;
    `message` is `""` where `source` is a sentence that says when it is met.
    """

    source: str
    message: str


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


def met() -> dict[str, str]:
    """Calls that meet a diagnostic, or a sentence, by code."""
    text = MET.read_text(encoding="utf-8").partition("\n=== ")[2]
    blocks = (part.partition("\n") for part in text.split("\n=== "))
    return {name: rest.strip() for name, _, rest in blocks}


def run(source: str) -> tuple[str, str]:
    """The code and the message that a call meets; "" where it meets none."""
    *before, last = ast.parse(source).body
    scope = names()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", tilefold.ConvergenceWarning)
            exec(compile(ast.Module([*before, last], []), "met", "exec"), scope)
    except (tilefold.Error, tilefold.ConvergenceWarning) as error:
        return str(getattr(error, "code", "")), str(error)
    return "", ""


def names() -> dict[str, object]:
    """What a call of met.txt may use."""
    random = np.random.default_rng(0)
    return {
        "np": np,
        "tilefold": tilefold,
        "x": random.random((50, 3)),
        "y": random.random((60, 3)),
        "b": random.random(60),
        "c": random.random(50),
        "l": 0.5,
        "A": random.random((2, 3)),
        "S": random.random((3, 3)),
        "n": random.integers(0, 9, 50),
        "m": random.integers(0, 9, 60),
    }


def examples() -> dict[str, Example]:
    """An example for every code, in the table's order."""
    formulas, texts, calls = formula_messages(), _test_strings(), met()
    found = {}
    for row in diagnostics():
        if row.code in formulas:
            found[row.code] = formulas[row.code]
        elif row.code in calls:
            found[row.code] = _run_example(row, calls[row.code])
        elif message := golden(texts, row):
            found[row.code] = Example("", message)
        else:
            raise ValueError(f"no example of {row.code}: add one to met.txt")
    return found


def _run_example(row: Diagnostic, source: str) -> Example:
    """The example of a call, or of a sentence."""
    if source.startswith("#"):
        return Example(source.replace("\n#", " ").lstrip("# "), "")
    name, message = run(source)
    if not pattern(row).match(message):
        raise ValueError(f"met.txt: {row.code} gave {name}: {message!r}")
    return Example(source, message)


def entry(row: Diagnostic, example: Example) -> str:
    """The section of one diagnostic."""
    parts = [f"({anchor('error', row.code)})=", f"## {code(row.code)}"]
    parts.append(
        f"{code(row.found)} — {{py:exc}}`tilefold.{CLASSES[row.family]}`"
    )
    if not example.message:
        parts.append(f"Met by: {example.source}")
    elif example.source:
        is_call = not example.source.count("\nKeOps: ")
        parts.append(block(example.source, "python" if is_call else "text"))
    if example.message:
        parts.append(block(example.message))
    if row.cure:
        parts.append(f"**Cure:** {plain(row.cure)}.")
    return "\n\n".join(parts).replace(")=\n\n", ")=\n", 1)


def sections() -> dict[str, list[Diagnostic]]:
    """The rows by section of the table."""
    found: dict[str, list[Diagnostic]] = {}
    for row in diagnostics():
        found.setdefault(row.section, []).append(row)
    return found
