# bench/port_bound.py - how fast the ports of this processor let a loop be.
"""Cycles of the innermost loop, by the model that LLVM has of the processor."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from typing import NamedTuple

TOOL = "llvm-mca-22"
#: LLVM's models of these have one port for sums and products of 512 bits, and
#: divisions that take no longer than a product. Their ports are in truth those
#: of the processor beside them, and so is the time of divisions and roots.
LIKE = dict.fromkeys(
    ["icelake-server", "sapphirerapids", "emeraldrapids", "graniterapids"],
    "skylake-avx512",
)
HOST = re.compile(r"Host CPU: (\S+)")
LABEL = re.compile(r"^([\w.$]+):")
JUMP = re.compile(r"^\s+j\w+\s+([\w.$]+)$")
TILE = re.compile(r"row_vectors=(\d+) columns=(\d+)")
THROUGHPUT = re.compile(r"Block RThroughput:\s+(\S+)")


class _Loop(NamedTuple):
    first: int
    last: int


def cycles_of_vector(explanation: str) -> float | None:
    """What a vector of pairs takes at least; None where it can't be told.

    That is so without llvm-mca, and where the loop calls a function.
    """
    tool = shutil.which(TOOL)
    _, found, assembly = explanation.partition("── assembly")
    tile = TILE.search(explanation)
    if not (tool and found and tile):
        return None
    body = _busiest_loop(assembly.splitlines())
    if not body or any(line.split()[0].startswith("call") for line in body):
        return None
    text = "\n".join(body)
    # What the older processor lacks, its model does not know.
    cycles = THROUGHPUT.search(
        _output([tool, "--iterations=100", *_processor(tool)], text)
    ) or THROUGHPUT.search(_output([tool, "--iterations=100"], text))
    vectors = int(tile[1]) * int(tile[2])
    return float(cycles[1]) / vectors if cycles else None


def _output(command: list[str], text: str = "") -> str:
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=False
    ).stdout


@functools.cache
def _processor(tool: str) -> list[str]:
    host = HOST.search(_output([tool, "--version"]))
    return [f"-mcpu={LIKE[host[1]]}"] if host and host[1] in LIKE else []


def _busiest_loop(lines: list[str]) -> list[str]:
    """The instructions of the loop within which there is none, and which has
    the most of vectors."""
    labels: dict[str, int] = {}
    loops: list[_Loop] = []
    for number, line in enumerate(lines):
        if label := LABEL.match(line):
            labels[label[1]] = number
        elif (jump := JUMP.match(line)) and jump[1] in labels:
            loops.append(_Loop(labels[jump[1]], number))
    innermost = [
        [line for line in lines[a : b + 1] if _is_instruction(line)]
        for a, b in loops
        if not any(a <= c and d <= b and (a, b) != (c, d) for c, d in loops)
    ]
    return max(innermost, key=_vector_instructions, default=[])


def _is_instruction(line: str) -> bool:
    return line[:1].isspace() and not line.lstrip().startswith((".", "#"))


def _vector_instructions(body: list[str]) -> int:
    return sum(line.lstrip().startswith("v") for line in body)
