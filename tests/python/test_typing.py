# tests/python/test_typing.py - what type checkers say of programs that use the
# package.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tilefold

pytest.importorskip("mypy")

# Calls that work, and the types of what they give. An error that is ignored
# here is one that mypy has to find.
PROGRAM = """
import array
from collections.abc import Sequence
from typing import Any, assert_type

import numpy as np

import tilefold
from tilefold.array_types import ArrayLike


class Lent:
    def __dlpack__(
        self, *, stream: int | None = None, copy: bool | None = None
    ) -> object:
        raise NotImplementedError

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Column:
    def __array__(self, dtype: object = None) -> np.ndarray:
        return np.zeros(3)


def reduced(x: ArrayLike) -> None:
    text = "sum_j |x_i - x_j|"
    tilefold.reduce(text, x=x)
    tilefold.reduce(text, {"x": x})
    tilefold.compile(text)(x=x)
    tilefold.kernel("|x_i - x_j|", x=x).dense()
    tilefold.Reduction(text).partial(x=x)
    tilefold.radius_neighbors(x, radius=2)
    tilefold.quantize(x)
    tilefold.lazy(x, axis="i")


x = np.zeros((3, 2))
reduced(x)
reduced(np.zeros(3, np.float32))
reduced(np.float32(3))
reduced([[1.0, 2.0], [3.0, 4.0]])
reduced((1, 2, 3))
reduced(array.array("d", [1.0]))
reduced(memoryview(b"123"))
reduced(2.0)
reduced(True)
reduced(1j)
reduced(Lent())
reduced(Column())
reduced(tilefold.Vi(x))
reduced(tilefold.quantize(x))
reduced("text")  # type: ignore[arg-type]
reduced(object())  # type: ignore[arg-type]
reduced(None)  # type: ignore[arg-type]

options = tilefold.Options(threads=1, log=False, progress=print)
session = tilefold.Session(options)
visit = np.eye(2, dtype=bool)
ranges = tilefold.Ranges([0, 2, 3], np.array([0, 1, 3]), visit)
f = tilefold.compile("sum_j |x_i - y_j|", session=session)
f(x=x, y=x, out=np.zeros(3), accumulate=True, options=options, ranges=ranges)
f({"x": x, "y": x}, sum_batch=(0,), batch_rank=1, session=None)
given: dict[str, Any] = {"x": x}
named: dict[str, np.ndarray] = {"x": x}
f(**given)
f(named, y=x)
f(x=x, y="text")  # type: ignore[arg-type]
f(x=x, y={1, 2})  # type: ignore[arg-type]
f([x])  # type: ignore[arg-type]
tilefold.Options(threads="two")  # type: ignore[arg-type]
tilefold.Options(thread=2)  # type: ignore[call-arg]

assert_type(tilefold.__version__, str)
assert_type(f, tilefold.Formula)
assert_type(f(x=x, y=x), Any)
assert_type(f.grad("x"), tilefold.Formula)
assert_type(f.jvp(["x", "y"]), tilefold.Formula)
assert_type(f.bind(x=x, y=x), tilefold.Bound)
assert_type(f.bind(x=x, y=x)(), Any)
assert_type(f.names, list[tuple[str, int]])
assert_type(f.plans(x=x, y=x), list[str])
assert_type(f.check(x=x, y=x, rows=8), float)
assert_type(f.explain(x=x, y=x, gpu="sm_90"), str)
assert_type(tilefold.explain("sum_j x_j", x=x, gpu="sm_90"), str)
types = {"x": tilefold.ArgumentType((3, 2), "f8")}
assert_type(f.result_types(types), list[tilefold.ResultType])
assert_type(tilefold.stats(), tilefold.Statistics)
assert_type(session.stats().runs, int)
assert_type(session.options.threads, int | None)
assert_type(tilefold.natural_spelling("Exp(x)", ["x = Vi(1)"]), str)

K = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=x, options=options)
assert_type(K, tilefold.Kernel)
assert_type(K.shape, tuple[int, ...])
assert_type(K.T, tilefold.Kernel)
assert_type(K.add_diag(0.1), tilefold.Kernel)
assert_type(K @ np.ones(3), Any)
assert_type(K.solve(np.ones(3), ridge=0.1), Any)
assert_type(K.radius_neighbors(1.0), tilefold.Neighbors)
K @ "text"  # type: ignore[operator]
K.add_diag(ridge=0.1)  # type: ignore[call-arg]
tilefold.kernel(lambda x, y: abs(x - y), x=x, y=x)

assert_type(tilefold.lazy(x, axis="i"), tilefold.Lazy)
assert_type(tilefold.Vj(x), tilefold.roles.Role)
assert_type(tilefold.quantize(x, bits=16), tilefold.Quantized)
assert_type(ranges.T, tilefold.Ranges)
clusters = tilefold.Clusters(x, size=0.5)
assert_type(clusters.near(clusters, distance=1.0), tilefold.Ranges)
state = tilefold.Reduction("sum_j x_j").partial(x=x, j=(0, 9))
assert_type(state, tilefold.State)
assert_type(state.to_bytes(), bytes)
assert_type(state.missing(), list[tuple[int, int]])
assert_type(tilefold.threads.get_num_threads(), int)
assert_type(tilefold.files.is_file("x.npy"), bool)


def code_of(error: tilefold.Error) -> str:
    return error.code if error.span[0] == 0 else error.formula


try:
    reduced(x)
except (tilefold.ShapeError, tilefold.DTypeError) as error:
    assert_type(code_of(error), str)
"""


@pytest.mark.checkout
def test_programs_are_checked(tmp_path):
    """By `mypy --strict`, against the package's own annotations."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    environment = dict(os.environ)
    package = Path(tilefold.__file__).parent
    assert (package / "py.typed").exists()
    if package.parent.name != "site-packages":  # where mypy looks by itself
        environment["MYPYPATH"] = str(package.parent)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict"),
            *("--config-file", "mypy.ini"),
            *("--follow-imports", "silent"),
            program.name,
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.stdout == "Success: no issues found in 1 source file\n"
