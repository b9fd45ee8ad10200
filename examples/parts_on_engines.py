# examples/parts_on_engines.py - one reduction on several engines: processes,
# Ray, MPI, Spark.
"""A kernel density of many points, on whatever holds their parts.

Each engine computes states where the parts are, and merges them in the order
in which they come. All give the bits of one call in memory.

Usage: python examples/parts_on_engines.py [processes] [ray] [mpi] [spark]
       mpirun -n 4 python examples/parts_on_engines.py mpi
"""

from __future__ import annotations

import importlib.util
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import pairwise
from multiprocessing import get_context
from typing import Any

import numpy as np

import tilefold

DENSITY = tilefold.Reduction("logsumexp_j(-|x_i - y_j|²/2h²)", segment=4096)
WIDTH = 0.3

Part = tuple[int, int, np.ndarray]  # the first point, all points, the points


def partial(x: np.ndarray, part: Part) -> bytes:
    """The state of a part, as bytes, which every engine carries."""
    first, total, y = part
    state = DENSITY.partial(x=x, y=y, h=WIDTH, j=(first, total))
    return state.to_bytes()


def merged(*states: bytes) -> bytes:
    """Several states as one; commutative, and a state twice counts once."""
    given = [tilefold.State.from_bytes(state) for state in states]
    return DENSITY.merge(*given).to_bytes()


def finished(x: np.ndarray, state: bytes) -> Any:
    """The density at the points x, of the state of all parts."""
    whole = tilefold.State.from_bytes(state)
    return DENSITY.finalise(whole, x=x, h=WIDTH)


def on_processes(x: np.ndarray, parts: list[Part]) -> Any:
    """concurrent.futures: states are merged as they come."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        tasks = [pool.submit(partial, x, part) for part in parts]
        states = [task.result() for task in as_completed(tasks)]
    return finished(x, merged(*states))


def on_ray(x: np.ndarray, parts: list[Part]) -> Any:
    """Ray: an aggregation of a data set whose blocks are parts."""
    import ray
    from ray.data.aggregate import AggregateFnV2

    class Density(AggregateFnV2):
        def __init__(self) -> None:
            super().__init__(
                "density", lambda: b"", on=None, ignore_nulls=False
            )

        def aggregate_block(self, block: Any) -> bytes:
            rows = block.to_pylist() if hasattr(block, "to_pylist") else block
            states = [partial(x, parts[row["part"]]) for row in rows]
            return merged(*states) if states else b""

        def combine(self, state: bytes, other: bytes) -> bytes:
            given = [each for each in (state, other) if each]
            return merged(*given) if given else b""

    numbers = [{"part": k} for k in range(len(parts))]
    data = ray.data.from_items(numbers, override_num_blocks=len(parts))
    return finished(x, data.aggregate(Density())["density"])


def on_mpi(x: np.ndarray, parts: list[Part]) -> Any:
    """MPI: ranks take parts in turn; the result is on rank 0, else None."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    own = [partial(x, part) for part in parts[world.rank :: world.size]]
    none = DENSITY.identity(x=x, y=parts[0][2], h=WIDTH, j=parts[0][:2])
    state = merged(none.to_bytes(), *own)
    whole = world.reduce(state, op=merged, root=0)
    return finished(x, whole) if whole else None


def on_spark(x: np.ndarray, parts: list[Part]) -> Any:
    """Spark: partitions are parts; its workers must find this module."""
    from pyspark import SparkContext

    context = SparkContext.getOrCreate()
    numbers = context.parallelize(range(len(parts)), len(parts))
    states = numbers.map(lambda k: partial(x, parts[k]))
    return finished(x, states.treeReduce(merged))


def problem(points: int = 40_000, rows: int = 200) -> tuple[Any, list[Part]]:
    """Points on a ring, in parts of uneven lengths; where they are asked."""
    random = np.random.default_rng(4)
    angle = random.uniform(0, 2 * np.pi, points)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ring += 0.1 * random.standard_normal(ring.shape)
    cuts = [0, 4096, 3 * 4096, 4 * 4096, points]
    parts = [(p, points, ring[p:q]) for p, q in pairwise(cuts)]
    return random.uniform(-1.5, 1.5, (rows, 2)), parts


ENGINES = {
    "processes": on_processes,
    "ray": on_ray,
    "mpi": on_mpi,
    "spark": on_spark,
}
NEEDS = {"ray": "ray", "mpi": "mpi4py", "spark": "pyspark"}


def main() -> None:
    """Runs the engines that are named."""
    x, parts = problem()
    want = DENSITY(x=x, y=np.concatenate([y for _, _, y in parts]), h=WIDTH)
    named = [name for name in sys.argv[1:] if name in ENGINES]
    for name in named or ["processes"]:
        need = NEEDS.get(name)
        if need and importlib.util.find_spec(need) is None:
            print(f"{name:10} needs {need}")
            continue
        result = ENGINES[name](x, parts)
        if result is not None:
            same = bool(np.array_equal(result, want))
            print(f"{name:10} {len(parts)} parts, same bits: {same}")
    print(f"log density at the first point: {want[0]:.4f}")


if __name__ == "__main__":
    main()
