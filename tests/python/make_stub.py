# tests/python/make_stub.py - writes the stub of the compiled module.
"""python tests/python/make_stub.py python_bindings/tilefold/_core.pyi

The package says that its classes in C++ are its own. The stub is of the
module that they are defined in.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nanobind import stubgen

from tilefold import _core

PATTERNS = Path(__file__).parents[2] / "python_bindings" / "stub_patterns.txt"


def main(path: str) -> None:
    for kind in vars(_core).values():
        if isinstance(kind, type):
            kind.__module__ = _core.__name__
    options = ["-q", "-P", "-m", _core.__name__, "-p", str(PATTERNS)]
    stubgen.main([*options, "-o", path])


if __name__ == "__main__":
    main(sys.argv[1])
