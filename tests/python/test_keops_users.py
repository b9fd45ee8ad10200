# tests/python/test_keops_users.py - as libraries call KeOps.
"""What Falkon, TorchDR and geomloss compute by KeOps, beside dense results.

Falkon's formulas, arguments and options are written here; the others, where
they are installed, run as they stand, in processes of their own.
"""

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tilefold.compat.pykeops.torch import Genred

APART = "Norm2(x1 / s - x2 / s)"
RADIAL = {
    "Gaussian": "Exp(SqDist(x1 / s, x2 / s) * IntInv(-2)) * v",
    "Laplacian": "Exp(-Sqrt(SqDist(x1 / s, x2 / s))) * v",
    "Matérn 1/2": f"Exp(-{APART}) * v",
    "Matérn 3/2": (
        f"(IntCst(1) + Sqrt(IntCst(3)) * {APART}) * "
        f"(Exp(-Sqrt(IntCst(3)) * {APART})) * v"
    ),
    "Matérn 5/2": (
        f"(IntCst(1) + Sqrt(IntCst(5)) * {APART} + "
        f"(IntInv(3) * IntCst(5)) * Square({APART})) * "
        f"Exp(-Sqrt(IntCst(5)) * {APART}) * v"
    ),
}
DENSE = {
    "Gaussian": lambda d: (-(d**2) / 2).exp(),
    "Laplacian": lambda d: (-d).exp(),
    "Matérn 1/2": lambda d: (-d).exp(),
    "Matérn 3/2": lambda d: (1 + 3**0.5 * d) * (-(3**0.5) * d).exp(),
    "Matérn 5/2": lambda d: (
        (1 + 5**0.5 * d + 5 / 3 * d**2) * (-(5**0.5) * d).exp()
    ),
}


def data(*shapes):
    generator = torch.Generator().manual_seed(3)
    return [
        torch.rand(
            shape, generator=generator, dtype=torch.float64, requires_grad=True
        )
        for shape in shapes
    ]


def assert_as_falkon(formula, aliases, given, right):
    """The value in `out`, and gradients by all arguments."""
    call = Genred(
        formula,
        aliases,
        reduction_op="Sum",
        axis=1,
        dtype_acc="auto",
        sum_scheme="auto",
        rec_multVar_highdim=1,
    )
    options = {"backend": "CPU", "device_id": -1}
    out = torch.empty(right.shape, dtype=torch.float64)
    with torch.no_grad():
        assert call(*given, out=out, **options) is out
    torch.testing.assert_close(out, right)
    out = torch.empty_like(out)
    found = call(*given, out=out, **options)
    gradients = [
        torch.autograd.grad(each.sin().sum(), given) for each in (found, right)
    ]
    torch.testing.assert_close(*gradients)
    with ThreadPoolExecutor(2) as threads:
        blocks = given[0].detach().split(4)
        rest = [each.detach() for each in given[1:]]
        rows = threads.map(lambda block: call(block, *rest, **options), blocks)
        torch.testing.assert_close(torch.cat(list(rows)), right.detach())


@pytest.mark.parametrize("name", RADIAL)
@pytest.mark.parametrize("lengths", [1, 3])
def test_radial_kernels_of_falkon(name, lengths):
    given = data((13, 3), (11, 3), (11, 2), (1, lengths))
    x, y, v, s = given
    apart = ((x / s)[:, None] - (y / s)[None]).norm(dim=-1)
    aliases = ["x1 = Vi(3)", "x2 = Vj(3)", "v = Vj(2)", f"s = Pm({lengths})"]
    assert_as_falkon(RADIAL[name], aliases, given, DENSE[name](apart) @ v)


def test_products_of_falkon():
    given = data((13, 3), (11, 3), (11, 2), (1, 1), (1, 1), (1, 1))
    x, y, v, beta, gamma, degree = given
    aliases = ["X = Vi(3)", "Y = Vj(3)", "v = Vj(2)", "beta = Pm(1)"]
    aliases += ["gamma = Pm(1)"]
    right = (gamma * (x @ y.T) + beta) @ v
    formula = "(gamma * (X | Y) + beta) * v"
    assert_as_falkon(formula, aliases, given[:5], right)
    right = (gamma * (x @ y.T) + beta) ** degree @ v
    formula = "Powf((gamma * (X | Y) + beta), degree) * v"
    aliases += ["degree = Pm(1)"]
    assert_as_falkon(formula, aliases, given, right)


TORCHDR = """
import tilefold, torch, torchdr
from torchdr import affinity
from torchdr.utils import is_lazy_tensor
torch.manual_seed(0)
x = torch.randn(60, 5, dtype=torch.float64)
NAMES = {
    "NormalizedGaussianAffinity": {},
    "NormalizedStudentAffinity": {},
    "SelfTuningAffinity": {"K": 7},
    "MAGICAffinity": {"K": 7},
    "EntropicAffinity": {"perplexity": 10, "sparsity": False},
    "SymmetricEntropicAffinity": {"perplexity": 10},
    "SinkhornAffinity": {},
    "DoublyStochasticQuadraticAffinity": {"max_iter": 20},
    "UMAPAffinity": {"n_neighbors": 10, "sparsity": False},
}
for name, options in NAMES.items():
    for metric in ("sqeuclidean", "manhattan"):
        before = tilefold.stats().runs
        make = getattr(affinity, name)
        dense, lazy = (
            make(backend=backend, metric=metric, **options)(x)
            for backend in (None, "keops")
        )
        if isinstance(lazy, tuple):  # and no indices
            dense, lazy = dense[0], lazy[0]
        assert is_lazy_tensor(lazy) and not is_lazy_tensor(dense), name
        found = lazy @ torch.eye(60, dtype=x.dtype)
        # The symmetric one is only solved to a tolerance.
        away = 1e-6 if name == "SymmetricEntropicAffinity" else 1e-12
        torch.testing.assert_close(found, dense, rtol=1e-7, atol=away)
        assert tilefold.stats().runs > before, name
options = {"perplexity": 10, "max_iter": 3, "init": "pca", "random_state": 0}
for name in ("SNE", "TSNE", "LargeVis"):
    dense, lazy = (
        getattr(torchdr, name)(backend=backend, **options).fit_transform(x)
        for backend in (None, "keops")
    )
    torch.testing.assert_close(lazy, dense, rtol=1e-5, atol=1e-8)
print("as computed densely")
"""


GEOMLOSS = """
import tilefold, torch
from geomloss import SamplesLoss
torch.manual_seed(0)
x, y = torch.rand(2, 60, 2, dtype=torch.float64)
x.requires_grad_()
a, b = torch.rand(2, 60, dtype=torch.float64).softmax(dim=1)
def computed(loss, options, backend):
    value = SamplesLoss(loss, backend=backend, **options)(a, x, b, y)
    return value.detach(), torch.autograd.grad(value, [x])[0]
# The steps of Sinkhorn's method differ between geomloss's own ways.
for loss, options, backend, away in (
    ("gaussian", {"blur": 0.3}, "online", 1e-12),
    ("gaussian", {"blur": 0.3}, "multiscale", 1e-12),
    ("sinkhorn", {"p": 2, "blur": 0.05}, "online", 1e-6),
    ("sinkhorn", {"p": 2, "blur": 0.05}, "multiscale", 1e-3),
    ("sinkhorn", {"p": 2, "blur": 0.05, "reach": 0.3}, "online", 1e-6),
):
    before = tilefold.stats().runs
    found = computed(loss, options, backend)
    assert tilefold.stats().runs > before
    dense = computed(loss, options, "tensorized")
    torch.testing.assert_close(found, dense, rtol=away, atol=away)
print("as computed densely")
"""


@pytest.mark.parametrize(
    ("library", "program"), [("torchdr", TORCHDR), ("geomloss", GEOMLOSS)]
)
def test_libraries_run_unpatched(tmp_path, library, program):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"needs {library}")
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-W", "ignore", "-m"]
    command += ["tilefold.compat.pykeops", tmp_path / "program.py"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.stdout == "as computed densely\n", done.stderr
