# tests/python/test_gradients.py - derivatives of formulas against PyTorch's
# of the dense matrix, in float64.
from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

import tilefold
from gradient_cases import CASES, B, C, M, N, X, Y

TOLERANCE = 1e-12

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
POINTS = {"x": X, "y": Y, "b": B, "l": 0.7}


def close(found, wanted, tolerance=TOLERANCE):
    """Equal shapes, and values to `tolerance` of the largest."""
    wanted = np.asarray(wanted)
    assert np.shape(found) == wanted.shape
    scale = np.abs(wanted).max(initial=1e-300)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * scale)


class Dense:
    """A case in PyTorch: tensors that require grad, and the result."""

    def __init__(self, case):
        self.tensors = {
            name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
            for name, value in case.arguments.items()
        }
        self.result = case.dense(**self.tensors)
        random = np.random.default_rng(1)
        self.cotangent = random.standard_normal(tuple(self.result.shape))
        self.tangents = {
            name: random.standard_normal(np.shape(value))
            for name, value in case.arguments.items()
        }

    def gradients(self, of, cotangent):
        """By all arguments; zeros where there is no dependence."""
        return torch.autograd.grad(
            of,
            list(self.tensors.values()),
            torch.as_tensor(cotangent),
            create_graph=True,
            allow_unused=True,
            materialize_grads=True,
        )


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("name", CASES)
def test_gradients_by_all_arguments_and_by_each(name):
    case = CASES[name]
    dense = Dense(case)
    f = tilefold.compile(case.text)
    close(f(case.arguments), dense.result.detach())
    arguments = {**case.arguments, "grad": dense.cotangent}
    wanted = dense.gradients(dense.result, dense.cotangent)
    together = as_tuple(f.grad(list(case.arguments))(arguments))
    for argument, gradient, by_torch in zip(
        case.arguments, together, wanted, strict=True
    ):
        close(gradient, by_torch.detach())
        close(f.grad(argument)(arguments), by_torch.detach())


@pytest.mark.parametrize("name", CASES)
def test_derivatives_along_tangents(name):
    case = CASES[name]
    dense = Dense(case)
    names = list(case.arguments)
    _, wanted = torch.autograd.functional.jvp(
        lambda *values: case.dense(**dict(zip(names, values, strict=True))),
        tuple(tensor.detach() for tensor in dense.tensors.values()),
        tuple(torch.as_tensor(t) for t in dense.tangents.values()),
    )
    tangents = {f"tangent_{name}": t for name, t in dense.tangents.items()}
    f = tilefold.compile(case.text).jvp(names)
    close(f({**case.arguments, **tangents}), wanted)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives(name):
    """Of the first argument's gradient times a vector, by all."""
    case = CASES[name]
    dense = Dense(case)
    first = next(iter(case.arguments))
    gradient = dense.gradients(dense.result, dense.cotangent)[0]
    wanted = dense.gradients(gradient, dense.tangents[first])
    f = tilefold.compile(case.text).grad(first)
    g = f.grad(list(case.arguments), cotangent="again")
    arguments = {
        **case.arguments,
        "grad": dense.cotangent,
        "again": dense.tangents[first],
    }
    for found, by_torch in zip(as_tuple(g(arguments)), wanted, strict=True):
        close(found, by_torch.detach(), 1e-11)


def test_third_derivatives():
    x = torch.tensor(X[:, 0], requires_grad=True)
    y = torch.tensor(Y[:, 0])
    value = torch.exp(-((x[:, None] - y) ** 2)).sum()
    for _ in range(3):
        (value,) = torch.autograd.grad(value.sum(), x, create_graph=True)
    f = tilefold.compile("sum_ij exp(-(x_i - y_j)²)")
    g = f.grad("x").grad("x", cotangent="g2").grad("x", cotangent="g3")
    found = g(x=X[:, 0], y=Y[:, 0], g2=1.0, g3=1.0)
    close(found, value.detach())


# ---- inside formulas --------------------------------------------------------


@pytest.fixture
def pairs():
    """x_i - y_j and their Gaussian kernel, length scale 1."""
    differences = X[:, None] - Y[None]
    return differences, np.exp(-(differences**2).sum(-1) / 2)


KERNEL = "exp(-|x_i - y_j|²/2)"


def test_grad_in_a_formula(pairs):
    d, k = pairs
    found = tilefold.reduce(f"sum_j grad({KERNEL}, x_i) b_j", x=X, y=Y, b=B)
    close(found, -((k * B)[..., None] * d).sum(1))


CONSTANT = {
    "sum_j grad(x_i·y_j, x_i)": np.tile(Y.sum(0), (len(X), 1)),
    "sum_j grad(|y_j|², x_i)*b_j": np.zeros_like(X),
    "sum_j laplacian(x_i·y_j, x_i)": np.zeros(len(X)),
    "sum_j laplacian(|x_i|² + |y_j|, x_i)": np.full(len(X), 6.0 * len(Y)),
    "sum_j divergence(x_i, x_i)*b_j": np.full(len(X), 3 * B.sum()),
    "sum_j jvp(x_i·y_j, x_i, y_j)": np.full(len(X), (Y**2).sum()),
    "sum_i grad(x_i·y_j, y_j)": np.tile(X.sum(0), (len(Y), 1)),
    "sum_i (sum_j grad(x_i·y_j, x_i))*c_i": C.sum() * Y.sum(0),
}


@pytest.mark.parametrize("text", CONSTANT)
def test_a_derivative_is_of_each_point_where_it_is_the_same(text):
    arrays = {"x": X, "y": Y, "b": B, "c": C}
    used = {name for name, _ in tilefold.compile(text).names}
    found = tilefold.reduce(text, {name: arrays[name] for name in used})
    close(found, CONSTANT[text])


def test_laplacian_in_a_formula(pairs):
    d, k = pairs
    found = tilefold.reduce(f"sum_j laplacian({KERNEL}, x_i)", x=X, y=Y)
    close(found, (k * ((d**2).sum(-1) - 3)).sum(1))


def test_divergence_in_a_formula(pairs):
    d, k = pairs
    text = f"sum_j divergence(x_i*{KERNEL}, x_i)"
    wanted = (k * (3 - (d * X[:, None]).sum(-1))).sum(1)
    close(tilefold.reduce(text, x=X, y=Y), wanted)


def test_jvp_in_a_formula(pairs):
    d, k = pairs
    found = tilefold.reduce(f"sum_j jvp({KERNEL}, x_i, y_j)", x=X, y=Y)
    close(found, -((d * Y[None]).sum(-1) * k).sum(1))


def test_grad_of_a_reduction_in_a_formula(pairs):
    """It needs the reduction's result before its own: two sweeps."""
    d, k = pairs
    p = k / k.sum(1, keepdims=True)
    text = "grad(logsumexp_j(-|x_i - y_j|²/2), x_i)"
    close(tilefold.reduce(text, x=X, y=Y), -(p[..., None] * d).sum(1))


def test_grad_in_a_lazy_kernel(pairs):
    d, k = pairs
    text = f"grad({KERNEL}, x_i)·grad({KERNEL}, y_j)"
    kernel = tilefold.kernel(text, x=X, y=Y)
    close(kernel.dense(), -(k**2) * (d**2).sum(-1))


# ---- where no derivative exists ---------------------------------------------


NOT_SMOOTH = {
    "norm": "sum_j |x_i - x_j|",
    "Laplace kernel": "sum_j exp(-|x_i - x_j|) c_j",
    "Matérn 3/2": "sum_j (1 + √3*|x_i-x_j|) * exp(-√3*|x_i-x_j|) * c_j",
    "square root": "sum_j sqrt(|x_i - x_j|²)",
    "guarded inverse": "sum_j pinv(|x_i - x_j|)",
    "angle": "sum_j atan2(x_i[0] - x_j[0], x_i[1] - x_j[1])",
    "absolute value": "sum_j abs(x_i[0] - x_j[0])",
}


@pytest.mark.parametrize("name", NOT_SMOOTH)
def test_coincident_points_have_finite_gradients(name):
    text = NOT_SMOOTH[name]
    x = np.concatenate([X, X[:3]])  # each with itself, three with a copy
    arguments = {"x": x, "grad": np.ones(len(x))}
    if "c_j" in text:
        arguments["c"] = np.concatenate([C, C[:3]])
    f = tilefold.compile(text).grad("x")
    gradient = f(arguments)
    assert np.isfinite(gradient).all()
    second = f.grad("x", cotangent="again")(arguments, again=gradient)
    assert np.isfinite(second).all()


def test_the_gradient_of_a_norm_at_0_is_0():
    x = np.zeros((2, 3))
    f = tilefold.compile("sum_j |x_i - x_j|")
    close(f.grad("x")(x=x, grad=1.0), np.zeros((2, 3)))


def test_the_gradient_of_an_extremum_goes_to_the_first_of_equals():
    f = tilefold.compile("max_j x_i*y_j")
    gradient = f.grad("y")(x=np.ones(1), y=np.array([1.0, 2, 2]), grad=1.0)
    close(gradient, [0, 1, 0])


def test_a_row_of_minus_infinity_has_gradient_0():
    arguments = {
        "g": np.array([-np.inf, 0]),
        "x": np.zeros(2),
        "y": np.zeros(2),
    }
    f = tilefold.compile("logsumexp_j(g_i + x_i - y_j)")
    assert f(arguments)[0] == -np.inf
    close(f.grad("x")(arguments, grad=1.0), [0, 1])
    close(f.grad("g")(arguments, grad=1.0), [0, 1])
    close(f.grad("y")(arguments, grad=1.0), [-0.5, -0.5])


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("name", ["gaussian", "logsumexp", "softmax", "kmin"])
def test_empty_axes(name, n):
    """No rows or no columns: gradients of the shapes of the arguments."""
    case = CASES[name]
    arguments = {
        key: value[: n if key == "x" else 2 - n] if np.ndim(value) else value
        for key, value in case.arguments.items()
    }
    f = tilefold.compile(case.text)
    cotangent = np.ones(np.shape(f(arguments)))
    for key in arguments:
        gradient = f.grad(key)(arguments, grad=cotangent)
        assert np.shape(gradient) == np.shape(arguments[key])
        assert not np.any(gradient)


# ---- arrays -----------------------------------------------------------------


def strided(array):
    """The same values behind odd strides: reversed, every second."""
    room = np.zeros((2 * array.shape[0], *array.shape[1:]))[::-2]
    room[...] = array
    return room


def test_strided_arrays_and_cotangents():
    f = tilefold.compile(GAUSSIAN)
    names = ["x", "y", "b", "l"]
    g = np.linspace(-1, 1, N)
    wanted = f.grad(names)(POINTS, grad=g)
    arguments = {k: strided(v) if np.ndim(v) else v for k, v in POINTS.items()}
    found = f.grad(names)(arguments, grad=strided(g))
    for a, b in zip(found, wanted, strict=True):
        close(a, b)
    repeated = np.broadcast_to(X[:1], X.shape)  # stride 0
    close(
        f.grad("x")({**POINTS, "x": repeated}, grad=g),
        f.grad("x")({**POINTS, "x": repeated.copy()}, grad=g),
    )


def test_gradients_have_the_shapes_of_the_arguments():
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²*s) b_j")
    shapes = {"x": (N, 1), "y": (M, 1), "b": (M, 1), "s": (1, 1)}
    arguments = {
        "x": X[:, :1],
        "y": Y[:, :1],
        "b": B[:, None],
        "s": np.ones((1, 1)),
    }
    for name, shape in shapes.items():
        gradient = f.grad(name)(arguments, grad=np.ones((N, 1)))
        assert gradient.shape == shape


def test_float32_arrays_have_float32_gradients():
    f = tilefold.compile(GAUSSIAN).grad(["x", "b"])
    arguments = {
        k: np.asarray(v, np.float32) if np.ndim(v) else v
        for k, v in POINTS.items()
    }
    found = f(arguments, grad=np.ones(N, np.float32))
    wanted = f(POINTS, grad=np.ones(N))
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == np.float32
        close(a, b, 1e-6)


def test_batches_broadcast_and_their_gradients_are_summed():
    random = np.random.default_rng(3)
    shapes = {"x": (4, 1, 5, 2), "y": (3, 6, 2), "b": (4, 3, 6, 1), "l": ()}
    arguments = {k: random.standard_normal(s) for k, s in shapes.items()}
    cotangent = random.standard_normal((4, 3, 5, 1))
    tensors = {
        k: torch.tensor(v, requires_grad=True) for k, v in arguments.items()
    }
    x, y, b, l = tensors.values()
    squares = ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)
    dense = torch.exp(-squares / (2 * l * l)) @ b
    wanted = torch.autograd.grad(
        dense, list(tensors.values()), torch.as_tensor(cotangent)
    )
    f = tilefold.compile(GAUSSIAN)
    found = f.grad(list(shapes))(arguments, grad=cotangent)
    for a, w in zip(found, wanted, strict=True):
        close(a, w)


@pytest.mark.parametrize(
    ("formula", "shape"),
    [
        ("sum_j exp(-|x_i - y_j|²) b_j", (4, 5)),
        ("sum_ij exp(-|x_i - y_j|²) b_j", (4,)),
        ("sum_ij exp(-|x_i - y_j|²) b_j*x_i", (4, 2)),
    ],
)
def test_cotangents_of_batches_have_the_shape_of_the_result(formula, shape):
    """No axis of components, and none of points, where the result has none."""
    random = np.random.default_rng(4)
    x, y = random.standard_normal((4, 5, 2)), random.standard_normal((4, 6, 2))
    b, cotangent = random.standard_normal(6), random.standard_normal(shape)
    tensors = [torch.tensor(v, requires_grad=True) for v in (x, y, b)]
    tx, ty, tb = tensors
    pairs = torch.exp(-((tx[:, :, None] - ty[:, None]) ** 2).sum(-1)) * tb
    dense = {
        (4, 5): lambda: pairs.sum(2),
        (4,): lambda: pairs.sum((1, 2)),
        (4, 2): lambda: (pairs.sum(2)[..., None] * tx).sum(1),
    }[shape]()
    wanted = torch.autograd.grad(dense, tensors, torch.as_tensor(cotangent))
    f = tilefold.compile(formula)
    assert f(x=x, y=y, b=b).shape == shape
    found = f.grad(["x", "y", "b"])(x=x, y=y, b=b, grad=cotangent)
    for a, w in zip(found, wanted, strict=True):
        close(a, w)
    out = tilefold.reduce(formula, x=tx, y=ty, b=tb)
    recorded = torch.autograd.grad(out, tensors, torch.as_tensor(cotangent))
    for a, w in zip(recorded, wanted, strict=True):
        close(a, w)


def test_out_and_accumulate():
    f = tilefold.compile(GAUSSIAN)
    one, both = f.grad("x"), f.grad(["x", "l"])
    wanted = both(POINTS, grad=1.0)
    out = np.ones((N, 3))
    assert one(POINTS, grad=1.0, out=out) is out
    close(out, wanted[0])
    one(POINTS, grad=1.0, out=out, accumulate=True)
    close(out, 2 * wanted[0])
    outs = (np.zeros((N, 3)), np.zeros(()))
    both(POINTS, grad=1.0, out=outs)
    close(outs[0], wanted[0])
    close(outs[1], wanted[1])


# ---- what is run ------------------------------------------------------------


def test_gradients_on_one_axis_share_a_sweep():
    """dx and dl over j, dy and db over i, and dl's sum over points."""
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile(GAUSSIAN, session=session)
    f.grad(["x", "y", "b", "l"])(POINTS, grad=np.ones(N))
    assert session.stats().runs == 3
    assert session.stats().compiles == 3


def test_the_value_comes_with_the_gradients():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile(GAUSSIAN, session=session)
    names = ["x", "y", "b", "l"]
    g = np.linspace(-1, 1, N)
    value, *gradients = f.grad(names, value=True)(POINTS, grad=g)
    assert session.stats().runs == 3
    close(value, f(POINTS))
    alone = f.grad(names)(POINTS, grad=g)
    for found, wanted in zip(gradients, alone, strict=True):
        close(found, wanted)
    both = f.grad("x", value=True).grad("y", cotangent="h")
    found = both(POINTS, grad=g, h_value=g, h_x=X)
    second = f.grad("x").grad("y", cotangent="h")
    close(found, f.grad("y")(POINTS, grad=g) + second(POINTS, grad=g, h=X))


def test_one_gradient_kernel_serves_all_sizes_and_constants():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    for size in range(1, 30):
        f = tilefold.compile(
            f"sum_j exp(-{size}*|x_i - y_j|²)", session=session
        )
        f.grad("x")(x=X[: size % N + 1], y=Y[: size % M + 1], grad=1.0)
    assert session.stats().compiles == 1


def test_threads_do_not_change_bits():
    random = np.random.default_rng(5)
    x = random.standard_normal((2000, 3)).astype(np.float32)
    text = "logsumexp_j(-|x_i - x_j|²/2l)"
    results = []
    for threads in (1, 2, 3, 8):
        session = tilefold.Session(tilefold.Options(threads=threads))
        f = tilefold.compile(text, session=session).grad(["x", "l"])
        results.append(f(x=x, l=0.5, grad=np.ones(2000, np.float32)))
    for dx, dl in results[1:]:
        assert dx.tobytes() == results[0][0].tobytes()
        assert dl.tobytes() == results[0][1].tobytes()


def test_a_derivative_is_pickled_printed_and_kept():
    f = tilefold.compile(GAUSSIAN)
    g = f.grad("x").jvp("l", tangent="t")
    again = pickle.loads(pickle.dumps(g))
    arguments = {**POINTS, "grad": np.ones(N), "t": 1.0}
    close(again(arguments), g(arguments))
    assert repr(g).endswith("; its gradient by x; its derivative along l")
    assert g.names[-2:] == [("grad", 1), ("t", 0)]


def test_other_sessions():
    session = tilefold.Session(tilefold.Options(threads=1))
    f = tilefold.compile(GAUSSIAN).grad("x")
    close(f(POINTS, grad=1.0, session=session), f(POINTS, grad=1.0))
    assert session.stats().runs == 1


# ---- refusals ---------------------------------------------------------------

REFUSALS = [
    (
        "BadOption",
        lambda: tilefold.compile(GAUSSIAN).grad(["x", "l"])(
            POINTS, grad=1.0, out=np.zeros((N, 3))
        ),
        "the option out cannot be one array for 2 results\n"
        "pass a tuple of as many arrays",
    ),
    (
        "DerivativeTarget",
        lambda: tilefold.reduce("sum_j grad(x_i·y_j, 2x_i)", x=X, y=Y),
        "grad differentiates with respect to an argument, and this is none\n"
        "  sum_j grad(x_i·y_j, 2x_i)\n"
        "        ^~~~~~~~~~~~~~~~~~~\n"
        "name one as the formula reads it, such as x_i",
    ),
    (
        "DerivativeOfVector",
        lambda: tilefold.reduce("sum_j grad(x_i - y_j, x_i)", x=X, y=Y),
        "grad differentiates a scalar, and this is a vector of 3 components\n"
        "  sum_j grad(x_i - y_j, x_i)\n"
        "        ^~~~~~~~~~~~~~~~~~~~\n"
        "take jvp(v, x_i, t), divergence(v, x_i), or the gradient of one "
        "component",
    ),
    (
        "DerivativeLengths",
        lambda: tilefold.reduce("sum_j divergence(x_i·y_j, x_i)", x=X, y=Y),
        "the divergence of a scalar with respect to a vector of 3 components\n"
        "  sum_j divergence(x_i·y_j, x_i)\n"
        "        ^~~~~~~~~~~~~~~~~~~~~~~~\n"
        "both have the same number of components",
    ),
    (
        "DerivativeOfIndex",
        lambda: tilefold.compile("argmin_j |x_i - y_j|").grad("x")(
            x=X, y=Y, grad=1.0
        ),
        "the formula gives integers or truth values, which have no derivative"
        "\n  argmin_j |x_i - y_j|\n  ^~~~~~~~~~~~~~~~~~~~\n"
        "differentiate what is computed from the values, such as kmin_j in "
        "place of argkmin_j",
    ),
    (
        "DerivativeByInteger",
        lambda: tilefold.compile("sum_j x_i·y_j").grad("y")(
            x=X, y=np.ones((M, 3), int), grad=1.0
        ),
        "'y' holds i64, and integers have no derivative\n"
        "pass floating-point numbers",
    ),
    (
        "DerivativeName",
        lambda: tilefold.compile(GAUSSIAN).grad("z"),
        "no argument 'z' to differentiate by; the formula has x, y, l, b\n"
        "name one of these",
    ),
    (
        "SeedName",
        lambda: tilefold.compile(GAUSSIAN).grad("x", cotangent="b"),
        "the formula has an argument 'b' of its own\n"
        'choose another name for the cotangent, as in f.grad(…, cotangent="g")',
    ),
    (
        "MissingSeed",
        lambda: tilefold.compile(GAUSSIAN).grad("x")(POINTS),
        "the derivative needs 'grad', which was not given: the cotangent of "
        "the result\npass grad=…",
    ),
    (
        "WrongComponents",
        lambda: tilefold.compile(GAUSSIAN).grad("x")(
            POINTS, grad=np.ones((N, 2))
        ),
        "'grad' has 2 components, where 1 are needed",
    ),
    (
        "LengthMismatch",
        lambda: tilefold.compile(GAUSSIAN).grad("x")(POINTS, grad=np.ones(4)),
        f"'x' has {N} rows on i, 'grad' has 4\n"
        "all arrays on one axis have the same number of rows",
    ),
    (
        "BadOption",
        lambda: tilefold.compile(GAUSSIAN).grad([]),
        "the option names cannot be []\n"
        "pass the name of an argument, or several",
    ),
]


@pytest.mark.parametrize(
    ("code", "call", "message"), REFUSALS, ids=[row[0] for row in REFUSALS]
)
def test_derivatives_that_are_refused(code, call, message):
    with pytest.raises(tilefold.Error) as caught:
        call()
    assert caught.value.code == code
    assert str(caught.value) == message


def test_tangents_of_the_cotangent_of_a_matrix():
    """Its gradient has a matrix's numbers row after row, and so do they."""
    random = np.random.default_rng(8)
    named = {
        "A": random.random((3, 2)),
        "x": random.random((4, 2)),
        "y": random.random((5, 2)),
        "grad": random.random(4),
    }
    f = tilefold.compile("sum_j exp(-|A@(x_i - y_j)|²)")
    second = f.grad("A").grad("x", cotangent="h")
    h, t = random.random((2, 3, 2))
    found = second.jvp("h")(**named, h=h, tangent=t)
    np.testing.assert_allclose(found, second(**named, h=t), rtol=1e-12)
    third = second.jvp("h").jvp("tangent", tangent="u")
    found = third(**named, h=h, tangent=h, u=t)
    np.testing.assert_allclose(found, second(**named, h=t), rtol=1e-12)
