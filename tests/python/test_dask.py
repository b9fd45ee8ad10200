# tests/python/test_dask.py - formulas over Dask's arrays.
"""Lazy reductions: the bits of a call in memory, whoever computes them."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import tilefold

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402
from dask.base import tokenize  # noqa: E402

import tilefold.dask  # noqa: E402
import tilefold.dask_plan  # noqa: E402

SEGMENT = 256
N, M = 230, 5000
RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((N, 3)), RNG.standard_normal((M, 3))
B, V = RNG.standard_normal(M), RNG.standard_normal((M, 4))
GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
TEXTS = [
    GAUSSIAN,
    "sum_j exp(-|x_i - y_j|²) v_j",
    "mean_j |x_i - y_j|",
    "logsumexp_j x_i·y_j",
    "softmax_j(x_i·y_j, y_j)",
    "argmin_j |x_i - y_j|²",
    "argkmin_j(|x_i - y_j|², 4)",
    "sum_j where(i < j, x_i·y_j, 0)",
    "max_i x_i·y_j",
    "sum_ij exp(-|x_i - y_j|²) b_j",
    "count_ij (|x_i - y_j|² < 1)",
    "logsumexp_j b_j",
    "sum_j y_j b_j",
]


def arrays_of(text):
    held = {"x": X, "y": Y, "b": B, "v": V, "l": 0.7}
    names = tilefold.compile(text).names
    return {name: held[name] for name, _ in names}


def chunked(arrays, i=(100, 130), j=1700):
    chunks = {"x": (i, -1), "y": (j, -1), "v": (j, -1), "b": j}
    return {
        name: da.from_array(value, chunks=chunks[name])
        if name in chunks
        else value
        for name, value in arrays.items()
    }


def in_memory(text, arrays):
    options = tilefold.Options(segment=SEGMENT)
    return tilefold.reduce(text, arrays, options=options)


def lazily(text, arrays, **settings):
    return tilefold.dask.reduce(text, arrays, segment=SEGMENT, **settings)


@pytest.mark.parametrize("text", TEXTS)
def test_bits_shapes_and_types(text):
    arrays = arrays_of(text)
    want = in_memory(text, arrays)
    for j, split in ((1700, None), (SEGMENT, 2), (M, 3), (900, 16)):
        result = lazily(text, chunked(arrays, j=j), split_every=split)
        assert isinstance(result, da.Array)
        assert result.shape == np.shape(want)
        assert result.dtype == np.asarray(want).dtype
        got = result.compute(scheduler="synchronous")
        assert np.array_equal(got, want)
        assert np.shape(got) == result.shape


def test_calls_of_lazy_arrays_are_lazy():
    """As of any library that computes its own calls."""
    y = da.from_array(Y, chunks=(1700, -1))
    found = tilefold.reduce("sum_j x_i·y_j", x=X, y=y)
    assert isinstance(found, da.Array)
    want = tilefold.Reduction("sum_j x_i·y_j")(x=X, y=Y)
    assert np.array_equal(found.compute(scheduler="synchronous"), want)
    declared = tilefold.reduce(
        "sum_j |x - y|²", x=tilefold.Vi(X), y=tilefold.Vj(y)
    )
    want = tilefold.Reduction("sum_j |x_i - y_j|²")(x=X, y=Y)
    assert np.array_equal(declared.compute(scheduler="synchronous"), want)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers(scheduler):
    arrays = arrays_of(GAUSSIAN)
    result = lazily(GAUSSIAN, chunked(arrays))
    got = result.compute(scheduler=scheduler, num_workers=2)
    assert np.array_equal(got, in_memory(GAUSSIAN, arrays))


def test_nothing_is_computed_before_it_is_asked_for():
    def never(_block):
        raise AssertionError("computed")

    y = da.from_array(Y, chunks=(1700, -1)).map_blocks(never, meta=Y[:0])
    result = lazily("sum_j x_i·y_j", {"x": X, "y": y})
    assert result.chunks == ((N,),)
    with pytest.raises(AssertionError, match="computed"):
        result.compute(scheduler="synchronous")


def test_results_are_arrays_like_others():
    arrays = chunked(arrays_of(GAUSSIAN))
    result = lazily(GAUSSIAN, arrays)
    total = (result * 2).sum() - da.from_array(X, chunks=50)[:, 0].sum()
    want = (in_memory(GAUSSIAN, arrays_of(GAUSSIAN)) * 2).sum() - X[:, 0].sum()
    np.testing.assert_allclose(total.compute(scheduler="sync"), want)


def test_states_of_a_task_are_limited(monkeypatch):
    """Rows of a chunk whose states would be larger are cut."""
    text = "argkmin_j(|x_i - y_j|², 4)"
    monkeypatch.setattr(tilefold.dask_plan, "_MOST_STATE", 40 * 8 * 8)
    arrays = arrays_of(text)
    result = lazily(text, chunked(arrays))
    assert result.chunks == ((40, 40, 20, 40, 40, 40, 10), (4,))
    got = result.compute(scheduler="synchronous")
    assert np.array_equal(got, in_memory(text, arrays))


def test_parameters_and_components_in_chunks():
    arrays = chunked(arrays_of("sum_j exp(-|x_i - y_j|²) v_j"))
    arrays["v"] = arrays["v"].rechunk((900, 2))
    text = "sum_j exp(-|x_i - y_j|²) v_j"
    want = in_memory(text, arrays_of(text))
    with pytest.warns(da.PerformanceWarning, match=r"pass v.rechunk\({1: -1}"):
        result = lazily(text, arrays)
    got = result.compute(scheduler="synchronous")
    assert np.array_equal(got, want)
    text = "sum_j exp(-|A@(x_i - y_j)|²)"
    matrix = RNG.standard_normal((2, 3))
    lazy = da.from_array(matrix, chunks=(1, 2))
    y = da.from_array(Y, chunks=(999, -1))
    with pytest.warns(da.PerformanceWarning, match="'A'"):
        result = lazily(text, {"x": X, "y": y, "A": lazy})
    want = in_memory(text, {"x": X, "y": Y, "A": matrix})
    assert np.array_equal(result.compute(scheduler="synchronous"), want)


def test_chunks_of_as_many_points_as_a_parameter_has_components():
    """They are no reason to take one for the other."""
    text = "b_j*(max_i sum_j b_j*c_i)*l"
    held = {"b": B[:9], "c": X[:7, 0], "l": np.array([0.5, 1.0, 2.0])}
    lazy = {**held, "b": da.from_array(held["b"], chunks=3)}
    found = lazily(text, lazy).compute(scheduler="synchronous")
    assert np.array_equal(found, in_memory(text, held))


class Labelled:
    """As xarray's arrays are: around one of Dask's."""

    def __init__(self, data):
        self.data = data
        self.chunks = data.chunks


def test_frames_and_labelled_arrays():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": B, "b": B**2})
    lazy = frames.from_pandas(table, npartitions=3)
    x = X[:, :2]
    for y, held in (
        (lazy, table.to_numpy()),
        (Labelled(da.from_array(Y[:, :2], chunks=(900, -1))), Y[:, :2]),
    ):
        got = lazily("sum_j |x_i - y_j|", {"x": x, "y": y})
        want = in_memory("sum_j |x_i - y_j|", {"x": x, "y": held})
        assert np.array_equal(got.compute(scheduler="sync"), want)
        K = tilefold.dask.kernel("|x_i - y_j|", x=x, y=y)
        assert np.allclose((K @ np.ones(M)).compute(scheduler="sync"), want)
    column = lazily("sum_j b_j", {"b": lazy["a"]})
    assert column.compute(scheduler="sync") == in_memory("sum_j b_j", {"b": B})


def test_gradients():
    """Of one argument each; the cotangent is one more array."""
    formula = tilefold.compile(GAUSSIAN)
    cotangent = RNG.standard_normal(N)
    arrays = {**arrays_of(GAUSSIAN), "grad": cotangent}
    lazy = chunked(arrays_of(GAUSSIAN))
    lazy["grad"] = da.from_array(cotangent, chunks=90)
    options = tilefold.Options(segment=SEGMENT)
    for name in ("x", "y", "b", "l"):
        result = lazily(formula.grad(name), lazy)
        want = formula.grad(name)(arrays, options=options)
        assert result.shape == np.shape(want)
        got = result.compute(scheduler="synchronous")
        assert np.array_equal(got, want)


def test_gradients_by_several_arguments():
    arrays, lazy = arrays_of(GAUSSIAN), chunked(arrays_of(GAUSSIAN))
    cotangent = RNG.standard_normal(N)
    formula = tilefold.compile(GAUSSIAN)
    names = ["x", "b", "l"]
    for given, value in ((cotangent, True), (1.0, False)):
        derived = formula.grad(names, value=value)
        wants = tilefold.Reduction(derived, segment=SEGMENT)(
            arrays, grad=np.broadcast_to(np.asarray(given), (N,))
        )
        found = tilefold.dask.grad(
            GAUSSIAN, names, lazy, cotangent=given, value=value, segment=SEGMENT
        )
        for result, want in zip(found, wants, strict=True):
            assert result.shape == np.shape(want)
            assert result.dtype == np.asarray(want).dtype
            got = result.compute(scheduler="synchronous")
            assert np.array_equal(got, want)


SEVERAL = [
    "std_j |x_i - y_j|",
    "quantile_j(b_j, 0.3)",
    "(sum_j x_i·y_j)/(max_i sum_j x_i·y_j) + i",
    "sum_j b_j (sum_i exp(-|x_i - y_j|²))",
    "max_i count_j(|x_i - y_j| < l)",
    "(mean_j exp(im*b_j*x_i[0])) (max_j b_j*(b_j - mean_j b_j))",
    "sum_j exp(-|x_i - x_j|²)",
    "var_j |x_i - x_j|",
    "x_i·x_i + l",
]


@pytest.mark.parametrize("text", SEVERAL)
def test_several_passes(text):
    """Of no other bits than a call's, and of arrays that are on both axes."""
    arrays = arrays_of(text)
    if "quantile" not in text:
        same_in_chunks(text, arrays, j=900)
    single = {
        name: value.astype("f4") if np.ndim(value) else value
        for name, value in arrays.items()
    }
    same_in_chunks(text, single, j=1700)


def same_in_chunks(text, arrays, j):
    want = in_memory(text, arrays)
    result = lazily(text, chunked(arrays, j=j))
    assert result.shape == np.shape(want)
    assert result.dtype == np.asarray(want).dtype
    got = result.compute(scheduler="synchronous")
    assert np.array_equal(got, want)


def test_batches():
    text = "sum_j exp(-|x_i - y_j|²/2l²) v_j"
    arrays = {
        "x": np.stack([X, 2 * X]),
        "y": Y[None],
        "v": np.stack([V, -V]),
        "l": np.array([0.7, 0.9]),
    }
    options = tilefold.Options(segment=SEGMENT)
    lazy = {
        "x": da.from_array(arrays["x"], chunks=(1, 100, -1)),
        "y": da.from_array(arrays["y"], chunks=(-1, 1700, -1)),
        "v": arrays["v"],
        "l": arrays["l"],
    }
    for derive in (lambda f: f, lambda f: f.grad("y"), lambda f: f.grad("l")):
        formula = derive(tilefold.compile(text))
        own = {"grad": np.ones((2, N, 4)), **arrays, **lazy}
        own = {name: own[name] for name, _ in formula.names}
        want = formula(
            **{name: np.asarray(own[name]) for name in own},
            batch_rank=1,
            options=options,
        )
        result = lazily(formula, own, batch_rank=1)
        assert result.shape == np.shape(want)
        got = result.compute(scheduler="synchronous")
        assert np.array_equal(got, want)


def test_passes_hold_no_chunks(tmp_path):
    """Every pass reads the chunks anew."""
    zarr = pytest.importorskip("zarr")
    y = zarr.open(
        str(tmp_path / "y.zarr"),
        mode="w",
        shape=(2**21, 8),
        chunks=(2**16, 8),
        dtype="f4",
    )
    for k in range(0, 2**21, 2**16):
        y[k : k + 2**16] = RNG.standard_normal((2**16, 8))
    code = OPENED["zarr"] + MEMORY
    code = code.replace("sum_j exp(-|x_i - y_j|²)", "var_j |x_i - y_j|²")
    child = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "y.zarr")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert float(child.stdout) < 3 * 2 * 2 + 24


def test_graphs_are_small_and_tokens_stable():
    arrays = chunked(arrays_of(GAUSSIAN), j=SEGMENT)
    one, other = (lazily(GAUSSIAN, arrays) for _ in range(2))
    assert one.name == other.name
    assert one.name != lazily(GAUSSIAN, {**arrays, "l": 0.8}).name
    pairs = 2 * -(-M // SEGMENT)
    # A read for each chunk, a state for each pair, merges and results.
    assert len(one.__dask_graph__()) < 3 * pairs + 40
    code = (
        "import tilefold; from dask.base import tokenize; "
        "print(tokenize(tilefold.Reduction('sum_j x_i·y_j', segment=64)))"
    )
    child = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    own = tokenize(tilefold.Reduction("sum_j x_i·y_j", segment=64))
    assert child.stdout.strip() == own
    assert pickle.loads(pickle.dumps(one)).name == one.name


def test_out_of_core(tmp_path):
    zarr = pytest.importorskip("zarr")
    h5py = pytest.importorskip("h5py")
    np.save(tmp_path / "b.npy", B)
    y = zarr.open(
        str(tmp_path / "y.zarr"),
        mode="w",
        shape=Y.shape,
        chunks=(700, 3),
        dtype=Y.dtype,
    )
    y[:] = Y
    with h5py.File(tmp_path / "x.h5", "w") as file:
        x = file.create_dataset("x", data=X, chunks=(64, 3))
        arrays = {
            "x": x,
            "y": y,
            "b": np.load(tmp_path / "b.npy", mmap_mode="r"),
            "l": 0.7,
        }
        got = lazily(GAUSSIAN, arrays).compute(scheduler="synchronous")
    assert np.array_equal(got, in_memory(GAUSSIAN, arrays_of(GAUSSIAN)))


OPENED = {
    "zarr": "import zarr as z; open_ = lambda p: z.open(p, mode='r')",
    "h5py": "import h5py as h; open_ = lambda p: h.File(p)['y']",
}
MEMORY = """
import resource, sys
import numpy as np, dask, tilefold, tilefold.dask
import dask.array as da
y = open_(sys.argv[1])
x = np.zeros((16, 8), "f4")
def compute(rows):
    r = tilefold.dask.reduce("sum_j exp(-|x_i - y_j|²)", x=x, y=rows)
    return r.compute(scheduler="threads", num_workers=2)
compute(da.from_array(y, y.chunks)[: 2 * 8192])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
compute(y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) / 1024)
"""


@pytest.mark.parametrize("library", ["zarr", "h5py"])
def test_memory_is_that_of_a_few_chunks(library, tmp_path):
    module = pytest.importorskip(library)
    rows, chunk = 2**21, 2**16  # 64 MiB of 2 MiB chunks
    shape = {"shape": (rows, 8), "chunks": (chunk, 8), "dtype": "f4"}
    path = str(tmp_path / "y")
    block = RNG.standard_normal((chunk, 8)).astype("f4")
    if library == "zarr":
        y = module.open(path, mode="w", **shape)
    else:
        file = module.File(path, "w")
        y = file.create_dataset("y", **shape)
    for k in range(0, rows, chunk):
        y[k : k + chunk] = block
    if library == "h5py":
        file.close()
    child = subprocess.run(
        [sys.executable, "-c", OPENED[library] + MEMORY, path],
        check=True,
        capture_output=True,
        text=True,
    )
    assert float(child.stdout) < 3 * 2 * 2 + 24


def test_threads_compute_their_own():
    arrays = arrays_of(GAUSSIAN)
    want = in_memory(GAUSSIAN, arrays)
    results = []

    def compute():
        result = lazily(GAUSSIAN, chunked(arrays))
        results.append(result.compute(scheduler="threads"))

    threads = [threading.Thread(target=compute) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, want) for result in results)
    assert len(results) == 4


def test_chunks_of_what_has_none():
    """Points of the reduced axis are cut where an array has no chunks."""
    total = 3 * 2**18 - 5
    text = "sum_j b_j"
    b = RNG.standard_normal(total)
    lazy = tilefold.dask.reduce(text, b=b)
    keys = [key for key in lazy.__dask_graph__() if "partial" in str(key)]
    assert len(keys) == 3
    options = tilefold.Options(segment=8192)
    want = tilefold.reduce(text, b=b, options=options)
    assert lazy.compute(scheduler="synchronous") == want


REFUSALS = {
    "no array": (
        lambda: lazily("sum_j x_i·y_j", {"x": X, "y": dask.delayed(Y)}),
        tilefold.ArgumentError,
        "dask.array.from_delayed",
    ),
    "unknown lengths": (
        lambda: lazily(
            "sum_j x_i·y_j",
            {"x": X, "y": da.from_array(Y)[da.from_array(Y)[:, 0] > 0]},
        ),
        tilefold.ArgumentError,
        "y.compute_chunk_sizes",
    ),
    "a name": (
        lambda: lazily("sum_j x_i·y_j", {"x": X, "z": da.from_array(Y)}),
        tilefold.ArgumentError,
        "z",
    ),
    "a shape": (
        lambda: lazily("sum_j x_i·y_j", {"x": X[:, :2], "y": da.from_array(Y)}),
        tilefold.ShapeError,
        "components",
    ),
    "lengths": (
        lambda: lazily(
            "sum_j y_j b_j", {"y": da.from_array(Y), "b": da.from_array(B[:9])}
        ),
        tilefold.ShapeError,
        "9",
    ),
    "a dtype": (
        lambda: lazily(
            "sum_j x_i·y_j",
            {"x": X, "y": da.from_array(Y.astype("M8[s]"))},
        ),
        tilefold.DTypeError,
        "datetime64",
    ),
    "a fold between passes": (
        lambda: lazily(
            "var_i (fold_j(x_i·y_j, 0, add)) with add(a, b) = a + b",
            {"x": X, "y": da.from_array(Y)},
        ),
        tilefold.ArgumentError,
        "with a fold",
    ),
    "batches that are not said": (
        lambda: lazily("sum_j x_i·y_j", {"x": X, "y": da.from_array(Y[None])}),
        tilefold.ArgumentError,
        "by batch_rank=",
    ),
    "batches of several passes": (
        lambda: lazily(
            "var_j x_i·y_j",
            {"x": X[None], "y": da.from_array(Y[None])},
            batch_rank=1,
        ),
        tilefold.ArgumentError,
        "with batches",
    ),
    "no reduction": (
        lambda: lazily("x_i·y_j", {"x": X, "y": da.from_array(Y)}),
        tilefold.FormulaError,
        "no reduction",
    ),
    "a session": (
        lambda: tilefold.reduce(
            "sum_j y_j", y=da.from_array(Y), session=tilefold.Session()
        ),
        tilefold.ArgumentError,
        "leave it out",
    ),
    "ranges": (
        lambda: lazily(
            "sum_j x_i·y_j",
            {"x": X, "y": da.from_array(Y)},
            ranges=tilefold.Ranges([0, 1], [0, M + 1], [[True]]),
        ),
        tilefold.ArgumentError,
        "5001",
    ),
    "merges of one": (
        lambda: lazily("sum_j y_j", {"y": da.from_array(Y)}, split_every=1),
        tilefold.ArgumentError,
        "from 2 on",
    ),
    "an output": (
        lambda: tilefold.dask.grad(
            "sum_j y_j", "y", y=da.from_array(Y), out=np.empty(3)
        ),
        tilefold.ArgumentError,
        "the option out cannot be",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    run, error, message = REFUSALS[case]
    with pytest.raises(error, match=message):
        run()
