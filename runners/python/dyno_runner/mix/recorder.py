"""Records the operations of a client, by class and by second.

Within the clock each operation is only written down: 16 bytes, or 32 where it is due at a time. That takes
less time than counting it in a histogram, which is done after the clock.
"""

from array import array
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ..histogram import text_of
from .timing import texts
from .work import Class, Work

# The length of a tick, in nanoseconds.
TICK = 1_000_000_000


class Recorder:
    """The records of one client."""

    def __init__(self, classes: int, is_due: bool, connects: bool = False) -> None:
        """Records operations of a number of classes, due at a time or not. With `connects` the client comes
        and goes, and a further class records its connecting, which is due at a time."""
        self.is_due = [is_due] * classes + [True] * connects
        # Of operations that are done, moments in nanoseconds of the clock: four each where they are due at a
        # time (due, free, sent, done), else two (sent, done).
        self.moments = [array("Q") for _ in self.is_due]
        # Of the operations that were tried more than once: class, end, tries repeated, and whether it failed.
        self.tried: list[tuple[int, int, int, bool]] = []
        # Of operations that were rolled back as planned: class, end. They are recorded as done too.
        self.undone_at: list[tuple[int, int]] = []
        # Of these, those that ended with an error which the suite ignores: class, end.
        self.ignored_at: list[tuple[int, int]] = []
        # Of operations that ended without success: class, moment since which they were due or under way, end.
        self.given_up: list[tuple[int, int, int]] = []
        # Of operations that were due and never begun: class, due.
        self.left: list[tuple[int, int]] = []
        # The moment at which the client began to repeat the steps; None: it has not.
        self.anew: int | None = None
        # By class, the error of the first operation that failed other than for want of time.
        self.failures: dict[int, str] = {}
        # Where statements are timed: by class and statement, the ends of the operations of which executions were
        # a part, and how long these took, in turn.
        self.executions: dict[tuple[int, int], array] = {}
        if is_due:
            self.done = self._done_when_due

    def done(self, place: int, due: int, free: int, sent: int, ended: int) -> None:
        """Records an operation that succeeded."""
        moments = self.moments[place]
        moments.append(sent)
        moments.append(ended)

    def _done_when_due(self, place: int, due: int, free: int, sent: int, ended: int) -> None:
        # In a mix with due times, an operation without one is due when it is sent.
        self.moments[place].extend((due or sent, free, sent, ended))

    def connected(self, due: int, free: int, sent: int, ended: int) -> None:
        """Records that the client of a session can send its first operation."""
        self.moments[-1].extend((due, free, sent, ended))

    def retried(self, place: int, ended: int, retried: int) -> None:
        """Records that an operation succeeded after `retried` repeated tries. It is recorded as done too."""
        self.tried.append((place, ended, retried, False))

    def undone(self, place: int, ended: int) -> None:
        """Records that an operation that is done was rolled back at its end, as planned."""
        self.undone_at.append((place, ended))

    def executed(self, place: int, ended: int, executions: list[tuple[int, int]]) -> None:
        """Records how long the statements of an operation took, by their positions."""
        for statement, took in executions:
            self.executions.setdefault((place, statement), array("Q")).extend((ended, took))

    def failed(self, place: int, since: int, ended: int, retried: int, why: str = "") -> None:
        """Records an operation that never succeeded, and why, unless that was for want of time. It was due
        since then or, where nothing is due, under way."""
        self.tried.append((place, ended, retried, True))
        self.given_up.append((place, since, ended))
        if why:
            self.failures.setdefault(place, why)


class Sum:
    """The records of all clients, counted after the clock."""

    def __init__(self, work: Work, began: int, recorders: list[Recorder]) -> None:
        window = work.window
        self._window = window
        self._start = began + window.start
        self._stop = float("inf") if window.stop is None else began + window.stop
        self._ticks = -(-window.duration // TICK)
        self._names = work.names
        # The hundredths of each tick in which an operation succeeded, as bits.
        self._succeeded = [0] * self._ticks
        parts = [self._class(place, recorders) for place in range(len(self._names))]
        self.classes = [one for one, _ in parts]
        if work.times_statements:
            for place, one in enumerate(work.classes):
                self.classes[place]["statements"] = self._statements(place, one, recorders)
        self.ticks = [
            {
                "ended_ns": min((tick + 1) * TICK, window.duration),
                "classes": [ticks[tick] for _, ticks in parts],
            }
            | ({"succeeded": format(self._succeeded[tick], "x")} if self._succeeded[tick] else {})
            for tick in range(self._ticks)
        ]
        # Connecting is no operation of the suite.
        self.operations = sum(one["done"] for one in self.classes[: len(work.classes)])

    def _class(self, place: int, recorders: list[Recorder]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """One class as the protocol has it: all of it, and by tick."""
        ticks = [array("Q") for _ in range(self._ticks)]
        response, service, wait, late = array("Q"), array("Q"), array("Q"), array("Q")
        start, stop = self._start, self._stop
        unfinished = array("Q", self._unfinished(place, recorders))
        for recorder in recorders:
            for due, free, sent, ended in _operations(recorder, place):
                if not start <= ended < stop:
                    continue
                response.append(ended - due)
                if ticks:
                    tick, since = divmod(ended - start, TICK)
                    ticks[tick].append(ended - due)
                    self._succeeded[tick] |= 1 << since * 100 // TICK
                if recorder.is_due[place]:
                    service.append(ended - sent)
                    # A client that was free only after the operation was due kept it waiting until then.
                    wait.append(max(0, free - due))
                    late.append(sent - max(free, due))
        tried = [
            (ended, retried, failed)
            for each, ended, retried, failed in chain.from_iterable(one.tried for one in recorders)
            if each == place and start <= ended < stop
        ]
        parts = [[one for one in tried if (one[0] - start) // TICK == tick] for tick in range(self._ticks)]
        counts = self._counts(place, response, tried)
        counts["failure"] = next((one.failures[place] for one in recorders if place in one.failures), "")
        undone = chain.from_iterable(one.undone_at for one in recorders)
        counts["undone"] = sum(each == place and start <= ended < stop for each, ended in undone)
        ignored = chain.from_iterable(one.ignored_at for one in recorders)
        counts["ignored"] = sum(each == place and start <= ended < stop for each, ended in ignored)
        counts["unfinished"] = text_of(unfinished)
        counts["acknowledged"] = self._acknowledged(place, recorders)
        counts |= {"service": text_of(service), "wait": text_of(wait), "late": text_of(late)}
        return counts, [self._counts(place, times, part) for times, part in zip(ticks, parts)]

    def _statements(self, place: int, one: Class, recorders: list[Recorder]) -> list[dict[str, str]]:
        """The executions of each statement of a class."""
        start, stop = self._start, self._stop

        def took(statement: int) -> Iterator[int]:
            for recorder in recorders:
                its = recorder.executions.get((place, statement), array("Q"))
                yield from (took for ended, took in zip(its[0::2], its[1::2]) if start <= ended < stop)

        named = enumerate(texts(one))
        return [{"text": text, "response": text_of(took(statement))} for statement, text in named]

    @staticmethod
    def _acknowledged(place: int, recorders: list[Recorder]) -> int:
        """The number of operations of a class that succeeded and were not rolled back, until clients began to
        repeat steps."""
        count = 0
        for one in recorders:
            anew = float("inf") if one.anew is None else one.anew
            count += sum(ended <= anew for *_, ended in _operations(one, place))
            count -= sum(each == place and ended <= anew for each, ended in one.undone_at)
        return count

    def _unfinished(self, place: int, recorders: list[Recorder]) -> Iterator[int]:
        """The waits of those operations of a class that were due or under way at the end and not done."""
        stop = self._stop
        if stop == float("inf"):
            return
        for recorder in recorders:
            done = ((due, ended) for due, _, _, ended in _operations(recorder, place))
            given_up = ((since, ended) for each, since, ended in recorder.given_up if each == place)
            yield from (stop - since for since, ended in chain(done, given_up) if since < stop <= ended)
            yield from (stop - due for each, due in recorder.left if each == place)

    def _counts(self, place: int, times: array, tried: list[tuple[int, int, bool]]) -> dict[str, Any]:
        return {
            "class": self._names[place],
            "done": len(times),
            "failed": sum(failed for _, _, failed in tried),
            "retried": sum(retried for _, retried, _ in tried),
            "response": text_of(times),
        }


def _operations(recorder: Recorder, place: int) -> Any:
    """Due, free, sent and done of each operation. An operation without a due time was due when it was
    sent."""
    moments = recorder.moments[place]
    if recorder.is_due[place]:
        return zip(moments[0::4], moments[1::4], moments[2::4], moments[3::4])
    sent = moments[0::2]
    return zip(sent, sent, sent, moments[1::2])
