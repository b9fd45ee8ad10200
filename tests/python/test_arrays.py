# tests/python/test_arrays.py - what is read as an array, and whose arrays
# results are.
from __future__ import annotations

import array
import ctypes
import multiprocessing

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN

torch = pytest.importorskip("torch")


class Wrapped:
    """Has __array__ and nothing else, as data frames do."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return self._values


class Lent:
    """Lends memory through __dlpack__ only; of a library of its own."""

    def __init__(self, values):
        self._values = values

    def __dlpack__(self, **keywords):
        return self._values.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return (1, 0)


class OldLent(Lent):
    """As Lent, before DLPack had versions."""

    def __dlpack__(self, stream=None):
        return self._values.__dlpack__(stream=stream)


def shared(values):
    """Memory that processes share: an array of ctypes, without strides."""
    rows, columns = values.shape
    lent = (ctypes.c_double * columns * rows)()
    np.ctypeslib.as_array(lent)[:] = values
    return lent


READINGS = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(map(tuple, a.tolist())),
    "fortran": np.asfortranarray,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "memoryview": memoryview,
    "ctypes": shared,
    "the other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "__array__": Wrapped,
    "dlpack": Lent,
    "old dlpack": OldLent,
    "read-only": lambda a: np.broadcast_to(a, a.shape),
    "matrix subclass": lambda a: a.view(np.recarray),
    "role": tilefold.Vi,
    "role of a list": lambda a: tilefold.Vi(a.tolist()),
}


@pytest.mark.parametrize("reading", list(READINGS))
def test_values_that_are_read_as_arrays(points, reading):
    x = READINGS[reading](points.x)
    out = tilefold.reduce(GAUSSIAN, points.arguments | {"x": x})
    assert type(out) is np.ndarray
    np.testing.assert_allclose(out, points.matrix @ points.b, rtol=1e-11)


def test_a_memory_map_is_read(points, tmp_path):
    np.save(tmp_path / "x.npy", points.x)
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    out = tilefold.reduce(GAUSSIAN, points.arguments | {"x": x})
    np.testing.assert_allclose(out, points.matrix @ points.b, rtol=1e-11)


def test_an_array_of_the_array_module_is_read():
    values = array.array("f", [1, 2, 3])
    out = tilefold.reduce("sum_j a_j", a=values)
    assert (out, out.dtype) == (6, np.float32)


def test_an_array_that_processes_share_is_read():
    values = multiprocessing.RawArray("d", [1, 2, 3])
    assert tilefold.reduce("sum_j a_j", a=values) == 6


def test_what_is_bound_is_no_copy_of_the_other_byte_order():
    f = tilefold.compile("sum_j a_j")
    with pytest.raises(tilefold.DTypeError, match="other byte order"):
        f.bind(a=np.zeros(5, ">f8"))
    assert f(a=np.arange(5.0).astype(">c16")) == 10


DTYPES = [
    "float64", "float32", "float16", "int64", "int32", "int16", "int8",
    "uint64", "uint32", "uint16", "uint8", "bool",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_element_type(dtype):
    values = np.array([0, 1, 1, 0]).astype(dtype)
    out = tilefold.reduce("sum_j a_j*w_j", a=values, w=np.arange(4.0))
    assert out == 3
    tensor = torch.from_numpy(values)
    out = tilefold.reduce("sum_j a_j*w_j", a=tensor, w=torch.arange(4.0))
    assert float(out) == 3


def test_brain_floats_of_torch(points):
    x, y, b = (
        torch.tensor(a).bfloat16() for a in (points.x, points.y, points.b)
    )
    out = tilefold.reduce(GAUSSIAN, x=x, y=y, b=b, l=0.5)
    reference = tilefold.reduce(
        GAUSSIAN, x=x.double(), y=y.double(), b=b.double(), l=0.5
    )
    scale = reference.abs().max()
    assert (out.double() - reference).abs().max() <= 1e-2 * scale


NUMBERS = [2, 2.0, True, np.float32(2), np.int8(2), np.array(2.0)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_numbers_are_parameters(number):
    out = tilefold.reduce("sum_j a_j*s", a=np.ones(3), s=number)
    assert out == 3 * float(number)


def test_torch_in_torch_out(points):
    tensors = {
        name: torch.tensor(value) for name, value in points.arguments.items()
    }
    out = tilefold.reduce(GAUSSIAN, tensors)
    assert isinstance(out, torch.Tensor)
    assert out.dtype == torch.float64
    np.testing.assert_allclose(
        out.numpy(), points.matrix @ points.b, rtol=1e-11
    )
    single = tilefold.reduce(
        GAUSSIAN, {name: t.float() for name, t in tensors.items()}
    )
    assert single.dtype == torch.float32
    total = tilefold.reduce("sum_j b_j", b=tensors["b"])
    assert total.shape == ()


def test_torch_tensors_of_any_stride(points):
    x = torch.tensor(points.x).T.contiguous().T
    y = torch.tensor(points.y)[:1].expand(60, 3)
    out = tilefold.reduce(GAUSSIAN, x=x, y=y, b=torch.tensor(points.b), l=0.5)
    expected = tilefold.reduce(
        GAUSSIAN,
        x=points.x,
        y=np.repeat(points.y[:1], 60, 0),
        b=points.b,
        l=0.5,
    )
    np.testing.assert_array_equal(out.numpy(), expected)


def test_tensors_and_arrays_may_be_mixed(points):
    out = tilefold.reduce(
        GAUSSIAN, points.arguments | {"x": torch.tensor(points.x)}
    )
    assert isinstance(out, torch.Tensor)


def test_a_tensor_may_be_out(points):
    tensors = {
        name: torch.tensor(value) for name, value in points.arguments.items()
    }
    out = torch.empty(50, dtype=torch.float64)
    assert tilefold.reduce(GAUSSIAN, tensors, out=out) is out
    np.testing.assert_allclose(
        out.numpy(), points.matrix @ points.b, rtol=1e-11
    )


def test_kernels_of_tensors(points):
    kernel = tilefold.kernel(
        "exp(-|x-y|²/2l²)", x=torch.tensor(points.x),
        y=torch.tensor(points.y), l=0.5,
    )  # fmt: skip
    assert isinstance(kernel[3], torch.Tensor)
    np.testing.assert_allclose(
        kernel.T.dense().numpy(), points.matrix.T, rtol=1e-12
    )


def test_jax_in_jax_out(points):
    jax = pytest.importorskip("jax")
    x, y = jax.numpy.asarray(points.x), jax.numpy.asarray(points.y)
    text = "sum_j exp(-|x_i - y_j|²)"
    f = tilefold.compile(text)
    wanted = f(x=np.asarray(x), y=np.asarray(y))
    on_both = [
        f(x=x, y=y),
        f(x=np.asarray(x), y=y),
        f.bind(x=x, y=y)(),
        tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y).sum(1),
    ]
    for found in on_both:
        assert isinstance(found, jax.Array)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    total = tilefold.reduce("sum_ij |x_i - y_j|", x=x, y=y)
    assert isinstance(total, jax.Array)
    assert total.shape == ()
    places = tilefold.reduce("argmin_j |x_i - y_j|", x=x, y=y)
    assert places.dtype == jax.dtypes.canonicalize_dtype("int64")
    gradients = f.grad(["x", "y"])(x=x, y=y, grad=np.ones(len(x), "f4"))
    assert all(isinstance(each, jax.Array) for each in gradients)
    solved = tilefold.kernel("exp(-|x_i - x_j|²)", x=x).solve(wanted, ridge=1)
    assert isinstance(solved, jax.Array)
    with pytest.raises(tilefold.ArgumentError, match="'y' belongs to torch"):
        f(x=x, y=torch.tensor(points.y))


def test_an_array_of_jax_never_changes():
    """A bound formula writes to the same memory each time."""
    jax = pytest.importorskip("jax")
    x, y = jax.numpy.ones((64, 3)), np.zeros((64, 3), np.float32)
    f = tilefold.compile("sum_j |x_i - y_j|²")
    bound = f.bind(x=x, y=y)
    found = []
    for k in range(3):
        y[...] = k
        found.append(bound())
        np.testing.assert_array_equal(bound.out, found[-1])
    assert [float(each[5]) for each in found] == [192, 0, 192]
    kept = jax.numpy.zeros(64)
    for write in (f, f.bind):
        with pytest.raises(tilefold.ArgumentError, match="'out' is read-only"):
            write(x=x, y=y, out=kept)
    assert not kept.any()
    out = np.empty(64, np.float32)
    assert f(x=x, y=y, out=out) is out


def test_empty_tensors():
    out = tilefold.reduce(
        "sum_j x_i·y_j", x=torch.zeros(3, 2), y=torch.zeros(0, 2)
    )
    np.testing.assert_array_equal(out.numpy(), np.zeros(3))


def test_without_gradients_recorded_a_leaf_is_read(points):
    leaf = torch.tensor(points.b, requires_grad=True)
    with torch.no_grad():
        assert float(tilefold.reduce("sum_j b_j", b=leaf)) == pytest.approx(
            points.b.sum()
        )


def test_truth_values_of_tables_are_read():
    """Beside numbers pandas makes objects of them; PyArrow's are bits."""
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    flags, numbers = [True, False, True], [1.0, 2.0, 3.0]
    frame = pandas.DataFrame({"flag": flags, "number": numbers})
    assert tilefold.reduce("sum_j |x_j|²", x=frame) == 16
    assert tilefold.reduce("sum_j |x_j|²", x=frame[["flag"]]) == 2
    assert tilefold.reduce("sum_j x_j", x=pyarrow.array(flags)) == 2
