# tests/python/random_face_calls.py - each way to call a random formula.
"""`FACES`: by its name, a face's cases and its answers to one of them."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bounded import Bounded
from random_checks import dtype_of
from random_faces import (
    Answer,
    AnySizes,
    ArrayCases,
    ArrayKernelCases,
    Chosen,
    ChosenKernelCases,
    FaceCase,
    KernelCases,
    ReducedCases,
    SingleCases,
    SingleKernelCases,
    Spoilt,
    TensorCases,
    apart,
    axes_of,
    is_two_ways,
    random_cuts,
    sliced,
    with_batch_rank,
)
from random_gradients import (
    chosen_gradients,
    dask_gradients,
    jax_gradients,
    relaid,
    torch_gradients,
)
from random_kernel_calls import KernelCalls, kernel_answers
from random_terms import I, J

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping

    Answers = Callable[[FaceCase, random.Random], Iterator[Answer]]


# ---- calls in memory --------------------------------------------------------


def other_calls(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """The ways to make one call, all of the same bits."""
    whole = tilefold.reduce(case.text, **case.arrays)
    formula = tilefold.compile(case.text)
    wanted, dtype = case.wanted, dtype_of(whole)

    def alike(what: str, call: Callable[[], Any]) -> Answer:
        return Answer(what, call, wanted, dtype, whole)

    yield alike("reduce", lambda: whole)
    yield alike("f(…)", lambda: formula(**case.arrays))
    yield alike("f({…})", lambda: formula(case.arrays))

    def twice() -> Any:
        bound = formula.bind(**case.arrays)
        bound()
        return bound()

    yield alike("f.bind(…)", twice)
    for threads in (1, 2):
        options = tilefold.Options(threads=threads)
        yield alike(
            f"threads={threads}",
            lambda options=options: formula(**case.arrays, options=options),
        )

    def other_memory() -> Any:
        """A view of every other number, or the transpose of an array."""
        shape = np.shape(whole)
        if isinstance(whole, np.ndarray) and shape:
            wide = np.full((*shape[:-1], 2 * shape[-1]), 7, whole.dtype)
            out = wide[..., ::2]
            if random.randrange(2):
                out = np.full(shape[::-1], 7, whole.dtype).T
        elif hasattr(whole, "double"):
            out = whole.new_full((*shape, 2), 7)[..., 0]
        else:
            out = np.full(shape, 7, whole.dtype)
        formula(**case.arrays, out=out)
        return out

    yield alike("out=", other_memory)
    yield alike(
        "pickled", lambda: pickle.loads(pickle.dumps(formula))(**case.arrays)
    )
    numbers = {n: as_number(array) for n, array in case.arrays.items()}
    yield Answer("numbers of Python", lambda: formula(numbers), wanted, None)
    if "float" in dtype:
        yield accumulated(case, formula, whole)
    rank = len(case.batch)
    if not is_two_ways(case):
        given = with_batch_rank(case)
        yield Answer(
            "batch_rank=",
            lambda: formula(given, batch_rank=rank),
            wanted,
            dtype,
            whole,
        )
    if rank and dtype != "bool":
        axis = random.randrange(rank)
        yield Answer(
            f"sum_batch={axis}",
            lambda: formula(**case.arrays, sum_batch=axis),
            wanted.with_unit(case.unit).sum(axis),
        )


def as_number(array: Any) -> Any:
    """A number of Python for an array of no dimensions."""
    return array if np.ndim(array) else array.item()


def accumulated(case: FaceCase, formula: Any, whole: Any) -> Answer:
    """The result, added to what is there."""
    shape = tuple(whole.shape)
    start = 1 + np.arange(math.prod(shape)).reshape(shape) % 4.0

    def call() -> Any:
        if hasattr(whole, "double"):
            out = whole.new_tensor(start)
        else:
            out = np.array(start, whole.dtype)
        formula(**case.arrays, out=out, accumulate=True)
        return out

    wanted = case.wanted.with_unit(case.unit) + Bounded(start)
    return Answer("accumulate=True", call, wanted, dtype_of(whole))


def in_numpy(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    return kernel_answers(KernelCalls(case, random))


def as_tensors(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """Plain tensors with strides of any kind, and those that are recorded."""
    whole = tilefold.reduce(case.text, **case.arrays)
    dtype = dtype_of(whole)
    other = {n: relaid(t, random) for n, t in case.arrays.items()}
    yield Answer(
        "tensors of other strides",
        lambda: tilefold.reduce(case.text, other),
        case.wanted,
        dtype,
    )
    recorded = {
        name: tensor.detach().requires_grad_(tensor.is_floating_point())
        for name, tensor in other.items()
    }
    yield Answer(
        "tensors that require grad",
        lambda: tilefold.reduce(case.text, recorded).detach(),
        case.wanted,
        dtype,
    )
    if random.randrange(4) == 0:
        yield Answer(
            "torch.compile",
            lambda: compiled_by_torch(case.text, other),
            case.wanted,
            dtype,
        )


def compiled_by_torch(text: str, tensors: dict[str, Any]) -> Any:
    import torch

    torch._dynamo.reset()

    def call(given: dict[str, Any]) -> Any:
        return tilefold.reduce(text, **given)

    return torch.compile(call, fullgraph=True, backend="eager")(tensors)


# ---- data in parts ----------------------------------------------------------


def in_parts(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """The bits of one call where parts are whole segments."""
    text, arrays, axes = apart(case)
    segment = random.choice([3, 8, 16, 64])
    ranges = case.ranges
    options = tilefold.Options(segment=segment)
    settings = {"options": options} | ({"ranges": ranges} if ranges else {})
    whole = tilefold.reduce(text, arrays, **settings)
    wanted, dtype = case.wanted, dtype_of(whole)
    yield Answer("segment=", lambda: whole, wanted, dtype)
    reduction = tilefold.Reduction(text, segment=segment, ranges=ranges)
    # With ranges, rows that are folded are folded in another order.
    same = whole if ranges is None else None
    yield Answer("Reduction()", lambda: reduction(arrays), wanted, dtype, same)
    for step in (segment, 1):
        cuts = {
            axis: random_cuts(random, case.points[axis], step)
            for axis in (I, J)
            if axis in axes.values()
        }
        take = by_passes if not case.batch else by_states
        yield Answer(
            f"parts of {segment} at {cuts}",
            lambda take=take, cuts=cuts: take(
                reduction, case, arrays, axes, cuts, random
            ),
            wanted,
            dtype,
            same if step > 1 else None,
        )


def parts_of(
    case: FaceCase,
    arrays: Mapping[str, Any],
    axes: Mapping[str, str],
    cuts: Mapping[str, list[int]],
) -> Iterator[tuple[dict[str, Any], dict[str, tuple[int, int]]]]:
    """Arrays of a part of each axis, and their places, for all parts."""
    every = [[(axis, a, b) for a, b in pairwise(cuts[axis])] for axis in cuts]
    blocks: list[list[tuple[str, int, int]]] = [[]]
    for parts in every:
        blocks = [[*block, part] for block in blocks for part in parts]
    for block in blocks:
        given = dict(arrays)
        places = {}
        for axis, first, last in block:
            places[axis] = (first, cuts[axis][-1])
            for name in arrays:
                if axes[name] == axis:
                    given[name] = sliced(case, name, arrays[name], first, last)
        yield given, places


def by_passes(
    reduction: tilefold.Reduction,
    case: FaceCase,
    arrays: dict[str, Any],
    axes: dict[str, str],
    cuts: dict[str, list[int]],
    random: random.Random,
) -> Any:
    """Pass by pass, of parts of both axes in any order, through bytes."""
    passes, left = reduction.passes(arrays), dict(arrays)
    for step in passes:
        states = [
            step.partial({**left, **given}, **places)
            for given, places in parts_of(case, arrays, axes, cuts)
        ]
        random.shuffle(states)
        states = [tilefold.State.from_bytes(s.to_bytes()) for s in states]
        left |= step.finalise(step.merge(*states), left)
    return passes.result(left)


def by_states(
    reduction: tilefold.Reduction,
    case: FaceCase,
    arrays: dict[str, Any],
    axes: dict[str, str],
    cuts: dict[str, list[int]],
    random: random.Random,
) -> Any:
    """Of one pass, into a state: parts of the axis that is reduced."""
    kind = reduction.identity(arrays).kind
    cuts = {
        axis: cuts[axis] if axis == kind.reduced else [0, case.points[axis]]
        for axis in cuts
    }
    parts = list(parts_of(case, arrays, axes, cuts))
    random.shuffle(parts)
    state = None
    for given, places in parts:
        state = reduction.partial(given, **places, into=state)
    kept = {n: a for n, a in arrays.items() if axes[n] != kind.reduced}
    return reduction.finalise(state, kept)


# ---- Dask -------------------------------------------------------------------


def chunked(
    case: FaceCase, random: random.Random, axes: Mapping[str, str]
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What makes Dask's arrays, of odd chunks, of those on an axis."""
    import dask.array as da

    chunks = {}
    for axis in (I, J):
        cuts = random_cuts(random, case.points[axis], 1)
        chunks[axis] = tuple(b - a for a, b in pairwise(cuts))

    def given(arrays: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name, array in arrays.items():
            axis = axes.get(name, "")[:1]
            if not axis:
                found[name] = array
                continue
            place = array.ndim - 1 - case.ranks[name.removeprefix("q")]
            shape = [
                chunks[axis] if at == place else (size,)
                for at, size in enumerate(array.shape)
            ]
            found[name] = da.from_array(array, chunks=tuple(shape))
        return found

    return given


def in_dask(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    import tilefold.dask

    text, arrays, axes = apart(case)
    segment = random.choice([3, 16, 64])
    settings = {"segment": segment}
    if case.ranges is not None:
        settings["ranges"] = case.ranges
    if case.batch:
        settings["batch_rank"] = len(case.batch)
        arrays = with_batch_rank(case)
        for name in axes.keys() - arrays.keys():
            arrays[name] = arrays[name.removeprefix("q")]
    options = tilefold.Options(segment=segment)
    own = {k: v for k, v in settings.items() if k != "segment"}
    whole = tilefold.reduce(text, arrays, options=options, **own)
    lazy = chunked(case, random, axes)(arrays)
    made: list[Any] = []

    def computed() -> Any:
        result = tilefold.dask.reduce(text, lazy, **settings)
        made.append(result)
        found = result.compute(scheduler="synchronous")
        told = case.describe()
        assert result.shape == np.shape(found), f"{result.shape}: {told}"
        assert result.dtype == found.dtype, f"{result.dtype}: {told}"
        return found

    yield Answer(
        f"Dask's arrays, segment={segment}, "
        f"{ {n: getattr(a, 'chunks', '') for n, a in lazy.items()} }",
        computed,
        case.wanted,
        dtype_of(whole),
        whole if case.ranges is None else None,
    )


def gradients_in_dask(
    case: FaceCase, random: random.Random
) -> Iterator[Answer]:
    text, arrays, axes = apart(case)
    renamed = FaceCase(
        text, arrays, case.wanted, points=case.points, ranks=case.ranks
    )
    return dask_gradients(renamed, random, chunked(case, random, axes))


def kernels_in_dask(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    axes = axes_of(case)
    calls = KernelCalls(
        case,
        random,
        chunked(case, random, axes),
        lambda result: (
            result.compute(scheduler="synchronous")
            if hasattr(result, "compute")
            else result
        ),
    )
    yield from calls.reductions(3)
    yield from calls.products()
    yield from calls.parts()
    yield from calls.algebra()


# ---- JAX --------------------------------------------------------------------


def to_jax(arrays: dict[str, Any]) -> dict[str, Any]:
    import jax.numpy as jnp

    return {name: jnp.asarray(array) for name, array in arrays.items()}


def in_jax(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """By the library's kernels, in a program and outside."""
    import jax

    import tilefold.jax

    whole = tilefold.reduce(
        case.text,
        **case.arrays,
        **({"ranges": case.ranges} if case.ranges else {}),
    )
    given, dtype = to_jax(case.arrays), dtype_of(whole)
    settings = {"ranges": case.ranges} if case.ranges else {}
    yield Answer(
        "JAX's arrays",
        lambda: tilefold.reduce(case.text, given, **settings),
        case.wanted,
        dtype,
    )
    if not is_two_ways(case):
        of_batch = to_jax(with_batch_rank(case))
        more = {"batch": len(case.batch), **settings}
        yield Answer(
            "jax.jit, batch=",
            lambda: jax.jit(
                lambda a: tilefold.jax.reduce(case.text, a, **more)
            )(of_batch),
            case.wanted,
            dtype,
        )
    if not any(array.dtype == float for array in case.arrays.values()):
        tiled = random.randrange(4) == 0 and not settings
        settings |= {"backend": "tiled"} if tiled else {}

        def narrow() -> Any:
            with jax.enable_x64(False):
                return tilefold.jax.reduce(
                    case.text, to_jax(case.arrays), **settings
                )

        yield Answer(f"in 32 bits, {settings}", narrow, in_32_bits(case))


def in_32_bits(case: FaceCase) -> Bounded:
    """What is wanted but the ends of int64, which are others there."""
    wanted = case.wanted.with_unit(case.unit)
    if case.kind in ("integer", "index"):
        ends = np.abs(wanted.value) >= 2.0**31
        wanted.error = np.where(ends, np.inf, wanted.error)
    return wanted


def in_tiles(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """In tiles that no axis is a multiple of, and as it chooses them."""
    import tilefold.jax
    from tilefold.jax import tiled_sweep

    whole = tilefold.reduce(case.text, **case.arrays)
    given = to_jax(case.arrays)
    tile = random.choice([tiled_sweep.TILE, (4, 8), (3, 5)])

    def call() -> Any:
        before, tiled_sweep.TILE = tiled_sweep.TILE, tile
        try:
            return tilefold.jax.reduce(case.text, given, backend="tiled")
        finally:
            tiled_sweep.TILE = before

    yield Answer(f"tiles of {tile}", call, case.wanted, dtype_of(whole))


def kernels_in_jax(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    calls = KernelCalls(case, random, to_jax)
    yield from calls.reductions(2)
    yield from calls.products()
    yield from calls.elements(1)


# ---- chosen pairs -----------------------------------------------------------


def chosen(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """A call with ranges, by one thread and by two."""
    whole = tilefold.reduce(case.text, **case.arrays, ranges=case.ranges)
    dtype = dtype_of(whole)
    plain = tilefold.reduce(case.text, **case.arrays)
    assert dtype_of(plain) == dtype, (
        f"{dtype} with ranges, {dtype_of(plain)} without: {case.describe()}"
    )
    for threads in (1, 2):
        options = tilefold.Options(threads=threads)
        yield Answer(
            f"ranges, threads={threads}",
            lambda options=options: tilefold.reduce(
                case.text, **case.arrays, ranges=case.ranges, options=options
            ),
            case.wanted,
            dtype,
            whole,
        )
    yield from random.choice([in_parts, in_dask])(case, random)


def special_values(case: FaceCase, random: random.Random) -> Iterator[Answer]:
    """All ways that promise the bits of one call."""
    return random.choice([other_calls, in_parts, in_dask])(case, random)


# ---- all of them ------------------------------------------------------------


@dataclass(frozen=True)
class Face:
    """Its cases, its answers, and which share of an ordinary run it has."""

    cases: type[AnySizes]
    answers: Answers
    smooth: bool = False
    library: str = ""  # one that it needs, or several
    count: int = 1
    least: float = 0.9  # the share of calls that it answers


FACES = {
    "calls": Face(AnySizes, other_calls, count=25, least=0.95),
    "kernels": Face(KernelCases, in_numpy, count=4),
    "special values": Face(
        Spoilt, special_values, library="dask", count=10, least=0.8
    ),
    "parts": Face(ReducedCases, in_parts, count=15, least=0.8),
    "tensors": Face(TensorCases, as_tensors, library="torch", count=6),
    "torch gradients": Face(
        ArrayCases, torch_gradients, smooth=True, library="torch", count=3
    ),
    "torch gradients of kernels": Face(
        SingleKernelCases,
        torch_gradients,
        smooth=True,
        library="torch",
        count=2,
    ),
    "Dask": Face(ArrayCases, in_dask, library="dask", count=10),
    "gradients in Dask": Face(
        SingleCases, gradients_in_dask, smooth=True, library="dask", count=4
    ),
    "kernels in Dask": Face(
        SingleKernelCases, kernels_in_dask, library="dask", count=2
    ),
    "JAX": Face(ArrayCases, in_jax, library="jax", count=4),
    "JAX in tiles": Face(
        ArrayCases, in_tiles, library="jax", count=3, least=0.7
    ),
    "kernels in JAX": Face(
        ArrayKernelCases, kernels_in_jax, library="jax", count=1
    ),
    "gradients in JAX": Face(
        ArrayCases,
        jax_gradients,
        smooth=True,
        library="jax",
        count=1,
        least=0.7,
    ),
    "gradients of kernels in JAX": Face(
        SingleKernelCases, jax_gradients, smooth=True, library="jax", count=1
    ),
    "ranges": Face(Chosen, chosen, library="dask", count=8),
    "gradients with ranges": Face(
        Chosen, chosen_gradients, smooth=True, library="torch jax", count=4
    ),
    "kernels with ranges": Face(ChosenKernelCases, in_numpy, count=3),
    "ranges in JAX": Face(Chosen, in_jax, library="jax", count=2),
}
