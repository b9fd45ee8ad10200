# tests/python/each_isa.py - which tests run for each instruction set.
"""Those of what users write, whose formulas name no instruction set.

The documents, the examples, and each row of the language against NumPy: `pytest
-m each_isa` with TILEFOLD_ISA runs them as another processor would.
`python tests/python/each_isa.py` prints the instruction sets to run them for:
of each kind of registers, but that which calls take here by themselves; with
`--files`, where these tests are.
"""

from __future__ import annotations

import sys
from pathlib import Path

FILES = frozenset(
    f"test_{name}.py" for name in (
        "catalogue", "complex", "docs", "examples", "folds", "gather",
        "gradients", "integers", "jax_rows", "keops_formulas",
        "masked_derivatives", "narrow_vectors", "one_component",
        "random_formulas", "range", "reduce", "result_types", "rules",
        "special_values",
    )
)  # fmt: skip
KINDS = ("x86-64-v3", "x86-64-v4", "znver4", "x86-64-v4-amx")


def others() -> list[str]:
    """Those that this machine runs, but its own."""

    import tilefold
    from instruction_sets import HERE

    own = tilefold.Session().options.isa
    return [isa for isa in HERE if isa in KINDS and isa != own]


if __name__ == "__main__":
    if sys.argv[1:] == ["--files"]:
        print(
            *(Path(__file__).parent / name for name in sorted(FILES)), sep="\n"
        )
    else:
        print(*others())
