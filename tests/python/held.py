# tests/python/held.py - arrays that lie among other numbers.
"""`Held` is an array inside a larger one, whose other elements are set to what
would spoil a result that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from random_terms import NUMPY_DTYPES

if TYPE_CHECKING:
    import random


def extremes(dtype: str) -> np.ndarray:
    """What would spoil a result that it got into."""
    if dtype[0] in "iu":
        ends = np.iinfo(NUMPY_DTYPES[dtype])
        return np.array([ends.max, ends.min, 1, ends.max])
    ends = np.finfo("float32" if dtype == "bf16" else NUMPY_DTYPES[dtype])
    tiny = float(ends.smallest_subnormal)
    return np.array(
        [np.nan, ends.max, np.inf, tiny, -np.inf, -ends.max, -tiny, 4e4, -0.0]
    )


class Held:
    """An array whose elements lie among others of a larger one."""

    def __init__(
        self, values: np.ndarray, dtype: str, random: random.Random | None
    ) -> None:
        """With strides of any kind; without `random` those of C."""
        self.values, self.dtype = values, dtype
        places, shape = [], []
        for axis, size in enumerate(values.shape):
            if not random:
                after = 20 if axis == 0 else 0
                places.append(slice(0, size))
                shape.append(size + after)
                continue
            steps = [1, 1, 2] if axis == values.ndim - 1 else [1, 1, 2, 3]
            if dtype != "bf16":  # tensors have no other strides
                steps.append(-1)
            step = random.choice([1, random.choice(steps)])
            before, after = random.choice([(0, 0), (0, 9), (3, 20)])
            places.append(_run(before, size, step))
            shape.append(before + max(size, 1) * abs(step) + after)
        self.whole: Any = np.zeros(
            shape, "float32" if dtype == "bf16" else NUMPY_DTYPES[dtype]
        )
        self.places = tuple(places)
        self.tensor: Any = None
        if dtype == "bf16":
            import torch

            self.tensor = torch.zeros(shape, dtype=torch.bfloat16)
        self.surround(None)

    def surround(self, start: int | None, inside: bool = False) -> None:
        """By extremes from number `start` on, or zeros; `inside` spoils the
        values, too."""
        if start is None:
            self.whole[...] = 0
        else:
            rolled = np.roll(extremes(self.dtype), start)
            with np.errstate(over="ignore"):
                self.whole[...] = np.resize(rolled, self.whole.shape).astype(
                    self.whole.dtype
                )
        if not inside:
            self.whole[self.places] = self.values
        if self.tensor is not None:
            import torch

            self.tensor.copy_(torch.from_numpy(self.whole))

    @property
    def view(self) -> Any:
        whole = self.whole if self.tensor is None else self.tensor
        return whole[self.places]


def _run(before: int, size: int, step: int) -> slice:
    """`size` places, `step` apart, behind `before` others."""
    if step > 0:
        return slice(before, before + size * step, step)
    end = before - 1 if before else None
    return slice(before + size - 1, end, -1) if size else slice(0, 0)
