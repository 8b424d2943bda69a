"""The section of a mix: all clients made ready, let go at once, and brought together again.

Each client is a thread, as a program in Python that serves many at once has it. The threads share one
interpreter: what they wait for its lock is a part of what is measured.
"""

import threading
import time
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from ..clock import Clock
from ..driver import Driver
from ..failure import Failure
from .client import Client
from .recorder import Recorder, Sum
from .session import Session
from .steps import Steps, load
from .work import Work

# How long before they begin the clients are told to, so that all of them have heard it.
NOTICE = 5_000_000


class Thread(threading.Thread):
    """The life of one client."""

    def __init__(self, place: int, section: "Section", session: Session) -> None:
        super().__init__(name=f"client {place + 1}", daemon=True)
        self._place = place
        self._section = section
        self._session = session
        self.recorder = Recorder(len(section.work.classes), section.steps[0].get(0)[0] > 0)
        self.client: Client | None = None

    def run(self) -> None:
        section = self._section
        error = self._try(self._prepare)
        section.ready.put(error)
        section.goes.wait()
        if error is None and section.began is not None:
            error = self._try(self._work)
            section.done.put((time.monotonic_ns(), error))
        # The counters of a thread that ends are gone with it.
        section.leave.wait()

    def _prepare(self) -> None:
        section = self._section
        shared = len(section.steps) < section.work.clients
        steps = section.steps[0 if shared else self._place]
        take = section.next if shared else count().__next__
        self.client = Client(section.work, self._session, steps, take, self.recorder)

    def _work(self) -> None:
        _sleep_until(self._section.began)
        self.client.run(self._section.began)

    def _try(self, work: Any) -> BaseException | None:
        """Does a part of its life, and returns what was raised."""
        try:
            work()
        except Failure as failure:
            return failure.within(self.name)
        except self._session.errors as error:
            return Failure(self._session.words(error)).within(self.name)
        except BaseException as error:
            return error
        return None


class Section:
    """What all clients of a section share."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.steps: list[Steps] = load(work)
        # The next step that nobody has. One call of C, so no two clients get the same.
        self.next = count().__next__
        # From each client: that it is ready, or why not; when its work ended, and why if that is not how it
        # should.
        self.ready: SimpleQueue[BaseException | None] = SimpleQueue()
        self.done: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()
        # To all: that they may begin, at `began` or, where that is None, not at all; and that their threads
        # may end.
        self.goes = threading.Event()
        self.began: int | None = None
        self.leave = threading.Event()


def perform(work: Work, driver: Driver, clock: Clock) -> dict[str, Any]:
    """Does a mix. Returns its sample."""
    section = Section(work)
    sessions: list[Session] = []
    threads: list[Thread] = []
    try:
        for place in range(work.clients):
            try:
                sessions.append(driver.session(place))
            except Failure as failure:
                raise failure.within(f"client {place + 1} of {work.clients}") from None
        threads = [Thread(place, section, session) for place, session in enumerate(sessions)]
        sample = _let_go(section, threads, clock)
    finally:
        section.goes.set()
        section.leave.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        for session in sessions:
            session.close()
    told = Sum(work, section.began, [thread.recorder for thread in threads])
    if not told.operations:
        why = next((f": {one['failure']}" for one in told.classes if one["failure"]), "")
        raise Failure(f"no operation succeeded within the time{why}")
    return sample | {"operations": told.operations, "classes": told.classes, "ticks": told.ticks}


def _let_go(section: Section, threads: list[Thread], clock: Clock) -> dict[str, Any]:
    """Lets all clients begin, and times them. When it returns, none is at work."""
    window = section.work.window
    for thread in threads:
        thread.start()
    # All are waited for, because their sessions are closed after this.
    _raise_first([section.ready.get() for _ in threads])
    clock.collect()
    section.began = began = time.monotonic_ns() + NOTICE
    section.goes.set()
    _sleep_until(began + window.start)
    ends: list[tuple[int, BaseException | None]] = []
    try:
        _, sample = clock.section(lambda: _wait(section, ends, len(threads)))
    finally:
        for thread in threads:
            thread.client.stop = True
        ends += [section.done.get() for _ in range(len(threads) - len(ends))]
    _raise_first([error for _, error in ends])
    # What ended later does not count; and the clients began before whoever looks at the clock was awake.
    last = max(end for end, _ in ends) - began
    sample["section"]["nanoseconds"] = last if window.stop is None else window.duration
    return sample


def _wait(section: Section, ends: list[tuple[int, BaseException | None]], clients: int) -> None:
    """Waits until the time is up, or all clients are done, or one has failed. Adds those that are done to
    `ends`."""
    stop = section.work.window.stop
    end = None if stop is None else section.began + stop
    while len(ends) < clients:
        left = None if end is None else max(0, end - time.monotonic_ns()) / 1e9
        try:
            ends.append(section.done.get(timeout=left))
        except Empty:
            break
        if ends[-1][1] is not None:
            return
    # Clients whose steps came to an end before their time leave the rest of it empty.
    if end is not None:
        _sleep_until(end)


def _sleep_until(moment: int) -> None:
    time.sleep(max(0, moment - time.monotonic_ns()) / 1e9)


def _raise_first(errors: list[BaseException | None]) -> None:
    for error in errors:
        if error is not None:
            raise error
