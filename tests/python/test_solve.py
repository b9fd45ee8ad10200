# tests/python/test_solve.py - linear systems with kernels against dense ones.
from __future__ import annotations

import signal
import time
import warnings

import numpy as np
import pytest
import torch

import tilefold
from conftest import gaussian

GAUSSIAN = "exp(-|x_i - x_j|²/2l²)"
KERNELS = {
    "gaussian": GAUSSIAN,
    "laplacian": "exp(-|x_i - x_j|/l)",
    "matern": "(1 + √3*|x_i - x_j|/l) exp(-√3*|x_i - x_j|/l)",
    "cauchy": "1/(1 + |x_i - x_j|²/l²)",
}
PRECONDITIONERS = ["none", "cholesky", "auto", "nystrom"]


def points(count=300, dtype="float64"):
    random = np.random.default_rng(3)
    return random.standard_normal((count, 3)).astype(dtype)


def side(shape, dtype="float64"):
    return np.random.default_rng(4).standard_normal(shape).astype(dtype)


def make(text=GAUSSIAN, count=300, dtype="float64", scale=0.5):
    """A kernel and its dense matrix in float64."""
    x = points(count, dtype)
    wide = tilefold.kernel(text, x=x.astype("float64"), l=scale)
    return tilefold.kernel(text, x=x, l=scale), wide.dense()


def residual(dense, ridge, x, b):
    """|b - (K + ridge) x| / |b| by column, in float64."""
    left = b - (dense @ x.astype("float64") + ridge * x)
    return np.linalg.norm(left, axis=0) / np.linalg.norm(b, axis=0)


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(300,), (300, 1), (300, 4)], ids=str)
@pytest.mark.parametrize("text", KERNELS.values(), ids=KERNELS)
def test_solutions_in_float64(text, shape, ridge, preconditioner):
    kernel, dense = make(text, scale=0.3)
    b = side(shape)
    x = kernel.solve(
        b, ridge, rtol=1e-11, maxiter=3000, preconditioner=preconditioner
    )
    assert x.shape == b.shape
    assert x.dtype == np.float64
    expected = np.linalg.solve(dense + ridge * np.eye(300), b)
    np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("shape", [(300,), (300, 4)], ids=str)
@pytest.mark.parametrize("text", KERNELS.values(), ids=KERNELS)
def test_solutions_in_float32(text, shape, preconditioner):
    kernel, dense = make(text, dtype="float32")
    b = side(shape, "float32")
    x = kernel.solve(b, ridge=0.1, rtol=1e-5, preconditioner=preconditioner)
    assert x.dtype == np.float32
    assert (residual(dense, 0.1, x, b) < 3e-5).all()


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_residual_told_is_the_true_one(dtype, preconditioner):
    kernel, dense = make(count=600, dtype=dtype, scale=2)
    b = side((600, 3), dtype)
    x, info = kernel.solve(
        b, ridge=1e-2, preconditioner=preconditioner, info=True
    )
    assert info.converged
    assert info.residuals.shape == (3,)
    assert (info.residuals <= 1e-6).all()
    if dtype == "float64":
        np.testing.assert_allclose(
            info.residuals, residual(dense, 1e-2, x, b), rtol=1e-4
        )
    assert (info.rank > 0) == (preconditioner != "none")


def test_information_of_a_vector():
    kernel, _ = make()
    x, info = kernel.solve(side(300), ridge=1, info=True)
    assert x.shape == (300,)
    assert info.residuals.shape == ()
    assert info.converged is True
    assert 1 <= info.iterations < 100
    assert info.rank == 0  # too few points for "auto"


def test_the_preconditioner_saves_iterations():
    kernel, _ = make(count=1000, scale=3)
    b = side(1000)
    counts = {}
    for preconditioner in PRECONDITIONERS:
        _, info = kernel.solve(
            b, 1e-4, 1e-6, 3000, preconditioner=preconditioner, info=True
        )
        assert info.converged
        counts[preconditioner] = info.iterations
    assert counts["none"] > 10 * counts["cholesky"]
    assert counts["auto"] == counts["cholesky"]


def test_columns_are_as_if_solved_alone():
    kernel, _ = make(count=600)
    b = side((600, 3)) * [1, 1e-200, 1e200]
    b[:, 1] = 1e-200 * kernel.sum(1)  # another speed
    for preconditioner, tolerance in [("none", 1e-12), ("cholesky", 1e-4)]:
        together = kernel.solve(b, 0.1, preconditioner=preconditioner)
        for column in range(3):
            alone = kernel.solve(
                b[:, column], 0.1, preconditioner=preconditioner
            )
            size = np.abs(alone).max()
            np.testing.assert_allclose(
                together[:, column] / size, alone / size, atol=tolerance
            )


def test_columns_of_zeros():
    kernel, _ = make()
    b = side((300, 2))
    b[:, 0] = 0
    x, info = kernel.solve(b, ridge=0.1, info=True)
    assert (x[:, 0] == 0).all()
    assert info.residuals[0] == 0
    assert (kernel.solve(np.zeros(300)) == 0).all()


def test_units_of_a_float32_side_do_not_matter():
    kernel, _ = make(dtype="float32")
    b = side(300, "float32")
    x = kernel.solve(b, ridge=0.1)
    np.testing.assert_array_equal(
        kernel.solve(b * np.float32(2**-90), ridge=0.1), x * 2.0**-90
    )


def test_sides_of_any_stride_and_type():
    kernel, dense = make()
    b = np.arange(1200).reshape(600, 2)[::2]
    x = kernel.solve(b, ridge=1, rtol=1e-10)
    np.testing.assert_allclose(
        x, np.linalg.solve(dense + np.eye(300), b), rtol=1e-6
    )
    np.testing.assert_array_equal(
        kernel.solve(b[:, 0].tolist(), 1, 1e-10),
        kernel.solve(b[:, 0], 1, 1e-10),
    )


@pytest.mark.parametrize(
    ("x", "b"),
    [
        ("float64", "float32"),
        ("float32", "float64"),
        ("float16", "float16"),
        ("float16", "float32"),
        ("int32", "float32"),
        ("float32", "int8"),
    ],
)
def test_the_type_is_that_of_the_product(x, b):
    places = (10 * points(40)).astype(x)
    kernel = tilefold.kernel("exp(-|x_i - x_j|/3)", x=places)
    right = (10 * side(40)).astype(b)
    found = kernel.solve(right, ridge=1, rtol=1e-5)
    assert found.dtype == (kernel @ right).dtype
    dense = np.exp(-np.sqrt(((places[:, None].astype(float) - places) ** 2)
                            .sum(-1)) / 3)  # fmt: skip
    expected = np.linalg.solve(dense + np.eye(40), right.astype(float))
    tolerance = 2e-2 if found.dtype == np.float16 else 1e-3
    np.testing.assert_allclose(found, expected, tolerance, 3 * tolerance)


def test_whole_numbers_are_solved_in_float64():
    x = np.arange(1, 6)
    kernel = tilefold.kernel("where(i == j, 2, 0)*x_i + 0*x_j", x=x)
    found = kernel.solve(np.array([2, 4, 6, 8, 10]))
    np.testing.assert_allclose(found, 1, rtol=1e-6)


def test_kernels_with_a_diagonal_transposes_and_sums():
    kernel, dense = make()
    b = side(300)
    noise = np.linspace(0.5, 2, 300)
    shifted = kernel.add_diag(noise)
    for preconditioner in PRECONDITIONERS:
        np.testing.assert_allclose(
            shifted.solve(b, rtol=1e-11, preconditioner=preconditioner),
            np.linalg.solve(dense + np.diag(noise), b),
            rtol=1e-7,
        )
    both = (2 * kernel + 1).add_diag(1.0)
    np.testing.assert_allclose(
        both.T.solve(b, rtol=1e-11),
        np.linalg.solve(2 * dense + 1 + np.eye(300), b),
        rtol=1e-7,
    )


def test_the_same_bits_on_any_number_of_threads():
    x, b = points(2000, "float32"), side((2000, 2), "float32")
    found = []
    for threads in (1, 2, 2, 3):
        session = tilefold.Session(tilefold.Options(threads=threads))
        kernel = tilefold.kernel(GAUSSIAN, x=x, l=0.5, session=session)
        found.append(kernel.solve(b, ridge=0.1))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_a_kernel_of_no_points():
    kernel = tilefold.kernel(GAUSSIAN, x=np.zeros((0, 3)), l=1)
    assert kernel.solve(np.zeros((0, 2))).shape == (0, 2)


def told(call):
    """What `call` warns, and gives back."""
    with pytest.warns(tilefold.ConvergenceWarning) as caught:
        result = call()
    assert len(caught) == 1
    assert caught[0].filename == call.__code__.co_filename
    return str(caught[0].message), result


def test_reaching_maxiter_warns():
    kernel, dense = make(scale=3)
    b = side(300)
    text, (x, info) = told(lambda: kernel.solve(b, 1e-6, maxiter=5, info=True))
    assert info.iterations == 5
    assert not info.converged
    assert text == (
        f"K.solve stopped after 5 iterations with a residual of "
        f"{float(info.residuals):.2g}, above rtol = 1e-06\n"
        "raise maxiter, ridge or rtol, or pass preconditioner='cholesky'"
    )
    np.testing.assert_allclose(info.residuals, residual(dense, 1e-6, x, b))


def test_the_cure_where_there_is_a_preconditioner():
    kernel, _ = make(scale=0.2)
    text, _ = told(
        lambda: kernel.solve(
            side(300), 1e-6, maxiter=1, preconditioner="cholesky"
        )
    )
    assert text.endswith("\nraise maxiter, ridge or rtol")


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_indefinite_kernels_are_reported(preconditioner):
    kernel = tilefold.kernel("-|x_i - x_j|", x=points())
    text, (_, info) = told(
        lambda: kernel.solve(
            side(300), 1e-3, preconditioner=preconditioner, info=True
        )
    )
    assert text == (
        f"K.solve stopped after {info.iterations} iterations with a residual "
        f"of {float(info.residuals):.2g}: the matrix is not positive definite\n"
        "raise ridge, or check that the kernel is positive definite; "
        "method='minres' takes any symmetric one"
    )
    assert not info.converged
    assert info.iterations < 300


def test_singular_kernels_are_solved_as_far_as_they_go():
    kernel = tilefold.kernel("x_i·x_j", x=points(100))
    inside = points(100) @ [1.0, 2.0, 3.0]
    x = kernel.solve(inside)
    np.testing.assert_allclose(kernel @ x, inside, rtol=1e-5)
    text, (_, info) = told(lambda: kernel.solve(side(100), info=True))
    assert text == (
        f"K.solve stopped after {info.iterations} iterations with a residual "
        f"of {float(info.residuals):.2g}, above rtol = 1e-06: products in "
        "float64 do not bring it further down\nraise ridge or rtol"
    )
    assert info.iterations < 20


def test_what_float32_cannot_reach_is_told():
    kernel, _ = make(count=600, dtype="float32", scale=3)
    b = side(600, "float32")
    text, (_, info) = told(
        lambda: kernel.solve(
            b, 1e-8, 1e-8, preconditioner="cholesky", info=True
        )
    )
    assert "products in float32 do not bring it further down\n" in text
    assert text.endswith("\nraise ridge or rtol, or pass float64 arrays")
    assert info.residuals <= 1


def test_float32_products_reach_the_residual_of_float64():
    kernel, _ = make(count=1000, dtype="float32", scale=3)
    b = side(1000, "float32")
    _, info = kernel.solve(b, ridge=1e-4, rtol=1e-8, info=True)
    assert info.converged
    assert info.residuals <= 1e-8


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_stop_at_once(bad):
    kernel, _ = make()
    b = side((300, 2))
    whole = kernel.solve(b[:, 1], ridge=0.1)
    b[7, 0] = bad
    text, (x, info) = told(lambda: kernel.solve(b, ridge=0.1, info=True))
    assert text.endswith(
        " iterations at a number that is not finite\ncheck the right-hand "
        "side and the arguments of the kernel for NaN and infinity"
    )
    assert np.isnan(x[:, 0]).all()
    np.testing.assert_allclose(x[:, 1], whole)
    assert np.isnan(info.residuals[0])

    broken = points()
    broken[5] = bad
    kernel = tilefold.kernel(GAUSSIAN, x=broken, l=1)
    for preconditioner in PRECONDITIONERS:
        text, (_, info) = told(
            lambda p=preconditioner: kernel.solve(
                side(300), 0.1, preconditioner=p, info=True
            )
        )
        assert info.iterations <= 1


REFUSALS = [
    (
        lambda _, b: tilefold.kernel("x_i·y_j", x=points(5), y=points(6)).solve(
            b[:5]
        ),
        tilefold.ShapeError,
        "a kernel of shape (5, 6) cannot be solved with\n"
        "a solve needs as many rows as columns",
    ),
    (
        lambda _, b: tilefold.kernel("x_i·x_j", x=np.ones((2, 5, 3))).solve(
            b[:5]
        ),
        tilefold.ShapeError,
        "a kernel of shape (2, 5, 5) has batch dimensions, which are not "
        "solved with\n"
        "solve with one batch after the other, as in K[0].solve(b)",
    ),
    (
        lambda k, b: k.solve(b[:7]),
        tilefold.ShapeError,
        "the right-hand side has shape (7,), the kernel 300 rows\n"
        "pass b of shape (300,), or (300, E) for E of them",
    ),
    (
        lambda k, _: k.solve(1.0),
        tilefold.ShapeError,
        "the right-hand side has shape (), the kernel 300 rows\n"
        "pass b of shape (300,), or (300, E) for E of them",
    ),
    (
        lambda k, _: k.solve(np.ones((2, 300, 1))),
        tilefold.ShapeError,
        "the right-hand side has shape (2, 300, 1), the kernel 300 rows\n"
        "pass b of shape (300,), or (300, E) for E of them",
    ),
    (
        lambda k, b: k.solve(b, preconditioner="jacobi"),
        tilefold.ArgumentError,
        "the option preconditioner cannot be 'jacobi'\n"
        "pass 'auto', None, 'cholesky' or 'nystrom'",
    ),
    (
        lambda k, b: k.solve(b, rtol=0),
        tilefold.ArgumentError,
        "the option rtol cannot be 0\npass a number above 0",
    ),
    (
        lambda k, b: k.solve(b, rtol=float("nan")),
        tilefold.ArgumentError,
        "the option rtol cannot be nan\npass a number above 0",
    ),
    (
        lambda k, b: k.solve(b, rank=0),
        tilefold.ArgumentError,
        "the option rank cannot be 0\npass a whole number, 1 or above",
    ),
    (
        lambda k, b: k.solve(b, rank="many"),
        tilefold.ArgumentError,
        "the option rank cannot be a str\npass a whole number, 1 or above",
    ),
    (
        lambda k, b: k.solve(b, maxiter=0),
        tilefold.ArgumentError,
        "the option maxiter cannot be 0\npass a whole number, 1 or above",
    ),
    (
        lambda k, b: k.solve(b, maxiter=1.5),
        tilefold.ArgumentError,
        "the option maxiter cannot be a float\npass a whole number, 1 or above",
    ),
    (
        lambda k, b: k.solve(b, -0.5),
        tilefold.ArgumentError,
        "the option ridge cannot be -0.5\n"
        "pass a number, 0 or above; method='minres' takes any",
    ),
    (
        lambda k, b: k.solve(b, float("inf"), method="minres"),
        tilefold.ArgumentError,
        "the option ridge cannot be inf\npass a finite number",
    ),
    (
        lambda k, b: k.solve(b, method="gmres"),
        tilefold.ArgumentError,
        "the option method cannot be 'gmres'\npass 'cg', 'minres' or 'auto'",
    ),
    (
        lambda k, b: k.solve(b, "much"),
        tilefold.ArgumentError,
        "the option ridge cannot be a str\npass a number; K.add_diag(…) adds "
        "one for each point",
    ),
]


@pytest.mark.parametrize(("use", "family", "message"), REFUSALS)
def test_solves_that_are_refused(use, family, message):
    kernel, _ = make()
    with pytest.raises(family) as caught:
        use(kernel, side(300))
    assert str(caught.value) == message


def test_progress_is_told_and_may_cancel():
    seen = []

    def progress(done, total):
        seen.append((done, total))
        return len(seen) < 3

    kernel = tilefold.kernel(
        GAUSSIAN,
        x=points(3000),
        l=3,
        options=tilefold.Options(progress=progress),
    )
    with pytest.raises(tilefold.Cancelled):
        kernel.solve(side(3000), 1e-9, 1e-14, 10**6, "none")
    assert len(seen) == 3
    assert 0 < seen[0][0] < seen[1][0] < seen[0][1]


def test_an_interrupt_stops_a_solve():
    def interrupt(*_):
        raise KeyboardInterrupt

    kernel, _ = make(count=500, scale=3)  # products far below 50 ms
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            kernel.solve(side(500), 1e-9, 1e-14, 10**9, "none")
        assert time.perf_counter() - start < 2
    finally:
        signal.signal(signal.SIGALRM, before)


# ---- PyTorch -----------------------------------------------------------------


def tensors(count=12, columns=None):
    x = torch.from_numpy(points(count)).requires_grad_()
    b = torch.from_numpy(side((count, *([columns] if columns else []))))
    scales = torch.tensor([0.7, 0.3], dtype=torch.float64, requires_grad=True)
    return x, b.requires_grad_(), *scales.unbind()


def test_tensors_in_tensors_out():
    kernel, dense = make()
    x = torch.from_numpy(points()).float()
    lazy = tilefold.kernel(GAUSSIAN, x=x, l=0.5)
    found = lazy.solve(torch.from_numpy(side(300)).float(), ridge=1)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(
        found, np.linalg.solve(dense + np.eye(300), side(300)), atol=1e-4
    )
    del kernel


def tight(x, b, scale, ridge, transposed=False):
    kernel = tilefold.kernel(GAUSSIAN, x=x, l=scale)
    return (kernel.T if transposed else kernel).solve(b, ridge, rtol=1e-13)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("columns", [None, 2])
def test_gradcheck_and_gradgradcheck(columns, transposed):
    values = tensors(columns=columns)
    assert torch.autograd.gradcheck(lambda *v: tight(*v, transposed), values)
    assert torch.autograd.gradgradcheck(
        lambda *v: tight(*v, transposed), values
    )


@pytest.mark.parametrize("which", range(4))
def test_one_gradient_at_a_time(which):
    values = [
        value if k == which else value.detach()
        for k, value in enumerate(tensors())
    ]
    (found,) = torch.autograd.grad(tight(*values).sin().sum(), values[which])
    x, b, scale, ridge = values
    dense = torch.exp(-((x[:, None] - x) ** 2).sum(-1) / (2 * scale**2))
    dense = dense + ridge * torch.eye(12, dtype=torch.float64)
    (wanted,) = torch.autograd.grad(
        torch.linalg.solve(dense, b).sin().sum(), values[which]
    )
    torch.testing.assert_close(found, wanted)


def test_the_ridge_alone_may_require_grad():
    kernel, dense = make()
    ridge = torch.tensor(0.5, requires_grad=True)
    kernel.solve(side(300), ridge, rtol=1e-10).sum().backward()
    inverse = np.linalg.inv(dense + 0.5 * np.eye(300))
    wanted = -(inverse @ inverse @ side(300)).sum()
    np.testing.assert_allclose(ridge.grad, wanted, rtol=1e-5)


def test_declared_roles_keep_their_gradients():
    x, b, _, _ = tensors()
    y = x.detach().clone().requires_grad_()
    kernel = tilefold.kernel(
        "exp(-|x - y|²)", x=tilefold.Vi(x), y=tilefold.Vj(y)
    )
    kernel.solve(b, 0.1, rtol=1e-12).sum().backward()
    found = x.grad.clone(), y.grad.clone()
    x.grad = y.grad = None
    dense = torch.exp(-((x[:, None] - y) ** 2).sum(-1))
    dense = dense + 0.1 * torch.eye(12, dtype=torch.float64)
    torch.linalg.solve(dense, b).sum().backward()
    torch.testing.assert_close(found, (x.grad, y.grad))


def test_information_and_warnings_of_recorded_solves():
    x, b, scale, ridge = tensors()
    kernel = tilefold.kernel(GAUSSIAN, x=x, l=scale)
    found, info = kernel.solve(b, ridge, info=True)
    assert found.requires_grad
    assert info.converged
    told(lambda: kernel.solve(b, ridge, 1e-12, maxiter=1))


def test_nothing_is_recorded_without_grad():
    x, b, scale, ridge = tensors()
    with torch.no_grad(), warnings.catch_warnings():
        assert not tight(x, b, scale, ridge).requires_grad


# ---- the best few ------------------------------------------------------------


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_topk(axis, largest):
    x, y = points(50), points(60)[10:]
    kernel = tilefold.kernel("exp(-|x_i - y_j|²/2)", x=x, y=y)
    dense = np.moveaxis(gaussian(x, y, 1), axis, -1)
    order = np.argsort(-dense if largest else dense, -1, kind="stable")[:, :7]
    values, places = kernel.topk(7, axis, largest)
    np.testing.assert_array_equal(places, order)
    np.testing.assert_allclose(
        values, np.take_along_axis(dense, order, -1), rtol=1e-12
    )


def test_a_ridge_for_each_point_is_a_diagonal():
    x = np.arange(6.0)
    kernel = tilefold.kernel("exp(-|x_i - x_j|²)", x=x)
    b, ridge = np.ones(6), np.arange(1.0, 7.0)
    with pytest.raises(tilefold.ArgumentError, match="add_diag"):
        kernel.solve(b, ridge=ridge)
    found = kernel.add_diag(ridge).solve(b, rtol=1e-10)
    wanted = np.linalg.solve(kernel.dense() + np.diag(ridge), b)
    np.testing.assert_allclose(found, wanted, rtol=1e-8)
