# python_bindings/tilefold/sklearn/cluster_seeding.py - where clusters start.
"""Greedy k-means++ for any metric, one pass over the points a candidate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold.sklearn.library import as_numpy, beside

if TYPE_CHECKING:
    from tilefold import Options
    from tilefold.sklearn.metrics import Metric

__all__ = ["plus_plus"]


def plus_plus(
    metric: Metric,
    x: Any,
    count: int,
    weights: Any,
    random: np.random.RandomState,
    exponent: float,
    options: Options | None = None,
) -> Any:
    """Numbers of `count` points of x (N, D), far from one another.

    Each is the best of 2 + log(count) candidates, which are drawn with
    probabilities proportional to weights (N,), NumPy's, times the distance
    to the nearest one before, to the power `exponent`: Arthur and
    Vassilvitskii 2007, as scikit-learn draws them.
    """
    points = as_numpy(x)
    trials = 2 + int(math.log(count))
    cost = metric.power(exponent)
    beside_weights = beside(weights, x)

    def costs_to(chosen: Any) -> Any:
        """Of each point (N,) to the one that is chosen."""
        one = beside(points[[chosen]], x)
        return as_numpy(metric.reduce(f"min_j({cost})", x, one, options))

    found = np.empty(count, dtype=np.int64)
    found[0] = random.choice(len(points), p=weights / weights.sum())
    least = costs_to(found[0])
    potential = least @ weights
    for place in range(1, count):
        drawn = random.uniform(size=trials) * potential
        candidates = np.searchsorted(
            np.cumsum(weights * least, dtype=np.float64), drawn
        )
        candidates = np.minimum(candidates, len(points) - 1)
        potentials = metric.reduce(
            f"sum_i(min(of_least_i, {cost})*of_weight_i)",
            x,
            beside(points[candidates], x),
            options,
            of_least=beside(least, x),
            of_weight=beside_weights,
        )
        best = int(as_numpy(potentials).argmin())
        potential = as_numpy(potentials)[best]
        found[place] = candidates[best]
        least = np.minimum(least, costs_to(found[place]))
    return found
