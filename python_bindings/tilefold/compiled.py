# python_bindings/tilefold/compiled.py - formulas as Python sees them, and
# torch.compile with it.
"""`compile`, `reduce` and others, and what is shown of `Formula`'s methods.

A call of a formula is a slot of its type, in C. Dynamo, which reads Python,
looks a method up in the type's dictionary instead: a function of Python's is
there, and the slot stays what it is, so that no other call takes longer for it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

from tilefold import _core
from tilefold.frameworks import (
    is_read_by_dynamo,
    leave_graph,
    makes_kernels_in_graphs,
)
from tilefold.methods import (
    PUBLIC,
    put,
    show_methods,
    show_signatures,
)
from tilefold.threads import register_if_loaded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilefold.array_types import Keyword

__all__ = [
    "compile",
    "explain",
    "natural_spelling",
    "reduce",
    "show_call",
    "stats",
]


# One object for a text while one is alive: torch.compile knows it again.
FORMULAS: WeakValueDictionary[str, _core.Formula] = WeakValueDictionary()


def compile(  # noqa: A001
    formula: str | bytes, *, session: _core.Session | None = None
) -> _core.Formula:
    """Parses a formula, to be called with arrays any number of times.

    Kernels are compiled when arrays of new types come, and kept in memory and
    on disk. While a formula of the same text is alive, the same object is
    given.

    Parameters
    ----------
    formula : str or bytes
        The text, as in ``"sum_j exp(-|x_i - y_j|²/2l²) b_j"``. Bytes are UTF-8.
    session : Session, optional
        Whose threads, options and kernels calls have; the default one.

    Returns
    -------
    Formula
        The formula, which says how it is called.

    Raises
    ------
    FormulaError
        Where the text cannot be read, or reads two ways; with a caret.

    See Also
    --------
    reduce : parses and computes at once.
    kernel : a formula without a reduction, as a lazy matrix.

    Examples
    --------
    >>> f = tilefold.compile("sum_j |x_i - y_j|")
    >>> f(x=np.array([0.0, 1.0]), y=np.array([0.0, 1.0, 3.0]))
    array([4., 3.])
    """
    if is_read_by_dynamo():
        leave_graph(
            "a formula is compiled in a function that torch.compile reads",
            "compile it outside of the function, or call tilefold.reduce",
        )
    if session is not None or type(formula) is not str:
        return _core.compile(formula, session=session)
    found = FORMULAS.get(formula)
    if found is None:
        if sys.modules.get("torch") is not None:
            show_methods()
        register_if_loaded()
        found = FORMULAS[formula] = _core.compile(formula)
    return found


def reduce(
    formula: str | bytes,
    /,
    *mapping: Mapping[str, Keyword],
    **arrays: Keyword,
) -> Any:
    """Computes a formula over pairs of points, of which none is stored.

    Parameters
    ----------
    formula : str or bytes
        The text, as in ``"sum_j exp(-|x_i - y_j|²/2l²) b_j"``.
    *mapping : Mapping
        The arrays by name, as one mapping in the place of keywords.
    **arrays : array
        Arguments by their names in the formula, of one library. Shapes (N,),
        (N, D) or (..., N, D) on i or j; (), (D,), (R, C) or (..., R, C) for
        parameters; of any dtype of numbers or bool. Settings of ``Formula`` go
        here too: ``out``,
        ``accumulate``, ``session``, ``options``, ``ranges``, ``sum_batch`` and
        ``batch_rank``.

    Returns
    -------
    array or float
        Of the arrays' library and NumPy's promotion of their dtypes, at least
        float32: (N,) or (N, E) after a reduction over j, a number after one
        over both axes. A tuple where the formula has several results.

    Raises
    ------
    FormulaError
        Where the text cannot be read; with a caret.
    ShapeError, DTypeError, ArgumentError
        Where arrays do not fit the formula or each other.
    OutOfMemory
        Where the result cannot be allocated.

    See Also
    --------
    compile : a formula that is called again and again.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
    >>> tilefold.reduce("sum_j |x_i - y_j| b_j", x=x, y=y, b=np.ones(3))
    array([4., 3.])
    >>> tilefold.reduce("argmin_j |x_i - y_j|", {"x": x, "y": y})
    array([0, 1])
    """
    if is_read_by_dynamo():
        from tilefold.torch.calls import compiled

        return compiled(formula, *mapping, **arrays)
    return _core.compile(formula)(*mapping, **arrays)


def explain(
    formula: str | bytes,
    /,
    *mapping: Mapping[str, Keyword],
    gpu: str = "",
    format: Literal["text", "json"] = "text",  # noqa: A002
    **arrays: Keyword,
) -> str:
    """Tells every stage from the reading of a formula to its assembly.

    Nothing is computed.

    Parameters
    ----------
    formula : str or bytes
        The text.
    *mapping : Mapping
        The arrays by name, as one mapping in the place of keywords.
    gpu : str, optional
        An architecture, such as "sm_90", which need not be there: tells the
        plan, the CUDA C++, registers, and how fast it is expected to be.
    format : {"text", "json"}, optional
        "json": one document of all stages, with the values that the text is
        printed from; its schema is ``tilefold/explain.schema.json``.
    **arrays : array
        Arguments and settings, as ``reduce`` takes them.

    Returns
    -------
    str
        The stages, each under a line with its name; or JSON.

    Raises
    ------
    FormulaError, ShapeError, DTypeError, ArgumentError
        As ``reduce`` raises them.

    See Also
    --------
    Formula.explain : the same of a formula that was compiled.
    Formula.plans : the plans that the cost model chose from.

    Examples
    --------
    >>> text = tilefold.explain("sum_j |x_i - x_j|", x=np.zeros((9, 3)))
    >>> "sum" in text
    True
    """
    given: dict[str, Any] = {**arrays, "format": format}
    if gpu:
        given["gpu"] = gpu
    return _core.explain(formula, *mapping, **given)


def stats(session: _core.Session | None = None) -> _core.Statistics:
    """Counts what a session has compiled, found and run.

    Parameters
    ----------
    session : Session, optional
        The session; the one of calls that name none.

    Returns
    -------
    Statistics
        The counters as they are now, since the session began.

    See Also
    --------
    Session.stats

    Examples
    --------
    >>> before = tilefold.stats().runs
    >>> out = tilefold.reduce("sum_j x_j", x=np.ones(3))
    >>> tilefold.stats().runs - before
    1
    """
    return _core.stats(session)


def natural_spelling(
    formula: str,
    aliases: Sequence[str],
    *,
    reduction: str = "",
    axis: int = 1,
    formula2: str = "",
    opt_arg: int = 0,
) -> str:
    """Writes a formula of KeOps as one of this language.

    Parameters
    ----------
    formula : str
        The text, as KeOps' Genred takes it.
    aliases : sequence of str
        Its arguments, as Genred takes them: ``"x = Vi(3)"``.
    reduction : str, optional
        Such as "Sum"; without one the result is a pair term, a kernel.
    axis : {0, 1}, default 1
        The axis that is reduced: 0 is i, 1 is j.
    formula2 : str, optional
        The weights, of reductions that take them.
    opt_arg : int, optional
        The K of reductions that take it.

    Returns
    -------
    str
        A text for ``compile``, ``reduce`` or ``kernel``.

    Raises
    ------
    FormulaError
        For what cannot be read, or has no equivalent.

    See Also
    --------
    compile, reduce, kernel
    Vi, Vj, Pm : for formulas of KeOps that are taken as they are.

    Examples
    --------
    >>> tilefold.natural_spelling(
    ...     "Exp(-SqDist(x,y)*g)*b",
    ...     ["x = Vi(3)", "y = Vj(3)", "g = Pm(1)", "b = Vj(1)"],
    ...     reduction="Sum",
    ... )
    'sum_j(exp((-sqdist(x_i, y_j)) * g) * b_j)'
    """
    return _core.natural_spelling(
        formula,
        aliases,
        reduction=reduction,
        axis=axis,
        formula2=formula2,
        opt_arg=opt_arg,
    )


@makes_kernels_in_graphs
def _kernel_in_graph(*given: Any) -> Any:
    """What `tilefold.kernel` gives where Dynamo reads the call."""
    from tilefold.torch.graphs import kernel

    return kernel(*given)


def __call__(self: _core.Formula, /, *mapping: Any, **arrays: Any) -> Any:  # noqa: D417, N807
    """Computes the formula of arrays, as the class says.

    Parameters
    ----------
    *mapping : Mapping
        The arrays by name, as one mapping in the place of keywords.
    **arrays : array
        Arguments by their names, and settings: shapes and dtypes as in
        ``Formula``.

    Returns
    -------
    array or float
        (N,) or (N, E) after a reduction over j, a number after one over both
        axes, of NumPy's promotion of the dtypes; a tuple where the formula has
        several results.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        Where arrays do not fit the formula or each other.
    OutOfMemory
        Where the result cannot be allocated.

    Examples
    --------
    >>> f = tilefold.compile("sum_j |x_i - y_j|")
    >>> f(x=np.array([0.0, 1.0]), y=np.array([0.0, 1.0, 3.0]))
    array([4., 3.])
    """
    if is_read_by_dynamo():
        from tilefold.torch.calls import compiled

        return compiled(self, *mapping, **arrays)
    return self(*mapping, **arrays)


def _call_bound(self: _core.Bound) -> Any:
    """Computes from what the arrays hold now, into ``out``.

    Returns
    -------
    array
        ``out``, of the shape and dtype that a call of the formula gives; a
        tuple where it has several results.

    Raises
    ------
    ArgumentError
        As the class says.

    Examples
    --------
    >>> step = tilefold.compile("sum_j |x_i - x_j|").bind(x=np.arange(2.0))
    >>> step()
    array([1., 1.])
    """
    return self()


def show_call() -> None:
    """Puts the public methods into the dictionary of the type."""
    show_signatures()
    _call_bound.__name__ = "__call__"
    _call_bound.__qualname__ = "Bound.__call__"
    put({"__call__": _call_bound}, _core.Bound)
    for method in (*PUBLIC, __call__):
        method.__qualname__ = f"Formula.{method.__name__}"
    put({method.__name__: method for method in (*PUBLIC, __call__)})
