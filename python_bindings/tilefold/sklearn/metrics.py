# python_bindings/tilefold/sklearn/metrics.py - distances as formulas.
"""`Metric`: what `metric`, `p` and `metric_params` of an estimator mean.

A metric is a name of scikit-learn's, a distance of tilefold's catalogue, a
formula in x_i and y_j, or a Python function of two points, which is traced
into one. Where it can be, neighbours are ranked by a power of the distance,
which costs less and has the same order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold import compile as compiled
from tilefold import kernel as lazy_kernel
from tilefold.errors import Error
from tilefold.sklearn.library import beside
from tilefold.trace import names_of, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tilefold import Formula, Kernel, Options, Ranges

__all__ = ["PRECOMPUTED", "Metric", "read_metric"]

# (what pairs are ranked by, and to which power of the distance it is)
_SQUARE = ("|x_i - y_j|²", 2.0)
_NAMES = {
    "euclidean": _SQUARE,
    "l2": _SQUARE,
    "sqeuclidean": ("|x_i - y_j|²", 1.0),
    "manhattan": ("manhattan(x_i, y_j)", 1.0),
    "l1": ("manhattan(x_i, y_j)", 1.0),
    "cityblock": ("manhattan(x_i, y_j)", 1.0),
    "chebyshev": ("chebyshev(x_i, y_j)", 1.0),
    "infinity": ("chebyshev(x_i, y_j)", 1.0),
    # Half the squared chord: exact for points that nearly agree, where
    # 1 - cos has lost its digits. A vector of zeros is at 1 from all.
    "cosine": (
        "where(min(|x_i|, |y_j|) > 0, |normalize(x_i) - normalize(y_j)|²/2, 1)",
        1.0,
    ),
    "haversine": ("haversine(x_i, y_j)", 1.0),
    "canberra": ("canberra(x_i, y_j)", 1.0),
    # The catalogue's bray_curtis is SciPy's, by |x + y| below: of vectors with
    # components of both signs they differ.
    "braycurtis": (
        "manhattan(x_i, y_j)*pinv(sum([abs(x_i)]) + sum([abs(y_j)]))",
        1.0,
    ),
    "hamming": ("sum([x_i != y_j])/D", 1.0),
    # Of truth values, which others are read as; two vectors of zeros agree.
    "jaccard": (
        "sum([(x_i != 0) != (y_j != 0)])*pinv(sum([x_i != 0 or y_j != 0]))",
        1.0,
    ),
    "correlation": (
        "|a/|a| - b/|b||²/2 with a = x_i - sum(x_i)/D, b = y_j - sum(y_j)/D",
        1.0,
    ),
    "seuclidean": ("sum([(x_i - y_j)*(x_i - y_j)/V])", 2.0),
}
_WITH_PARAMETERS = {"mahalanobis": ["A"]}
_NAME = re.compile(r"\w+")


@dataclass(frozen=True)
class Metric:
    """A distance of two points, as a formula of `rows`_i and `columns`_j.

    `formula` is the distance to the power `exponent`, which is what pairs
    are ranked by; `parameters` are its other arguments.
    """

    formula: str
    exponent: float = 1.0
    parameters: dict[str, Any] = field(default_factory=dict)
    rows: str = "x"
    columns: str = "y"

    def ranks(self, x: Any, y: Any, options: Options | None = None) -> Kernel:
        """The lazy (N, M) matrix that has the order of the distances."""
        points = {self.rows: x, self.columns: y}
        made = lazy_kernel(
            self.formula, {**self.parameters, **points}, options=options
        )
        if made.ndim == 3 and made.shape[2] == 1:
            made = made[..., 0]
        if made.ndim != 2:
            raise ValueError(
                f"the metric '{self.formula}' has {made.shape[2]} components "
                "for a pair of points; a distance is one number, as in "
                "'sum(abs(x_i - y_j))'"
            )
        return made

    def distances(
        self, x: Any, y: Any, options: Options | None = None
    ) -> Kernel:
        """The lazy (N, M) matrix of the distances."""
        ranks = self.ranks(x, y, options)
        if self.exponent == 1:
            return ranks
        if self.exponent == 2:
            return ranks**0.5
        return ranks ** (1 / self.exponent)

    def reduce(
        self,
        skeleton: str,
        x: Any,
        y: Any,
        options: Options | None = None,
        ranges: Ranges | None = None,
        **others: Any,
    ) -> Any:
        """A reduction in which `rank` stands for what ranks a pair.

        `others` are its further arguments, whose names start with `of_`, so
        that they are none of the metric's; `ranges` the pairs that meet.
        """
        formula = self.around(skeleton)
        points = {self.rows: x, self.columns: y}
        arguments = {**self.parameters, **points, **others}
        return formula(arguments, options=options, ranges=ranges)

    def around(self, skeleton: str) -> Formula:
        """A formula in which `rank` stands for what ranks a pair."""
        return _around(skeleton, self.formula)

    def power(self, exponent: float) -> str:
        """The distance to a power, in a reduction, as text."""
        power = exponent / self.exponent
        if power == 1:
            return "rank"
        return "sqrt(rank)" if power == 0.5 else f"rank^({power!r})"

    def rank_of(self, distance: float) -> float:
        """What a distance is ranked by."""
        return float(distance) ** self.exponent

    def distance_of(self, ranks: Any) -> Any:
        """The distances of an array of ranks."""
        if self.exponent == 1:
            return ranks
        return ranks ** (1 / self.exponent)


class _Given(Metric):
    """Distances that the caller has computed: the rows are those of points."""

    def ranks(self, x: Any, y: Any, options: Options | None = None) -> Kernel:
        """The lazy matrix of a matrix (N, M) in memory; `y` is not read."""
        del y
        numbers = (beside(np.arange(size), x) for size in x.shape)
        arguments = dict(zip("drc", (x, *numbers), strict=True))
        return lazy_kernel(self.formula, arguments, options=options)


PRECOMPUTED = _Given("d[r_i, c_j]")


def read_metric(
    metric: str | Callable[..., Any],
    features: int,
    parameters: Mapping[str, Any] | None = None,
    p: float | None = 2,
) -> Metric:
    """The metric that an estimator's parameters mean.

    `features` is how many components points have, `p` the exponent of
    "minkowski" where `parameters` say no other.

    Raises `ValueError` for a name that nobody knows, parameters that are
    missing or not the metric's, and functions that cannot be traced.
    """
    given = dict(parameters or {})
    if callable(metric):
        return _of_function(metric, features, given)
    if metric == "minkowski":
        return _minkowski(given, p)
    if metric == "precomputed":
        raise ValueError(
            "metric='precomputed' is not read here, where points are needed: "
            "pass the points and a metric; the estimators of neighbours take "
            "distances"
        )
    if metric == "haversine" and features != 2:
        raise ValueError(
            "Haversine distance only valid in 2 dimensions: expected latitude "
            f"and longitude in radians, but X has {features} features"
        )
    formula, exponent = _NAMES.get(metric, ("", 1.0))
    if not formula:
        formula = _catalogue(metric) if _NAME.fullmatch(metric) else metric
    needed = _other_names(formula)
    # A formula may be given σ and call it sigma.
    axes_of = compiled(formula)._axes_of
    given = {axes_of(name)[0]: value for name, value in given.items()}
    _check_names(metric, needed, given)
    return Metric(formula, exponent, given)


@lru_cache(maxsize=256)
def _around(skeleton: str, formula: str) -> Formula:
    rows: list[tuple[str, Formula, dict[str, str]]]
    rows = [("rank", compiled(formula), {})]
    return compiled(compiled(skeleton)._substitute(rows))


@lru_cache(maxsize=256)
def _other_names(text: str) -> frozenset[str]:
    """What a formula of x_i and y_j reads beside them."""
    try:
        formula = compiled(text)
    except Error as error:
        raise ValueError(f"the metric {text!r} is no formula: {error}") from (
            error
        )
    names = dict(formula.names)
    axes = {name: bits for name, bits in names.items() if bits}
    if axes != {"x": 1, "y": 2} or not formula._is_pair_term:
        raise ValueError(
            f"the metric {text!r} is no distance of the points x_i and y_j; "
            "write it of both and without a reduction, as in "
            "'sum(abs(x_i - y_j))'"
        )
    if formula._reads_index(1) or formula._reads_index(2):
        raise ValueError(
            f"the metric {text!r} reads i or j, the numbers of points, which "
            "are others in each call; write it of the points alone"
        )
    return frozenset(names) - {"x", "y"}


def _minkowski(given: dict[str, Any], p: float | None) -> Metric:
    p = given.pop("p", p)
    w = given.pop("w", None)
    _check_names("minkowski", (), given)
    p = 2 if p is None else p
    if not p > 0:
        raise ValueError(f"minkowski's p must be greater than 0, got {p}")
    if w is None and p in (1, 2, np.inf):
        names = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
        return Metric(*_NAMES[names[p]])
    if p == np.inf:
        return Metric("max(w*abs(x_i - y_j))", 1.0, {"w": np.asarray(w)})
    term = "pow(abs(x_i - y_j), p)"
    if w is None:
        return Metric(f"sum([{term}])", float(p), {"p": float(p)})
    held = {"p": float(p), "w": np.asarray(w, dtype=np.float64)}
    return Metric(f"sum([w*{term}])", float(p), held)


def _catalogue(name: str) -> str:
    """The formula of a distance of the catalogue."""
    known = _core.named_distances()
    if name in known:
        return f"{name}(x_i, y_j)"
    if name in _WITH_PARAMETERS:
        return f"{name}(x_i, y_j, {', '.join(_WITH_PARAMETERS[name])})"
    names = sorted({*_NAMES, *known, *_WITH_PARAMETERS, "minkowski"})
    raise ValueError(
        f"unknown metric {name!r}; pass one of {', '.join(names)}, a formula "
        "in x_i and y_j such as 'sum(abs(x_i - y_j))', or a function of two "
        "points"
    )


def _check_names(
    metric: str, needed: Iterable[str], given: Mapping[str, Any]
) -> None:
    for name in sorted(set(needed) - set(given)):
        raise ValueError(
            f"metric {metric!r} has no value for {name!r}; pass "
            f"metric_params={{{name!r}: …}}"
        )
    for name in sorted(set(given) - set(needed)):
        raise ValueError(
            f"metric_params has {name!r}, which metric {metric!r} does not "
            "read; leave it away"
        )


def _of_function(
    function: Callable[..., Any], features: int, given: dict[str, Any]
) -> Metric:
    """Traced once with two points, and never called for a pair."""
    names = names_of(function)
    first, second = names[:2] if len(names) > 1 else ("x", "y")
    point = np.zeros((1, features))
    points = {first: point, second: point}
    title = getattr(function, "__name__", type(function).__name__)
    try:
        formula, arguments = trace(function, {**given, **points})
        compiled(formula)
    except Exception as error:
        raise ValueError(
            f"the metric {title} cannot be read as a formula: {error}. Write "
            "it with operators and NumPy's functions, without branches on "
            "values, or as a formula such as 'sum(abs(x_i - y_j))'"
        ) from error
    values = {k: v for k, v in arguments.items() if k not in points}
    return Metric(formula, 1.0, values, first, second)
