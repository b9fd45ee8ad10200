# python_bindings/tilefold/methods.py - what types of C++ show of themselves.
"""Functions of Python's in the dictionaries of `Formula` and `Session`.

They say what they take, to `inspect` and to Dynamo, which take methods of C++
for builtins of no signature, and for functions without a `self`.
"""

from __future__ import annotations

import gc
import inspect
from typing import TYPE_CHECKING, Any, Literal

from tilefold import _core
from tilefold.frameworks import is_read_by_dynamo, leave_graph

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilefold.result_types import ResultType

__all__ = ["PUBLIC", "put", "show_methods", "show_signatures"]

# Those of C++, which do the work.
_explain = _core.Formula.explain
_plans = _core.Formula.plans
_check = _core.Formula.check
_bind = _core.Formula.bind
_grad = _core.Formula.grad
_jvp = _core.Formula.jvp
_stats = _core.Session.stats
_to_json = _core.Statistics.to_json


def explain(
    self: _core.Formula,
    /,
    *mapping: Any,
    gpu: str = "",
    format: Literal["text", "json"] = "text",  # noqa: A002
    **arrays: Any,
) -> str:
    """Tells every stage from the reading of the text to the assembly.

    Nothing is computed.

    Parameters
    ----------
    *mapping : Mapping
        The arrays by name, as one mapping in the place of keywords.
    gpu : str, optional
        An architecture, such as "sm_90", which need not be there: tells the
        plan, the CUDA C++, registers, and how fast it is expected to be.
    format : {"text", "json"}, optional
        "json": one document of all stages, with the values that the text is
        printed from; its schema is ``tilefold/explain.schema.json``.
    **arrays : array
        Arguments and settings, as a call takes them.

    Returns
    -------
    str
        The stages, each under a line with its name; or JSON.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        Where arrays do not fit the formula or each other.

    Examples
    --------
    >>> f = tilefold.compile("sum_j |x_i - y_j|")
    >>> text = f.explain(x=np.zeros((9, 3)), y=np.zeros((8, 3)))
    >>> "sum" in text
    True
    """
    given: dict[str, Any] = {**arrays, "format": format}
    if gpu:
        given["gpu"] = gpu
    return _explain(self, *mapping, **given)


def plans(
    self: _core.Formula,
    /,
    *mapping: Any,
    **arrays: Any,
) -> list[str]:
    """Lists the plans that ``Options(plan=...)`` may force.

    A plan says how the pairs are cut into tiles. Of a derivative, the plans
    are those of its first sweep.

    Parameters
    ----------
    *mapping : Mapping
        The arrays by name, as one mapping in the place of keywords.
    **arrays : array
        Arguments and settings, as a call takes them.

    Returns
    -------
    list of str
        Best first, by the cost model.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        Where arrays do not fit the formula or each other.

    Examples
    --------
    >>> f = tilefold.compile("sum_j |x_i - y_j|")
    >>> x, y = np.zeros((9, 3)), np.zeros((8, 3))
    >>> best = f.plans(x=x, y=y)[0]
    >>> f(x=x, y=y, options=tilefold.Options(plan=best)).shape
    (9,)
    """
    return _plans(self, *mapping, **arrays)


def check(
    self: _core.Formula,
    /,
    *mapping: Any,
    rows: int = 64,
    **arrays: Any,
) -> float:
    """Compares a call with one that goes pair by pair in float64.

    Parameters
    ----------
    *mapping : Mapping
        The arrays by name, as one mapping in the place of keywords.
    rows : int, default 64
        How many rows of the result are recomputed.
    **arrays : array
        Arguments and settings, as a call takes them; on the CPU.

    Returns
    -------
    float
        The largest error of these rows, relative to the largest result.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        Where arrays do not fit the formula or each other.
    DeviceError
        For arrays on a GPU.

    Examples
    --------
    >>> f = tilefold.compile("sum_j exp(-|x_i - y_j|²)")
    >>> f.check(x=np.ones((9, 3)), y=np.zeros((8, 3))) < 1e-14
    True
    """
    return _check(self, *mapping, rows=rows, **arrays)


def bind(
    self: _core.Formula,
    /,
    *mapping: Any,
    **arrays: Any,
) -> _core.Bound:
    """Binds the formula to its arrays, to be called without arguments.

    Takes what a call takes, and checks it here, once: for formulas that are
    called often with few points.

    Parameters
    ----------
    *mapping : Mapping
        The arrays by name, as one mapping in the place of keywords.
    **arrays : array
        Arguments and settings, as a call takes them.

    Returns
    -------
    Bound
        What computes, from what the arrays hold then.

    Raises
    ------
    ShapeError, DTypeError
        Where arrays do not fit the formula or each other.
    ArgumentError
        For arguments that are missing or unknown, and for tensors that
        require grad.

    Examples
    --------
    >>> x = np.array([0.0, 1.0])
    >>> step = tilefold.compile("sum_j |x_i - x_j|").bind(x=x)
    >>> x[1] = 3.0
    >>> step()
    array([3., 3.])
    """
    _leave_graph()
    return _bind(self, *mapping, **arrays)


def grad(
    self: _core.Formula,
    names: str | Sequence[str],
    *,
    cotangent: str = "grad",
    value: bool = False,
) -> _core.Formula:
    """Makes the formula of the gradient by one argument, or by several.

    Gradients are formulas, and have gradients too. Where there is no
    derivative, as of a norm at 0, the subgradient 0 is taken.

    Parameters
    ----------
    names : str or sequence of str
        The arguments.
    cotangent : str, default "grad"
        The keyword of the gradient's calls for the cotangent: an array of the
        shape of the result, or a number for all of it; 1 if it is left out of
        a call whose result is a number.
    value : bool, default False
        Whether calls give the result of the formula first, from the same
        sweeps over the pairs.

    Returns
    -------
    Formula
        Its calls take the arguments of this one and the cotangent, and give
        an array of the shape of each argument; several names, a tuple.

    Raises
    ------
    FormulaError
        By a call, where a part of the formula has no derivative.
    ArgumentError
        For a name that the formula does not have.

    See Also
    --------
    jvp : the derivative along a direction.

    Examples
    --------
    >>> x = np.array([0.0, 1.0])
    >>> f = tilefold.compile("sum_ij (x_i - x_j)²")
    >>> f.grad("x")(x=x)
    array([-4.,  4.])
    >>> value, dx = f.grad("x", value=True)(x=x)
    >>> float(value)
    2.0
    """
    _leave_graph()
    return _grad(self, names, cotangent=cotangent, value=value)


def jvp(
    self: _core.Formula,
    names: str | Sequence[str],
    *,
    tangent: str = "tangent",
) -> _core.Formula:
    """Makes the formula of the derivative where arguments move.

    Parameters
    ----------
    names : str or sequence of str
        The arguments that move.
    tangent : str, default "tangent"
        The keyword of the derivative's calls for the direction: an array of
        the shape of the argument. Of several arguments it is
        ``tangent_x`` and so on.

    Returns
    -------
    Formula
        Its calls take the arguments of this one and the tangents, and give
        arrays of the shapes of the results.

    Raises
    ------
    FormulaError
        By a call, where a part of the formula has no derivative.
    ArgumentError
        For a name that the formula does not have.

    See Also
    --------
    grad : the derivative by arguments, for a direction of the result.

    Examples
    --------
    >>> x, t = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    >>> f = tilefold.compile("sum_j (x_i - x_j)²")
    >>> f.jvp("x")(x=x, tangent=t)
    array([2., 2.])
    """
    _leave_graph()
    return _jvp(self, names, tangent=tangent)


def result_types(
    self: _core.Formula,
    types: Mapping[str, Any],
    batch: int = 0,
) -> list[ResultType]:
    """Tells shapes and dtypes of the results, for those of the arguments.

    No array is read, and no kernel compiled: for what plans a call before its
    arrays are there. The answer is kept.

    Parameters
    ----------
    types : Mapping
        For each argument a ``tilefold.ArgumentType``, or whatever has a shape
        and a dtype. Lengths may be symbols.
    batch : int, default 0
        How many first dimensions of every argument are a batch's.

    Returns
    -------
    list of ResultType
        One for each result, in order.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        Where a call of such arrays would, and for components that are symbols.

    See Also
    --------
    tilefold.ArgumentType, tilefold.ResultType

    Examples
    --------
    >>> f = tilefold.compile("sum_j exp(-|x_i - y_j|²) b_j")
    >>> types = {
    ...     "x": tilefold.ArgumentType(("N", 3), "float32"),
    ...     "y": tilefold.ArgumentType(("M", 3), "float32"),
    ...     "b": tilefold.ArgumentType(("M",), "float32"),
    ... }
    >>> result = f.result_types(types)[0]
    >>> result.shape, result.dtype
    (('N',), 'float32')
    """
    from tilefold.result_types import result_types

    return result_types(self, types, batch)


def stats(self: _core.Session) -> _core.Statistics:
    """Counts what the session has compiled, found and run.

    Returns
    -------
    Statistics
        The counters as they are now, since the session began.

    See Also
    --------
    tilefold.stats

    Examples
    --------
    >>> session = tilefold.Session()
    >>> session.stats().compiles
    0
    """
    return _stats(self)


def to_json(self: _core.Statistics) -> str:
    """Tells the counters as JSON.

    Returns
    -------
    str
        One document; its schema is ``tilefold/documents.schema.json``.

    See Also
    --------
    Formula.explain : all that is known of a formula, as JSON too.

    Examples
    --------
    >>> import json
    >>> told = json.loads(tilefold.stats().to_json())
    >>> sorted(told)
    ['document', 'statistics', 'version']
    """
    return _to_json(self)


def _leave_graph() -> None:
    """Formulas are made outside of what torch.compile reads."""
    if is_read_by_dynamo():
        leave_graph(
            "a formula is derived or bound in a function that torch.compile "
            "reads",
            "do it outside of the function; in it, torch.func derives calls",
        )


PUBLIC = (explain, plans, check, bind, grad, jvp, result_types)


def show_signatures() -> None:
    """Tells `inspect` what the constructors, and methods of sessions, take."""
    kinds: tuple[Any, ...] = (_core.Formula, _core.Options, _core.Session)
    heads = []
    for kind in kinds:
        text, _, *rest = kind.__init__.__nb_signature__[0]
        for place, default in enumerate(rest[0] or () if rest else ()):
            text = text.replace(f"\\{place}", repr(default))
        heads.append(text.replace("__init__", kind.__name__, 1))
    scope: dict[str, Any] = {}
    functions = "".join(f"{head}: ...\n" for head in heads)
    exec(f"from __future__ import annotations\n{functions}", scope)
    for kind in kinds:
        _, *parameters = inspect.signature(
            scope[kind.__name__]
        ).parameters.values()
        kind.__signature__ = inspect.Signature(parameters)
    stats.__qualname__ = "Session.stats"
    kinds[-1].stats = stats
    to_json.__qualname__ = "Statistics.to_json"
    counters: Any = _core.Statistics
    counters.to_json = to_json


def show_methods() -> None:
    """Puts functions of Python's in the place of all other methods of C++.

    It is done once torch is there, for Dynamo.
    """
    methods = {
        name: _wrapped(name, method)
        for name, method in vars(_core.Formula).items()
        if type(method).__name__ == "nb_method" and not name.startswith("__")
    }
    if methods:
        put(methods)


def put(functions: dict[str, Any], kind: type = _core.Formula) -> None:
    """Changes the dictionary of a type, to which its proxy refers.

    Set as an attribute of the type, `__call__` would become the slot.
    """
    (dictionary,) = gc.get_referents(vars(kind))
    dictionary.update(functions)
    # To set an attribute makes the type forget what it has looked up.
    kind.__module__ = kind.__module__


def _wrapped(name: str, method: Any) -> Any:
    """A method of C++ as one of Python's."""

    def call(self: _core.Formula, /, *values: Any, **named: Any) -> Any:
        return method(self, *values, **named)

    call.__name__ = name
    call.__qualname__ = f"Formula.{name}"
    call.__doc__ = method.__doc__
    return call
