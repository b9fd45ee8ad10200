# python_bindings/tilefold/compat/pykeops/common/parse_type.py - aliases.
"""Declarations of variables, and the options of a reduction."""

from __future__ import annotations

import re
import warnings
from typing import Any

__all__ = [
    "categories",
    "complete_aliases",
    "get_optional_flags",
    "get_sizes",
    "get_type",
]

categories = {"Vi": 0, "Vj": 1, "Pm": 2}

_ALIAS = re.compile(
    r"(?:(?P<name>[^\W\d]\w*)=)?(?P<kind>Vi|Vj|Pm)"
    r"\((?:(?P<position>\d+),)?(?P<dim>\d+)\)"
)
_VAR = re.compile(
    r"(?:(?P<name>[^\W\d]\w*)=)?Var"
    r"\((?P<position>\d+),(?P<dim>\d+),(?P<category>[012])\)"
)
_INLINE = re.compile(r"\bVar\((\d+),(\d+),([012])\)")
# Reductions that add, and so have a scheme to add by.
_SUMS = {"Sum", "Max_SumShiftExp", "Max_SumShiftExpWeight"}
_SCHEMES = ("auto", "direct_sum", "block_sum", "kahan_scheme")


def get_type(
    type_str: str, position_in_list: int | None = None
) -> tuple[str | None, int, int, int | None]:
    """The (name, category, dimension, position) of a declaration.

    Of "x = Vi(3)", "x = Vi(0,3)", "Vj(3)", "Pm(0,3)" or "Var(0,3,1)"; the
    category is 0 (i), 1 (j) or 2 (parameter), and the position that of the
    list where the text has none. Raises ValueError for other texts.
    """
    text = re.sub(r"\s", "", type_str)
    renamed = re.sub(r"\bVx\(", "Vi(", re.sub(r"\bVy\(", "Vj(", text))
    if renamed != text:
        warnings.warn(
            "'Vx' and 'Vy' variables types are now renamed 'Vi' and 'Vj'",
            stacklevel=2,
        )
        text = renamed
    found = _VAR.fullmatch(text)
    if found:
        category = int(found["category"])
        return (
            found["name"],
            category,
            int(found["dim"]),
            int(found["position"]),
        )
    found = _ALIAS.fullmatch(text)
    if not found:
        raise ValueError(
            f"'{type_str}' declares no variable: it should be "
            "'x = Vi(dim)', 'x = Vj(dim)' or 'x = Pm(dim)', with the position "
            "of the argument, 'x = Vi(pos,dim)', or without a name, or "
            "'Var(pos,dim,cat)'"
        )
    position = found["position"]
    return (
        found["name"],
        categories[found["kind"]],
        int(found["dim"]),
        position_in_list if position is None else int(position),
    )


def complete_aliases(formula: str, aliases: list[str]) -> list[str]:
    """Appends the `Var(pos,dim,cat)` of the formula beyond the list."""
    added = {
        int(found[1]): found[0]
        for found in _INLINE.finditer(re.sub(r"\s", "", formula))
        if int(found[1]) >= len(aliases)
    }
    for position in sorted(added):
        if position != len(aliases):
            raise ValueError(
                f"{added[position]} is argument {position}, but no alias is "
                f"argument {len(aliases)}"
            )
        aliases.append(added[position])
    return aliases


def get_sizes(aliases: list[str], *args: Any) -> tuple[int, int]:
    """The lengths on i and j of the arguments; 1 where none has the axis."""
    sizes = [1, 1]
    for place, alias in enumerate(aliases):
        _, category, _, position = get_type(alias, place)
        if category < 2 and position is not None:
            sizes[category] = args[position].shape[-2]
    return sizes[0], sizes[1]


def get_optional_flags(
    reduction_op_internal: str,
    dtype_acc: str,
    use_double_acc: bool,
    sum_scheme: str,
    enable_chunks: bool,
    use_fast_math: bool,
) -> dict[str, Any]:
    """The options of a reduction, checked; ValueError where they exclude."""
    adds = reduction_op_internal in _SUMS
    if dtype_acc != "auto" and use_double_acc:
        raise ValueError(
            "you cannot set both options use_double_acc and dtype_acc."
        )
    if use_double_acc:
        dtype_acc = "float64"
    if dtype_acc not in ("auto", "float16", "float32", "float64"):
        raise ValueError(
            f"dtype_acc is '{dtype_acc}', and should be one of 'auto', "
            "'float16', 'float32' or 'float64'"
        )
    if dtype_acc != "auto" and not adds:
        raise ValueError(
            "parameter dtype_acc should be set to 'auto' for no-sum type "
            "reductions (Min, Max, ArgMin, etc.)"
        )
    if sum_scheme not in _SCHEMES:
        raise ValueError(
            f"invalid value '{sum_scheme}' for option sum_scheme: should be "
            f"one of {', '.join(_SCHEMES)}"
        )
    if sum_scheme in ("block_sum", "kahan_scheme") and not adds:
        raise ValueError(
            f'sum_scheme="{sum_scheme}" is only valid for sum type reductions.'
        )
    if sum_scheme == "auto":
        sum_scheme = "block_sum" if adds else "direct_sum"
    return {
        "dtype_acc": dtype_acc,
        "sum_scheme": sum_scheme,
        "use_fast_math": int(bool(use_fast_math)),
        "enable_chunks": int(bool(enable_chunks)),
    }
