# bench/sklearn_problems.py - work for estimators, and what it must give.
"""Points, and the same estimator of scikit-learn and of tilefold.

`prepared` fits what is not timed and gives back the call that is. The library
is a namespace with both names of an estimator: `sklearn.neighbors` or
`tilefold.sklearn`; `exact` are the arguments by which scikit-learn's gives
exact results.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.neighbors import NeighborProblem
from bench.points import Array, GaussianProblem

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 0.3  # of the density's kernel
MOST_STEPS = 300  # of Lloyd's algorithm


def own_metric(x: Any, y: Any) -> Any:
    """A weighted sum of differences, as users write it."""
    return (np.arange(1, 9) * abs(x - y)).sum()


@dataclass(frozen=True)
class NearestProblem(NeighborProblem):
    """Distances and places of the nearest points, by Euclid's metric."""

    metric: Any = "euclidean"

    def prepared(self, library: Any, **exact: Any) -> Callable[[], Any]:
        """Keeps y, which is not timed."""
        search = library.NearestNeighbors(
            n_neighbors=self.count, metric=self.metric, **exact
        ).fit(self.y)
        search.kneighbors(self.x[:8])
        return lambda: search.kneighbors(self.x)

    def error(self, result: Any) -> float:
        """Of places as `NeighborProblem` has it, or of the distances.

        Those are compared with the ones of the places that were found.
        """
        distances, places = result
        rows, kept = self._rows, np.asarray(places)[self._rows]
        true = self._distances(np.take_along_axis(self._squares, kept, 1))
        off = np.abs(np.asarray(distances)[rows] - true) / true[:, -1:]
        return max(super().error(places), float(off.max()))

    def _distances(self, squares: Array) -> Array:
        return np.sqrt(squares)


@dataclass(frozen=True)
class OwnMetricProblem(NearestProblem):
    """The same by a Python function of two points."""

    metric: Any = own_metric

    @cached_property
    def _squares(self) -> Array:
        """The distances of the sampled rows, float64."""
        weights = np.arange(1, 9)
        return np.array(
            [(weights * abs(row - self.y)).sum(1) for row in self.x[self._rows]]
        )

    def _distances(self, squares: Array) -> Array:
        return squares


@dataclass(frozen=True)
class DensityProblem(GaussianProblem):
    """Logarithms of the density of y at x, a sum of Gaussians."""

    def prepared(self, library: Any, **exact: Any) -> Callable[[], Any]:
        """Keeps y, and builds the tree; neither is timed."""
        density = library.KernelDensity(bandwidth=WIDTH, **exact).fit(self.y)
        density.score_samples(self.x[:8])
        return partial(density.score_samples, self.x)

    def error(self, result: Any) -> float:
        """Largest difference of the logarithms of the sampled rows."""
        found = np.asarray(result)[self._rows]
        return float(np.abs(found - self._logarithms).max())

    @cached_property
    def _logarithms(self) -> Array:
        """In float64, without overflow."""
        exact, y = [], self.y.astype(np.float64)
        for row in self.x[self._rows].astype(np.float64):
            terms = -((row - y) ** 2).sum(1) / (2 * WIDTH**2)
            exact.append(np.logaddexp.reduce(terms))
        norm = 0.5 * self.given.d * np.log(2 * np.pi * WIDTH**2)
        return np.array(exact) - norm - np.log(self.given.m)


@dataclass(frozen=True)
class MeansProblem(GaussianProblem):
    """Means of x, from its first M points on, by Lloyd's algorithm."""

    def prepared(self, library: Any) -> Callable[[], Any]:
        """Compiles in one short run."""

        def fitted(steps: int) -> Any:
            return library.KMeans(
                self.given.m,
                init=self.x[: self.given.m],
                n_init=1,
                max_iter=steps,
            ).fit(self.x)

        fitted(1)
        return partial(fitted, MOST_STEPS)

    def error(self, result: Any) -> float:
        """That of the inertia beside plain steps in float64.

        Infinite where a label or the number of steps differs.
        """
        labels, inertia, steps = self._plain
        same = (result.labels_ == labels).all() and result.n_iter_ == steps
        return abs(result.inertia_ / inertia - 1) if same else float("inf")

    @cached_property
    def _plain(self) -> tuple[Array, float, int]:
        x, count = self.x, self.given.m
        centers, before = x[:count], np.full(len(x), -1)
        limit = 1e-4 * x.var(axis=0).mean()
        steps = 0
        while steps < MOST_STEPS:
            steps += 1
            labels = self._nearest(centers)[0]
            totals = np.bincount(labels, minlength=count)
            sums = [np.bincount(labels, one, count) for one in x.T]
            moved = np.stack(sums, axis=1) / totals[:, None]
            shift = ((moved - centers) ** 2).sum()
            centers = moved
            if (labels == before).all() or shift <= limit:
                break
            before = labels
        labels, squares = self._nearest(centers)
        return labels, float(squares.sum()), steps

    def _nearest(self, centers: Array) -> tuple[Array, Array]:
        """Labels and squared distances, without cancellation."""
        squares = np.zeros((len(self.x), len(centers)))
        for own, others in zip(self.x.T, centers.T, strict=True):
            squares += (own[:, None] - others) ** 2
        return squares.argmin(1), squares.min(1)
