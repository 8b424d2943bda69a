"""The section of a mix in one process: prepares all of its clients, starts them at one instant, and merges
their results.

Each client is a thread, as in a Python program that serves many clients at once. The threads share one
interpreter: the time that they wait for its lock is part of the measurement. Where a driver has an event loop,
one thread has all clients.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from ..clock import Clock
from ..driver import Driver
from ..failure import Failure
from ..orders import Orders
from .client import Client
from .recorder import Recorder
from .session import Session
from .steps import Steps, load
from .visitor import Visitor, Visits
from .work import Work

# The time before the start at which clients are given the moment, so that all of them have it in time.
NOTICE = 5_000_000


@dataclass
class Done:
    """The results of a mix: the moments at which the clients began and the last of them ended, their records,
    and the section as the clock measured it."""

    began: int
    last: int
    recorders: list[Recorder]
    section: dict[str, Any]


class Seat:
    """The place of one client: with a session, or with None where it comes and goes."""

    def __init__(self, place: int, section: "Section", session: Session | None) -> None:
        self.name = f"client {section.before + place + 1}"
        self._place = place
        self._section = section
        self._session = session
        is_due = session is not None and section.steps[0].get(0)[0] > 0
        self.recorder = Recorder(len(section.work.classes), is_due, connects=session is None)
        self.client: Client | None = None

    def prepare(self) -> None:
        """Makes the client, and says that it is ready or why it is not."""
        self._section.ready.put(self._try(self._prepare))

    def work(self) -> None:
        """Lets the client work, and says when it ended and how."""
        error = self._try(self._work)
        self._section.done.put((time.monotonic_ns(), error))

    def _prepare(self) -> None:
        section = self._section
        work, shared, driver = section.work, section.take, section.driver
        steps = section.steps[0 if shared else self._place]
        take = shared or count().__next__
        if self._session is None:
            self.client = Visitor(work, steps, take, self.recorder, driver, section.visits)
        else:
            self.client = Client(work, steps, take, self.recorder, driver)
            self.client.enter(self._session)

    def _work(self) -> None:
        sleep_until(self._section.began)
        self.client.run(self._section.began)

    def _try(self, work: Any) -> BaseException | None:
        """Runs a part of the client's work, and returns the exception that it raised."""
        session = self._session
        try:
            work()
        except Failure as failure:
            return failure.within(self.name)
        except session.errors if session else () as error:
            return Failure(session.words(error)).within(self.name)
        except BaseException as error:
            return error
        return None


class Thread(threading.Thread):
    """The thread of one client or of several."""

    def __init__(self, section: "Section", seats: list[Seat]) -> None:
        super().__init__(name=seats[0].name, daemon=True)
        self._section = section
        self._seats = seats

    def run(self) -> None:
        section, seats = self._section, self._seats
        section.driver.at_once([seat.prepare for seat in seats])
        section.goes.wait()
        # It is set once all are ready.
        if section.began is not None:
            section.driver.at_once([seat.work for seat in seats])
        # The counters of a thread that ends are lost with it.
        section.leave.wait()


class Section:
    """The state that all clients of a process share."""

    def __init__(self, work: Work, driver: Driver, orders: Orders | None) -> None:
        self.work = work
        self.driver = driver
        # Says when the clients begin and may leave, where other processes have the rest of them.
        self.orders = orders
        self.before = work.before or 0
        self.steps: list[Steps] = load(work)
        # Returns the next unclaimed step, where clients share one file. It is one call of C, so no two
        # clients get the same.
        self.take = count().__next__ if work.shares else None
        # Where clients come and go, their sessions.
        self.visits = None if work.session is None else Visits(work, self.steps[0])
        # From each client: that it is ready, or why not; when its work ended, and the error if it did not end
        # as planned.
        self.ready: SimpleQueue[BaseException | None] = SimpleQueue()
        self.done: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()
        # To all clients: that they may begin, at `began` or, where that is None, not at all; and that their
        # threads may end.
        self.goes = threading.Event()
        self.began: int | None = None
        self.leave = threading.Event()


def perform_section(work: Work, driver: Driver, clock: Clock, orders: Orders | None) -> Done:
    """Runs a mix, or the part of it that the clients of this process have."""
    section = Section(work, driver, orders)
    sessions: list[Session | None] = []
    threads: list[Thread] = []
    try:
        for place in range(work.clients):
            try:
                sessions.append(None if section.visits else driver.session(place))
            except Failure as failure:
                number, of = section.before + place + 1, section.before + work.clients
                raise failure.within(f"client {number} of {of}") from None
        seats = [Seat(place, section, session) for place, session in enumerate(sessions)]
        parts = [seats] if driver.shares_thread else [[seat] for seat in seats]
        threads = [Thread(section, part) for part in parts]
        for thread in threads:
            thread.start()
        return _let_go(section, seats, clock)
    finally:
        section.goes.set()
        section.leave.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        for session in sessions:
            if session is not None:
                session.close()


def _let_go(section: Section, seats: list[Seat], clock: Clock) -> Done:
    """Lets all clients begin once they are ready, and times them. When it returns, all have stopped."""
    window = section.work.window
    # This waits for all of them, because their sessions are closed afterwards.
    _raise_first([section.ready.get() for _ in seats])
    clock.collect()
    clock.count(window.start > 0)
    orders = section.orders
    section.began = began = time.monotonic_ns() + NOTICE if orders is None else orders.begin()
    section.goes.set()
    sleep_until(began + window.start)
    ends: list[tuple[int, BaseException | None]] = []
    try:
        _, sample = clock.clients(lambda: _wait(section, ends, len(seats)))
    finally:
        for seat in seats:
            seat.client.stop = True
        ends += [section.done.get() for _ in range(len(seats) - len(ends))]
    _raise_first([error for _, error in ends])
    if orders is not None:
        # Before a connection is closed: the costs of a server are read now.
        orders.end()
    last = max(end for end, _ in ends)
    return Done(began, last, [seat.recorder for seat in seats], sample["section"])


def _wait(section: Section, ends: list[tuple[int, BaseException | None]], clients: int) -> None:
    """Waits until the time is up, or all clients are done, or one has failed. Adds the moments at which
    clients ended to `ends`."""
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
    # Clients whose steps ran out early are idle for the rest of the time.
    if end is not None:
        sleep_until(end)


def sleep_until(moment: int) -> None:
    """Sleeps until a moment of the monotonic clock."""
    time.sleep(max(0, moment - time.monotonic_ns()) / 1e9)


def _raise_first(errors: list[BaseException | None]) -> None:
    for error in errors:
        if error is not None:
            raise error
