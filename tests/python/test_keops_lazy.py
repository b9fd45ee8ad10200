# tests/python/test_keops_lazy.py - LazyTensors of NumPy's arrays.
"""Operators, methods and reductions of KeOps's LazyTensor, beside NumPy."""

# ruff: noqa: ARG005 - all methods of the table take the same operands.

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg

import tilefold
from keops_rows import _round
from tilefold.compat.pykeops import nodes
from tilefold.compat.pykeops.numpy import (
    ComplexLazyTensor,
    LazyTensor,
    Pm,
    Vi,
    Vj,
)

M, N = 6, 8
RNG = np.random.default_rng(0)
X, Y = RNG.uniform(0.2, 0.9, (M, 3)), RNG.uniform(0.2, 0.9, (N, 3))
A, B = RNG.uniform(0.2, 0.9, (M, 1)), RNG.uniform(0.2, 0.9, (N, 1))
P = RNG.uniform(0.2, 0.9, 3)
x, y, a, b = X[:, None], Y[None], A[:, None], B[None]
DISTANCES = ((x - y) ** 2).sum(-1)
KERNEL = np.exp(-DISTANCES)


def _kernel():
    xi, yj = LazyTensor(X[:, None, :]), LazyTensor(Y[None, :, :])
    return (-((xi - yj) ** 2).sum(-1)).exp()


def _sinc(value):
    return np.sin(value) / value


def _sqnorm(value):
    return (value**2).sum(-1, keepdims=True)


# The method's value of x_i, y_j, a_i, b_j, and NumPy's.
METHODS = [
    (lambda x, y, a, b: x + y, x + y),
    (lambda x, y, a, b: 1 + x + 0, 1 + x),
    (lambda x, y, a, b: 0.5 + x * 1 - 0 - y / 1, 0.5 + x - y),
    (lambda x, y, a, b: 3 - x - [1.0, 2.0, 3.0] + b, 3 - x - [1, 2, 3] + b),
    (lambda x, y, a, b: P - x * P + (0 - y), P - x * P - y),
    (lambda x, y, a, b: x * -1 * y, -x * y),
    (lambda x, y, a, b: a * y + y * a, 2 * a * y),
    (lambda x, y, a, b: x / y + a / y + x / b, x / y + a / y + x / b),
    (lambda x, y, a, b: 1 / x + 2 / y + 0.5 / a, 1 / x + 2 / y + 0.5 / a),
    (lambda x, y, a, b: (x | y) + (P | y), ((x + P) * y).sum(-1)[..., None]),
    (lambda x, y, a, b: -x + abs(x - y), -x + abs(x - y)),
    (lambda x, y, a, b: (x - y).abs(), abs(x - y)),
    (lambda x, y, a, b: x**2 + x**3 + x**-1, x**2 + x**3 + 1 / x),
    (lambda x, y, a, b: x**0.5 + y**-0.5, x**0.5 + y**-0.5),
    (lambda x, y, a, b: x**1.5 + x**y + y**a, x**1.5 + x**y + y**a),
    (lambda x, y, a, b: x.power(2) + y.square(), x**2 + y**2),
    (lambda x, y, a, b: x ** np.int64(3) + y ** np.float32(0.5), x**3 + y**0.5),
    (lambda x, y, a, b: (x < y) + 2 * (x <= b), 1.0 * (x < y) + 2 * (x <= b)),
    (lambda x, y, a, b: (x > y) + 2 * (a >= y), 1.0 * (x > y) + 2 * (a >= y)),
    (lambda x, y, a, b: (x == y) + 2 * (x != b), 2.0 + 0 * (x + y)),
    (lambda x, y, a, b: (x > 0.5) + (y < 0.5), 1.0 * (x > 0.5) + (y < 0.5)),
    (lambda x, y, a, b: x.exp() + y.log(), np.exp(x) + np.log(y)),
    (lambda x, y, a, b: x.sin() + y.cos(), np.sin(x) + np.cos(y)),
    (lambda x, y, a, b: x.asin() + y.acos(), np.arcsin(x) + np.arccos(y)),
    (lambda x, y, a, b: x.atan() + x.atan2(y), np.arctan(x) + np.arctan2(x, y)),
    (lambda x, y, a, b: x.sqrt() + y.rsqrt(), np.sqrt(x) + y**-0.5),
    (lambda x, y, a, b: x.xlogx() + y.sinxdivx(), x * np.log(x) + _sinc(y)),
    (lambda x, y, a, b: x.sinc() * y, np.sinc(x) * y),
    (lambda x, y, a, b: (x - y).sign() + (x - b).step(),
     np.sign(x - y) + (x >= b)),
    (lambda x, y, a, b: (x - y).relu(), np.maximum(x - y, 0)),
    (lambda x, y, a, b: (3 * x + y).clamp(1, 2), np.clip(3 * x + y, 1, 2)),
    (lambda x, y, a, b: x.clamp(0.4, y), np.minimum(np.maximum(x, 0.4), y)),
    (lambda x, y, a, b: (a - b).ifelse(x, 2.5), np.where(a >= b, x, 2.5)),
    (lambda x, y, a, b: (9 * x).mod(y, 1) + (9 * x).mod(2),
     9 * x - y * np.floor((9 * x - 1) / y) + np.mod(9 * x, 2)),
    (lambda x, y, a, b: (9 * x - y).round(1) + (9 * x).round(),
     _round(9 * x - y, 1) + _round(9 * x, 0)),
    (lambda x, y, a, b: x.sqnorm2() + y.norm2(),
     _sqnorm(x) + _sqnorm(y) ** 0.5),
    (lambda x, y, a, b: (x - y).norm(-1) + a.norm(dim=2),
     _sqnorm(x - y) ** 0.5 + a),
    (lambda x, y, a, b: (x * y).normalize(), x * y / _sqnorm(x * y) ** 0.5),
    (lambda x, y, a, b: x.sqdist(y) + x.sqdist(b),
     _sqnorm(x - y) + _sqnorm(x - b)),
    (lambda x, y, a, b: x.weightedsqnorm(y), (y * x**2).sum(-1)[..., None]),
    (lambda x, y, a, b: x.weightedsqdist(y, [1.0, 2.0, 3.0]),
     ((x - y) ** 2 * [1, 2, 3]).sum(-1)[..., None]),
    (lambda x, y, a, b: x.weightedsqdist(y, x.tensorprod(x)),
     ((x - y) * x).sum(-1)[..., None] ** 2),
    (lambda x, y, a, b: x[0] + y[-1] + (x * y)[1:3],
     x[..., :1] + y[..., -1:] + (x * y)[..., 1:3]),
    (lambda x, y, a, b: x[:, :, 1] + y[..., :2] + x.elem(0) + x.extract(1, 2),
     x[..., 1:2] + y[..., :2] + x[..., :1] + x[..., 1:]),
    (lambda x, y, a, b: (3 * a).one_hot(4) * b,
     (np.floor(3 * a + 0.5) == np.arange(4)) * b),
    (lambda x, y, a, b: x.concat(b) * a,
     np.concatenate([x + 0 * b, b + 0 * a], -1) * a),
    (lambda x, y, a, b: LazyTensor.cat((x, a, b), dim=2) * a,
     np.concatenate([x + 0 * b, a + 0 * b, b + 0 * a], -1) * a),
    (lambda x, y, a, b: x.tensorprod(y).matvecmult(y), _sqnorm(y) * x),
    (lambda x, y, a, b: x.vecmatmult(x.tensorprod(y)), _sqnorm(x) * y),
    (lambda x, y, a, b: x.keops_kron(y, [3, 1], [1, 3]),
     (x[..., :, None] * y[..., None, :]).reshape(M, N, 9)),
    (lambda x, y, a, b: x.keops_tensordot(y, (3,), (3,), (0,), (0,)),
     (x * y).sum(-1)[..., None]),
    (lambda x, y, a, b: (x * y).exp().grad(x, y), np.exp(x * y) * y * y),
    (lambda x, y, a, b: (x * y).exp().diff(x, y), np.exp(x * y) * y * y),
    (lambda x, y, a, b: (x * x * y).divergence(x),
     2 * (x * y).sum(-1)[..., None]),
    (lambda x, y, a, b: (x.sqnorm2() * b).laplacian(x), 6 * b + 0 * a),
    (lambda x, y, a, b: (x * y).factorize(x).auto_factorize(), x * y),
    (lambda x, y, a, b: (x * y).sum(dim=2, keepdim=True) + (x * y).max(-1),
     (x * y).sum(-1)[..., None] + (x * y).max(-1)[..., None]),
    (lambda x, y, a, b: (x * y).min(-1) + (x * y).argmin(-1),
     (x * y).min(-1)[..., None] + (x * y).argmin(-1)[..., None]),
    (lambda x, y, a, b: (x * y).argmax(axis=2) * 1.0,
     1.0 * (x * y).argmax(-1)[..., None]),
    (lambda x, y, a, b: x.unary("Exp") + x.binary(y, "*", is_operator=True),
     np.exp(x) + x * y),
    (lambda x, y, a, b: x.ternary(b, y, "Clamp", dimres=3),
     np.minimum(np.maximum(x, b), y)),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(METHODS)))
def test_methods(k) -> None:
    method, expected = METHODS[k]
    made = method(Vi(X), Vj(Y), Vi(A), Vj(B))
    expected = np.broadcast_to(expected, (M, N, expected.shape[-1]))
    if made.ni is None or made.nj is None:
        expected = expected[:1] if made.ni is None else expected[:, :1]
    before = tilefold.stats().runs
    np.testing.assert_allclose(made.sum(axis=1), expected.sum(1), rtol=1e-11)
    np.testing.assert_allclose(made.sum(dim=0), expected.sum(0), rtol=1e-11)
    assert tilefold.stats().runs == before + 2


def test_shapes_and_names() -> None:
    K = _kernel()
    assert K.shape == (M, N)
    assert K._shape == (M, N, 1)
    assert K.dim() == 3
    assert (K.ndim, K.ni, K.nj, K.dtype) == (1, M, N, "float64")
    assert (Vi(X) - Vj(Y)).shape == (M, N, 3)
    assert Vi(X).axis == 0
    assert "Exp(Minus(Sum(Square(" in str(K)
    assert len(K.variables) == 2
    assert K.variables[0].shape == (M, 3)
    assert hasattr(K, "__GenericLazyTensor__")
    with pytest.raises(TypeError):
        hash(K)


def test_a_structure_is_one_node() -> None:
    one, two = _kernel(), _kernel()
    assert one._node is two._node
    xi = Vi(X)
    assert (xi * xi)._node is not (xi * Vi(X))._node
    assert (xi * 0.5)._node is (xi * 0.25)._node
    assert len((xi * xi).variables) == 1
    before = tilefold.stats().compiles
    one.sum(1)
    two.sum(1)
    (-((Vi(X[:3]) - Vj(Y)) ** 2).sum(-1)).exp().sum(1)
    assert tilefold.stats().compiles <= before + 1


def test_nodes_are_bounded(monkeypatch) -> None:
    monkeypatch.setattr(nodes, "MOST_NODES", 40)
    xi, yj = Vi(X), Vj(Y)
    for k in range(2, 50):
        found = (xi * k + yj).sum(1)
        np.testing.assert_allclose(found, (x * k + y).sum(1))
    assert len(nodes._NODES) <= 40


def test_reductions() -> None:
    K = _kernel()
    for axis in 0, 1:
        for name in "sum", "min", "max":
            expected = getattr(KERNEL, name)(axis)[:, None]
            for method in name, f"{name}_reduction":
                found = getattr(K, method)(axis=axis)
                np.testing.assert_allclose(found, expected)
        for name in "argmin", "argmax":
            expected = getattr(KERNEL, name)(axis)[:, None]
            found = getattr(K, name)(dim=axis)
            np.testing.assert_array_equal(found, expected)
            value, place = getattr(K, f"{name[3:]}_{name}")(axis)
            np.testing.assert_array_equal(place, expected)
            best = getattr(KERNEL, name[3:])(axis)[:, None]
            np.testing.assert_allclose(value, best)
        order = np.argsort(KERNEL, axis)
        least = np.sort(KERNEL, axis)
        if axis == 0:
            order, least = order.T, least.T
        np.testing.assert_allclose(K.Kmin(3, axis), least[:, :3])
        np.testing.assert_array_equal(K.argKmin(3, axis), order[:, :3])
        value, place = K.Kmin_argKmin(K=3, dim=axis)
        np.testing.assert_allclose(value, least[:, :3])
        np.testing.assert_array_equal(place, order[:, :3])
        total = np.exp(KERNEL).sum(axis)[:, None]
        np.testing.assert_allclose(K.logsumexp(axis), np.log(total))


def test_weighted_reductions() -> None:
    K, weights = _kernel(), np.exp(KERNEL)
    for given in {"weight": Vj(Y)}, {"other": Vj(Y)}:
        found = K.logsumexp(axis=1, **given)
        np.testing.assert_allclose(found, np.log(weights @ Y))
    found = K.sumsoftmaxweight(Vj(Y), axis=1)
    np.testing.assert_allclose(found, weights @ Y / weights.sum(1)[:, None])


def test_products() -> None:
    K = _kernel()
    np.testing.assert_allclose(K @ B[:, 0], KERNEL @ B[:, 0])
    np.testing.assert_allclose(K @ Y, KERNEL @ Y)
    np.testing.assert_allclose(K @ B, KERNEL @ B)
    np.testing.assert_allclose(K.T @ X, KERNEL.T @ X)
    np.testing.assert_allclose(K.t() @ A[:, 0], KERNEL.T @ A[:, 0])
    np.testing.assert_allclose(K.matvec(Y[:, 0]), KERNEL @ Y[:, 0])
    np.testing.assert_allclose(K.rmatvec(X[:, 0]), KERNEL.T @ X[:, 0])
    out = np.empty((M, 3))
    assert LazyTensor.__matmul__(K, Y, out=out, backend="CPU") is out
    np.testing.assert_allclose(out, KERNEL @ Y)
    batch = np.stack([Y, 2 * Y])
    np.testing.assert_allclose(K @ batch, KERNEL @ batch)
    total = 0
    for scale in 1, 2:
        total += K * scale
    np.testing.assert_allclose(total @ Y, 3 * KERNEL @ Y)
    np.testing.assert_allclose((K + K.T.T) @ Y, 2 * KERNEL @ Y)
    square = (-((Vi(X) - Vj(X)) ** 2).sum(-1) - Vi(A)).exp()
    both = np.exp(-((x - X) ** 2).sum(-1) - A)
    np.testing.assert_allclose((square + square.T) @ X, (both + both.T) @ X)


def test_a_linear_operator_of_scipy() -> None:
    K = (-((Vi(X) - Vj(X)) ** 2).sum(-1)).exp()
    dense = np.exp(-((x - X) ** 2).sum(-1))
    operator = scipy.sparse.linalg.aslinearoperator(K)
    values = scipy.sparse.linalg.eigsh(operator, k=2)[0]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[-2:])


def test_batches_broadcast() -> None:
    xs, ys = RNG.normal(size=(4, 1, M, 3)), RNG.normal(size=(2, N, 3))
    scales = RNG.uniform(1, 2, (2, 1, 1, 3))
    lazy = LazyTensor(xs[:, :, :, None]) - LazyTensor(ys[:, None])
    lazy = (-((lazy * LazyTensor(scales)) ** 2).sum(-1)).exp()
    dense = xs[:, :, :, None] - ys[:, None]
    dense = np.exp(-((dense * scales) ** 2).sum(-1))
    assert lazy.shape == (4, 2, M, N)
    np.testing.assert_allclose(lazy.sum(3)[..., 0], dense.sum(3))
    np.testing.assert_allclose(lazy.max(dim=2)[..., 0], dense.max(2))
    np.testing.assert_allclose(lazy @ Y, dense @ Y)
    np.testing.assert_allclose(lazy @ ys, dense @ ys)
    np.testing.assert_array_equal(lazy.argmin(3)[..., 0], dense.argmin(3))


def test_symbols() -> None:
    formula = (-((Vi(0, 3) - Vj(1, 3)) ** 2).sum(-1) * Pm(2, 1)).exp()
    assert formula.symbolic_variables == ((0, 3, 0), (1, 3, 1), (2, 1, 2))
    call = formula.sum(axis=1)
    expected = np.exp(-2 * DISTANCES).sum(1)[:, None]
    np.testing.assert_allclose(call(X, Y, np.array([2.0])), expected)
    single = call(*(v.astype("f4") for v in (X, Y, np.array([2.0]))))
    assert single.dtype == np.float32
    batch = call(np.stack([X, X]), Y, np.array([2.0]))
    np.testing.assert_allclose(batch, np.stack([expected, expected]))
    nearest = ((Vi(0, 3) - Vj(1, 3)) ** 2).sum(-1).Kmin_argKmin(2, dim=1)
    np.testing.assert_array_equal(nearest(X, Y)[1], DISTANCES.argsort(1)[:, :2])
    mixed = ((Vi(0, 3) - Vj(Y)) ** 2).sum(-1).min(axis=1)
    np.testing.assert_allclose(mixed(X)[:, 0], DISTANCES.min(1))
    held = ((Vi(X) - Vj(Y)) ** 2).sum(-1).sum(axis=1, call=False)
    np.testing.assert_allclose(held()[:, 0], DISTANCES.sum(1))
    with pytest.raises(ValueError, match="reduced"):
        held + 1
    with pytest.raises(ValueError, match="arguments"):
        call(X)
    with pytest.raises(ValueError, match="last dimension"):
        call(X[:, :2], Y, np.array([2.0]))


def test_constants() -> None:
    angle = LazyTensor(-1).acos() * LazyTensor(2.0)
    np.testing.assert_allclose((Vi(X) * angle).sum(1), X * 2 * np.pi)
    pairs = LazyTensor.cat((Pm(1.0), Pm(0.0)), dim=-1).tensorprod(Vi(X))
    expected = np.concatenate([X, 0 * X], 1)
    np.testing.assert_allclose(pairs.sum(1), expected)
    assert Vi(X) * 0 == 0


def test_a_formula_whose_parts_come_again_and_again_is_read_once() -> None:
    x = np.linspace(0, 0.1, 50)[:, None, None]
    y = np.linspace(0, 0.1, 40)[None, :, None]
    k = (LazyTensor(x) - LazyTensor(y)) ** 2
    expected = (x - y)[..., 0] ** 2
    for _ in range(60):  # 2^60 parts, written out
        k = k * k + k
        expected = expected * expected + expected
    found = k.sum(1)
    assert np.allclose(found[:, 0], expected.sum(1), rtol=1e-12)


def test_ranges_and_backends() -> None:
    keep = (
        np.array([[0, 2], [2, M]]),
        np.array([1, 2]),
        np.array([[0, 3], [3, N]]),
        np.array([[0, 3], [3, N]]),
        np.array([1, 2]),
        np.array([[0, 2], [2, M]]),
    )
    mask = np.zeros((M, N))
    mask[:2, :3] = mask[2:, 3:] = 1
    K = _kernel()
    K.ranges = keep
    K.backend = "CPU"
    np.testing.assert_allclose(K @ Y, (KERNEL * mask) @ Y)
    np.testing.assert_allclose(K.T @ X, (KERNEL * mask).T @ X)
    np.testing.assert_allclose((K * 2).sum(0)[:, 0], (KERNEL * mask).sum(0) * 2)
    np.testing.assert_allclose(
        _kernel().sum(1, ranges=keep)[:, 0], (KERNEL * mask).sum(1)
    )
    other = _kernel()
    other.backend = "GPU"
    with pytest.raises(ValueError, match="of backend"):
        K + other


def test_complex_numbers() -> None:
    Z = X + 1j * X[:, ::-1]
    V = Y[:, :1] - 1j * Y[:, 1:2]
    zi, vj = LazyTensor(Z[:, None]), LazyTensor(V[None])
    z, v = Z[:, None], V[None]
    assert isinstance(zi, ComplexLazyTensor)
    assert (zi.shape, zi._shape, zi.dtype) == (
        (M, 1, 3),
        (M, 1, 6),
        "complex128",
    )
    rows = [
        (zi * vj, z * v),
        (zi + vj - zi / vj, z + v - z / v),
        (zi * Vj(Y) + Vj(Y), z * y + y),
        (2 * zi + 1j * Vj(Y) - 1, 2 * z + 1j * y - 1),
        (zi.exp().conj() * vj, np.exp(z).conj() * v),
        ((zi * vj).real, (z * v).real),
        ((zi * vj).imag + zi.angle(), (z * v).imag + np.angle(z)),
        ((zi * vj).abs(), abs(z * v)),
        ((zi * vj).sum(-1), (z * v).sum(-1)[..., None]),
        (Vi(X).exp1j() * vj, np.exp(1j * x) * v),
        (Vi(X).real2complex() + Vi(X).imag2complex() * vj, x + 1j * x * v),
        (Vi(X) * (1 + 2j) + vj, x * (1 + 2j) + v),
        (1 / zi + 1 / vj, 1 / z + 1 / v),
        (-zi * vj, -z * v),
    ]
    for lazy, dense in rows:
        dense = np.broadcast_to(dense, (M, N, dense.shape[-1]))
        found = lazy.sum(axis=1)
        if lazy.nj is None:
            dense = dense[:, :1]
        assert found.dtype == dense.dtype
        np.testing.assert_allclose(found, dense.sum(1))
    K = (zi * Vj(Y)).sum(-1)
    dense = (z * y).sum(-1)
    np.testing.assert_allclose(K @ V, dense @ V)
    np.testing.assert_allclose(K @ Y, dense @ Y)
    np.testing.assert_allclose(_kernel() @ V[:, 0], KERNEL @ V[:, 0])


def test_solve() -> None:
    K = (-((Vi(X) - Vj(X)) ** 2).sum(-1) * 9).exp()
    dense = np.exp(-((x - X) ** 2).sum(-1) * 9) + 0.1 * np.eye(M)
    given = {"alpha": 0.1, "eps": 1e-12}
    expected = np.linalg.solve(dense, X)
    np.testing.assert_allclose(K.solve(X, **given), expected, rtol=1e-8)
    np.testing.assert_allclose(K.solve(Vi(X), **given), expected, rtol=1e-8)
    call = K.solve(Vi(0, 3), **given)
    np.testing.assert_allclose(call(X), expected, rtol=1e-8)
    unknown = Vj(0, 3)
    linear = (-((Vi(X) - Vj(X)) ** 2).sum(-1) * 9).exp() * unknown
    found = linear.solve(Vi(0, 3), var=unknown, **given)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    with pytest.raises(TypeError, match="unexpected"):
        K.solve(X, ridge=1)


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ValueError, lambda: LazyTensor(X)),
        (ValueError, lambda: LazyTensor(X[:, None], axis=0)),
        (ValueError, lambda: LazyTensor(P, axis=1)),
        (ValueError, lambda: LazyTensor(X[None].repeat(2, 0))),
        (ValueError, lambda: LazyTensor([1.0, 2.0], axis=0)),
        (ValueError, lambda: LazyTensor((0, 3))),
        (TypeError, lambda: LazyTensor("x")),
        (ValueError, lambda: Vi(X) + Vi(Y)),
        (ValueError, lambda: Vi(X) + Vj(Y)[:2]),
        (ValueError, lambda: Vi(X) | Vj(B)),
        (ValueError, lambda: Vi(X) ** "2"),
        (ValueError, lambda: Vi(X) + Vj(Y.astype("f4"))),
        (ValueError, lambda: Vi(X)[3]),
        (ValueError, lambda: Vi(X)[::2]),
        (ValueError, lambda: Vi(X)[0, 0]),
        (ValueError, lambda: (Vi(X) * Vj(Y)) @ Y),
        (ValueError, lambda: _kernel() @ X),
        (ValueError, lambda: _kernel().sum(5)),
        (ValueError, lambda: _kernel().sum_reduction(axis=-1)),
        (ValueError, lambda: _kernel().min(1, use_double_acc=True)),
        (ValueError, lambda: _kernel().sum(1, backend="TPU")),
        (TypeError, lambda: _kernel().sum(1, precision=3)),
        (ValueError, lambda: _kernel()()),
        (ValueError, lambda: Vi(X).difference_matrix(Vj(Y))),
        (ValueError, lambda: Vi(X).unary("Tangent")),
        (ValueError, lambda: (Vi(X) * 1j).exp1j()),
        (ValueError, lambda: (Vi(X) * 1j).min(1)),
    ],
)
def test_refusals(error, make) -> None:
    with pytest.raises(error):
        make()
