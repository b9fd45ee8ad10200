# python_bindings/tilefold/sklearn/pair_formula.py - a kernel's formula.
"""`PairFormula`: a formula of two points, and the values of its other names."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.utils._array_api import get_namespace

from tilefold import Formula, Kernel
from tilefold import compile as compiled
from tilefold import kernel as lazy_kernel
from tilefold.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold import Options

__all__ = [
    "NAMED",
    "ON_POSITIVE",
    "PairFormula",
    "pair_formula",
    "refuse_complex",
    "substituted",
]

_DIFFERENCES = "sum([square(x_i - y_j)*pinv(x_i + y_j)])"
# scikit-learn's names: a formula, and gamma where it is not 1/D unless said.
NAMED: dict[str, tuple[str, float | None]] = {
    "additive_chi2": (f"-{_DIFFERENCES}", None),
    "chi2": (f"exp(-gamma*{_DIFFERENCES})", 1.0),
    "cosine": ("x_i·y_j*pinv(|x_i||y_j|)", None),
    "laplacian": ("exp(-gamma*sum([abs(x_i - y_j)]))", None),
    "linear": ("x_i·y_j", None),
    "poly": ("(gamma*(x_i·y_j) + coef0)^{degree}", None),
    "polynomial": ("(gamma*(x_i·y_j) + coef0)^{degree}", None),
    "rbf": ("exp(-gamma*|x_i - y_j|²)", None),
    "sigmoid": ("tanh(gamma*(x_i·y_j) + coef0)", None),
}
# Those of vectors without negative components.
ON_POSITIVE = ("additive_chi2", "chi2")


class PairFormula(NamedTuple):
    """A kernel of two points: a pair term, and the values it reads.

    `points` are the names of the first point, on i, and of the second, on j;
    `values` those of all other names; `is_positive` says that it is one of
    vectors without negative components.
    """

    formula: Formula
    points: tuple[str, str]
    values: dict[str, Any]
    is_positive: bool = False

    def matrix(
        self, rows: Any, columns: Any = None, options: Options | None = None
    ) -> Kernel:
        """The lazy (N, M) matrix of points (N, D) and (M, D).

        Without `columns` it is that of the rows with themselves. What is true
        or not is 1 or 0, of the points' dtype. Raises `ValueError` where a pair
        has several values or a complex one, for names without one, and for
        points that the kernel does not take.
        """
        columns = rows if columns is None else columns
        if self.is_positive:
            for points in (rows, columns):
                if get_namespace(points)[0].any(points < 0):
                    raise ValueError(
                        "X contains negative values, of which chi-squared "
                        "kernels know nothing"
                    )
        first, second = self.points
        arguments = {**self.values, first: rows, second: columns}
        try:
            matrix = lazy_kernel(self.formula, arguments, options=options)
            if matrix._pair.dtype == "bool":
                number = _as_number(self.formula)
                matrix = lazy_kernel(number, arguments, options=options)
        except Error as error:
            raise ValueError(str(error)) from error
        if matrix.ndim == 3 and matrix.shape[2] == 1:
            matrix = matrix[..., 0]
        if matrix.ndim != 2:
            raise ValueError(
                f"the kernel '{self.formula.text}' is no number for each pair "
                f"of points: its matrix has the shape {matrix.shape}"
            )
        refuse_complex(matrix, self.formula.text)
        return matrix


def refuse_complex(matrix: Kernel, kernel: str) -> None:
    """Raises `ValueError` for a matrix that no estimator computes with."""
    if matrix._is_complex:
        raise ValueError(
            f"the kernel {kernel!r} is complex where a real number is needed: "
            "take real(…), imag(…) or |…| of it"
        )


def substituted(
    skeleton: str, terms: Mapping[str, tuple[Formula, Mapping[str, str]]]
) -> str:
    """The text of `skeleton`, in which names stand for pair terms.

    Each term has with it the names of its arguments that are changed.
    """
    rows = [(name, term, dict(new)) for name, (term, new) in terms.items()]
    return compiled(skeleton)._substitute(rows)


@lru_cache(maxsize=256)
def _as_number(term: Formula) -> Formula:
    """1 where a pair term is true, else 0, of the dtype of what it reads.

    NumPy refuses to add to truths in place, and to decompose them. A product
    of vectors has the dtype of the points; where(…, 1, 0) would be double.
    """
    return compiled(substituted("[operand]·[1]", {"operand": (term, {})}))


@lru_cache(maxsize=256)
def pair_formula(text: str) -> tuple[Formula, tuple[str, str], tuple[str, ...]]:
    """A pair term by its text: formula, names of points, other names.

    Raises `ValueError` for what is no formula of one point on i and one on j.
    """
    try:
        formula = compiled(text)
    except Error as error:
        raise ValueError(
            f"the kernel {text!r} is no formula: {error}"
        ) from error
    names = dict(formula.names)
    both = [name for name, axes in names.items() if axes == 3]
    if both:  # x_i and x_j: two points of one name
        renamed = {name: formula._unused_name("y") for name in both}
        formula = compiled(formula._select(2, renamed, "", "", ""))
        names = dict(formula.names)
    rows = [name for name, axes in names.items() if axes == 1]
    columns = [name for name, axes in names.items() if axes == 2]
    if len(rows) != 1 or len(columns) != 1 or not formula._is_pair_term:
        raise ValueError(
            f"{text!r} is no kernel: pass a name of scikit-learn's "
            f"({', '.join(NAMED)}) or of tilefold's catalogue, a formula of "
            "two points without a reduction, as in 'exp(-|x_i - y_j|²/2l²)', "
            "or a function of two points"
        )
    if formula._reads_index(1) or formula._reads_index(2):
        raise ValueError(
            f"the kernel {text!r} reads i or j, the numbers of points, which "
            "are others in each call: write it of the points alone"
        )
    others = tuple(name for name, axes in names.items() if axes == 0)
    return formula, (rows[0], columns[0]), others
