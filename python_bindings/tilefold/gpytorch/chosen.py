# python_bindings/tilefold/gpytorch/chosen.py - the points that an index takes.
"""Tensors of the points, and batches, that an index of an operator chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["counted_from_start", "expanded", "of_block", "of_pairs"]


def expanded(tensor: Tensor, batch: Any) -> Tensor:
    """A tensor with all batch dimensions, of which nothing is copied."""
    return tensor.expand(*batch, *tensor.shape[-2:])


def counted_from_start(index: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """An index whose numbers count from the start, and masks are places.

    linear_operator would take -1 of rows and columns for an empty slice, and
    count the places of a mask as the matrix has them.
    """
    parts = index if isinstance(index, tuple) else (index,)
    places = [*range(len(parts))]
    for k, part in enumerate(parts):
        if part is Ellipsis:
            after = len(shape) - len(parts)
            places[k:] = [place + after for place in places[k:]]
            break
    return tuple(
        _counted(part, place, shape)
        for part, place in zip(parts, places, strict=True)
    )


def _counted(part: Any, place: int, shape: Sequence[int]) -> Any:
    """A part of an index at a place of a shape."""
    if torch.is_tensor(part) and not part.dim():
        part = part.item()
    if isinstance(part, int) and part < 0:
        return part + shape[place]
    if torch.is_tensor(part) and part.dtype is torch.bool and part.dim() == 1:
        return part.nonzero().squeeze(-1)
    return part


def of_block(
    tensors: Sequence[Tensor],
    roles: str,
    batch: torch.Size,
    index: tuple[Any, ...],
) -> list[Tensor] | None:
    """Those of K[…, a[:, None], b[None, :]]; None of another index.

    The pivoted Cholesky decomposition asks for rows so, of each batch.
    """
    if not all(map(torch.is_tensor, index)):
        return None
    *batches, rows, columns = index
    if min(rows.dim(), columns.dim()) < 2 or not (
        rows.shape[-1] == 1 == columns.shape[-2]
        and all(part.shape[-2:] == (1, 1) for part in batches)
    ):
        return None
    places = {"i": rows[..., 0], "j": columns[..., 0, :]}
    chosen = []
    for tensor, role in zip(tensors, roles, strict=True):
        given = tensor
        lead: list[Any] = []
        if tensor.dim() > 2:
            given = expanded(tensor, batch)
            lead = [part[..., 0] for part in batches]
            if role == "p":
                lead = [part[..., 0] for part in lead]
        place = (*lead, places[role]) if role in places else tuple(lead)
        chosen.append(given[place] if place else given)
    return chosen


def of_pairs(
    tensors: Sequence[Tensor],
    roles: str,
    batch: torch.Size,
    indices: Sequence[Tensor],
) -> list[Tensor]:
    """Those whose diagonal is the pairs of lists of rows and columns.

    Parameters that differ from pair to pair make a batch of each pair.
    """
    rows, columns, *batches = indices
    places = {"i": rows, "j": columns}
    apart = any(
        tensor.dim() > 2 and role == "p"
        for tensor, role in zip(tensors, roles, strict=True)
    )
    chosen = []
    for tensor, role in zip(tensors, roles, strict=True):
        given = tensor
        place: tuple[Any, ...] = ()
        if tensor.dim() > 2:
            given, place = expanded(tensor, batch), tuple(batches)
        if role in places:
            place = (*place, places[role])
        if place:
            given = given[place]
        if apart and role in places:
            given = given.unsqueeze(-2)
        chosen.append(given)
    return chosen
