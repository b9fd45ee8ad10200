# tests/python/test_gpytorch_products.py - products by values of many points,
# which linear_operator would make of root decompositions.

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")
linear_operator = pytest.importorskip("linear_operator")

import gpytorch.kernels as theirs  # noqa: E402
from linear_operator.operators import (  # noqa: E402
    ConstantMulLinearOperator,
    DiagLinearOperator,
    InterpolatedLinearOperator,
    MulLinearOperator,
    RootLinearOperator,
    ZeroLinearOperator,
)

import tilefold.gpytorch as ours  # noqa: E402
from gpytorch_cases import same_parameters  # noqa: E402
from tilefold.gpytorch import KernelOperator  # noqa: E402
from tilefold.gpytorch.composites import (  # noqa: E402
    AddedDiagonal,
    KroneckerProduct,
    SummedBatch,
)

pytestmark = pytest.mark.filterwarnings("ignore")

F64 = torch.float64
# More than GPyTorch decomposes exactly.
MANY = 900
D = torch.linspace(0.1, 0.5, MANY, dtype=F64)


def points(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, dtype=F64, generator=generator)


def short(kernel, length=0.1):
    """The kernel with short length scales: its roots have many columns."""
    for part in kernel.double().modules():
        if getattr(part, "raw_lengthscale", None) is not None:
            part.lengthscale = length
    return kernel


def close(found, expected, tolerance=1e-12):
    found = linear_operator.to_dense(found)
    assert found.shape == expected.shape
    scale = expected.abs().max().clamp(min=1e-9)
    assert ((found - expected).abs().max() / scale).item() <= tolerance


@pytest.fixture
def no_roots(monkeypatch):
    """No product of root decompositions is made."""

    def refuse(*_):
        raise AssertionError("a product of root decompositions")

    monkeypatch.setattr(MulLinearOperator, "__init__", refuse)


def values(kernel, x, y):
    """The dense matrix of a kernel, made of the matrices of its parts."""
    if isinstance(kernel, theirs.AdditiveKernel):
        return sum(values(part, x, y) for part in kernel.kernels)
    if isinstance(kernel, theirs.ProductKernel):
        factors = [values(part, x, y) for part in kernel.kernels]
        return torch.stack(torch.broadcast_tensors(*factors)).prod(0)
    if isinstance(kernel, theirs.ScaleKernel):
        scale = kernel.outputscale[..., None, None]
        return scale * values(kernel.base_kernel, x, y)
    if hasattr(kernel, "num_dims") and hasattr(kernel, "base_kernel"):
        each = [
            values(kernel.base_kernel, x[:, d : d + 1], y[:, d : d + 1])
            for d in range(x.shape[-1])
        ]
        folded = torch.stack(each)
        added = isinstance(kernel, theirs.AdditiveStructureKernel)
        return folded.sum(0) if added else folded.prod(0)
    return kernel(x, y).to_dense()


def linear(k, **arguments):
    return k.ScaleKernel(k.LinearKernel(**arguments))


def added(k, inner=None):
    inner = inner or k.RBFKernel()
    return theirs.AdditiveStructureKernel(inner, num_dims=3)


def multiplied(k, inner=None):
    inner = inner or k.RBFKernel()
    return theirs.ProductStructureKernel(inner, num_dims=3)


ONE_FORMULA = {
    "scaled linear": lambda k: k.RBFKernel() * linear(k),
    "scaled linear first": lambda k: linear(k) * k.RBFKernel(),
    "scaled twice": lambda k: k.RBFKernel() * k.ScaleKernel(linear(k)),
    "linear in a sum": lambda k: k.RBFKernel() * (k.CosineKernel() + linear(k)),
    "sums of linear": lambda k: (
        (k.CosineKernel() + linear(k)) * (linear(k) + k.CosineKernel())
    ),
    "sum of two linear": lambda k: (
        k.RBFKernel()
        * (k.LinearKernel(active_dims=[0]) + k.LinearKernel(active_dims=[1]))
    ),
    "three linear": lambda k: (
        k.LinearKernel() * k.LinearKernel(active_dims=[0]) * linear(k)
    ),
    "batch of scales": lambda k: (
        k.RBFKernel()
        * k.ScaleKernel(k.LinearKernel(), batch_shape=torch.Size([2]))
    ),
    "added to linear": lambda k: k.RBFKernel() + linear(k),
    "linear added": lambda k: linear(k) + k.LinearKernel() + k.RBFKernel(),
    "additive structure": lambda k: k.RBFKernel() * added(k),
    "scaled structure": lambda k: k.RBFKernel() * k.ScaleKernel(added(k)),
    "additive linear": lambda k: k.RBFKernel() * added(k, k.LinearKernel()),
    "product structure": multiplied,
    "product of linear": lambda k: multiplied(k, k.LinearKernel()),
    "linear of GPyTorch": lambda k: (
        k.RBFKernel() * theirs.ScaleKernel(theirs.LinearKernel())
    ),
}
SQUARE = {
    **ONE_FORMULA,
    "structure first": lambda k: added(k) * k.RBFKernel(),
    "GPyTorch's product": lambda k: theirs.ProductKernel(
        linear(k), k.RBFKernel(), k.LinearKernel()
    ),
    "GPyTorch's sum": lambda k: (
        theirs.AdditiveKernel(k.LinearKernel(), k.RBFKernel()) * linear(k)
    ),
}


def both(make):
    his, own = same_parameters(make(theirs), make(ours))
    return short(his), short(own)


@pytest.mark.usefixtures("no_roots")
@torch.no_grad()
@pytest.mark.parametrize("name", SQUARE)
def test_products_of_many_points(name):
    x, b = points(MANY, 3), points(MANY, 2, seed=1)
    his, own = both(SQUARE[name])
    expected = values(his, x, x)
    covariance = own(x).evaluate_kernel()
    assert isinstance(covariance, KernelOperator)
    close(own(x), expected)
    close(own(x) @ b, expected @ b)
    close(own(x).diagonal(dim1=-1, dim2=-2), expected.diagonal(0, -1, -2))


@pytest.mark.usefixtures("no_roots")
@torch.no_grad()
@pytest.mark.parametrize("name", ONE_FORMULA)
def test_products_between_two_sets(name):
    x, y = points(MANY, 3), points(5, 3, seed=1)
    his, own = both(ONE_FORMULA[name])
    covariance = own(x, y).evaluate_kernel()
    assert isinstance(covariance, KernelOperator)
    close(covariance, values(his, x, y))
    close(own(y, x), values(his, y, x))


@pytest.mark.usefixtures("no_roots")
@pytest.mark.parametrize("name", ["scaled linear", "product structure"])
def test_gradients_of_products(name):
    x = points(MANY, 3)
    his, own = both(ONE_FORMULA[name])
    (own(x) @ points(MANY, 1, seed=1)).sin().sum().backward()
    (values(his, x, x) @ points(MANY, 1, seed=1)).sin().sum().backward()
    for one, other in zip(own.parameters(), his.parameters(), strict=True):
        close(one.grad, other.grad, 1e-9)


def covariances():
    """Lazy covariances of the same points, and the last ones of labels."""
    x = points(MANY, 3)
    rbf, low = short(ours.RBFKernel()), linear(ours).double()
    batch = short(ours.RBFKernel(batch_shape=torch.Size([2])))
    batch.lengthscale = torch.tensor([0.1, 0.3], dtype=F64)[:, None, None]
    labels = torch.arange(MANY)[:, None] % 3
    tasks = theirs.IndexKernel(num_tasks=3, rank=1).double()
    around = theirs.ScaleKernel(short(ours.RBFKernel())).double()
    grid = theirs.GridInterpolationKernel(
        short(ours.RBFKernel()), 30, num_dims=1, active_dims=[0]
    ).double()
    return {
        "K": lambda: rbf(x),
        "L": lambda: low(x),
        "B": lambda: batch(x),
        "T": lambda: tasks(labels),
        "S": lambda: around(x),
        "G": lambda: grid(x),
        "noisy": lambda K: K.add_diagonal(D),
    }


def stored(lazy):
    """The same as dense matrices."""
    dense = {key: lazy[key]().to_dense() for key in "KLBTSG"}
    return {
        **{key: lambda key=key: dense[key] for key in dense},
        "noisy": lambda K: K + D.diag(),
    }


# Each of covariances by name, or of the dense matrices they stand for.
ALGEBRA = {
    "scaled low rank": lambda m: (m.L() * 2.0) * m.K(),
    "negative low rank": lambda m: m.K() * (m.L() * -1.0),
    "sum of low rank": lambda m: (m.L() + m.L()) * m.K(),
    "sums": lambda m: (m.L() + m.K()) * (m.K() + m.L()),
    "diagonal right": lambda m: m.K() * m.noisy(m.K()),
    "diagonal left": lambda m: m.noisy(m.K()) * m.K(),
    "diagonals": lambda m: m.noisy(m.K()) * m.noisy(m.L()),
    "constant of a diagonal": lambda m: m.noisy(m.K()) * 2.0,
    "tasks of GPyTorch": lambda m: m.K().mul(m.T()),
    "tasks first": lambda m: m.T().mul(m.K()),
    "GPyTorch's around ours": lambda m: m.S().mul(m.T()),
    "grid": lambda m: m.K() * m.G(),
    "grid first": lambda m: m.G() * m.K(),
    "grid in a sum": lambda m: (m.K() + m.G()) * m.K(),
    "two sums with grids": lambda m: (m.K() + m.G()) * (m.K() + m.G()),
    "product of a batch": lambda m: m.B().prod(0),
    "sum of a batch": lambda m: m.B().sum(0) * m.K(),
    "sums of a batch": lambda m: m.B().sum(0) * m.B().sum(0),
    "sum of a batch and low rank": lambda m: m.B().sum(0) + m.L(),
    "scaled sum of a batch": lambda m: m.B().sum(0) * 3.0,
    "batch and low rank": lambda m: m.L() * m.B(),
}


@pytest.mark.usefixtures("no_roots")
@torch.no_grad()
@pytest.mark.parametrize("name", ALGEBRA)
def test_algebra_of_many_points(name):
    lazy, b = covariances(), points(MANY, 2, seed=1)
    make = ALGEBRA[name]
    expected = make(SimpleNamespace(**stored(lazy)))
    close(make(SimpleNamespace(**lazy)), expected)
    close(make(SimpleNamespace(**lazy)) @ b, expected @ b)
    close(
        make(SimpleNamespace(**lazy)).diagonal(0, -1, -2),
        expected.diagonal(0, -1, -2),
    )


@pytest.mark.usefixtures("no_roots")
@torch.no_grad()
def test_what_products_are():
    made = covariances()
    K, L, B, G = (made[key]() for key in "KLBG")
    assert isinstance(L.evaluate_kernel(), RootLinearOperator)
    assert isinstance((L + L).evaluate_kernel(), RootLinearOperator)
    assert isinstance(L.evaluate_kernel() * 2.0, RootLinearOperator)
    assert isinstance(G.evaluate_kernel(), InterpolatedLinearOperator)
    assert isinstance(K + L, KernelOperator)
    assert isinstance(L * L, KernelOperator)
    assert isinstance(B.prod(0), KernelOperator)
    assert isinstance(B.sum(0), SummedBatch)
    assert isinstance(K * K.add_diagonal(D), AddedDiagonal)
    diagonal = DiagLinearOperator(D)
    assert isinstance(K.add_diagonal(D) * diagonal, DiagLinearOperator)
    assert K + ZeroLinearOperator(MANY, MANY) is K


@pytest.mark.usefixtures("no_roots")
@torch.no_grad()
def test_products_of_multitask_kernels():
    x = points(500, 3)
    one = short(ours.MultitaskKernel(ours.RBFKernel(), num_tasks=2))
    other = ours.ScaleKernel(
        short(ours.MultitaskKernel(ours.MaternKernel(), num_tasks=2))
    ).double()
    several = ours.LCMKernel(
        [short(ours.RBFKernel()), short(ours.RQKernel())], num_tasks=2
    ).double()
    assert isinstance(one(x) * one(x), KroneckerProduct)
    for first, second in ((one, one), (one, other), (other, several)):
        expected = first(x).to_dense() * second(x).to_dense()
        close(first(x) * second(x), expected)
        close((first * second)(x), expected)
    close(several(x) * several(x), several(x).to_dense() ** 2)


@pytest.mark.parametrize("count", [0, 1, 3, 40])
def test_products_of_batches_of_any_size(count):
    kernel = ours.RBFKernel(batch_shape=torch.Size([count])).double()
    length = torch.linspace(0.3, 0.9, count, dtype=F64)
    kernel.lengthscale = length[:, None, None]
    x, y = points(6, 2), points(5, 2, seed=1)
    for K in (kernel(x, y), kernel(x, y).evaluate_kernel()):
        close(K.prod(0), kernel(x, y).to_dense().prod(0))
    if count:
        rbf = ours.RBFKernel().double()
        expected = kernel(x, y).to_dense().sum(0) * rbf(x, y).to_dense()
        close(kernel(x, y).sum(0) * rbf(x, y), expected)
        close(rbf(x, y) * kernel(x, y).sum(0), expected)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_constants_are_numbers_of_any_shape(shape):
    x = points(6, 2)
    K = ours.RBFKernel().double()(x).evaluate_kernel()
    twice = ConstantMulLinearOperator(K, torch.full(shape, 2.0, dtype=F64))
    for product in (K * twice, twice * K):
        assert isinstance(product, KernelOperator)
        close(product, 2 * K.to_dense() ** 2)


def test_products_with_diagonals_that_are_dense():
    x = points(6, 2)
    rbf, his = ours.RBFKernel().double(), theirs.RBFKernel().double()
    noisy = ours.ScaleKernel(his).double()(x).add_diagonal(D[:6])
    close(noisy * rbf(x), noisy.to_dense() * rbf(x).to_dense())
    close(rbf(x) * noisy, noisy.to_dense() * rbf(x).to_dense())
    close(noisy * noisy, noisy.to_dense() ** 2)


def test_products_along_one_of_several_batch_dimensions():
    kernel = ours.ScaleKernel(
        ours.RBFKernel(batch_shape=torch.Size([2])),
        batch_shape=torch.Size([3, 2]),
    ).double()
    kernel.outputscale = 1 + points(3, 2)
    kernel.base_kernel.lengthscale = points(2, 1, 1, seed=1)
    x = points(6, 2)
    dense = kernel(x).to_dense()
    for dim in (0, 1):
        close(kernel(x).prod(dim), dense.prod(dim))
        close(kernel(x).sum(dim) * 2.0, dense.sum(dim) * 2.0)


# ---- indices ----------------------------------------------------------------

MASK = torch.tensor([True, False, True, False, True])
INDICES = [
    (..., slice(None), -1),
    (..., -1, -2),
    (..., -1, slice(None)),
    (..., torch.tensor(-1), slice(None)),
    (..., slice(None), MASK),
    (..., torch.tensor([0, 2, 2]), torch.tensor([1, 1, 0])),
    (..., torch.tensor([[0], [3]]), torch.tensor([[1, 2, 4]])),
]
OF_BATCHES = [
    (0,),
    (-1,),
    (slice(0, 1),),
    (1, 2),
    (0, slice(1, 3), slice(None)),
    (torch.tensor([1, 0]),),
    (0, ..., -1),
]
INDEXED = {
    "plain": lambda k: k.RBFKernel(),
    "linear": lambda k: linear(k, batch_shape=torch.Size([2])),
    "batches": lambda k: k.RBFKernel(batch_shape=torch.Size([2])),
    "sum of a batch and none": lambda k: (
        k.RBFKernel(batch_shape=torch.Size([2])) + k.MaternKernel()
    ),
    "tasks": lambda k: k.MultitaskKernel(k.RBFKernel(), num_tasks=2),
    "batches of tasks": lambda k: k.MultitaskKernel(
        k.RBFKernel(batch_shape=torch.Size([2])), num_tasks=2
    ),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_of_lazy_covariances(name):
    kernel = INDEXED[name](ours).double()
    if "sum" in name:
        kernel.kernels[0].lengthscale = points(2, 1, 1)
    x, y = points(6, 3), points(5, 3, seed=1)
    dense = kernel(x, y).to_dense()
    indices = [*INDICES, *(OF_BATCHES if dense.dim() == 3 else [])]
    for index in indices:
        if "tasks" in name and index[-1] is MASK:
            continue
        expected = dense[index]
        close(kernel(x, y)[index], expected)
        close(kernel(x, y).evaluate_kernel()[index], expected)
