# bench/torch_calls.py - one small call of PyTorch, by what PyTorch does to it.
"""The Gaussian sum of eight points under each of PyTorch's transforms.

`FACES` is the one list of them. A face makes of a function of x, y and b a
call without arguments; `torch.compile` has the function, or what a transform
made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import Array

    Function = Callable[[Any, Any, Any], Any]  # of x, y and b
    Wrap = Callable[[Any], Any]

POINTS = 8
DIMENSION = 3
BATCH = 4
LENGTH = 0.5


@dataclass(frozen=True)
class CallProblem:
    """A call by one of `FACES`; a result is its sums or its gradient."""

    face: str

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(POINTS**2 * (BATCH if self.face == "vmap" else 1))

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type, and how many are mapped."""
        sizes = {"N": POINTS, "D": DIMENSION, "dtype": "float32"}
        return sizes | ({"batch": BATCH} if self.face == "vmap" else {})

    @cached_property
    def arrays(self) -> list[Array]:
        """x, y and b; x has a batch where it is mapped over."""
        random = np.random.default_rng(7)
        batch = (BATCH,) if self.face == "vmap" else ()
        x = random.random((*batch, POINTS, DIMENSION), np.float32)
        y = random.random((POINTS, DIMENSION), np.float32)
        return [x, y, random.random(POINTS, np.float32)]

    def error(self, result: Any) -> float:
        """The largest, beside the largest number."""
        x, y, b = (array.astype(np.float64) for array in self.arrays)
        differences = x[..., :, None, :] - y
        squares = (differences**2).sum(-1)
        terms = np.exp(-squares / (2 * LENGTH**2)) * b
        exact = terms.sum(-1)
        if self.face in {"backward", "grad"}:
            pulls = terms[..., None] * differences
            exact = -pulls.sum(-2) / LENGTH**2
        errors = np.abs(result.detach().numpy() - exact) / np.abs(exact).max()
        return float(np.nan_to_num(errors, nan=np.inf).max())


def call_of(
    problem: CallProblem, function: Function, compiled: bool = False
) -> Callable[[], Any]:
    """The call of a function by the face of a problem, made once before."""
    import torch

    wrap = torch.compile if compiled else _as_it_is
    make = partial(wrap, fullgraph=True) if compiled else wrap
    arguments = list(map(torch.from_numpy, problem.arrays))
    call = FACES[problem.face](function, arguments, make)
    call()
    return call


def dense(x: Any, y: Any, b: Any) -> Any:
    """The sum as one writes it, of all pairs in memory."""
    squares = (x[:, None, :] - y[None, :, :]).square().sum(-1)
    return (squares * (-1 / (2 * LENGTH**2))).exp() @ b


def _as_it_is(function: Any) -> Any:
    return function


def _plain(function: Function, arguments: Any, make: Wrap) -> Any:
    return partial(make(function), *arguments)


def _recorded(function: Function, arguments: Any, make: Wrap) -> Any:
    arguments[0].requires_grad_()
    return partial(make(function), *arguments)


def _backward(function: Function, arguments: Any, make: Wrap) -> Any:
    import torch

    call = _recorded(function, arguments, make)
    x = arguments[0]
    seed = torch.ones_like(call())  # spares a sum and its node

    def both() -> Any:
        return torch.autograd.grad(call(), x, seed)[0]

    return both


def _vmap(function: Function, arguments: Any, make: Wrap) -> Any:
    import torch

    mapped = torch.func.vmap(function, (0, None, None))
    return partial(make(mapped), *arguments)


def _grad(function: Function, arguments: Any, make: Wrap) -> Any:
    import torch

    def total(x: Any, y: Any, b: Any) -> Any:
        return function(x, y, b).sum()

    return partial(make(torch.func.grad(total)), *arguments)


FACES: dict[str, Any] = {
    "plain": _plain,
    "recorded": _recorded,
    "backward": _backward,
    "vmap": _vmap,
    "grad": _grad,
}
