"""The loop of one client."""

import ctypes
import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..failure import Failure
from .recorder import Recorder
from .session import Run, Session
from .steps import Steps
from .work import WRITE, Class, Work

# How much the kernel may put off the end of a sleep to end others with it, in nanoseconds; 50,000 where
# nobody asks. A thread's own (PR_SET_TIMERSLACK in prctl(2)).
SLACK = 1
PR_SET_TIMERSLACK = 29
# How much earlier than due a client ends its sleep, in nanoseconds: about as much later than asked a thread
# of Python is awake again.
EARLY = 40_000

# One try of an operation, with a step.
Operation = Callable[[Any], None]


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
        self._operations = [_operation(session, one) for one in work.classes]
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
            try:
                operations[step[1]](step)
            except errors as error:
                if not self._again(step, sent, error):
                    free = now()
                    continue
            ended = now()
            done(step[1], due, free, sent, ended)
            free = ended

    def _again(self, step: Any, sent: int, error: Exception) -> bool:
        """Tries an operation again for as long as that may help. Whether it succeeded."""
        session, recorder, place = self._session, self._recorder, step[1]
        retried = 0
        while session.may_pass(error):
            ended = time.monotonic_ns()
            if ended - sent > self._work.patience:
                recorder.failed(place, ended, retried)
                return False
            retried += 1
            try:
                self._operations[place](step)
            except session.errors as next_error:
                error = next_error
            else:
                recorder.retried(place, time.monotonic_ns(), retried)
                return True
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


def _operation(session: Session, one: Class) -> Operation:
    """One try of a class's operations."""
    statements = [
        (session.prepare(each.sql(session.parameter)), _getter(each.parameters)) for each in one.statements
    ]
    if one.transaction is not None:
        return _transaction(session, one, statements)
    if len(statements) == 1:
        run, get = statements[0]
        return lambda step: run(get(step))

    def alone(step: Any) -> None:
        for run, get in statements:
            run(get(step))

    return alone


def _transaction(session: Session, one: Class, statements: list[tuple[Run, Any]]) -> Operation:
    begin = session.begin_write if one.transaction == WRITE else session.begin_read
    commit, rollback, errors = session.commit, session.rollback, session.errors

    def together(step: Any) -> None:
        begin()
        try:
            for run, get in statements:
                run(get(step))
            commit()
        except errors as error:
            try:
                rollback()
            except errors as second:
                # What went wrong first is the cause.
                error.add_note(f"and the rollback failed: {session.words(second)}")
            raise

    return together


def _getter(parameters: list[int]) -> Callable[[Any], tuple[Any, ...]]:
    """Takes the values of a statement's parameters out of a step, whose fields come after two numbers."""
    places = [2 + field for field in parameters]
    match places:
        case []:
            return lambda step: ()
        case [place]:
            return lambda step: (step[place],)
        case _:
            return itemgetter(*places)
