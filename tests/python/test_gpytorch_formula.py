# tests/python/test_gpytorch_formula.py - kernels of GPyTorch from formulas.

import copy
import pickle

import pytest

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")

import tilefold  # noqa: E402
import tilefold.gpytorch as ours  # noqa: E402
from tilefold.gpytorch import FormulaKernel, KernelOperator, Parameter  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

F64 = torch.float64
GAUSS = "exp(-|x_i - y_j|²/2s²)"


def points(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, dtype=F64, generator=generator)


def test_a_formula_is_a_kernel():
    kernel = FormulaKernel(GAUSS, parameters={"s": 0.5}).double()
    reference = ours.RBFKernel().double()
    reference.lengthscale = 0.5
    x, y = points(6, 2), points(5, 2, seed=1)
    found, expected = kernel(x, y).to_dense(), reference(x, y).to_dense()
    assert (found - expected).abs().max() < 1e-7
    assert torch.equal(kernel(x, diag=True), torch.ones(6, dtype=F64))
    assert abs(kernel.s.item() - 0.5) < 1e-6
    assert kernel.raw_s.shape == (1, 1)
    kernel(x, y).to_dense().sum().backward()
    assert kernel.raw_s.grad is not None


def test_a_name_of_the_catalogue_is_a_kernel():
    kernel = FormulaKernel("matern32", parameters={"l": 0.7}).double()
    reference = ours.MaternKernel(nu=1.5).double()
    reference.lengthscale = 0.7
    x = points(6, 2)
    found, expected = kernel(x).to_dense(), reference(x).to_dense()
    assert (found - expected).abs().max() < 1e-7


def test_l_with_ard_is_the_lengthscale_of_gpytorch():
    kernel = FormulaKernel("exp(-|(x_i - y_j)/l|²/2)", ard_num_dims=2)
    assert list(dict(kernel.named_parameters())) == ["raw_lengthscale"]
    assert kernel.lengthscale.shape == (1, 2)
    kernel.lengthscale = torch.tensor([0.5, 2.0])
    x = points(6, 2).float()
    reference = ours.RBFKernel(ard_num_dims=2)
    reference.lengthscale = torch.tensor([0.5, 2.0])
    assert torch.equal(kernel(x).to_dense(), reference(x).to_dense())


def test_parameters_are_set_by_name():
    kernel = FormulaKernel(
        "c*exp(-|x_i - y_j|²/2s²) + w·x_i*(w·y_j)",
        parameters={
            "c": Parameter(constraint=gpytorch.constraints.Interval(0, 3)),
            "w": Parameter(shape=(1, 2), initial=torch.tensor([[1.0, 2.0]])),
        },
    )
    assert torch.allclose(kernel.w, torch.tensor([[1.0, 2.0]]))
    kernel.c = 1.25
    kernel.initialize(s=0.4)
    assert abs(kernel.c.item() - 1.25) < 1e-6
    assert abs(kernel.s.item() - 0.4) < 1e-6
    assert set(dict(kernel.named_parameters())) == {"raw_c", "raw_s", "raw_w"}
    assert 0 < kernel.c.item() < 3


def test_greek_letters_are_spelled_out():
    kernel = FormulaKernel("exp(-|x_i - y_j|²/2σ²)", parameters={"σ": 0.5})
    assert list(dict(kernel.named_parameters())) == ["raw_sigma"]
    assert abs(kernel.sigma.item() - 0.5) < 1e-6


def test_a_matrix_is_a_parameter():
    A = points(2, 3)
    kernel = FormulaKernel(
        "exp(-|A @ (x_i - y_j)|²)", parameters={"A": A}
    ).double()
    x = points(5, 3, seed=1)
    away = (x[:, None] - x) @ A.mT
    expected = torch.exp(-away.square().sum(-1))
    assert (kernel(x).to_dense() - expected).abs().max() < 1e-6


def test_priors_of_parameters():
    prior = gpytorch.priors.GammaPrior(2.0, 3.0)
    kernel = FormulaKernel(GAUSS, parameters={"s": Parameter(prior=prior)})
    ((name, module, given, closure, setting),) = kernel.named_priors()
    assert name == "s_prior"
    assert given is prior
    assert torch.equal(closure(module), kernel.s)
    setting(module, torch.tensor([[0.25]]))
    assert abs(kernel.s.item() - 0.25) < 1e-6
    pickle.loads(pickle.dumps(kernel))


def test_batches_of_parameters():
    kernel = FormulaKernel(
        GAUSS, parameters={"s": 0.5}, batch_shape=torch.Size([3])
    ).double()
    assert kernel.raw_s.shape == (3, 1, 1)
    x = points(6, 2)
    with torch.no_grad():
        kernel.s = torch.tensor([0.3, 0.5, 1.0]).reshape(3, 1, 1)
    dense = kernel(x).to_dense()
    assert dense.shape == (3, 6, 6)
    for k in range(3):
        assert torch.equal(kernel[k](x).to_dense(), dense[k])
    assert kernel(x, diag=True).shape == (3, 6)


def test_formulas_fuse_with_other_kernels():
    own = FormulaKernel(GAUSS, parameters={"s": 0.5})
    kernel = ours.ScaleKernel(own * ours.RBFKernel(active_dims=[0]) + own)
    covariance = kernel(torch.rand(6, 2), torch.rand(5, 2)).evaluate_kernel()
    assert isinstance(covariance, KernelOperator)


def test_names_of_points_may_be_others():
    kernel = FormulaKernel("exp(-|u_i - v_j|)", x="u", y="v")
    x = torch.rand(6, 2)
    expected = torch.exp(-torch.cdist(x, x))
    assert (kernel(x).to_dense() - expected).abs().max() < 1e-5


def test_sizes_are_those_of_the_whole_matrix():
    kernel = FormulaKernel("exp(-|x_i - y_j|²/D)/N")
    x = points(6, 2)
    kernel = kernel.double()
    whole = kernel(x).evaluate_kernel()
    part = whole[:3, :2]
    assert (part.to_dense() - whole.to_dense()[:3, :2]).abs().max() < 1e-15


def test_copies_and_state_dicts():
    kernel = FormulaKernel(GAUSS, parameters={"s": 0.5})
    kernel.s = 0.3
    x = torch.rand(5, 2)
    expected = kernel(x).to_dense()
    for again in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert torch.equal(again(x).to_dense(), expected)
        again.s = 0.9
        assert abs(kernel.s.item() - 0.3) < 1e-6
    other = FormulaKernel(GAUSS)
    other.load_state_dict(kernel.state_dict(), strict=True)
    assert torch.equal(other(x).to_dense(), expected)
    assert "exp(-|x_i - y_j|²/2s²)" in repr(kernel)


@pytest.mark.parametrize(
    ("formula", "arguments", "message"),
    [
        ("sum_j exp(-|x_i - y_j|)", {}, "reduces"),
        ("exp(-|x_i - z_j|)", {}, "points x_i and y_j"),
        ("exp(-|x_i - x_j|)", {}, "points x_i and y_j"),
        ("exp(-|x_i - y_j|)*w_j", {}, "'w' is an array"),
        (GAUSS, {"parameters": {"t": 1.0}}, "no parameter 't'; it has 's'"),
        ("training*exp(-|x_i - y_j|)", {}, "attribute 'training'"),
    ],
)
def test_wrong_formulas_are_refused(formula, arguments, message):
    with pytest.raises(tilefold.ArgumentError, match=message):
        FormulaKernel(formula, **arguments)


def test_a_formula_that_cannot_be_read_is_refused():
    with pytest.raises(tilefold.FormulaError):
        FormulaKernel("exp(-|x_i - y_j)")
