# tests/python/test_keops_gpytorch.py - gpytorch.kernels.keops as it stands.
"""GPyTorch's KeOps kernels, unpatched, beside its dense ones.

In a process of its own, where `install()` comes before GPyTorch is imported.
GPyTorch asks KeOps where both sides have at least `max_cholesky_size` points.
"""

import subprocess
import sys

import pytest

pytest.importorskip("gpytorch")

KERNELS = """
import resource
import tilefold.compat.pykeops
tilefold.compat.pykeops.install()
import gpytorch, tilefold, torch
from gpytorch.kernels import keops

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
CASES = [
    ("RBFKernel", {}, None, (2,)),
    ("MaternKernel", {"nu": 0.5}, 3, ()),
    ("MaternKernel", {"nu": 1.5}, None, ()),
    ("MaternKernel", {"nu": 2.5}, 3, (2,)),
    ("PeriodicKernel", {}, 3, ()),
]
for name, options, lengths, batch in CASES:
    options = {"ard_num_dims": lengths, "batch_shape": batch, **options}
    lazy = getattr(keops, name)(**options)
    dense = getattr(gpytorch.kernels, name)(**options)
    lazy.lengthscale = 0.5 + torch.rand_like(lazy.lengthscale)
    dense.load_state_dict(lazy.state_dict())
    x = torch.rand(*batch, 30, 3, requires_grad=True)
    y, v = torch.rand(*batch, 40, 3), torch.randn(*batch, 40, 2)
    results = []
    before = tilefold.stats().runs
    for kernel in (lazy, dense):
        with gpytorch.settings.max_cholesky_size(2):
            product = kernel(x, y) @ v
            results += [product, *torch.autograd.grad(
                product.sin().sum(), [x, kernel.raw_lengthscale]
            )]
        if kernel is lazy:
            assert tilefold.stats().runs > before, "KeOps was not called"
    for one, other in zip(results[:3], results[3:], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)

peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
x = torch.rand(20_000, 3)
with gpytorch.settings.max_cholesky_size(2), torch.no_grad():
    kernel = keops.RBFKernel()(x, x)
    diagonal = kernel.diagonal(dim1=-1, dim2=-2)
    product = kernel @ x[:, :1]
assert diagonal.shape == (20_000,)
assert (diagonal == 1).all()
# The matrix would take 3,200,000 kB.
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
assert grown < 100_000, grown
"""

MODEL = """
class Model(gpytorch.models.ExactGP):
    def __init__(self, x, y, kernel):
        super().__init__(x, y, gpytorch.likelihoods.GaussianLikelihood())
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)
    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(x), self.covar_module(x)
        )

x = torch.rand(60, 2)
y = torch.sin(6 * x[:, 0])
found = []
for library in (keops, gpytorch.kernels):
    model = Model(x, y, library.RBFKernel())
    loss = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    torch.manual_seed(1)
    with gpytorch.settings.max_cholesky_size(2), (
        gpytorch.settings.cg_tolerance(1e-6)
    ), gpytorch.settings.eval_cg_tolerance(1e-6):
        value = loss(model(x), y)
        value.backward()
        model.eval()
        with torch.no_grad():
            mean = model(x[:5] + 0.01).mean
    gradients = [each.grad.reshape(-1) for each in model.parameters()]
    found.append([value.detach(), torch.cat(gradients), mean])
for one, other in zip(*found, strict=True):
    torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
"""


def test_keops_kernels_of_gpytorch_are_its_dense_ones():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KERNELS + MODEL],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
