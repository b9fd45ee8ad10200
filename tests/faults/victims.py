# tests/faults/victims.py - what is done while faults happen, and what is right.
"""`prepare(name, folder)` gives the `Work` of a victim.

It is prepared in a process that forks a child for each fault, so that what
the parent has done already (compiled, loaded LLVM, filled a cache) tells which
part of the library a fault meets.
"""

from __future__ import annotations

import ctypes
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tilefold

_random = np.random.default_rng(3)
X = _random.random((1500, 3))
B = _random.random(1500)
GAUSSIAN = "sum_j exp(-|x_i - x_j|²) b_j"
THREADS = 4

# nanobind's table of its instances grows where nothing may be thrown, so that a
# failure in that moment ends the process. Here it never grows again.
_table = [tilefold.Options() for _ in range(1000)]
del _table


class Work:
    """A call and its right result, and what is around it."""

    folder = Path()
    place = ""  # in the folder; each process has one of its own where empty

    def __init__(
        self,
        call: Callable[[], Any],
        right: Any,
        *,
        begin: Callable[[], Any] = lambda: None,
        again: Callable[[], Any] = lambda: None,
        light: Callable[[], Work] | None = None,
    ) -> None:
        self._call = call
        self._right = right
        self.begin = begin  # in each child, before the fault
        self.again = again  # after it
        self.light = light or (lambda: self)  # shorter, in the same session

    def __call__(self) -> Any:
        return self._call()

    def is_right(self, result: Any) -> bool:
        """Compared with NumPy's; or asked of a function."""
        if callable(self._right):
            return bool(self._right(result))
        return np.allclose(result, self._right, rtol=1e-9, atol=1e-12)

    def elsewhere(self) -> None:
        """Of other threads: the same, and compiles."""
        self()
        small = fresh_session().reduce("sum_j x_j", x=B[:9])
        assert np.isclose(small, B[:9].sum())

    def give_cache_to(self, user: int) -> None:
        """The folder, and what it is in."""
        self.folder.mkdir(exist_ok=True)
        for one in (self.folder, *self.folder.iterdir()):
            os.chown(one, user, user)


def mount_small_disk(folder: Path, size: int) -> None:
    """For this process; its superuser may."""
    folder.mkdir(exist_ok=True)
    library = ctypes.CDLL(None, use_errno=True)
    new_namespace, private = 0x20000, 0x44000
    for failed in (
        library.unshare(new_namespace),
        library.mount(b"none", b"/", None, private, None),
        library.mount(
            b"tmpfs", bytes(folder), b"tmpfs", 0, f"size={size}".encode()
        ),
    ):
        if failed:
            raise OSError(ctypes.get_errno(), "no disk")


class fresh_session:  # noqa: N801 - a session and its formulas
    """One that knows no kernel; nothing is on disk but in `folder`."""

    def __init__(self, folder: str = "") -> None:
        self.session = tilefold.Session(
            tilefold.Options(threads=THREADS, cache_directory=folder)
        )

    def compile(self, text: str) -> tilefold.Formula:
        return tilefold.compile(text, session=self.session)

    def reduce(self, text: str, **arguments: Any) -> Any:
        return self.compile(text)(**arguments)


def gaussian(x: np.ndarray = X) -> np.ndarray:
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    return np.exp(-squares)


VICTIMS: dict[str, Callable[[Path], Work]] = {}


def victim(make: Callable[[Path], Work]) -> Callable[[Path], Work]:
    VICTIMS[make.__name__.replace("_", " ")] = make
    return make


def prepare(name: str, folder: str) -> Work:
    work = VICTIMS[name](Path(folder) / "cache")
    work.folder = Path(folder) / "cache"
    return work


# ---- runs -------------------------------------------------------------------


def warm(call: Callable[[], Any], right: Any, **options: Any) -> Work:
    """The kernel is there, and so are its threads."""
    call()
    return Work(call, right, **{"begin": call} | options)


@victim
def run(_: Path) -> Work:
    f = fresh_session().compile(GAUSSIAN)
    return warm(lambda: f(x=X, b=B), gaussian() @ B)


@victim
def run_that_starts_threads(_: Path) -> Work:
    f = fresh_session().compile(GAUSSIAN)
    return warm(lambda: f(x=X, b=B), gaussian() @ B, begin=lambda: None)


@victim
def bind(_: Path) -> Work:
    f = fresh_session().compile(GAUSSIAN)
    return warm(lambda: f.bind(x=X[:90], b=B[:90])(), gaussian(X[:90]) @ B[:90])


@victim
def sweeps(_: Path) -> Work:
    f = fresh_session().compile(GAUSSIAN).grad("x")
    kernel = gaussian() * (B[:, None] + B)
    right = 2 * (kernel @ X - kernel.sum(1)[:, None] * X)
    return warm(lambda: f(x=X, b=B, grad=1.0), right)


@victim
def nested_reductions(_: Path) -> Work:
    f = fresh_session().compile("max_i sum_j exp(-|x_i - x_j|²)")
    return warm(lambda: f(x=X), gaussian().sum(1).max())


@victim
def smallest(_: Path) -> Work:
    f = fresh_session().compile("kmin_j(|x_i - x_j|², 5)")
    squares = ((X[:, None] - X[None]) ** 2).sum(-1)
    return warm(lambda: f(x=X), np.sort(squares, 1)[:, :5])


@victim
def batches(_: Path) -> Work:
    f = fresh_session().compile("sum_j exp(-|x_i - x_j|²)")
    x = X.reshape(15, 100, 3)
    right = sum(gaussian(part).sum(1) for part in x)
    return warm(lambda: f(x=x, sum_batch=0), right)


@victim
def neighbors(_: Path) -> Work:
    kernel = tilefold.kernel(
        "|x_i - x_j|", x=X, session=fresh_session().session
    )
    near = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1)) <= 0.1
    return warm(lambda: kernel.radius_neighbors(0.1).indices, near.nonzero()[1])


@victim
def solve(_: Path) -> Work:
    kernel = tilefold.kernel(
        "exp(-|x_i - x_j|²)", x=X[:200], session=fresh_session().session
    )
    dense = gaussian(X[:200]) + np.eye(200)

    def is_right(result: np.ndarray) -> bool:
        return np.abs(dense @ result - B[:200]).max() < 1e-4

    return warm(lambda: kernel.solve(B[:200], ridge=1.0), is_right)


@victim
def check(_: Path) -> Work:
    f = fresh_session().compile(GAUSSIAN)
    return warm(
        lambda: f.check(x=X[:300], b=B[:300], rows=50),
        lambda error: 0 <= error < 1e-12,
    )


# ---- compiles ---------------------------------------------------------------

SMALL = {"x": X[:60], "b": B[:60]}


@victim
def compile(_: Path) -> Work:  # noqa: A001 - the name of the victim
    """By an LLVM that is loaded, in a session of its own each time."""
    return warm(
        lambda: fresh_session().reduce(GAUSSIAN, **SMALL),
        gaussian(X[:60]) @ B[:60],
        begin=lambda: None,
    )


@victim
def first_compile(_: Path) -> Work:
    """Which loads LLVM."""
    return Work(
        lambda: fresh_session().reduce(GAUSSIAN, **SMALL),
        gaussian(X[:60]) @ B[:60],
    )


@victim
def refusals(_: Path) -> Work:
    """Of formulas and arrays: errors that are made."""
    session = fresh_session()
    texts = ["sum_j exp(-1/2 |x_i - y_j|²)", "sum_j expp(x_j)", "sum_j (x_j",
             "sum_j x_j·b_j"]  # fmt: skip

    def call() -> list[str]:
        codes = []
        for text in texts:
            try:
                session.reduce(text, x=X, b=B)
            except tilefold.OutOfMemory:
                raise
            except tilefold.Error as error:
                codes.append(str(error))
        return codes

    codes = call()
    assert len(codes) == len(texts)
    return Work(call, lambda found: found == codes)


# ---- the cache --------------------------------------------------------------


@victim
def store(folder: Path) -> Work:
    """A kernel compiled, written and, the next time, read."""
    fresh_session().reduce("sum_j x_j", x=B)  # loads LLVM
    number = itertools.count()

    def call() -> Any:
        kind = ["exp", "cos", "sin", "tanh"][next(number) % 4]
        text = f"sum_j {kind}(-|x_i - x_j|²) b_j"
        here = str(folder / (work.place or str(os.getpid())))
        first = fresh_session(here).reduce(text, **SMALL)
        again = fresh_session(here).reduce(text, **SMALL)
        return kind, first, again

    def is_right(result: Any) -> bool:
        kind, *both = result
        squares = -np.log(gaussian(X[:60]))
        right = getattr(np, kind)(-squares) @ B[:60]
        return all(np.allclose(one, right, rtol=1e-9) for one in both)

    work = Work(call, is_right)
    return work


@victim
def load(folder: Path) -> Work:
    """A kernel that is in the cache."""

    def call() -> Any:
        session = fresh_session(str(folder))
        return session.reduce(GAUSSIAN, **SMALL)

    return warm(call, gaussian(X[:60]) @ B[:60], begin=lambda: None)


# ---- what takes long --------------------------------------------------------


def soft_dtw(a: np.ndarray, b: np.ndarray, gamma: float) -> float:
    table = np.full((len(a) + 1, len(b) + 1), np.inf)
    table[0, 0] = 0
    for i, p in enumerate(a):
        for j, q in enumerate(b):
            before = np.array([table[i, j], table[i, j + 1], table[i + 1, j]])
            least = before.min()
            smooth = least - gamma * np.log(
                np.exp(-(before - least) / gamma).sum()
            )
            table[i + 1, j + 1] = (p - q) ** 2 + smooth
    return table[-1, -1]


def lasting(call, right, session) -> Work:
    small = X[:50]

    def light() -> Work:
        return Work(
            lambda: session.reduce("sum_j exp(-|x_i - x_j|²)", x=small),
            gaussian(small).sum(1),
        )

    return Work(call, right, light=light)


@victim
def long_compile(_: Path) -> Work:
    session = fresh_session()
    x = X[:20, :1] * np.linspace(0, 1, 14)

    def call() -> Any:
        mine = fresh_session()
        return mine.reduce("sum_j softdtw(x_i, x_j, 0.5)", x=x)

    right = [sum(soft_dtw(a, b, 0.5) for b in x) for a in x]
    return lasting(call, np.array(right), session)


def sums_of(many: np.ndarray) -> Callable[[np.ndarray], bool]:
    """Whether a few rows of a Gaussian sum are right."""
    rows = np.arange(0, len(many), len(many) // 20)
    wide = many.astype("f8")
    wanted = np.array(
        [np.exp(-((wide[row] - wide) ** 2).sum(1)).sum() for row in rows]
    )
    return lambda result: np.allclose(result[rows], wanted, rtol=1e-5)


def many_points(count: int) -> np.ndarray:
    return np.random.default_rng(5).random((count, 3), np.float32)


@victim
def long_run(_: Path) -> Work:
    session, x = fresh_session(), many_points(80_000)
    f = session.compile("sum_j exp(-|x_i - x_j|²)")
    f(x=x[:100])
    return lasting(lambda: f(x=x), sums_of(x), session)


@victim
def long_check(_: Path) -> Work:
    session = fresh_session()
    f = session.compile(GAUSSIAN)
    f(x=X, b=B)
    return lasting(
        lambda: f.check(x=X, b=B, rows=700),
        lambda error: 0 <= error < 1e-12,
        session,
    )


@victim
def long_search(_: Path) -> Work:
    session, x = fresh_session(), many_points(40_000)
    kernel = tilefold.kernel("|x_i - x_j|", x=x, session=session.session)
    kernel[:9, :9].radius_neighbors(0.01)

    def is_right(found: Any) -> bool:
        few = np.arange(0, len(x), 4000)
        return all(
            np.array_equal(
                found.indices[found.indptr[row] : found.indptr[row + 1]],
                near[row],
            )
            for row in few
        )

    near = {
        row: (np.sqrt(((x[row] - x) ** 2).sum(1)) <= 0.01).nonzero()[0]
        for row in range(0, len(x), 4000)
    }
    return lasting(lambda: kernel.radius_neighbors(0.01), is_right, session)


@victim
def long_solve(_: Path) -> Work:
    session, x = fresh_session(), many_points(6000).astype("f8")
    kernel = tilefold.kernel("exp(-|x_i - x_j|²)", x=x, session=session.session)
    b = np.sin(x[:, 0])
    kernel[:9, :9].solve(b[:9], ridge=1)

    def is_right(found: np.ndarray) -> bool:
        return np.abs(kernel @ found + 0.1 * found - b).max() < 1e-3

    return lasting(lambda: kernel.solve(b, ridge=0.1), is_right, session)


@victim
def long_look_through_indices(_: Path) -> Work:
    session = fresh_session()
    f = session.compile("sum_j A[c_j]")
    codes = np.ones(60_000_000, "f2")
    table = np.array([1.0, 2.0, 3.0])
    f(A=table, c=codes[:9])
    return lasting(lambda: f(A=table, c=codes), 2.0 * len(codes), session)


@victim
def everything_short(_: Path) -> Work:
    """Runs of threads, compiles, refusals, the cache: of each a little."""
    session = fresh_session()
    f = session.compile(GAUSSIAN)
    f(x=X, b=B)

    def call() -> Any:
        first = f(x=X, b=B)
        second = fresh_session().reduce(GAUSSIAN, **SMALL)
        return np.concatenate([first, second])

    right = np.concatenate([gaussian() @ B, gaussian(X[:60]) @ B[:60]])
    return lasting(call, right, session)
