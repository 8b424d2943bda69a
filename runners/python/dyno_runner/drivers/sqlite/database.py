"""Shared by the two drivers of SQLite: everything but the calls of the module."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from ...answer import Answer, Rows
from ...contract import Job
from ...driver import Driver, Hello
from ...failure import Failure
from ...inputs import Load, Statements
from ...mix.session import Session
from ..listed import JobSql, OnConnect
from ..sql import BLOCK, Sql
from .session import SqliteSession
from .settings import database_of, location

# The time that a connection waits for a lock when others may be open, in milliseconds.
PATIENCE = 10_000


class Database(Sql):
    """An open database. A subclass sets `_error`, what its calls raise, and has a connection whose cursor's
    `execute` takes a statement and parameters, and `executemany` a statement and rows."""

    _connection: Any
    _cursor: Any
    # The arguments of the first connection, for more connections to it.
    _job: Job
    _place: str
    _settings: OnConnect

    @classmethod
    def connect(cls, job: Job, place: str) -> "Database":
        """Opens the library that the job names, and with it the database."""
        raise NotImplementedError

    def beside(self, place: str) -> "Database":
        """Opens the database once more, with the same library."""
        raise NotImplementedError

    def _work_by(self, connection: Any) -> None:
        """Uses a connection from now on."""
        self._connection = connection
        self._cursor = connection.cursor()
        self._insert_row = self._cursor.execute

    def driver_version(self) -> str:
        """The driver's name and version."""
        raise NotImplementedError

    def library(self) -> str:
        """The file that contains SQLite."""
        raise NotImplementedError

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        database = cls._opened(job)
        if job.joins:
            database._among_others()
        else:
            database._settings.apply(database._sql())
        return database, database._hello(database._sql().read_back(job.read_back))

    @classmethod
    def _opened(cls, job: Job) -> "Database":
        place = database_of(job)
        # SQLite's temporary files belong on the measured file system, like the database.
        os.environ["SQLITE_TMPDIR"] = str(job.directory)
        database = cls.connect(job, location(place, job.directory))
        database._job, database._place, database._settings = job, place, OnConnect(job.on_connect)
        return database

    def _sql(self) -> JobSql:
        """Executes what the job lists by the connection."""
        return JobSql(self._run, self._error, lambda error: str(self.code(error) or ""), self.words)

    def _another(self) -> "Database":
        """One more connection to the database, with the settings in force."""
        self._check_several()
        another = self.beside(location(self._place, self._job.directory))
        another._job, another._place, another._settings = self._job, self._place, self._settings
        return another._among_others()

    def _check_several(self) -> None:
        """Rejects a database that cannot have more than one connection."""
        if self._place != "file":
            raise Failure("a database that is not in a file is that of one connection alone")

    def _among_others(self) -> "Database":
        """Applies the settings while other connections may be about to write, or to close the database: waits
        for their locks."""
        self.query(f"PRAGMA busy_timeout = {PATIENCE}")
        self._settings.apply(self._sql())
        return self

    def session(self, place: int) -> Session:
        return SqliteSession(self, None) if place == 0 else self.visit()

    def visit(self) -> Session:
        another = self._another()
        return SqliteSession(another, another.close)

    @contextmanager
    def aside(self) -> Iterator[None]:
        # The last connection that closes copies the log into the database and removes it, which is part of
        # the cost of clients that come and go.
        self._check_several()
        self.close()
        yield
        self._work_by(self._another()._connection)

    def close(self) -> None:
        self._connection.close()

    @property
    def cursor(self) -> Any:
        """The cursor of its connection."""
        return self._cursor

    @property
    def execute_simply(self) -> Callable[..., Any] | None:
        """The cursor's call that prepares a statement anew and keeps none; None where the module has none."""
        return None

    @property
    def errors(self) -> type[Exception]:
        """The exceptions that its calls raise."""
        return self._error

    def code(self, error: Exception) -> int:
        """SQLite's code of an error, or 0."""
        raise NotImplementedError

    def _hello(self, answers: list[dict[str, Any]]) -> Hello:
        version, source = self.query("SELECT sqlite_version(), sqlite_source_id()")[0]
        options = [row[0] for row in self.query("PRAGMA compile_options")]
        build = {"source_id": [source], "library": [self.library()], "compile_options": options}
        return Hello(version, self.driver_version(), [], build, answers)

    def _run(self, sql: str) -> Rows:
        return self._cursor.execute(sql).fetchall()

    def statements(self, statements: Statements, start: int, stop: int, answer: Answer) -> None:
        # The loop of all drivers, without a Python-level call per row: where there is no server to wait for,
        # such a call would be measurable.
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
