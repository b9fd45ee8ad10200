# bench/tasks/keops_programs/task.py - KeOps's tutorials and benchmarks.
"""What the tutorials, examples and benchmarks of KeOps compute, run by pykeops
and, the same lines, by tilefold in its place (`tilefold.compat.pykeops`), at
the sizes that they have on a CPU. Errors are of norms, beside float64 computed
densely; of indices, the share that differs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from bench import keops_benchmarks as benchmarks
from bench import keops_programs as programs
from bench.case import Case
from bench.keops_programs import normal, uniform

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Programs of KeOps"
TABLE = "sweep"


@dataclass(frozen=True)
class Program:
    """A computation of bench/keops_programs.py or bench/keops_benchmarks.py.

    `exact` is its dense counterpart; `make(random, few)` gives its arrays, as
    float64.
    """

    name: str
    title: str
    make: Callable[..., tuple[Any, ...]]
    compute: Callable[..., Any]
    exact: Callable[..., Any]
    tolerance: float = 1e-4
    backend: str = "torch"
    dtype: str = "float32"


@dataclass(frozen=True)
class ProgramProblem:
    """A program with its data."""

    program: Program
    few: bool

    @property
    def pairs(self) -> float:
        """Not counted: programs make several reductions."""
        return 0.0

    @property
    def sizes(self) -> dict[str, Any]:
        """The side, the type, and the lengths of the arrays."""
        shapes = [np.shape(each) for each in self.drawn]
        return {"side": self.program.backend, "shapes": str(shapes)}

    @cached_property
    def drawn(self) -> tuple[Any, ...]:
        """The arrays, of the program's dtype."""
        arrays = self.program.make(np.random.default_rng(40), self.few)
        return tuple(
            each.astype(self.program.dtype)
            if np.asarray(each).dtype.kind == "f"
            else each
            for each in map(np.asarray, arrays)
        )

    @property
    def data(self) -> list[Any]:
        """The arrays on the program's side."""
        if self.program.backend == "numpy":
            return list(self.drawn)
        return [torch.from_numpy(each.copy()) for each in self.drawn]

    def error(self, results: Any) -> float:
        """The largest of |r − o| / |o| over the results.

        Of results of integers, the share that differs.
        """
        doubles = [
            torch.from_numpy(np.asarray(each, dtype=np.float64))
            for each in self.drawn
        ]
        exact = self.program.exact(*doubles)
        pairs = zip(_several(results), _several(exact), strict=True)
        return max(_distance(found, right) for found, right in pairs)


def _several(results: Any) -> list[Any]:
    many = results if isinstance(results, tuple | list) else [results]
    return [
        each.detach().numpy()
        if isinstance(each, torch.Tensor)
        else np.asarray(each)
        for each in many
    ]


def _distance(found: Any, right: Any) -> float:
    if found.dtype.kind in "iu":
        return float((found.reshape(right.shape) != right).mean())
    norm = np.linalg.norm(right)
    away = np.linalg.norm(found.reshape(right.shape) - right) / norm
    return float(np.nan_to_num(away, nan=np.inf))


def _of(stem: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions of a program, and of its exact counterpart."""
    module = programs if hasattr(programs, stem) else benchmarks
    return getattr(module, stem), getattr(module, stem + "_exact")


def _surface(random: Any, few: bool) -> tuple[Any, ...]:
    points = random.normal(size=(20 if few else 400, 3))
    return points, 0.05 * random.normal(size=points.shape)


def _batched(random: Any, few: bool) -> tuple[Any, ...]:
    m, n = (20, 30) if few else (1000, 2000)
    shapes = [(7, 3, m, 1, 10), (1, 1, m, 1, 10), (1, 3, 1, n, 10)]
    arrays = [random.normal(size=shape) for shape in shapes]
    return *arrays, random.random((7, 1, 1, 1, 1))


def _gaussians(random: Any, few: bool) -> tuple[Any, ...]:
    roots = 15 * np.eye(2) + random.normal(size=(30, 2, 2))
    points = random.random((200 if few else 10_000, 2))
    return points, random.random((30, 2)), roots, random.normal(size=(30, 1))


def _scales(random: Any, few: bool) -> tuple[Any, ...]:
    m, n = (50, 100) if few else (1000, 2000)
    arrays = [random.normal(size=shape) for shape in ((m, 3), (n, 3), (n, 4))]
    return *arrays, np.array([0.5, 1.0, 2.0, 4.0])


def _radial(random: Any, few: bool) -> tuple[Any, ...]:
    shapes = [(10_000, 3)] * 3
    return *normal(*shapes)(random, few), np.array([2.4])


def _radial_gradients(random: Any, few: bool) -> tuple[Any, ...]:
    shapes = [(10_000, 3)] * 4
    *points, a = uniform(*shapes)(random, few)
    return *points, np.array([0.4]), a


NUMPY = {"backend": "numpy"}
DOUBLE = {"backend": "numpy", "dtype": "float64"}
PROGRAMS = [
    Program(
        "nearest",
        "a_LazyTensors a: nearest points",
        uniform((1000, 2), (2000, 2)),
        *_of("nearest"),
        **DOUBLE,
    ),
    Program(
        "laplacian",
        "a_LazyTensors a: Laplacian kernel, two gradients",
        normal((1000, 10), (2000, 10), (2000, 4)),
        *_of("laplacian"),
    ),
    Program("batches", "a_LazyTensors a: batches", _batched, *_of("batches")),
    Program(
        "reductions",
        "a_LazyTensors b: fourteen reductions",
        normal((1000, 3), (2000, 3)),
        *_of("reductions"),
        tolerance=2e-3,
    ),
    Program(
        "ridge",
        "a_LazyTensors b: a system and its gradient",
        normal((1000, 3), (1000, 4)),
        *_of("ridge"),
        tolerance=1e-3,
    ),
    Program(
        "helpers",
        "a_LazyTensors c: Vi, Vj, Pm and symbols",
        _scales,
        *_of("helpers"),
    ),
    Program(
        "kmeans",
        "kmeans: ten steps, 50 classes of 10,000 points",
        normal((10_000, 2)),
        *_of("kmeans"),
        **DOUBLE,
    ),
    Program(
        "classes",
        "knn: 1, 3, 10, 20 and 50 neighbours of 10,000 points",
        uniform((10_000, 2), (1000, 2)),
        *_of("classes"),
        tolerance=1e-3,
    ),
    Program(
        "kriging",
        "interpolation: a system and its values on a grid",
        uniform((1000, 2), (1000, 1), (10_201, 2)),
        *_of("kriging"),
        **DOUBLE,
    ),
    Program(
        "mixture",
        "gaussian_mixture: likelihood and its gradients",
        _gaussians,
        *_of("mixture"),
        tolerance=1e-3,
    ),
    Program(
        "spectrum",
        "backends: eigenvalues by SciPy",
        programs.ring,
        *_of("spectrum"),
        **NUMPY,
    ),
    Program(
        "shooting",
        "surface_registration: a flow and its gradient",
        _surface,
        *_of("shooting"),
        tolerance=1e-3,
    ),
    Program(
        "formula",
        "examples: an advanced formula",
        normal((2,), (1000, 3), (2000, 3)),
        *_of("formula"),
    ),
    Program(
        "anisotropic",
        "examples: anisotropic kernels",
        uniform((10_000, 2), (30, 2), (30, 1), (30, 4)),
        *_of("anisotropic"),
    ),
    Program(
        "vector_weights",
        "examples: LogSumExp with vectors, and its gradient",
        uniform((3000, 1), (5000, 1), (5000, 1), (1,), (5000, 3)),
        *_of("vector_weights"),
    ),
    Program(
        "softmax",
        "examples: SumSoftMaxWeight",
        normal((500, 3), (400, 3), (400, 2)),
        *_of("softmax"),
    ),
    Program(
        "deconvolution",
        "examples: KernelSolve and its gradient",
        uniform((500, 2), (500, 2)),
        *_of("deconvolution"),
        tolerance=1e-2,
    ),
    Program(
        "neighbours",
        "examples: ArgKMin of 20,000 points",
        uniform((20_000, 2)),
        *_of("neighbours"),
        tolerance=1e-3,
        **NUMPY,
    ),
    Program(
        "sparse",
        "examples: block-sparse sums by grid_cluster",
        uniform((2000, 2), (2000, 2), (2000, 1)),
        *_of("sparse"),
        **NUMPY,
    ),
    Program(
        "gauss",
        "benchmarks: Gaussian product, 10,000 points",
        normal((10_000, 3), (10_000, 3), (10_000, 1)),
        *_of("gauss"),
    ),
    Program(
        "gradient",
        "benchmarks: its gradient",
        normal((10_000, 3), (10_000, 3), (10_000, 1)),
        *_of("gradient"),
        tolerance=1e-3,
    ),
    Program(
        "high_dimension",
        "benchmarks: Gaussian product of D = 100",
        lambda random, few: tuple(
            0.1 * each
            for each in normal((5000, 100), (5000, 100), (5000, 1))(random, few)
        ),
        *_of("high_dimension"),
    ),
    Program(
        "radial",
        "benchmarks: products with four radial kernels, 10,000 points",
        _radial,
        *_of("radial"),
    ),
    Program(
        "radial_gradients",
        "benchmarks: their gradients",
        _radial_gradients,
        *_of("radial_gradients"),
        tolerance=1e-3,
    ),
    Program(
        "clouds",
        "benchmarks: Gaussian products of 10 clouds of 2,000 points",
        normal((10, 2000, 3), (10, 2000, 3), (10, 2000, 1)),
        benchmarks.clouds,
        benchmarks.gauss_exact,
    ),
    Program(
        "accumulated",
        "benchmarks: one sum by four ways to accumulate it",
        normal((10_000, 3), (10_000, 3), (10_000, 1)),
        *_of("accumulated"),
    ),
    Program(
        "inverse",
        "benchmarks: KernelSolve, 5,000 points",
        normal((5000, 3), (5000, 1)),
        *_of("inverse"),
    ),
    Program(
        "inverse_scipy",
        "benchmarks: KernelSolve and SciPy's conjugate gradients, 5,000 points",
        normal((5000, 3), (5000, 1)),
        *_of("inverse_scipy"),
        **NUMPY,
    ),
    Program(
        "metrics",
        "benchmarks: 10 neighbours of 10,000 points by four distances",
        uniform((10_000, 10), (10_000, 10)),
        *_of("metrics"),
        tolerance=1e-3,
    ),
    Program(
        "sinkhorn",
        "geomloss: ten steps of Sinkhorn, 5,000 points",
        uniform((5000, 3), (5000, 3)),
        *_of("sinkhorn"),
    ),
]


def _make(program: Program, quick: bool) -> ProgramProblem:
    return ProgramProblem(program, quick)


CASES = [
    Case(
        name=f"keops_programs_{program.name}",
        title=program.title,
        problem=partial(_make, program),
        tolerance=program.tolerance,
        samples=7,
    )
    for program in PROGRAMS
]
