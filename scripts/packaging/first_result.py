#!/usr/bin/env python3
# scripts/packaging/first_result.py - what a wheel computes on a machine where
# it has not been: an error ends it.
"""`first_result.py`: sums, bits by number of threads, a gradient."""

from __future__ import annotations

import platform

import numpy as np

import tilefold

TEXT = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
THREADS = (1, 2, 3, 8)


def results(dtype: str) -> tuple[float, float]:
    """The largest relative errors of a sum and of its gradient by l."""
    random = np.random.default_rng(1)
    x, y = random.random((500, 3)), random.random((3000, 3))
    b, width = random.random(3000), 0.5
    x, y, b = (array.astype(dtype) for array in (x, y, b))
    squares = ((x[:, None].astype("float64") - y) ** 2).sum(-1)
    dense = np.exp(-squares / (2 * width**2))
    sums, found = dense @ b, []
    for threads in THREADS:
        session = tilefold.Session(tilefold.Options(threads=threads))
        found.append(
            tilefold.reduce(TEXT, x=x, y=y, b=b, l=width, session=session)
        )
    for other in found[1:]:
        assert other.tobytes() == found[0].tobytes(), "bits differ by thread"
    slope = ((dense * squares / width**3) @ b).sum()
    (gradient,) = np.atleast_1d(
        tilefold.compile(TEXT).grad("l")(
            x=x, y=y, b=b, l=width, grad=np.ones(len(x), dtype)
        )
    )
    return abs(found[0] / sums - 1).max(), abs(gradient / slope - 1)


if __name__ == "__main__":
    for dtype, most in ("float32", 1e-6), ("float64", 1e-14):
        errors = results(dtype)
        print(f"{dtype}: errors of a sum and a gradient {errors}")
        assert max(errors) < most, errors
    print(
        f"{platform.machine()}, glibc {platform.libc_ver()[1]}, "
        f"tilefold {tilefold.__version__}: equal bits on {THREADS} threads"
    )
