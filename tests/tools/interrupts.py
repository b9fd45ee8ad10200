# tests/tools/interrupts.py - tests of SIGINT, wherever they are started.
"""A shell that starts tests in the background lets them ignore SIGINT, and
their children do so, too."""

from __future__ import annotations

import signal


def hear() -> None:
    """SIGINT raises KeyboardInterrupt again where it is ignored."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
