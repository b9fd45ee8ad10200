# bench/machine.py - the machine and the versions behind a result.
"""What has to stand beside a number for it to mean something."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Sequence

ISA = ["avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"]
ISA += ["avx512_bf16", "avx512_vnni", "amx_tile"]


def describe() -> dict[str, Any]:
    """Processor, cores, instruction sets and memory."""
    facts = _processor()
    flags = set(facts.get("flags", "").split())
    return {
        "cpu": facts.get("model name", platform.processor()),
        "family": _family(facts),
        "cores": cores(),
        "isa": [flag for flag in ISA if flag in flags],
        "memory_gib": round(_memory() / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Of distributions; of modules in use for what is not installed."""
    return {name: _version(name) for name in packages}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        module = sys.modules.get(package)
        return getattr(module, "__version__", "of an unknown version")


def _processor() -> dict[str, str]:
    """The first processor of /proc/cpuinfo."""
    text = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    lines = [line.partition(":") for line in text.splitlines()]
    return {name.strip(): value.strip() for name, _, value in lines}


def _family(facts: dict[str, str]) -> str:
    family, model = facts.get("cpu family", "?"), facts.get("model", "?")
    return f"family {family}, model {model}"


def _memory() -> int:
    text = Path("/proc/meminfo").read_text().split("\n", 1)[0]
    return int(text.split()[1]) * 1024
