# bench/report.py - results to the tables of bench/RESULTS.md.
"""Rewrites what stands between the two markers of a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bench import catalogue
from bench.harness import say
from bench.plots import draw_plots
from bench.tables import (
    case_table,
    errors_table,
    goals_table,
    rates_tables,
    sweep_tables,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bench.tables import Cases

BEGIN = "<!-- results: written by python -m bench --report -->"
END = "<!-- end of results -->"
NEW = f"# Results of the benchmark\n\n{BEGIN}\n\n{END}\n"
ORDER = ["gaussian", "gaussian_sizes", "gaussian_dimensions", "growth"]
ORDER += ["accuracy", "cold_compile", "cold_statements"]
ORDER += [
    "warm_start",
    "call_overhead",
    "torch_calls",
    "jax_calls",
    "statements",
    "diag",
    "peak_memory",
    "gradients",
]
ORDER += ["attention", "attention_views", "neighbors", "reductions"]
ORDER += ["quantiles", "high_dimension", "wide"]
ORDER += ["functions", "networks"]
ORDER += ["kernel_matrix", "kernel_product", "scipy_operators"]
ORDER += ["gp_training", "svgp_training", "kernel_ridge"]
ORDER += ["sklearn_neighbors", "keops_programs"]
ORDER += ["few_points", "batches", "layouts", "int8_points", "parts"]


def write_report(report: Path, folder: Path) -> None:
    """Tables and plots of the results in `folder`; makes a missing report."""
    results = read_results(folder)
    if not results:
        say(f"no results in {folder}: name the tasks to run")
        return
    pictures = {
        task: picture.relative_to(report.parent).as_posix()
        for task, picture in draw_plots(results, folder).items()
    }
    text = report.read_text(encoding="utf-8") if report.exists() else NEW
    fresh = with_results(text, results, pictures)
    report.write_text(fresh, encoding="utf-8")
    say(f"wrote {report} and {len(pictures)} plots")


def with_results(
    text: str, results: dict[str, Cases], pictures: dict[str, str]
) -> str:
    """A report with these results; what stands around them stays."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    parts = [before + BEGIN, *_sections(results, pictures), END + after]
    return "\n\n".join(parts)


def read_results(folder: Path) -> dict[str, Cases]:
    """Task to its cases, in the order of the report."""
    names = catalogue.task_names()
    names.sort(key=lambda name: ORDER.index(name) if name in ORDER else 99)
    paths = {name: folder / f"{name}.json" for name in names}
    return {
        name: json.loads(path.read_text(encoding="utf-8"))["cases"]
        for name, path in paths.items()
        if path.exists()
    }


def _sections(results: dict[str, Cases], pictures: dict[str, str]) -> list[str]:
    sections = [_machine(results), goals_table(results)]
    for task, cases in results.items():
        module = catalogue.task_module(task)
        sections += [f"### {module.TITLE}", _prose(module.__doc__ or "")]
        if task in pictures:
            sections.append(f"![{module.TITLE}]({pictures[task]})")
        sections += _tables(module, cases)
        sections.append(_missing(cases))
    return [section for section in sections if section]


def _tables(module: Any, cases: Cases) -> list[str]:
    if module.TABLE == "errors":
        return [errors_table(cases)]
    each = [case_table(case) for case in cases.values()]
    if module.TABLE == "times":
        return each
    over = rates_tables if module.TABLE == "rates" else sweep_tables
    details = ["<details><summary>Every number</summary>", *each, "</details>"]
    return [*over(cases), *details]


def _prose(text: str) -> str:
    return text.strip()


def _machine(results: dict[str, Cases]) -> str:
    """The machine, once for each that measured something."""
    machines: dict[str, list[str]] = {}
    versions: dict[str, str] = {}
    for cases in results.values():
        for case in cases.values():
            made = case["machine"]
            versions.update(made["versions"])
            line = (
                f"{made['cpu']} ({made['family']}), {made['cores']} cores, "
                f"{', '.join(made['isa'])}; {made['memory_gib']} GiB; "
                f"{made['system']}; Python {made['python']}"
            )
            machines.setdefault(line, []).append(case["when"])
    lines = [
        f"Measured on {line}, {min(times)} to {max(times)}."
        for line, times in machines.items()
    ]
    known = [f"{k} {v}" for k, v in sorted(versions.items())]
    return "\n".join([*lines, f"Versions: {', '.join(known)}."])


def _missing(cases: Cases) -> str:
    """One line for each contender that gave no number."""
    lines = []
    for case in cases.values():
        for name, row in case["contenders"].items():
            if "seconds" not in row:
                reason = row.get("reason", "").strip().splitlines()
                said = reason[-1] if reason else ""
                line = f"- {name}: {row['status']}, {said}"
                if line not in lines:
                    lines.append(line)
    return "\n".join(lines)
