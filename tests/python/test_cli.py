# tests/python/test_cli.py - the command line.
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import Points
from instruction_sets import PORTABLE

TEXT = "sum_j exp(-|x_i-y_j|^2/2l^2) b_j"
GOLDEN = Path(__file__).parent / "golden"


def tilefold(
    *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tilefold", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
        cwd=cwd,
    )


@pytest.fixture
def files(tmp_path):
    p = Points()
    np.save(tmp_path / "x.npy", p.x)
    np.savez(tmp_path / "d.npz", y=p.y, b=p.b)
    return [
        f"x={tmp_path / 'x.npy'}",
        f"y={tmp_path / 'd.npz'}:y",
        f"b={tmp_path / 'd.npz'}:b",
        "l=0.5",
    ]


def test_run_writes_the_result(files, tmp_path):
    done = tilefold("run", TEXT, *files, "-o", tmp_path / "out.npy", "--check")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    p = Points()
    out = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(out, p.matrix @ p.b, rtol=1e-11)
    summary, check = done.stderr.splitlines()
    assert re.fullmatch(
        r"float64 \(50,\) in \S+ s, \S+ pairs/s, "
        r"(compiled in \d+ ms|kernel read from the cache)",
        summary,
    )
    error = re.fullmatch(r"largest relative error (\S+)", check)[1]
    assert float(error) < 1e-11


def test_run_prints_without_an_output_file():
    done = tilefold("run", "-q", "sum_j x_j", "x=float64[4]")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0.0\n", "")


ORDERS = [
    "run FORMULA x y b l -o OUT --threads 2",
    "run -o OUT FORMULA x y b l",
    "run FORMULA -o OUT x y b l",
    "run FORMULA x --threads 2 y -o OUT b l",
    "run --check FORMULA -o OUT x y b l",
    "run FORMULA x y b -o OUT --check l",
    "run FORMULA --check 7 x y b l -o OUT",
    "run --threads 2 -o OUT -- FORMULA x y b l",
]


@pytest.mark.parametrize("order", ORDERS)
def test_options_and_arrays_in_any_order(files, tmp_path, order):
    given = dict(zip("xybl", files, strict=True))
    given |= {"FORMULA": TEXT, "OUT": tmp_path / "out.npy"}
    done = tilefold(*(given.get(word, word) for word in order.split()))
    assert done.returncode == 0, done.stderr
    p = Points()
    out = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(out, p.matrix @ p.b, rtol=1e-11)
    assert ("largest relative error" in done.stderr) == ("--check" in order)


@pytest.mark.parametrize(
    "words", [["-x_i"], ["-o", "-", "--", "-x_i"], ["-|x_i|", "-o", "-"]]
)
def test_a_formula_may_begin_with_a_minus(words):
    done = tilefold("run", "-q", *words, "x=float64[2]")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in ("[-0. -0.]\n", "-0.0\n-0.0\n")


def test_options_reach_the_session(files):
    done = tilefold(
        "run", "-q", TEXT, *files, "--threads", "1", "--isa", PORTABLE[0]
    )
    assert done.returncode == 0, done.stderr
    done = tilefold("run", TEXT, *files, "--isa", "z80")
    assert done.returncode == 1
    assert done.stderr.startswith("tilefold: unknown instruction set 'z80'\n")
    done = tilefold("run", TEXT, *files, "--devices", "gpu")
    assert done.returncode == 1
    assert 'write "cuda:0"' in done.stderr


ERRORS = [
    (
        ["run", "exp(-|x_i"],
        "tilefold: unclosed |\n"
        "  exp(-|x_i\n"
        "       ^\n"
        "close the norm with |, or write an inner product as x_i·y_j\n",
    ),
    (["run", "sum_j x_j", "x"], "tilefold: 'x' is not NAME=VALUE\n"),
    (["run", "sum_j x_j", "x=1", "x=2"], "tilefold: 'x' is given twice\n"),
    (
        ["run", "sum_j x_j", "x=abc"],
        "tilefold: x: 'abc' is neither a number (0.5, 1,2,3, 1+2j), nor a type "
        "(float32[1000,3]), nor a file (x.npy, d.npz:b, d.csv, d.parquet; "
        "- is the standard input)\n",
    ),
    (
        ["run", "sum_j x_j", "x=1,2,"],
        "tilefold: x: '1,2,' is neither a number (0.5, 1,2,3, 1+2j), nor a "
        "type (float32[1000,3]), nor a file (x.npy, d.npz:b, d.csv, "
        "d.parquet; - is the standard input)\n",
    ),
    (
        ["run", "sum_j x_j", "x=f32[3]"],
        "tilefold: x: f32[3] is the type of one point, for 'tilefold explain';"
        " give an array, or a type and shape: float32[1000,3]\n",
    ),
    (
        ["run", "sum_j x_j", "x=float32[99999999999999999999]"],
        "tilefold: x: no array has the shape (99999999999999999999,): Maximum "
        "allowed dimension exceeded\n",
    ),
    (
        ["run", "sum_j x_j", "x=float33[3]"],
        "tilefold: x: unknown type 'float33'\n",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), ERRORS)
def test_errors_are_told_and_exit_with_1(arguments, message):
    done = tilefold(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == message


@pytest.mark.checkout
def test_bfloat16_is_described_where_numpy_can_have_it(tmp_path):
    explained = ["explain", "sum_j x_i·x_j", "x=bfloat16[9,16]"]
    done = tilefold(*explained)
    assert done.returncode == 0, done.stderr
    assert "x: bf16[16]" in done.stdout
    (tmp_path / "ml_dtypes.py").write_text("raise ImportError")
    done = tilefold(*explained, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "tilefold: x: NumPy has bfloat16 from the package ml_dtypes: "
        "pip install ml_dtypes\n"
    )


def test_files_that_are_missing_or_hold_several_arrays(tmp_path):
    done = tilefold("run", "sum_j x_j", "x=missing.npy")
    assert done.returncode == 1
    assert "missing.npy" in done.stderr
    assert done.stderr.count("\n") == 1
    path = tmp_path / "d.npz"
    np.savez(path, a=np.ones(2), b=np.ones(2))
    done = tilefold("run", "sum_j x_j", f"x={path}")
    assert done.stderr == (
        f"tilefold: x: which array of {path}? {path}:a, {path}:b\n"
    )
    done = tilefold("run", "sum_j x_j", f"x={path}:c")
    assert done.stderr == f"tilefold: x: no 'c' in {path}, which has a, b\n"
    np.savez(path, a=np.ones(2))
    done = tilefold("run", "-q", "sum_j x_j", f"x={path}")
    assert (done.returncode, done.stdout) == (0, "2.0\n")


def test_a_wrong_command_line_exits_with_2():
    done = tilefold("runn")
    assert done.returncode == 2
    assert "invalid choice: 'runn'" in done.stderr


def test_formulas_lists_the_language():
    done = tilefold("formulas")
    assert done.returncode == 0
    for word in ("exp", "argkmin", "clamp", "logsumexp", "attention"):
        assert re.search(rf"^  {word}  ", done.stdout, re.MULTILINE)
    assert "\n  gaussian(x, y, l)  " in done.stdout


def test_the_cache_is_listed_verified_and_cleared(tmp_path, files):
    folder = tmp_path / "cache"
    environment = {"TILEFOLD_CACHE_DIR": str(folder)}
    assert tilefold("cache", "path", **environment).stdout == f"{folder}\n"
    tilefold("run", "-q", TEXT, *files, **environment)
    listed = tilefold("cache", "list", **environment)
    assert listed.returncode == 0, listed.stderr
    *entries, last = listed.stdout.splitlines()
    assert len(entries) == 1
    assert re.fullmatch(
        r"[0-9a-f]{64}  +\d+  (x86-64-v|znver)\S+ +LLVM 22\..*", entries[0]
    )
    assert last.startswith("1 kernels, ")
    verified = tilefold("cache", "verify", **environment)
    assert verified.returncode == 0
    damage(folder)
    verified = tilefold("cache", "verify", **environment)
    assert verified.returncode == 1
    assert "DAMAGED" in verified.stdout
    cleared = tilefold("cache", "clear", **environment)
    assert cleared.stdout == "1 files removed\n"
    assert tilefold("cache", "list", **environment).stdout.startswith("0 ")


def test_a_signed_cache_takes_its_own_kernels_alone(tmp_path, files):
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    plain = {
        "TILEFOLD_CACHE_DIR": str(tmp_path / "cache"),
        "TILEFOLD_LOG": "1",
    }
    signed = {**plain, "TILEFOLD_CACHE_KEY_FILE": str(key)}
    tilefold("run", "-q", TEXT, *files, **plain)
    verified = tilefold("cache", "verify", **signed)
    assert verified.returncode == 1
    assert "NOT SIGNED WITH THE CACHE'S KEY" in verified.stdout
    line, code = cache_found(
        plain["TILEFOLD_CACHE_DIR"], TILEFOLD_CACHE_KEY_FILE=str(key)
    )
    assert "1 damaged or unsigned (run 'tilefold cache clear')" in line
    assert code == 1
    first = tilefold("run", "-q", TEXT, *files, **signed)
    assert "disk: not signed with the cache's key" in first.stderr
    again = tilefold("run", "-q", TEXT, *files, **signed)
    assert "compiled" not in again.stderr
    assert tilefold("cache", "verify", **signed).returncode == 0


def test_a_secret_that_others_may_read_is_none(tmp_path, files):
    key = tmp_path / "key"
    key.write_bytes(bytes(32))
    key.chmod(0o644)
    done = tilefold("run", "-q", TEXT, *files, TILEFOLD_CACHE_KEY_FILE=str(key))
    assert done.returncode != 0
    assert f"'{key}': others may read or write it" in done.stderr
    assert "chmod 600 FILE" in done.stderr
    assert "Traceback" not in done.stderr


def damage(folder: Path) -> None:
    """Flips the last byte of the one kernel."""
    [path] = [p for p in folder.rglob("*") if p.is_file() and p.stat().st_size]
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)


def test_a_second_run_reads_the_cache(tmp_path, files):
    environment = {"TILEFOLD_CACHE_DIR": str(tmp_path), "TILEFOLD_LOG": "1"}
    first = tilefold("run", "-q", TEXT, *files, **environment)
    second = tilefold("run", "-q", TEXT, *files, **environment)
    assert "compiled" in first.stderr
    assert "compiled" not in second.stderr


NUMBERS = [
    (r"tilefold \S+, language \S+, Python \S+, NumPy \S+, \w+", "VERSIONS"),
    (r"^(ok   cpu       )\S+, kernels for \S+", r"\1CPU"),
    (r"\d+ of \d+ cores", "N of N cores"),
    (r"\S+libtilefold_llvm.so \(\d+ MiB\)", "LIBRARY"),
    (r"compiled in \d+ ms", "compiled in N ms"),
]


def cache_found(directory, **environment: str) -> tuple[str, int]:
    """What doctor says of a cache, and its exit code."""
    done = tilefold("doctor", TILEFOLD_CACHE_DIR=str(directory), **environment)
    [line] = [part for part in done.stdout.splitlines() if "cache" in part]
    return line, done.returncode


def test_doctor_tries_whether_the_cache_can_be_written(tmp_path):
    new = tmp_path / "a" / "b"
    assert cache_found(new) == (
        f"ok   cache     {new} (not there yet, but can be made)",
        0,
    )
    assert not (tmp_path / "a").exists()
    assert cache_found(tmp_path) == (
        f"ok   cache     {tmp_path}: 0 kernels, 0.0 MiB",
        0,
    )
    assert list(tmp_path.iterdir()) == []
    cure = "set TILEFOLD_CACHE_DIR to a folder that can be written"
    (tmp_path / "file").touch()
    for path, reason in [
        (tmp_path / "file", "File exists"),
        (tmp_path / "file" / "a", "Not a directory"),
        (Path("/proc/none"), "No such file or directory"),
    ]:
        line, code = cache_found(path)
        assert line == f"BAD  cache     {path} cannot be made: {reason}; {cure}"
        assert code == 1
    line, code = cache_found("/proc")  # nobody writes there
    assert line.startswith("BAD  cache     /proc: 0 kernels, 0.0 MiB, and no ")
    assert line.endswith(cure)
    assert code == 1


def test_folders_at_home(tmp_path):
    home = {"HOME": str(tmp_path), "TILEFOLD_CACHE_DIR": "~/kept"}
    assert tilefold("cache", "path", **home).stdout == f"{tmp_path}/kept\n"
    assert cache_found("~/kept", HOME=str(tmp_path))[0] == (
        f"ok   cache     {tmp_path}/kept (not there yet, but can be made)"
    )
    done = tilefold("cache", "path", "--directory", "~/other", **home)
    assert done.stdout == f"{tmp_path}/other\n"
    np.save(tmp_path / "x.npy", np.ones(3))
    done = tilefold(
        "run", "-q", "2*x_i", "x=~/x.npy", "-o", "~/out.npy", **home
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), [2, 2, 2])
    assert list((tmp_path / "kept").iterdir())


def test_doctor(tmp_path):
    done = tilefold(
        "doctor",
        TILEFOLD_CACHE_DIR=str(tmp_path / "none"),
        TILEFOLD_CUDA_DRIVER="/no/libcuda.so.1",
        TILEFOLD_NVRTC="/no/libnvrtc.so",
    )
    text = done.stdout.replace(str(tmp_path), "FOLDER")
    for pattern, name in NUMBERS:
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    assert text == (GOLDEN / "doctor.txt").read_text()
    assert done.returncode == 0


CHECKOUT = Path(__file__).parents[2]


@pytest.mark.checkout
@pytest.mark.parametrize(
    ("cwd", "source"),
    [
        (CHECKOUT, []),
        (CHECKOUT / "bench" / "tasks", []),
        (None, ["--source", CHECKOUT]),
    ],
)
def test_bench_is_that_of_the_checkout(tmp_path, cwd, source):
    done = tilefold("bench", *source, "--list", "diag", cwd=cwd or tmp_path)
    assert done.returncode == 0, done.stderr
    cases = [line.split()[0] for line in done.stderr.splitlines()]
    assert cases == ["diag_one_array", "diag_two_arrays"]


@pytest.mark.checkout
def test_bench_measures_and_keeps_quick_results_apart(tmp_path):
    done = tilefold(
        "bench", "diag_one_array", "--quick", "--contender", "numpy",
        cwd=CHECKOUT, CXX="none", PATH=str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no CMake here (install cmake): bench/roofline is not built" in (
        done.stderr
    )
    assert re.search(r"  numpy +\w+, \S+ ms, \d of \d+ samples", done.stderr)


def test_bench_without_a_checkout_says_where_to_get_one(tmp_path):
    done = tilefold("bench", "--list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"tilefold: no source checkout in {tmp_path} or above it: the "
        "benchmark is not part of the package; run this inside a clone of "
        "tilefold, or name one with --source FOLDER\n"
    )
    done = tilefold("bench", "--source", tmp_path, cwd=CHECKOUT)
    assert done.stderr.startswith(f"tilefold: no source checkout in {tmp_path}")


@pytest.mark.checkout
def test_help_of_bench_is_there_without_a_checkout(tmp_path):
    for word in ("-h", "--help"):
        done = tilefold("bench", word, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: tilefold bench [--source FOLDER]")
        assert "run this inside a clone of tilefold" in (
            " ".join(done.stdout.split())
        )
    done = tilefold("bench", "--help", cwd=CHECKOUT)
    assert "--quick" in done.stdout


@pytest.mark.checkout
def test_bench_passes_a_wrong_command_line_on():
    done = tilefold("bench", "gausian", cwd=CHECKOUT)
    assert done.returncode == 2
    assert "no task or case 'gausian'; there are accuracy" in done.stderr
