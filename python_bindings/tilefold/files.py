# python_bindings/tilefold/files.py - arrays in files, for the command line.
"""Arrays from and to .npy, .npz, .csv, .tsv and .parquet, by the path's ending.

`d.npz:b` is one array of an archive, `d.csv:lon,lat` and `d.parquet:lon,lat`
are columns of a table. A table is an array of shape (N, D), or (N,) where one
column is read; a first line of a CSV file that holds no numbers names them.
`-` is the standard input.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilefold.array_types import ArrayLike

    Put = Callable[[BinaryIO], None]

__all__ = ["FORMATS", "FileError", "is_file", "read", "write"]


class FileError(Exception):
    """A file that cannot be read as an array, or written: what to do.

    Its text names the file, what was found in it, and which files are read:
    NumPy's .npy and .npz, CSV, and Parquet.

    See Also
    --------
    read, write

    Examples
    --------
    >>> try:
    ...     tilefold.files.read("points.txt")
    ... except tilefold.files.FileError as error:
    ...     "points.txt" in str(error)
    True
    """


def is_file(text: str) -> bool:
    """Tells whether a text names a file of arrays, or a part of one.

    Parameters
    ----------
    text : str
        PATH or PATH:PART, as in "d.npz:b" and "d.csv:lon,lat".

    Returns
    -------
    bool
        By the ending alone: the file need not be there.

    See Also
    --------
    read : what reads it.

    Examples
    --------
    >>> tilefold.files.is_file("d.csv:lon,lat"), tilefold.files.is_file("0.5")
    (True, False)
    """
    return text == "-" or _split(text) is not None


def read(text: str, name: str = "") -> Any:
    r"""Reads an array from a file, or from a part of one.

    Parameters
    ----------
    text : str
        PATH or PATH:PART: an array of a .npz archive, columns of a .csv, .tsv
        or .parquet table. "-" is the standard input: .npy, .npz or CSV.
    name : str, optional
        Of the array that is wanted of an archive of several, where no part
        says it.

    Returns
    -------
    array
        Of .npy mapped into memory; of a table of shape (N, D), or (N,) of one
        column.

    Raises
    ------
    FileError
        Where it holds no such array.
    OSError
        Where the file cannot be opened.

    See Also
    --------
    write, is_file

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "d.csv")
    ...     _ = path.write_text("lon,lat,w\n1,2,3\n4,5,6\n")
    ...     tilefold.files.read(f"{path}:lon,w")
    array([[1, 3],
           [4, 6]])
    """
    if text == "-":
        return _standard_input(name)
    found = _split(text)
    if found is None:
        raise FileError(f"{text}: {_KNOWN}")
    path, part = found
    if path.suffix == ".npz" and not part:
        part = _own(path, name)
    try:
        return _FORMATS[path.suffix][0](path, part)
    except (FileError, OSError):
        raise
    except Exception as error:  # what libraries raise of a broken file
        reason = " ".join(str(error).split()) or type(error).__name__
        if "pickle" in reason:  # NumPy's guess of anything else
            reason = "there is no array of numbers in it"
        raise FileError(f"{path}: {reason}") from error


def write(result: ArrayLike, path: str, form: str | None = None) -> None:
    """Writes an array to a file, or to the standard output.

    Parameters
    ----------
    result : array
        Of any library, shape and dtype; (), (N,) or (N, D) for tables.
    path : str
        The file; "-" is the standard output. Its ending says the form.
    form : {"npy", "npz", "csv", "parquet"}, optional
        In the place of the ending; "csv" on the standard output.

    Raises
    ------
    FileError
        For a form that there is not, or that cannot hold the array.
    OSError
        Where the file cannot be written.

    See Also
    --------
    read, is_file

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "out.csv")
    ...     tilefold.files.write(np.array([1.5, 2.0]), str(path))
    ...     path.read_text().split()
    ['1.5', '2.0']
    """
    target = Path(path).expanduser()
    ending = f".{form}" if form else ".csv" if path == "-" else target.suffix
    if ending not in _FORMATS:
        raise FileError(f"{path}: {_KNOWN}, or name it with --format")
    put = _FORMATS[ending][1](np.asarray(result))  # checked before it is opened
    if path == "-":
        _print(put)
        return
    with target.open("wb") as file:
        put(file)


def _print(put: Put) -> None:
    """To the standard output, by way of memory.

    NumPy asks a file for its position, which a pipe has none of.
    """
    memory = io.BytesIO()
    put(memory)
    left = memory.getbuffer()
    while left:  # an unbuffered output may take a part
        left = left[sys.stdout.buffer.write(left) :]
    sys.stdout.buffer.flush()


def _split(text: str) -> tuple[Path, str] | None:
    """PATH:PART to both; None where the ending is not a known one."""
    for path, part in ((text, ""), text.rpartition(":")[::2]):
        whole = Path(path).expanduser()
        if whole.suffix in _FORMATS:
            return whole, part
    return None


def _standard_input(name: str) -> Any:
    """An array that another program writes."""
    data = sys.stdin.buffer.read()
    endings = {b"\x93NU": ".npy", b"PK\x03": ".npz"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "stdin" + endings.get(data[:3], ".csv"))
        path.write_bytes(data)
        try:
            return np.array(read(str(path), name))
        except FileError as error:
            text = str(error).replace(f"{folder}{os.sep}", "")
            raise FileError(text) from None


def _own(path: Path, name: str) -> str:
    """The array of an argument's name in an archive of several."""
    try:
        with path.open("rb") as file:
            names = np.load(file).files
    except Exception:
        return ""  # reading it says what is wrong
    return name if name in names and len(names) > 1 else ""


# ---- NumPy's own ------------------------------------------------------------


def _read_npy(path: Path, part: str) -> Any:
    if part:
        raise FileError(f"{path} holds one array; leave ':{part}' away")
    array = np.load(path, mmap_mode="r" if os.path.getsize(path) else None)
    if isinstance(array, np.lib.npyio.NpzFile):
        raise FileError(f"{path} is an archive; name it {path.stem}.npz")
    return array


def _read_npz(path: Path, part: str) -> Any:
    with path.open("rb") as file:
        archive = np.load(file)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise FileError(f"{path} is no archive; name it {path.stem}.npy")
        names = archive.files
        if part and part not in names:
            raise FileError(f"no '{part}' in {path}, which has " + _list(names))
        if not part and len(names) != 1:
            members = _list([f"{path}:{name}" for name in names])
            raise FileError(f"which array of {path}? {members}")
        return archive[part or names[0]]


def _npy(array: Any) -> Put:
    return lambda file: np.lib.format.write_array(
        file, array, allow_pickle=False
    )


def _npz(array: Any) -> Put:
    return lambda file: np.savez(file, result=array)


# ---- CSV --------------------------------------------------------------------


def _read_csv(path: Path, part: str) -> Any:
    comma = _SEPARATORS[path.suffix]
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=comma)
        first = next((row for row in rows if any(map(str.strip, row))), None)
        lines = rows.line_num
    if first is None:
        raise FileError(f"{path} is empty")
    names = [cell.strip().lstrip("# ") for cell in first]
    named = not all(_is_number(cell) for cell in first)
    if not named:
        names = [str(number) for number in range(len(first))]
    chosen = _columns(path, names, part)
    table = _numbers(
        path,
        delimiter=comma,
        encoding="utf-8-sig",
        quotechar='"',
        comments=None,
        ndmin=2,
        skiprows=lines if named else 0,
        usecols=chosen,
    ).reshape(-1, len(chosen))
    return table[:, 0] if len(chosen) == 1 else table


def _numbers(path: Path, **settings: Any) -> Any:
    """Whole numbers, real ones or complex ones: the first that all are."""
    for dtype in (np.int64, np.float64):
        try:
            with warnings.catch_warnings():
                # NumPy reads 1.5 as a whole number, and says so.
                warnings.simplefilter("error", DeprecationWarning)
                warnings.filterwarnings("ignore", message=".*no data")
                return np.loadtxt(path, dtype=dtype, **settings)
        except (ValueError, DeprecationWarning):
            pass
    try:
        return np.loadtxt(path, dtype=np.complex128, **settings)
    except ValueError as error:
        text = str(error).replace("complex128", "a number")
        raise ValueError(text) from error


def _is_number(cell: str) -> bool:
    try:
        complex(cell.strip())
    except ValueError:
        return False
    return True


_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def _csv(array: Any, comma: str = ",") -> Put:
    if array.ndim > 2:
        raise FileError(
            f"a result of shape {array.shape} has no rows and columns: "
            "write .npy or .npz"
        )
    rows = _rows(array)

    def put(file: BinaryIO) -> None:
        for row in rows:  # as text that reads back to the same numbers
            file.write(comma.join(map(_spelled, row)).encode() + b"\n")

    return put


def _spelled(value: Any) -> str:
    if isinstance(value, np.complexfloating):
        return str(value).strip("()")
    return str(int(value)) if isinstance(value, np.bool_) else str(value)


# ---- Parquet ----------------------------------------------------------------


def _parquet() -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise FileError(
            "Parquet files are read and written by the package pyarrow: "
            "pip install pyarrow"
        ) from error
    return pyarrow


def _read_parquet(path: Path, part: str) -> Any:
    arrow = _parquet()
    with arrow.parquet.ParquetFile(path) as file:
        names = list(file.schema_arrow.names)
        chosen = [names[k] for k in _columns(path, names, part)]
        table = file.read(columns=chosen)
    columns = [_column(arrow, path, name, table[name]) for name in chosen]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _column(arrow: Any, path: Path, name: str, column: Any) -> Any:
    """Of shape (N,), or (N, D) where each value is a list of D numbers."""
    if column.null_count:
        raise FileError(
            f"{path}: {column.null_count} values of '{name}' are missing"
        )
    kind = column.type
    width = 1
    if arrow.types.is_fixed_size_list(kind):
        width = kind.list_size
    elif arrow.types.is_list(kind) or arrow.types.is_large_list(kind):
        lengths = np.unique(arrow.compute.list_value_length(column))
        if len(lengths) > 1:
            raise FileError(f"{path}: lists of '{name}' differ in length")
        width = int(lengths[0]) if len(lengths) else 1
    else:
        return _numeric(arrow, path, name, column, kind).to_numpy()
    flat = arrow.compute.list_flatten(column)
    values = _numeric(arrow, path, name, flat, kind.value_type).to_numpy()
    return values.reshape(-1, width)


def _numeric(arrow: Any, path: Path, name: str, column: Any, kind: Any) -> Any:
    types = arrow.types
    is_number = types.is_integer(kind) or types.is_floating(kind)
    if not (is_number or types.is_boolean(kind)):
        raise FileError(f"{path}: '{name}' is {kind}, and no number")
    if column.null_count:
        raise FileError(
            f"{path}: {column.null_count} values of '{name}' are missing"
        )
    return column


def _table(array: Any) -> Put:
    arrow = _parquet()
    if array.ndim > 2 or array.dtype.kind == "c":
        raise FileError(
            f"a result {array.dtype} of shape {array.shape} is no table of "
            "real numbers: write .npy or .npz"
        )
    rows = _rows(array)
    names = ["result"]
    if array.ndim == 2:
        names = [f"result{k}" for k in range(rows.shape[1])]
    columns = [np.ascontiguousarray(column) for column in rows.T]
    table = arrow.table(dict(zip(names, columns, strict=True)))
    return lambda file: arrow.parquet.write_table(table, file)


# ---- what both have ---------------------------------------------------------


def _columns(path: Path, names: Sequence[str], part: str) -> list[int]:
    """The numbers of the columns that `part` names; of all for ""."""
    if not part:
        return list(range(len(names)))
    chosen = []
    for name in part.split(","):
        if name not in names:
            raise FileError(f"no '{name}' in {path}, which has " + _list(names))
        if names.count(name) > 1:
            raise FileError(f"{path} has several columns '{name}'")
        chosen.append(names.index(name))
    return chosen


def _rows(array: Any) -> Any:
    """A number as one row of one column, numbers as rows of one column."""
    return array if array.ndim == 2 else array.reshape(-1, 1)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


# How each is read, and what makes a writer of an array, by the ending.
_FORMATS: dict[str, tuple[Callable[[Path, str], Any], Callable[[Any], Put]]] = {
    ".npy": (_read_npy, _npy),
    ".npz": (_read_npz, _npz),
    ".csv": (_read_csv, _csv),
    ".tsv": (_read_csv, lambda array: _csv(array, "\t")),
    ".parquet": (_read_parquet, _table),
}
FORMATS = [ending[1:] for ending in _FORMATS]
_KNOWN = "a file of arrays ends in " + ", ".join(_FORMATS)
