# python_bindings/tilefold/cli.py - the command `tilefold`.
"""The command line: run, explain, plans, cache, formulas, doctor, bench.

Exit codes: 0 done, 1 an error of the formula, the arrays or a file, 2 a
wrong command line, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from tilefold import _core, benchmark, described, doctor, documents, files

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if words[:1] == ["bench"]:  # its options are those of the checkout
            return benchmark.run(words[1:])
        options = _parsed(words)
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


_TOLD = (
    tilefold.Error,
    OSError,
    MemoryError,
    benchmark.NoCheckout,
    files.FileError,
    _UsageError,
)


# ---- the command line -------------------------------------------------------


def _parsed(words: list[str]) -> argparse.Namespace:
    """Options and arrays in any order, after the command."""
    parser, commands = _parser()
    command = commands.get(words[0]) if words else None
    if command is None:  # --help, --version, or no command that there is
        return parser.parse_args(words)
    return command.parse_intermixed_args(_told_apart(words[1:]))


# A formula such as -|x_i|, where an option would have letters: -o, -q.
_MINUS = re.compile(r"-(?![-ohq])(?=.*[^\w.-]|.*_)|-[ohq]_")


def _told_apart(words: list[str]) -> list[str]:
    """Words of which argparse knows what is an option and what is not.

    `--check` gets its number of rows, so that no other word is taken for it.
    A formula that begins with a minus sign gets a space before it.
    """
    apart = []
    plain = False
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word == "--" and not plain:
            plain = True
        elif word == "--check" and not plain and not following.isdecimal():
            apart.append("--check=64")
        elif _MINUS.match(word) or (plain and word.startswith("-")):
            apart.append(f" {word}")
        else:
            apart.append(word)
    return apart


def _parser() -> tuple[
    argparse.ArgumentParser, dict[str, argparse.ArgumentParser]
]:
    """That of the program, and those of its commands."""
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
    _add_plans(commands)
    _add_cache(commands)
    _add_plain(commands)
    return parser, dict(commands.choices)


def _add_formula(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("formula", metavar="FORMULA")
    parser.add_argument(
        "arrays",
        nargs="*",
        metavar="NAME=VALUE",
        help="a file (x.npy, d.npz:b, d.csv:lon,lat, d.parquet:lon,lat), a "
        "number or several (0.5, 1,2,3, 1+2j), or a type and shape: "
        "float32[1000,3]",
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
    run.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="out.npy, .npz, .csv or .parquet; - is the standard output",
    )
    run.add_argument(
        "--format",
        choices=files.FORMATS,
        help="of the output (as the file's name ends; csv for -)",
    )
    run.add_argument(
        "--check",
        type=int,
        metavar="ROWS",
        help="recompute some rows in float64 and print the error",
    )
    run.add_argument(
        "-q", "--quiet", action="store_true", help="no bar, no summary"
    )
    _add_json(run)
    run.set_defaults(command=_run)


def _add_explain(commands: Any) -> None:
    explain = commands.add_parser(
        "explain",
        help="print every stage from the reading to the assembly",
        description="Prints every stage from the reading to the assembly. "
        "Arrays may be described, as float32[1000,3] or by the type of one "
        "point, f32[3]; what is not given is guessed, and the guess is told.",
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
    _add_json(explain)
    explain.set_defaults(command=_explain)


def _add_plans(commands: Any) -> None:
    plans = commands.add_parser(
        "plans",
        help="list the plans that --plan may force",
        description="Lists the plans that --plan may force, the one that is "
        "chosen first; with --json, what each is expected to take. Arrays may "
        "be described, as explain takes them.",
    )
    _add_formula(plans)
    _add_json(plans)
    plans.set_defaults(command=_plans)


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="as JSON")


def _add_cache(commands: Any) -> None:
    cache = commands.add_parser("cache", help="the kernels kept on disk")
    cache.add_argument("action", choices=["list", "verify", "clear", "path"])
    cache.add_argument("--directory", metavar="FOLDER")
    _add_json(cache)
    cache.set_defaults(command=_cache)


def _add_plain(commands: Any) -> None:
    formulas = commands.add_parser("formulas", help="what formulas may hold")
    _add_json(formulas)
    formulas.set_defaults(command=_formulas)
    doctor = commands.add_parser("doctor", help="what this machine offers")
    _add_json(doctor)
    doctor.set_defaults(command=_doctor)
    commands.add_parser(
        "bench", help="time tilefold beside others, in a source checkout"
    )


# ---- arguments --------------------------------------------------------------


def _read_arguments(texts: Sequence[str]) -> dict[str, Any]:
    """`x=x.npy b=d.npz:b l=0.5` to arrays, numbers and types of points."""
    arrays: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise _UsageError(f"'{text}' is not NAME=VALUE")
        if name in arrays:
            raise _UsageError(f"'{name}' is given twice")
        try:
            arrays[name] = _read_value(value, name)
        except (files.FileError, _UsageError) as error:
            raise _UsageError(f"{name}: {error}") from error
    return arrays


def _read_value(text: str, name: str) -> Any:
    numbers = [_number(part) for part in text.split(",")]
    if None not in numbers:
        return numbers[0] if len(numbers) == 1 else np.array(numbers)
    if files.is_file(text):
        return files.read(text, name)
    try:
        found = described.described(text)
    except described.Unknown as error:
        raise _UsageError(str(error)) from error
    if found is None:
        raise _UsageError(
            f"'{text}' is neither a number (0.5, 1,2,3, 1+2j), nor a type "
            "(float32[1000,3]), nor a file (x.npy, d.npz:b, d.csv, d.parquet; "
            "- is the standard input)"
        )
    return found


def _number(text: str) -> float | complex | None:
    for kind in (float, complex):
        try:
            return kind(text)
        except ValueError:
            pass
    return None


# ---- commands ---------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    arrays = _read_arguments(options.arrays)
    for name, value in arrays.items():
        if hasattr(value, "array"):
            raise _UsageError(
                f"{name}: {value} is the type of one point, for 'tilefold "
                "explain'; give an array, or a type and shape: float32[1000,3]"
            )
    session = tilefold.Session(_settings(options))
    formula = tilefold.compile(options.formula, session=session)
    with _Bar(quiet=options.quiet) as bar:
        start = time.perf_counter()
        progress = tilefold.Options(progress=bar.update)
        result = np.asarray(formula(arrays, options=progress))
        seconds = time.perf_counter() - start
    pairs = formula._pairs(arrays)
    statistics = session.stats()
    error = None
    if options.check is not None:
        error = formula.check(arrays, rows=options.check)
    if options.output:
        files.write(result, options.output, options.format)
    if options.json:
        fields = documents.of_result(result, options.output)
        if error is not None:
            fields["relative_error"] = error
        print(
            documents.as_text(
                "run",
                formula=options.formula,
                **fields,
                seconds=seconds,
                pairs=pairs,
                pairs_per_second=pairs / seconds,
                statistics=json.loads(statistics.to_json())["statistics"],
            )
        )
        return 0
    if not options.output:
        print(result)
    if not options.quiet:
        rate = pairs / seconds
        print(_summary(result, seconds, rate, statistics), file=sys.stderr)
    if error is not None:
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


def _summary(
    result: Any, seconds: float, rate: float, stats: tilefold.Statistics
) -> str:
    origin = "kernel read from the cache"
    if stats.compiles:
        origin = f"compiled in {stats.compile_milliseconds:.0f} ms"
    return (
        f"{result.dtype} {result.shape} in {seconds:.3g} s, "
        f"{rate:.3g} pairs/s, {origin}"
    )


def _explain(options: argparse.Namespace) -> int:
    formula, arrays, settings = _told(options)
    if options.gpu or options.architecture:
        settings["gpu"] = options.architecture or "sm_90"
    if options.json:
        settings["format"] = "json"
    print(formula.explain(arrays, **settings))
    return 0


def _plans(options: argparse.Namespace) -> int:
    formula, arrays, settings = _told(options)
    if options.json:
        told = formula.explain(arrays, **{**settings, "format": "json"})
        print(documents.as_text("plans", **documents.of_plans(told)))
        return 0
    for plan in formula.plans(arrays, **settings):
        print(plan)
    return 0


def _told(
    options: argparse.Namespace,
) -> tuple[tilefold.Formula, dict[str, Any], dict[str, Any]]:
    """A formula, its arguments, and settings; says what was guessed of them."""
    settings: dict[str, Any] = {"options": _settings(options)}
    formula = tilefold.compile(options.formula)
    arrays, guess = described.guessed(
        formula, _read_arguments(options.arrays), settings
    )
    if guess:
        print(
            f"guessed: {guess}; declare what differs, as in x=f32[3]",
            file=sys.stderr,
        )
    return formula, arrays, settings


def _cache(options: argparse.Namespace) -> int:
    settings = tilefold.Session(
        tilefold.Options(cache_directory=options.directory)
    ).options
    if options.action == "path":
        print(settings.cache_directory or "none: kernels stay in memory")
    elif options.action == "clear":
        print(f"{_core.clear_cache(settings)} files removed")
    else:
        return _list_cache(settings, options.action == "verify", options.json)
    return 0


def _list_cache(settings: tilefold.Options, verify: bool, is_json: bool) -> int:
    entries = _core.list_cache(settings, verify)
    directory = settings.cache_directory or ""
    bad = verify and any(entry.fault for entry in entries)
    if is_json:
        fields = documents.of_cache(directory, entries)
        print(documents.as_text("cache", **fields))
        return 1 if bad else 0
    for entry in entries:
        state = f"  {entry.fault.upper()}" if verify and entry.fault else ""
        print(
            f"{entry.key}  {entry.bytes:>8}  {entry.isa:<14}  "
            f"{entry.compiler}  {entry.summary}{state}"
        )
    size = sum(entry.bytes for entry in entries)
    print(f"{len(entries)} kernels, {size} bytes in {directory}")
    return 1 if bad else 0


def _formulas(options: argparse.Namespace) -> int:
    if options.json:
        print(documents.as_text("formulas", **documents.of_language()))
        return 0
    for title, rows in _core.language():
        print(title)
        width = max(len(spelling) for spelling, _ in rows)
        for spelling, meaning in rows:
            print(f"  {spelling:{width}}  {meaning}")
        print()
    return 0


def _doctor(options: argparse.Namespace) -> int:
    if options.json:
        found = documents.of_findings(doctor.examine())
        print(documents.as_text("doctor", **found))
        return 0 if found["good"] else 1
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
