# python_bindings/tilefold/dialects.py - what functions of NumPy and PyTorch are
# given, in one vocabulary.
"""The signatures of functions of whole arrays, in NumPy and in PyTorch.

Both libraries give the same settings other names, places and defaults; the
methods here have NumPy's. `of_numpy` and `of_torch` take a call as its library
reads it, and give the one that is meant: a setting at its default is none, and
one that would change what is meant, and has no counterpart, is refused.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Extremum",
    "extremum",
    "of_numpy",
    "of_torch",
    "takes_dim",
    "with_dim",
]

# What is given behind the first operand, in its order. In PyTorch the names of
# settings tell them apart from NumPy's, whose places differ.
NUMPY = {
    **dict.fromkeys(("sum", "prod"), "axis dtype out keepdims initial where"),
    "mean": "axis dtype out keepdims where",
    **dict.fromkeys(
        ("max", "min", "amax", "amin"), "axis out keepdims initial where"
    ),
    **dict.fromkeys(("any", "all"), "axis out keepdims where"),
    **dict.fromkeys(
        ("var", "std"), "axis dtype out ddof keepdims where mean correction"
    ),
    "median": "axis out overwrite_input keepdims",
    **dict.fromkeys(
        ("quantile", "percentile"),
        "q axis out overwrite_input method keepdims weights interpolation",
    ),
    **dict.fromkeys(("argmin", "argmax", "ptp"), "axis out keepdims"),
    "average": "axis weights returned keepdims",
    "nansum": "axis dtype out keepdims initial where",
    **dict.fromkeys(
        ("count_nonzero", "count", "logsumexp", "kmin", "argkmin"),
        "axis keepdims",
    ),
    "trace": "offset axis1 axis2 dtype out",
    "diag": "k",
    "diagonal": "offset axis1 axis2",
    "transpose": "axes",
    "norm": "ord axis keepdims",
    "vector_norm": "axis keepdims ord",
    "size": "axis",
    "concatenate": "axis out dtype casting",
    "stack": "axis out dtype casting",
    "hstack": "dtype casting",
    **dict.fromkeys(("cumsum", "cumprod"), "axis dtype out"),
    "diff": "n axis prepend append",
    "roll": "shift axis",
    "flip": "axis",
    "nan_to_num": "copy nan posinf neginf",
    "sort": "axis kind order stable",
    **dict.fromkeys(("trapezoid", "trapz"), "x dx axis"),
}
TORCH = {
    **dict.fromkeys(("sum", "mean", "prod", "nansum"), "dim keepdim dtype out"),
    **dict.fromkeys(
        ("amax", "amin", "any", "all", "logsumexp", "argmax", "argmin"),
        "dim keepdim out",
    ),
    **dict.fromkeys(("max", "min"), "dim keepdim out"),
    **dict.fromkeys(("var", "std"), "dim unbiased keepdim correction out"),
    "count_nonzero": "dim",
    "quantile": "q dim keepdim interpolation out",
    "softmax": "dim dtype _stacklevel",
    "norm": "p dim keepdim out dtype",
    "linalg_norm": "ord dim keepdim out dtype",
    "linalg_vector_norm": "ord dim keepdim out dtype",
    "trace": "",
    "diag": "diagonal",
    "diagonal": "offset dim1 dim2",
    "transpose": "",
    "cat": "dim out",
    "concatenate": "dim out",
    "stack": "dim out",
    "hstack": "out",
    **dict.fromkeys(("cumsum", "cumprod"), "dim dtype out"),
    "diff": "n dim prepend append out",
    "roll": "shifts dims",
    "flip": "dims",
    "nan_to_num": "nan posinf neginf out",
    **dict.fromkeys(("trapezoid", "trapz"), "x dx dim"),
}
# What the first operand is called, where it is named.
_FIRST = ("a", "x", "A", "input", "arrays", "tup", "tensors", "m", "v")
_MEANT = {
    "axis": "axis", "dim": "axis", "keepdims": "keepdims",
    "keepdim": "keepdims", "ord": "order", "p": "order", "ddof": "ddof",
    "correction": "ddof", "unbiased": "unbiased", "k": "k", "diagonal": "k",
    "q": "q", "n": "n", "x": "x", "dx": "dx", "shift": "shift",
    "shifts": "shift", "dims": "axis", "nan": "nan", "posinf": "posinf",
    "neginf": "neginf",
}  # fmt: skip
_OF_TENSORS = {"dim", "keepdim", "p", "unbiased"}
# The values by which a setting says nothing, of those that are not None.
_NOTHING: dict[str, tuple[Any, ...]] = {
    "where": (True,), "overwrite_input": (False,), "offset": (0,),
    "axis1": (0,), "axis2": (1,), "dim1": (0,), "dim2": (1,),
    "casting": ("same_kind",), "subok": (True,),
    "order": ("K",), "method": ("linear",), "interpolation": ("linear",),
    "_stacklevel": (3,), "inplace": (False,), "decimals": (0,),
    "returned": (False,), "alpha": (1,), "approximate": ("none",),
    "beta": (1,), "threshold": (20,), "p": ("fro", 2),
    "copy": (True, False), "stable": (True, False),
    "kind": ("quicksort", "mergesort", "heapsort", "stable"),
    "optimize": (True, False, "greedy", "optimal"),
}  # fmt: skip


class Extremum(NamedTuple):
    """What PyTorch's ``max`` and ``min`` give along a dimension.

    Examples
    --------
    >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
    >>> tilefold.dialects.extremum(K, "max", 1).values
    array([1., 1.])
    """

    values: Any
    indices: Any


def extremum(value: Any, name: str, axis: Any, keepdims: Any = False) -> Any:
    """The extremes along an axis, and where the first of them are.

    Parameters
    ----------
    value : Kernel, Lazy or Tracer
        Of which they are.
    name : {"max", "min"}
        Which.
    axis : int
        The axis, as NumPy counts them.
    keepdims : bool, default False
        Whether the axis stays, as one of length 1.

    Returns
    -------
    Extremum
        ``values`` and ``indices``.

    Examples
    --------
    >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
    >>> tilefold.dialects.extremum(K, "min", 0).indices
    array([0, 1])
    """
    settings = {"axis": axis, "keepdims": bool(keepdims)}
    return Extremum(
        getattr(value, name)(**settings),
        getattr(value, f"arg{name}")(**settings),
    )


def of_numpy(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """A call of NumPy's: its operands, and the settings that it gives.

    Parameters
    ----------
    name : str
        The function's.
    args, kwargs : sequence, Mapping
        As the function is given them.

    Returns
    -------
    tuple of sequence and dict
        The operands, and settings in the words of the methods here.

    Raises
    ------
    ArgumentError
        For a setting that would change what is meant.

    Examples
    --------
    >>> tilefold.dialects.of_numpy("sum", ("K", 1, None, None, True), {})
    (('K',), {'axis': 1, 'keepdims': True})
    """
    return _read(NUMPY, name, args, kwargs)


def of_torch(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """A call of PyTorch's: its operands, and the settings that it gives.

    Where PyTorch's default is another, the setting says so.

    Parameters
    ----------
    name : str
        The function's.
    args, kwargs : sequence, Mapping
        As the function is given them.

    Returns
    -------
    tuple of sequence and dict
        The operands, and settings in the words of the methods here.

    Raises
    ------
    ArgumentError
        For a setting that would change what is meant.

    Examples
    --------
    >>> tilefold.dialects.of_torch("var", ("K", 1), {})
    (('K',), {'axis': 1, 'ddof': 1})
    """
    if name == "median":
        _core.fail("TracedFunction", "median, the lower of two middle values,")
    if name == "sort":
        _core.fail("TracedOther", "torch.sort", "np.sort(x) has its values")
    if name == "equal":  # np.equal asks of each pair
        _core.fail(
            "TracedFunction", "torch.equal, which is (K == L).all() here,"
        )
    if name == "transpose" and sorted(d % 2 for d in args[1:]) == [0, 1]:
        args = args[:1]  # of a matrix, both of whose dimensions are named
    if name in ("max", "min") and _is_of_two(args, kwargs):
        return _read({}, f"{name}imum", args, kwargs)
    if name in ("var", "std") and len(args) > 1 and isinstance(args[1], bool):
        args = (args[0], None, *args[1:])  # var(input, unbiased)
    args, given = _read(TORCH, name, args, kwargs)
    if name in ("var", "std"):
        unbiased = given.pop("unbiased", None)
        given.setdefault("ddof", 0 if unbiased is False else 1)
    return args, given


def _is_of_two(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the larger of two values is meant, pair by pair."""
    other = args[1] if len(args) > 1 else kwargs.get("other")
    return other is not None and not isinstance(other, int)


def with_dim(
    name: str, axis: Any, kwargs: Mapping[str, Any]
) -> tuple[Any, dict[str, Any], bool]:
    """The axis and the settings of a method that may be called as a tensor's.

    ``dim=`` says that it is: then ``var`` and ``std`` divide by one less than
    there are, and ``max`` and ``min`` tell where, too.

    Parameters
    ----------
    name : str
        The method's.
    axis : int, tuple of int, or None
        What it was given by place, or as ``axis=``.
    kwargs : Mapping
        The others.

    Returns
    -------
    tuple of object, dict and bool
        The axis, NumPy's settings, and whether it is called as a tensor's.

    Raises
    ------
    ArgumentError
        For both names of one setting, and settings that are not read.

    Examples
    --------
    >>> tilefold.dialects.with_dim("var", None, {"dim": 1})
    (1, {'ddof': 1}, True)
    """
    is_torch = not _OF_TENSORS.isdisjoint(kwargs)
    if is_torch and "dim" not in kwargs and axis is not None:
        kwargs, axis = {**kwargs, "dim": axis}, None
    if is_torch and (axis is not None or "axis" in kwargs):
        _core.fail("TracedFunction", f"{name}(…, axis=…, dim=…)")
    read = of_torch if is_torch else of_numpy
    _, given = read(name, (None,), kwargs)
    return given.pop("axis", axis), given, is_torch


def takes_dim(kind: type[Any]) -> type[Any]:
    """Lets the reductions of a class be called as those of a tensor, too.

    Parameters
    ----------
    kind : type
        Whose methods have ``axis=``; with ``dim=`` they mean what a tensor's
        do.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0, 4.0]))
    >>> K.var(dim=1).round(2)
    array([4.33, 2.33, 4.33])
    """
    for name, method in list(vars(kind).items()):
        if not name.startswith("_"):
            setattr(kind, name, _with_dim(name, method))
    return kind


def _with_dim(name: str, method: Any) -> Any:
    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _OF_TENSORS.isdisjoint(kwargs):
            return method(self, *args, **kwargs)
        axis, given, _ = with_dim(name, None, kwargs)
        if name in ("max", "min"):
            return extremum(self, name, axis, **given)
        return method(self, *args, axis=axis, **given)

    return called


def _read(
    signatures: Mapping[str, str],
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The operands and the settings; `signatures` of functions of arrays."""
    named = dict(kwargs)
    if not args:
        first = next((key for key in _FIRST if key in named), None)
        args = () if first is None else (named.pop(first),)
    if name not in signatures:
        return args, _settings(named)
    places = signatures[name].split()
    operands, behind = args[:1], args[1:]
    if len(behind) > len(places):
        _core.fail("TracedFunction", f"{name} of {len(args)} arguments")
    for key, value in zip(places, behind, strict=False):
        if key in named:
            _core.fail("TracedFunction", f"{name}(…, {key}=…), given twice,")
        named[key] = value
    given = {}
    for key, value in _settings(named).items():
        if key not in places or key not in _MEANT:
            _core.fail("TracedFunction", f"{name}(…, {key}=…)")
        given[_MEANT[key]] = value
    return operands, given


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those that say something."""
    found = {}
    for key, value in given.items():
        if value is None or "NoValue" in type(value).__name__:
            continue
        # 1 and 1.0 are the same number, and True is none.
        is_plain = isinstance(value, (str, int, float))
        if is_plain and any(
            value == nothing
            and isinstance(value, bool) == isinstance(nothing, bool)
            for nothing in _NOTHING.get(key, ())
        ):
            continue
        found[key] = value
    return found
