# python_bindings/tilefold/gpytorch/terms.py - pair terms as text, with tensors.
"""What a covariance matrix is made of: `Part`, a text with its tensors.

Sums, products and scales of parts are parts again, of one text. `Term` keeps
the formulas that are made of a text, once for a process.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

import tilefold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor

    from tilefold import Formula

__all__ = [
    "Part",
    "Term",
    "batch_of",
    "joined",
    "joint_shape",
    "lifted",
    "low_rank",
    "scaled",
    "shaped",
    "term",
]


class Part(NamedTuple):
    """A pair term, the tensors it reads, and where each of them lies.

    A tensor is (…, N, D) on "i", (…, M, D) on "j", and (…, R, C) as a
    parameter, "p"; batch dimensions broadcast. `roles` has a letter for each.
    """

    tensors: tuple[Any, ...]
    text: str
    names: tuple[str, ...]
    roles: str


class Term:
    """The formulas of a pair term."""

    def __init__(self, text: str) -> None:
        self.formula = tilefold.compile(text)
        self.weights = self.formula._unused_name("b")
        self.seed = self.formula._unused_name("g")
        self._gradients: dict[tuple[str, ...], Formula] = {}

    @cached_property
    def product(self) -> Formula:
        """Σ_j k(x_i, y_j) b_j."""
        return self._around(f"sum_j(operand*{self.weights}_j)")

    @cached_property
    def transposed_product(self) -> Formula:
        """Σ_i k(x_i, y_j) b_i."""
        return self._around(f"sum_i(operand*{self.weights}_i)")

    @cached_property
    def diagonal(self) -> Formula:
        """The value at (x_i, y_i): all arrays lie on i."""
        return tilefold.compile(self.formula._diagonal())

    @cached_property
    def transposed(self) -> str:
        """The text with i and j exchanged."""
        return self.formula._transpose()

    def gradient(self, names: tuple[str, ...]) -> Formula:
        """Of Σ_ij g_i k(x_i, y_j) b_j, by some arguments of k."""
        if names not in self._gradients:
            self._gradients[names] = self.product.grad(
                names, cotangent=self.seed
            )
        return self._gradients[names]

    def _around(self, text: str) -> Formula:
        skeleton = tilefold.compile(text)
        return tilefold.compile(
            skeleton._substitute([("operand", self.formula, {})])
        )


@lru_cache(maxsize=1024)
def term(text: str) -> Term:
    """The formulas of a text, made once."""
    return Term(text)


def scaled(part: Part, factor: Tensor) -> Part:
    """The part times numbers of shape (…, 1, 1)."""
    return joined("second*first", part, Part((factor,), "s", ("s",), "p"))


def low_rank(left: Tensor, right: Tensor) -> Part:
    """The matrix left·rightᵀ, of tensors (…, N, R) and (…, M, R)."""
    return Part((left, right), "u_i·v_j", ("u", "v"), "ij")


def joined(skeleton: str, first: Part, second: Part) -> Part:
    """The formula `skeleton` of "first" and "second", with all tensors.

    A tensor that both have stays one argument. Names of the second part that
    the first one has, too, are changed.
    """
    tensors, names, roles = list(first.tensors), list(first.names), first.roles
    renamed: dict[str, str] = {}
    taken = {*first.names, *second.names}
    for tensor, name, role in zip(
        second.tensors, second.names, second.roles, strict=True
    ):
        known = _known_as(first, tensor, role)
        if known is not None:
            renamed[name] = known
            continue
        if name in first.names:
            renamed[name] = _unused(name, taken)
        tensors.append(tensor)
        names.append(renamed.get(name, name))
        roles += role
        taken.add(names[-1])
    text = _joined_text(
        skeleton, first.text, second.text, tuple(renamed.items())
    )
    return Part(tuple(tensors), text, tuple(names), roles)


def lifted(tensors: Sequence[Tensor], rank: int) -> Iterable[Tensor]:
    """The tensors with `rank` dimensions, so that none is read otherwise.

    Beside arrays (B, N, D) one of shape (B, D) could be a batch of numbers.
    """
    for tensor in tensors:
        missing = rank - tensor.dim()
        yield tensor[(None,) * missing] if missing > 0 else tensor


def _known_as(part: Part, tensor: Any, role: str) -> str | None:
    """The name of a tensor in a part, where it is the same object."""
    for known, name, known_role in zip(
        part.tensors, part.names, part.roles, strict=True
    ):
        if known is tensor and known_role == role:
            return name
    return None


def _unused(name: str, taken: set[str]) -> str:
    """A name like `name` that is not taken."""
    stem = name.rstrip("0123456789") or "p"
    number = 2
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"


@lru_cache(maxsize=4096)
def _joined_text(
    skeleton: str,
    first: str,
    second: str,
    renamed: tuple[tuple[str, str], ...],
) -> str:
    """The text of `joined`."""
    return tilefold.compile(skeleton)._substitute(
        [
            ("first", term(first).formula, {}),
            ("second", term(second).formula, dict(renamed)),
        ]
    )


def batch_of(tensors: Iterable[Tensor]) -> torch.Size:
    """The batch dimensions of tensors of two dimensions and more."""
    return joint_shape([tensor.shape[:-2] for tensor in tensors])


def joint_shape(shapes: Sequence[torch.Size]) -> torch.Size:
    """The shape that shapes broadcast to; of equal ones, without delay."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    return torch.broadcast_shapes(*shapes)


def shaped(result: Tensor, shape: Sequence[int]) -> Tensor:
    """What a formula gave, with the batches of a shape."""
    if result.shape == tuple(shape):
        return result
    if result.numel() == math.prod(shape):
        return result.reshape(shape)
    missing = len(shape) - result.dim()
    return result[(None,) * max(missing, 0)].expand(shape)
