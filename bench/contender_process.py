# bench/contender_process.py - the harness's end of a contender's process.
"""Starts a worker, sends it requests and waits, but not for ever."""

from __future__ import annotations

import multiprocessing
from typing import Any

from bench import worker


class Stopped(Exception):  # noqa: N818
    """A contender gave up; its status, and why."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status  # absent, wrong, failed
        self.reason = reason


class ContenderProcess:
    """A contender in a process of its own; a context manager."""

    def __init__(
        self, case: str, module: str, quick: bool, timeout: float
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._timeout = timeout
        self._process = context.Process(
            target=worker.serve,
            args=(theirs, case, module, quick),
            daemon=False,  # it may have children
        )
        self._process.start()
        theirs.close()

    def ask(self, verb: str, *arguments: Any) -> Any:
        """The worker's answer. Raises Stopped."""
        try:
            self._connection.send((verb, *arguments))
            if not self._connection.poll(self._timeout):
                self.close(kill=True)
                raise Stopped("failed", f"no answer in {self._timeout:.0f} s")
            status, answer = self._connection.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            raise Stopped("failed", f"exit code {code}") from None
        if status != "done":
            raise Stopped(status, answer)
        return answer

    def close(self, kill: bool = False) -> None:
        """Ends the process."""
        if kill:
            self._process.kill()
        elif self._process.is_alive():
            self._connection.send(None)
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._connection.close()
