"""Turns: a test is done in slices, and the clock stands still between them while other contenders work.

A loop over operations asks for one part of them at a time (`Turns.parts`) and does that part as it would do
all. Without turns a part is all of them. When a turn is used up, that call stops the clock, reports it, waits
for the next line on standard input and starts the clock again. Python collects garbage within the thread that
makes it, so none is collected while others work.
"""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from .contract import take
from .events import Events
from .failure import Failure


class Turns:
    """The turns of a section that is done in one go: a part is all of it."""

    def parts(self, start: int, stop: int, each: int = 1) -> Iterator[tuple[int, int]]:
        """The operations from one place to another, part by part; each from one place to another. Where one call does
        `each` operations, a part is as many as whole calls do, but for the last."""
        if start < stop:
            yield start, stop


class Giver:
    """Grants turns, which it reads as lines of `source`."""

    def __init__(self, source: BinaryIO, events: Events) -> None:
        self._source = source
        self._events = events

    def ask(self, done: int, of: int, nanoseconds: int) -> int:
        """Reports the progress of a section and waits for a turn. Returns its number of operations."""
        self._events.send("waiting", done=done, of=of, nanoseconds=nanoseconds)
        line = self._source.readline()
        if not line:
            raise Failure("standard input ended where a turn was expected")
        try:
            operations: int = take(json.loads(line), "operations", int)
        except (ValueError, Failure):
            raise Failure(f"{line!r} is no turn") from None
        if operations < 1:
            raise Failure("a turn of no operations was given")
        return operations


class Slices(Turns):
    """The turns of a section that is done in slices. Its `stopwatch` runs during a turn: it has `start()`,
    and `stop()`, which returns the cost of the slice."""

    def __init__(self, giver: Giver, stopwatch: Any, of: int) -> None:
        """Waits for the first turn of a section of `of` operations."""
        self._giver = giver
        self._stopwatch = stopwatch
        self._of = of
        self._done = 0
        self._left = 0
        self._section: dict[str, Any] = {"nanoseconds": 0}
        self._wait()

    def parts(self, start: int, stop: int, each: int = 1) -> Iterator[tuple[int, int]]:
        while start < stop:
            if self._left == 0:
                self._stop()
                self._wait()
            end = min(start + max(self._left - self._left % each, each), stop)
            self._left = max(self._left - (end - start), 0)
            self._done += end - start
            yield start, end
            start = end

    def end(self) -> dict[str, Any]:
        """Stops the clock and returns the sum of all slices."""
        self._stop()
        return self._section

    def _wait(self) -> None:
        self._left = self._giver.ask(self._done, self._of, self._section["nanoseconds"])
        self._stopwatch.start()

    def _stop(self) -> None:
        self._section = added(self._section, self._stopwatch.stop())


def added(section: dict[str, Any], slice_: dict[str, Any]) -> dict[str, Any]:
    """The sum of two parts of a section: the larger peak of memory counts, and it began with the first."""
    both = dict(section)
    for name, value in slice_.items():
        if isinstance(value, dict):
            both[name] = added(section.get(name, {}), value)
        elif name == "peak_memory_bytes":
            both[name] = max(section.get(name, 0), value)
        elif name == "began_ns":
            both[name] = section.get(name, value)
        else:
            both[name] = section.get(name, 0) + value
    return both
