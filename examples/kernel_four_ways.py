# examples/kernel_four_ways.py - a kernel times a vector, in four ways.
"""exp(-|x_i - y_j|²/2) b, by broadcasting, vmap, cdist and a formula.

Each way is given more and more points until what it makes of all pairs would
not fit a bound of memory, in GiB; on a CUDA device where there is one. Some
rows of each result are compared with float64.

Usage: python examples/kernel_four_ways.py [GIB]
"""

from __future__ import annotations

import sys
import threading
import timeit
from collections.abc import Callable

import torch
from torch import Tensor

import tilefold

Way = Callable[[Tensor, Tensor, Tensor], Tensor]

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = [1_000, 3_000, 10_000, 30_000]


def broadcast(x: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """All differences (N, M, 3), then the matrix."""
    return (-((x[:, None] - y) ** 2).sum(-1) / 2).exp() @ b


def mapped(x: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """A function of two points, mapped over both."""

    def kernel(u: Tensor, v: Tensor) -> Tensor:
        return (-((u - v) ** 2).sum() / 2).exp()

    rows = torch.func.vmap(kernel, (None, 0))
    return torch.func.vmap(rows, (0, None))(x, y) @ b


def built_in(x: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """The matrix of distances that PyTorch makes, changed in place."""
    return torch.cdist(x, y).square_().div_(-2).exp_() @ b


def formula(x: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """No matrix."""
    return tilefold.reduce("sum_j exp(-|x_i - y_j|²/2) b_j", x=x, y=y, b=b)


#: Each way, and how many numbers of a pair it holds at once.
WAYS: dict[str, tuple[Way, int]] = {
    "broadcasting": (broadcast, 6),
    "torch.func.vmap": (mapped, 6),
    "torch.cdist": (built_in, 1),
    "tilefold": (formula, 0),
}


def memory() -> int:
    """Bytes that this process has now; of a GPU, at the most."""
    if DEVICE == "cuda":
        return torch.cuda.max_memory_allocated()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def peak(call: Callable[[], Tensor]) -> int:
    """Bytes that a call takes at the most, as a thread beside it sees."""
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    before, seen, done = memory(), [0], threading.Event()

    def look() -> None:
        while not done.wait(5e-4):
            seen.append(memory() - before)

    thread = threading.Thread(target=look)
    thread.start()
    call()
    done.set()
    thread.join()
    return max(*seen, memory() - before)


def seconds(call: Callable[[], Tensor]) -> float:
    """The best of three calls, waited for."""
    return min(timeit.repeat(lambda: call()[0].item(), repeat=3, number=1))


def measure(way: Way, count: int) -> str:
    """Time and memory of so many points, after a check of the result."""
    torch.manual_seed(0)
    x, y = torch.rand(2, count, 3, device=DEVICE)
    b = torch.rand(count, device=DEVICE)
    exact = broadcast(x[:50].double(), y.double(), b.double())
    found = way(x, y, b)[:50]
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=0)
    bytes_more = peak(lambda: way(x, y, b))
    milliseconds = 1e3 * seconds(lambda: way(x, y, b))
    return f"{milliseconds:.1f} ms {bytes_more / 2**20:6.0f} MiB"


def main(gib: float, sizes: list[int]) -> None:
    """Prints a row for each number of points."""
    print(f"on {DEVICE}, at most {gib:g} GiB")
    print(f"{'points':>7}", *(f"{name:>20}" for name in WAYS))
    for count in sizes:
        cells = []
        for way, numbers in WAYS.values():
            fits = numbers * 4 * count**2 <= gib * 2**30
            cells.append(measure(way, count) if fits else "does not fit")
        print(f"{count:7,}", *(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2, SIZES)
