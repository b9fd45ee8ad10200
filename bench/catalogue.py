# bench/catalogue.py - finds tasks, cases and contenders in bench/tasks.
"""What there is to run; a new folder or file is found by being there."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from bench.case import Case

TASKS = Path(__file__).with_name("tasks")


class Entry(NamedTuple):
    """A case and the task it belongs to."""

    task: str
    case: Case


def task_names() -> list[str]:
    """Every folder of tasks/ that has a task.py."""
    return sorted(path.parent.name for path in TASKS.glob("*/task.py"))


def task_module(task: str) -> ModuleType:
    """bench/tasks/<task>/task.py."""
    return importlib.import_module(f"bench.tasks.{task}.task")


def entries() -> list[Entry]:
    """Every case, by task."""
    return [
        Entry(task, case)
        for task in task_names()
        for case in task_module(task).CASES
    ]


def select(names: list[str]) -> list[Entry]:
    """The cases of these tasks or with these names; all of them for none.

    Raises ValueError for a name that is neither.
    """
    every = entries()
    known = {entry.task for entry in every} | {e.case.name for e in every}
    for name in names:
        if name not in known:
            raise ValueError(
                f"no task or case '{name}'; there are "
                + ", ".join(sorted(known))
            )
    return [e for e in every if not names or {e.task, e.case.name} & set(names)]


def find(name: str) -> Case:
    """The case of that name."""
    return next(e.case for e in entries() if e.case.name == name)


def contender_modules(entry: Entry) -> dict[str, str]:
    """Contenders of a case: name to module; tilefold first.

    A task whose task.py says `CONTENDERS_OF = "gaussian"` also has the
    contenders of that task.
    """
    found: dict[str, str] = {}
    also = getattr(task_module(entry.task), "CONTENDERS_OF", "")
    for task in filter(None, [also, entry.task]):
        for path in sorted((TASKS / task).glob("*.py")):
            if path.stem != "task":
                found[path.stem] = f"bench.tasks.{task}.{path.stem}"
    wanted = entry.case.contenders or tuple(found)
    names = sorted(found, key=lambda name: (name != "tilefold", name))
    return {name: found[name] for name in names if name in wanted}
