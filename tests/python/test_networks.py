# tests/python/test_networks.py - small networks on pairs, against NumPy.
"""Layers are products of a matrix with vectors of pairs: `W @ [x_i, y_j]` is
computed once a point, what is between two nonlinearities for a tile of pairs,
and what is after the last one once a row. All have the sums that the formula
says, of any widths, reductions, derivatives and instruction sets."""

from __future__ import annotations

import numpy as np
import pytest

import fake_gpu
import tilefold
from conftest import stages_of
from instruction_sets import HERE

N, M, D = 37, 53, 3
# Inputs, units, outputs: around what registers and steps of layers hold.
WIDTHS = [(6, 7), (16, 16), (24, 3), (3, 24), (65, 9), (33, 64), (130, 5)]
LAYER = "tanh(A @ [x_i, y_j, |x_i - y_j|] + c)"


class Network:
    """h = tanh(A @ [x, y, |x - y|] + c), z = relu(B @ h + d), w·z."""

    def __init__(self, units: int, outputs: int, dtype: str) -> None:
        random = np.random.default_rng(units)

        def normal(*shape: int) -> np.ndarray:
            # Numbers of float32, which all dtypes hold.
            return random.standard_normal(shape).astype("float32")

        arrays = {
            "x": normal(N, D),
            "y": normal(M, D),
            "A": normal(units, 2 * D + 1) / np.float32(2),
            "c": normal(units),
            "B": normal(outputs, units) / np.float32(4),
            "d": normal(outputs),
            "w": normal(outputs),
        }
        self.given = {n: a.astype(dtype) for n, a in arrays.items()}
        exact = {n: a.astype(float) for n, a in self.given.items()}
        x, y, self.A, c, self.B, d, self.w = exact.values()
        self.distance = np.linalg.norm(x[:, None] - y, axis=2)
        self.u = np.concatenate(
            [
                np.broadcast_to(x[:, None], (N, M, D)),
                np.broadcast_to(y, (N, M, D)),
                self.distance[..., None],
            ],
            axis=2,
        )
        self.h = np.tanh(self.u @ self.A.T + c)
        self.v = self.h @ self.B.T + d
        self.z = np.maximum(self.v, 0)

    def reduced(self, text: str, **settings) -> np.ndarray:
        formula = tilefold.compile(text)
        names = {name for name, _ in formula.names}
        given = {n: a for n, a in self.given.items() if n in names}
        return formula(given, **settings)


def is_near(found, wanted, dtype: str) -> bool:
    allowed = 3e-6 if dtype == "float32" else 1e-14
    return np.abs(found - wanted).max() <= allowed * np.abs(wanted).max()


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


SCORE = f"w·relu(B @ {LAYER} + d)"
FORMULAS = {
    # Layers between two nonlinearities.
    f"sum_j {SCORE}": lambda n: (n.z @ n.w).sum(1),
    f"sum_i {SCORE}": lambda n: (n.z @ n.w).sum(0),
    f"sum_ij {SCORE}": lambda n: (n.z @ n.w).sum(),
    f"max_j {SCORE}": lambda n: (n.z @ n.w).max(1),
    f"argmax_j {SCORE}": lambda n: (n.z @ n.w).argmax(1),
    f"logsumexp_j {SCORE}": lambda n: np.log(np.exp(n.z @ n.w).sum(1)),
    f"softmax_j({SCORE}, y_j)": lambda n: (
        softmax(n.z @ n.w) @ n.given["y"].astype(float)
    ),
    f"sum_j relu(B @ {LAYER} + d)": lambda n: n.z.sum(1),
    f"sum_i relu(B @ {LAYER} + d)": lambda n: n.z.sum(0),
    f"sum_j (|B @ {LAYER} + d|²)": lambda n: (n.v**2).sum((1, 2)),
    f"sum_j w·tanh(B @ ({LAYER}/(1 + |x_i - y_j|)) + d)": lambda n: (
        np.tanh(
            n.h / (1 + n.distance[..., None]) @ n.B.T + n.given["d"]
        ) @ n.w
    ).sum(1),
    # What leaves the sum.
    f"sum_j (B @ {LAYER} + d)": lambda n: n.v.sum(1),
    f"mean_j (B @ {LAYER} + d)": lambda n: n.v.mean(1),
    f"mean_j |x_i - y_j|*(B @ {LAYER})": lambda n: (
        n.distance[..., None] * (n.h @ n.B.T)
    ).mean(1),
    "sum_j (A @ [x_i, y_j, 1])": lambda n: (
        np.concatenate([n.u[..., :-1], np.ones((N, M, 1))], 2) @ n.A.T
    ).sum(1),
    # Below what jumps.
    f"sum_j (floor(B @ {LAYER} + d) >= 0)[0]": lambda n: (
        (np.floor(n.v) >= 0)[..., 0].sum(1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_networks(widths, dtype):
    network = Network(*widths, dtype)
    for text, compute in FORMULAS.items():
        wanted = compute(network)
        found = network.reduced(text)
        assert found.shape == wanted.shape, text
        assert is_near(found, wanted, dtype), text


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("text", [f"sum_j {SCORE}", SCORE])
def test_instruction_sets(text, isa):
    """And pair terms that are reduced by nothing."""
    network = Network(24, 9, "float32")
    options = tilefold.Options(isa=isa)
    if text == SCORE:
        kernel = tilefold.kernel(text, **network.given, options=options)
        assert is_near(kernel.dense(), network.z @ network.w, "float32")
        return
    found = network.reduced(text, options=options)
    assert is_near(found, (network.z @ network.w).sum(1), "float32")


@pytest.mark.parametrize(
    "widths", [(32, 32), (33, 40), (64, 33), (65, 97), (130, 64)], ids=str
)
def test_tolerances(widths):
    """Products of bf16, where the machine has blocks of them: within the
    tolerance, far nearer than one bf16 of each factor would be, and exact
    without one. Layers of vectors, of several layers, of rows from the left,
    of few columns and rows, and of what is not a number."""
    n = Network(*widths, "float32")
    more = np.random.default_rng(3).standard_normal((widths[1],) * 2)
    n.given["E"] = (more / widths[1] ** 0.5).astype("float32")
    n.given["T"] = n.given["B"].T
    z = np.maximum(n.h @ n.B.T, 0)
    deep = np.tanh(z @ n.given["E"].T.astype(float))
    formulas = {
        f"sum_j {SCORE}": (n.z @ n.w).sum(1),
        f"sum_i relu(B @ {LAYER} + d)": n.z.sum(0),
        f"sum_j (E @ relu(B @ {LAYER}))·d": (
            z @ n.given["E"].T.astype(float) @ n.given["d"]
        ).sum(1),
        f"sum_j tanh(E @ relu(B @ {LAYER}))": deep.sum(1),
        f"sum_j relu({LAYER} @ T)·w": (z @ n.w).sum(1),
        f"max_j {SCORE}": (n.z @ n.w).max(1),
    }
    options = tilefold.Options(tolerance=1e-4)
    for text, wanted in formulas.items():
        error = np.abs(n.reduced(text, options=options) - wanted).max()
        assert error < 3e-5 * np.abs(wanted).max(), text
        assert is_near(n.reduced(text), wanted, "float32"), text
    n.given["x"][3] = np.nan
    found = n.reduced(f"sum_j {SCORE}", options=options)
    assert np.isnan(found[3])
    assert np.isfinite(np.delete(found, 3)).all()


def test_from_the_left():
    """Row vectors times matrices."""
    for dtype in ("float32", "float64"):
        n = Network(24, 9, dtype)
        given = {
            "x": n.given["x"],
            "y": n.given["y"],
            "A": n.given["A"].T.copy(),
            "B": n.given["B"].T,  # with its strides
            "c": n.given["c"],
        }
        units = "tanh([x_i, y_j, |x_i - y_j|] @ A + c) @ B"
        for text, wanted in [
            (f"sum_j ({units})", (n.h @ n.B.T).sum(1)),
            (f"sum_j sin({units})", np.sin(n.h @ n.B.T).sum(1)),
        ]:
            assert is_near(tilefold.reduce(text, **given), wanted, dtype)


def test_products_of_lists():
    """Inner products, too, are cut where axes change."""
    n = Network(6, 7, "float64")
    given = {"x": n.given["x"], "y": n.given["y"], "v": n.given["A"][0]}
    found = tilefold.reduce("sum_j exp(v·[x_i, y_j, 1])", **given)
    v = given["v"]
    assert is_near(
        found, np.exp(n.u[..., :-1] @ v[:-1] + v[-1]).sum(1), "float64"
    )


def gradients(n: Network) -> dict[str, np.ndarray]:
    """Of the sum of w·z over all pairs, by hand."""
    of_v = np.where(n.v > 0, n.w, 0)
    of_h = of_v @ n.B * (1 - n.h**2)
    of_u = of_h @ n.A
    x, y = (n.given[name].astype(float) for name in "xy")
    along = (x[:, None] - y) / n.distance[..., None] * of_u[..., -1:]
    return {
        "x": (of_u[..., :D] + along).sum(1),
        "y": (of_u[..., D : 2 * D] - along).sum(0),
        "A": np.einsum("ijk,ijl->kl", of_h, n.u),
        "c": of_h.sum((0, 1)),
        "B": np.einsum("ijk,ijl->kl", of_v, n.h),
        "d": of_v.sum((0, 1)),
        "w": n.z.sum((0, 1)),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("widths", [(16, 16), (24, 7), (7, 24)], ids=str)
def test_gradients(widths, dtype):
    n = Network(*widths, dtype)
    formula = tilefold.compile(f"sum_j {SCORE}")
    ones = np.ones(N, dtype)
    for name, wanted in gradients(n).items():
        found = formula.grad(name)(**n.given, grad=ones)
        assert found.shape == wanted.shape, name
        assert is_near(found, wanted, dtype), name


@pytest.mark.checkout
def test_a_gpu_agrees():
    """The kernels for a card, on the host."""
    n = Network(16, 7, "float32")
    for text in (f"sum_j {SCORE}", f"sum_j (B @ {LAYER} + d)"):
        formula = tilefold.compile(text)
        names = {name for name, _ in formula.names}
        given = {k: a for k, a in n.given.items() if k in names}
        lent = {name: fake_gpu.array(a) for name, a in given.items()}
        found = fake_gpu.numpy(formula(lent, options=fake_gpu.settings()))
        assert is_near(found, FORMULAS[text](n), "float32"), text


def test_code_does_not_grow_with_units():
    """Layers are loops: of 256 units the code is about that of 16."""
    sizes = []
    for units in (16, 256):
        n = Network(units, units, "float32")
        stages = stages_of(tilefold.compile(f"sum_j {SCORE}"), **n.given)
        ways = stages["lowered kernel"]["value"]["contractions"]
        assert "layer" in {way["way"] for way in ways}
        sizes.append(len(stages["assembly"]["text"]))
    assert sizes[1] < 1.5 * sizes[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_networks_of_points(dtype):
    """Layers of points are computed once a point, where these are packed, and
    in maps and kernel matrices, too."""
    n = Network(24, 9, dtype)
    random = np.random.default_rng(5)
    given = {
        "x": n.given["x"],
        "y": n.given["y"],
        "A": random.standard_normal((24, D)).astype("float32"),
        "B": (random.standard_normal((9, 24)) / 4).astype("float32"),
    }
    given = {name: array.astype(dtype) for name, array in given.items()}
    x, y, A, B = (array.astype(float) for array in given.values())
    u, v = np.tanh(np.tanh(x @ A.T) @ B.T), np.tanh(np.tanh(y @ A.T) @ B.T)
    gaussian = np.exp(-((u[:, None] - v) ** 2).sum(2))
    text = "exp(-|f(x_i) - f(y_j)|²)"
    defined = " with f(z) = tanh(B @ tanh(A @ z))"
    found = tilefold.reduce(f"sum_j {text}{defined}", **given)
    assert is_near(found, gaussian.sum(1), dtype)
    found = tilefold.kernel(text + defined, **given).dense()
    assert is_near(found, gaussian, dtype)
    maps = {name: given[name] for name in "xAB"}
    found = tilefold.reduce(f"f(x_i){defined}", **maps)
    assert is_near(found, u, dtype)
    found = tilefold.reduce(f"relu(f(x_i) + sum_j f(y_j)){defined}", **given)
    assert is_near(found, np.maximum(u + v.sum(0), 0), dtype)


@pytest.mark.parametrize("size", [2, 3, 16, 33])
def test_products_of_differences(size):
    """Where a tolerance allows it, `A @ (x_i - y_j)` is a difference of
    products, of points that are far from the origin, too."""
    random = np.random.default_rng(size)
    given = {
        "x": 100 + random.random((N, size)),
        "y": 100 + random.random((M, size)),
        "A": random.standard_normal((size + 1, size)) / np.sqrt(size),
    }
    given = {name: a.astype("float32") for name, a in given.items()}
    x, y, A = (array.astype(float) for array in given.values())
    squares = (((x[:, None] - y) @ A.T) ** 2).sum(2)
    products = (np.tanh((x[:, None] - y) @ A.T)).sum(1)
    gaussian = "sum_j exp(-|A @ (x_i - y_j)|²)"
    for tolerance in (0, 1e-6):
        options = tilefold.Options(tolerance=tolerance)
        found = tilefold.reduce(gaussian, **given, options=options)
        assert np.abs(found / np.exp(-squares).sum(1) - 1).max() < 3e-6
        found = tilefold.reduce(
            "sum_j tanh(A @ (x_i - y_j))", **given, options=options
        )
        assert is_near(found, products, "float32")
    once = tilefold.compile(gaussian).explain(
        **given, options=tilefold.Options(tolerance=1e-6)
    )
    assert "sqdist" in once
    assert ": layer" not in once
