"""The section of a mix whose clients are processes: each is this program once more, with its own driver on
the same database. This process starts all of them at one instant, and merges what they recorded.

Messages between the two are pickled, because both are the same program: a `ClientJob`, that the client is
ready, the moment to begin, and the results in `Done`. Once its standard input is closed, a client closes the
database, and says so: a server's costs are read before, because those of a connection that has ended are
known only as precisely as the kernel's tick. While they work, clients share only the position of the next
step, where all use one file.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from array import array
from dataclasses import dataclass, replace
from functools import reduce
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

from ..clock import Clock
from ..contract import Job
from ..failure import Failure
from ..turns import added
from .section import Done, sleep_until
from .work import Work

# The argument, after the folder of dyno's own program, with which this program is a client.
CLIENT = "client"
# How long before the start the clients are given the moment.
NOTICE = 20_000_000

# A client's message: that it is ready, its results, that it has closed the database, or why it failed.
READY, DONE, CLOSED, FAILED = "ready", "done", "closed", "failed"


@dataclass(frozen=True)
class ClientJob:
    """The job of a client: its part of a mix, on the database of a job, after `before` other clients."""

    job: Job
    work: Work
    before: int
    # Where all clients share one file of steps: the file that holds the number of the next step.
    numbers: int | None
    # The process that started the client.
    parent: int


def perform(work: Work, job: Job, clock: Clock) -> Done:
    """Runs a mix by processes."""
    # The cost of a server's processes is counted once, by this process.
    server = None if job.server is None else replace(job.server, process=None)
    job = replace(job, tests=[], turns=False, server=server)
    numbers = _numbers(work) if work.shares else None
    with Clients() as clients:
        for place in range(work.clients):
            clients.start(ClientJob(job, work.part(place), place, numbers, os.getpid()))
        if numbers is not None:
            os.close(numbers)
        for _ in range(work.clients):
            clients.next(None, READY)
        clock.collect()
        window = work.window
        clock.count(window.start > 0)
        began = time.monotonic_ns() + NOTICE
        clients.begin(began)
        sleep_until(began + window.start)
        end = None if window.stop is None else began + window.stop
        parts: list[Done] = []
        _, own = clock.clients(lambda: _collect(clients, parts, work.clients, end))
        _collect(clients, parts, work.clients, None)
        clients.end()
    section = own["section"]
    section["client"] = reduce(added, [part.section["client"] for part in parts], section["client"])
    recorders = [recorder for part in parts for recorder in part.recorders]
    return Done(began, max(part.last for part in parts), recorders, section)


def _collect(clients: "Clients", parts: list[Done], count: int, until: int | None) -> None:
    """Collects the results of clients, until all have reported or a moment has come."""
    while len(parts) < count:
        said = clients.next(until, DONE)
        if said is None:
            return
        parts.append(said)
    # Clients whose steps came to an end before their time leave the rest of it empty.
    if until is not None:
        sleep_until(until)


def _numbers(work: Work) -> int:
    """A file in memory with a number for each step, or for each session, from 0 on. Each number is read by
    exactly one client: all processes that inherit the file share one position in it, which the kernel
    advances."""
    _, steps = work.steps[0]
    memory = os.memfd_create("steps")
    with open(memory, "wb") as file:
        array("Q", range(steps // (work.session or 1))).tofile(file)
        file.flush()
        # Opened as a regular file, because for those the kernel locks the position during a read.
        return os.open(f"/proc/self/fd/{memory}", os.O_RDONLY)


class Clients:
    """Client processes. They are killed when the context is left."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        # The messages of clients, each with the client's position; None: the client has closed its output.
        self._said: SimpleQueue[tuple[int, tuple[str, Any] | None]] = SimpleQueue()
        # The clients that have closed the database, by position.
        self._closed: set[int] = set()

    def __enter__(self) -> "Clients":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            # A client that has already ended is no error.
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                _closed(stream)

    def start(self, job: ClientJob) -> None:
        """Starts one and gives it its job."""
        place = len(self._processes)
        command = [sys.executable, *sys.orig_argv[1:], CLIENT]
        inherits = [] if job.numbers is None else [job.numbers]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=inherits
            )
        except OSError as error:
            raise Failure(f"cannot start a process for a client: {error}") from None
        self._processes.append(process)
        threading.Thread(target=self._listen, args=(place, process.stdout), daemon=True).start()
        self._tell(place, job)

    def begin(self, moment: int) -> None:
        """Sends all of them the moment at which they begin."""
        for place in range(len(self._processes)):
            self._tell(place, moment)

    def next(self, until: int | None, wanted: str) -> Any:
        """The next message of a client; None if a moment comes first. A client that has failed, or has ended
        before it was done, is a failure."""
        while True:
            left = None if until is None else max(0, until - time.monotonic_ns()) / 1e9
            try:
                place, said = self._said.get(timeout=left)
            except Empty:
                return None
            if said is None:
                # A client that has closed the database sends nothing more.
                if place not in self._closed:
                    raise self._lost(place)
                continue
            kind, what = said
            if kind == FAILED:
                raise Failure(what)
            if kind != wanted:
                raise Failure(f"a client is {kind} that should be {wanted}: this is an error in the runner")
            if kind == CLOSED:
                self._closed.add(place)
            return what

    def end(self) -> None:
        """Has all of them, which are done, close the database, and waits until they have ended."""
        for process in self._processes:
            _closed(process.stdin)
        for _ in self._processes:
            self.next(None, CLOSED)
        for place, process in enumerate(self._processes):
            if process.wait():
                how = _how(process.returncode)
                raise Failure(f"client {place + 1} was done and then did not end well: {how}")

    def _tell(self, place: int, what: Any) -> None:
        try:
            pickle.dump(what, self._processes[place].stdin)
            self._processes[place].stdin.flush()
        except OSError:
            raise self._lost(place) from None

    def _listen(self, place: int, source: BinaryIO) -> None:
        try:
            while True:
                self._said.put((place, pickle.load(source)))
        except Exception:
            # It has ended, perhaps in the middle of a message.
            self._said.put((place, None))

    def _lost(self, place: int) -> Failure:
        """The reason why a client that should be at work has ended."""
        how = _how(self._processes[place].wait())
        return Failure(
            f"client {place + 1} of {len(self._processes)}, a process of its own, is gone in the middle of "
            f"its work: {how}"
        )


def _how(code: int) -> str:
    if code >= 0:
        return f"it ended with exit code {code}"
    return f"it was killed by {signal.Signals(-code).name}"


def _closed(stream: Any) -> None:
    try:
        stream.close()
    except OSError:
        pass  # the process no longer reads what was still to be written
