# bench/tasks/kernel_ridge/tilefold.py - estimators whose matrices are formulas.
"""tilefold.sklearn."""

from __future__ import annotations

import warnings
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from bench.kernel_machines import GAMMA, Clusters, Features, OnCentres, Ridge
from sklearn.exceptions import ConvergenceWarning

from tilefold import sklearn

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ("scikit-learn", "scipy", "tilefold")
FEW = 600  # points on which kernels are compiled beforehand


@singledispatch
def prepare(problem: Any) -> Callable[[], Any]:
    """What is timed, by the kind of problem."""
    raise TypeError(problem)


@prepare.register(Ridge)
def _(problem: Ridge) -> Callable[[], Any]:
    x, y = problem.data
    model = sklearn.KernelRidge(
        problem.alpha, kernel="rbf", gamma=GAMMA, direct_below=0
    )
    model.fit(x[:FEW], y[:FEW])
    return lambda: model.fit(x, y).dual_coef_


@prepare.register(Features)
def _(problem: Features) -> Callable[[], Any]:
    x, _ = problem.data
    model = sklearn.Nystroem(
        gamma=GAMMA, n_components=problem.centres, random_state=0
    )
    model.fit_transform(x[:FEW])
    return lambda: model.fit_transform(x)


@prepare.register(OnCentres)
def _(problem: OnCentres) -> Callable[[], Any]:
    x, y = problem.data
    model = sklearn.NystroemRidge(
        problem.centres,
        problem.alpha,
        gamma=GAMMA,
        max_iter=problem.steps,
        tol=1e-7,
        random_state=0,
    )
    warnings.simplefilter("ignore", ConvergenceWarning)  # after 20 steps
    model.fit(x[:FEW], y[:FEW]).predict(x[:FEW])
    return lambda: model.fit(x, y).predict(x[problem.rows])


@prepare.register(Clusters)
def _(problem: Clusters) -> Callable[[], Any]:
    x, _ = problem.data
    model = sklearn.SpectralClustering(2, gamma=30.0, random_state=0)
    model.fit(x[:FEW])
    return lambda: model.fit(x).labels_
