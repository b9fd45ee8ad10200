# bench/port_bound.py - how fast the ports of this processor let a loop be.
"""Cycles of the innermost loop, by the model that LLVM has of the processor.

LLVM's own bound, of a block's reciprocal throughput, takes each port and each
group of ports by itself. Where permutations have one port, which sums may use,
too, no group has all of both: a bound is what any set of ports has to do alone,
by the number of these ports.
"""

from __future__ import annotations

import functools
import itertools
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
THROUGHPUT = re.compile(r"Block RThroughput:\s+(\S+)")
RESOURCE = re.compile(r"^\[([\d.]+)\]\s+- (\S+)$", re.MULTILINE)
PRESSURE = re.compile(r"pressure per iteration:\n(.*)\n(.*)\n")
#: Units that compute nothing: of addresses, loads, stores and divisions.
OTHERS = re.compile(r"Port(2|3|4|7|8|9|11)|AGU|LSU|Load|Store|St$|FP45|Divider")
#: A copy of a register is a new name of it, and takes no port.
COPY = re.compile(r"^\s+vmov\w+\s+%\wmm\d+, %\wmm\d+$")


class _Loop(NamedTuple):
    first: int
    last: int


def cycles_of_vector(assembly: str, vectors: int) -> float | None:
    """What a vector of pairs takes at least, where a tile has so many.

    None where it can't be told: without llvm-mca, and where the loop calls a
    function.
    """
    tool = shutil.which(TOOL)
    if not tool:
        return None
    body = _busiest_loop(assembly.splitlines())
    if not body or any(line.split()[0].startswith("call") for line in body):
        return None
    text = "\n".join(body)
    # What the older processor lacks, its model does not know.
    for processor in (_processor(tool), []):
        told = _output([tool, "--iterations=100", *processor], text)
        if whole := THROUGHPUT.search(told):
            shared = shared_bound(_uses([tool, *processor], body))
            return max(float(whole[1]), shared) / vectors
    return None


def shared_bound(uses: list[dict[str, float]]) -> float:
    """Cycles that some ports are busy with what no other port does.

    Each of `uses` has an instruction's cycles by the ports that it may use.
    """
    ports = sorted({port for use in uses for port in use})
    sets = itertools.chain.from_iterable(
        itertools.combinations(ports, n + 1) for n in range(len(ports))
    )
    return max(
        (
            sum(sum(use.values()) for use in uses if use.keys() <= {*some})
            / len(some)
            for some in sets
        ),
        default=0,
    )


def _uses(command: list[str], body: list[str]) -> list[dict[str, float]]:
    """What each instruction takes of the ports that compute: by itself, so that
    it meets all of them in turn."""
    computing = [line for line in body if not COPY.match(line)]
    blocks = [
        f"# LLVM-MCA-BEGIN {number}\n{line}\n# LLVM-MCA-END\n"
        for number, line in enumerate(computing)
    ]
    told = _output(
        [*command, "--iterations=100", "-instruction-info=false"],
        "".join(blocks),
    )
    names = dict(RESOURCE.findall(told))
    uses = []
    for heads, numbers in PRESSURE.findall(told):
        columns = re.findall(r"\[([\d.]+)\]", heads)
        use: dict[str, float] = {}
        for column, number in zip(columns, numbers.split(), strict=True):
            name = names[column]
            if number != "-" and not OTHERS.search(name):
                use[column] = float(number)
        uses.append(use)
    return [use for use in uses if use]


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
