"""One trial: the tests of a job in order, each between two readings of the clock."""

import os
from pathlib import Path
from typing import Any, BinaryIO

from . import VERSION
from .clock import Clock
from .contract import PROTOCOL, Job, Test, take
from .driver import Driver
from .drivers import find
from .events import Events
from .failure import Failure
from .models import asked, left_by, perform
from .orders import Orders
from .turns import Giver


class Trial:
    """A job that is being run. `current` names the test at work, also where something raises."""

    def __init__(self, job: Job, events: Events, source: BinaryIO) -> None:
        """Turns and orders, if there are any, come from `source`."""
        self._job = job
        self._events = events
        self._giver = Giver(source, events) if job.turns else None
        self._orders = Orders(source, events)
        self.current: str | None = None

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
                read_back=hello.read_back,
            )
            clock = Clock(
                self._job.server.processes() if self._job.server else [], self._giver, self._job.slowdown
            )
            for test in self._job.tests:
                self.current = test.id
                if self._job.answers_only:
                    self._answer_only(test, driver)
                else:
                    self._test(test, driver, clock)
            self.current = None
        except BaseException:
            driver.abandon()
            raise
        driver.close()
        self._events.send("bye")

    def _test(self, test: Test, driver: Driver, clock: Clock) -> None:
        # The process that reads this may be busy for a moment, perhaps on the same processor: so it is sent
        # before the input is loaded and not just before the clock starts.
        self._events.send("progress", test=test.id)
        for sql in test.setup:
            asked(driver, sql, "the setup")
        sample, answer = perform(test, driver, clock, self._orders)
        if self._job.joins:
            # The process that was joined looks at what all have left.
            self._events.send("sample", test=test.id, **sample)
            return
        size = driver.database_bytes()
        size = folder_bytes(self._job.directory) if size is None else size
        self._events.send("sample", test=test.id, **sample, database_bytes=size)
        check = test.check
        ask = answer if check is None else lambda driver: checked(driver, test, check)
        self._events.send_answer(test.id, ask(driver))

    def _answer_only(self, test: Test, driver: Driver) -> None:
        """Asks what a test of another job has left."""
        self._events.send("progress", test=test.id)
        rows = left_by(test, driver) if test.check is None else checked(driver, test, test.check)
        self._events.send_answer(test.id, rows)


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
