# tests/tools/compile_commands.py - what a build compiles, source by source.
"""The sources of a unity build, each with the command of its unit.

    python tests/tools/compile_commands.py BUILD_FOLDER TARGET_FOLDER

writes TARGET_FOLDER/compile_commands.json for tools that read one source at a
time.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path


def sources_of(entry: dict[str, str]) -> list[str]:
    """The sources that one command compiles: those that a unit includes."""
    file = Path(entry["file"])
    if file.parent.name != "Unity":
        return [entry["file"]]
    return re.findall(r'^#include "(.+)"$', file.read_text(), re.MULTILINE)


def taken_apart(entries: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same commands, one for each source."""
    apart = []
    for entry in entries:
        for source in sources_of(entry):
            words = shlex.split(entry["command"])
            words[words.index("-c") + 1] = source
            command = shlex.join(words)
            apart.append(entry | {"file": source, "command": command})
    return apart


def main() -> None:
    build, target = map(Path, sys.argv[1:])
    entries = json.loads((build / "compile_commands.json").read_text())
    target.mkdir(parents=True, exist_ok=True)
    (target / "compile_commands.json").write_text(
        json.dumps(taken_apart(entries), indent=1)
    )


if __name__ == "__main__":
    main()
