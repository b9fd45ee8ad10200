# bench/rounds.py - takes the samples of all contenders in turn.
"""Round-robin: in each round every contender gives one undisturbed sample.

A sample that was disturbed is taken again, after waiting for the machine to
become quiet, as long as the patience of the case lasts. The order of the
contenders turns by one each round.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

from bench.calibration import MOVED, Calibration, Sample
from bench.contender_process import ContenderProcess, Stopped

ATTEMPTS = 8  # for one sample of a round
REST = 0.03  # seconds for the threads of the one before to go to sleep


@dataclass
class Track:
    """A contender in the race, and what it gave so far."""

    process: ContenderProcess
    repeats: int
    at_most: float = math.inf  # samples
    kept: list[float | None] = field(default_factory=list)  # one a round
    taken: int = 0
    disturbed: list[float] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    stopped: Stopped | None = None


class Quiet:
    """Knows how fast the calibration is when nothing else runs."""

    def __init__(self, patience: float) -> None:
        self._calibration = Calibration()
        self.quietest = self._calibration.best(20)
        self.patience = patience  # seconds left to wait
        self.waited = 0.0

    def wait(self) -> None:
        """Returns when the machine is quiet, or patience has run out."""
        start = time.perf_counter()
        while self._is_loud():
            if time.perf_counter() - start > self.patience:
                break
            time.sleep(0.1)
        spent = time.perf_counter() - start
        self.patience -= spent
        self.waited += spent

    def accepts(self, sample: Sample) -> bool:
        """Whether a sample is kept; learns from its calibrations."""
        self.quietest = min(self.quietest, sample.before, sample.after)
        return sample.is_quiet(self.quietest)

    def _is_loud(self) -> bool:
        now = self._calibration.best(2)
        self.quietest = min(self.quietest, now)
        return now > MOVED * self.quietest


def race(tracks: dict[str, Track], samples: int, quiet: Quiet) -> None:
    """Fills the tracks with one sample a round."""
    names = list(tracks)
    for number in range(samples):
        turn = number % max(1, len(names))
        for name in names[turn:] + names[:turn]:
            track = tracks[name]
            if number < track.at_most and not track.stopped:
                _take(track, quiet)


def _take(track: Track, quiet: Quiet) -> None:
    for _ in range(ATTEMPTS):
        quiet.wait()
        time.sleep(REST)
        try:
            sample, notes = track.process.ask("sample", track.repeats)
        except Stopped as stopped:
            track.stopped = stopped
            return
        track.taken += 1
        if quiet.accepts(sample):
            track.kept.append(sample.seconds)
            track.notes.append(notes)
            return
        track.disturbed.append(sample.seconds)
        if quiet.patience <= 0:
            break
        quiet.patience -= sample.wall
    track.kept.append(None)
