# docs/generate/language.py - the reference of the language, from its tables.
"""Every operation, function and reduction of formulas, an entry for each.

What an entry says of signs, domains and special values is computed when the
site is built; all else is a column of a table.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np

import tilefold
from generate.markdown import anchor, block, code, sentence, table
from generate.tables import ROOT, Row, rows

LANGUAGE = "compiler/language"
SPECIAL = [-math.inf, -1.0, -0.0, 0.0, 1.0, math.inf, math.nan]
GRID = [-1e30, -2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5, 1e30]
DOMAINS = {
    (1, 1, 1, 1, 1, 1, 1, 1, 1): "all real numbers",
    (0, 0, 0, 0, 1, 1, 1, 1, 1): "a ≥ 0",
    (0, 0, 0, 0, 0, 1, 1, 1, 1): "a > 0",
    (0, 0, 1, 1, 1, 1, 1, 1, 1): "a ≥ −1",
    (0, 0, 1, 1, 1, 1, 1, 0, 0): "−1 ≤ a ≤ 1",
}
PAIRS = [
    (0.0, 0.0),
    (-0.0, 0.0),
    (1.0, 0.0),
    (1.0, math.inf),
    (math.inf, math.inf),
    (math.inf, -math.inf),
    (1.0, math.nan),
]
RESULTS = {
    "Real": "the computing type, float32 or float64",
    "Exact": "the computing type; float64 where no operand is float32",
    "Affine": "the computing type; float64 where no operand is float32; "
    "int64, and saturated, of 64-bit integers",
    "Compare": "a truth value",
    "Logic": "a truth value",
    "Select": "the common type of both choices",
    "Whole": "the computing type, of whole numbers; NaN where one is not",
    "Gathered": "the table's type, float64 where that is no float; NaN where "
    "a subscript is no whole number of the table's",
}
SHAPES = {
    "Elementwise": "component by component; a number goes with a vector",
    "Contract": "two vectors of one length give a number",
    "Contract1": "the components of one vector give a number",
    "Cross": "two vectors of 3 components give one",
    "MatVec": "a matrix (R, C) and a vector of C give a vector of R",
    "VecMat": "a vector of R and a matrix (R, C) give a vector of C",
    "Outer": "vectors of R and C give one of R·C, row after row",
    "Gather": "a vector and a subscript give a number; a matrix and one "
    "give a row, a matrix and two an element",
}


class Entry(NamedTuple):
    """One name of the language: a heading and what stands below it."""

    name: str
    anchor: str
    text: str


def operations() -> list[Entry]:
    """The rows of ops.def, an entry each."""
    errors = ulp()
    return [
        _operation(row, errors) for row in rows("compiler/ir/ops.def", "OP")
    ]


def ulp() -> dict[str, list[tuple[str, str, str]]]:
    """Errors of functions: (arguments, instruction set, ulp) by spelling."""
    path = ROOT / "tests/numerics/ulp.csv"
    found: dict[str, list[tuple[str, str, str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["function"], []).append(
                (_interval(row["from"], row["to"]), row["isa"], row["ulp"])
            )
    return found


def _interval(low: str, high: str) -> str:
    """The numbers from `low` to `high` in words."""
    if (low, high) == ("-inf", "inf"):
        return "any a"
    return f"a ≥ {low}" if high == "inf" else f"{low} ≤ a ≤ {high}"


def _operation(row: Row, errors: dict) -> Entry:
    """The entry of an operation."""
    name, spelling, keops, arity, shape, result, _, cost, _ = row.fields[:9]
    partials, tangents, doc = row.fields[9:]
    _require(doc, name)
    written = _written(name, spelling, int(arity))
    facts = [("Written", code(written))]
    facts += [("KeOps", code(keops) if keops else "no operation of its own")]
    facts += [("Shapes", SHAPES[shape]), ("Result", RESULTS[result])]
    if shape == "Elementwise" and int(arity) == 1 and name != "Not":
        facts.append(("Domain", domain(written)))
    facts.append(("Derivative", _derivative(partials, tangents, int(arity))))
    if spelling in errors and not name.startswith("Comp"):
        facts.append(("Error in float32", _error(errors[spelling])))
    slots = "issue slot" if cost == "1" else "issue slots"
    facts.append(("Cost", f"{cost} {slots} a vector, as plans reckon it"))
    text = [sentence(doc), _facts(facts)]
    if shape == "Elementwise":
        text.append(_values(written, int(arity)))
    return Entry(written, anchor("op", name), _join(text))


def _written(name: str, spelling: str, arity: int) -> str:
    """An operation as a formula of its operands a, b, c, as rules name them."""
    special = {
        "Gather": "a[b]",
        "GatherRow": "a[b]",
        "GatherElement": "a[b, c]",
        "Neg": "-a",
        "Not": "not a",
        "SqNorm": "|a|²",
    }
    if name in special:
        return special[name]
    operands = ["a", "b", "c"][:arity]
    if spelling.isalnum() and spelling not in ("and", "or", "mod"):
        return f"{spelling}({', '.join(operands)})"
    return f" {spelling} ".join(operands)


def _derivative(partials: str, tangents: str, arity: int) -> str:
    """The rules of a row: what each operand's adjoint gets."""
    names = ["a", "b", "c"][:arity]
    rules = []
    for name, rule in zip(names, partials.split("; "), strict=True):
        if rule == "0":
            rules.append(f"none by {name}: it is constant almost everywhere")
        elif rule == "none":
            rules.append(f"refused by {name}")
        else:
            rules.append(f"by {name}, {code(rule)}")
    text = "; ".join(rules)
    return text + (f"; along tangents g, {code(tangents)}" if tangents else "")


def _error(measured: list[tuple[str, str, str]]) -> str:
    """Measured errors, by instruction set."""
    return "; ".join(
        f"{value} ulp on {isa} for {where}" for where, isa, value in measured
    )


def domain(written: str) -> str:
    """For which numbers a function of one number is one, found by running."""
    values = np.asarray(_of_one(written, np.array(GRID)), float)
    found = DOMAINS.get(tuple(int(not math.isnan(value)) for value in values))
    if found is None:
        numbers = [
            f"{x:g}" for x, y in zip(GRID, values, strict=True) if y == y
        ]
        raise ValueError(f"{written}: a domain without words, {numbers}")
    return found


def _of_one(written: str, x: np.ndarray) -> np.ndarray:
    """The values of a formula of x at some numbers."""
    formula = re.sub(r"\b[ax]\b", "x_i", written)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(tilefold.reduce(formula, x=x))


def _values(written: str, arity: int) -> str:
    """What a function gives at signed zeros, infinities and NaN."""
    if arity == 1 and written != "not a":
        values = _of_one(written, np.array(SPECIAL))
        head = [
            "x" if "x" in re.split(r"\W", written) else "a",
            *map(number, SPECIAL),
        ]
        return table(head, [[code(written), *map(number, values)]])
    if arity == 2 and written.split()[1:2] not in (["and"], ["or"]):
        formula = re.sub(r"\b([ab])\b", r"\1_i", written)
        a, b = np.array(PAIRS).T
        values = np.asarray(tilefold.reduce(formula, a=a, b=b))
        return table(
            ["a", *map(number, a)],
            [
                ["b", *map(number, b)],
                [code(written), *map(number, values)],
            ],
        )
    return ""


def number(value: object) -> str:
    """A number as mathematics writes it."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    real = float(value)  # type: ignore[arg-type]
    if math.isnan(real):
        return "NaN"
    sign = "−" if math.copysign(1, real) < 0 else ""
    return sign + ("∞" if math.isinf(real) else f"{abs(real):.5g}")


def _facts(facts: list[tuple[str, str]]) -> str:
    """Facts about a name, as a list of fields."""
    return "\n".join(f":{name}: {text}" for name, text in facts)


def _join(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _require(doc: str, name: str) -> None:
    """A row without a line for users has no place in the reference."""
    if not doc.strip():
        raise ValueError(f"the row of {name} says nothing to users")


def functions() -> list[Entry]:
    """Functions made of operations, other names, and parts of complex ones."""
    entries = []
    for row in rows(f"{LANGUAGE}/sugar.def", "SUGAR"):
        spelling, keops, parameters, body, doc = row.fields
        _require(doc, spelling)
        is_operator = not spelling.isalnum()
        written = (
            f"x {spelling} y" if is_operator else f"{spelling}({parameters})"
        )
        facts = [("Written", code(written))]
        facts += [("KeOps", code(keops))] if keops else []
        facts.append(("Stands for", code(body)))
        text = [sentence(doc), _facts(facts)]
        if parameters == "x" and spelling not in ("argmax", "argmin"):
            text.append(_values(written, 1))
        kind = anchor(
            "function", {">": "gt", ">=": "ge"}.get(spelling, spelling)
        )
        entries.append(Entry(spelling, kind, _join(text)))
    for row in rows(f"{LANGUAGE}/complex.def", "COMPLEX_FUNCTION"):
        spelling, _, real, imaginary, of_real, doc = row.fields
        _require(doc, spelling)
        facts = [("Written", code(f"{spelling}(z)"))]
        facts.append(("Real part", code(real)))
        facts += [("Imaginary part", code(imaginary))] if imaginary else []
        facts.append(("Of a real number a", code(of_real)))
        text = _join([sentence(doc), _facts(facts)])
        entries.append(Entry(spelling, anchor("function", spelling), text))
    return entries


def aliases() -> list[tuple[str, str]]:
    """Other names of functions: (name, function)."""
    found = rows("formulas/tokens.def", "ALIAS")
    return [(row.fields[0], row.fields[1]) for row in found]


def _with_doc(path: str, macro: str, kind: str) -> list[Entry]:
    """Rows whose last column says how they are written and what they are."""
    entries = []
    for row in rows(path, macro):
        spelling, doc = row.fields[1], row.fields[-1]
        _require(doc, spelling)
        written, _, meaning = doc.partition(": ")
        facts = [("Written", code(written))]
        if macro == "SHAPE_FUNCTION" and row.fields[2]:
            facts.append(("KeOps", code(row.fields[2])))
        text = _join([sentence(meaning), _facts(facts)])
        entries.append(Entry(spelling, anchor(kind, spelling), text))
    return entries


def derivatives() -> list[Entry]:
    """Functions of formulas that differentiate."""
    return _with_doc(f"{LANGUAGE}/derivatives.def", "DERIVATIVE", "derivative")


def shape_functions() -> list[Entry]:
    """Functions of shapes and of whole numbers of the text."""
    path = f"{LANGUAGE}/shape_functions.def"
    return _with_doc(path, "SHAPE_FUNCTION", "shape")


TYPES = {
    "Body": "the type of what is reduced",
    "Real": "the computing type",
    "Index": "int64",
    "Truth": "a truth value",
    "Exact": "float64 of integers and of float64, else the computing type",
    "Total": "int64 of integers and truth values, saturated; else as a mean",
}
CALLED = {
    "kmin": "kmin_j(f, K)",
    "argkmin": "argkmin_j(f, K)",
    "logsumexp": "logsumexp_j(f), logsumexp_j(f, w)",
    "softmax": "softmax_j(f, v)",
    "fold": "fold_j(f, init, accumulate, merge, finalise)",
}


def reductions() -> list[Entry]:
    """Reductions, those with a monoid first, then what is made of them."""
    entries = []
    for row in rows("compiler/ir/reductions.def", "REDUCTION"):
        _, stem, keops, _, _, monoid, result, _, empty = row.fields[:9]
        adjoints, _, doc = row.fields[9:]
        _require(doc, stem)
        facts = [("Written", code(CALLED.get(stem, f"{stem}_j f")))]
        facts += [("KeOps", code(keops))] if keops else []
        facts += [("Result", TYPES[result]), ("Of no points", code(empty))]
        facts.append(("Keeps", _spaced(monoid)))
        rule = {"0": "none: it is constant", "none": "refused"}.get(adjoints)
        facts.append(("Derivative", rule or code(adjoints)))
        text = _join([sentence(doc), _facts(facts)])
        entries.append(Entry(stem, anchor("reduction", stem), text))
    for row in rows(f"{LANGUAGE}/reduction_sugar.def", "REDUCTION_SUGAR"):
        stem, _, operands, body, doc = row.fields
        _require(doc, stem)
        facts = [("Written", code(f"{stem}_j({operands})"))]
        facts.append(("Stands for", code(body)))
        text = _join([sentence(doc), _facts(facts)])
        entries.append(Entry(stem, anchor("reduction", stem), text))
    return entries


def _spaced(name: str) -> str:
    """The name of a monoid in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def named() -> list[Entry]:
    """Named formulas, named distances and named reductions."""
    entries = []
    x = np.array([[0.2, 0.4, 0.4], [0.5, 0.25, 0.25]])
    for row in rows("formulas/catalogue.def"):
        name, formula, parameters, doc = row.fields
        _require(doc, name)
        if row.macro == "NAMED_REDUCTION":
            written, kind = name, "a whole formula, which stands alone"
        else:
            operands = ", ".join(["x_i", "y_j", *filter(None, [parameters])])
            written, kind = f"{name}({operands})", "a function of two points"
        facts = [("Written", code(written)), ("Is", kind)]
        facts.append(("Stands for", code(formula)))
        if row.macro == "NAMED_DISTANCE":
            facts.append(("Distance", "0 where x = y, and else no less"))
        if not parameters and row.macro != "NAMED_REDUCTION":
            value = tilefold.kernel(name, x=x, y=x).dense()[0, 1]
            where = "x = (0.2, 0.4, 0.4), y = (0.5, 0.25, 0.25)"
            facts.append((f"At {where}", number(value)))
        text = _join([sentence(doc), _facts(facts)])
        entries.append(Entry(name, anchor("named", name), text))
    return entries


def tokens() -> str:
    """Symbols: how each is written, and its other spellings."""
    other: dict[str, list[str]] = {}
    for row in rows("formulas/tokens.def", "SPELLING"):
        other.setdefault(row.fields[0], []).append(row.fields[1])
    lines = [
        [code(row.fields[1]), " ".join(map(code, other.get(row.fields[0], [])))]
        for row in rows("formulas/tokens.def", "TOKEN")
    ]
    letters = [
        [code(row.fields[1]), code(row.fields[0])]
        for row in rows("formulas/tokens.def", "LETTER")
    ]
    return table(["symbol", "is also written"], lines + letters)


def greek() -> str:
    """The ASCII names of Greek letters."""
    lines = [
        [row.fields[0], row.fields[1], code(row.fields[2])]
        for row in rows("formulas/greek.def", "GREEK")
    ]
    return table(["small", "capital", "name"], lines)


def keops() -> str:
    """KeOps operations that are no operation here, and what they become."""
    lines = []
    for row in rows("formulas/keops.def"):
        if row.macro == "KEOPS":
            name, parameters, text = row.fields
            lines.append([code(f"{name}({parameters})"), code(text)])
        elif row.macro == "KEOPS_REDUCTION":
            lines.append([code(row.fields[0]), code(f"{row.fields[1]}_j")])
        else:
            lines.append([code(row.fields[0]), row.fields[1]])
    return table(["KeOps", "here"], lines)


def page(entries: list[Entry]) -> str:
    """Entries as sections, each with a place that links can name."""
    seen = Counter(entry.name for entry in entries)
    parts = []
    for entry in entries:
        heading = code(entry.name)
        if seen[entry.name] > 1:
            first = re.split(r"[.;]", entry.text)[0].rpartition(": ")[2]
            heading += f": {first[:1].lower()}{first[1:]}"
        parts.append(f"({entry.anchor})=\n## {heading}\n\n{entry.text}")
    return "\n\n".join(parts)


def grammar() -> str:
    """The grammar, as formulas/README.md has it."""
    text = (ROOT / "formulas/README.md").read_text(encoding="utf-8")
    found = re.search(r"^## The grammar\n\n```\n(.*?)^```", text, re.M | re.S)
    if found is None:
        raise ValueError("formulas/README.md has no grammar")
    return block(found[1].rstrip())
