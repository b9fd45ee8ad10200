# docs/generate/environment.py - the settings of a session, from their table.
"""Options and their environment variables, a row for each."""

from __future__ import annotations

import re
from typing import NamedTuple

from generate.markdown import anchor, code, table
from generate.tables import rows

#: Variables that are no option's, and what they are for.
OTHERS = {
    "TILEFOLD_PERF_MAP": "1 writes the names of kernels to the file that "
    "Linux' `perf` reads, `/tmp/perf-PID.map`",
    "TILEFOLD_LLVM": "the path of the compiler's library, "
    "`libtilefold_llvm.so`, which else is looked for beside the one that "
    "asks",
    "OMP_NUM_THREADS": "how many threads compute at most, where neither "
    "`threads` nor `TILEFOLD_NUM_THREADS` says so",
    "XDG_CACHE_HOME": "the folder in which `tilefold/` keeps kernels",
    "HOME": "the home folder, of which `.cache/tilefold` keeps kernels "
    "without `XDG_CACHE_HOME`; without either they stay in memory",
    "CONDA_PREFIX": "where NVIDIA's compiler library may be, in `lib`",
    "CUDA_HOME": "where NVIDIA's compiler library may be, in `lib64`",
    "CUDA_PATH": "where NVIDIA's compiler library may be, in `lib64`",
}


#: Options of one call, which the environment has not.
CALLS = {
    "progress": "a function of (done, total) pairs of points, called about "
    "every 50 ms by the thread that waits; an error that it raises ends the "
    "call",
    "stream": "the stream of a GPU on which the call works; by default the "
    "one that is current in the arrays' library",
}


class Setting(NamedTuple):
    """A row of options.def."""

    name: str
    scope: str
    python: str
    variable: str
    doc: str


def settings() -> list[Setting]:
    """All settings, in the table's order."""
    found = []
    for row in rows("runtime/core/options.def", "OPTION"):
        name, scope, _, python, variable, doc = row.fields
        if not doc.strip():
            raise ValueError(f"the option {name} says nothing to users")
        text = re.sub(r"\s+", " ", doc).strip()
        found.append(Setting(name, scope, python, variable, text))
    return found


def _what(setting: Setting) -> str:
    """What a setting is, as a sentence."""
    text = setting.doc
    if not setting.variable:
        text = text.lstrip(";, ")
        return _sentence(text)
    if text.startswith(","):
        return f"By default {text[1:].strip().removeprefix('else ')}"
    return _sentence(text.lstrip("; "))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def page() -> str:
    """A section for each setting."""
    parts = []
    for setting in settings():
        where = "a session and of each call"
        if setting.scope == "Session":
            where = "a session"
        variable = code(setting.variable) if setting.variable else "none"
        parts.append(
            f"({anchor('option', setting.name)})=\n"
            f"## {code(setting.variable or setting.name)}\n\n"
            f":Option: {code(setting.name + '=…')} of `tilefold.Options`, "
            f"for {where}\n"
            f":Type: {code(setting.python)}\n"
            f":Variable: {variable}\n\n{_literal(_what(setting))}"
        )
    return "\n\n".join(parts)


def _literal(text: str) -> str:
    """Quoted values of a docstring as code; bars and stars as they are."""
    text = re.sub(r'"([^"]*)"', lambda m: code(m[0]), text)
    return re.sub(r"(?<!`)([*_])(?=\s)", r"\\\1", text)


def calls() -> str:
    """Options that only code can set."""
    lines = [[code(name), text] for name, text in CALLS.items()]
    return table(["option", "what it is"], lines)


def others() -> str:
    """Variables that no option has."""
    lines = [[code(name), text] for name, text in OTHERS.items()]
    return table(["variable", "what it is for"], lines)
