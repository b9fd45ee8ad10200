# tests/python/test_gpytorch_derivatives.py - second derivatives through
# covariance operators, against PyTorch's of the dense matrix.

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gpytorch")
pytest.importorskip("linear_operator")

from linear_operator.operators import (  # noqa: E402
    ConstantMulLinearOperator,
    DiagLinearOperator,
    LowRankRootLinearOperator,
    MatmulLinearOperator,
    RootLinearOperator,
    SumLinearOperator,
)

import tilefold.gpytorch as ours  # noqa: E402
from tilefold.gpytorch import KernelOperator  # noqa: E402
from tilefold.gpytorch.composites import KroneckerProduct  # noqa: E402
from tilefold.gpytorch.low_rank import as_low_rank  # noqa: E402

F64 = torch.float64


def leaf(*shape, seed=0, low=0.5):
    generator = torch.Generator().manual_seed(seed)
    values = low + torch.rand(*shape, dtype=F64, generator=generator)
    return values.requires_grad_(True)


def operator(x, y, length, scale):
    return KernelOperator(
        x,
        y,
        length,
        scale,
        text="s*exp(-|(x_i - y_j)/l|²/2)",
        names=("x", "y", "l", "s"),
        roles="ijpp",
    )


def matrix(x, y, length, scale):
    away = (x.unsqueeze(-2) - y.unsqueeze(-3)) / length.unsqueeze(-2)
    return scale * torch.exp(-away.square().sum(-1) / 2)


def second(value, arguments):
    """The gradient of a mixture of all gradients of a number."""
    first = torch.autograd.grad(value, arguments, create_graph=True)
    mixed = sum((g * (g + 0.3)).sum() for g in first)
    return [
        part.detach()
        for part in (*first, *torch.autograd.grad(mixed, arguments))
    ]


def agree(found, expected, tolerance=1e-10):
    for one, other in zip(found, expected, strict=True):
        scale = max(other.abs().max().item(), 1e-3)
        assert (one - other).abs().max().item() <= tolerance * scale


B = torch.linspace(-1, 1, 12, dtype=F64).reshape(6, 2)
NOISE = torch.linspace(0.5, 1, 6, dtype=F64)
ROWS = torch.tensor([4, 0, 2])


def blocks(K):
    """Rows and columns by numbers, as the pivoted Cholesky asks for them."""
    batch = K.shape[:-2]
    lead = [
        torch.arange(size).reshape(
            [size if place == k else 1 for k in range(len(batch))] + [1, 1]
        )
        for place, size in enumerate(batch)
    ]
    return K[(*lead, ROWS[:, None], ROWS[None, :])]


def t_product(K):
    """Kᵀ B, by the method that linear_operator calls in backward."""
    return K.mT @ B if torch.is_tensor(K) else K._t_matmul(B)


# What is made of an operator, or of the matrix it stands for.
USES = {
    "matmul": lambda K: K @ B,
    "vector": lambda K: (K if K.dim() == 2 else K[..., 0, :, :]) @ B[:, 0],
    "transposed": lambda K: K.mT @ B,
    "t_matmul": t_product,
    "sum": lambda K: K.sum(),
    "sum_of_rows": lambda K: K.sum(-1),
    "sum_of_columns": lambda K: K.sum(-2),
    "rows": lambda K: K[..., 1:4, :] @ B,
    "chosen_rows": lambda K: K[..., ROWS, :] @ B,
    "elements": lambda K: K[..., ROWS, ROWS.flip(0)],
    "blocks": blocks,
    "diagonal": lambda K: K.diagonal(dim1=-1, dim2=-2),
    "sum_and_product": lambda K: (K * 3.0 + K * K) @ B,
}


ARGUMENTS = {
    "plain": lambda: (
        leaf(6, 2),
        leaf(6, 2, seed=1),
        leaf(1, 2, seed=2),
        leaf(1, 1, seed=3),
    ),
    "batched parameters": lambda: (
        leaf(6, 2),
        leaf(6, 2, seed=1),
        leaf(3, 1, 2, seed=2),
        leaf(3, 1, 1, seed=3),
    ),
    "batched points": lambda: (
        leaf(2, 1, 6, 2),
        leaf(3, 6, 2, seed=1),
        leaf(1, 2, seed=2),
        leaf(3, 1, 1, seed=3),
    ),
    "one component": lambda: (
        leaf(6, 1),
        leaf(6, 1, seed=1),
        leaf(1, 1, seed=2),
        leaf(1, 1, seed=3),
    ),
}


@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.parametrize("use", USES)
def test_second_derivatives(use, kind):
    arguments = ARGUMENTS[kind]()
    made = USES[use]
    found = second(made(operator(*arguments)).sin().sum(), arguments)
    expected = second(made(matrix(*arguments)).sin().sum(), arguments)
    agree(found, expected)


def thin(K):
    """Two columns of a matrix."""
    return (K if torch.is_tensor(K) else K.to_dense())[:, :2]


def root(K):
    return as_low_rank(LowRankRootLinearOperator(thin(K)))


def squared(K):
    return thin(K) @ thin(K).mT


COMPOSITES = {
    "added diagonal": (
        lambda K: K + DiagLinearOperator(NOISE),
        lambda K: K + torch.diag(NOISE),
    ),
    "sum": (
        lambda K: SumLinearOperator(K, K.mT),
        lambda K: K + K.mT,
    ),
    "constant": (
        lambda K: ConstantMulLinearOperator(K, torch.tensor(1.5, dtype=F64)),
        lambda K: 1.5 * K,
    ),
    "kronecker": (
        lambda K: KroneckerProduct(K[..., :3, :3], K[..., :2, :2]),
        lambda K: torch.kron(K[:3, :3], K[:2, :2]),
    ),
    "low rank": (root, squared),
    "root": (
        lambda K: as_low_rank(RootLinearOperator(K.to_dense())),
        lambda K: K @ K.mT,
    ),
    "thin product": (
        lambda K: as_low_rank(MatmulLinearOperator(thin(K), thin(K.mT).mT)),
        lambda K: thin(K) @ thin(K.mT).mT,
    ),
    "scaled low rank": (lambda K: root(K) * 1.5, lambda K: 1.5 * squared(K)),
    "negative low rank": (lambda K: root(K) * -2.0, lambda K: -2 * squared(K)),
    "sum of low rank": (
        lambda K: root(K) + root(K.mT) * 2.0,
        lambda K: squared(K) + 2 * squared(K.mT),
    ),
    "rows of low rank": (
        lambda K: root(K)[[5, 4, 3, 2, 1, 0], :],
        lambda K: squared(K).flip(0),
    ),
    "low rank and a diagonal": (
        lambda K: root(K) + DiagLinearOperator(NOISE),
        lambda K: squared(K) + torch.diag(NOISE),
    ),
    "low rank and a formula": (
        lambda K: root(K) + K,
        lambda K: squared(K) + K,
    ),
    "low rank times a formula": (
        lambda K: root(K) * K,
        lambda K: squared(K) * K,
    ),
    "formula times a sum with a diagonal": (
        lambda K: K * (K + DiagLinearOperator(NOISE)),
        lambda K: K * (K + torch.diag(NOISE)),
    ),
}


@pytest.mark.parametrize("use", ["matmul", "vector", "transposed", "sum"])
@pytest.mark.parametrize("composite", COMPOSITES)
def test_second_derivatives_of_composites(composite, use):
    ours_of, dense_of = COMPOSITES[composite]
    arguments = ARGUMENTS["plain"]()
    made = USES[use]
    found = second(made(ours_of(operator(*arguments))).sin().sum(), arguments)
    expected = second(made(dense_of(matrix(*arguments))).sin().sum(), arguments)
    agree(found, expected)


def linear(**arguments):
    return ours.ScaleKernel(ours.LinearKernel(**arguments))


LINEAR = {
    "alone": ours.LinearKernel,
    "ard": lambda: ours.LinearKernel(ard_num_dims=2),
    "scaled": linear,
    "sum": lambda: ours.LinearKernel() + linear(active_dims=[0]),
    "product": lambda: (
        ours.LinearKernel() * ours.LinearKernel(active_dims=[0]) * linear()
    ),
    "beside a formula": lambda: ours.RBFKernel() + linear(),
    "times a formula": lambda: ours.RBFKernel() * linear(),
}


def noisy(K):
    eye = torch.eye(6, dtype=F64)
    return K + eye if torch.is_tensor(K) else K.add_diagonal(NOISE.new_ones(1))


LINEAR_USES = {
    **{use: USES[use] for use in ("matmul", "transposed", "sum", "rows")},
    "noisy": lambda K: noisy(K) @ B,
    "solve": lambda K: torch.linalg.solve(noisy(K), B),
}


@pytest.mark.parametrize("use", LINEAR_USES)
@pytest.mark.parametrize("name", LINEAR)
def test_second_derivatives_of_linear_kernels(name, use):
    kernel, made = LINEAR[name]().double(), LINEAR_USES[use]
    x = leaf(6, 2)
    arguments = (x, *kernel.parameters())
    found = second(made(kernel(x)).sin().sum(), arguments)
    expected = second(made(kernel(x).to_dense()).sin().sum(), arguments)
    agree(found, expected)
    evaluated = kernel(x).evaluate_kernel()
    agree(second(made(evaluated).sin().sum(), arguments), expected)


def test_second_derivatives_of_a_sum_of_batches():
    arguments = ARGUMENTS["batched parameters"]()
    found = second((operator(*arguments).sum(-3) @ B).sin().sum(), arguments)
    expected = second((matrix(*arguments).sum(-3) @ B).sin().sum(), arguments)
    agree(found, expected)


def test_third_derivatives_of_a_product():
    def third(value, arguments):
        first = torch.autograd.grad(value, arguments, create_graph=True)
        mixed = sum((g * g).sum() for g in first)
        twice = torch.autograd.grad(mixed, arguments, create_graph=True)
        return second(sum((g * g).sum() for g in twice), arguments)

    arguments = ARGUMENTS["plain"]()
    found = third((operator(*arguments) @ B).sin().sum(), arguments)
    expected = third((matrix(*arguments) @ B).sin().sum(), arguments)
    agree(found, expected, 1e-9)


@pytest.mark.parametrize("count", [6, 70])
def test_second_derivatives_of_dense(count):
    _, _, length, scale = ARGUMENTS["plain"]()
    arguments = (leaf(count, 2), leaf(count, 2, seed=1), length, scale)
    found = second(operator(*arguments).to_dense().sin().sum(), arguments)
    expected = second(matrix(*arguments).sin().sum(), arguments)
    agree(found, expected)


def test_second_derivatives_through_a_solve():
    x, _, length, scale = ARGUMENTS["plain"]()
    noise = leaf(1, seed=5)
    arguments = (x, length, scale, noise)

    def value(K):
        return (B * torch.linalg.solve(K, B)).sum()

    K = operator(x, x, length, scale).add_diagonal(noise)
    D = matrix(x, x, length, scale) + noise * torch.eye(6, dtype=F64)
    agree(second(value(K), arguments), second(value(D), arguments), 1e-8)


def test_second_derivatives_of_coregionalised_tasks():
    kernel = ours.LCMKernel(
        [ours.RBFKernel(), ours.MaternKernel(nu=1.5)], num_tasks=2, rank=1
    ).double()
    parameters = [*kernel.parameters()]
    x = leaf(3, 2).detach()

    def tasks_apart():
        return sum(
            torch.kron(
                part.data_covar_module(x).to_dense(),
                part.task_covar_module._eval_covar_matrix(),
            )
            for part in kernel.covar_module_list
        )

    noise = NOISE[:1].clone().requires_grad_(True)
    arguments = (*parameters, noise)
    found = second((kernel(x).add_diagonal(noise) @ B).sin().sum(), arguments)
    dense = tasks_apart() + noise * torch.eye(6, dtype=F64)
    agree(found, second((dense @ B).sin().sum(), arguments))


def test_hessian_of_the_likelihood_by_cholesky():
    import gpytorch

    x = leaf(6, 2).detach()
    kernel = ours.ScaleKernel(ours.RBFKernel(ard_num_dims=2)).double()
    noise = torch.tensor([0.1], dtype=F64, requires_grad=True)
    parameters = (*kernel.parameters(), noise)

    def likelihood(K):
        normal = gpytorch.distributions.MultivariateNormal(
            torch.zeros(6, dtype=F64), K
        )
        return normal.log_prob(B[:, 0])

    found = second(likelihood(kernel(x).add_diagonal(noise)), parameters)
    theirs = gpytorch.kernels.ScaleKernel(
        gpytorch.kernels.RBFKernel(ard_num_dims=2)
    ).double()
    other_noise = noise.detach().clone().requires_grad_(True)
    expected = second(
        likelihood(theirs(x).add_diagonal(other_noise)),
        (*theirs.parameters(), other_noise),
    )
    agree(found, expected, 1e-8)
