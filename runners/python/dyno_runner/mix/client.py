"""The loop of one client."""

import ctypes
import time
from collections.abc import Callable
from typing import Any

from ..driver import Driver
from ..failure import Failure, quote
from .program import IGNORED, UNDONE, Operation, operation
from .recorder import Recorder
from .session import Session
from .steps import Steps
from .timing import Timing
from .work import Class, Work

# The time by which the kernel may delay the end of a sleep to end others with it, in nanoseconds; 50,000 by default.
# It is set per thread (PR_SET_TIMERSLACK in prctl(2)).
SLACK = 1
PR_SET_TIMERSLACK = 29
# The end of an operation that did not succeed in time; it is recorded already.
LATE = -2


class Client:
    """One client at work. `take` returns the position of its next step."""

    _session: Session

    def __init__(
        self, work: Work, steps: Steps, take: Callable[[], int], recorder: Recorder, driver: Driver
    ) -> None:
        self._driver = driver
        self._work = work
        self._steps = steps
        self._take = take
        self._recorder = recorder
        # By class, the function that does an operation; None where the session does no operation of the
        # class.
        self._operations: list[Operation | None] = []
        # Set when the client is to end.
        self.stop = False

    def enter(self, session: Session, classes: frozenset[int] | None = None) -> None:
        """Uses a session from now on, which prepares the statements of all classes or of some."""
        work = self._work
        self._session = session
        session.wait_for_locks(work.shortest_patience)
        self._operations = [
            self._operation(place, one) if classes is None or place in classes else None
            for place, one in enumerate(work.classes)
        ]

    def _operation(self, place: int, one: Class) -> Operation:
        """Compiles the operations of a class."""
        timing = Timing(self._recorder.executed, place, one) if self._work.times_statements else None
        return operation(self._session, self._work, one, timing, self._driver.sleep)

    def run(self, began: int) -> None:
        """Does steps until the time is up, or until all are done. `began` is the moment at which the clients
        began."""
        wake_in_time()
        # All that the loop needs is a local name: what it does between operations is dyno's own cost.
        now, take, get, operations = time.monotonic_ns, self._take, self._steps.get, self._operations
        errors, done, count = self._session.errors, self._recorder.done, self._steps.count
        driver = self._driver
        stop = self._work.window.stop
        # Steps with times are done once; others are repeated where the end is a time.
        once = stop is None or get(0)[0] > 0
        end = float("inf") if stop is None else began + stop
        think = None if self._work.think is None else 2 + self._work.think
        free = now()
        while free < end and not self.stop:
            place = take()
            if place >= count:
                if once:
                    break
                place %= count
                if self._recorder.anew is None:
                    self._recorder.anew = free
            step = get(place)
            sent, due = free, step[0]
            if due:
                due += began
                if due > free:
                    if due >= end:
                        break
                    sent = wait(due, driver)
            elif think is not None:
                if (due := free + step[think]) >= end:
                    break
                sent, due = wait(due, driver), 0
            try:
                how = operations[step[1]](step)
            except errors as error:
                how = self._again(step, due or sent, sent, error)
            ended = now()
            if how is None or self._is_done(step[1], due or sent, ended, how):
                done(step[1], due, free, sent, ended)
            free = ended
        else:
            self._leave(began)

    def _leave(self, began: int, each: int = 1, connects: bool = False) -> None:
        """Once the time is up, records all steps that were due before its end and were never begun: the first
        of every `each` steps."""
        stop, get, count = self._work.window.stop, self._steps.get, self._steps.count
        if stop is None or not get(0)[0]:
            return
        place = self._take() * each
        while place < count and (step := get(place))[0] < stop:
            self._recorder.left.append((len(self._work.classes) if connects else step[1], began + step[0]))
            place = self._take() * each

    def _is_done(self, place: int, since: int, ended: int, how: int) -> bool:
        """Records an operation that did not end with its last statement."""
        if how in (UNDONE, IGNORED):
            self._recorder.undone(place, ended)
            if how == IGNORED:
                self._recorder.ignored_at.append((place, ended))
            return True
        if how != LATE:
            text = "?".join(self._work.classes[place].statements[how].text)
            self._recorder.failed(place, since, ended, 0, f"no row came of {quote(text)}")
        return False

    def _again(self, step: Any, since: int, sent: int, error: Exception) -> int | None:
        """Retries an operation that was due at `since`, for as long as that may help. Returns how it
        ended."""
        session, recorder, place = self._session, self._recorder, step[1]
        retried = 0
        ignores = self._work.classes[place].ignores
        while True:
            if ignores and not ignores.isdisjoint(session.codes(error)):
                if retried:
                    recorder.retried(place, time.monotonic_ns(), retried)
                return IGNORED
            if not session.may_pass(error):
                break
            ended = time.monotonic_ns()
            if ended - sent > self._work.patience_of(place):
                recorder.failed(place, since, ended, retried)
                return LATE
            retried += 1
            try:
                how = self._operations[place](step)
            except session.errors as next_error:
                error = next_error
            else:
                recorder.retried(place, time.monotonic_ns(), retried)
                return how
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
        raise Failure(f"class {self._work.classes[place].name}: {session.words(error)}{notes}")


def wake_in_time() -> None:
    """Sets the timer slack, so that the sleeps of this thread end on time. Where the kernel refuses, steps
    are sent somewhat later than due, which their record shows."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, SLACK, 0, 0, 0)


def wait(due: int, driver: Driver) -> int:
    """Waits until a moment: asleep while it is far away, then spinning, but letting others work between two
    readings of the clock. Returns the time at which it stopped."""
    if (left := due - time.monotonic_ns() - driver.early) > 0:
        driver.sleep(left / 1e9)
    while (now := time.monotonic_ns()) < due:
        driver.sleep(0)
    return now
