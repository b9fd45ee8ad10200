# python_bindings/tilefold/benchmark.py - the command `tilefold bench`.
"""Runs the benchmark of a source checkout; the package does not hold it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NoCheckout", "find_checkout", "run"]

SOURCE = "--source"


class NoCheckout(Exception):  # noqa: N818 - says what is missing, and the cure
    """No folder with the benchmark was found."""


def run(arguments: Sequence[str]) -> int:
    """`python -m bench` in the checkout, with the same arguments.

    The process becomes it, so that who stops the command stops the benchmark;
    it exits with 1 if a contender was wrong or failed, with 2 for a wrong
    command line. Raises NoCheckout; returns where help was asked for and there
    is none.
    """
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    try:
        checkout = find_checkout(options.source)
    except NoCheckout:
        if {"-h", "--help"}.isdisjoint(rest):
            raise
        parser.print_help()
        return 0
    os.chdir(checkout)
    os.execv(sys.executable, [sys.executable, "-m", "bench", *rest])


def _parser() -> argparse.ArgumentParser:
    """What is known of the command line without a checkout."""
    parser = argparse.ArgumentParser(
        prog="tilefold bench",
        usage="tilefold bench [--source FOLDER] [TASK or CASE …] [OPTION …]",
        description="Times tilefold beside others. The benchmark is not part "
        "of the package: run this inside a clone of tilefold, where --help "
        "tells its options, or name one.",
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument(
        SOURCE, type=Path, metavar="FOLDER", help="a clone of tilefold"
    )
    return parser


def find_checkout(given: Path | None) -> Path:
    """The folder given, else the nearest one above the current directory.

    Raises NoCheckout where neither holds bench/command.py.
    """
    here = Path.cwd()
    folders = [given.resolve()] if given else [here, *here.parents]
    for folder in folders:
        if (folder / "bench" / "command.py").is_file():
            return folder
    where = f"in {given}" if given else f"in {here} or above it"
    raise NoCheckout(
        f"no source checkout {where}: the benchmark is not part of the "
        f"package; run this inside a clone of tilefold, or name one with "
        f"{SOURCE} FOLDER"
    )
