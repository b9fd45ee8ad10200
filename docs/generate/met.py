# docs/generate/met.py - runs the examples of met.txt.
"""Calls that meet a diagnostic: of Python here, in a process, or of C.

What is in a process of its own may change settings of the process, and has the
fake driver and the fake compiler of the tests, where these are built: with them
an array on a GPU is met where there is none.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tilefold
from generate.tables import ROOT

MET = Path(__file__).parent / "met.txt"


class Met(NamedTuple):
    """An entry of met.txt.

    `when` is a sentence, `hidden` what is run before `source` and not shown;
    where there is no source, the sentence says why.
    """

    when: str
    hidden: str
    source: str
    is_c: bool

    @property
    def is_apart(self) -> bool:
        """Whether it runs in a process of its own."""
        return bool(self.hidden)


def read() -> dict[str, Met]:
    """All entries, by their code."""
    text = MET.read_text(encoding="utf-8").partition("\n=== ")[2]
    found = {}
    for part in text.split("\n=== "):
        name, *lines = part.rstrip().splitlines()
        hidden = [line[3:] for line in lines if line.startswith("#: ")]
        when = [line[2:] for line in lines if line.startswith("# ")]
        rest = [line for line in lines if not line.startswith(("#: ", "# "))]
        is_c = rest[:1] == ["C:"]
        source = "\n".join(rest[1:] if is_c else rest)
        found[name] = Met(" ".join(when), "\n".join(hidden), source, is_c)
    return found


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


def run(source: str, more: dict[str, object] | None = None) -> tuple[str, str]:
    """The code and the message that a call meets; "" where it meets none."""
    scope = names() | (more or {})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", tilefold.ConvergenceWarning)
            exec(compile(ast.parse(source), "met", "exec"), scope)
    except (tilefold.Error, tilefold.ConvergenceWarning) as error:
        return str(getattr(error, "code", "")), str(error)
    return "", ""


# ---- in a process of its own -----------------------------------------------


def run_apart(found: dict[str, Met]) -> dict[str, tuple[str, str]]:
    """Each in a process; nothing where the tests' libraries are not built."""
    libraries = [
        sorted((ROOT / "build").glob(f"python*/**/libfake_{name}.so"))
        for name in ("cuda", "nvrtc")
    ]
    if not all(libraries):
        return {}
    given = {
        "TILEFOLD_CUDA_DRIVER": str(libraries[0][0]),
        "TILEFOLD_NVRTC": str(libraries[1][0]),
    }
    folders = [str(ROOT / "docs"), str(ROOT / "tests/python")]
    given["PYTHONPATH"] = os.pathsep.join(
        [*folders, os.environ.get("PYTHONPATH", "")]
    )
    return {
        name: _apart(f"{entry.hidden}\n{entry.source}", given)
        for name, entry in found.items()
    }


def _apart(source: str, given: dict[str, str]) -> tuple[str, str]:
    """What a call meets in a process with these settings."""
    done = subprocess.run(
        [sys.executable, "-m", "generate.met"],
        input=source,
        capture_output=True,
        text=True,
        env={**os.environ, **given},
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    code, message = next(line for line in lines if line[0])
    return code, message.replace(f"{ROOT}/build/python/bin/", "/usr/lib/")


def main() -> None:
    """In a process of its own: runs what comes by the standard input."""
    import fake_gpu

    class Device(int):
        """A number that is written as PyTorch writes it."""

        def __str__(self) -> str:
            return f"cuda:{int(self)}"

    points = np.random.default_rng(0).random((50, 3), dtype="float32")
    on_gpu = fake_gpu.Alone(points, Device(0))
    given = {"driver": fake_gpu.Driver(), "on_gpu": on_gpu, "os": os}
    print(json.dumps(run(sys.stdin.read(), given)), flush=True)


# ---- of the C interface ----------------------------------------------------

PROGRAM = """
#include <stdio.h>
#include <tilefold/tilefold.h>

static void met(tilefold_error* error) {
    printf("%s\\n%s\\f", tilefold_error_code(error),
           tilefold_error_message(error));
    tilefold_error_free(error);
}

int main(void) {
    double numbers[] = {1, 2, 3};
    int64_t shape[] = {3};
    DLTensor array = {
        .data = numbers, .device = {kDLCPU, 0}, .ndim = 1,
        .dtype = {kDLFloat, 64, 1}, .shape = shape};
    tilefold_argument x = TILEFOLD_ARRAY("x", &array);
    tilefold_session* session = NULL;
    tilefold_formula* formula = NULL;
    tilefold_bound* bound = NULL;
    met(tilefold_session_create(NULL, &session));
    met(tilefold_formula_parse(session, "sum_j |x_i - x_j|", &formula));
EXAMPLES
    return 0;
}
"""


def run_c(sources: dict[str, str]) -> dict[str, tuple[str, str]]:
    """What statements of C meet, which set `error`; one program of all."""
    blocks = "".join(
        f"    {{\ntilefold_error* error = NULL;\n{source}\nmet(error);\n}}\n"
        for source in sources.values()
    )
    library = tilefold.get_library()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "met.c").write_text(PROGRAM.replace("EXAMPLES", blocks))
        command = ["cc", "-std=c11", f"-I{tilefold.get_include()}"]
        command += [str(path / "met.c"), "-o", str(path / "met"), str(library)]
        subprocess.run(
            [*command, f"-Wl,-rpath,{Path(library).parent}"], check=True
        )
        done = subprocess.run(
            [str(path / "met")], capture_output=True, text=True, check=True
        )
    texts = done.stdout.split("\f")[2:]  # of what makes a formula: no error
    found = (text.partition("\n") for text in texts)
    return {
        name: (code, message)
        for name, (code, _, message) in zip(sources, found, strict=False)
    }


if __name__ == "__main__":
    main()
