# python_bindings/tilefold/errors.py - what tilefold raises.
"""The exceptions of tilefold, each an `Error`, and its one warning."""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "Cancelled",
    "ConvergenceWarning",
    "DTypeError",
    "DeviceError",
    "Error",
    "FormulaError",
    "InternalError",
    "OutOfMemory",
    "RowError",
    "ShapeError",
]


class Error(Exception):
    """Any error of tilefold, of which all others are subclasses.

    Its text says what was found, what was expected, and the cure; of a formula,
    with a caret at the place.

    Parameters
    ----------
    message : str
        The text.
    formula : str
        The formula concerned; "" where there is none.
    span : tuple of int
        The characters [first, last) of it that the error points at.
    code : str
        The name of the error, which never changes, such as "UnknownFunction".

    See Also
    --------
    ConvergenceWarning : what is told where a result is given nevertheless.

    Examples
    --------
    >>> try:
    ...     tilefold.compile("sum_j foo(x_j)")
    ... except tilefold.Error as error:
    ...     error.code, error.span
    ('UnknownFunction', (6, 9))
    """

    formula: str
    span: tuple[int, int]
    code: str

    def __init__(
        self,
        message: str = "",
        formula: str = "",
        span: tuple[int, int] = (0, 0),
        code: str = "",
    ) -> None:
        super().__init__(message, formula, span, code)
        self.formula = formula
        self.span = span
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class FormulaError(Error, ValueError):
    """The text of a formula cannot be read, or reads two ways.

    A ``ValueError``, too. Its text shows the formula with a caret at the place,
    and says what may be written in its stead.

    See Also
    --------
    Error : what it has beside its text.
    compile : which reads formulas.

    Examples
    --------
    >>> try:
    ...     tilefold.compile("sum_j exp(x_j")
    ... except tilefold.FormulaError as error:
    ...     error.formula
    'sum_j exp(x_j'
    """


class ShapeError(Error, ValueError):
    """Shapes of arrays do not fit the formula or each other.

    A ``ValueError``, too. Its text names the arrays and their shapes, and the
    shapes that would do.

    See Also
    --------
    Error : what it has beside its text.
    Formula : the shapes that a call takes.

    Examples
    --------
    >>> try:
    ...     tilefold.reduce("sum_j x_j b_j", x=np.ones(2), b=np.ones(5))
    ... except tilefold.ShapeError:
    ...     print("x has 2 points, b has 5")
    x has 2 points, b has 5
    """


class DTypeError(Error, TypeError):
    """An array holds elements that are not computed with.

    A ``TypeError``, too. Its text names the array and its dtype, and the dtypes
    that it may be converted to.

    See Also
    --------
    Error : what it has beside its text.
    Formula : what dtype a result has.

    Examples
    --------
    >>> try:
    ...     tilefold.reduce("sum_j x_j", x=np.array(["a", "b"]))
    ... except tilefold.DTypeError:
    ...     print("text is no number")
    text is no number
    """


class ArgumentError(Error, TypeError):
    """An argument is missing, unknown, or used in the wrong way.

    A ``TypeError``, too. Its text names the argument and those that the call
    takes.

    See Also
    --------
    Error : what it has beside its text.
    Formula.names : the arguments of a formula.

    Examples
    --------
    >>> try:
    ...     tilefold.reduce("sum_j x_j", x=np.ones(3), z=np.ones(3))
    ... except tilefold.ArgumentError as error:
    ...     error.code
    'UnknownArgument'
    """


class RowError(ArgumentError, IndexError):
    """A row or column of a kernel that does not exist.

    An ``ArgumentError`` and an ``IndexError``, so that loops and libraries that
    count up to an ``IndexError`` end as they do with arrays.

    See Also
    --------
    Error : what it has beside its text.
    Kernel : whose rows and columns are meant.

    Examples
    --------
    >>> K = tilefold.kernel("|x_i - x_j|", x=np.zeros(3))
    >>> try:
    ...     K[7]
    ... except IndexError as error:
    ...     isinstance(error, tilefold.RowError)
    True
    """


class OutOfMemory(Error, MemoryError):  # noqa: N818
    """Memory could not be allocated; the message says how much, and for what.

    A ``MemoryError``, too. The formula has not run, and no result was changed.

    See Also
    --------
    Error : what it has beside its text.
    Options : ``untrusted`` limits what a formula may take.

    Examples
    --------
    >>> try:
    ...     raise tilefold.OutOfMemory("out of memory")
    ... except MemoryError as error:
    ...     print(error)
    out of memory
    """


class DeviceError(Error, RuntimeError):
    """A device, a driver or the compiler library is not there, or has failed.

    A ``RuntimeError``, too. Of calls with arrays on a GPU, or with
    ``Options(devices=...)``; the text says what was looked for, and where.

    See Also
    --------
    Error : what it has beside its text.
    Options : where a driver and a compiler are looked for.

    Examples
    --------
    >>> try:
    ...     raise tilefold.DeviceError("no driver")
    ... except RuntimeError as error:
    ...     print(error)
    no driver
    """


class Cancelled(Error, RuntimeError):  # noqa: N818
    """A progress callback asked to stop, and the call has stopped.

    A ``RuntimeError``, too. Raised where the callback of
    ``Options(progress=...)`` returns False; what ``out`` holds then is not
    said.

    See Also
    --------
    Error : what it has beside its text.
    Options : ``progress``, the callback.

    Examples
    --------
    >>> try:
    ...     raise tilefold.Cancelled("cancelled")
    ... except tilefold.Error as error:
    ...     print(error)
    cancelled
    """


class InternalError(Error, RuntimeError):
    """A bug of tilefold: something happened that should be impossible.

    A ``RuntimeError``, too. The text says what was found; a report with it, the
    formula, and what ``tilefold doctor`` prints, is welcome.

    See Also
    --------
    Error : what it has beside its text.

    Examples
    --------
    >>> issubclass(tilefold.InternalError, RuntimeError)
    True
    """


class ConvergenceWarning(UserWarning):
    """A solve, or a log determinant, ended before it was as exact as asked.

    A ``UserWarning``: the result is returned nevertheless. The text says what
    was reached; more iterations, a ridge or a preconditioner help.

    See Also
    --------
    Kernel.solve, Kernel.logdet, Kernel.inv_quad_logdet

    Examples
    --------
    >>> import warnings
    >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=np.linspace(0, 1, 50))
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     x = K.solve(np.ones(50), maxiter=1)
    >>> found[0].category is tilefold.ConvergenceWarning
    True
    """
