# tests/python/test_conventions.py - kernels and results beside arrays of other
# libraries, as those libraries and NumPy have it.
from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import array_api_strict
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import threadpoolctl
import torch
from sklearn.externals.array_api_compat import array_namespace

import tilefold
import tilefold.pandas
import tilefold.threads

RANDOM = np.random.default_rng(8)
N, M = 12, 9
X, Y = RANDOM.normal(size=(N, 2)), RANDOM.normal(size=(M, 2))
B, C = RANDOM.normal(size=N), RANDOM.normal(size=M)
GAUSSIAN = "exp(-|x_i - y_j|²/2)"
DENSE = np.exp(-((X[:, None] - Y) ** 2).sum(-1) / 2)


def strict(x):
    return array_api_strict.asarray(x)


LIBRARIES = {
    "numpy": (np.asarray, np.ndarray, np),
    "torch": (torch.as_tensor, torch.Tensor, torch),
    "strict": (strict, type(strict(B)), array_api_strict),
}


def as_numpy(x):
    return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


def close(found, expected):
    np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12)


# ---- results ----------------------------------------------------------------

RESULTS = {
    "K @ b": (lambda s: s.k @ s.c, DENSE @ C),
    "K.T @ b": (lambda s: s.k.T @ s.b, DENSE.T @ B),
    "rmatvec": (lambda s: s.k.rmatvec(s.b), DENSE.T @ B),
    "matvec": (lambda s: s.k.matvec(s.c), DENSE @ C),
    "sum": (lambda s: s.k.sum(1), DENSE.sum(1)),
    "all": (lambda s: s.k.sum(), DENSE.sum()),
    "kept": (lambda s: s.k.max(0, keepdims=True), DENSE.max(0)[None]),
    "argmin": (lambda s: s.k.argmin(1), DENSE.argmin(1)),
    "levels": (
        lambda s: s.k.quantile([0.1, 0.7], axis=1),
        np.quantile(DENSE, [0.1, 0.7], axis=1),
    ),
    "row": (lambda s: s.k[3], DENSE[3]),
    "column": (lambda s: s.k[:, 3], DENSE[:, 3]),
    "element": (lambda s: s.k[2, 3], DENSE[2, 3]),
    "pairs": (lambda s: s.k[[0, 3], [1, 2]], DENSE[[0, 3], [1, 2]]),
    "list": (lambda s: s.k[[5, 0, 5]].dense(), DENSE[[5, 0, 5]]),
    "columns": (lambda s: s.k[:, [2, 1]].dense(), DENSE[:, [2, 1]]),
    "mask": (
        lambda s: s.k[np.arange(N) % 2 == 0] @ s.c,
        (DENSE @ C)[::2],
    ),
    "backwards": (lambda s: s.k[8:2:-2].dense(), DENSE[8:2:-2]),
    "dense": (lambda s: s.k.T.dense(), DENSE.T),
    "rows": (lambda s: (s.k * s.b[:, None]).sum(0), B @ DENSE),
    "diagonal": (lambda s: s.k[:, :].T[:9, :9].diag(), DENSE.diagonal()),
    "trace": (lambda s: s.k[:9].trace(), DENSE.trace()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_belong_to_the_library_of_the_arrays(name, library):
    make, kind, _ = library
    kernel = tilefold.kernel(GAUSSIAN, x=make(X), y=make(Y))
    use, expected = RESULTS[name]
    found = use(SimpleNamespace(k=kernel, b=make(B), c=make(C)))
    assert isinstance(found, (kind, np.generic) if kind is np.ndarray else kind)
    close(found, expected)


def test_mixed_with_numpy_the_other_library_wins(library):
    make, kind, _ = library
    for x, y, c in [(make(X), Y, C), (X, make(Y), C), (X, Y, make(C))]:
        kernel = tilefold.kernel(GAUSSIAN, x=x, y=y)
        found = kernel @ c
        assert isinstance(found, kind)
        close(found, DENSE @ C)


def test_a_product_from_the_left(library):
    make, _, module = library
    kernel = tilefold.kernel(GAUSSIAN, x=make(X), y=make(Y))
    if module is array_api_strict:  # refuses what it does not know
        with pytest.raises(TypeError, match="Expected Array"):
            make(B) @ kernel
    else:
        close(make(B) @ kernel, B @ DENSE)
    close(kernel.rmatvec(make(B)), B @ DENSE)


# ---- attributes -------------------------------------------------------------


def test_attributes_of_the_array_api(library):
    make, _, module = library
    kernel = tilefold.kernel(GAUSSIAN, x=make(X), y=make(Y))
    array = make(X)
    assert kernel.dtype == array.dtype
    assert kernel.device == getattr(array, "device", "cpu")
    assert kernel.size == N * M
    assert kernel.mT.shape == (M, N)
    close(kernel.mT @ make(B), DENSE.T @ B)
    assert kernel.to_device(kernel.device).shape == kernel.shape
    namespace = kernel.__array_namespace__()
    assert namespace.__name__.rpartition(".")[2] == module.__name__
    found = namespace.sum(kernel @ make(C))
    close(found, (DENSE @ C).sum())


def test_the_version_of_the_standard_may_be_asked_for():
    kernel = tilefold.kernel(GAUSSIAN, x=strict(X), y=strict(Y))
    assert kernel.__array_namespace__("2024.12") is array_api_strict
    assert kernel.__array_namespace__(api_version="2024.12")


def test_attributes_of_lazy_values():
    lazy = (tilefold.lazy(X, axis="i") - tilefold.lazy(Y, axis="j")).norm(
        axis=-1
    )
    assert lazy.device == "cpu"
    assert lazy.mT.shape == (M, N)
    assert lazy.__array_namespace__() is np
    assert lazy.astype("float32").dtype == np.float32


def test_scikit_learn_finds_the_namespace():
    kernel = tilefold.kernel(GAUSSIAN, x=strict(X), y=strict(Y))
    assert array_namespace(kernel, strict(X)) is array_api_strict
    assert array_namespace(tilefold.kernel(GAUSSIAN, x=X, y=Y)) is np


def test_devices_of_tensors():
    kernel = tilefold.kernel(
        "exp(-s*|x_i - y_j|²)", x=torch.as_tensor(X), y=Y, s=0.5
    )
    assert kernel.device == torch.device("cpu")
    moved = kernel.to_device(torch.device("cpu"))
    close(moved @ C, DENSE @ C)
    away = kernel.to_device("meta")
    assert away.device == torch.device("meta")


# ---- types ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("float64", "float32"), ("float32", "float64"), ("float64", "float64"),
        ("float32", "complex64"), ("float64", "complex128"),
        ("float64", "complex64"), ("complex128", "complex64"),
        ("complex64", "complex128"), ("float16", "float32"),
        ("float32", "bool"), ("int64", "float64"), ("int64", "complex128"),
        ("bool", "float32"),
    ],
)  # fmt: skip
def test_kernels_of_another_type(given, wanted):
    x, y = (3 * X[:, 0]).astype(given), (3 * Y[:, 0]).astype(given)
    kernel = tilefold.kernel("x_i * y_j", x=x, y=y)
    if given == "bool":
        x, y = X[:, 0].astype(wanted), Y[:, 0].astype(wanted)
        kernel = tilefold.kernel("x_i > y_j", x=x, y=y)
    dense = kernel.dense()
    found = kernel.astype(wanted)
    assert found.dtype == wanted
    made = found.dense()
    assert made.dtype == wanted
    tolerance = 1e-3 if given == "float16" else 1e-6
    np.testing.assert_allclose(made, dense.astype(wanted), rtol=tolerance)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("complex128", "float64"), ("float64", "int64"), ("int64", "float32")],
)
def test_types_that_there_is_no_way_to(given, wanted):
    x = (3 * X[:, 0]).astype(given)
    with pytest.raises(tilefold.DTypeError, match="does not become one of"):
        tilefold.kernel("x_i * x_j", x=x).astype(wanted)


def test_types_of_other_libraries():
    kernel = tilefold.kernel(GAUSSIAN, x=torch.as_tensor(X), y=Y)
    assert kernel.astype(torch.float32).dtype == torch.float32
    kernel = tilefold.kernel(GAUSSIAN, x=strict(X), y=strict(Y))
    single = kernel.astype(array_api_strict.float32)
    assert single.dtype == array_api_strict.float32
    assert (single @ strict(C.astype("float32"))).dtype == single.dtype


@pytest.mark.parametrize("name", LIBRARIES)
def test_promotion_is_numpys_in_every_library(name):
    """Whatever the library's own rule: PyTorch has float32 for the first."""
    make = LIBRARIES[name][0]
    cases = {
        ("int64", "float32"): "float64",
        ("int8", "float32"): "float32",
        ("float32", "float64"): "float64",
        ("bool", "float32"): "float32",
        ("complex64", "float64"): "complex128",
    }
    for (one, other), expected in cases.items():
        x, y = make(X[:, 0].astype(one)), make(Y[:, 0].astype(other))
        found = tilefold.reduce("sum_j x_i*y_j", x=x, y=y)
        assert str(found.dtype).rpartition(".")[2] == expected


# ---- NumPy's functions ------------------------------------------------------

FUNCTIONS = {
    "sum": lambda k: np.sum(k, axis=1),
    "mean": lambda k: np.mean(k, axis=0),
    "max": lambda k: np.max(k, 1),
    "min": lambda k: np.min(k, axis=(0, 1)),
    "argmin": lambda k: np.argmin(k, axis=1),
    "exp": lambda k: np.exp(k),
    "two": lambda k: np.maximum(k, 0.5) + np.abs(k),
    "equal": lambda k: np.equal(k, k),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy(name):
    kernel = tilefold.kernel(GAUSSIAN, x=X, y=Y)
    found = FUNCTIONS[name](kernel)
    expected = FUNCTIONS[name](DENSE)
    lazily = isinstance(found, tilefold.Kernel)
    assert lazily == (np.ndim(expected) == 2)
    close(found.dense() if lazily else found, expected)


def test_equality_is_lazy_and_has_no_truth_value():
    kernel = tilefold.kernel(GAUSSIAN, x=X, y=Y)
    assert isinstance(kernel == kernel, tilefold.Kernel)
    assert (kernel == kernel.T.T).all()
    with pytest.raises(tilefold.ArgumentError, match="no truth value"):
        assert kernel == kernel
    with pytest.raises(TypeError, match="unhashable"):
        hash(kernel)


def test_an_array_of_a_kernel_is_refused_with_its_size():
    kernel = tilefold.kernel(
        GAUSSIAN, x=np.ones((10**6, 2)), y=np.ones((10**6, 2))
    )
    with pytest.raises(tilefold.ArgumentError) as caught:
        np.asarray(kernel)
    assert "takes 7.3 TiB" in str(caught.value)
    assert "K.dense()" in str(caught.value)


# ---- frames -----------------------------------------------------------------


def frames():
    """Of two columns, without missing values."""
    columns = {"a": X[:, 0], "b": X[:, 1]}
    plain = pd.DataFrame(columns)
    return {
        "pandas": plain,
        "pandas, nullable": plain.astype("Float64"),
        "pandas, of arrow": plain.astype("float64[pyarrow]"),
        "pandas, mixed": plain.assign(b=plain["b"].astype("Float64")),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
        "pyarrow batch": pa.record_batch(columns),
    }


@pytest.mark.parametrize("name", frames())
def test_frames_are_points(name):
    found = tilefold.kernel(GAUSSIAN, x=frames()[name], y=Y)
    assert found.dtype == np.float64
    close(found @ C, DENSE @ C)
    close(found[[3, 1]].dense(), DENSE[[3, 1]])


@pytest.mark.parametrize(
    "make",
    [
        pd.Series, pd.Index, pl.Series, pa.array,
        lambda c: pd.Series(c, dtype="Float64"),
        lambda c: pd.Series(c, dtype="float64[pyarrow]"),
        lambda c: pa.chunked_array([c[:4], c[4:]]),
        lambda c: pd.DataFrame({"c": c})["c"],
    ],
    ids=[
        "series", "index", "polars", "pyarrow",
        "nullable", "arrow", "chunked", "column",
    ],
)  # fmt: skip
def test_columns_are_vectors(make):
    kernel = tilefold.kernel(GAUSSIAN, x=X, y=Y)
    close(kernel @ make(C), DENSE @ C)
    close(kernel.matvec(make(C)), DENSE @ C)


@pytest.mark.parametrize(
    "value",
    [
        pd.Series([1.0, None, None], dtype="Float64"),
        pd.Series([1, None, None], dtype="Int64"),
        pd.Series([1.0, None, None], dtype="float64[pyarrow]"),
        pd.Series([1.0, None, None], dtype=object),
        pd.array([1, None, None], dtype="Int64"),
        pd.DataFrame(
            {"a": pd.array([1, None, 2], dtype="Int64"), "b": [1, 2, None]}
        ).astype({"b": "Float64"}),
        pl.Series([1.0, None, None]),
        pl.DataFrame({"a": [1.0, None, 2.0], "b": [1.0, 2.0, None]}),
        pa.array([1.0, None, None]),
        pa.chunked_array([[1.0, None], [None]]),
        pa.table({"a": [1.0, None, 2.0], "b": [1.0, 2.0, None]}),
        pa.record_batch({"a": [1.0, None, 2.0], "b": [1.0, 2.0, None]}),
    ],
    ids=lambda value: f"{type(value).__module__}.{type(value).__name__}",
)
def test_missing_values_are_refused_with_their_number(value):
    with pytest.raises(tilefold.DTypeError) as caught:
        tilefold.reduce("sum_j y_j", y=value)
    assert str(caught.value).startswith("'y' has 2 missing values\n")


def test_nan_is_a_value():
    assert np.isnan(tilefold.reduce("sum_j y_j", y=pd.Series([1.0, np.nan])))
    assert np.isnan(tilefold.reduce("sum_j y_j", y=pl.Series([1.0, np.nan])))


def test_lazy_arrays_are_never_computed_silently():
    zarr, da = map(pytest.importorskip, ("zarr", "dask.array"))
    lazy = zarr.array(Y, chunks=(3, 2))
    with pytest.raises(tilefold.DTypeError) as caught:
        tilefold.kernel(GAUSSIAN, x=X, y=tilefold.Vj(lazy)) @ C
    assert "is a Array of zarr" in str(caught.value)
    assert "tilefold.dask.reduce" in str(caught.value)
    close(tilefold.kernel(GAUSSIAN, x=X, y=np.asarray(lazy)) @ C, DENSE @ C)
    lazy = da.from_array(Y, chunks=3)
    found = tilefold.kernel(GAUSSIAN, x=X, y=tilefold.Vj(lazy)) @ C
    assert isinstance(found, da.Array)
    close(found.compute(scheduler="synchronous"), DENSE @ C)
    with pytest.raises(tilefold.DTypeError, match="Array of dask"):
        tilefold.reduce("sum_j b_j", b=list(da.ones(3, chunks=1)))


def test_a_lazy_frame_is_refused():
    frame = pl.DataFrame({"u": [1.0, 2.0], "v": [0.0, 1.0]})
    with pytest.raises(tilefold.ArgumentError, match=r"x\.collect\(\)"):
        tilefold.reduce("sum_j x_j", x=frame.lazy())
    assert (tilefold.reduce("sum_j x_j", x=frame) == [3, 1]).all()


def test_masked_and_sparse_arrays_are_refused():
    import scipy.sparse

    masked = np.ma.masked_array(C, mask=C > 0)
    with pytest.raises(tilefold.DTypeError, match="fill it, or pass the mask"):
        tilefold.reduce("sum_j y_j", y=masked)
    sparse = scipy.sparse.csr_array(np.eye(3))
    with pytest.raises(tilefold.DTypeError, match="pass the dense values"):
        tilefold.reduce("sum_j y_j", y=sparse)


# ---- pandas' index ----------------------------------------------------------

ROWS = pd.Index([f"row {k}" for k in range(N)])
XF = pd.DataFrame(X, ROWS, ["east", "north"])
YF = pd.DataFrame(Y, range(100, 100 + M))
CF = pd.Series(C, YF.index, name="weight")


def test_results_keep_the_index_of_their_points():
    named = tilefold.pandas.reduce
    found = named(f"sum_j {GAUSSIAN} c_j", x=XF, y=YF, c=CF)
    pd.testing.assert_series_equal(found, pd.Series(DENSE @ C, ROWS))
    found = named(f"sum_i {GAUSSIAN}", {"x": XF, "y": YF})
    pd.testing.assert_series_equal(found, pd.Series(DENSE.sum(0), YF.index))
    found = named(f"sum_j {GAUSSIAN} y_j", x=XF, y=Y)
    pd.testing.assert_frame_equal(found, pd.DataFrame(DENSE @ Y, ROWS))
    assert isinstance(named(f"sum_j {GAUSSIAN}", x=X, y=YF), np.ndarray)
    assert named("sum_ij x_i·y_j", x=XF, y=YF) == pytest.approx(
        X.sum(0) @ Y.sum(0)
    )
    found = named("sum_j |u - v_j|²", u=tilefold.Vi(XF), v=YF)
    assert found.index.equals(ROWS)
    for axis in "ij":  # a frame on both
        found = named(f"sum_{axis} x_i·x_j", x=XF)
        pd.testing.assert_series_equal(found, pd.Series(X @ X.sum(0), ROWS))


def test_gradients_are_labelled_as_their_arguments():
    formula = tilefold.compile(f"sum_j {GAUSSIAN} c_j")
    gradient = formula.grad(["x", "c"], cotangent="g")
    by_x, by_c = tilefold.pandas.reduce(gradient, x=XF, y=YF, c=CF, g=B)
    plain_x, plain_c = gradient(x=X, y=Y, c=C, g=B)
    pd.testing.assert_frame_equal(by_x, pd.DataFrame(plain_x, ROWS, XF.columns))
    pd.testing.assert_series_equal(
        by_c, pd.Series(plain_c, YF.index, name="weight")
    )


def test_frames_that_are_not_aligned_are_refused():
    with pytest.raises(tilefold.ShapeError, match="'c' has another index"):
        tilefold.pandas.reduce(
            f"sum_j {GAUSSIAN} c_j", x=XF, y=YF, c=CF.reset_index(drop=True)
        )


# ---- threads ----------------------------------------------------------------


def threads_in_a_child(**environment):
    code = (
        "import json, tilefold, tilefold.threads;"
        "print(json.dumps([tilefold.Session().threads,"
        "tilefold.threads.get_num_threads()]))"
    )
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("OMP_NUM_THREADS", "TILEFOLD_NUM_THREADS")
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_threads_follow_the_environment():
    cores = len(os.sched_getaffinity(0))
    usual = threads_in_a_child()
    assert usual[0] == usual[1] <= cores
    assert threads_in_a_child(OMP_NUM_THREADS="1") == [1, 1]
    assert threads_in_a_child(OMP_NUM_THREADS="10000") == usual
    both = {"OMP_NUM_THREADS": "1", "TILEFOLD_NUM_THREADS": "3"}
    assert threads_in_a_child(**both) == [3, 3]


def test_a_worker_of_joblib_takes_its_share():
    cores = len(os.sched_getaffinity(0))
    workers = max(2, cores)
    with joblib.parallel_config("loky", n_jobs=workers):
        found = joblib.Parallel()(
            joblib.delayed(tilefold.threads.get_num_threads)()
            for _ in range(workers)
        )
    assert found == [max(cores // workers, 1)] * workers
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)


@pytest.fixture
def four_threads(monkeypatch):
    monkeypatch.setenv("TILEFOLD_NUM_THREADS", "4")
    tilefold.threads.register()
    tilefold.threads.register()
    yield tilefold.Session()
    tilefold.threads.set_num_threads(4)


def _told():
    infos = threadpoolctl.threadpool_info()
    return [info for info in infos if info["user_api"] == "tilefold"]


def test_threadpoolctl_sees_and_limits_threads(four_threads):
    # The library for C, which another test may have loaded, has its own.
    own = tilefold._core.__file__
    (info,) = (one for one in _told() if one["filepath"] == own)
    assert info["num_threads"] == 4
    assert info["version"] == tilefold.__version__
    kernel = tilefold.kernel(
        GAUSSIAN, x=np.repeat(X, 50, 0), y=Y, session=four_threads
    )
    usual = kernel.sum(1)
    with threadpoolctl.threadpool_limits(limits=1, user_api="tilefold"):
        assert tilefold.threads.get_num_threads() == 1
        assert four_threads.threads == 1
        np.testing.assert_array_equal(kernel.sum(1), usual)
    with threadpoolctl.threadpool_limits(limits=2):
        assert four_threads.threads == 2
    assert four_threads.threads == 4


def test_a_limit_makes_no_session_larger(four_threads):
    tilefold.threads.set_num_threads(100)
    assert four_threads.threads == tilefold.threads.get_num_threads() == 4
    tilefold.threads.set_num_threads(-1)
    assert tilefold.threads.get_num_threads() == 1


def test_threadpoolctl_is_told_when_it_is_there():
    code = (
        "import sys, tilefold;"
        "assert 'threadpoolctl' not in sys.modules;"
        "import threadpoolctl;"
        "tilefold.kernel('x_i*x_j', x=[1.0]);"
        "apis = [i['user_api'] for i in threadpoolctl.threadpool_info()];"
        "assert apis.count('tilefold') == 1, apis"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    code = (
        "import sys, tilefold; sys.modules['threadpoolctl'] = None\n"
        "try: tilefold.threads.register()\n"
        "except ImportError as e: assert 'pip install thread' in str(e)\n"
        "else: raise AssertionError"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_of_these_libraries_is_imported():
    names = ["pandas", "polars", "scipy", "threadpoolctl", "sklearn", "dask"]
    code = (
        "import sys, tilefold, numpy as np;"
        "tilefold.kernel('x_i·x_j', x=np.ones((3, 2))).sum();"
        f"print([name for name in {names} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
