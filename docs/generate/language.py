# docs/generate/language.py - the reference of the language, from its tables.
"""Every operation, function and reduction of formulas, an entry for each.

What an entry says of signs, domains and special values is computed when the
site is built; all else is a column of a table.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from generate import accuracy, examples, values
from generate.markdown import anchor, block, code, sentence, table
from generate.tables import ROOT, Row, rows

LANGUAGE = "compiler/language"
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
    errors = accuracy.of_operations()
    return [
        _operation(row, errors) for row in rows("compiler/ir/ops.def", "OP")
    ]


def _operation(row: Row, errors: dict[str, str]) -> Entry:
    """The entry of an operation."""
    name, spelling, keops, arity, shape, result, _, cost = row.fields[:8]
    partials, tangents, doc = row.fields[10:]
    _require(doc, name)
    written = _written(name, spelling, int(arity))
    facts = [("Written", code(written))]
    facts += [("KeOps", code(keops) if keops else "no operation of its own")]
    facts += [("Shapes", SHAPES[shape]), ("Result", RESULTS[result])]
    is_function = shape == "Elementwise"
    facts.append(
        ("Domain", values.domain(name, written, int(arity), is_function))
    )
    facts.append(("Derivative", _derivative(partials, tangents, int(arity))))
    facts.append(("Error in float32", errors[name]))
    slots = "issue slot" if cost == "1" else "issue slots"
    facts.append(("Cost", f"{cost} {slots} a vector, as plans reckon it"))
    text = [sentence(_of_operands(doc)), _facts(facts)]
    text.append(examples.of(anchor("op", name)))
    if is_function:
        text.append(values.special(written, int(arity)))
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


def _of_operands(doc: str) -> str:
    """What a row says of its own operands, as of a, b, c."""
    match = re.fullmatch(r"(?:(\w)\[|\w+\()([\w, ]+)[\])]: (.*)", doc)
    if match is None:
        return doc
    before = [match[1]] if match[1] else []
    names = dict(zip([*before, *match[2].split(", ")], "abc", strict=False))
    return re.sub(r"\b\w\b", lambda m: names.get(m[0], m[0]), match[3])


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
        kind = anchor(
            "function", {">": "gt", ">=": "ge"}.get(spelling, spelling)
        )
        if made := _made_of(body):
            facts.append(("Made of", made))
        text = [sentence(doc), _facts(facts), examples.of(kind)]
        if parameters == "x" and spelling not in ("argmax", "argmin"):
            text.append(values.special(written, 1))
        entries.append(Entry(spelling, kind, _join(text)))
    for row in rows(f"{LANGUAGE}/complex.def", "COMPLEX_FUNCTION"):
        spelling, _, real, imaginary, of_real, doc = row.fields
        _require(doc, spelling)
        facts = [("Written", code(f"{spelling}(z)"))]
        facts.append(("Real part", code(real)))
        facts += [("Imaginary part", code(imaginary))] if imaginary else []
        facts.append(("Of a real number a", code(of_real)))
        kind = anchor("function", spelling)
        text = _join([sentence(doc), _facts(facts), examples.of(kind)])
        entries.append(Entry(spelling, kind, text))
    return entries


def _made_of(body: str) -> str:
    """Links to the operations that a formula calls by their names."""
    known = {
        row.fields[1]: row.fields[0]
        for row in reversed(rows("compiler/ir/ops.def", "OP"))
        if row.fields[1].isalnum() and row.fields[4] == "Elementwise"
    }
    called = dict.fromkeys(re.findall(r"(\w+)\(", body))
    return ", ".join(
        f"[{code(name)}](operations.md#{anchor('op', known[name])})"
        for name in called
        if name in known
    )


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
        name = anchor(kind, spelling)
        text = _join([sentence(meaning), _facts(facts), examples.of(name)])
        entries.append(Entry(spelling, name, text))
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
        entries.append(_reduction(stem, doc, facts))
    for row in rows(f"{LANGUAGE}/reduction_sugar.def", "REDUCTION_SUGAR"):
        stem, _, operands, body, of_complex, doc = row.fields
        _require(doc, stem)
        facts = [("Written", code(f"{stem}_j({operands})"))]
        facts.append(("Stands for", code(body)))
        if of_complex and of_complex != body:
            facts.append(("Of complex values", code(of_complex)))
        entries.append(_reduction(stem, doc, facts))
    return entries


def _reduction(stem: str, doc: str, facts: list[tuple[str, str]]) -> Entry:
    """The entry of a reduction."""
    name = anchor("reduction", stem)
    text = [sentence(doc), _facts(facts), examples.of(name)]
    return Entry(stem, name, _join([*text, values.of_sets(stem)]))


def _spaced(name: str) -> str:
    """The name of a monoid in words."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=^K)", " ", name)
    return words.lower()


def named() -> list[Entry]:
    """Named formulas, named distances and named reductions."""
    entries = []
    for row in rows("formulas/catalogue.def"):
        name, formula, parameters, doc = row.fields
        _require(doc, name)
        if row.macro == "NAMED_REDUCTION":
            written, what = name, "a whole formula, which stands alone"
        else:
            operands = ", ".join(["x_i", "y_j", *filter(None, [parameters])])
            written, what = f"{name}({operands})", "a function of two points"
        facts = [("Written", code(written)), ("Is", what)]
        facts.append(("Stands for", code(formula)))
        if row.macro == "NAMED_DISTANCE":
            facts.append(("Distance", "0 where x = y, and else no less"))
        kind = anchor("named", name)
        text = _join([sentence(doc), _facts(facts), examples.of(kind)])
        entries.append(Entry(name, kind, text))
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
