# tests/python/test_logdet.py - log determinants and likelihoods of kernels.
from __future__ import annotations

import signal
import time

import numpy as np
import pytest
import torch

import tilefold
from tilefold.solve import LogdetInfo

#: Of what takes long, another third each day.
pytestmark = pytest.mark.sample(0.34)

_random = np.random.default_rng(4)
GAUSSIAN = "exp(-|x_i - x_j|²/2l²)"
HERMITIAN = "exp(-|x_i - x_j|²/2l²)*exp(im*(x_i[0] - x_j[0]))"
RIDGE = 0.1


def points(count, dtype="float64"):
    return np.random.default_rng(3).standard_normal((count, 3)).astype(dtype)


def make(count, text=GAUSSIAN, scale=0.5, dtype="float64"):
    """A kernel, and its dense matrix with the ridge."""
    kernel = tilefold.kernel(text, x=points(count, dtype), l=scale)
    wide = tilefold.kernel(text, x=points(count), l=scale)
    return kernel, wide.dense() + RIDGE * np.eye(count)


@pytest.mark.parametrize("text", [GAUSSIAN, HERMITIAN])
@pytest.mark.parametrize("count", [1, 2, 150, 400])
def test_small_matrices_are_factored(count, text):
    kernel, dense = make(count, text)
    wanted = np.linalg.slogdet(dense)[1]
    for one in (kernel, kernel.T):
        value, info = one.logdet(RIDGE, info=True)
        np.testing.assert_allclose(value, wanted, rtol=1e-11, atol=1e-12)
        assert info == LogdetInfo(0, 0, 0, 0)
        assert info.exact
    assert isinstance(value, np.float64)


def test_float32_and_diagonals():
    kernel, dense = make(200, dtype="float32")
    np.testing.assert_allclose(
        kernel.logdet(RIDGE), np.linalg.slogdet(dense)[1], rtol=1e-5
    )
    noise = np.linspace(0.5, 2, 200)
    kernel, _ = make(200)
    np.testing.assert_allclose(
        kernel.add_diag(noise).logdet(),
        np.linalg.slogdet(kernel.dense() + np.diag(noise))[1],
    )
    lazy = (kernel * 1.0).add_diag(0.1)
    np.testing.assert_allclose(lazy.logdet(), kernel.logdet(0.1))


def test_of_no_points():
    kernel = tilefold.kernel(GAUSSIAN, x=np.zeros((0, 3)), l=1)
    assert kernel.logdet(1.0) == 0


@pytest.mark.parametrize("preconditioner", ["auto", None, "nystrom"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_large_matrices_are_estimated_and_the_error_is_told(
    dtype, preconditioner
):
    kernel, dense = make(2000, dtype=dtype)
    wanted = np.linalg.slogdet(dense)[1]
    off = []
    for seed in range(4):
        value, info = kernel.logdet(
            RIDGE, preconditioner=preconditioner, seed=seed, info=True
        )
        assert not info.exact
        assert info.probes == 32
        assert 0 < info.steps <= 200
        assert (info.rank > 0) == (preconditioner is not None)
        assert 0 < info.error < 0.01 * abs(wanted)
        off.append((value - wanted) / info.error)
    assert np.abs(off).max() < 4
    assert value == kernel.logdet(
        RIDGE, preconditioner=preconditioner, seed=seed
    )


def test_a_hermitian_matrix_of_a_thousand_points():
    kernel, dense = make(1000, HERMITIAN)
    value, info = kernel.logdet(RIDGE, info=True)
    assert not info.exact
    assert abs(value - np.linalg.slogdet(dense)[1]) < 4 * info.error


def test_more_probes_have_a_smaller_error():
    kernel, _ = make(2000)
    errors = [
        kernel.logdet(RIDGE, probes=probes, info=True)[1].error
        for probes in (8, 128)
    ]
    assert errors[1] < errors[0] / 2


def test_the_same_bits_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 3):
        session = tilefold.Session(tilefold.Options(threads=threads))
        kernel = tilefold.kernel(
            GAUSSIAN, x=points(2000), l=0.5, session=session
        )
        found.append(kernel.logdet(RIDGE))
    assert found[0] == found[1] == found[2]


# ---- with a right-hand side -------------------------------------------------


@pytest.mark.parametrize("count", [200, 2000])
def test_quadratic_forms(count):
    kernel, dense = make(count)
    b = _random.standard_normal((count, 2))
    wanted = (b * np.linalg.solve(dense, b)).sum(0)
    quadratic, logdet = kernel.inv_quad_logdet(
        b, logdet=True, ridge=RIDGE, rtol=1e-9
    )
    np.testing.assert_allclose(quadratic, wanted.sum(), rtol=1e-7)
    assert logdet == kernel.logdet(RIDGE)
    each, zero = kernel.inv_quad_logdet(
        b, reduce_inv_quad=False, ridge=RIDGE, rtol=1e-9
    )
    np.testing.assert_allclose(each, wanted, rtol=1e-7)
    assert zero == 0
    one, _ = kernel.inv_quad_logdet(b[:, 0], ridge=RIDGE, rtol=1e-9)
    np.testing.assert_allclose(one, wanted[0], rtol=1e-7)
    zero, again, info = kernel.inv_quad_logdet(
        logdet=True, ridge=RIDGE, info=True
    )
    assert (zero, again) == (0, logdet)
    assert info.exact == (count < 2000)


def test_quadratic_forms_of_complex_numbers():
    b = _random.standard_normal(100) + 1j * _random.standard_normal(100)
    for text in (GAUSSIAN, HERMITIAN):
        kernel, dense = make(100, text)
        wanted = (b.conj() @ np.linalg.solve(dense, b)).real
        for logdet in (True, False):  # factored, and solved
            quadratic, _ = kernel.inv_quad_logdet(
                b, logdet, ridge=RIDGE, rtol=1e-9
            )
            np.testing.assert_allclose(quadratic, wanted)
            assert not np.iscomplexobj(quadratic)


def test_it_is_what_linear_operator_gives():
    operators = pytest.importorskip("linear_operator")
    kernel, dense = make(60)
    b = _random.standard_normal((60, 2))
    theirs = operators.to_linear_operator(torch.tensor(dense))
    for reduce in (True, False):
        wanted = theirs.inv_quad_logdet(torch.tensor(b), True, reduce)
        found = kernel.inv_quad_logdet(b, True, reduce, ridge=RIDGE, rtol=1e-10)
        for mine, other in zip(found, wanted, strict=True):
            assert np.shape(mine) == np.shape(other)
            np.testing.assert_allclose(mine, other, rtol=1e-6)
    np.testing.assert_allclose(kernel.logdet(RIDGE), theirs.logdet())


# ---- what is told -----------------------------------------------------------


@pytest.mark.parametrize("count", [100, 2000])
def test_matrices_that_have_none(count):
    kernel = tilefold.kernel("-|x_i - x_j|", x=points(count))
    with pytest.warns(tilefold.ConvergenceWarning) as caught:
        value = kernel.logdet(1e-3)
    assert np.isnan(value)
    assert str(caught[0].message) == (
        "K.logdet is NaN: the matrix is not positive definite\n"
        "raise ridge, or check that the kernel is positive definite"
    )
    assert caught[0].filename == __file__
    broken = points(count)
    broken[3] = np.nan
    kernel = tilefold.kernel(GAUSSIAN, x=broken, l=1)
    with pytest.warns(tilefold.ConvergenceWarning, match="not finite was met"):
        assert np.isnan(kernel.logdet(1.0, preconditioner=None))


def test_steps_that_did_not_suffice():
    kernel, dense = make(2000, scale=2)
    with pytest.warns(tilefold.ConvergenceWarning) as caught:
        value, info = kernel.logdet(
            1e-6, maxiter=6, preconditioner=None, info=True
        )
    assert info.steps == 6
    assert "after 6 steps of Lanczos' method" in str(caught[0].message)
    assert str(caught[0].message).endswith("\nraise maxiter or ridge")
    truth = np.linalg.slogdet(dense + (1e-6 - RIDGE) * np.eye(2000))[1]
    assert abs(value - truth) < 4 * info.error


REFUSALS = [
    (
        lambda k: k.logdet(-1),
        "the option ridge cannot be -1\npass a finite number, 0 or above",
    ),
    (
        lambda k: k.logdet(probes=1),
        "the option probes cannot be 1\npass a whole number, 2 or above",
    ),
    (
        lambda k: k.logdet(probes=2.5),
        "the option probes cannot be a float\npass a whole number, 2 or above",
    ),
    (
        lambda k: k.logdet(maxiter=0),
        "the option maxiter cannot be 0\npass a whole number, 1 or above",
    ),
    (
        lambda k: k.logdet(seed="a"),
        "the option seed cannot be a str\npass a whole number",
    ),
    (
        lambda k: k.logdet(preconditioner="jacobi"),
        "the option preconditioner cannot be 'jacobi'\n"
        "pass 'auto', None, 'cholesky' or 'nystrom'",
    ),
    (
        lambda k: k[:5].logdet(),
        "a kernel of shape (5, 20) cannot be solved with\n"
        "a solve needs as many rows as columns",
    ),
    (
        lambda k: k.inv_quad_logdet(np.ones(7)),
        "the right-hand side has shape (7,), the kernel 20 rows\n"
        "pass b of shape (20,), or (20, E) for E of them",
    ),
]


@pytest.mark.parametrize(("use", "message"), REFUSALS)
def test_what_is_refused(use, message):
    kernel, _ = make(20)
    with pytest.raises(tilefold.Error) as caught:
        use(kernel)
    assert str(caught.value) == message


@pytest.mark.parametrize("count", [1999, 30_000])
def test_an_interrupt_stops_it(count):
    def interrupt(*_):
        raise KeyboardInterrupt

    kernel = tilefold.kernel(GAUSSIAN, x=points(count), l=3)
    kernel[:10].dense(), kernel @ np.ones(count)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            [kernel.logdet(1e-3) for _ in range(100)]
        assert time.perf_counter() - start < 2
    finally:
        signal.signal(signal.SIGALRM, before)


# ---- PyTorch ----------------------------------------------------------------


def leaves(count):
    torch.manual_seed(1)
    x = torch.randn(count, 2, dtype=torch.float64)
    scale, ridge = torch.tensor([0.7, 0.3], dtype=torch.float64)
    b = torch.randn(count, dtype=torch.float64)
    return [value.clone().requires_grad_() for value in (x, scale, ridge, b)]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("text", [GAUSSIAN, HERMITIAN])
def test_gradients_of_factored_matrices(text, transposed):
    def terms(x, l, ridge, b):
        kernel = tilefold.kernel(text, x=x, l=l)
        kernel = kernel.T if transposed else kernel
        return kernel.inv_quad_logdet(b, logdet=True, ridge=ridge, rtol=1e-13)

    values = leaves(8)
    assert torch.autograd.gradcheck(terms, values)
    assert torch.autograd.gradgradcheck(terms, values)


def test_a_likelihood_of_tensors():
    x, scale, ridge, b = leaves(50)
    kernel = tilefold.kernel(GAUSSIAN, x=x, l=scale)
    quadratic, logdet = kernel.inv_quad_logdet(
        b, logdet=True, ridge=ridge, rtol=1e-11
    )
    squares = ((x[:, None] - x) ** 2).sum(-1)
    dense = torch.exp(-squares / (2 * scale**2)) + ridge * torch.eye(50)
    wanted = torch.distributions.MultivariateNormal(
        torch.zeros(50).double(), dense
    ).log_prob(b)
    found = -(quadratic + logdet + 50 * np.log(2 * np.pi)) / 2
    torch.testing.assert_close(found, wanted)
    for mine, other in zip(
        torch.autograd.grad(found, (x, scale, ridge, b)),
        torch.autograd.grad(wanted, (x, scale, ridge, b)),
        strict=True,
    ):
        torch.testing.assert_close(mine, other)


def test_gradients_of_estimates_are_estimates():
    x, scale, ridge, _ = leaves(2000)
    kernel = tilefold.kernel(GAUSSIAN, x=x, l=scale)
    value, info = kernel.logdet(ridge, info=True)
    squares = ((x[:, None] - x) ** 2).sum(-1)
    dense = torch.exp(-squares / (2 * scale**2)) + ridge * torch.eye(2000)
    wanted = torch.logdet(dense)
    assert abs(float((value - wanted).detach())) < 4 * info.error
    found = torch.autograd.grad(value, (scale, ridge))
    exact = torch.autograd.grad(wanted, (scale, ridge))
    for mine, other in zip(found, exact, strict=True):
        torch.testing.assert_close(mine, other, rtol=0.15, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_give_tensors(dtype):
    x = torch.tensor(points(30)).to(dtype)
    kernel = tilefold.kernel(GAUSSIAN, x=x, l=0.5)
    value = kernel.logdet(RIDGE)
    assert (value.dtype, value.shape) == (dtype, ())
    quadratic, zero = kernel.inv_quad_logdet(x[:, 0], ridge=RIDGE)
    assert quadratic.dtype == zero.dtype == dtype
    leaf = x.clone().requires_grad_()
    recorded = tilefold.kernel(GAUSSIAN, x=leaf, l=0.5)
    torch.testing.assert_close(recorded.logdet(RIDGE).detach(), value)
    recorded.logdet(RIDGE).backward()
    assert leaf.grad.dtype == dtype
