# python_bindings/tilefold/cli.py - the command `tilefold`.
"""The command line: run, explain, cache, formulas, doctor, bench.

Exit codes: 0 done, 1 an error of the formula, the arrays or a file, 2 a
wrong command line, 130 interrupted.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from tilefold import _core, benchmark

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if words[:1] == ["bench"]:  # its options are those of the checkout
            return benchmark.run(words[1:])
        options = _parser().parse_args(words)
        return int(options.command(options) or 0)
    except KeyboardInterrupt:
        print("tilefold: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has left
        return 0
    except _TOLD as error:
        print(f"tilefold: {error}", file=sys.stderr)
        return 1


class _UsageError(Exception):
    """An argument of the command line that cannot be read."""


_TOLD = (tilefold.Error, OSError, benchmark.NoCheckout, _UsageError)


# ---- the command line -------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tilefold",
        description="Formulas over pairs of points, reduced in tiles.",
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"tilefold {tilefold.__version__}",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands)
    _add_explain(commands)
    _add_cache(commands)
    _add_plain(commands)
    return parser


def _add_formula(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("formula", metavar="FORMULA")
    parser.add_argument(
        "arrays",
        nargs="*",
        metavar="NAME=VALUE",
        help="x.npy, d.npz:b, a number, or a type and shape: float32[1000,3]",
    )
    parser.add_argument("--threads", type=int, metavar="N")
    parser.add_argument("--isa", metavar="ISA", help="x86-64-v3 …")
    parser.add_argument("--plan", metavar="PLAN", help="as explain prints it")
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="ERROR",
        help="of products of vectors: 1e-6 … (float32's own)",
    )
    parser.add_argument(
        "--devices",
        metavar="DEVICES",
        help="that compute: cuda:0,cuda:1 or cuda, for all (the CPU)",
    )


def _add_run(commands: Any) -> None:
    run = commands.add_parser("run", help="compute a formula")
    _add_formula(run)
    run.add_argument("-o", "--output", metavar="FILE.npy")
    run.add_argument(
        "--check",
        nargs="?",
        type=int,
        const=64,
        metavar="ROWS",
        help="recompute some rows in float64 and print the error",
    )
    run.add_argument(
        "-q", "--quiet", action="store_true", help="no bar, no summary"
    )
    run.set_defaults(command=_run)


def _add_explain(commands: Any) -> None:
    explain = commands.add_parser(
        "explain", help="print every stage from the reading to the assembly"
    )
    _add_formula(explain)
    explain.add_argument(
        "--gpu",
        action="store_true",
        help="what a GPU would run, which need not be there",
    )
    explain.add_argument(
        "--architecture", metavar="ARCH", help="of the GPU: sm_80, sm_90 …"
    )
    explain.set_defaults(command=_explain)


def _add_cache(commands: Any) -> None:
    cache = commands.add_parser("cache", help="the kernels kept on disk")
    cache.add_argument("action", choices=["list", "verify", "clear", "path"])
    cache.add_argument("--directory", metavar="FOLDER")
    cache.set_defaults(command=_cache)


def _add_plain(commands: Any) -> None:
    formulas = commands.add_parser("formulas", help="what formulas may hold")
    formulas.set_defaults(command=_formulas)
    doctor = commands.add_parser("doctor", help="what this machine offers")
    doctor.set_defaults(command=_doctor)
    commands.add_parser(
        "bench", help="time tilefold beside others, in a source checkout"
    )


# ---- arguments --------------------------------------------------------------

_DESCRIBED = re.compile(r"([a-z]+\d*)\[([\d, ]*)\]")


def _read_arguments(texts: Sequence[str]) -> dict[str, Any]:
    """`x=x.npy b=d.npz:b l=0.5` to arrays and numbers."""
    arrays: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise _UsageError(f"'{text}' is not NAME=VALUE")
        if name in arrays:
            raise _UsageError(f"'{name}' is given twice")
        arrays[name] = _read_value(name, value)
    return arrays


def _read_value(name: str, text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        pass
    if described := _DESCRIBED.fullmatch(text):
        return _described(name, *described.groups())
    path, colon, member = text.rpartition(":")
    if colon and path.endswith(".npz"):
        return _read_member(name, path, member)
    if not text.endswith((".npy", ".npz")):
        raise _UsageError(
            f"{name}='{text}' is neither a number nor a file x.npy or d.npz:b"
        )
    return _read_file(name, text)


def _described(name: str, dtype: str, shape: str) -> Any:
    """float32[1000,3]: zeros of that type and shape, one element stored."""
    extents = tuple(int(part) for part in shape.split(",") if part.strip())
    try:
        if dtype == "bfloat16":
            import ml_dtypes  # noqa: F401 - NumPy knows it then
        return np.broadcast_to(np.zeros((), dtype), extents)
    except ImportError as error:
        raise _UsageError(
            f"{name}: NumPy has bfloat16 from the package ml_dtypes: "
            "pip install ml_dtypes"
        ) from error
    except TypeError as error:
        raise _UsageError(f"{name}: unknown type '{dtype}'") from error


def _read_file(name: str, path: str) -> Any:
    try:
        loaded = np.load(path, mmap_mode="r")
    except ValueError as error:
        raise _UsageError(f"{name}: {path}: {error}") from error
    if isinstance(loaded, np.lib.npyio.NpzFile):
        members = ", ".join(f"{path}:{member}" for member in loaded.files)
        raise _UsageError(f"{name}: which array of {path}? {members}")
    return loaded


def _read_member(name: str, path: str, member: str) -> Any:
    with np.load(path) as archive:
        if member not in archive.files:
            raise _UsageError(
                f"{name}: no '{member}' in {path}, which has "
                + ", ".join(archive.files)
            )
        return archive[member]


# ---- commands ---------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    arrays = _read_arguments(options.arrays)
    session = tilefold.Session(_settings(options))
    formula = tilefold.compile(options.formula, session=session)
    with _Bar(quiet=options.quiet) as bar:
        start = time.perf_counter()
        progress = tilefold.Options(progress=bar.update)
        result = np.asarray(formula(arrays, options=progress))
        seconds = time.perf_counter() - start
    _deliver(result, options.output)
    if not options.quiet:
        rate = formula._pairs(arrays) / seconds
        print(_summary(result, seconds, rate, session), file=sys.stderr)
    if options.check is not None:
        error = formula.check(arrays, rows=options.check)
        print(f"largest relative error {error:.2e}", file=sys.stderr)
    return 0


def _settings(options: argparse.Namespace) -> tilefold.Options:
    return tilefold.Options(
        threads=options.threads,
        isa=options.isa,
        plan=options.plan,
        tolerance=options.tolerance,
        devices=options.devices,
    )


def _deliver(result: Any, path: str | None) -> None:
    if path:
        np.save(path, result)
    else:
        print(result)


def _summary(
    result: Any, seconds: float, rate: float, session: tilefold.Session
) -> str:
    stats = session.stats()
    origin = "kernel read from the cache"
    if stats.compiles:
        origin = f"compiled in {stats.compile_milliseconds:.0f} ms"
    return (
        f"{result.dtype} {result.shape} in {seconds:.3g} s, "
        f"{rate:.3g} pairs/s, {origin}"
    )


def _explain(options: argparse.Namespace) -> int:
    arrays = _read_arguments(options.arrays)
    given: dict[str, Any] = {"options": _settings(options)}
    if options.gpu or options.architecture:
        given["gpu"] = options.architecture or "sm_90"
    print(tilefold.explain(options.formula, arrays, **given))
    return 0


def _cache(options: argparse.Namespace) -> int:
    directory = options.directory or tilefold.Session().options.cache_directory
    if options.action == "path":
        print(directory or "none: kernels stay in memory")
    elif options.action == "clear":
        print(f"{_core.clear_cache(directory or '')} files removed")
    else:
        return _list_cache(directory or "", options.action == "verify")
    return 0


def _list_cache(directory: str, verify: bool) -> int:
    entries = _core.list_cache(directory, verify)
    for entry in entries:
        state = "" if entry.valid or not verify else "  DAMAGED"
        print(
            f"{entry.key}  {entry.bytes:>8}  {entry.isa:<14}  "
            f"{entry.compiler}  {entry.summary}{state}"
        )
    size = sum(entry.bytes for entry in entries)
    print(f"{len(entries)} kernels, {size} bytes in {directory}")
    damaged = verify and any(not entry.valid for entry in entries)
    return 1 if damaged else 0


def _formulas(_: argparse.Namespace) -> int:
    for title, rows in _core.language():
        print(title)
        width = max(len(spelling) for spelling, _ in rows)
        for spelling, meaning in rows:
            print(f"  {spelling:{width}}  {meaning}")
        print()
    return 0


def _doctor(_: argparse.Namespace) -> int:
    from tilefold import doctor

    healthy = True
    for name, finding, good in doctor.examine():
        print(f"{'ok ' if good else 'BAD'}  {name:8}  {finding}")
        healthy = healthy and good
    return 0 if healthy else 1


class _Bar:
    """A progress bar in pairs of points, if tqdm and a terminal are there."""

    def __init__(self, quiet: bool) -> None:
        self._bar: Any = None
        self._shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, done: float, total: float) -> None:
        """Called about every 50 ms of a long run."""
        if self._bar is None and self._shown:
            self._bar = _make_bar(total)
            self._shown = self._bar is not None
        if self._bar is not None:
            self._bar.update(done - self._bar.n)


def _make_bar(total: float) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit="pair", unit_scale=True, leave=False)


if __name__ == "__main__":
    sys.exit(main())
