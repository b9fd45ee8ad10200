# python_bindings/tilefold/threads.py - how many threads calls take, for whoever
# shares the cores.
"""Threads of the process's calls, and threadpoolctl's view of them.

A session has the threads of `Options(threads=)` or TILEFOLD_NUM_THREADS, else
OMP_NUM_THREADS, which joblib and Dask set for their workers, but no more than
the cores that the process may use. Here all sessions get a limit:

    with threadpoolctl.threadpool_limits(limits=1, user_api="tilefold"):
        ...

Results do not depend on it. threadpoolctl knows tilefold where it was imported
before `tilefold.kernel` or `tilefold.compile` were called, or after
`tilefold.threads.register()`.
"""

from __future__ import annotations

import sys
from typing import Any

from tilefold import _core

__all__ = [
    "get_num_threads",
    "register",
    "register_if_loaded",
    "set_num_threads",
]

_REGISTERED: list[Any] = []


def get_num_threads() -> int:
    """The threads of a call in a session that says nothing of them."""
    return _core._get_num_threads()


def set_num_threads(threads: int) -> None:
    """Lets a call of any session take at most `threads`, 1 for less.

    A number that is not below what `get_num_threads` gives without a limit
    lifts it: it makes no session take more than it was made with.
    """
    _core._set_num_threads(threads)


def register_if_loaded() -> None:
    """Registers with threadpoolctl where that is imported already."""
    if not _REGISTERED and "threadpoolctl" in sys.modules:
        register()


def register() -> None:
    """Tells threadpoolctl of tilefold's threads, as user_api "tilefold".

    Does nothing the second time. Raises `ImportError` without threadpoolctl.
    """
    if _REGISTERED:
        return
    try:
        import threadpoolctl
    except ImportError as error:
        message = "threadpoolctl is missing: pip install threadpoolctl"
        raise ImportError(message) from error

    class Controller(threadpoolctl.LibController):
        """The threads of libtilefold."""

        user_api = "tilefold"
        internal_api = "tilefold"
        filename_prefixes = ("libtilefold.so",)
        check_symbols = ("tilefold_get_num_threads", "tilefold_set_num_threads")

        def get_num_threads(self) -> int:
            return int(self.dynlib.tilefold_get_num_threads())

        def set_num_threads(self, num_threads: int) -> None:
            self.dynlib.tilefold_set_num_threads(num_threads)

        def get_version(self) -> str:
            return str(_core.version)

    threadpoolctl.register(Controller)
    _REGISTERED.append(Controller)
