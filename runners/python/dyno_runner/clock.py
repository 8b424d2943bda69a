"""The two readings of the clock, with the counters just outside them.

The garbage collector stays on, because a program that uses a driver has it on: its pauses are part of what
the driver costs. What the runner itself has made is collected before the clock and then put out of the
collector's sight (`gc.freeze`), so that none of its work within the clock is for dyno's objects.
"""

import gc
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .counters import Counters
from .gauge import Gauge

Result = TypeVar("Result")


class Clock:
    """Times sections of one trial."""

    def __init__(self, server_process: int | None) -> None:
        """`server_process` is the main process of a server that may be looked at."""
        self._counters = Counters()
        self._server = None if server_process is None else Gauge(server_process)

    def time(self, work: Callable[[], Result]) -> tuple[Result, dict[str, Any]]:
        """Does the work and returns what it came to and what it cost: the sample's section."""
        self.collect()
        return self.section(work)

    def collect(self) -> None:
        """Collects what the runner has made, and puts the rest of it out of the collector's sight."""
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def section(self, work: Callable[[], Result]) -> tuple[Result, dict[str, Any]]:
        """The same for work that goes on already: nothing is collected."""
        if self._server:
            self._server.before()
        before = self._counters.before()

        start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        result = work()
        end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

        after = self._counters.after()
        client = {name: max(0, value - getattr(before, name)) for name, value in vars(after).items()}
        client["peak_memory_bytes"] = self._counters.peak_bytes()
        section: dict[str, Any] = {"nanoseconds": end - start, "began_ns": start, "client": client}
        if self._server and (cost := self._server.after()):
            section["server"] = cost
        return result, {"section": section}
