"""What the two drivers of SQLite have in common: all but how they are called."""

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...answer import Answer, Rows
from ...contract import Job, Setting
from ...driver import Driver, Hello
from ...failure import Failure
from ...inputs import Load, Statements
from ...mix.session import Session
from ..sql import BLOCK, Sql
from .session import SqliteSession
from .settings import Settings


class Database(Sql):
    """An open database. A subclass sets `_cursor`, whose `execute` takes a statement and parameters and whose
    `executemany` takes a statement and rows, and `_error`, what its calls raise."""

    _cursor: Any
    # How it was opened, for more connections to it.
    _job: Job
    _settings: Settings

    @classmethod
    def connect(cls, job: Job, place: str) -> "Database":
        """Opens the library that the job names, and with it the database."""
        raise NotImplementedError

    def driver_version(self) -> str:
        """The driver's name and version."""
        raise NotImplementedError

    def library(self) -> str:
        """The file in which SQLite is."""
        raise NotImplementedError

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        settings = Settings(job)
        # SQLite's temporary files belong on the file system that is measured, like the database.
        os.environ["SQLITE_TMPDIR"] = str(job.directory)
        database = cls._connected(job, settings)
        return database, database._hello(settings.in_force(database.query))

    @classmethod
    def _connected(cls, job: Job, settings: Settings) -> "Database":
        database = cls.connect(job, settings.place(job.directory))
        database._job, database._settings = job, settings
        settings.apply(database.query)
        return database

    def lasts(self) -> bool:
        return self._settings.database == "file"

    def session(self, place: int) -> Session:
        if place == 0:
            return SqliteSession(self, None)
        if self._settings.database != "file":
            raise Failure("a database that is not in a file is that of one connection alone")
        another = self._connected(self._job, self._settings)
        return SqliteSession(another, another.close)

    @property
    def cursor(self) -> Any:
        """The cursor of its connection."""
        return self._cursor

    @property
    def errors(self) -> type[Exception]:
        """What its calls raise."""
        return self._error

    def code(self, error: Exception) -> int:
        """SQLite's code of an error, or 0."""
        raise NotImplementedError

    def _hello(self, settings: list[Setting]) -> Hello:
        version, source = self.query("SELECT sqlite_version(), sqlite_source_id()")[0]
        options = [row[0] for row in self.query("PRAGMA compile_options")]
        build = {"source_id": [source], "library": [self.library()], "compile_options": options}
        return Hello(version, self.driver_version(), settings, build)

    def _run(self, sql: str) -> Rows:
        return self._cursor.execute(sql).fetchall()

    def statements(self, statements: Statements, start: int, stop: int, answer: Answer) -> None:
        # The loop of all drivers without a call of Python's own in it: where there is no server to wait for,
        # that would show.
        execute = self._cursor.execute
        place = start
        try:
            for place, sql in enumerate(statements.texts(start, stop), start):
                answer.take(execute(sql).fetchall())
        except self._error as error:
            raise Failure(self.words(error), place) from None

    def _select(self, sql: str) -> Iterator[Rows]:
        rows = self._cursor.execute(sql)
        while block := list(islice(rows, BLOCK)):
            yield block

    def _load(self, load: Load) -> None:
        sql = self._insert(load)
        for transaction in self._transactions(load):
            for start, stop in load.turns.parts(*transaction):
                self._cursor.executemany(sql, load.file.tuples(start, stop))
