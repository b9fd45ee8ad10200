# docs/generate/commands.py - what the command line says of itself.
"""The help of every command, as `tilefold COMMAND --help` prints it."""

from __future__ import annotations

import os

from generate.markdown import block, code
from tilefold import cli


def page() -> str:
    """A section for each command; `bench` has options of its own."""
    os.environ["COLUMNS"] = "80"
    _, commands = cli._parser()
    return "\n\n".join(
        f"## {code('tilefold ' + name)}\n\n"
        + block(command.format_help().rstrip())
        for name, command in commands.items()
    )
