# bench/formula_run.py - a formula of tilefold with its arguments, to be timed.
"""What most contenders of tilefold run, and what its cost model expects."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import tilefold
from bench.port_bound import cycles_of_vector


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
        plans = self._stage("plan").get("value")
        return plans and float(plans["chosen"]["nanoseconds_per_pair"])

    def port_cycles(self) -> float | None:
        """Of a vector of pairs in the innermost loop, at the least."""
        if not (plans := self._stage("plan").get("value")):
            return None
        plan = plans["chosen"]["plan"]
        vectors = plan["row_vectors"] * plan["columns"]
        return cycles_of_vector(self._stage("assembly")["text"], vectors)

    def _stage(self, name: str) -> dict[str, Any]:
        """The first of that name; empty where there is none."""
        found = (one for one in self._stages if one["stage"] == name)
        return next(found, {})

    @cached_property
    def _stages(self) -> list[dict[str, Any]]:
        text = self._formula.explain(**self._arguments, format="json")
        return list(json.loads(text)["stages"])
