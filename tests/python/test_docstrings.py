# tests/python/test_docstrings.py - what the package says of itself is whole.
"""Every public name has a docstring with the sections that apply to it.

The examples are run, and the text is one that docutils reads without warnings:
no bar, backquote or asterisk outside a literal.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import types
from typing import NamedTuple

import numpy as np
import pytest

import tilefold

MODULES = (
    "tilefold",
    "tilefold.solve",
    "tilefold.threads",
    "tilefold.trace",
    "tilefold.files",
    "tilefold.pandas",
    "tilefold.dask",
    "tilefold.scipy",
    "tilefold.sklearn",
    "tilefold.torch",
    "tilefold.gpytorch",
    "tilefold.jax",
)
SECTION = re.compile(r"^(\w[\w ]+)\n-{4,}$", re.MULTILINE)
CALLED = ("__call__",)
# Methods of Python's own that need no word beside their name.
KNOWN = {"__init__", "__reduce__", "__eq__", "__hash__", "__dask_tokenize__"}


class Name(NamedTuple):
    """A public name: where it is, what it is, and whose it is."""

    path: str
    value: object
    owner: type | None

    @property
    def text(self) -> str:
        """Its own docstring, not that of a base class."""
        value = self.value
        if isinstance(value, types.MemberDescriptorType):
            slots = getattr(value.__objclass__, "__slots__", ())
            return slots[value.__name__] if isinstance(slots, dict) else ""
        text = inspect.cleandoc(getattr(value, "__doc__", None) or "")
        if type(value).__name__ in ("nb_func", "nb_method"):
            text = text.partition("\n\n")[2]  # the signature comes first
        return text

    @property
    def overrides(self) -> bool:
        """Whether a base class of tilefold has it, too, with a docstring."""
        bases = self.owner.__mro__[1:] if self.owner else ()
        name = self.path.rpartition(".")[2]
        return any(
            is_ours(base) and getattr(vars(base)[name], "__doc__", None)
            for base in bases
            if name in vars(base)
        )

    @property
    def is_called(self) -> bool:
        return callable(self.value) or isinstance(
            self.value, (classmethod, staticmethod)
        )

    @property
    def parameters(self) -> list[str]:
        """Those of a function or of a class, but self and cls."""
        value = self.value
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        if isinstance(value, type) and not (
            {"__init__", "__signature__"} & set(vars(value))
        ):
            return []  # those of a base class
        try:
            names = list(inspect.signature(value).parameters)
        except ValueError:  # of a class in C++ that takes nothing
            return []
        return names[1:] if names[:1] in (["self"], ["cls"]) else names


def is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("tilefold")


def members(path: str, kind: type) -> list[Name]:
    """The public ones that classes of tilefold give to a class."""
    found = {}
    for base in kind.__mro__:
        for name, value in vars(base).items() if is_ours(base) else ():
            is_data = not (
                callable(value)
                or inspect.isdatadescriptor(value)
                or isinstance(value, (classmethod, staticmethod, property))
            )
            hidden = name.startswith("_") and name not in CALLED
            if hidden or is_data or "_request" in name:
                continue
            found.setdefault(name, Name(f"{path}.{name}", value, base))
    return list(found.values())


def names_of(module: str) -> list[Name]:
    found = []
    for name in importlib.import_module(module).__all__:
        value = getattr(importlib.import_module(module), name)
        path = f"{module}.{name}"
        if callable(value):
            found.append(Name(path, value, None))
        if isinstance(value, type):
            found += members(path, value)
    return found


def callables_of(module: str) -> list[Name]:
    return [name for name in names_of(module) if name.is_called]


def sections(text: str) -> dict[str, str]:
    parts = SECTION.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def incomplete(name: Name) -> list[str]:
    """What a docstring lacks."""
    text, found = name.text, sections(name.text)
    first = text.split("\n", 1)[0]
    lacks = []
    if not re.match(r"\S.*[^.]\.$", first):
        lacks.append("a first sentence on a line of its own")
    if name.overrides:
        return lacks  # what it takes and gives is told there
    if not name.is_called:
        return lacks + (["three words"] if len(text.split()) < 3 else [])
    if len(text.split()) < 20:
        lacks.append("20 words")
    told = found.get("Parameters", "") + found.get("Attributes", "")
    lacks += [
        f"the parameter {parameter}"
        for parameter in name.parameters
        if not re.search(rf"^[\w*, ]*\b{parameter}\b.* :", told, re.MULTILINE)
    ]
    is_class = isinstance(name.value, type)
    if not (is_class or name.parameters) and "Parameters" in found:
        lacks.append("what takes the parameters that it tells of")
    if ">>>" not in found.get("Examples", ""):
        lacks.append("an example")
    if "Returns" not in found and returns(name):
        lacks.append("what it returns")
    return lacks


def returns(name: Name) -> bool:
    """Whether a function gives something back."""
    value = getattr(name.value, "__func__", name.value)
    if isinstance(value, type):
        return False
    given = inspect.signature(value).return_annotation
    return given not in (None, "None", "NoReturn")


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_have_all_sections(module):
    lacking = {
        name.path: missing
        for name in names_of(module)
        if (missing := incomplete(name))
    }
    assert lacking == {}


# What is left of a text without its literals, examples and signatures.
LITERAL = re.compile(r"``.+?``", re.DOTALL)
EXAMPLE = re.compile(r"^ *>>> (?:.+\n?)*", re.MULTILINE)
PARAMETER = re.compile(r"^\*{0,2}\w+(?:, \*{0,2}\w+)* : ", re.MULTILINE)
TRAP = re.compile(
    r"\|"  # a substitution
    r"|`"  # a role
    r"|\*"  # emphasis
    r"|\w_(?![\w(])"  # a reference
)


def plain(text: str) -> str:
    return PARAMETER.sub("", EXAMPLE.sub("", LITERAL.sub("", text)))


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_are_plain_text(module):
    traps = {
        name.path: found
        for name in names_of(module)
        if (found := TRAP.findall(plain(name.text)))
    }
    assert traps == {}


def outcome(name: Name) -> list[str]:
    """What the examples of a docstring give that it does not say."""
    scope = {"np": np, "tilefold": tilefold}
    parsed = doctest.DocTestParser().get_doctest(
        name.text, scope, name.path, name.path, 0
    )
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(parsed, out=said.append)
    return said


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings_run(module):
    texts = {name.text: name for name in callables_of(module)}
    assert [out for name in texts.values() for out in outcome(name)] == []


@pytest.mark.parametrize("module", MODULES)
def test_python_knows_the_signatures(module):
    for name in callables_of(module):
        if not isinstance(name.value, type):
            value = getattr(name.value, "__func__", name.value)
            assert inspect.signature(value), name.path


@pytest.mark.parametrize(
    "kind",
    [
        tilefold.Kernel, tilefold.Lazy, tilefold.Reduction,
        tilefold.Ranges, tilefold.Clusters, tilefold.Quantized,
    ],
)  # fmt: skip
def test_operators_have_docstrings(kind):
    lacking = [
        name
        for base in kind.__mro__
        if is_ours(base)
        for name, value in vars(base).items()
        if name.startswith("__") and inspect.isroutine(value)
        if name not in KNOWN and not getattr(value, "__doc__", None)
    ]
    assert lacking == []


def test_names_belong_to_the_package_that_shows_them():
    """Classes in C++ keep their module, which the stub is of."""
    others = {
        name: value.__module__
        for name in tilefold.__all__
        if is_ours(value := getattr(tilefold, name))
        and value.__module__ not in ("tilefold", "tilefold._core")
    }
    assert others == {}
