# tests/python/test_gpytorch_kernels.py - kernels against GPyTorch's own.

import copy
import pickle
import time
import warnings

import pytest

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")

import gpytorch.kernels as theirs  # noqa: E402
from linear_operator.operators import (  # noqa: E402
    DiagLinearOperator,
    LinearOperator,
    RootLinearOperator,
)

import tilefold.gpytorch as ours  # noqa: E402
from gpytorch_cases import CASES, pair, same_parameters, structures  # noqa: E402
from tilefold.gpytorch import KernelOperator  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

F64 = torch.float64
STRUCTURES = structures()


def points(*shape, seed=0, dtype=F64):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, dtype=dtype, generator=generator)


INPUTS = {
    "two sets": lambda: (points(6, 3), points(5, 3, seed=1)),
    "one set": lambda: (points(6, 3),) * 2,
    "a batch": lambda: (points(2, 6, 3), points(2, 5, 3, seed=1)),
    "crossed batches": lambda: (
        points(4, 1, 6, 3),
        points(2, 5, 3, seed=1),
    ),
}


def close(found, expected, tolerance=1e-12):
    assert found.shape == expected.shape
    assert (found - expected).abs().max().item() <= tolerance


@pytest.mark.sample(0.3)
@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("batch", [(), (2,), (4, 2)])
@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_gpytorch(case, batch, inputs):
    x, y = INPUTS[inputs]()
    for ard in (False, True) if CASES[case][2] else (False,):
        his, own = pair(case, batch=batch, ard=ard)
        # GPyTorch's 1/2 and q = 0 are off by 1e-8 at coincident points.
        tolerance = 1e-7 if case in ("matern 1/2", "piecewise 0") else 1e-12
        close(own(x, y).to_dense(), his(x, y).to_dense(), tolerance)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_gpytorch(case):
    x, y = points(6, 3), points(5, 3, seed=1)
    his, own = pair(case, ard=CASES[case][2])
    weights = torch.linspace(-1, 1, 30, dtype=F64).reshape(6, 5)
    found = {}
    for kernel in (his, own):
        inputs = [part.clone().requires_grad_(True) for part in (x, y)]
        value = (kernel(*inputs).to_dense() * weights).sum()
        found[kernel] = torch.autograd.grad(
            value, [*kernel.parameters(), *inputs], allow_unused=True
        )
    for one, other in zip(found[own], found[his], strict=True):
        if other is None or one is None:  # a constant has no points
            assert one is None or not one.any()
        else:
            close(one, other, 1e-10)


@pytest.mark.parametrize("case", CASES)
def test_each_dimension_apart(case):
    x, y = points(6, 3), points(5, 3, seed=1)
    his, own = pair(case, ard=CASES[case][2])
    for kernel, inputs in ((own, (x, y)), (own, (x, x))):
        found = kernel(*inputs, last_dim_is_batch=True)
        expected = his(*inputs, last_dim_is_batch=True)
        tolerance = 1e-7 if case in ("matern 1/2", "piecewise 0") else 1e-12
        close(found.to_dense(), expected.to_dense(), tolerance)
    close(
        own(x, diag=True, last_dim_is_batch=True),
        own(x, x, last_dim_is_batch=True).to_dense().diagonal(dim1=-1, dim2=-2),
    )


# ---- diagonals --------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 2, 100, 800])
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("case", CASES)
def test_diagonals(case, batch, size):
    x = points(7, 3)
    for ard in (False, True) if CASES[case][2] else (False,):
        his, own = pair(case, batch=batch, ard=ard)
        with gpytorch.settings.max_cholesky_size(size):
            covariance = own(x)
            diagonal = covariance.diagonal(dim1=-1, dim2=-2)
            assert diagonal.shape == (*batch, 7)
            assert own(x, diag=True).shape == (*batch, 7)
            assert own(x)._diagonal().shape == (*batch, 7)
            matrix = own(x).to_dense()
        if case != "linear":  # its matrix is a product of roots
            assert torch.equal(diagonal, matrix.diagonal(dim1=-1, dim2=-2))
        close(diagonal, his(x, diag=True))
        y = points(7, 3, seed=1)
        close(own(x, y, diag=True), his(x, y, diag=True))


@pytest.mark.parametrize("size", [0, 1, 800])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_diagonals_of_structures(structure, size):
    his, own = same_parameters(
        STRUCTURES[structure](theirs), STRUCTURES[structure](ours)
    )
    x = points(7, 3)
    with gpytorch.settings.max_cholesky_size(size):
        expected = his(x).to_dense().diagonal(dim1=-1, dim2=-2)
        close(own(x).diagonal(dim1=-1, dim2=-2), expected)
        close(own(x, diag=True), expected)


def test_diagonals_take_linear_time_and_memory():
    kernel = ours.ScaleKernel(ours.MaternKernel(nu=2.5, ard_num_dims=2))
    x = torch.rand(1_000_000, 2)
    kernel(x[:10]).diagonal(dim1=-1, dim2=-2)  # compiles
    started = time.perf_counter()
    with gpytorch.settings.max_cholesky_size(0):
        diagonal = kernel(x).diagonal(dim1=-1, dim2=-2)
    assert diagonal.shape == (1_000_000,)  # a matrix would take 4 TB
    diagonal.sum().backward()
    assert time.perf_counter() - started < 20
    assert kernel.raw_outputscale.grad is not None


# ---- one formula ------------------------------------------------------------


FUSED = [
    name
    for name in STRUCTURES
    if name not in ("multitask", "multitask of a sum", "lcm")
]


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_structures(structure, inputs):
    x, y = INPUTS[inputs]()
    his, own = same_parameters(
        STRUCTURES[structure](theirs), STRUCTURES[structure](ours)
    )
    if inputs == "crossed batches" and structure not in FUSED:
        pytest.skip("GPyTorch repeats tasks along the batch of x alone")
    close(own(x, y).to_dense(), his(x, y).to_dense(), 1e-7)
    close(
        own(x, y) @ torch.ones(own(x, y).shape[-1], 2, dtype=F64),
        his(x, y)
        .to_dense()
        .sum(-1, keepdim=True)
        .expand(*own(x, y).shape[:-1], 2),
        1e-6,
    )


@pytest.mark.parametrize("case", CASES)
def test_a_class_beside_itself(case):
    """Two kernels whose parameters have the same names."""
    x, y = points(6, 3), points(5, 3, seed=1)
    first, second = pair(case), pair(case)
    same_parameters(*second, seed=5)
    found, expected = (
        (one * other + one)(x, y).to_dense()
        for one, other in zip(first, second, strict=True)
    )
    close(expected, found, 1e-7)


@pytest.mark.parametrize("structure", FUSED)
def test_structures_are_one_formula(structure):
    own = STRUCTURES[structure](ours).double()
    for x, y in ((points(6, 3), points(5, 3)), (points(6, 3),) * 2):
        covariance = own(x, y).evaluate_kernel()
        assert isinstance(covariance, KernelOperator)
        names = covariance.names
        assert len(set(names)) == len(names) == len(covariance._args)


def test_points_that_parts_share_are_one_argument():
    kernel = ours.RBFKernel() * ours.MaternKernel() + ours.CosineKernel()
    covariance = kernel(points(6, 3), points(5, 3)).evaluate_kernel()
    assert covariance.roles.count("i") == covariance.roles.count("j") == 1


def test_products_of_lazy_covariances_are_one_formula():
    x, y = points(6, 2), points(5, 2, seed=1)
    a, c = (torch.randint(0, 3, (n, 1)) for n in (6, 5))
    data = ours.RBFKernel().double()
    tasks = ours.IndexKernel(num_tasks=3, rank=2).double()
    fused = data(x, y).mul(tasks(a, c))
    assert isinstance(fused, KernelOperator)
    table = tasks.covar_matrix.to_dense()[a[:, 0]][:, c[:, 0]]
    close(fused.to_dense(), data(x, y).to_dense() * table)
    assert isinstance(data(x, y) + tasks(a, c), KernelOperator)
    diagonal = DiagLinearOperator(torch.linspace(1, 2, 6, dtype=F64))
    times = data(x).evaluate_kernel() * diagonal
    assert isinstance(times, DiagLinearOperator)
    close(times.to_dense(), data(x).to_dense() * diagonal.to_dense())
    assert isinstance(data(x, y) * 2.0, KernelOperator)


def test_gradients_of_a_product_by_tasks():
    x = points(8, 2)
    a = torch.randint(0, 3, (8, 1))
    weights = torch.linspace(-1, 1, 64, dtype=F64).reshape(8, 8)
    found = {}
    for kernels in (theirs, ours):
        torch.manual_seed(0)
        data = kernels.RBFKernel().double()
        tasks = kernels.IndexKernel(num_tasks=3, rank=2).double()
        matrix = data(x).mul(tasks(a))
        found[kernels] = torch.autograd.grad(
            (matrix.to_dense() * weights).sum(),
            [*data.parameters(), *tasks.parameters()],
        )
    for one, other in zip(found[ours], found[theirs], strict=True):
        close(one, other, 1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, F64])
@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_index_kernels(tasks, dtype):
    kernel = ours.IndexKernel(num_tasks=tasks, rank=1).to(dtype)
    a = torch.randint(0, tasks, (6, 1))
    c = torch.randint(0, tasks, (5, 1))
    found = kernel(a, c).to_dense()
    assert found.dtype == dtype
    table = kernel.covar_matrix.to_dense()
    close(found, table[a, c.mT], 1e-7 if dtype == torch.float32 else 1e-15)
    close(kernel(a, diag=True), table.diagonal()[a[:, 0]], 1e-6)


def test_linear_kernels_alone_stay_of_low_rank():
    assert isinstance(
        ours.LinearKernel()(torch.rand(9, 2)).evaluate_kernel(),
        RootLinearOperator,
    )


def test_operators_keep_sums_and_products_by_name():
    kernel = ours.RBFKernel()
    assert type(kernel + kernel) is ours.AdditiveKernel
    assert type(kernel * kernel) is ours.ProductKernel
    assert len((kernel + kernel + kernel).kernels) == 3
    assert len((kernel * (kernel * kernel)).kernels) == 3
    assert isinstance(kernel + theirs.RBFKernel(), ours.AdditiveKernel)


# ---- what is GPyTorch's -----------------------------------------------------

MODULES = {
    **{case: (lambda k, case=case: _made(k, case)) for case in CASES},
    **STRUCTURES,
    "index": lambda k: k.IndexKernel(num_tasks=3, rank=2),
}


def _made(kernels, case):
    name, arguments, _ = CASES[case]
    return getattr(kernels, name)(**arguments)


@pytest.mark.parametrize("name", MODULES)
def test_state_dicts_and_classes(name):
    his, own = MODULES[name](theirs), MODULES[name](ours)
    assert list(his.state_dict()) == list(own.state_dict())
    own.load_state_dict(his.state_dict(), strict=True)
    his.load_state_dict(own.state_dict(), strict=True)
    assert isinstance(own, type(his))


@pytest.mark.parametrize("name", MODULES)
def test_converted_kernels(name, tmp_path):
    his = MODULES[name](theirs)
    before = {key: value.clone() for key, value in his.state_dict().items()}
    expected = type(MODULES[name](ours))
    converted = ours.convert(copy.deepcopy(his))
    assert type(converted) is expected
    for key, value in converted.state_dict().items():
        assert torch.equal(value, before[key])
    x = torch.rand(6, 3)
    if name == "index":
        x = torch.randint(0, 3, (6, 1))
    found = converted(x).to_dense()
    assert (found - his(x).to_dense()).abs().max() < 1e-3
    for again in (
        pickle.loads(pickle.dumps(converted)),
        copy.deepcopy(converted),
        _saved(converted, tmp_path),
    ):
        assert type(again) is expected
        assert torch.equal(again(x).to_dense(), found)


def _saved(kernel, folder):
    torch.save(kernel, folder / "kernel.pt")
    return torch.load(folder / "kernel.pt", weights_only=False)


def test_conversion_leaves_other_classes():
    class Own(theirs.RBFKernel):
        pass

    model = torch.nn.ModuleList([Own(), theirs.RBFKernel(), torch.nn.ReLU()])
    assert ours.convert(model) is model
    assert [type(part) for part in model] == [
        Own,
        ours.RBFKernel,
        torch.nn.ReLU,
    ]


@pytest.mark.parametrize(
    "name", ["RBFKernel", "MaternKernel", "PeriodicKernel"]
)
def test_kernels_of_keops_are_converted(name):
    kernel = getattr(theirs.keops, name)()
    state = kernel.state_dict()
    ours.convert(kernel)
    assert type(kernel) is getattr(ours, name)
    reference = getattr(theirs, name)()
    reference.load_state_dict(state, strict=True)
    x = torch.rand(6, 2)
    close(kernel(x).to_dense(), reference(x).to_dense(), 1e-5)


def test_kernels_are_installed_and_taken_out_again():
    names = ("RBFKernel", "ProductKernel")
    before = {name: getattr(theirs, name) for name in names}
    kept = dict(vars(theirs)), dict(vars(theirs.keops))
    try:
        ours.install()
        for name in names:
            assert getattr(theirs, name) is getattr(ours, name)
        assert theirs.keops.RBFKernel is ours.RBFKernel
        assert type(theirs.RBFKernel() * theirs.RBFKernel()) is (
            ours.ProductKernel
        )
        ours.install()  # again: they call their bases by reference
        theirs.MultitaskKernel(theirs.RBFKernel(), num_tasks=2)
    finally:
        vars(theirs).update(kept[0])
        vars(theirs.keops).update(kept[1])
    assert all(getattr(theirs, name) is before[name] for name in names)


def test_priors_and_constraints_are_kept():
    prior = gpytorch.priors.GammaPrior(2.0, 3.0)
    kernel = ours.ScaleKernel(
        ours.RBFKernel(
            lengthscale_prior=prior,
            lengthscale_constraint=gpytorch.constraints.Interval(0.1, 2.0),
        )
    )
    kernel.base_kernel.lengthscale = 0.7
    assert abs(kernel.base_kernel.lengthscale.item() - 0.7) < 1e-6
    assert [name for name, *_ in kernel.named_priors()] == [
        "base_kernel.lengthscale_prior"
    ]
    again = pickle.loads(pickle.dumps(kernel))
    assert len(list(again.named_priors())) == 1


def test_operators_are_pickled_and_converted():
    covariance = ours.RBFKernel()(torch.rand(5, 2)).evaluate_kernel()
    again = pickle.loads(pickle.dumps(covariance.detach()))
    assert torch.equal(again.to_dense(), covariance.to_dense())
    assert covariance.double().dtype == F64
    assert covariance.to(F64).to_dense().dtype == F64
    tasks = ours.IndexKernel(num_tasks=2)(torch.zeros(4, 1).long())
    wide = tasks.evaluate_kernel().double()
    assert wide.dtype == F64
    assert not wide._args[0].dtype.is_floating_point
    assert wide.to_dense().dtype == F64


def test_gradients_are_recorded_as_when_the_kernel_was_called():
    kernel = ours.ScaleKernel(ours.RBFKernel())
    x = torch.rand(5, 2, requires_grad=True)
    with torch.no_grad():
        silent = kernel(x)
        product = kernel(x) * kernel(x)
    assert not silent.to_dense().requires_grad
    assert not (silent @ torch.ones(5)).requires_grad
    assert not silent.sum().requires_grad
    assert not product.to_dense().requires_grad
    recorded = kernel(x)
    with torch.no_grad():
        assert recorded.to_dense().requires_grad


# ---- settings ---------------------------------------------------------------


def test_settings_that_kernels_read():
    kernel = ours.ScaleKernel(ours.RBFKernel())
    x = torch.rand(6, 2)
    expected = kernel(x).to_dense()
    with gpytorch.settings.lazily_evaluate_kernels(False):
        assert isinstance(kernel(x), KernelOperator)
    with gpytorch.settings.use_keops(False):
        dense = kernel(x).evaluate_kernel()
        assert not isinstance(dense, KernelOperator)
        close(dense.to_dense(), expected)
    with gpytorch.settings.trace_mode(True):
        traced = kernel(x).evaluate_kernel()
        assert not isinstance(traced, KernelOperator)
        close(traced.to_dense(), expected, 1e-6)
    with gpytorch.settings.debug(False):
        close(kernel(x).to_dense(), expected)
    with gpytorch.beta_features.checkpoint_kernel(2):
        close(kernel(x) @ torch.eye(6), expected, 1e-6)


# ---- points -----------------------------------------------------------------


@pytest.mark.parametrize("case", ["rbf", "matern 1/2", "matern 5/2"])
def test_points_far_from_the_origin_lose_nothing(case):
    _, own = pair(case)
    own = own.float()
    x = torch.rand(20, 2, generator=torch.Generator().manual_seed(0))
    moved = (x + 1000.0).double()
    exact = own.double()(moved - 1000.0).to_dense()
    found = own.float()(moved.float()).to_dense()
    assert (found - exact).abs().max() < 1e-6


@pytest.mark.parametrize("case", CASES)
def test_coincident_points_have_finite_gradients(case):
    _, own = pair(case)
    x = torch.ones(4, 3, dtype=F64, requires_grad=True)
    own(x).to_dense().sum().backward()
    assert x.grad is None or x.grad.isfinite().all()
    for parameter in own.parameters():
        assert parameter.grad.isfinite().all()


def test_points_of_any_strides():
    kernel = ours.MaternKernel().double()
    x = points(12, 6)
    expected = kernel(x[::2, ::2].contiguous()).to_dense()
    close(kernel(x[::2, ::2]).to_dense(), expected)
    x = points(3, 6)
    close(kernel(x.mT).to_dense(), kernel(x.mT.contiguous()).to_dense(), 1e-15)
    one = points(1, 3).expand(5, 3)
    close(
        kernel(one, points(4, 3)).to_dense(),
        kernel(one.contiguous(), points(4, 3)).to_dense(),
    )
    wide = points(6, 3).expand(4, 6, 3).requires_grad_(True)
    kernel(wide).to_dense().sum().backward()
    assert wide.grad.shape == (4, 6, 3)


def test_wrong_shapes_are_refused():
    kernel = ours.RBFKernel(ard_num_dims=3)
    with pytest.raises(RuntimeError, match="dimensionality"):
        kernel(torch.rand(4, 2)).to_dense()
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        ours.RBFKernel()(torch.rand(4, 2), torch.rand(4, 3)).to_dense()
    with pytest.raises(RuntimeError):
        ours.RBFKernel()(torch.rand(4, 2)) @ torch.rand(5, 2)
    with pytest.raises(ValueError, match="a role"):
        KernelOperator(
            torch.rand(4, 2), text="exp(-|x_i|)", names=("x",), roles="ij"
        )


def test_empty_sets_of_points():
    kernel = ours.RBFKernel()
    assert kernel(torch.rand(0, 2), torch.rand(3, 2)).to_dense().shape == (0, 3)
    assert kernel(torch.rand(3, 2), torch.rand(0, 2)).to_dense().shape == (3, 0)


def test_operators_are_linear_operators():
    covariance = ours.RBFKernel()(torch.rand(5, 2)).evaluate_kernel()
    assert isinstance(covariance, LinearOperator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        covariance.add_jitter(1e-3).cholesky()


def test_kernels_that_have_no_formula_here_are_gpytorchs_own():
    for name in set(theirs.__all__) - {"keops"}:  # a module
        assert issubclass(getattr(ours, name), getattr(theirs, name))
    assert ours.RFFKernel is theirs.RFFKernel
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ours.nothing  # noqa: B018
