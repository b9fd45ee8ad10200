# python_bindings/tilefold/sklearn/formula_kernel.py - covariances of formulas.
"""`FormulaKernel`: any formula in scikit-learn's Gaussian processes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel
from sklearn.utils import check_array

import tilefold
from tilefold.sklearn.pair_formula import (
    PairFormula,
    pair_formula,
    substituted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold import Formula

__all__ = ["FormulaKernel", "joined"]

_DEFAULT_BOUNDS = (1e-5, 1e5)
_BOUNDS = "_bounds"


class FormulaKernel(Kernel):
    """A covariance that is any formula of two points.

    The sum and the product of two are one formula again, whose second one's
    names have a number where the first one has them, too: l2. Sums, products
    and powers with other kernels of scikit-learn are scikit-learn's. ``theta``
    is the logarithm of what is learned, in the order in which it is given.

    Parameters
    ----------
    formula : str
        A pair term of two points, or the name of one of tilefold's catalogue;
        it reads no number of a point.
    **hyperparameters : float, array of shape (D,), or tuple
        A value for each other name. ``value`` is learned, between 1e-5 and 1e5;
        ``(value, (low, high))`` is learned, between these; ``(value, "fixed")``
        is left as it is. Read as ``kernel.l`` and ``kernel.l_bounds``; a Greek
        letter has its name, as in ``sigma``.

    Raises
    ------
    ValueError
        For a formula that is none of two points, names without a value or
        values without a name, and learned values that are not positive.

    See Also
    --------
    GaussianProcessRegressor
    tilefold.kernel : the matrix of a formula, without an estimator.

    Examples
    --------
    >>> from tilefold.sklearn import FormulaKernel
    >>> k = FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1, l=(0.5, "fixed"))
    >>> k(np.array([[0.0], [0.5]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    def __init__(self, formula: str, **hyperparameters: Any) -> None:
        self.formula = formula
        compiled, _, others = pair_formula(formula)
        self._names: tuple[str, ...] = ()
        for given, value in hyperparameters.items():
            is_bounds = given.endswith(_BOUNDS) and given not in others
            if is_bounds and given[: -len(_BOUNDS)] in self._names:
                setattr(self, given, value)
                continue
            name = compiled._axes_of(given)[0]
            if name not in others:
                raise ValueError(
                    f"the formula {formula!r} has no hyperparameter "
                    f"{given!r}: it has {', '.join(others) or 'none'}"
                )
            value, bounds = _with_bounds(value)
            self._names = (*self._names, name)
            setattr(self, name, value)
            setattr(self, f"{name}{_BOUNDS}", bounds)
        for name in others:
            if name not in self._names:
                raise ValueError(
                    f"the formula {formula!r} reads {name!r}: pass a value, "
                    f"as in {name}=1.0"
                )

    # ---- what scikit-learn asks of hyperparameters ---------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Gives the formula, hyperparameters, and their bounds.

        Parameters
        ----------
        deep : bool, default True
            Without effect.

        Returns
        -------
        dict
            By name; the bounds of ``l`` are ``l_bounds``.

        Examples
        --------
        >>> from tilefold.sklearn import FormulaKernel
        >>> k = FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1, l=(0.5, "fixed"))
        >>> k.get_params()["l_bounds"]
        'fixed'
        """
        params: dict[str, Any] = {"formula": self.formula}
        for name in self._names:
            params[name] = getattr(self, name)
            params[f"{name}{_BOUNDS}"] = getattr(self, f"{name}{_BOUNDS}")
        return params

    def set_params(self, **params: Any) -> FormulaKernel:
        """Sets hyperparameters and bounds by name.

        Parameters
        ----------
        **params : object
            By the names of ``get_params``.

        Returns
        -------
        FormulaKernel
            Itself.

        Raises
        ------
        ValueError
            For a name that it does not have.

        Examples
        --------
        >>> from tilefold.sklearn import FormulaKernel
        >>> k = FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1, l=(0.5, "fixed"))
        >>> k.set_params(l=2.0).l
        2.0
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for kernel "
                    f"{type(self).__name__}. Valid parameters are: "
                    f"{', '.join(known)}."
                )
            if name == "formula" and value != self.formula:
                FormulaKernel(value, **_without(params | known, "formula"))
            setattr(self, name, value)
        return self

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """What scikit-learn knows of each, in the order of the constructor."""
        return [self._hyperparameter(name) for name in self._names]

    def _hyperparameter(self, name: str) -> Hyperparameter:
        value = np.asarray(getattr(self, name))
        bounds = getattr(self, f"{name}{_BOUNDS}")
        found = Hyperparameter(name, "numeric", bounds, max(value.size, 1))
        if found.fixed:
            return found
        if value.ndim > 1 or not (value > 0).all():
            raise ValueError(
                f"the hyperparameter {name} = {getattr(self, name)} cannot be "
                "learned by its logarithm: only positive numbers and vectors "
                f'can; pass {name}=(value, "fixed")'
            )
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FormulaKernel):
            return False
        mine, theirs = self.get_params(), other.get_params()
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[name], theirs[name]) for name in mine
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [repr(self.formula)]
        for name in self._names:
            value = np.asarray(getattr(self, name))
            text = np.array2string(value, precision=3, separator=", ")
            parts.append(f"{name}={text}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def is_stationary(self) -> bool:
        """Tells that nothing is supposed of the formula.

        Returns
        -------
        bool
            False: a formula does not say whether differences of points suffice.

        Examples
        --------
        >>> from tilefold.sklearn import FormulaKernel
        >>> k = FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1, l=(0.5, "fixed"))
        >>> k.is_stationary()
        False
        """
        return False

    # ---- values --------------------------------------------------------------

    def __call__(
        self,
        X: Any,
        Y: Any = None,
        eval_gradient: bool = False,
    ) -> Any:
        """Computes the matrix of points, which is stored.

        Parameters
        ----------
        X : array of shape (N, D)
            Points, of floats.
        Y : array of shape (M, D), optional
            Other points, of floats: X.
        eval_gradient : bool, default False
            Whether to give the derivatives by ``theta``, too.

        Returns
        -------
        array of shape (N, M), or a tuple
            The matrix; with derivatives of shape (N, N, n_dims).

        Raises
        ------
        ValueError
            For X or Y that is no finite array of two dimensions, for points of
            other numbers of components, and for a gradient with Y.

        Examples
        --------
        >>> from tilefold.sklearn import FormulaKernel
        >>> k = FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1, l=(0.5, "fixed"))
        >>> k(np.zeros((2, 1)), np.zeros((3, 1))).shape
        (2, 3)
        """
        rows = _points(X)
        columns = rows if Y is None else _points(Y)
        values = self._pair().matrix(rows, columns).dense()
        if not eval_gradient:
            return values
        if Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        shape = (len(rows), len(rows), len(self.theta))
        slopes = np.empty(shape, values.dtype)
        place = 0
        for hyperparameter in self.hyperparameters:
            if hyperparameter.fixed:
                continue
            for direction in _directions(getattr(self, hyperparameter.name)):
                slope = self._slope(hyperparameter.name, direction)
                slopes[..., place] = slope.matrix(rows).dense()
                place += 1
        return values, slopes

    def diag(self, X: Any) -> Any:
        """Computes the values of each point with itself, in O(N).

        Parameters
        ----------
        X : array of shape (N, D)
            Points, of floats.

        Returns
        -------
        array of shape (N,)
            The diagonal of the matrix.

        Raises
        ------
        ValueError
            For X that is no finite array of two dimensions.

        Examples
        --------
        >>> from tilefold.sklearn import FormulaKernel
        >>> k = FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1, l=(0.5, "fixed"))
        >>> k.diag(np.zeros((2, 1)))
        array([1., 1.])
        """
        return self._pair().matrix(_points(X)).diag()

    def lazy(self, X: Any, Y: Any = None) -> tilefold.Kernel:
        """Makes the matrix of points, which is not stored.

        Parameters
        ----------
        X : array of shape (N, D)
            Points, of floats.
        Y : array of shape (M, D), optional
            Other points, of floats: X.

        Returns
        -------
        tilefold.Kernel
            Of shape (N, M).

        Raises
        ------
        ValueError
            For points of other numbers of components, and of dtypes that are
            not computed with.

        Examples
        --------
        >>> from tilefold.sklearn import FormulaKernel
        >>> k = FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=1, l=(0.5, "fixed"))
        >>> k.lazy(np.zeros((2, 1))) @ np.ones(2)
        array([2., 2.])
        """
        return self._pair().matrix(X, Y)

    def _pair(self) -> PairFormula:
        formula, points, _ = pair_formula(self.formula)
        values = {name: getattr(self, name) for name in self._names}
        return PairFormula(formula, points, values)

    def _slope(self, name: str, direction: Any) -> PairFormula:
        """The derivative where one hyperparameter moves along a direction."""
        pair = self._pair()
        formula, tangent = _slope_formula(self.formula, name)
        return pair._replace(
            formula=formula, values={**pair.values, tangent: direction}
        )

    # ---- algebra -------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        if isinstance(other, FormulaKernel):
            return self._with("first + second", other)
        return super().__add__(other)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, FormulaKernel):
            return self._with("first*second", other)
        return super().__mul__(other)

    def _with(self, skeleton: str, other: FormulaKernel) -> FormulaKernel:
        """One formula of both, with the hyperparameters of both."""
        text, renamed = joined(skeleton, self.formula, other.formula)
        given = _without(self.get_params(), "formula")
        for name in other._names:
            new = renamed.get(name, name)
            given[new] = getattr(other, name)
            given[f"{new}{_BOUNDS}"] = getattr(other, f"{name}{_BOUNDS}")
        return FormulaKernel(text, **given)


@lru_cache(maxsize=256)
def joined(
    skeleton: str, first: str, second: str, taken: tuple[str, ...] = ()
) -> tuple[str, dict[str, str]]:
    """A formula of the two terms "first" and "second", of the same points.

    Also the names of the second that are others now: those that the first one
    has, or that are `taken`.
    """
    one, points, others = pair_formula(first)
    two, own_points, own_others = pair_formula(second)
    renamed = {
        own: point
        for own, point in zip(own_points, points, strict=True)
        if own != point
    }
    used = {*points, *others, *taken}
    for name in own_others:
        if name in used:
            renamed[name] = _unused(name, used | {*own_others})
        used.add(renamed.get(name, name))
    terms: Mapping[str, tuple[Formula, Mapping[str, str]]] = {
        "first": (one, {}),
        "second": (two, renamed),
    }
    return substituted(skeleton, terms), renamed


@lru_cache(maxsize=256)
def _slope_formula(text: str, name: str) -> tuple[Formula, str]:
    """The derivative along a direction, and the name of the direction."""
    formula, _, _ = pair_formula(text)
    direction = formula._unused_name("t")
    slope = substituted(
        f"jvp(operand, {name}, {direction})", {"operand": (formula, {})}
    )
    return tilefold.compile(slope), direction


def _directions(value: Any) -> list[Any]:
    """By which a value moves with the logarithm of each of its components."""
    numbers = np.asarray(value, np.float64)
    if numbers.ndim == 0:
        return [float(numbers)]
    return list(np.diag(numbers))


def _points(points: Any) -> Any:
    """Of float64 or float32, and of shape (N, D)."""
    return check_array(points, dtype=[np.float64, np.float32])


def _with_bounds(given: Any) -> tuple[Any, Any]:
    """A value and its bounds, of what the constructor is given."""
    if not isinstance(given, tuple) or len(given) != 2:
        return given, _DEFAULT_BOUNDS
    bounds = given[1]
    if isinstance(bounds, str):
        if bounds != "fixed":
            raise ValueError(
                f'bounds are a pair of numbers or "fixed", not {bounds!r}'
            )
        return given
    return given if np.ndim(bounds) else (given, _DEFAULT_BOUNDS)


def _unused(name: str, taken: set[str]) -> str:
    """The name with the first number that is not taken."""
    stem = name.rstrip("0123456789") or "p"
    number = 2
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"


def _without(params: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key != name}
