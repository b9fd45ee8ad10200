# python_bindings/tilefold/__main__.py - python -m tilefold.
"""The command line as a module."""

from __future__ import annotations

import sys

from tilefold.cli import main

sys.exit(main())
