# tests/python/conftest.py - what all Python tests share.
"""A cache of their own, points to compute with, and which cases run today."""

from __future__ import annotations

import collections
import json
import os
import tempfile
import time
from pathlib import Path

# Set before tilefold makes its default session; children inherit it.
_CACHE = tempfile.TemporaryDirectory(prefix="tilefold-tests-")
os.environ["TILEFOLD_CACHE_DIR"] = _CACHE.name

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

import each_isa  # noqa: E402
import fake_gpu  # noqa: E402
import interrupts  # noqa: E402
import long_tests  # noqa: E402
import sample  # noqa: E402
import tilefold  # noqa: E402
import wheel_suite  # noqa: E402

interrupts.hear()

settings.register_profile("tilefold", deadline=None, max_examples=40)
settings.load_profile("tilefold")

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"

_ALWAYS = 3  # cases of a test that run in a sample; of more, a twentieth
_LONG_SECONDS = 70  # of those that take long, on both of two cores together


def _left_out_today() -> set[str]:
    """Of the tests that take long, those that today's share has no time for."""
    left = float(_LONG_SECONDS)
    out = set()
    seconds = long_tests.read()
    for name in sorted(seconds, key=sample.number_of):
        if seconds[name] <= left:
            left -= seconds[name]
        else:
            out.add(name)
    return out


def _of_the_sample(name: str, cases: list[pytest.Item]) -> list[pytest.Item]:
    """Of the cases of one test."""
    marker = cases[0].get_closest_marker("sample")
    if marker:
        count = int(marker.args[0] * len(cases) + sample.number_of(name))
    else:
        beyond = max(len(cases) - _ALWAYS, 0)
        count = min(len(cases), _ALWAYS) + -(-beyond // 20)
    return sorted(cases, key=lambda case: sample.number_of(case.nodeid))[:count]


def pytest_ignore_collect(
    collection_path: Path, config: pytest.Config
) -> bool | None:
    """Beside a wheel alone, other files cannot be imported."""
    if config.option.markexpr != "wheel" or collection_path.is_dir():
        return None
    return None if wheel_suite.file_belongs(collection_path) else True


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Marks the tests of wheels, and of instruction sets; leaves out what is
    not of the sample.
    """
    for item in items:
        fixtures = getattr(item, "fixturenames", [])
        markers = [marker.name for marker in item.iter_markers()]
        if wheel_suite.file_belongs(item.path) and wheel_suite.test_belongs(
            fixtures, markers
        ):
            item.add_marker("wheel")
        if item.path.name in each_isa.FILES:
            item.add_marker("each_isa")
    if sample.is_whole():
        return
    tests = collections.defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    left_out = _left_out_today()
    for name, cases in tests.items():
        if long_tests.key_of(name) not in left_out:
            kept.update(_of_the_sample(name, cases))
    config.hook.pytest_deselected(
        items=[item for item in items if item not in kept]
    )
    items[:] = [item for item in items if item in kept]


def pytest_report_header() -> str:
    """How to repeat what was chosen."""
    return f"cases: TILEFOLD_SAMPLE={sample.SAMPLE}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> None:
    """What tests say that they met, as a property: how often all of them did.

    Properties come from other processes, too, where tests run in several.
    """
    met: collections.Counter[str] = collections.Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", []):
                if name == "met" and report.when == "call":
                    met.update(json.loads(value))
    if met:
        terminalreporter.section("met")
        for what, count in sorted(met.items()):
            terminalreporter.write_line(f"{count:7} {what}")


class Points:
    """50 points x, 60 points y, values b of y, and their Gaussian matrix."""

    def __init__(self, dtype: str = "float64") -> None:
        random = np.random.default_rng(7)
        self.x = random.standard_normal((50, 3)).astype(dtype)
        self.y = random.standard_normal((60, 3)).astype(dtype)
        self.b = random.standard_normal(60).astype(dtype)
        self.l = 0.5

    @property
    def arguments(self) -> dict:
        """What GAUSSIAN takes."""
        return {"x": self.x, "y": self.y, "b": self.b, "l": self.l}

    @property
    def matrix(self) -> np.ndarray:
        """exp(-|x_i - y_j|²/2l²) in float64, (50, 60)."""
        return gaussian(self.x, self.y, self.l)


def gaussian(x, y, scale):
    """The dense Gaussian kernel of (…, N, D) and (…, M, D) in float64."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    squares = ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)
    return np.exp(-squares / (2 * scale**2))


@pytest.fixture
def points() -> Points:
    return Points()


def _seconds(call, times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def cost(call, times: int = 2000) -> float:
    """Seconds a call, the best of 20 rounds."""
    return min(_seconds(call, times) for _ in range(20))


def stages_of(formula, *arguments, **keywords) -> dict[str, dict]:
    """What `explain` tells as JSON, by the names of the stages."""
    told = formula.explain(*arguments, **keywords, format="json")
    return {stage["stage"]: stage for stage in json.loads(told)["stages"]}


def additions(call, enough: float) -> float:
    """What a call costs, in additions of two small NumPy arrays.

    One takes about half a microsecond; how much differs by machine and from
    one moment to the next, so that both take turns. Measured once more while it
    is above `enough`: another program may have the core.
    """
    x = np.ones((4, 3), np.float32)
    times, least = 500, float("inf")
    for _ in range(5):
        rounds = [
            (_seconds(call, times), _seconds(lambda: np.add(x, x), times))
            for _ in range(80)
        ]
        own, addition = map(min, zip(*rounds, strict=True))
        least = min(least, own / addition)
        if least <= enough:
            break
    return least


@pytest.fixture(scope="module")
def gpu_session():
    """Of the fake driver and the fake compiler."""
    return tilefold.Session(fake_gpu.settings())


@pytest.fixture
def driver():
    """The fake driver, as it is when a process begins."""
    driver = fake_gpu.Driver()
    driver.reset()
    yield driver
    assert driver.kernels_not_found == 0
    driver.reset()
