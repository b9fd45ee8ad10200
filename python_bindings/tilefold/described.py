# python_bindings/tilefold/described.py - types in place of arrays.
"""Arguments of `tilefold explain` that are described, or guessed.

`float32[1000,3]` is an array of NumPy's type and of that shape. `f32[3]` is
the type of one point, as `explain` prints it: of so many points as the other
arrays on its axis have. What is not given is guessed, and the guess is told.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import tilefold
from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PointType", "Unknown", "described", "filled", "guessed"]

POINTS = 10_000  # of an axis on which no array is given
COMPONENTS = 3
_ARRAY = re.compile(r"([a-z]+\d*)\[([\d, ]*)\]")
_POINT = re.compile(r"([a-z]+\d*)(?:\[(\d+(?:,\d+)?)\])?")
_LONG = {"bf": "bfloat", "f": "float", "i": "int", "u": "uint", "bool": "bool"}
# Names that are points more often than numbers.
_POINTED = "xyzuvpqkw"


class Unknown(Exception):  # noqa: N818 - says what to write
    """A type that there is not, or that NumPy does not have."""


class PointType(NamedTuple):
    """The type of one point, or of a parameter: f32, f32[3], f32[2,3]."""

    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        extents = ",".join(map(str, self.shape))
        return self.dtype + (f"[{extents}]" if extents else "")

    def array(self, points: int | None) -> Any:
        """Zeros, one element stored: of a parameter where no points are."""
        extents = self.shape if points is None else (points, *self.shape)
        return _zeros(_numpy_name(self.dtype), extents)


def described(text: str) -> Any:
    """The array or `PointType` that a text describes; None for no such text.

    Raises Unknown.
    """
    if found := _ARRAY.fullmatch(text):
        name, extents = found.groups()
        if name not in _dtypes() or name == "bool":
            shape = tuple(int(part) for part in re.findall(r"\d+", extents))
            return _zeros(name, shape)
    if (found := _POINT.fullmatch(text)) and found[1] in _dtypes():
        shape = tuple(int(part) for part in re.findall(r"\d+", found[2] or ""))
        return PointType(found[1], shape)
    return None


def filled(formula: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, each `PointType` as an array of zeros."""
    points = _points_on(formula, given)
    axes = _axes_of(formula)
    return {
        name: value.array(_length(points, axes.get(name, 0)))
        if isinstance(value, PointType)
        else value
        for name, value in given.items()
    }


def guessed(
    formula: Any, given: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """All arguments, and what was guessed of them: "" where all are given.

    Vectors and numbers are tried for what is missing, until the formula
    takes them. Raises what it says of the first guess where it takes none.
    """
    axes = _axes_of(formula)
    missing = [name for name in axes if name not in given]
    components = _components(given, axes)
    first: tilefold.Error | None = None
    for types in itertools.islice(_guesses(missing, axes, components), 300):
        arguments = filled(formula, {**given, **types})
        try:
            formula._check_call(arguments, dict(settings))
        except tilefold.Error as error:
            first = first or error
        else:
            return arguments, _told(formula, arguments, types)
    assert first is not None  # there is at least one guess
    raise first


def _guesses(
    missing: list[str], axes: Mapping[str, int], components: int
) -> Iterator[dict[str, Any]]:
    """The likelier first: those with the fewest unlikely types."""
    choices = {name: _likely(name, axes[name], components) for name in missing}
    for count in range(len(missing) + 1):
        for names in itertools.combinations(missing, count):
            others = [choices[name][1:] for name in names]
            for unlikely in itertools.product(*others):
                likely = {name: choice[0] for name, choice in choices.items()}
                yield {**likely, **dict(zip(names, unlikely, strict=True))}


def _likely(name: str, axes: int, components: int) -> list[Any]:
    number, vector = PointType("f32", ()), PointType("f32", (components,))
    if not axes:
        matrix = PointType("f32", (components, components))
        return (
            [matrix, vector, 1.0] if name.isupper() else [1.0, vector, matrix]
        )
    both = [vector, number] if name[0] in _POINTED else [number, vector]
    return [*both, PointType("i64", ())]


def _components(given: Mapping[str, Any], axes: Mapping[str, int]) -> int:
    """Of the first points given that are vectors, else of parameters."""
    widths = {True: [], False: []}  # type: dict[bool, list[int]]
    for name, value in given.items():
        on_axis = bool(axes.get(name, 0))
        is_type = isinstance(value, PointType)
        shape = value.shape if is_type else np.shape(value)[int(on_axis) :]
        widths[on_axis] += shape[-1:]
    return [*widths[True], *widths[False], COMPONENTS][0]


def _told(
    formula: Any, arguments: Mapping[str, Any], types: Mapping[str, Any]
) -> str:
    axes = _axes_of(formula)
    parts = []
    for name, kind in types.items():
        size = ""
        if axes[name]:
            size = f" ({len(arguments[name]):,} points)"
        parts.append(f"{name}={kind if axes[name] else _number(kind)}{size}")
    return ", ".join(parts)


def _number(kind: Any) -> str:
    return f"{kind:g}" if isinstance(kind, float) else str(kind)


# ---- sizes ------------------------------------------------------------------


def _axes_of(formula: Any) -> dict[str, int]:
    """0 for none, 1 for i, 2 for j, 3 for both."""
    return dict(formula.names)


def _points_on(formula: Any, given: Mapping[str, Any]) -> dict[int, int]:
    """Points on i (1) and on j (2), as the arrays that are given have them."""
    points: dict[int, int] = {}
    for name, axes in formula.names:
        value: Any = given.get(name)
        shape = () if isinstance(value, PointType) else np.shape(value)
        for axis in (1, 2):
            if axes & axis and shape:
                points[axis] = shape[0] if len(shape) == 1 else shape[-2]
    # An array on both axes gives both the same length.
    if any(axes == 3 for _, axes in formula.names):
        known = points.get(1, points.get(2, POINTS))
        points = {1: known, 2: known, **points}
    return points


def _length(points: Mapping[int, int], axes: int) -> int | None:
    if not axes:
        return None
    return points.get(axes & 1 or 2, POINTS)


# ---- types ------------------------------------------------------------------


def _dtypes() -> list[str]:
    """As formulas are explained: f32."""
    return [row["name"] for row in _core._tables()["dtypes"]]


def _numpy_name(spelling: str) -> str:
    letters = spelling.rstrip("0123456789")
    return _LONG[letters] + spelling[len(letters) :]


def _zeros(dtype: str, shape: tuple[int, ...]) -> Any:
    """Of a type and shape, one element stored."""
    try:
        if dtype == "bfloat16":
            import ml_dtypes  # noqa: F401 - NumPy knows it then
        return np.broadcast_to(np.zeros((), dtype), shape)
    except ImportError as error:
        raise Unknown(
            "NumPy has bfloat16 from the package ml_dtypes: "
            "pip install ml_dtypes"
        ) from error
    except TypeError as error:
        raise Unknown(f"unknown type '{dtype}'") from error
    except (ValueError, OverflowError) as error:
        raise Unknown(f"no array has the shape {shape}: {error}") from error
