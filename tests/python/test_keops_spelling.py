# tests/python/test_keops_spelling.py - operations in KeOps spelling, and the
# natural ones they stand for, against NumPy and SciPy.
from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline

import tilefold
from tilefold import _core

ALIASES = [
    "x = Vi(6)", "y = Vj(6)", "z = Vj(3)", "a = Vi(4)", "s = Pm(1)",
    "w = Pm(6)", "q = Pm(36)", "t = Pm(9)", "u = Vj(5)",
]  # fmt: skip
rng = np.random.default_rng(0)
N, M = 7, 5
x, y = rng.normal(size=(N, 1, 6)), rng.normal(size=(1, M, 6))
z, a = rng.normal(size=(1, M, 3)), rng.normal(size=(N, 1, 4))
s, w, q = rng.uniform(0.5, 1, 1), rng.uniform(0.5, 1, 6), rng.normal(size=36)
u = rng.normal(size=(1, M, 5))
t = np.array([-4, -4, -4, -1, 0.25, 0.5, 4, 4, 4])
VALUES = {
    "x": x,
    "y": y,
    "z": z,
    "a": a,
    "s": s,
    "w": w,
    "q": q,
    "t": t,
    "u": u,
}
Q = q.reshape(6, 6)


def of_pairs(function, *arrays):
    """Of each pair's vectors."""
    return np.array(
        [
            [function(*[array[i % len(array), j % array.shape[1]]
                        for array in arrays]) for j in range(M)]
            for i in range(N)
        ]
    )  # fmt: skip


def soft_dtw(f, g, gamma):
    cells = np.full((len(f) + 1, len(g) + 1), np.inf)
    cells[0, 0] = 0
    for i, p in enumerate(f):
        for j, r in enumerate(g):
            before = [cells[i, j + 1], cells[i + 1, j], cells[i, j]]
            least = min(before)
            total = sum(np.exp((least - c) / gamma) for c in before)
            cells[i + 1, j + 1] = (p - r) ** 2 + least - gamma * np.log(total)
    return cells[-1, -1]


CASES = {
    "TensorProd(a, z)": of_pairs(np.outer, a, z),
    "SymSqNorm(q, x)": np.einsum("imk,kl,iml->im", x, Q, x),
    "WeightedSqNorm(s, x)": s * (x**2).sum(-1),
    "WeightedSqNorm(w, x)": (w * x**2).sum(-1),
    "WeightedSqNorm(q, x)": np.einsum("imk,kl,iml->im", x, Q, x),
    "WeightedSqDist(w, x, y)": (w * (x - y) ** 2).sum(-1),
    "WeightedSqDist(q, x, y)": np.einsum("imk,kl,iml->im", x - y, Q, x - y),
    "MatVecMult(q, x)": x @ Q.T,
    "VecMatMult(x, q)": x @ Q,
    "MatVecMult(x, z)": of_pairs(lambda f, g: f.reshape(2, 3) @ g, x, z),
    "VecMatMult(z, x)": of_pairs(lambda g, f: g @ f.reshape(3, 2), z, x),
    "SumT(Sum(x), 4)": np.repeat(x.sum(-1, keepdims=True), 4, -1),
    "ElemT(Sum(x), 5, 3)": x.sum(-1, keepdims=True) * np.eye(5)[3],
    "ExtractT(z, 2, 8)": np.pad(z, ((0, 0), (0, 0), (2, 3))),
    "OneHot(ArgMax(x), 6)": np.eye(6)[x.argmax(-1)],
    "ArgMax(x*y)": (x * y).argmax(-1),
    "ArgMin(x*y)": (x * y).argmin(-1),
    "DiffClampInt(x, 0, 1)": ((x >= 0) & (x <= 1)) * 1.0,
    "Rsqrt(ReLU(x))": np.where(x > 0, np.maximum(x, 1e-300) ** -0.5, 0),
    "Normalize(x - x)": 0 * x,
    "Kron(a, z, [2, 2], [3, 1])": of_pairs(
        lambda f, g: np.kron(f.reshape(2, 2), g.reshape(3, 1)), a, z
    ),
    "TensorDot(x, z, [2, 3], [3], [1], [0])": of_pairs(
        lambda f, g: f.reshape(2, 3) @ g, x, z
    ),
    "TensorDot(x, y, [2, 3], [3, 2], [0], [1], [1, 0])": of_pairs(
        lambda f, g: (
            np.tensordot(f.reshape(2, 3), g.reshape(3, 2), ([0], [1])).T
        ),
        x,
        y,
    ),
    "TensorDot(x, y, [2, 3], [3, 2, 1], [1], [0], [1, 2, 0])": of_pairs(
        lambda f, g: np.moveaxis(
            np.tensordot(f.reshape(2, 3), g.reshape(3, 2, 1), ([1], [0])),
            [0, 1, 2],
            [1, 2, 0],
        ),
        x,
        y,
    ),
    "BSpline(t, Elem(x, 0), 2)": BSpline.design_matrix(
        x[:, 0, 0], t, 2
    ).toarray()[:, None, :],
    "SoftDTW_SqDist(a, z, s)": of_pairs(
        lambda f, g: soft_dtw(f, g, s[0]), a, z
    ),
    "Grad(SqDist(x, y), x, s)": 2 * s * (x - y),
    "Grad(x*SqNorm2(x), x, y)": y * (x**2).sum(-1, keepdims=True)
    + 2 * x * (x * y).sum(-1, keepdims=True),
    "Grad_WithSavedForward(SqDist(x, y), x, s, s)": 2 * s * (x - y),
    "Diff(SqDist(x, y), x, y)": 2 * ((x - y) * y).sum(-1),
    "GradMatrix(Square(x), x)": of_pairs(lambda f: np.diag(2 * f), x),
    "GradMatrix(SqNorm2(x), x)": 2 * x,
    "Divergence(x*SqNorm2(x), x)": 8 * (x**2).sum(-1),
    "Laplacian(SqNorm2(x)*SqNorm2(y), x)": 12 * (y**2).sum(-1),
    "TraceOperator(MatVecMult(q, x), x)": np.full((N, 1), np.trace(Q)),
    "AdjointOperator(MatVecMult(q, x), x, y)": y @ Q,
    "SumLinOperator(MatVecMult(q, x), x)": np.full((N, 1), Q.sum()),
}


@pytest.mark.parametrize("text", CASES)
def test_against_numpy(text):
    natural = _core.natural_spelling(text, ALIASES)
    on_i = {name: VALUES[name][:, 0] for name in "xa"}
    on_j = {name: VALUES[name][0] for name in "yzu"}
    names = {name for name, _ in tilefold.compile(natural).names}
    arguments = {
        k: v for k, v in {**VALUES, **on_i, **on_j}.items() if k in names
    }
    kernel = tilefold.kernel(
        f"({natural}) + 0*(e_i*h_j)",
        {**arguments, "e": np.ones(N), "h": np.ones(M)},
    )
    found = kernel.dense()
    expected = CASES[text]
    shape = found.shape
    expected = expected.reshape(*expected.shape[:2], *shape[2:])
    np.testing.assert_allclose(
        found, np.broadcast_to(expected, shape), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kron(x_i, x_i, [2, 2], [1, 6])", "kron of the shape [2, 2]\n"),
        ("kron(x_i, x_i, [6], [1, 6])", "kron of the shapes [6] and [1, 6]\n"),
        (
            "tensordot(x_i, x_i, [2, 3], [2, 3], [0], [1])",
            "tensordot of the axes [0] of [2, 3] and [1] of [2, 3]\n",
        ),
        (
            "tensordot(x_i, x_i, [2, 3], [3, 2], [1], [0], [0, 0])",
            "tensordot of the order [0, 0]\n",
        ),
        ("bspline(x_i, 1, 5)", "bspline of a vector of 6 components and"),
        ("softdtw(A, x_i, 1)", "softdtw of a matrix of 2 × 2 components and"),
        ("pad(x_i, 3, 8)", "pad of a vector of 6 components from 3 on"),
        ("matvec(x_i, [1, 2, 3, 4])", "matvec of a vector of 6 components and"),
        ("arange(5000)*x_i", "a vector of 5000 components is written out"),
        ("repeat(1, 0)*x_i", "a vector of 0 components is written out"),
        ("arange(1.5)*x_i", "a size given to arange must be an integer"),
        ("onehot(1, k)*x_i", "a size given to "),
    ],
)
def test_refusals(text, message):
    arguments = {"x": x[:, 0], "A": np.eye(2), "k": 3}
    used = {k: v for k, v in arguments.items() if k in text.replace("kron", "")}
    with pytest.raises(tilefold.Error) as caught:
        tilefold.reduce(text, used)
    assert str(caught.value).startswith(message)


REDUCTIONS = {
    ("Sum", 1, "", 0): lambda k, b: k @ b,
    ("Sum", 0, "", 0): lambda k, b: (k * b).sum(0),
    ("LogSumExp", 1, "", 0): lambda k, b: np.log(np.exp(k * b).sum(1)),
    ("SumSoftMaxWeight", 1, "b", 0): lambda k, b: (
        (np.exp(k * b) @ b) / np.exp(k * b).sum(1)
    ),
    ("KMin", 1, "", 2): lambda k, b: np.sort(k * b, 1)[:, :2],
    ("ArgMin", 1, "", 0): lambda k, b: (k * b).argmin(1),
}


@pytest.mark.parametrize("how", REDUCTIONS, ids=[r[0] for r in REDUCTIONS])
def test_a_reduction_as_genred_takes_it(how):
    operation, axis, weights, count = how
    text = tilefold.natural_spelling(
        "Exp(-SqDist(x,y)*g)*b",
        ["x = Vi(6)", "y = Vj(6)", "g = Pm(1)", "b = Vj(1)"],
        reduction=operation,
        axis=axis,
        formula2=weights,
        opt_arg=count,
    )
    right = rng.random(M)
    out = tilefold.reduce(text, x=x[:, 0], y=y[0], g=0.5, b=right)
    dense = np.exp(-0.5 * ((x - y) ** 2).sum(-1))
    np.testing.assert_allclose(out, REDUCTIONS[how](dense, right), 1e-12)


def test_there_are_two_axes():
    with pytest.raises(
        tilefold.ArgumentError, match="0 to reduce over i, or 1 over j"
    ):
        tilefold.natural_spelling("x", ["x = Vi(3)"], reduction="Sum", axis=2)
