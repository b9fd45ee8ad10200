# python_bindings/tilefold/compat/pykeops/__main__.py - runs a program.
"""python -m tilefold.compat.pykeops program.py … runs it on tilefold.

The program finds `sys.argv`, `sys.path[0]` and `__name__` as if Python had
been called with it; `-m module` as well.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from tilefold.compat.pykeops.registration import install

_USAGE = """usage: python -m tilefold.compat.pykeops program.py [argument ...]
       python -m tilefold.compat.pykeops -m module [argument ...]

Runs a program written for KeOps (pykeops) on tilefold."""


def main() -> int:
    """Runs what the command line names; 2 where it names nothing."""
    arguments = sys.argv[1:]
    module = arguments[:1] == ["-m"]
    if module:
        del arguments[0]
    if not arguments or (not module and arguments[0] in {"-h", "--help"}):
        print(_USAGE)
        return 0 if arguments else 2
    sys.argv = arguments
    if module:
        sys.path[0] = str(Path.cwd())
        install()
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return 0
    if not Path(arguments[0]).exists():
        print(f"no such program: {arguments[0]}", file=sys.stderr)
        return 2
    sys.path[0] = str(Path(arguments[0]).resolve().parent)
    install()
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
