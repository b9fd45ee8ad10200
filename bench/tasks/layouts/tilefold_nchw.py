# bench/tasks/layouts/tilefold_nchw.py - images channel by channel.
"""tilefold, NCHW read as NHWC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.layouts import channels_first, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.batches.task import BatchProblem

PACKAGES = ("tilefold",)


def prepare(problem: BatchProblem) -> Callable[[], Any]:
    """A view of what an image library gives."""
    return laid_out(problem, channels_first)
