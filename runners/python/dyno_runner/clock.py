"""Starts and stops the clock, and reads the counters just outside it.

The garbage collector stays on, because a program that uses a driver has it on: its pauses are part of what
the driver costs. The runner's own objects are collected before the clock starts and then frozen
(`gc.freeze`), so that the collector does not spend timed work on them.
"""

import gc
import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .counters import NOTHING, Counters
from .gauge import Gauge
from .turns import Giver, Slices, Turns

Result = TypeVar("Result")


class Clock:
    """Times sections of one trial."""

    def __init__(self, server: list[int], giver: Giver | None = None, slowdown: float = 0.0) -> None:
        """`server` is the main processes of a server whose counters may be read, `giver` grants turns, and
        `slowdown` is the share by which sections are made slower."""
        self._counters = Counters()
        self._server = Gauge(server) if server else None
        # Where dyno counts the sections, it is the library that marks them.
        self._counting = Gauge(server) if os.environ.get("DYNO_COUNTS") else None
        self._giver = giver
        self._slowdown = slowdown

    def time(self, of: int, work: Callable[[Turns], Result]) -> tuple[Result, dict[str, Any]]:
        """Does the work of `of` operations (1: a single piece) and returns its result and the sample's
        section."""
        self.collect()
        if self._giver is None:
            turns = Turns()
            return self.section(lambda: work(turns))
        slices = Slices(self._giver, self, of)
        result = work(slices)
        return result, {"section": slices.end()}

    def collect(self) -> None:
        """Collects the runner's garbage, and freezes the objects that remain, so that the collector skips
        them."""
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def section(self, work: Callable[[], Result]) -> tuple[Result, dict[str, Any]]:
        """Times work that is already under way or has no turns; unlike `time`, it collects no garbage
        first."""
        self.start()
        result = work()
        return result, {"section": self.stop()}

    def count(self, warms_up: bool) -> None:
        """Prepares the counters before the clients begin. Those of clients that do not warm up are read here:
        once hundreds of them are at work, a thread that reads is kept from its next call for a large part of
        the section."""
        if self._server:
            self._server.prepare()
        self._counters.prepare()
        self._counted = not warms_up
        if self._counted:
            self._read()

    def clients(self, work: Callable[[], Result]) -> tuple[Result, dict[str, Any]]:
        """Times clients that are at work, after `count`."""
        if not self._counted:
            self._read()
        self._start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        result = work()
        return result, {"section": self.stop()}

    def start(self) -> None:
        """Reads the counters and starts the clock."""
        self._counters.prepare()
        self._read()
        self._start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def _read(self) -> None:
        if self._counting:
            self._before = NOTHING
            self._counting.before()
            return
        if self._server:
            self._server.before()
        self._before = self._counters.before()

    def stop(self) -> dict[str, Any]:
        """Stops the clock and returns what was spent since it was started."""
        end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if self._slowdown:
            end = _spin(end + round((end - self._start) * self._slowdown))

        if self._counting:
            self._counting.after()
            return {"nanoseconds": end - self._start, "began_ns": self._start, "client": vars(NOTHING)}
        after = self._counters.after()
        before = self._before
        client = {name: max(0, value - getattr(before, name)) for name, value in vars(after).items()}
        client["peak_memory_bytes"] = self._counters.peak_bytes()
        section: dict[str, Any] = {"nanoseconds": end - self._start, "began_ns": self._start, "client": client}
        if self._server and (cost := self._server.after()):
            section["server"] = cost
        return section


def _spin(until: int) -> int:
    """Spins until a moment. Returns the time at which it stopped."""
    while (now := time.clock_gettime_ns(time.CLOCK_MONOTONIC)) < until:
        pass
    return now
