# python_bindings/tilefold/pandas.py - formulas of frames, with their index.
"""`reduce`: results as series and frames, with the index of their points.

    densities = tilefold.pandas.reduce(
        "mean_j exp(-|x_i - y_j|²/2l²)", x=shops, y=homes, l=0.5)

`tilefold.reduce` reads frames, too, and gives NumPy's arrays. pandas is
imported with this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.errors import ShapeError
from tilefold.roles import Role, bare

try:
    import pandas as pd
except ImportError as error:
    message = "pandas is missing: pip install pandas"
    raise ImportError(message) from error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold.array_types import Keyword

__all__ = ["reduce"]

_NAMES = {1: "i", 2: "j"}


def reduce(
    formula: str | _core.Formula,
    arguments: Mapping[str, Keyword] | None = None,
    /,
    **arrays: Keyword,
) -> Any:
    """Computes a formula of frames, with the index of the points that it keeps.

    Points are the rows of a Series or a DataFrame, or of any array without an
    index. ``tilefold.reduce`` reads frames, too, and gives NumPy's arrays.

    Parameters
    ----------
    formula : str or Formula
        The text, or what ``tilefold.compile`` made of it.
    arguments : Mapping, optional
        The frames and arrays by name, as one mapping.
    **arrays : Series, DataFrame or array
        Arguments by their names: a Series has shape (N,), a DataFrame (N, D),
        of any dtype of numbers or bool. Settings of ``Formula`` go here too,
        but for ``out``.

    Returns
    -------
    Series, DataFrame or float
        A Series where the result has a number for each point, a DataFrame where
        it has several; a gradient has its argument's index, columns and name.

    Raises
    ------
    ShapeError
        Where two frames on one axis have different indices: align them first,
        as by ``frame.reindex(other.index)``.
    FormulaError, DTypeError, ArgumentError
        As ``tilefold.reduce`` raises them.

    See Also
    --------
    tilefold.reduce : results as arrays, without an index.

    Examples
    --------
    >>> import pandas as pd
    >>> shops = pd.Series([0.0, 1.0], index=["a", "b"])
    >>> homes = pd.Series([0.0, 1.0, 3.0])
    >>> tilefold.pandas.reduce("sum_j |x_i - y_j|", x=shops, y=homes)
    a    4.0
    b    3.0
    dtype: float64
    """
    given: dict[str, Any] = _core.arguments(arguments, arrays)
    if not isinstance(formula, _core.Formula):
        session: Any = arrays.get("session")
        formula = _core.compile(formula, session=session)
    found = formula(*([] if arguments is None else [arguments]), **arrays)
    settings: dict[str, Any] = {
        name: given.pop(name)
        for name in ("session", "options", "ranges", "batch_rank", "sum_batch")
        if name in given
    }
    indices = _indices(formula, given)
    types = formula._result_types(given, settings)
    if not isinstance(found, tuple):
        return _labelled(found, types[0], given, indices)
    return tuple(
        _labelled(result, kind, given, indices)
        for result, kind in zip(found, types, strict=True)
    )


def _indices(
    formula: _core.Formula, arguments: Mapping[str, Any]
) -> dict[int, pd.Index]:
    """The index of the points on i and on j, where a frame has one."""
    indices: dict[int, pd.Index] = {}
    for name, value in arguments.items():
        frame = bare(value)
        if not isinstance(frame, (pd.Series, pd.DataFrame)):
            continue
        axes = formula._axes_of(name)[1]
        if isinstance(value, Role):
            axes = value.axes
        for axis in (axis for axis in _NAMES if axes & axis):
            known = indices.setdefault(axis, frame.index)
            if not known.equals(frame.index):
                message = (
                    f"'{name}' has another index than the frames before it on "
                    f"{_NAMES[axis]}\nalign them first, as with "
                    f"{name}.reindex(other.index)"
                )
                raise ShapeError(message, code="PandasIndex")
    return indices


def _labelled(
    result: Any,
    kind: tuple[str, int, str, int],
    arguments: Mapping[str, Any],
    indices: Mapping[int, pd.Index],
) -> Any:
    """One result as a Series or a DataFrame."""
    like, axes, *_ = kind
    if like:
        frame = bare(arguments.get(like))
        if isinstance(frame, pd.DataFrame) and result.ndim == 2:
            return pd.DataFrame(result, frame.index, frame.columns)
        if isinstance(frame, pd.Series) and result.ndim == 1:
            return pd.Series(result, frame.index, name=frame.name)
        return result
    index = indices.get(axes)
    if index is None or result.ndim not in (1, 2):
        return result
    if result.ndim == 1:
        return pd.Series(result, index)
    return pd.DataFrame(result, index)
