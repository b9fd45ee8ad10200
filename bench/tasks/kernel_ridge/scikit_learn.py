# bench/tasks/kernel_ridge/scikit_learn.py - the matrix in memory.
"""scikit-learn."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from bench.kernel_machines import GAMMA, Clusters, Features, Ridge
from sklearn.cluster import SpectralClustering
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ("scikit-learn", "scipy")
SAMPLES = 5


@singledispatch
def prepare(problem: Any) -> Callable[[], Any]:
    """What is timed, by the kind of problem."""
    raise TypeError(problem)


@prepare.register(Ridge)
def _(problem: Ridge) -> Callable[[], Any]:
    x, y = problem.data
    model = KernelRidge(alpha=problem.alpha, kernel="rbf", gamma=GAMMA)
    return lambda: model.fit(x, y).dual_coef_


@prepare.register(Features)
def _(problem: Features) -> Callable[[], Any]:
    x, _ = problem.data
    model = Nystroem(gamma=GAMMA, n_components=problem.centres, random_state=0)
    return lambda: model.fit_transform(x)


@prepare.register(Clusters)
def _(problem: Clusters) -> Callable[[], Any]:
    x, _ = problem.data
    model = SpectralClustering(2, gamma=30.0, random_state=0)
    return lambda: model.fit(x).labels_
