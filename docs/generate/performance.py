# docs/generate/performance.py - pages of what the benchmark measured.
"""Tables and pictures of bench/results, by the benchmark's own writer."""

from __future__ import annotations

import json
import re
from typing import Any

from bench import report
from bench.tables import digits, duration, table

from generate.tables import ROOT

RESULTS = ROOT / "bench" / "results"


def machine(folder: str, back: str) -> str:
    """All that was measured on a machine; `folder` "" is the first one.

    `back` is the way from the page to the root of the source.
    """
    place = RESULTS / folder
    results = report.read_results(place)
    pictures = {
        task: f"{back}/bench/results/{folder}/{task}.png".replace("//", "/")
        for task in results
        if (place / f"{task}.png").exists()
    }
    text = report.with_results(report.NEW, results, pictures)
    text = text.partition(report.BEGIN)[2].partition(report.END)[0]
    return re.sub(r"^### ", "## ", text.strip(), flags=re.MULTILINE)


def _case(task: str, name: str) -> dict[str, Any]:
    """A case of the first machine."""
    path = RESULTS / f"{task}.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return dict(cases[name])


def _seconds(task: str, name: str, who: str = "tilefold") -> float:
    return float(_case(task, name)["contenders"][who]["seconds"]["median"])


def three_numbers() -> str:
    """Speed, time to the first result, and accuracy, of the first machine."""
    case = _case("gaussian", "gaussian_d3_f32")
    rows = case["contenders"]
    rate = {
        name: case["pairs"] / row["seconds"]["median"] / 1e9
        for name, row in rows.items()
        if "seconds" in row
    }
    others = {
        "a kernel written by hand": "roofline",
        "KeOps": "pykeops",
        "JAX": "jax_chunked",
        "torch.compile": "torch_compile",
    }
    beside = ", ".join(
        f"{title} {digits(rate[name])}" for title, name in others.items()
    )
    task = "cold_compile"
    error = _case("accuracy", "accuracy_offset")["contenders"]
    lines = [
        [
            "Gaussian sum, 20,000 × 20,000 points in 3-D, float32",
            f"{digits(rate['tilefold'])} billion pairs a second",
            beside,
        ],
        [
            "First call of a formula that is new",
            duration(_seconds(task, task)),
            f"KeOps {duration(_seconds(task, task, 'pykeops'))}",
        ],
        [
            "Largest error of a million terms, points offset by 1000",
            f"{error['tilefold']['error']:.0e}",
            f"KeOps {error['pykeops']['error']:.0e}",
        ],
    ]
    when, made = case["when"], case["machine"]
    cores = f"{made['cores']} cores of an {made['cpu']}, {made['family']}"
    text = table(["measured", "tilefold", "beside it"], lines)
    where = f"Measured {when[:10]} on {cores}"
    return f"{text}\n\n{where}: [how](/performance/method.md)."


def card() -> str:
    """What was measured on a GPU: a table of every case."""
    data = json.loads((RESULTS / "gpu.json").read_text(encoding="utf-8"))
    made = data["machine"]
    parts = [
        f"{data['card']}, beside {made['cores']} cores of an {made['cpu']}. "
        "Versions: "
        + ", ".join(f"{k} {v}" for k, v in data["versions"].items())
        + f". Note: {data['note']}."
    ]
    calls = [[key, digits(value)] for key, value in data["calls"].items()]
    parts.append(table(["call", "time"], calls))
    for case in data["cases"].values():
        lines = [
            [_label(name, row), _time(row), str(row["status"])]
            for name, row in case["contenders"].items()
            if row["status"] != "absent"
        ]
        sizes = ", ".join(f"{k} = {v}" for k, v in case["sizes"].items())
        head = ["contender", "time", "result"]
        parts.append(f"## {case['title']}\n\n{sizes}\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def _label(name: str, row: dict[str, Any]) -> str:
    return str(row.get("label", name))


def _time(row: dict[str, Any]) -> str:
    """The time of a row of the card's results."""
    seconds = row.get("seconds")
    if isinstance(seconds, dict):
        seconds = seconds["median"]
    return duration(seconds) if seconds else "–"
