# tests/faults/test_faults.py - whatever fails, a right result or a documented
# error follows, and the next call is right.
from __future__ import annotations

import os
import statistics

import pytest

RIGHT = {"right"}
#: What may follow where memory runs out.
MEMORY = RIGHT | {"MemoryError", "OutOfMemory"}
#: What may follow where LLVM cannot be loaded, or memory not be executable.
DEVICE = MEMORY | {"DeviceError"}
RUNS = ["run", "run that starts threads", "bind", "sweeps",
        "nested reductions", "smallest", "batches", "neighbors", "solve",
        "check", "refusals", "load"]  # fmt: skip
COMPILES = ["compile", "first compile", "store"]
LONG = ["long compile", "long run", "long check", "long search", "long solve",
        "long look through indices", "everything short"]  # fmt: skip
AT_WORK = ["run", "compile", "check", "neighbors", "everything short"]


@pytest.mark.parametrize("victim", RUNS + COMPILES)
def test_an_allocation_fails(campaign, victim):
    lines = campaign.run(
        victim, "every_call", kind="memory", errors=["ENOMEM"],
        most=campaign.some(150), counts=[1, 1, 1, 10],
    )  # fmt: skip
    campaign.expect(f"allocations, {victim}", lines, MEMORY)


@pytest.mark.parametrize("victim", ["run", "neighbors", "compile", "sweeps"])
def test_threads_are_refused(campaign, victim):
    lines = campaign.run(
        victim, "every_call", kind="threads", errors=["EAGAIN"], most=20,
        counts=[1, "rest"], cold=True,
    )  # fmt: skip
    campaign.expect(f"threads, {victim}", lines, RIGHT)


@pytest.mark.parametrize("victim", ["compile", "load"])
def test_memory_is_not_mapped_or_made_executable(campaign, victim):
    lines = campaign.run(
        victim, "every_call", kind="maps", errors=["ENOMEM", "EACCES"],
        most=campaign.some(40), counts=[1],
    )  # fmt: skip
    campaign.expect(f"maps, {victim}", lines, DEVICE)


@pytest.mark.parametrize("victim", ["store", "load"])
@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EACCES", "EMFILE"])
def test_the_cache_cannot_be_written_or_read(campaign, victim, error):
    lines = campaign.run(
        victim, "every_call", kind="files", errors=[error],
        most=campaign.some(60), counts=[1, 1, "rest"],
    )  # fmt: skip
    campaign.expect(f"files, {error}, {victim}", lines, RIGHT)


def test_a_process_is_killed_while_it_writes_the_cache(campaign):
    """Whoever comes next reads what is whole."""
    lines = campaign.run("store", "kills", most=campaign.some(60))
    campaign.expect("kills, store", lines, RIGHT)


LIMITS = {
    "threads": (["run that starts threads", "neighbors"], range(1, 7), RIGHT),
    "descriptors": (["store", "load", "first compile"], range(8), DEVICE),
    "file size": (["store"], [0, 1, 100, 4096, 5000, 10_000, 20_000], RIGHT),
    "memory": (
        ["compile", "run that starts threads", "sweeps", "first compile"],
        [k << 18 for k in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)],
        DEVICE,
    ),
    "rights": (["store", "load"], [0o000, 0o500, 0o777], RIGHT),
}


@pytest.mark.parametrize(
    ("what", "victim"),
    [(what, victim) for what in LIMITS for victim in LIMITS[what][0]],
)
def test_limits_of_the_system(campaign, what, victim):
    _, values, allowed = LIMITS[what]
    lines = campaign.run(
        victim,
        "every_limit",
        what=what,
        values=list(values),
        most=campaign.some(20),
    )
    campaign.expect(f"limits, {what}, {victim}", lines, allowed)


def test_the_compiler_is_loaded_in_little_memory(campaign):
    """From too little for its pages to enough for all that it does."""
    lines = campaign.run(
        "first compile", "every_limit", what="memory",
        values=[k << 22 for k in range(60)], most=campaign.some(60),
    )  # fmt: skip
    campaign.expect("limits, memory, loading", lines, DEVICE)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_full_disk(campaign):
    lines = campaign.run(
        "store", "every_limit", what="disk",
        values=[4096, 8192, 16384, 32768], most=4,
    )  # fmt: skip
    campaign.expect("limits, disk, store", lines, RIGHT)


@pytest.mark.parametrize("victim", LONG)
def test_an_interrupt_comes_at_any_time(campaign, victim):
    lines = campaign.run(
        victim,
        "interruptions",
        times=campaign.some(6),
        rounds=campaign.some(2),
        longest=0.03 if victim == "everything short" else 0.7,
    )
    campaign.expect(
        f"interrupts, {victim}", lines, RIGHT | {"KeyboardInterrupt"}
    )
    seconds = [
        line["seconds"]
        for line in lines
        if line["outcome"] == "KeyboardInterrupt"
    ]
    # Other programs may have the processors for a while.
    if seconds:
        assert statistics.median(seconds) < 0.3, seconds
        assert max(seconds) < 2, seconds


@pytest.mark.parametrize("victim", AT_WORK)
def test_the_interpreter_ends_while_threads_are_at_work(campaign, victim):
    lines = campaign.run(victim, "exits", times=campaign.some(10), longest=0.2)
    campaign.expect(f"exits, {victim}", lines, {"ended"})


@pytest.mark.parametrize("victim", ["run", "compile", "neighbors", "store"])
def test_a_process_forks_while_threads_are_at_work(campaign, victim):
    lines = campaign.run(victim, "forks", times=campaign.some(12), longest=0.05)
    campaign.expect(f"forks, {victim}", lines, RIGHT)
