# bench/formula_run.py - a formula of tilefold with its arguments, to be timed.
"""What most contenders of tilefold run, and what its cost model expects."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import tilefold
from bench.port_bound import cycles_of_vector

EXPECTED = re.compile(r"expected of one core: (\S+) ns a pair")


class FormulaRun:
    """f(**arguments), compiled beforehand."""

    def __init__(
        self,
        text: str,
        arguments: dict[str, Any],
        first: dict[str, Any] | None = None,
        options: tilefold.Options | None = None,
    ) -> None:
        """Compiles by a call with `first`, else with all."""
        session = tilefold.Session(options) if options else None
        self._formula = tilefold.compile(text, session=session)
        self._arguments = arguments
        self._formula(first or arguments)

    def __call__(self) -> Any:
        return self._formula(**self._arguments)

    def nanoseconds_expected(self) -> float | None:
        """Of one core for a pair, where the plan has a cost."""
        found = EXPECTED.search(self._stages)
        return float(found[1]) if found else None

    def port_cycles(self) -> float | None:
        """Of a vector of pairs in the innermost loop, at the least."""
        return cycles_of_vector(self._stages)

    @cached_property
    def _stages(self) -> str:
        return str(self._formula.explain(**self._arguments))
