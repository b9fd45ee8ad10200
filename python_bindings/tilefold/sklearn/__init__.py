# python_bindings/tilefold/sklearn/__init__.py - estimators of scikit-learn.
"""Estimators of scikit-learn whose matrices are formulas, never stored."""

from tilefold.needed import require

require("sklearn")

from tilefold.sklearn.density import KernelDensity
from tilefold.sklearn.formula_kernel import FormulaKernel
from tilefold.sklearn.gaussian_process import GaussianProcessRegressor
from tilefold.sklearn.kernel_ridge import KernelRidge
from tilefold.sklearn.kmeans import KMeans
from tilefold.sklearn.kmedoids import KMedoids
from tilefold.sklearn.mean_shift import MeanShift
from tilefold.sklearn.neighbors import NearestNeighbors
from tilefold.sklearn.neighbors_graph import (
    KNeighborsTransformer,
    RadiusNeighborsTransformer,
)
from tilefold.sklearn.neighbors_predict import (
    KNeighborsClassifier,
    KNeighborsRegressor,
)
from tilefold.sklearn.nystroem import Nystroem, NystroemRidge
from tilefold.sklearn.radius_predict import (
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from tilefold.sklearn.spectral import SpectralClustering

__all__ = [
    "FormulaKernel",
    "GaussianProcessRegressor",
    "KMeans",
    "KMedoids",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "KernelDensity",
    "KernelRidge",
    "MeanShift",
    "NearestNeighbors",
    "Nystroem",
    "NystroemRidge",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RadiusNeighborsTransformer",
    "SpectralClustering",
]
