# tests/python/test_pickling.py - what is sent to other processes, and weak
# references.
from __future__ import annotations

import copy
import pickle
import weakref

import joblib
import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE

X = np.random.default_rng(0).random((50, 3))
GAUSSIAN = "exp(-|x_i - x_j|²)"


def again(value):
    return pickle.loads(pickle.dumps(value))


def count(done, total):
    """A progress callback that pickle finds by its name."""


def half() -> tilefold.Ranges:
    return tilefold.Ranges([0, 25, 50], [0, 10, 50], np.eye(2, dtype=bool))


SETTINGS = {
    "threads": 1,
    "cache_directory": "",
    "cache_size": 2**30,
    "cache_key_file": "secret",
    "isa": "x86-64-v3",
    "log": False,
    "tune": True,
    "cuda_driver": "libcuda.so.1",
    "nvrtc": "libnvrtc.so",
    "tolerance": 1e-6,
    "devices": "",
    "device_bytes": 2**20,
    "segment": 8192,
}


def test_options():
    plan = tilefold.compile("sum_j x_i·x_j").plans(x=X)[0]
    options = tilefold.Options(**SETTINGS, plan=plan, progress=count, stream=3)
    for other in (again(options), copy.copy(options), copy.deepcopy(options)):
        assert repr(other) == repr(options)
        assert {name: getattr(other, name) for name in SETTINGS} == SETTINGS
        # The callback and the stream are not told, but they are there.
        _, arguments = (
            other.__reduce__()[0].args,
            other.__reduce__()[0].keywords,
        )
        assert arguments["progress"] is count
        assert arguments["stream"] == 3
    assert repr(again(tilefold.Options())) == "tilefold.Options()"


@pytest.mark.parametrize(
    "ranges",
    [
        half(),
        half().T,
        tilefold.Ranges([0, 2, 5], [0, 3], np.ones((4, 1, 2, 1), bool)),
        tilefold.Ranges([[1, 3]], [[0, 2], [5, 9]], [[False, True]]),
        tilefold.Ranges.from_intervals(
            [[0, 25], [30, 31]], [0, 2, 2], [[0, 9], [30, 50]]
        ),
        tilefold.Ranges([], [], np.zeros((0, 0), bool)),
    ],
    ids=repr,
)
def test_ranges(ranges):
    for other in (again(ranges), copy.copy(ranges), copy.deepcopy(ranges)):
        assert other.batch == ranges.batch
        assert other.pairs == ranges.pairs
        np.testing.assert_array_equal(other.mask(50, 50), ranges.mask(50, 50))
        np.testing.assert_array_equal(
            other.T.mask(50, 50), ranges.T.mask(50, 50)
        )


def test_a_session_is_its_settings():
    session = tilefold.Session(tilefold.Options(threads=1, progress=count))
    other = again(session)
    assert other.threads == 1
    assert repr(other.options) == repr(session.options)
    assert again(session) is other  # in a process, one for the same settings
    default = tilefold._core.default_session()
    assert again(default) is default
    assert again(tilefold.Session()).threads == default.threads


def test_a_formula_keeps_its_session():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile("sum_j exp(-|x_i - x_j|²)", session=session)
    g = again(f.grad("x"))
    np.testing.assert_array_equal(g(x=X, grad=1.0), f.grad("x")(x=X, grad=1.0))
    assert again(session).stats().compiles == 1


KERNELS = {
    "plain": lambda: tilefold.kernel(GAUSSIAN, x=X),
    "transposed": lambda: tilefold.kernel("x_i[0]*x_j[1]", x=X).T,
    "settings": lambda: tilefold.kernel(
        GAUSSIAN,
        x=X,
        session=tilefold.Session(tilefold.Options(threads=1)),
        options=tilefold.Options(isa=PORTABLE[0]),
        ranges=half(),
    ),
    "roles": lambda: tilefold.kernel(
        "exp(-|u - v|²)", u=tilefold.Vi(X), v=tilefold.Vj(tilefold.quantize(X))
    ),
    "combined": lambda: 2 * tilefold.kernel(GAUSSIAN, x=X).add_diag(0.5)[3:],
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    kernel = KERNELS[name]()
    kernel.sum(1)  # what it has compiled is no part of it
    for other in (again(kernel), copy.copy(kernel), copy.deepcopy(kernel)):
        assert other.shape == kernel.shape
        np.testing.assert_array_equal(other @ np.ones(50), kernel @ np.ones(50))


def product(kernel: tilefold.Kernel, column: np.ndarray) -> np.ndarray:
    return kernel @ column


def test_joblib_sends_kernels_formulas_and_functions():
    kernel = KERNELS["settings"]()
    columns = np.random.default_rng(1).random((50, 3))
    workers = joblib.Parallel(n_jobs=2)
    found = workers(joblib.delayed(product)(kernel, b) for b in columns.T)
    np.testing.assert_array_equal(np.stack(found, 1), kernel @ columns)
    text = "sum_j exp(-|x_i - x_j|²)"
    for call in (tilefold.reduce, tilefold.compile(text)):
        positional = (text,) if call is tilefold.reduce else ()
        found = workers(
            joblib.delayed(call)(*positional, x=x) for x in (X, 2 * X)
        )
        for x, one in zip((X, 2 * X), found, strict=True):
            np.testing.assert_array_equal(one, tilefold.reduce(text, x=x))
    joblib.externals.loky.get_reusable_executor().shutdown()


REFERRED = {
    "Bound": lambda: tilefold.compile("sum_j x_j").bind(x=X),
    "Clusters": lambda: tilefold.Clusters(X, size=0.5),
    "Formula": lambda: tilefold.compile("sum_j x_j"),
    "Kernel": lambda: tilefold.kernel(GAUSSIAN, x=X),
    "Lazy": lambda: tilefold.lazy(X, axis="i"),
    "Options": tilefold.Options,
    "Quantized": lambda: tilefold.quantize(X),
    "Ranges": half,
    "Role": lambda: tilefold.Vi(X),
    "Session": tilefold.Session,
}


@pytest.mark.parametrize("name", REFERRED)
def test_weak_references(name):
    value = REFERRED[name]()
    reference = weakref.ref(value)
    assert reference() is value
    assert type(value).__name__ == name
    del value
    assert reference() is None
