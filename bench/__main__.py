# bench/__main__.py - python -m bench.
"""The benchmark as a module."""

from __future__ import annotations

import sys

from bench.command import main

if __name__ == "__main__":
    sys.exit(main())
