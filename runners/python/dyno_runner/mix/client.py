"""The loop of one client."""

import ctypes
import time
from collections.abc import Callable
from typing import Any

from ..failure import Failure, quote
from .program import UNDONE, operation
from .recorder import Recorder
from .session import Session
from .steps import Steps
from .work import Work

# How much the kernel may put off the end of a sleep to end others with it, in nanoseconds; 50,000 where
# nobody asks. A thread's own (PR_SET_TIMERSLACK in prctl(2)).
SLACK = 1
PR_SET_TIMERSLACK = 29
# How much earlier than due a client ends its sleep, in nanoseconds: about as much later than asked a thread
# of Python is awake again.
EARLY = 40_000
# How an operation ended of which nothing came in time; it is noted already.
LATE = -2


class Client:
    """One client at work. `take` gives the place of its next step."""

    def __init__(
        self, work: Work, session: Session, steps: Steps, take: Callable[[], int], recorder: Recorder
    ) -> None:
        """Prepares its statements."""
        self._work = work
        self._session = session
        self._steps = steps
        self._take = take
        self._recorder = recorder
        session.wait_for_locks(work.patience)
        self._operations = [operation(session, work, one) for one in work.classes]
        # Whether somebody wants it to end.
        self.stop = False

    def run(self, began: int) -> None:
        """Does steps until the time is up, or until all are done. `began` is when the clients began."""
        # Where it is refused, steps are sent somewhat later than due, which their record tells.
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, SLACK, 0, 0, 0)
        # All that the loop needs is a local name: what it does between operations is dyno's own cost.
        now, take, get, operations = time.monotonic_ns, self._take, self._steps.get, self._operations
        errors, done, count = self._session.errors, self._recorder.done, self._steps.count
        stop = self._work.window.stop
        # Steps with times are done once; others begin anew where a time is what ends them.
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
            step = get(place)
            sent, due = free, step[0]
            if due:
                due += began
                if due > free:
                    if due >= end:
                        break
                    sent = _wait(due)
            elif think is not None:
                if (due := free + step[think]) >= end:
                    break
                sent, due = _wait(due), 0
            try:
                how = operations[step[1]](step)
            except errors as error:
                how = self._again(step, sent, error)
            ended = now()
            if how is None or self._is_done(step[1], ended, how):
                done(step[1], due, free, sent, ended)
            free = ended

    def _is_done(self, place: int, ended: int, how: int) -> bool:
        """Notes what became of an operation that ended otherwise than by its last statement."""
        if how == UNDONE:
            self._recorder.undone(place, ended)
            return True
        if how != LATE:
            text = "?".join(self._work.classes[place].statements[how].text)
            self._recorder.failed(place, ended, 0, f"no row came of {quote(text)}")
        return False

    def _again(self, step: Any, sent: int, error: Exception) -> int | None:
        """Tries an operation again for as long as that may help. Returns how it ended."""
        session, recorder, place = self._session, self._recorder, step[1]
        retried = 0
        while session.may_pass(error):
            ended = time.monotonic_ns()
            if ended - sent > self._work.patience:
                recorder.failed(place, ended, retried)
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


def _wait(due: int) -> int:
    """Waits until a moment: asleep while that is far, and then awake, but without the interpreter's lock
    between two looks at the clock. Returns when that was."""
    if (left := due - time.monotonic_ns() - EARLY) > 0:
        time.sleep(left / 1e9)
    while (now := time.monotonic_ns()) < due:
        time.sleep(0)
    return now
