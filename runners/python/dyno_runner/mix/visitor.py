"""The loop of a client that comes and goes: it connects when a session is due, does the session's steps and
leaves."""

import time
from collections.abc import Callable

from ..driver import Driver
from ..failure import Failure
from .client import Client, wait, wake_in_time
from .recorder import Recorder
from .session import Session
from .steps import Steps
from .work import CONNECT, Work


class Visits:
    """The sessions of a mix. Each prepares only the statements that it executes, like a program that connects
    for a short time."""

    def __init__(self, work: Work, steps: Steps) -> None:
        """Looks at all of them."""
        self.each = each = work.session or 1
        if steps.count % each:
            raise Failure(f"there are {steps.count} steps in sessions of {each}: this is an error in dyno")
        # For each session the classes of its steps.
        self.classes: list[frozenset[int]] = []
        known: dict[frozenset[int], frozenset[int]] = {}
        for start in range(0, steps.count, each):
            if not steps.get(start)[0]:
                raise Failure(f"session {start // each} is due at no time: this is an error in dyno")
            found = frozenset(steps.get(place)[1] for place in range(start, start + each))
            self.classes.append(known.setdefault(found, found))


class Visitor(Client):
    """One client that comes and goes. `take` returns the position of its next session."""

    def __init__(
        self,
        work: Work,
        steps: Steps,
        take: Callable[[], int],
        recorder: Recorder,
        driver: Driver,
        visits: Visits,
    ) -> None:
        super().__init__(work, steps, take, recorder, driver)
        self._visits = visits

    def run(self, began: int) -> None:
        """Runs sessions, one after another, until the time is up or no session is left."""
        wake_in_time()
        now, get, visits = time.monotonic_ns, self._steps.get, self._visits
        stop = self._work.window.stop
        end = float("inf") if stop is None else began + stop
        free = now()
        while free < end and not self.stop:
            place = self._take()
            if place >= len(visits.classes):
                break
            start = place * visits.each
            due = began + get(start)[0]
            if max(due, free) >= end:
                break
            sent = wait(due, self._driver) if due > free else free
            session = self._connect(visits.classes[place])
            done = now()
            self._recorder.connected(due, free, sent, done)
            try:
                for step in range(start, start + visits.each):
                    if done >= end or self.stop:
                        break
                    done = self._step(get(step), done)
            except BaseException:
                _leave_anyhow(session)
                raise
            try:
                session.close()
            except session.errors as error:
                raise Failure(session.words(error)).within("leaving") from None
            free = now()
        else:
            self._leave(began, visits.each, connects=True)

    def _connect(self, classes: frozenset[int]) -> Session:
        try:
            session = self._driver.visit()
        except Failure as failure:
            raise failure.within(CONNECT) from None
        try:
            self.enter(session, classes)
        except session.errors as error:
            _leave_anyhow(session)
            raise Failure(session.words(error)).within(CONNECT) from None
        return session

    def _step(self, step: tuple, sent: int) -> int:
        """Does a step at once. Returns the moment at which it was done."""
        place = step[1]
        try:
            how = self._operations[place](step)
        except self._session.errors as error:
            how = self._again(step, sent, sent, error)
        ended = time.monotonic_ns()
        if how is None or self._is_done(place, sent, ended, how):
            self._recorder.done(place, 0, sent, sent, ended)
        return ended


def _leave_anyhow(session: Session) -> None:
    """Closes the session after a failure and ignores further errors, because that failure is the one to
    report."""
    try:
        session.close()
    except session.errors:
        pass
