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
    """Tells how many threads a call takes where nothing else is said.

    Returns
    -------
    int
        Those of a session without ``Options(threads=...)``, within the limit.

    See Also
    --------
    set_num_threads

    Examples
    --------
    >>> tilefold.threads.get_num_threads() >= 1
    True
    """
    return _core._get_num_threads()


def set_num_threads(threads: int) -> None:
    """Limits how many threads calls of any session take.

    Results do not depend on it. No session takes more than it was made with.

    Parameters
    ----------
    threads : int
        The most, 1 for less. A number that is not below what
        ``get_num_threads`` gives without a limit lifts it.

    See Also
    --------
    get_num_threads
    tilefold.Options : ``threads``, of one session.

    Examples
    --------
    >>> before = tilefold.threads.get_num_threads()
    >>> tilefold.threads.set_num_threads(1)
    >>> tilefold.threads.get_num_threads()
    1
    >>> tilefold.threads.set_num_threads(before)
    """
    _core._set_num_threads(threads)


def register_if_loaded() -> None:
    """Tells threadpoolctl of tilefold's threads where it is imported already.

    What ``tilefold.kernel`` and ``tilefold.compile`` call; it costs nothing the
    second time.

    See Also
    --------
    register : the same where threadpoolctl is not imported yet.

    Examples
    --------
    >>> tilefold.threads.register_if_loaded()
    """
    if not _REGISTERED and "threadpoolctl" in sys.modules:
        register()


def register() -> None:
    """Tells threadpoolctl of tilefold's threads, as the user_api "tilefold".

    For processes that import threadpoolctl after tilefold. Does nothing the
    second time.

    Raises
    ------
    ImportError
        Without threadpoolctl.

    See Also
    --------
    set_num_threads : the limit that threadpoolctl sets.

    Examples
    --------
    >>> import threadpoolctl
    >>> tilefold.threads.register()
    >>> with threadpoolctl.threadpool_limits(limits=1, user_api="tilefold"):
    ...     tilefold.threads.get_num_threads()
    1
    """
    if _REGISTERED:
        return
    try:
        import threadpoolctl
    except ImportError as error:
        message = "threadpoolctl is missing: pip install threadpoolctl"
        raise ImportError(message) from error

    class Controller(threadpoolctl.LibController):
        """The threads of the compiled module, or of libtilefold."""

        user_api = "tilefold"
        internal_api = "tilefold"
        filename_prefixes = ("_core", "libtilefold.")
        check_symbols = ("tilefold_get_num_threads", "tilefold_set_num_threads")

        def get_num_threads(self) -> int:
            return int(self.dynlib.tilefold_get_num_threads())

        def set_num_threads(self, num_threads: int) -> None:
            self.dynlib.tilefold_set_num_threads(num_threads)

        def get_version(self) -> str:
            return str(_core.version)

    threadpoolctl.register(Controller)
    _REGISTERED.append(Controller)
