# tests/python/test_torch_solves.py - systems with kernels, and determinants,
# in torch.func's transforms and in forward mode, against dense matrices.
from __future__ import annotations

import warnings

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

import tilefold
from torch_cases import assert_same, squares, uniform

N = 8
X, B, L, RIDGE = uniform(N, 2), uniform(N), uniform() + 0.3, uniform() + 0.2
C = uniform(N, 3)
CC = C + 0j
GAUSSIAN = "exp(-|x_i - x_j|²/2l²)"
HERMITIAN = "exp(-|x_i - x_j|²/2l² + im*(x_i - x_j)[0])"


def kernel(x, l, text=GAUSSIAN):
    return tilefold.kernel(text, x=x, l=l)


def matrix(x, l, ridge, text=GAUSSIAN):
    values = torch.exp(-squares(x, x) / (2 * l**2))
    if text == HERMITIAN:
        first = x[..., 0]
        values = values * torch.exp(1j * (first[:, None] - first))
    return values + ridge * torch.eye(len(x), dtype=x.dtype)


def solved(matrix, b):
    """By the inverse: PyTorch 2.13 has no tangents of tangents of solve."""
    return torch.linalg.inv(matrix) @ b


def dense_logdet(matrix):
    return 2 * torch.linalg.cholesky(matrix).diagonal().real.log().sum()


CASES = {
    "solve": (
        (X, B, L, RIDGE),
        lambda x, b, l, r: kernel(x, l).solve(b, r, rtol=1e-14),
        lambda x, b, l, r: solved(matrix(x, l, r), b),
    ),
    "columns": (
        (X, C, L, RIDGE),
        lambda x, b, l, r: kernel(x, l).solve(b, r, rtol=1e-14),
        lambda x, b, l, r: solved(matrix(x, l, r), b),
    ),
    "logdet": (
        (X, L, RIDGE),
        lambda x, l, r: kernel(x, l).logdet(r),
        lambda x, l, r: dense_logdet(matrix(x, l, r)),
    ),
    "likelihood": (
        (X, B, L, RIDGE),
        lambda x, b, l, r: sum(
            kernel(x, l).inv_quad_logdet(b, True, ridge=r, rtol=1e-14)
        ),
        lambda x, b, l, r: (
            b @ solved(matrix(x, l, r), b) + dense_logdet(matrix(x, l, r))
        ),
    ),
    "Hermitian": (
        (X, B, L, RIDGE),
        lambda x, b, l, r: torch.view_as_real(
            kernel(x, l, HERMITIAN).solve(b, r, rtol=1e-14)
        ),
        lambda x, b, l, r: torch.view_as_real(
            solved(matrix(x, l, r, HERMITIAN), b + 0j)
        ),
    ),
    "Hermitian determinant": (
        (X, L, RIDGE),
        lambda x, l, r: kernel(x, l, HERMITIAN).T.logdet(r),
        lambda x, l, r: dense_logdet(matrix(x, l, r, HERMITIAN)),
    ),
}


class System:
    """A system as a function of its values, and the same in torch."""

    def __init__(self, name):
        self.values, self.found, self.expected = CASES[name]
        self.every = tuple(range(len(self.values)))

    def same(self, transform, values=None, tolerance=1e-9):
        """The transform of both gives the same."""
        values = self.values if values is None else values
        assert_same(
            transform(self.found)(*values),
            transform(self.expected)(*values),
            tolerance,
        )


def summed(f):
    """A number of a function's results, whose derivatives do not vanish."""
    return lambda *values: f(*values).sin().sum()


@pytest.fixture(params=CASES)
def system(request):
    return System(request.param)


def test_derivatives_of_functions(system):
    every = system.every
    system.same(lambda f: grad(summed(f), every))
    system.same(lambda f: jacrev(f, every))
    system.same(lambda f: jacfwd(f, every))
    system.same(lambda f: hessian(summed(f), every))
    system.same(lambda f: jacrev(jacrev(summed(f), every), every))
    along = tuple(value.cos() for value in system.values)
    system.same(lambda f: lambda *v: jvp(f, v, along))
    system.same(lambda f: jacfwd(lambda *v: jvp(f, v, along)[1]))


def test_dual_numbers(system):
    def dual(f):
        def call(*values):
            with forward_ad.dual_level():
                pairs = [forward_ad.make_dual(v, v.cos()) for v in values]
                return tuple(forward_ad.unpack_dual(f(*pairs)))

        return call

    system.same(dual)


def test_vmap_over_each_argument(system):
    every, values = system.every, system.values
    for k in every:
        for dim in (0, values[k].dim()):
            batch = list(values)
            batch[k] = torch.stack([values[k], values[k] * 1.1], dim)
            dims = tuple(dim if k == other else None for other in every)
            system.same(lambda f, dims=dims: vmap(f, dims), batch)
            system.same(
                lambda f, dims=dims: vmap(grad(summed(f), every), dims), batch
            )
            system.same(
                lambda f, dims=dims: grad(summed(vmap(f, dims)), every), batch
            )
    once = [torch.stack([value, value * 1.1]) for value in values]
    system.same(vmap, once)
    system.same(lambda f: vmap(hessian(summed(f), every)), once)
    twice = [torch.stack([value, value * 0.9]) for value in once]
    system.same(lambda f: vmap(vmap(f)), twice)


def test_autograd_checks_itself(system):
    values = [value.clone().requires_grad_() for value in system.values]
    assert torch.autograd.gradcheck(
        system.found,
        values,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
    )
    assert torch.autograd.gradgradcheck(
        system.found, values, check_fwd_over_rev=True
    )


def test_many_right_hand_sides_are_columns_of_one_system():
    x = uniform(40, 2)
    k = kernel(x, 0.5)
    sides = uniform(9, 40)
    before = tilefold.stats().runs
    found = k.solve(sides.T, 0.1, rtol=1e-12).T
    once = tilefold.stats().runs - before
    mapped = vmap(lambda b: k.solve(b, 0.1, rtol=1e-12))(sides)
    assert tilefold.stats().runs - before <= 2 * once
    assert_same(mapped, found, 1e-9)


def test_tensors_beside_a_kernel_of_arrays():
    """The right-hand side and the ridge, of NumPy's points."""
    k, inverse = (
        tilefold.kernel(GAUSSIAN, x=X.numpy(), l=float(L)),
        torch.linalg.inv(matrix(X, L, RIDGE)),
    )
    found = grad(lambda b: k.solve(b, RIDGE, rtol=1e-14).sin().sum())(B)
    expected = grad(lambda b: (inverse @ b).sin().sum())(B)
    assert_same(found, expected, 1e-9)
    assert_same(grad(k.logdet)(RIDGE), inverse.trace(), 1e-9)
    leaf = RIDGE.clone().requires_grad_()
    k.logdet(leaf).backward()
    assert_same(leaf.grad, inverse.trace(), 1e-9)
    large = tilefold.kernel(GAUSSIAN, x=uniform(2000, 1).numpy() * 100, l=1.0)
    value, info = large.logdet(leaf, info=True)
    leaf.grad = None
    value.backward()
    assert info.steps > 0
    assert leaf.grad > 0


def test_what_is_told_of_a_system():
    def of(ridge):
        x, found = kernel(X, L).solve(B, ridge, rtol=1e-10, info=True)
        return x.sum(), found

    _, found = kernel(X, L).solve(B, RIDGE, rtol=1e-10, info=True)
    _, inside = grad(of, has_aux=True)(RIDGE)
    assert int(inside.iterations) == found.iterations
    assert bool(inside.converged)
    assert float(inside.residuals) <= 1e-10
    ridges = torch.stack([RIDGE, 2 * RIDGE])
    several = vmap(lambda r: of(r)[1].residuals)(ridges)
    assert several.shape == (2,)
    value, inside = grad(
        lambda r: kernel(X, L).logdet(r, info=True), has_aux=True
    )(RIDGE)
    assert value.shape == ()
    assert (int(inside.probes), float(inside.error)) == (0, 0)


@pytest.mark.parametrize(
    "use",
    [
        lambda r: kernel(uniform(50, 2), 3.0).solve(
            uniform(50), r, 1e-12, maxiter=1
        ),
        lambda r: tilefold.kernel("-|x_i - x_j|²", x=X).logdet(r),
    ],
)
def test_warnings_are_told_where_it_was_called(use):
    def called(r):
        return use(r).sum()

    ridge = torch.tensor(1e-6, dtype=torch.float64)
    for transform in (grad, lambda f: f):
        with pytest.warns(tilefold.ConvergenceWarning) as caught:
            transform(called)(ridge.clone().requires_grad_())
        assert caught[0].filename == __file__


def test_estimates_have_derivatives_in_all_modes():
    """From 2,000 points on: the same signs, the same estimate."""
    x = uniform(2000, 1) * 100
    leaf = RIDGE.clone().requires_grad_()
    value = kernel(x, L).logdet(leaf)
    (expected,) = torch.autograd.grad(value, leaf)
    found = grad(lambda r: kernel(x, L).logdet(r))(RIDGE)
    assert_same(found, expected)
    _, tangent = jvp(lambda r: kernel(x, L).logdet(r), (RIDGE,), (RIDGE,))
    assert_same(tangent, expected * RIDGE, 1e-6)
    by_l = grad(lambda l: kernel(x, l).logdet(RIDGE))(L)
    along = jvp(lambda l: kernel(x, l).logdet(RIDGE), (L,), (L,))[1]
    assert_same(along, by_l * L, 1e-6)
    mapped = vmap(grad(lambda r: kernel(x, L).logdet(r)))(RIDGE[None])
    assert_same(mapped[0], expected)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda l: kernel(X, l).solve(B[:5], RIDGE), "shape (5,)"),
        (lambda l: kernel(X, l).solve(uniform(2, N, 1), RIDGE), "(2, 8, 1)"),
        (
            lambda l: tilefold.kernel(
                "exp(-|x_i - y_j|/l)", x=X, y=X[:5], l=l
            ).solve(B, RIDGE),
            "as many rows as columns",
        ),
        (
            lambda l: kernel(torch.stack([X, X]), l).solve(B, RIDGE),
            "K[0].solve(b)",
        ),
        (
            lambda l: tilefold.kernel("(x_i - x_j)/l", x=X, l=l).logdet(RIDGE),
            "K[..., 0]",
        ),
        (
            lambda l: kernel(X, l).solve(B, -RIDGE),
            "method='minres'",
        ),
    ],
)
def test_systems_that_are_refused_as_outside(use, message):
    with pytest.raises(tilefold.Error) as outside:
        use(L)
    with pytest.raises(tilefold.Error) as inside:
        grad(lambda l: use(l).sum())(L)
    assert message in str(outside.value)
    assert str(inside.value) == str(outside.value)


def test_shapes_are_known_without_values():
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode, sides = FakeTensorMode(), (B, C, CC)
    solutions = [kernel(X, 0.5).solve(side, 0.1) for side in sides]
    fakes = [mode.from_tensor(side) for side in sides]
    x, short = mode.from_tensor(X), mode.from_tensor(B[:5].clone())
    with mode:
        for side, real in zip(fakes, solutions, strict=True):
            found = kernel(x, 0.5).solve(side, 0.1)
            assert (found.shape, found.dtype) == (real.shape, real.dtype)
        value = kernel(x, 0.5).logdet(0.1)
        assert (value.shape, value.dtype) == ((), torch.float64)
        with pytest.raises(tilefold.ShapeError, match="shape \\(5,\\)"):
            kernel(x, 0.5).solve(short, 0.1)


def test_the_default_device_is_no_matter():
    with torch.device("meta"):  # as another one would be, without a card
        for name in ("solve", "likelihood"):
            values, found, expected = CASES[name]
            every = tuple(range(len(values)))
            derivatives = [
                grad(summed(found), every)(*values),
                jvp(found, values, values),
            ]
            recorded = [v.clone().requires_grad_() for v in values]
            summed(found)(*recorded).backward()
            for leaf, gradient in zip(recorded, derivatives[0], strict=True):
                assert_same(leaf.grad, gradient, 1e-9)
    assert_same(derivatives[0], grad(summed(expected), every)(*values), 1e-9)
    assert_same(derivatives[1], jvp(expected, values, values), 1e-9)


def test_a_trace_keeps_no_solution_as_a_constant():
    from torch.fx.experimental.proxy_tensor import make_fx

    for name in ("solve", "likelihood"):
        values, found, expected = CASES[name]
        for call in (found, grad(summed(found))):
            traced = make_fx(call)(*values)
            at = (2 * values[0], *values[1:])
            assert_same(traced(*at), call(*at), 1e-9)
        assert_same(traced(*at), grad(summed(expected))(*at), 1e-8)


def test_nothing_is_warned_of_what_converged():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PyTorch's of itself, in the first hessian of a process.
        warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated")
        values, found, _ = CASES["likelihood"]
        hessian(found, (0, 1))(*values)
