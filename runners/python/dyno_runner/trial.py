"""One trial: the tests of a job in order, each between two readings of the clock."""

import os
from pathlib import Path
from typing import Any, BinaryIO

from . import VERSION
from .again import Left, lasting, read_again
from .clock import Clock
from .contract import PROTOCOL, Job, Test, take
from .driver import Driver
from .drivers import find
from .events import Events
from .failure import Failure
from .models import asked, perform
from .turns import Giver


class Trial:
    """A job that is being run. `current` names the test at work, also where something raises."""

    def __init__(self, job: Job, events: Events, source: BinaryIO) -> None:
        """Turns, if there are any, come from `source`."""
        self._job = job
        self._events = events
        self._giver = Giver(source, events) if job.turns else None
        self.current: str | None = None
        self._lasting = lasting(job.tests) if job.read_again else set()
        self._left: list[Left] = []

    def run(self) -> None:
        """Goes through the job, from `hello` to `bye`."""
        driver, hello = find(self._job).open(self._job)
        try:
            self._events.send(
                "hello",
                protocol=PROTOCOL,
                runner=f"python {VERSION}",
                engine_version=hello.engine_version,
                driver_version=hello.driver_version,
                build=hello.build,
                settings=[vars(setting) for setting in hello.settings],
            )
            clock = Clock(
                self._job.server.process if self._job.server else None, self._giver, self._job.slowdown
            )
            for place, test in enumerate(self._job.tests):
                self.current = test.id
                self._test(place, test, driver, clock)
            self.current = None
            last = read_again(driver, self._job, self._left) if self._left else driver
        except BaseException:
            driver.abandon()
            raise
        if last is not None:
            last.close()
        self._events.send("bye")

    def _test(self, place: int, test: Test, driver: Driver, clock: Clock) -> None:
        # The process that reads this may be busy for a moment, perhaps on the same processor: so it is sent
        # before the input is loaded and not just before the clock starts.
        self._events.send("progress", test=test.id)
        for sql in test.setup:
            asked(driver, sql, "the setup")
        sample, answer = perform(test, driver, clock, self._job)
        size = driver.database_bytes()
        size = folder_bytes(self._job.directory) if size is None else size
        self._events.send("sample", test=test.id, **sample, database_bytes=size)
        check = test.check
        ask = answer if check is None else lambda driver: checked(driver, test, check)
        rows = ask(driver)
        self._events.send_answer(test.id, rows)
        if place in self._lasting:
            self._left.append(Left.of(test, ask, rows))


def checked(driver: Driver, test: Test, check: str) -> Any:
    """The rows of a check. If it fails and consists of several invariants, the failure names the first whose
    own query fails."""
    try:
        return asked(driver, check, "the check query")
    except Failure:
        for one in take(test.input, "queries", list, []):
            asked(driver, take(one, "query", str), f"the invariant {take(one, 'says', str)}")
        raise


# The unit in which the kernel counts the blocks of files, in bytes.
BLOCK = 512


def folder_bytes(folder: Path) -> int:
    """The sizes of all files in a folder and below, without holes: engines make files longer than their
    content. A file that disappears meanwhile counts as zero."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                found = os.lstat(os.path.join(parent, name))
                total += min(found.st_size, found.st_blocks * BLOCK)
            except FileNotFoundError:
                pass
    return total
