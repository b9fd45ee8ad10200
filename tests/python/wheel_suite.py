# tests/python/wheel_suite.py - which tests a wheel passes by itself.
"""The tests of `pytest -m wheel`: with NumPy, SciPy, pytest and hypothesis.

A file is of them where neither it nor a module of the tests that it imports
names another library, and it is no test of the checkout; a test is, where it
asks for nothing that only the checkout's build makes.
"""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path

__all__ = ["file_belongs", "test_belongs"]

FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "tools")
LIBRARIES = {"hypothesis", "numpy", "pytest", "scipy", "tilefold"}

# Of documents, examples, benchmarks, generated files and fake libraries, or of
# libraries that are imported inside.
OF_THE_CHECKOUT = {
    "test_bench_smoke.py",
    "test_c_messages.py",
    "test_docs.py",
    "test_docstrings.py",
    "test_examples_in_parts.py",
    "test_function_slots.py",
    "test_gallery.py",
    "test_gpu.py",
    "test_gpu_card.py",
    "test_gpu_explain.py",
    "test_gpu_host.py",
    "test_gpu_refusals.py",
    "test_language_version.py",
    "test_limits.py",
    "test_processor.py",
    "test_random_faces.py",  # of PyTorch, Dask and JAX, too
    "test_random_formulas.py",  # against PyTorch, too
    "test_random_plans.py",  # of arrays of PyTorch, some
    "test_site.py",
    "test_stub.py",
    "test_system_calls.py",
    "test_typing.py",
}
# Fixtures that the fake GPU libraries of the build are behind.
FAKES = {"driver", "gpu_session"}


def _imported(path: Path) -> set[str]:
    """Modules that importing the file imports, tilefold's by their dots."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                inner.in_a_function = True
        if getattr(node, "in_a_function", False):
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


@functools.cache
def _foreign(path: Path) -> frozenset[str]:
    """Libraries that the file wants, itself or by ours that it imports."""
    found: set[str] = set()
    for name in _imported(path):
        top = name.split(".")[0]
        ours = [folder / f"{top}.py" for folder in FOLDERS]
        ours = [module for module in ours if module.exists()]
        if ours:
            found |= _foreign(ours[0])
        elif top not in LIBRARIES and top not in sys.stdlib_module_names:
            found.add(top)
    return frozenset(found)


def file_belongs(path: Path) -> bool:
    """Whether a test file's tests can run beside a wheel alone."""
    if path.suffix != ".py" or path.name in OF_THE_CHECKOUT:
        return False
    return not _foreign(path)


def test_belongs(fixtures: list[str], markers: list[str]) -> bool:
    """Whether a test with these fixtures and markers can, if its file does."""
    return not FAKES.intersection(fixtures) and "checkout" not in markers
