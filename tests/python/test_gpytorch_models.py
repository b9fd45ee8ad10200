# tests/python/test_gpytorch_models.py - models of GPyTorch on our kernels,
# against the same ones on its own.

import copy
import resource
import warnings

import pytest

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")

import gpytorch.kernels as theirs  # noqa: E402
from gpytorch import settings  # noqa: E402
from gpytorch.distributions import (  # noqa: E402
    MultitaskMultivariateNormal,
    MultivariateNormal,
)
from gpytorch.variational import (  # noqa: E402
    CholeskyVariationalDistribution,
    IndependentMultitaskVariationalStrategy,
    LMCVariationalStrategy,
    UnwhitenedVariationalStrategy,
    VariationalStrategy,
)

import tilefold.gpytorch as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

F64 = torch.float64


def points(*shape, seed=0, dtype=F64):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, dtype=dtype, generator=generator)


def target(x):
    return torch.sin(4 * x[..., 0]) + 0.3 * x.sum(-1)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, kernel, network=None):
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = kernel
        self.network = network

    def forward(self, x):
        if self.network is not None:
            x = self.network(x)
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


def exact(kernels, x, y, make=None, network=None):
    make = make or (lambda k: k.ScaleKernel(k.RBFKernel(ard_num_dims=2)))
    model = Exact(x, y, make(kernels), network)
    return model.to(x.dtype)


def loss_and_gradients(model, y=None):
    """Of the marginal likelihood, by all parameters."""
    model.train()
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(
        model.likelihood, model
    )
    torch.manual_seed(1)
    y = model.train_targets if y is None else y
    loss = -likelihood(model(*model.train_inputs), y)
    found = torch.autograd.grad(
        loss, list(model.parameters()), allow_unused=True
    )
    return loss.detach(), [g for g in found if g is not None]


def close(found, expected, tolerance):
    assert found.shape == expected.shape
    scale = max(expected.abs().max().item(), 1e-3)
    assert (found - expected).abs().max().item() <= tolerance * scale


def same_step(one, other, tolerance):
    """Losses and gradients; of all parameters the largest sets the scale."""
    scale = max(gradient.abs().max().item() for gradient in other[1])
    for a, b in zip(one[1], other[1], strict=True):
        assert a.shape == b.shape
        assert (a - b).abs().max().item() <= tolerance * scale
    close(one[0], other[0], tolerance)


# ---- exact regression -------------------------------------------------------


@pytest.mark.parametrize("size", [0, 800])
def test_a_step_of_exact_regression(size):
    x = points(60, 2)
    with settings.max_cholesky_size(size), settings.cg_tolerance(1e-8):
        own, his = (
            loss_and_gradients(exact(k, x, target(x))) for k in (ours, theirs)
        )
    same_step(own, his, 1e-5 if size == 0 else 1e-9)


def test_a_step_of_3000_points_by_conjugate_gradients():
    x = points(3000, 2, dtype=torch.float32)
    y = target(x)
    steps = []
    for kernels in (ours, theirs):
        with (
            settings.max_cholesky_size(0),
            settings.cg_tolerance(0.01),
            settings.min_preconditioning_size(10),
        ):
            steps.append(loss_and_gradients(exact(kernels, x, y)))
    same_step(*steps, 3e-3)


@pytest.mark.parametrize("size", [0, 800])
def test_predictions(size):
    x, test = points(80, 2), points(11, 2, seed=2)
    found = []
    for kernels in (ours, theirs):
        model = exact(kernels, x, target(x)).eval()
        with (
            settings.max_cholesky_size(size),
            settings.eval_cg_tolerance(1e-8),
            torch.no_grad(),
        ):
            normal = model.likelihood(model(test))
            found.append((normal.mean, normal.variance))
    for one, other in zip(*found, strict=True):
        close(one, other, 1e-6)


def test_love():
    x, test = points(400, 2), points(9, 2, seed=2)
    found = []
    for kernels in (ours, theirs):
        model = exact(kernels, x, target(x)).eval()
        with (
            settings.fast_pred_var(),
            settings.max_root_decomposition_size(100),
            settings.max_cholesky_size(0),
            settings.eval_cg_tolerance(1e-8),
            torch.no_grad(),
        ):
            torch.manual_seed(0)
            first = model(test)
            again = model(test + 0.1)
            found.append((first.mean, first.variance, again.variance))
    for one, other in zip(*found, strict=True):
        close(one, other, 1e-4)


def test_samples_with_love():
    x, test = points(50, 2), points(9, 2, seed=2)
    model = exact(ours, x, target(x)).eval()
    with settings.fast_pred_var(), settings.fast_pred_samples():
        samples = model(test).rsample(torch.Size([400]))
    assert samples.shape == (400, 9)
    close(samples.mean(0), model(test).mean, 0.2)


def test_fantasies():
    x, test = points(40, 2), points(9, 2, seed=2)
    new, values = points(3, 2, seed=3), points(2, 3, seed=4)
    found = []
    for kernels in (ours, theirs):
        model = exact(kernels, x, target(x)).eval()
        model(test)  # makes the caches that fantasies extend
        fantasy = model.get_fantasy_model(new, values)
        found.append((fantasy(test).mean, fantasy(test).variance))
    assert found[0][0].shape == (2, 9)
    for one, other in zip(*found, strict=True):
        close(one, other, 1e-8)


@pytest.mark.parametrize("count", [60, 900])
def test_gradients_of_predictions_by_their_inputs(count):
    x = points(count, 2)
    found = []
    for kernels in (ours, theirs):
        model = exact(kernels, x, target(x)).eval()
        test = points(7, 2, seed=2).requires_grad_(True)
        with settings.eval_cg_tolerance(1e-4):
            (by_test,) = torch.autograd.grad(model(test).mean.sum(), test)
        found.append(by_test)
    assert found[0].abs().max() > 0
    close(*found, 1e-2)


def test_deep_kernels():
    x = points(40, 3)
    found = []
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    ).double()
    for kernels in (ours, theirs):
        model = exact(kernels, x, target(x), network=copy.deepcopy(network))
        found.append(loss_and_gradients(model))
    same_step(*found, 1e-8)


def test_hadamard_multitask():
    """Tasks as an input, of a product of two lazy covariances."""
    labels = torch.arange(40)[:, None] % 3

    class Tasks(gpytorch.models.ExactGP):
        def __init__(self, kernels, x, y):
            super().__init__(
                (x, labels), y, gpytorch.likelihoods.GaussianLikelihood()
            )
            self.mean_module = gpytorch.means.ConstantMean()
            self.data = kernels.RBFKernel()
            self.tasks = kernels.IndexKernel(num_tasks=3, rank=2)

        def forward(self, x, t):
            return MultivariateNormal(
                self.mean_module(x), self.data(x).mul(self.tasks(t))
            )

    x = points(40, 2)
    steps = []
    for kernels in (ours, theirs):
        torch.manual_seed(0)
        model = Tasks(kernels, x, target(x)).double()
        steps.append(loss_and_gradients(model))
    same_step(*steps, 1e-8)


def test_multitask_regression():
    class Tasks(gpytorch.models.ExactGP):
        def __init__(self, kernels, x, y):
            super().__init__(
                x, y, gpytorch.likelihoods.MultitaskGaussianLikelihood(2)
            )
            self.mean_module = gpytorch.means.MultitaskMean(
                gpytorch.means.ConstantMean(), num_tasks=2
            )
            self.covar_module = kernels.MultitaskKernel(
                kernels.RBFKernel(), num_tasks=2, rank=1
            )

        def forward(self, x):
            return MultitaskMultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    x = points(30, 2)
    y = torch.stack([target(x), target(x).cos()], -1)
    steps = []
    for kernels in (ours, theirs):
        torch.manual_seed(0)
        steps.append(loss_and_gradients(Tasks(kernels, x, y).double()))
    same_step(*steps, 1e-7)


def test_inducing_points():
    """SGPR, whose kernel is GPyTorch's around ours."""

    def make(kernels):
        return theirs.InducingPointKernel(
            kernels.ScaleKernel(kernels.RBFKernel()),
            inducing_points=points(8, 2, seed=5),
            likelihood=gpytorch.likelihoods.GaussianLikelihood().double(),
        )

    x = points(60, 2)
    steps = [
        loss_and_gradients(exact(k, x, target(x), make)) for k in (ours, theirs)
    ]
    same_step(*steps, 1e-7)


@pytest.mark.parametrize(
    "structure", [theirs.AdditiveStructureKernel, theirs.ProductStructureKernel]
)
def test_structure_kernels(structure):
    x = points(30, 2)
    steps = [
        loss_and_gradients(
            exact(
                kernels,
                x,
                target(x),
                lambda k: structure(k.RBFKernel(), num_dims=2),
            )
        )
        for kernels in (ours, theirs)
    ]
    same_step(*steps, 1e-6)


def test_converted_models():
    x, test = points(40, 2), points(5, 2, seed=2)
    model = exact(theirs, x, target(x))
    expected = loss_and_gradients(model)
    mean = model.eval()(test).mean
    ours.convert(model)
    same_step(loss_and_gradients(model), expected, 1e-9)
    close(model.eval()(test).mean, mean, 1e-9)


# ---- settings ---------------------------------------------------------------

CONTEXTS = {
    "preconditioner": lambda: settings.max_preconditioner_size(5),
    "no preconditioner": lambda: settings.max_preconditioner_size(0),
    "memory": settings.memory_efficient,
    "no logdet": settings.skip_logdet_forward,
    "dense": lambda: settings.fast_computations(
        covar_root_decomposition=False, log_prob=False, solves=False
    ),
    "probes": lambda: settings.num_trace_samples(3),
    "quadrature": lambda: settings.max_lanczos_quadrature_iterations(7),
    "tolerance": lambda: settings.preconditioner_tolerance(1e-2),
    "deterministic probes": settings.deterministic_probes,
    "log": settings.verbose_linalg,
    "checkpoints": lambda: gpytorch.beta_features.checkpoint_kernel(20),
    "no lazy kernels": lambda: settings.lazily_evaluate_kernels(False),
    "use_keops": lambda: settings.use_keops(False),
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_settings_change_what_they_change_in_gpytorch(name):
    x = points(50, 2, seed=11)
    steps = []
    for kernels in (ours, theirs):
        with (
            CONTEXTS[name](),
            settings.max_cholesky_size(0),
            settings.min_preconditioning_size(10),
            settings.cg_tolerance(1e-8),
        ):
            steps.append(loss_and_gradients(exact(kernels, x, target(x))))
    # Rounding decides between pivots that are alike, and so do probes.
    same_step(*steps, 1e-3)


def test_too_few_iterations_are_told_of():
    x = points(200, 2)
    model = exact(ours, x, target(x))
    model.likelihood.noise = 1e-4
    with (
        settings.max_cholesky_size(0),
        settings.max_cg_iterations(3),
        settings.max_lanczos_quadrature_iterations(3),
        settings.max_preconditioner_size(0),
        settings.cg_tolerance(1e-6),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        loss_and_gradients(model)
    assert any("CG terminated in 3" in str(w.message) for w in told)


# ---- variational models -----------------------------------------------------


class Independent(gpytorch.models.ApproximateGP):
    def __init__(self, kernels, inducing, strategy=VariationalStrategy):
        distribution = CholeskyVariationalDistribution(inducing.shape[-2])
        super().__init__(
            strategy(
                self, inducing, distribution, learn_inducing_locations=True
            )
        )
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = kernels.ScaleKernel(kernels.MaternKernel())

    def forward(self, x):
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Tasks(gpytorch.models.ApproximateGP):
    """Three tasks, of two latent functions or of one each."""

    def __init__(self, kernels, inducing, mixed):
        count = 2 if mixed else 3
        batch = torch.Size([count])
        distribution = CholeskyVariationalDistribution(
            inducing.shape[-2], batch_shape=batch
        )
        base = VariationalStrategy(
            self,
            inducing.expand(count, *inducing.shape).clone(),
            distribution,
            learn_inducing_locations=True,
        )
        strategy = (
            LMCVariationalStrategy(
                base, num_tasks=3, num_latents=2, latent_dim=-1
            )
            if mixed
            else IndependentMultitaskVariationalStrategy(base, num_tasks=3)
        )
        super().__init__(strategy)
        self.mean_module = gpytorch.means.ConstantMean(batch_shape=batch)
        self.covar_module = kernels.ScaleKernel(
            kernels.RBFKernel(batch_shape=batch), batch_shape=batch
        )

    def forward(self, x):
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


def variational_step(model, likelihood, x, y):
    """The loss and its gradients, of one step."""
    torch.manual_seed(1)
    model.train()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(x))
    loss = -bound(model(x), y)
    found = torch.autograd.grad(
        loss, list(model.parameters()), allow_unused=True
    )
    return loss.detach(), [g for g in found if g is not None]


@pytest.mark.parametrize("size", [0, 1, 800])
@pytest.mark.parametrize("mixed", [True, False])
def test_tasks_of_a_variational_model(mixed, size):
    """Which asks for diagonals, and got a failure or a matrix."""
    x, inducing = points(50, 2), points(10, 2, seed=1)
    y = torch.stack([target(x), target(x).cos(), x[:, 0]], -1)
    steps = []
    for kernels, limit in ((ours, size), (theirs, 800)):
        torch.manual_seed(0)
        model = Tasks(kernels, inducing, mixed).double()
        likelihood = gpytorch.likelihoods.MultitaskGaussianLikelihood(3)
        with settings.max_cholesky_size(limit), settings.cg_tolerance(1e-9):
            steps.append(variational_step(model, likelihood.double(), x, y))
            variance = model.eval()(x).variance
        assert variance.shape == (50, 3)
    same_step(*steps, 1e-6)


@pytest.mark.parametrize(
    "strategy",
    [
        VariationalStrategy,
        UnwhitenedVariationalStrategy,
        gpytorch.variational.BatchDecoupledVariationalStrategy,
        gpytorch.variational.CiqVariationalStrategy,
    ],
)
def test_variational_strategies(strategy):
    x, inducing = points(50, 2), points(10, 2, seed=1)
    steps = []
    for kernels in (ours, theirs):
        torch.manual_seed(0)
        model = Independent(kernels, inducing, strategy).double()
        likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
        steps.append(variational_step(model, likelihood, x, target(x)))
    same_step(*steps, 1e-5)


def test_classification():
    x, inducing = points(50, 2), points(10, 2, seed=1)
    y = (target(x) > 0.5).double()
    steps = []
    for kernels in (ours, theirs):
        torch.manual_seed(0)
        model = Independent(kernels, inducing).double()
        likelihood = gpytorch.likelihoods.BernoulliLikelihood()
        steps.append(variational_step(model, likelihood, x, y))
    same_step(*steps, 1e-7)


def test_minibatches_train():
    x, inducing = points(200, 2), points(20, 2, seed=1)
    y = target(x)
    torch.manual_seed(0)
    model = Independent(ours, inducing).double()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=200)
    parameters = [*model.parameters(), *likelihood.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.05)
    losses = []
    for _ in range(40):
        chosen = torch.randperm(200)[:64]
        optimizer.zero_grad()
        loss = -bound(model(x[chosen]), y[chosen])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-5:]) < sum(losses[:5]) - 1


# ---- memory -----------------------------------------------------------------


def test_a_step_takes_memory_by_the_points():
    """A matrix of 20,000 points would be 1.6 GB."""
    kernel = ours.ScaleKernel(ours.RBFKernel(ard_num_dims=3))
    x = torch.rand(20_000, 3)
    columns = torch.randn(20_000, 4)
    (kernel(x[:100]) @ columns[:100]).sum().backward()  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with settings.max_cholesky_size(0):
        (kernel(x) @ columns).sum().backward()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # in kB
