# tests/python/test_notations.py - notations of mathematics: what they are
# read as, against NumPy.
from __future__ import annotations

import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE

rng = np.random.default_rng(5)
N, M, D = 9, 7, 3
x, y = rng.random((N, D)), rng.random((M, D))
b, c, s = rng.random(M), rng.random(N), rng.random(N)
A = rng.random((D, D))
v = rng.random((M, 2))
difference = x[:, None] - y
r = np.linalg.norm(difference, axis=-1)
K = np.exp(-(r**2))
i, j = np.arange(N)[:, None], np.arange(M)
own = np.linalg.norm(x[:, None] - x, axis=-1)
off = ~np.eye(N, dtype=bool)
inverse = np.divide(1, own, where=off, out=np.zeros((N, N)))
ARRAYS = {"x": x, "y": y, "b": b, "c": c, "s": s, "A": A, "v": v, "l": 0.6}


def compute(text, **more):
    """The result, or the whole matrix of a pair term."""
    formula = tilefold.compile(text)
    known = ARRAYS | more
    arguments = {name: known[name] for name, _ in formula.names} | more
    try:
        return formula(arguments)
    except tilefold.FormulaError as error:
        if error.code != "NoReduction":
            raise
    return tilefold.kernel(formula, arguments).dense()


READ = {
    # a root takes one number or name
    "√5 c_i": np.sqrt(5) * c,
    "√5|x_i-y_j|/l": np.sqrt(5) * r / 0.6,
    "√c_i √s_i": np.sqrt(c * s),
    "(1 + √5 r/l + 5r²/3l²) exp(-√5 r/l) with r = |x_i-y_j|": (
        1 + np.sqrt(5) * r / 0.6 + 5 * r**2 / 3 / 0.36
    )
    * np.exp(-np.sqrt(5) * r / 0.6),
    # a variable before a parenthesis
    "sum_j b_j (y_j - x_i)": b @ y - b.sum() * x,
    "sum_j b_j(y_j-x_i)": b @ y - b.sum() * x,
    # a factor of a call of sum or mean
    "sum_j(b_j)*2": 2 * b.sum(),
    "sum_j(c_i b_j)/l + c_i": c * b.sum() / 0.6 + c,
    "mean_j(K)/2l with K = exp(-|x_i-y_j|²)": K.mean(1) / 1.2,
    "sum_j(y_j)·[1, 2, 3]": y.sum(0) @ [1, 2, 3],
    # other names of functions
    "ln(c_i) + arcsin(c_i) - arccos(c_i)": np.log(c)
    + np.arcsin(c)
    - np.arccos(c),
    "arctan(c_i) + arctan2(c_i, b_j) - sgn(b_j - c_i)": np.arctan(c)[:, None]
    + np.arctan2(c[:, None], b)
    - np.sign(b - c[:, None]),
    # the same reduction over both axes
    "sum_i sum_j exp(-|x_i-y_j|²) b_j": (K @ b).sum(),
    "sum_j sum_i exp(-|x_i-y_j|²) b_j": (K @ b).sum(),
    "max_i max_j |x_i-y_j|": r.max(),
    "min_i(min_j(|x_i-y_j|))": r.min(),
    "mean_i t with t = mean_j |x_i-y_j|": r.mean(),
    "logsumexp_i logsumexp_j(|x_i-y_j|)": np.log(np.exp(r).sum()),
    "any_i any_j (|x_i-y_j| < 0.2)": np.bool_((r < 0.2).any()),
    "sum_i sum_j exp(im*|x_i-y_j|)": np.exp(1j * r).sum(),
    "sum_i sum_j exp(-|x_i-y_j|²) v_j": K.sum(0) @ v,
    # conditions as factors
    "sum_j [i≠j] c_i b_j": (i != j) @ b * c,
    "sum_j (i≠j) c_i b_j": (i != j) @ b * c,
    "sum_j b_j*(i≠j)*c_i": (i != j) @ b * c,
    "sum_j 2[i≠j] [c_i < b_j] b_j": 2 * ((i != j) & (c[:, None] < b)) @ b,
    "sum_j (i≠j) (c_i < b_j)": ((i != j) & (c[:, None] < b)).sum(1),
    "sum_j -[i≠j] (y_j - x_i)": -((i != j)[..., None] * -difference).sum(1),
    # … where the other factors are infinite or NaN
    "sum_j [i≠j] c_j/|x_i-x_j|": inverse @ c,
    "sum_j (i≠j) c_j/|x_i-x_j|": inverse @ c,
    "sum_j c_j*[i≠j]/|x_i-x_j|": inverse @ c,
    "sum_j (i≠j)/|x_i-x_j|*c_j": inverse @ c,
    "sum_j t/|x_i-x_j| with t = [i≠j] c_j": inverse @ c,
    "sum_j [i≠j] c_j (x_j - x_i)/|x_i-x_j|³": np.einsum(
        "ij,j,ijk->ik", inverse**3, c, x[None] - x[:, None]
    ),
    "sum_j [i≠j] exp(im*c_j)/|x_i-x_j|": inverse @ np.exp(1j * c),
    "sum_j [i≠j] log(|x_i-x_j|)*x_j·x_i": np.where(
        off, np.log(np.where(off, own, 1)) * (x @ x.T), 0
    ).sum(1),
    # a quotient by a number, and a function
    "c_i + 0*x_i[0] - D/2 log(2π)": c - 1.5 * np.log(2 * np.pi),
    "- D/2 log(2π) + c_i + 0*x_i[0]": c - 1.5 * np.log(2 * np.pi),
    "1/2 exp(-|x_i-y_j|²) c_i": K / 2 * c[:, None],
    # transposes
    "sum_j x_i^T y_j b_j": x @ y.T @ b,
    "sum_j xᵢᵀyⱼ": (x @ y.T).sum(1),
    "x_i^T A y_j": x @ A @ y.T,
    "xᵢᵀ A yⱼ/l": x @ A @ y.T / 0.6,
    "x_i^⊤ A A y_j": x @ A @ A @ y.T,
    "exp(-(x_i - y_j)^T (x_i - y_j)/2)": np.exp(-(r**2) / 2),
    "(x_i - y_j)^T A*(x_i - y_j)": np.einsum(
        "ijk,kl,ijl->ij", difference, A, difference
    ),
    "sum_j -2 x_i^T y_j x_i": -2 * (x @ y.T).sum(1)[:, None] * x,
    "(x_i^T - y_j^T) x_i": np.einsum("ijk,ik->ij", difference, x),
    "(c_i x_i^T)·y_j": c[:, None] * (x @ y.T),
    "⟨x_i, y_j⟩": x @ y.T,
    "⟨x_i - y_j, A @ y_j⟩²": np.einsum("ijk,jk->ij", difference, y @ A.T) ** 2,
    "sum_j ⟨c_i, b_j⟩": c * b.sum(),
    "sum_j [i≠j] x_i^T A x_j/|x_i-x_j|": (inverse * (x @ A @ x.T)).sum(1),
    "sum_j -x_i^T*[i≠j]*x_j*c_j": -(off * (x @ x.T)) @ c,
    "sum_j c_j*(i≠j)*x_i^T x_j/|x_i-x_j|": (inverse * (x @ x.T)) @ c,
    # sizes
    "sum_j exp(-|x_i-y_j|²) b_j/M": K @ b / M,
    "sum_j(exp(-|x_i-y_j|²))/M": K.mean(1),
    "sum_ij |x_i-y_j|/(N*M)": r.mean(),
    "sum_j (2π)^(-D/2) exp(-|x_i-y_j|²/2) b_j": np.exp(-(r**2) / 2)
    @ b
    / (2 * np.pi) ** 1.5,
    "sum_j where(abs(i - j) < N/2, exp(-|x_i-y_j|²), 0)": np.where(
        abs(i - j) < N / 2, K, 0
    ).sum(1),
    "sum_j c_i b_j*D": c * b.sum(),
    "sum_j sum(y_j)/M": y.sum() / M,
    "(var_j(|x_i-y_j|))*M/(M - 1)": r.var(1, ddof=1),
    "sum_j onehot(0*b_j, D)·y_j": y[:, 0].sum(),
    "sum_j D*exp(-|x_i-y_j|²) v_j": 3 * K @ v,
    "N*M + D + 0*x_i·y_j": np.full((N, M), float(N * M + D)),
}


@pytest.mark.parametrize("text", READ)
def test_a_notation_is_read(text):
    np.testing.assert_allclose(compute(text), READ[text], 1e-10, 1e-12)


@pytest.mark.parametrize("isa", [PORTABLE[0], None])
def test_masks_of_factors_hold_on_many_points(isa):
    """Tiles in which the condition cannot hold are left out."""
    points = np.random.default_rng(0).random((600, 2))
    options = tilefold.Options(isa=isa) if isa else None
    out = tilefold.reduce(
        "sum_j [abs(i - j) < 20] [i≠j]/|x_i-x_j|", x=points, options=options
    )
    k = np.arange(600)
    gap = abs(k[:, None] - k)
    distance = np.linalg.norm(points[:, None] - points, axis=-1)
    want = np.where((gap < 20) & (gap > 0), 1 / (distance + (gap == 0)), 0)
    np.testing.assert_allclose(out, want.sum(1), 1e-10)


def test_gradients_of_notations():
    ones = np.ones(N)
    gravity = tilefold.compile("sum_j [i≠j] c_j/|x_i-x_j|")
    np.testing.assert_allclose(
        gravity.grad("c")(x=x, c=c, grad=ones), inverse.sum(0), 1e-10
    )
    assert np.isfinite(gravity.grad("x")(x=x, c=c, grad=ones)).all()
    mean = tilefold.compile("sum_j exp(-|x_i-y_j|²) b_j/M")
    np.testing.assert_allclose(
        mean.grad("b")(x=x, y=y, b=b, grad=ones), K.sum(0) / M, 1e-10
    )
    total = tilefold.compile("sum_i sum_j exp(-|x_i-y_j|²) b_j")
    np.testing.assert_allclose(
        total.grad("b")(x=x, y=y, b=b, grad=1.0), K.sum(0), 1e-10
    )
    form = tilefold.compile("sum_j x_i^T A y_j")
    np.testing.assert_allclose(
        form.grad("A")(x=x, y=y, A=A, grad=ones),
        np.outer(x.sum(0), y.sum(0)),
        1e-10,
    )


def test_an_argument_takes_the_place_of_a_size_and_of_t():
    np.testing.assert_allclose(compute("sum_j c_i b_j/M", M=2.0),
                               c * b.sum() / 2)  # fmt: skip
    np.testing.assert_allclose(compute("sum_j N_i b_j", N=c), c * b.sum())
    np.testing.assert_allclose(compute("sum_j D b_j", D=4), 4 * b.sum())
    np.testing.assert_allclose(compute("k(b_j) with k(N) = N²"), b**2)
    np.testing.assert_allclose(compute("N*b_j with N = 4"), 4 * b)
    np.testing.assert_allclose(compute("c_i^T b_j", T=3),
                               c[:, None]**3 * b)  # fmt: skip
    np.testing.assert_allclose(
        compute("c_i^T b_j exp(-T)", T=3), c[:, None] ** 3 * b * np.exp(-3)
    )
    assert tilefold.compile("sum_j x_i^T y_j/M").names == [("x", 1), ("y", 2)]


def test_sizes_are_those_of_the_call():
    """One kernel for all numbers of points."""
    session = tilefold.Session()
    formula = tilefold.compile("sum_j exp(-|x_i-y_j|²) N/M", session=session)
    for n in (5000, 5001, 6000, 7003):
        points = rng.random((n, 2))
        out = formula(x=points[:40], y=points)
        square = ((points[:40, None] - points) ** 2).sum(-1)
        np.testing.assert_allclose(out, np.exp(-square).sum(1) * 40 / n, 1e-10)
    statistics = session.stats()
    assert statistics.compiles + statistics.disk_hits <= 1
    for few in (1, 2, 3):
        np.testing.assert_allclose(
            compute("sum_j exp(-|x_i-y_j|²) N/M", x=x[:few]),
            K[:few].sum(1) * few / M, 1e-10,
        )  # fmt: skip
        np.testing.assert_allclose(
            compute("sum_j exp(-|x_i-y_j|²) N/M", y=y[:few]),
            K[:, :few].sum(1) * N / few, 1e-10,
        )  # fmt: skip
    one = tilefold.compile("sum_j D*exp(-|x_i-y_j|²) v_j")
    for width in (1, 2, 5, 40):
        wide = rng.random((M, width))
        np.testing.assert_allclose(one(x=x, y=y, v=wide), 3 * K @ wide, 1e-10)
        assert one.check(x=x, y=y, v=wide) < 1e-12


def test_sizes_of_batches_and_ranges():
    clouds = np.stack([x, 2 * x])
    out = compute("sum_j exp(-|x_i-y_j|²) N/M", x=clouds)
    np.testing.assert_allclose(out[0], K.sum(1) * N / M, 1e-10)
    tiles = tilefold.Ranges([0, 4, N], [0, 3, M], np.eye(2, dtype=bool))
    out = tilefold.reduce("sum_j exp(-|x_i-y_j|²) N/M", x=x, y=y, ranges=tiles)
    want = np.append(K[:4, :3].sum(1), K[4:, 3:].sum(1)) * N / M
    np.testing.assert_allclose(out, want, 1e-10)


def test_a_kernel_keeps_its_sizes_on_its_parts():
    kernel = tilefold.kernel("exp(-|x_i-y_j|²)*N/M/D", x=x, y=y)
    matrix = K * N / M / D
    np.testing.assert_allclose(kernel.dense(), matrix, 1e-10)
    np.testing.assert_allclose(kernel[:2].dense(), matrix[:2], 1e-10)
    np.testing.assert_allclose(kernel[3], matrix[3], 1e-10)
    np.testing.assert_allclose(
        kernel[:, :2] @ b[:2], matrix[:, :2] @ b[:2], 1e-10
    )
    np.testing.assert_allclose(kernel.T[1:3].dense(), matrix.T[1:3], 1e-10)
    np.testing.assert_allclose(kernel[[0, 3], [1, 2]], matrix[[0, 3], [1, 2]])
    plane = tilefold.kernel("|p_i-q_j|*N*D", p=x[:2, :2], q=y[:, :2])
    both = (kernel[:2] + plane).dense()
    flat = np.linalg.norm(x[:2, None, :2] - y[None, :, :2], axis=-1)
    np.testing.assert_allclose(both, matrix[:2] + flat * 4, 1e-10)
    given = tilefold.kernel("exp(-|x-y|²)*N", x=x, y=y, N=7.0)
    np.testing.assert_allclose(given.dense(), 7 * K, 1e-10)
    square = tilefold.kernel("exp(-|x_i-x_j|²)/N + 0.1*(i == j)", x=x)
    dense = np.exp(-(own**2)) / N + 0.1 * np.eye(N)
    np.testing.assert_allclose(
        square.solve(c, preconditioner="nystrom"),
        np.linalg.solve(dense, c), 1e-5,
    )  # fmt: skip


def test_a_matrix_of_any_size_takes_one_kernel():
    session = tilefold.Session()
    text = "exp(-|x_i-y_j|²)*(i + N)/M + x_i[0]^N"
    for n in (5000, 5001, 6003):
        points = rng.random((n, 2))
        matrix = tilefold.kernel(text, x=points[:9], y=points, session=session)
        rows = matrix[2:7]
        square = ((points[2:7, None] - points) ** 2).sum(-1)
        dense = np.exp(-square) * np.arange(11, 16)[:, None] / n
        dense += points[2:7, :1] ** 9
        np.testing.assert_allclose(rows.sum(1), dense.sum(1), 1e-10)
    statistics = session.stats()
    assert statistics.compiles + statistics.disk_hits <= 1
    table = np.arange(N + M + 0.0)
    text = "v[j - i + N - 1] + 0*(x_i·y_j)"
    shifted = tilefold.kernel(text, x=x, y=y, v=table)
    places = np.arange(M) - np.arange(N)[:, None] + N - 1
    assert (shifted.dense() == table[places]).all()
    assert (shifted[1:].dense() == table[places][1:]).all()


def test_sizes_in_recorded_tensors():
    torch = pytest.importorskip("torch")
    t = torch.tensor(x, requires_grad=True)
    out = tilefold.reduce("sum_j exp(-|x_i-x_j|²)/N", x=t)
    want = torch.exp(-((t[:, None] - t) ** 2).sum(-1)).sum(1) / N
    torch.testing.assert_close(out, want)
    (by_us,) = torch.autograd.grad(out.sum(), t)
    (by_torch,) = torch.autograd.grad(want.sum(), t)
    torch.testing.assert_close(by_us, by_torch)
    kernel = tilefold.kernel("exp(-|x_i-x_j|²)/N", x=t)
    torch.testing.assert_close(
        kernel[:2] @ torch.ones(N, dtype=t.dtype), want[:2]
    )


@pytest.mark.parametrize("text", ["sum_j (u·w)*b", "sum_j(u·w)*b"])
def test_a_declared_factor_is_inside_the_sum(text):
    """A bare name may be an array on j: tilefold.Vj says so."""
    out = tilefold.reduce(
        text, u=tilefold.Vi(x), w=tilefold.Vj(y), b=tilefold.Vj(b)
    )
    np.testing.assert_allclose(out, x @ y.T @ b, 1e-10)
