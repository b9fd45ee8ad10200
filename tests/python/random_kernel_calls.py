# tests/python/random_kernel_calls.py - methods of kernels of random pair terms.
"""What a kernel gives, as answers; the matrix in float64 is the case's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bounded import Bounded, elementwise, moved
from random_faces import TABLE, Answer, FaceCase, over_chosen, reduced
from random_indices import random_index
from random_terms import I, J

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from tilefold import Kernel

#: Of numbers and truths; and of numbers alone.
PLAIN = ["sum", "count", "any", "all", "max", "min", "mean", "argmax", "argmin"]
NUMERIC = ["prod", "logsumexp", "var", "std"]
COUNTED = ["kmin", "argkmin"]
BATCHED = ["sum", "mean", "max", "min", "prod", "any", "all", "count"]
LARGEST = 1e36


def plain(result: Any) -> Any:
    return result


class KernelCalls:
    """Of one case; `given` makes the arrays of another library of it, and
    `done` makes numbers of its results."""

    def __init__(
        self,
        case: FaceCase,
        random: random.Random,
        given: Callable[[dict[str, Any]], dict[str, Any]] = plain,
        done: Callable[[Any], Any] = plain,
        **settings: Any,
    ) -> None:
        self.case, self.random, self.done = case, random, done
        self.numbers = np.random.default_rng(random.randrange(2**32))
        if case.ranges is not None:
            settings["ranges"] = case.ranges
        self.given = given
        self.make = lambda: tilefold.kernel(
            case.text, given(case.arrays), **settings
        )
        assert case.wanted is not None
        self.dense = case.wanted.with_unit(case.unit)
        self.batch = case.batch
        self.mask = case.mask
        self.is_exact = case.kind in ("truth", "integer")

    def kernel(self) -> Kernel:
        return self.make()

    # ---- values -------------------------------------------------------------

    def answer(
        self, what: str, call: Callable[[Kernel], Any], wanted: Bounded
    ) -> Answer:
        return Answer(what, lambda: self.done(call(self.kernel())), wanted)

    def transposed(self, term: Bounded) -> Bounded:
        return term.shaped(lambda v: np.swapaxes(v, -1, -2))

    def seen(self, term: Bounded) -> Bounded:
        """0 where a pair is not met: what products are of."""
        if self.mask is None:
            return term
        return Bounded(
            np.where(self.mask, term.value, 0),
            np.where(self.mask, term.error, 0),
            term.unit,
        )

    # ---- reductions ---------------------------------------------------------

    def reductions(self, count: int) -> Iterator[Answer]:
        names = PLAIN + NUMERIC + COUNTED
        for _ in range(count):
            yield self.reduction(self.random.choice(names))

    def over_batches(self) -> Iterator[Answer]:
        """Of batches and points together; axes as NumPy counts them."""
        rank = len(self.batch)
        if not rank:
            return
        name = self.random.choice(BATCHED)
        gone = sorted(
            {self.random.randrange(rank), rank + self.random.randrange(2)}
            | ({rank + 1} if self.random.random() < 0.3 else set())
        )
        keepdims = self.random.random() < 0.3

        def flat(v: np.ndarray) -> np.ndarray:
            """(1, 1, what is kept, what is reduced)."""
            moved = np.moveaxis(v, gone, range(-len(gone), 0))
            kept = moved.shape[: v.ndim - len(gone)]
            shape = (1, 1, math.prod(kept), math.prod(moved.shape[len(kept) :]))
            return moved.reshape(shape)

        numbers = self.operand(name).shaped(flat)
        if self.mask is None:
            wanted = TABLE[name](numbers)
        else:
            whole = np.broadcast_to(self.mask, self.dense.value.shape)
            wanted = over_chosen(name, [numbers], [], flat(whole)[0, 0])
        shape = tuple(
            1 if axis in gone else size
            for axis, size in enumerate(self.dense.value.shape)
            if keepdims or axis not in gone
        )
        wanted = self.held(name, wanted.shaped(lambda v: v.reshape(shape)))
        yield self.answer(
            f"K.{name}({gone}, keepdims={keepdims})",
            lambda k: getattr(k, name)(axis=tuple(gone), keepdims=keepdims),
            wanted,
        )

    def held(self, name: str, wanted: Bounded) -> Bounded:
        """What float32 has no numbers for may be anything."""
        if name == "prod":
            near = np.abs(wanted.value) < LARGEST
            wanted.error = np.where(near, wanted.error, np.inf)
        if name in ("max", "min") and self.case.kind == "truth":
            return wanted.shaped(lambda v: np.clip(v, 0, 1))
        return wanted

    def reduction(self, name: str) -> Answer:
        axes = self.random.choice([I, J, J, "ij"])
        if axes == "ij" and name in ("argmax", "argmin", *COUNTED):
            axes = J
        turned = self.random.random() < 0.3
        rank = len(self.batch)
        place = {I: rank, J: rank + 1}
        if turned:
            place = {I: rank + 1, J: rank}
        axis: Any = (rank, rank + 1) if axes == "ij" else place[axes]
        if axes != "ij" and self.random.random() < 0.5:
            axis -= rank + 2
        if axes == "ij" and not rank and self.random.random() < 0.5:
            axis = None
        keepdims = name not in COUNTED and self.random.random() < 0.3
        more = [1 + self.random.randrange(4)] if name in COUNTED else []
        term = self.operand(name)
        wanted = reduced(name, term, axes, self.mask, more)
        if keepdims:
            gone = (-1, -2) if axes == "ij" else (-2 if axes == I else -1,)
            wanted = wanted.shaped(lambda v: np.expand_dims(v, gone))
            if turned:
                wanted = self.transposed(wanted)
        wanted = self.held(name, wanted)
        settings: dict[str, Any] = {"axis": axis}
        if keepdims:
            settings["keepdims"] = True

        def call(kernel: Kernel) -> Any:
            matrix = kernel.T if turned else kernel
            return getattr(matrix, name)(*more, **settings)

        return self.answer(
            f"K{'.T' if turned else ''}.{name}({more}{settings})", call, wanted
        )

    def operand(self, name: str) -> Bounded:
        """The matrix, exact where the reduction adds or compares integers."""
        exact = name in ("sum", "count") and self.is_exact
        return self.dense.with_unit(0.0 if exact else self.case.unit)

    def medians(self) -> Iterator[Answer]:
        """Of what has values, where no pairs are chosen."""
        if self.mask is not None or not self.dense.value.size:
            return
        if not np.isfinite(self.dense.value).all():
            return
        level = self.random.choice([0.0, 0.25, 0.5, 0.9, 1.0])
        axis = self.random.choice([-1, -2])

        def pick(v: np.ndarray) -> np.ndarray:
            return np.quantile(v, level, axis)

        value = pick(self.dense.value)
        error = moved(pick, self.dense)
        wanted = Bounded(value, error, self.case.unit).rounded(
            value, error, 4 * np.abs(self.dense.value).max(axis)
        )
        yield self.answer(
            f"K.quantile({level}, axis={axis})",
            lambda k: k.quantile(level, axis=axis),
            wanted,
        )

    # ---- products -----------------------------------------------------------

    def vector(self, *shape: int) -> np.ndarray:
        dtype = self.random.choice(["float32", "float64"])
        return self.numbers.uniform(-1, 1, shape).astype(dtype)

    def like(self, vector: np.ndarray) -> Any:
        """Of the kernel's library."""
        return self.given({"": vector})[""]

    def product(self, matrix: Bounded, vector: np.ndarray) -> Bounded:
        """matrix @ vector."""
        wide = vector[:, None] if vector.ndim < 2 else vector
        weights = Bounded(wide, unit=self.case.unit)
        # (batch…, N, M, 1) and (M, E)
        terms = matrix.shaped(lambda v: v[..., None]) * weights
        found = terms.with_unit(self.case.unit).sum(-2)
        return found if vector.ndim > 1 else found.shaped(lambda v: v[..., 0])

    def products(self) -> Iterator[Answer]:
        n, m = self.dense.value.shape[-2:]
        matrix = self.seen(self.dense)
        turned = self.transposed(matrix)
        single = bool(self.batch)  # a vector of each batch has a column
        for what, term, size in (("K", matrix, m), ("K.T", turned, n)):
            columns = self.random.choice([0, 1, 2, 5])
            if single and not columns:
                columns = 1
            shape = (size, columns) if columns else (size,)
            vector = self.vector(*shape)
            given = self.like(vector)
            wanted = self.product(term, vector)

            def call(
                kernel: Kernel, what: str = what, given: Any = given
            ) -> Any:
                return (kernel.T if what == "K.T" else kernel) @ given

            yield self.answer(f"{what} @ {shape}", call, wanted)
        if single:
            return
        vector = self.vector(n)
        left = self.like(vector)
        yield self.answer(
            "c @ K", lambda k: left @ k, self.product(turned, vector)
        )

    # ---- elements -----------------------------------------------------------

    def elements(self, count: int) -> Iterator[Answer]:
        matrix = self.seen(self.dense)
        yield self.answer("K.dense()", lambda k: k.dense(), matrix)
        yield self.answer(
            "K.T.dense()", lambda k: k.T.dense(), self.transposed(matrix)
        )
        if matrix.value.shape[-1] == matrix.value.shape[-2]:
            wanted = matrix.shaped(lambda v: np.diagonal(v, axis1=-2, axis2=-1))
            yield self.answer("K.diag()", lambda k: k.diag(), wanted)
        for _ in range(count):
            shape = matrix.value.shape
            index = random_index(self.numbers, shape, new_axes=False)
            try:
                wanted = matrix.shaped(lambda v, index=index: v[index])
            except IndexError:
                continue

            def call(kernel: Kernel, index: Any = index) -> Any:
                found = kernel[index]
                is_kernel = isinstance(found, tilefold.Kernel)
                return found.dense() if is_kernel else found

            yield self.answer(f"K[{index}]", call, wanted)

    def parts(self) -> Iterator[Answer]:
        """What is computed of some rows and columns, by NumPy's rules."""
        if self.batch or self.mask is not None:
            return
        n, m = self.dense.value.shape
        rows = self.numbers.random(n) < 0.6
        count = self.random.randrange(5) if m else 0
        columns = self.numbers.integers(-m, max(m, 1), count)
        picked = self.dense.shaped(lambda v: v[rows][:, columns])
        yield self.answer(
            f"K[{rows.tolist()}][:, {columns.tolist()}].sum(1)",
            lambda k: k[rows][:, columns].sum(1),
            reduced("sum", picked.with_unit(self.operand("sum").unit), J),
        )
        first = self.random.randrange(n + 1)
        step = self.random.choice([1, 2, -1])
        vector = self.vector(m)
        given = self.like(vector)
        yield self.answer(
            f"K[{first}::{step}] @ b",
            lambda k: k[first::step] @ given,
            self.product(self.dense.shaped(lambda v: v[first::step]), vector),
        )

    # ---- algebra ------------------------------------------------------------

    def algebra(self) -> Iterator[Answer]:
        """Operators, and arrays that broadcast with a kernel."""
        if self.mask is not None or self.case.kind == "truth":
            return
        n, m = self.dense.value.shape[-2:]
        scaled = self.vector(n)
        weights = Bounded(scaled[:, None], unit=self.case.unit)
        given = self.like(scaled)
        wanted = (self.dense * weights).with_unit(self.case.unit)
        axes = self.random.choice([I, J])
        place = -2 if axes == I else -1
        yield self.answer(
            f"(c[:, None] * K).sum({place})",
            lambda k: (given[:, None] * k).sum(place),
            reduced("sum", wanted, axes),
        )
        bound = elementwise(np.tanh, self.dense * Bounded(0.5))
        bound = bound.with_unit(self.case.unit)
        name = self.random.choice(["mean", "max", "logsumexp", "argmin"])
        yield self.answer(
            f"np.tanh(K / 2).{name}({place})",
            lambda k: getattr(np.tanh(k / 2), name)(axis=place),
            reduced(name, bound, axes),
        )
        del m


def kernel_answers(calls: KernelCalls) -> Iterator[Answer]:
    """Of three of the groups: each answer compiles a kernel or two."""
    groups = [
        lambda: calls.reductions(3),
        calls.products,
        calls.parts,
        calls.algebra,
        calls.medians,
        calls.over_batches,
    ]
    if calls.mask is None:  # elements are read whatever pairs are chosen
        groups += [lambda: calls.elements(2)] * 2
    for group in calls.random.sample(groups, 3):
        yield from group()
