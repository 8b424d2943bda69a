"""The interface of a driver. A driver that implements a model overrides its method; `runner.toml` lists the
models."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from .answer import Answer, Rows
from .contract import Job, Setting
from .failure import Failure
from .inputs import Column, Load, Statements
from .mix.session import Session


@dataclass(frozen=True)
class Hello:
    """The engine's and the driver's versions, and the settings in force. A server's version is empty: it is among
    what the job reads back."""

    engine_version: str
    driver_version: str
    settings: list[Setting]
    build: dict[str, list[str]] = field(default_factory=dict)
    # The rows of the job's queries.
    read_back: list[dict[str, Any]] = field(default_factory=list)


class Driver:
    """An engine as reached through one client library.

    The timed methods do what a careful program would do and nothing else. An engine's error becomes a
    `Failure`, with the position of the operation where it is known.
    """

    # True if one thread has all clients of a mix, because their driver has one event loop for all.
    shares_thread = False
    # The time by which a client ends its sleep earlier than due, in nanoseconds: about as late as it wakes up.
    early = 40_000

    @classmethod
    def open(cls, job: Job) -> tuple["Driver", Hello]:
        """Opens the database in the job's folder, which it makes if it is not there, or on its server, and applies
        the settings asked for.
        The settings in the greeting are read back after all of them are applied. A subclass cleans up what it
        began if this fails."""
        raise NotImplementedError

    def statements(self, statements: Statements, start: int, stop: int, answer: Answer) -> None:
        """Executes the statements in a range of positions and fetches every value of every row. Timed."""
        raise unsupported("statements")

    def insert_rows(self, load: Load) -> None:
        """Inserts each row by a separate call and commits as the load says. Timed."""
        raise unsupported("insert-rows")

    def bulk_load(self, load: Load) -> None:
        """Loads the rows by the way that the job's variant names and commits as the load says. Timed."""
        raise unsupported("bulk-load")

    def import_file(self, load: Load) -> None:
        """Inserts the records of a file, a `RecordFile`, and commits as the load says. Timed."""
        raise unsupported("import-file")

    def scan(self, sql: str, answer: Answer) -> None:
        """Runs a query that counts. Timed."""
        raise unsupported("scan")

    def blocks(self, table: str, columns: list[Column]) -> Iterator[Rows]:
        """Reads columns of a whole table back, some rows at a time, in any order."""
        raise unsupported("a table's digest")

    def session(self, place: int) -> Session:
        """Returns the session of a client of a mix, counted from zero, with the job's settings in force: the
        first client uses the connection that is open already, each other client a new one."""
        raise unsupported("mix")

    def visit(self) -> Session:
        """Returns the session of a client that stays for a short time, with the job's settings in force. It
        does what a careful program does to connect, once. Timed, as is its `close`, and called by several
        threads at once."""
        raise Failure("this driver has no clients that come and go")

    def aside(self) -> AbstractContextManager[None]:
        """Disconnects the driver for a time, where its connection would affect clients that come and go: an
        engine within the process may tidy up when its last connection closes, which a server does not."""
        return nullcontext()

    def at_once(self, calls: list[Callable[[], None]]) -> None:
        """Makes the calls of the clients of one thread, which raise nothing."""
        for call in calls:
            call()

    def sleep(self, seconds: float) -> None:
        """Lets a client sleep."""
        time.sleep(seconds)

    def query(self, sql: str) -> Rows:
        """Runs one query or statement outside the clock: a check or a part of a test's setup."""
        raise Failure("this driver has no SQL")

    def changes(self) -> int:
        """The number of rows inserted, updated or deleted so far, as the engine counts them."""
        return 0

    def database_bytes(self) -> int | None:
        """The size of the database in bytes as reported by a server. None for files in the job's folder,
        whose sizes are added up."""
        return None

    def close(self) -> None:
        """Closes the database, and removes from a server what was made there."""

    def abandon(self) -> None:
        """Removes from a server what was made there, as far as possible, after a failure."""


def variant_of(job: Job, variants: tuple[str, ...]) -> str:
    """The way of working that a job names, or the usual one, which is the first."""
    if job.variant is None:
        return variants[0]
    if job.variant not in variants:
        there = ", ".join(variants)
        raise Failure(f"{job.engine}/{job.driver} has no way of working '{job.variant}'; it has {there}")
    return job.variant


def identifier(name: str) -> str:
    """Checks that a table's name can stand unquoted in a statement."""
    if not (name.isidentifier() and name.isascii()):
        raise Failure(f"'{name}' is no name of a table: letters, digits and _ make one")
    return name


def unsupported(model: str) -> Failure:
    """The failure for a model that a driver does not implement; dyno should not have asked for it."""
    return Failure(f"this driver does not implement the model {model}")
