# tests/python/random_gradients.py - gradients of random smooth formulas by
# PyTorch and JAX, against central differences.
"""Gradients are numbers of tilefold's as values are; what a library makes of
them is held against differences of the values that NumPy's arrays give."""

# ruff: noqa: ARG005 - every value of a kernel takes both vectors

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bounded import Bounded
from random_checks import check_slope
from random_faces import Answer, FaceCase

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

CLOSE = 1e-9  # of two sums of the same terms


def relaid(tensor: Any, random: random.Random) -> Any:
    """The same numbers with other strides."""
    way = random.randrange(4)
    if not tensor.dim() or way == 0:
        return tensor
    if way == 1:
        return tensor.repeat_interleave(2, -1)[..., ::2]
    if way == 2:
        return tensor.transpose(0, -1).contiguous().transpose(0, -1)
    first = tensor[:1]
    is_repeated = len(tensor) and bool((tensor == first).all())
    return first.expand(tensor.shape) if is_repeated else tensor


def tensor_of(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array.copy())


#: Of a kernel and a vector v of its columns, w of its rows, and which it reads.
OF_KERNELS: dict[str, tuple[Callable[..., Any], str]] = {
    "K.sum(1)": (lambda K, v, w: K.sum(1), ""),
    "K.mean()": (lambda K, v, w: K.mean(), ""),
    "K.var(0)": (lambda K, v, w: K.var(0), ""),
    "K.logsumexp(1)": (lambda K, v, w: K.logsumexp(1), ""),
    "K.dense()": (lambda K, v, w: K.dense(), ""),
    "K[:, ::-1].sum(1)": (lambda K, v, w: K[:, ::-1].sum(1), ""),
    "K[-1]": (lambda K, v, w: K[-1], ""),
    "K @ v": (lambda K, v, w: K @ v, "v"),
    "w @ K": (lambda K, v, w: w @ K, "w"),
    "K[1::2].T @ w": (lambda K, v, w: K[1::2].T @ w[1::2], "w"),
    "K.softmax(1) @ v": (lambda K, v, w: K.softmax(axis=1) @ v, "v"),
    "w K v": (lambda K, v, w: (w[:, None] * K * v).sum(0), "vw"),
    "K / (1 + K²)": (lambda K, v, w: (K / (1 + K**2)).sum(1), ""),
    "K.softmax(1, v)": (lambda K, v, w: K.softmax(axis=1, values=v), "v"),
}


class Slopes:
    """Of a value of a smooth case along random directions: of the sum of its
    numbers with random weights."""

    def __init__(self, case: FaceCase, random: random.Random) -> None:
        self.case = case
        self.settings = {"ranges": case.ranges} if case.ranges else {}
        self.numbers = np.random.default_rng(random.randrange(2**32))
        self.arrays = {n: np.asarray(a) for n, a in case.arrays.items()}
        self.what = "reduce"
        if case.kernel:
            self.choose_kernel(random)
        result = self.value(self.arrays)
        self.weights = self.numbers.standard_normal(np.shape(result))
        self.values = np.abs(self.weights * result).sum()
        self.directions = {
            name: self.numbers.standard_normal(array.shape)
            for name, array in self.arrays.items()
        }

    def choose_kernel(self, random: random.Random) -> None:
        names = list(OF_KERNELS)
        if not self.case.points["i"]:
            names.remove("K[-1]")
        self.what = random.choice(names)
        for name, axis in zip("vw", "ji", strict=True):
            if name in OF_KERNELS[self.what][1]:
                size = self.case.points[axis]
                self.arrays[name] = self.numbers.standard_normal(size)

    def value(self, arrays: dict[str, Any], **settings: Any) -> Any:
        """Of arrays of any library."""
        settings |= self.settings
        if self.what == "reduce":
            return tilefold.reduce(self.case.text, arrays, **settings)
        own = {n: a for n, a in arrays.items() if n not in ("v", "w")}
        kernel = tilefold.kernel(self.case.text, own, **settings)
        call, _ = OF_KERNELS[self.what]
        return call(kernel, arrays.get("v"), arrays.get("w"))

    def total(self, name: str, step: float) -> float:
        moved = self.arrays[name] + step * self.directions[name]
        return float(
            (self.weights * self.value({**self.arrays, name: moved})).sum()
        )

    def answers(
        self, what: str, gradients: Callable[[], dict[str, np.ndarray]]
    ) -> Iterator[Answer]:
        """Of each argument, one answer: its slope is that of differences."""
        found = functools.cache(gradients)
        for name in self.arrays:
            yield Answer(
                f"{what} by {name}",
                functools.partial(self.checked, found, name, what),
                Bounded(0.0),
            )

    def checked(self, found: Callable[[], Any], name: str, what: str) -> Any:
        gradient = np.asarray(found()[name])
        assert gradient.shape == self.arrays[name].shape
        assert gradient.dtype == np.float64
        if self.arrays[name].size and np.isfinite(self.values):
            check_slope(
                gradient,
                self.directions[name],
                functools.partial(self.total, name),
                self.values,
                f"{what} of {self.what} by {name}: {self.case.describe()}",
            )
        return np.float64(0)

    def along(self, gradients: dict[str, np.ndarray]) -> tuple[float, float]:
        """The slope along all directions, and the size of its terms."""
        terms = [
            gradients[name] * self.directions[name] for name in self.arrays
        ]
        return (
            float(sum(t.sum() for t in terms)),
            float(sum(np.abs(t).sum() for t in terms)),
        )

    def same(
        self, what: str, call: Callable[[], float], gradients: Callable[[], Any]
    ) -> Answer:
        """A slope computed forwards is that of the gradients."""

        def difference() -> Any:
            one = call()
            slope, size = self.along(gradients())
            if not np.isfinite(self.values):  # of nothing
                return np.float64(0)
            return np.float64((one - slope) / (size + self.values + 1e-3))

        return Answer(what, difference, Bounded(0.0, CLOSE))


def torch_gradients(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """Backwards, forwards, twice, and of a batch by vmap."""
    import torch

    slopes = Slopes(case, random)
    names = list(slopes.arrays)
    weights = torch.from_numpy(np.asarray(slopes.weights))
    leaves = {
        name: relaid(tensor_of(array), random).detach().requires_grad_()
        for name, array in slopes.arrays.items()
    }
    directions = [torch.from_numpy(slopes.directions[name]) for name in names]

    def total(*values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        return (weights * slopes.value(given)).sum()

    @functools.cache
    def backwards() -> dict[str, np.ndarray]:
        found = torch.autograd.grad(total(*leaves.values()), leaves.values())
        return dict(zip(names, (g.numpy() for g in found), strict=True))

    yield from slopes.answers("autograd.grad", backwards)
    # Forward mode of PyTorch writes to its arguments: no number twice there.
    plain = tuple(leaf.detach().clone() for leaf in leaves.values())

    def forwards() -> float:
        _, slope = torch.func.jvp(total, plain, tuple(directions))
        return float(slope)

    yield slopes.same("torch.func.jvp", forwards, backwards)

    def mapped() -> dict[str, np.ndarray]:
        """The gradients of two batches, of which the first is the case."""
        place = random.randrange(len(names))
        every = tuple(range(len(names)))
        several = list(plain)
        several[place] = torch.stack([plain[place], 0.75 * plain[place]])
        axes = tuple(0 if k == place else None for k in every)
        found = torch.func.vmap(torch.func.grad(total, every), axes)(*several)
        return {n: g[0].numpy() for n, g in zip(names, found, strict=True)}

    yield slopes.same(
        "vmap of grad", lambda: slopes.along(mapped())[0], backwards
    )
    yield twice(slopes, total, leaves, directions)


def twice(
    slopes: Slopes, total: Any, leaves: dict[str, Any], directions: list[Any]
) -> Answer:
    """The second derivative along the directions, against differences of the
    first."""
    import torch

    def first(step: float) -> float:
        moved = [
            (leaf + step * way).detach().requires_grad_()
            for leaf, way in zip(leaves.values(), directions, strict=True)
        ]
        found = torch.autograd.grad(total(*moved), moved)
        return sum(
            float((g * way).sum())
            for g, way in zip(found, directions, strict=True)
        )

    def checked() -> Any:
        values = list(leaves.values())
        found = torch.autograd.grad(total(*values), values, create_graph=True)
        slope = sum(
            (g * way).sum() for g, way in zip(found, directions, strict=True)
        )
        again = (
            torch.autograd.grad(slope, values, allow_unused=True)
            if slope.requires_grad
            else [None] * len(values)
        )
        second = [
            np.zeros(way.shape) if g is None else g.numpy()
            for g, way in zip(again, directions, strict=True)
        ]
        flat = np.concatenate([np.ravel(s) for s in second])
        ways = np.concatenate([np.ravel(way.numpy()) for way in directions])
        if not flat.size or not np.isfinite(slopes.values):
            return np.float64(0)
        size = max(abs(first(0.0)), slopes.values)
        check_slope(flat, ways, first, size, f"twice: {slopes.case.describe()}")
        return np.float64(0)

    return Answer("double backward", checked, Bounded(0.0))


def jax_gradients(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """By the library's kernels and in tiles, backwards and forwards."""
    import jax
    import jax.numpy as jnp

    slopes = Slopes(case, random)
    given = {name: jnp.asarray(a) for name, a in slopes.arrays.items()}
    ways = {n: jnp.asarray(way) for n, way in slopes.directions.items()}
    is_plain = not case.kernel and case.ranges is None
    for backend in ("", "tiled") if is_plain else ("",):

        def total(arrays: Any, backend: str = backend) -> Any:
            settings = {"backend": backend} if backend else {}
            return (slopes.weights * slopes.value(arrays, **settings)).sum()

        @functools.cache
        def backwards(total: Any = total) -> dict[str, np.ndarray]:
            return {n: np.asarray(g) for n, g in jax.grad(total)(given).items()}

        def forwards(total: Any = total) -> float:
            return float(jax.jvp(total, (given,), (ways,))[1])

        yield from slopes.answers(f"jax.grad {backend}", backwards)
        yield slopes.same(f"jax.jvp {backend}", forwards, backwards)


def in_memory(slopes: Slopes) -> dict[str, np.ndarray]:
    """By a call of the formula's gradients."""
    names = list(slopes.arrays)
    formula = tilefold.compile(slopes.case.text).grad(names)
    own = {"grad": slopes.weights} if "grad" in dict(formula.names) else {}
    found = formula({**slopes.arrays, **own}, **slopes.settings)
    found = found if isinstance(found, tuple) else (found,)
    return dict(zip(names, found, strict=True))


def chosen_gradients(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """Of chosen pairs, against differences of values over the same pairs."""
    way = random.randrange(4)
    if way == 0:
        yield from torch_gradients(case, random)
    elif way == 1:
        yield from jax_gradients(case, random)
    else:
        slopes = Slopes(case, random)
        yield from slopes.answers(
            "gradients with ranges", lambda: in_memory(slopes)
        )


def dask_gradients(
    case: FaceCase,
    random: random.Random,
    given: Callable[[dict[str, Any]], dict[str, Any]],
) -> Iterator[Answer]:
    """Gradients in chunks are those of a call in memory."""
    import tilefold.dask

    slopes = Slopes(case, random)
    names = list(slopes.arrays)

    @functools.cache
    def computed() -> tuple[Any, ...]:
        found = tilefold.dask.grad(
            case.text,
            names,
            given(slopes.arrays),
            cotangent=slopes.weights,
            segment=random.choice([3, 16, 64]),
        )
        found = found if isinstance(found, tuple) else (found,)
        return tuple(g.compute(scheduler="synchronous") for g in found)

    whole = in_memory(slopes)
    for k, name in enumerate(names):
        size = np.abs(whole[name]).max(initial=0) + slopes.values
        error = np.full(whole[name].shape, CLOSE * np.nan_to_num(size))
        yield Answer(
            f"gradient in chunks by {name}",
            lambda k=k: computed()[k],
            Bounded(whole[name], error),
            "float64",
        )
