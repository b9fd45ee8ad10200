# bench/gpu/torch_contenders.py - torch and what is built on it.
"""Tensors lie on the card before anything is timed."""

from __future__ import annotations

import functools
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bench.attention import AttentionProblem
from bench.case import Absent
from bench.gpu.contest import MOST_PAIRS, Contest
from bench.matrices import MatrixProblem
from bench.neighbors import NeighborProblem
from bench.points import GaussianProblem
from bench.statements import StatementProblem, function

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.card import Card

import numpy as np

MOST_BYTES = 48e9  # of numbers in between


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise Absent("no module torch") from error
    if not torch.cuda.is_available():
        raise Absent("torch finds no GPU")
    return torch


def _on_card(*arrays: Any) -> list[Any]:
    torch = _torch()
    return [torch.from_numpy(array).cuda() for array in arrays]


def _on_host(tensor: Any) -> Any:
    return tensor.detach().double().cpu().numpy()


def _only(problem: Any, kind: type, what: str) -> None:
    if not isinstance(problem, kind):
        raise Absent(f"of {what} only")


# ---- sums of pairs ----------------------------------------------------------


def torch_chunked(problem: Any, _: Card) -> Contest:
    """Distances, and what is made of them, in blocks of rows."""
    torch = _torch()
    _only(problem, GaussianProblem, "distances")
    x, y, b = _on_card(problem.x, problem.y, problem.b)
    step = max(1, MOST_PAIRS // len(y))

    def block(rows: Any) -> Any:
        squares = torch.cdist(rows, y).square_()
        if isinstance(problem, NeighborProblem):
            return squares.topk(problem.count, 1, largest=False).indices
        return squares.mul_(-problem.scale).exp_() @ b

    return Contest(
        lambda: torch.cat([block(rows) for rows in x.split(step)]), _on_host
    )


def torch_compiled(problem: Any, _: Card) -> Contest:
    """torch.compile of the formula as arrays; statements of any shape."""
    torch = _torch()
    if isinstance(problem, StatementProblem):
        tools = SimpleNamespace(
            exp=torch.exp,
            sin=torch.sin,
            cos=torch.cos,
            relu=torch.relu,
            sigmoid=torch.sigmoid,
        )
        chain = torch.compile(function(problem.count, tools), dynamic=True)
        arrays = _on_card(*problem.arrays)
        return Contest(
            lambda: [chain(array) for array in arrays],
            lambda sums: np.array([float(each) for each in sums]),
            len(arrays),
        )
    if isinstance(problem, NeighborProblem):
        raise Absent("of sums only")
    _only(problem, GaussianProblem, "sums")
    x, y, b = _on_card(problem.x, problem.y, problem.b)

    @torch.compile  # type: ignore[untyped-decorator]
    def block(rows: Any) -> Any:
        squares = ((rows[:, None] - y[None]) ** 2).sum(-1)
        return (torch.exp(-problem.scale * squares) * b).sum(1)

    step = max(1, MOST_PAIRS // len(y))
    return Contest(
        lambda: torch.cat([block(rows) for rows in x.split(step)]), _on_host
    )


@functools.cache
def _only_if_keops_works(device: str) -> None:
    """Its compiler has ended the process on some cards' machines."""
    tried = f"""
import torch
from pykeops.torch import Genred
x = torch.rand(9, 3, device="{device}")
Genred("SqDist(x,y)", ["x = Vi(3)", "y = Vj(3)"], axis=1)(x, x)
"""
    words = [sys.executable, "-c", tried]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise Absent(f"pykeops ends with {done.returncode}: {lines[-1]}")


def pykeops_genred(problem: Any, _: Card) -> Contest:
    """The Gaussian sum, and the nearest, by KeOps' own code for cards."""
    _torch()
    _only(problem, GaussianProblem, "points")
    try:
        from pykeops.torch import Genred

        from bench import keops
    except ImportError as error:
        raise Absent("no module pykeops") from error
    x, y = _on_card(problem.x, problem.y)
    _only_if_keops_works(x.device.type)
    keops.quietly()
    d = x.shape[1]
    points = [f"x = Vi({d})", f"y = Vj({d})"]
    if isinstance(problem, NeighborProblem):
        nearest = Genred(
            "SqDist(x,y)", points, "ArgKMin", axis=1, opt_arg=problem.count
        )
        return Contest(lambda: nearest(x, y), _on_host)
    sums = Genred(keops.FORMULA, [*points, "b = Vj(1)", "g = Pm(1)"], axis=1)
    b, g = _on_card(problem.b[:, None], np.float32([problem.scale]))
    return Contest(lambda: sums(x, y, b, g), _on_host)


# ---- attention --------------------------------------------------------------


def _queries_keys_values(problem: Any) -> list[Any]:
    torch = _torch()
    _only(problem, AttentionProblem, "attention")
    arrays = _on_card(*(problem.arrays[name] for name in "qkv"))
    return [array.to(torch.bfloat16)[None, None] for array in arrays]


def torch_sdpa(problem: Any, _: Card) -> Contest:
    """scaled_dot_product_attention, by the kernel that torch prefers."""
    q, k, v = _queries_keys_values(problem)
    attend = _torch().nn.functional.scaled_dot_product_attention
    return Contest(lambda: attend(q, k, v)[0, 0], _on_host)


def torch_flex(problem: Any, _: Card) -> Contest:
    """flex_attention without a change of scores, compiled."""
    q, k, v = _queries_keys_values(problem)
    from torch.nn.attention.flex_attention import flex_attention

    attend = _torch().compile(flex_attention)
    return Contest(lambda: attend(q, k, v)[0, 0], _on_host)


# ---- kernel matrices --------------------------------------------------------


def _matrix(
    problem: Any, between: int, matrix_of: Callable[[Any], Any]
) -> Contest:
    """The matrix, or its product. `between`: numbers an element takes on the
    way."""
    _only(problem, MatrixProblem, "kernel matrices")
    if problem.pairs * between * 4 > MOST_BYTES:
        raise Absent(f"{problem.pairs * between * 4e-9:.0f} GB in between")
    torch = _torch()
    x, b = _on_card(problem.x, problem.b)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def run() -> Any:
        matrix = matrix_of(x)
        return matrix @ b if problem.product else matrix

    return Contest(run, _on_host)


def torch_broadcast(problem: Any, _: Card) -> Contest:
    """Differences of all pairs, as one writes it."""
    _only(problem, MatrixProblem, "kernel matrices")

    def matrix_of(x: Any) -> Any:
        squares = (x.unsqueeze(1) - x.unsqueeze(0)).square().sum(-1)
        return squares.mul_(problem.scale).exp_()

    return _matrix(problem, 2 * problem.d, matrix_of)


def torch_vmap(problem: Any, _: Card) -> Contest:
    """A function of two points, mapped over the columns, then the rows."""
    torch = _torch()
    _only(problem, MatrixProblem, "kernel matrices")

    def kernel(u: Any, v: Any) -> Any:
        return torch.exp((u - v).square().sum() * problem.scale)

    rows = torch.vmap(torch.vmap(kernel, (None, 0)), (0, None))
    return _matrix(problem, 2 * problem.d, lambda x: rows(x, x))


def gpytorch_rbf(problem: Any, _: Card) -> Contest:
    """GPyTorch's RBFKernel."""
    _torch()
    _only(problem, MatrixProblem, "kernel matrices")
    try:
        from gpytorch.kernels import RBFKernel
    except ImportError as error:
        raise Absent("no module gpytorch") from error
    kernel = RBFKernel()
    kernel.lengthscale = problem.length
    kernel = kernel.cuda()
    return _matrix(problem, 2, lambda x: kernel(x).to_dense())
