# tests/python/test_docstrings.py - what the package says of itself is whole.
"""Every public name has a docstring with the sections that apply to it.

The examples are run, and the text is one that docutils reads without warnings:
no bar, backquote or asterisk outside a literal. Names under See Also exist;
what is under Raises is an exception, and arrays tell their shape and dtype.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import inspect
import re
import textwrap
import types
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import sklearn.exceptions
from sklearn.base import BaseEstimator

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
    "tilefold.compat.pykeops",
)
# Of which KeOps documents each name: here a sentence says what it is.
OF_KEOPS = ("tilefold.compat.pykeops.numpy", "tilefold.compat.pykeops.torch")
SECTION = re.compile(r"^(\w[\w ]+)\n-{4,}$", re.MULTILINE)
CALLED = ("__call__",)
# Methods of Python's own that need no word beside their name.
KNOWN = {"__init__", "__reduce__", "__eq__", "__hash__", "__dask_tokenize__"}
# Nothing else of the package is like them.
ALONE = {"tilefold.cite"}
# What takes arguments, and refuses none of those that its parameters tell of.
REFUSES_NOTHING = {
    # Exceptions hold what they are given.
    "tilefold.Error",
    # They keep a value as it is; what computes with it refuses it.
    "tilefold.Pm",
    "tilefold.Vi",
    "tilefold.Vj",
    "tilefold.trace.Source",
    "tilefold.tracer.Tracer.from_source",
    "tilefold.tracer.Tracer.made",
    "tilefold.tracer.Tracer.parameter",
    # Others make them, of what was checked.
    "tilefold.Kernel",
    "tilefold.Lazy",
    "tilefold.ResultType",
    "tilefold.State",
    "tilefold.scipy.KernelOperator",
    "tilefold.trace.Tracer",
    # Any text, any number, any module, any session will do.
    "tilefold.files.is_file",
    "tilefold.gpytorch.convert",
    "tilefold.stats",
    "tilefold.threads.set_num_threads",
    "tilefold.compat.pykeops.clean_pykeops",
    "tilefold.compat.pykeops.set_verbose",
    # What is wrong of points, devices and dtypes is met when a matrix is
    # computed of them.
    "tilefold.gpytorch.operator.KernelOperator.to",
    "tilefold.gpytorch.term_kernels.TermKernel.points",
    # Whether or not it goes deep, as scikit-learn has it.
    "tilefold.sklearn.formula_kernel.FormulaKernel.get_params",
}


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
    def home(self) -> str:
        """The path of a method in the class that has it, else its own."""
        if self.owner is None:
            return self.path
        kind, name = self.owner, self.path.rpartition(".")[2]
        return f"{kind.__module__}.{kind.__qualname__}.{name}"

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
    if not is_sentence(first):
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
    lacks += not_told_of_arrays(found)
    if "Raises" not in found and refuses(name):
        lacks.append("what it raises")
    if "See Also" not in found and not name.owner and name.path not in ALONE:
        lacks.append("what to see also")
    is_class = isinstance(name.value, type)
    if not (is_class or name.parameters) and "Parameters" in found:
        lacks.append("what takes the parameters that it tells of")
    if ">>>" not in found.get("Examples", ""):
        lacks.append("an example")
    if "Returns" not in found and returns(name):
        lacks.append("what it returns")
    return lacks


def is_sentence(line: str) -> bool:
    return re.match(r"\S.*[^.]\.$", line) is not None


ENTRY = re.compile(
    r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)\n((?: .*\n?|\n)*)", re.MULTILINE
)
OF_ARRAYS = re.compile(r"\b(?:array|tensor)s?\b(?! of objects)")
EXTENT = r"(?:\.\.\.|[A-Z]\w*(?: \+ 1)?|n_\w+|[kmn]|\d+|tiles of [ij])"
# (), (N,), (N, D), (..., N, D); or where these are told, or what has them.
SHAPE = re.compile(
    rf"\(\)|\({EXTENT},(?: {EXTENT}(?:, {EXTENT})*)?\)"
    r"|\bas\s+in\s+``(?:tilefold\.)?Formula``"
    r"|\bas\s+(?:a\s+call|``[\w.]+``)\s+takes?\b"
)
DTYPE = re.compile(
    r"\bdtypes?\b|\b(?:real |complex )?(?:floats?|numbers|integers|labels)\b"
    r"|\b(?:int|float|uint)\d+\b|\bbool\b|\breal\b"
    r"|\bas\s+(?:a\s+call|``[\w.]+``)\s+takes?\b",
    re.IGNORECASE,
)
RESULT = re.compile(
    SHAPE.pattern
    + r"|\b(?:the(?: same)?|their) shape\b|``shape``|\baxes that are left\b"
)


def not_told_of_arrays(found: dict[str, str]) -> list[str]:
    """The shapes and dtypes of arrays that a docstring does not tell.

    Of what an estimator has fitted, the shapes.
    """
    lacks = []
    for section in ("Parameters", "Attributes"):
        for names, kind, text in ENTRY.findall(found.get(section, "")):
            if not OF_ARRAYS.search(re.sub(r'".*?"', "", kind)):
                continue
            if not SHAPE.search(kind + "\n" + text):
                lacks.append(f"the shape of {names}")
            is_taken = section == "Parameters"
            if is_taken and not DTYPE.search(f"{kind}\n{text}"):
                lacks.append(f"the dtype of {names}")
    given = found.get("Returns", "")
    if OF_ARRAYS.match(given.strip()) and not RESULT.search(given):
        lacks.append("the shape of the result")
    return lacks


def refuses(name: Name) -> bool:
    """Whether some arguments, or an object's state, make it raise.

    Estimators keep what they are made of, as scikit-learn has it: `fit` checks.
    """
    value = getattr(name.value, "__func__", name.value)
    if name.home in REFUSES_NOTHING:
        return False
    if isinstance(value, type) and issubclass(value, BaseEstimator):
        return False
    return bool(name.parameters) or raises_itself(value)


def raises_itself(value: object) -> bool:
    """Whether the source of a function raises, or calls `_core.fail`."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    except (TypeError, OSError):  # of C++
        return False
    return not isinstance(value, type) and any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Attribute) and node.attr == "fail")
        for node in ast.walk(tree)
    )


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


@pytest.mark.parametrize("module", OF_KEOPS)
def test_names_of_keops_have_a_sentence(module):
    names = names_of(module)
    assert len(names) > 200
    first = {name.path: name.text.split("\n", 1)[0] for name in names}
    assert [path for path in first if not is_sentence(first[path])] == []


def all_names() -> list[Name]:
    """Those of all modules, each docstring once."""
    names = (name for module in MODULES for name in names_of(module))
    return list({name.text: name for name in names}.values())


def attribute(path: str, start: object) -> object:
    for part in path.split("."):
        start = getattr(start, part, None)
    return start


def exists(see: str, name: Name) -> bool:
    """Whether what is under See Also is there, as Sphinx looks it up."""
    if see.startswith("tilefold."):
        return attribute(see.partition(".")[2], tilefold) is not None
    inside = name.path.split(".")[1:-1]  # modules, and the class of a method
    places = [".".join(inside[:count]) for count in range(len(inside) + 1)]
    paths = [f"{place}.{see}".lstrip(".") for place in places]
    return any(attribute(path, tilefold) is not None for path in paths)


def test_names_under_see_also_exist():
    missing = [
        (name.path, see)
        for name in all_names()
        for line in sections(name.text).get("See Also", "").splitlines()
        if line and not line.startswith(" ")
        for see in line.partition(" : ")[0].split(", ")
        if not exists(see, name)
    ]
    assert missing == []


def exception(name: str) -> object:
    places = (tilefold, builtins, np.linalg, sklearn.exceptions, tilefold.files)
    found = (getattr(place, name, None) for place in places)
    return next((kind for kind in found if kind), None)


def test_what_is_raised_is_an_exception():
    others = [
        (name.path, raised)
        for name in all_names()
        for line in sections(name.text).get("Raises", "").splitlines()
        if line and not line.startswith(" ")
        for raised in line.split(", ")
        if not (
            isinstance(kind := exception(raised), type)
            and issubclass(kind, Exception)
        )
    ]
    assert others == []


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
    others = {
        name: value.__module__
        for name in tilefold.__all__
        if callable(value := getattr(tilefold, name))
        and value.__module__ != "tilefold"
    }
    assert others == {}


def test_no_module_has_the_name_of_a_member():
    """Its import, by whatever module, would put it in the member's place."""
    package = Path(tilefold.__file__).parent
    modules = {path.stem for path in package.iterdir()}
    assert modules & set(tilefold.__all__) == set()
