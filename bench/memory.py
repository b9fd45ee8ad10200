# bench/memory.py - how much memory a run needs at its peak.
"""Peak resident memory from Linux, for this process."""

from __future__ import annotations

import gc
from pathlib import Path


class PeakMemory:
    """Growth of the peak of resident memory since this was made."""

    def __init__(self) -> None:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        self._start = _status("VmRSS")

    def growth(self) -> int:
        """Bytes."""
        return max(0, _status("VmHWM") - self._start)


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {name}")
