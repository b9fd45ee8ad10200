# tests/python/test_cli_files.py - files and types on the command line.
from __future__ import annotations

import io
import re
import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from test_cli import TEXT, tilefold
from tilefold import files

RANDOM = np.random.default_rng(3)
ARRAYS = {
    "one number": np.array(0.1),
    "numbers": RANDOM.random(5),
    "points": RANDOM.random((5, 3)),
    "one column": RANDOM.random((5, 1)),
    "one row": RANDOM.random((1, 3)),
    "single": RANDOM.random((5, 2)).astype("float32"),
    "whole": RANDOM.integers(-(2**62), 2**62, (4, 2)),
    "unsigned": RANDOM.integers(0, 9, 4).astype("uint8"),
    "truth": RANDOM.random(4) > 0.5,
    "complex": RANDOM.random((3, 2)) - 1j * RANDOM.random((3, 2)),
    "not finite": np.array([np.nan, np.inf, -np.inf, -0.0]),
    "no rows": np.zeros((0, 3)),
    "batches": RANDOM.random((2, 3, 4)),
}


@pytest.mark.parametrize("form", files.FORMATS)
@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_written_is_read(tmp_path, name, form):
    array, path = ARRAYS[name], tmp_path / f"a.{form}"
    table = form in ("csv", "tsv", "parquet")
    if table and array.ndim > 2:
        with pytest.raises(files.FileError, match=r"shape \(2, 3, 4\)"):
            files.write(array, str(path))
    elif form == "parquet" and array.dtype.kind == "c":
        with pytest.raises(files.FileError, match=r"write \.npy or \.npz"):
            files.write(array, str(path))
    elif form in ("csv", "tsv") and array.size == 0:
        files.write(array, str(path))
        with pytest.raises(files.FileError, match="is empty"):
            files.read(str(path))
    else:
        files.write(array, str(path))
        wanted = array
        if table and array.ndim == 0:
            wanted = array.reshape(1)
        if table and array.ndim == 2 and array.shape[1] == 1:
            wanted = array[:, 0]
        found = files.read(str(path))
        if form in ("csv", "tsv"):  # holds no types
            found = found.astype(array.dtype)
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, wanted)
        return
    assert form in ("csv", "tsv", "parquet")


def test_a_file_that_cannot_be_written_is_left_as_it_was(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("kept")
    with pytest.raises(files.FileError):
        files.write(np.zeros((2, 2, 2)), str(path))
    assert path.read_text() == "kept"


TABLES = {
    "names": ("lon,lat,n\n1,2,3\n4,5.5,6\n", [[1, 2, 3], [4, 5.5, 6]]),
    "a comment names": ("# lon, lat, n\n1,2,3\n", [[1, 2, 3]]),
    "quotes": ('"lon","lat","n"\r\n"1",2,"3"\r\n', [[1, 2, 3]]),
    "a byte order mark": ("\ufefflon,lat,n\n1,2,3\n", [[1, 2, 3]]),
    "blank lines": ("\n\nlon,lat,n\n\n1,2,3\n\n", [[1, 2, 3]]),
    "no rows": ("lon,lat,n\n", np.zeros((0, 3))),
    "no names": ("1,2,3\n4,5,6\n", [[1, 2, 3], [4, 5, 6]]),
    "exponents": ("1e5,-2E-3,nan\n", [[1e5, -2e-3, np.nan]]),
    "spaces": (" 1 , 2 ,3\n", [[1, 2, 3]]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_other_programs(tmp_path, name):
    text, wanted = TABLES[name]
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    wanted = np.array(wanted)
    np.testing.assert_array_equal(files.read(str(path)), wanted)
    named = "lon" in text
    part = "n,lon" if named else "2,0"
    np.testing.assert_array_equal(
        files.read(f"{path}:{part}"), wanted[:, [2, 0]]
    )
    np.testing.assert_array_equal(
        files.read(f"{path}:{'lat' if named else 1}"), wanted[:, 1]
    )


def test_whole_numbers_of_a_table_stay_whole(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"label,weight\n{2**60 + 1},0.5\n7,1\n")
    labels = files.read(f"{path}:label")
    assert labels.dtype == np.int64
    assert labels.tolist() == [2**60 + 1, 7]
    assert files.read(f"{path}:weight").dtype == np.float64


BROKEN = {
    "e.npy": (b"", "No data left in file"),
    "t.npy": (b"hello", "there is no array of numbers in it"),
    "s.npy": (b"\x93NUMPY\x01\x00v\x00{", None),
    "o.npy": (None, None),
    "e.npz": (b"", "No data left in file"),
    "t.npz": (b"PK\x03\x04 and so on", None),
    "e.csv": (b"", "is empty"),
    "b.csv": (b"\n \n", None),
    "t.csv": (b"a,b\n1,2\n3,q\n", "could not convert string 'q'"),
    "m.csv": (b"a,b\n1,\n", "could not convert string ''"),
    "r.csv": (b"1,2\n3\n", None),
    "u.csv": (b"\xff\xfe\x00", None),
    "d.csv": (b"a,a\n1,2\n", None),
    "e.parquet": (b"", None),
    "t.parquet": (b"PAR1 and so on", None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_told_in_a_line(tmp_path, name):
    content, message = BROKEN[name]
    path = tmp_path / name
    if content is None:
        np.save(path, np.array([{}, None]), allow_pickle=True)
    else:
        path.write_bytes(content)
    part = ":a" if name == "d.csv" else ""
    with pytest.raises(files.FileError) as caught:
        files.read(f"{path}{part}")
    told = str(caught.value)
    assert "\n" not in told
    assert str(path) in told
    assert message is None or message in told


def test_a_broken_file_gives_no_traceback(tmp_path):
    (tmp_path / "x.npy").touch()
    done = tilefold("run", "sum_j x_j", f"x={tmp_path / 'x.npy'}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"tilefold: x: {tmp_path / 'x.npy'}: No data left in file\n"
    )


def test_parquet_of_other_programs(tmp_path):
    path = tmp_path / "d.parquet"
    vectors = RANDOM.random((4, 3))
    table = pyarrow.table({
        "n": pyarrow.array([1, 2, 3, 4], "int32"),
        "w": [0.5, 1.5, 2.5, 3.5],
        "flag": [True, False, True, True],
        "v": list(vectors),
        "fixed": pyarrow.FixedSizeListArray.from_arrays(vectors.ravel(), 3),
        "name": ["a", "b", "c", "d"],
        "gap": [1.0, None, 2.0, 3.0],
        "ragged": [[1.0], [2.0, 3.0], [], [4.0]],
    })  # fmt: skip
    pyarrow.parquet.write_table(table, path)
    assert files.read(f"{path}:n").dtype == np.int32
    np.testing.assert_array_equal(
        files.read(f"{path}:w,n"), [[0.5, 1], [1.5, 2], [2.5, 3], [3.5, 4]]
    )
    np.testing.assert_array_equal(files.read(f"{path}:v"), vectors)
    np.testing.assert_array_equal(files.read(f"{path}:fixed"), vectors)
    np.testing.assert_array_equal(files.read(f"{path}:flag"), [1, 0, 1, 1])
    for name, message in {
        "name": "'name' is string, and no number",
        "gap": "1 values of 'gap' are missing",
        "ragged": "lists of 'ragged' differ in length",
        "none": "no 'none' in ",
    }.items():
        with pytest.raises(files.FileError) as caught:
            files.read(f"{path}:{name}")
        assert message in str(caught.value)


def test_parquet_without_its_library(tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError")
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    done = tilefold(
        "run", "sum_j x_j", f"x={tmp_path / 'x.parquet'}",
        PYTHONPATH=str(tmp_path),
    )  # fmt: skip
    assert done.stderr == (
        "tilefold: x: Parquet files are read and written by the package "
        "pyarrow: pip install pyarrow\n"
    )


def output(*arguments: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "tilefold", "run", "-q", *arguments],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_the_standard_output():
    text = "3*x_i"
    given = ["x=float32[2000,2]"]
    rows = output(text, *given, "-o", "-").decode().splitlines()
    assert rows == ["0.0,0.0"] * 2000  # and not an excerpt
    found = np.load(io.BytesIO(output(text, "-o", "-", *given, "--format=npy")))
    assert (found.shape, found.dtype) == ((2000, 2), np.float32)
    binary = output(text, "-o", "-", *given, "--format", "parquet")
    table = pyarrow.parquet.read_table(io.BytesIO(binary))
    assert table.column_names == ["result0", "result1"]


def test_the_form_of_a_file_without_a_known_ending(tmp_path):
    path = tmp_path / "out.txt"
    done = tilefold("run", "2*x_i", "x=float64[3]", "-o", path)
    assert done.returncode == 1
    assert done.stderr == (
        f"tilefold: {path}: a file of arrays ends in .npy, .npz, .csv, .tsv, "
        ".parquet, or name it with --format\n"
    )
    assert not path.exists()
    done = tilefold("run", "2*x_i", "x=float64[3]", "-o", path, "--format=csv")
    assert done.returncode == 0, done.stderr
    assert path.read_text() == "0.0\n" * 3


def test_tables_are_computed_with(tmp_path):
    points = RANDOM.random((20, 3))
    path = tmp_path / "d.csv"
    np.savetxt(path, points, delimiter=",", header="lon,lat,w", comments="")
    text = "sum_j exp(-|x_i - x_j|²) b_j"
    done = tilefold(
        "run", text, f"x={path}:lon,lat", f"b={path}:w",
        "-o", tmp_path / "out.parquet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    x, b = points[:, :2], points[:, 2]
    wanted = np.exp(-((x[:, None] - x) ** 2).sum(-1)) @ b
    found = files.read(str(tmp_path / "out.parquet"))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_parameters_that_are_vectors_or_complex():
    done = tilefold(
        "run", "-q", "sum_j (l·(x_i + 1) + m[1]*y_j)", "x=float64[1,3]",
        "y=float64[4]", "l=1,2,3", "m=-1e3,2.5",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[24.]\n"), done.stderr
    done = tilefold("run", "-q", "(x_i + z)*w[1]", "x=float64[1]",
                    "z=1+2j", "w=1,2j")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[-4.+2.j]\n")


# ---- explain -----------------------------------------------------------------


def test_explain_takes_types_in_place_of_arrays():
    done = tilefold(
        "explain", TEXT, "x=float32[1000,3]", "y=float32[2000,3]",
        "b=float32[2000]", "l=0.5",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    titles = [
        line for line in done.stdout.splitlines() if line.startswith("── ")
    ]
    assert len(titles) >= 5


GUESSES = {
    TEXT.replace("^2", "²"): (
        "x=f32[3] (10,000 points), y=f32[3] (10,000 points), l=1, "
        "b=f32 (10,000 points)"
    ),
    "sum_j exp(-|x_i-x_j|)": "x=f32[3] (10,000 points)",
    "sum_j y_j/(1 + (t_i - t_j)²)": (
        "y=f32[3] (10,000 points), t=f32 (10,000 points)"
    ),
    "sum_j |A@x_i - A@y_j|": (
        "A=f32[3,3], x=f32[3] (10,000 points), y=f32[3] (10,000 points)"
    ),
    "max_j x_j*(n_i // 2 == n_j // 2)": None,
    "argkmin_j(y_j[0]*c_i, 3)": (
        "y=f32[3] (10,000 points), c=f32 (10,000 points)"
    ),
    "attention": None,
}


@pytest.mark.parametrize("text", GUESSES)
def test_explain_guesses_what_is_not_given_and_says_so(text):
    done = tilefold("explain", text)
    assert done.returncode == 0, done.stderr
    assert "── ir\n" in done.stdout
    guess = re.fullmatch(
        r"guessed: (.*); declare what differs, as in x=f32\[3\]\n", done.stderr
    )[1]
    assert GUESSES[text] in (None, guess)


def test_types_of_points_are_declared():
    done = tilefold("explain", TEXT, "x=f64[16]", "y=bf16[16]", "b=i8", "l=f32")
    assert (done.returncode, done.stderr) == (0, "")
    for line in ("x: f64[16] {i}", "y: bf16[16] {j}", "b: i8 {j}", "l: f32 {}"):
        assert f"  {line}\n" in done.stdout
    done = tilefold("explain", "sum_j A@x_j", "A=f32[2,5]")
    assert done.stderr.startswith("guessed: x=f32[5] (10,000 points);")
    assert "  A: f32[2,5] {}\n" in done.stdout


def test_what_is_given_tells_the_rest():
    done = tilefold("explain", TEXT, "x=f32[16]", "b=float32[500]")
    assert done.stderr == (
        "guessed: y=f32[16] (500 points), l=1; declare what differs, as in "
        "x=f32[3]\n"
    )
    done = tilefold("explain", TEXT, "--gpu", "--isa", "x86-64-v3")
    assert done.returncode == 0, done.stderr
    assert "CUDA" in done.stdout or "__global__" in done.stdout


def test_what_no_guess_fits_is_an_error():
    done = tilefold("explain", "sum_j x_i @ x_j @ x_j")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tilefold: ")
    assert "Traceback" not in done.stderr


def test_an_archive_of_several_has_the_arrays_of_the_arguments(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, x=np.arange(3.0), y=np.ones(4))
    run = tilefold("run", "sum_j |x_i - y_j|", f"x={path}", f"y={path}")
    assert (run.returncode, run.stdout) == (0, "[4. 0. 4.]\n")
    run = tilefold("run", "sum_j z_j", f"z={path}")
    assert run.returncode != 0
    assert "which array of" in run.stderr


INPUTS = {
    "csv": (b"a,b\n1,2\n3,4\n", "30.0\n"),
    "npy": (None, "30.0\n"),
    "no number": (b"a,b\n1,x\n", ""),
}


@pytest.mark.parametrize("name", INPUTS)
def test_the_standard_input_is_read(name):
    given, wanted = INPUTS[name]
    if given is None:
        memory = io.BytesIO()
        np.save(memory, np.array([[1, 2], [3, 4]]))
        given = memory.getvalue()
    run = subprocess.run(
        [sys.executable, "-m", "tilefold", "run", "sum_j |x_j|²", "x=-"],
        input=given,
        capture_output=True,
        check=False,
    )
    assert run.stdout.decode() == wanted
    if not wanted:
        assert b"stdin.csv: could not convert" in run.stderr
