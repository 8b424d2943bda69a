"""What the two drivers of SQLite have in common: all but how they are called."""

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...answer import Answer, Rows
from ...contract import Job, Setting
from ...driver import Driver, Hello, identifier
from ...failure import Failure
from ...inputs import Column, Load, Statements
from .settings import Settings

# Rows that are read back at once.
BLOCK = 4096


class Database(Driver):
    """An open database. A subclass sets `_cursor`, whose `execute` takes a statement and parameters and whose
    `executemany` takes a statement and rows, and `_error`, what its calls raise."""

    _cursor: Any
    _error: type[Exception]

    @classmethod
    def connect(cls, job: Job, place: str) -> "Database":
        """Opens the library that the job names, and with it the database."""
        raise NotImplementedError

    def words(self, error: Exception) -> str:
        """What SQLite said, with its extended code."""
        raise NotImplementedError

    def driver_version(self) -> str:
        """The driver's name and version."""
        raise NotImplementedError

    def library(self) -> str:
        """The file in which SQLite is."""
        raise NotImplementedError

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        settings = Settings(job.settings)
        # SQLite's temporary files belong on the file system that is measured, like the database.
        os.environ["SQLITE_TMPDIR"] = str(job.directory)
        database = cls.connect(job, settings.place(job.directory))
        settings.apply(database.query)
        return database, database._hello(settings.in_force(database.query))

    def _hello(self, settings: list[Setting]) -> Hello:
        version, source = self.query("SELECT sqlite_version(), sqlite_source_id()")[0]
        options = [row[0] for row in self.query("PRAGMA compile_options")]
        build = {"source_id": [source], "library": [self.library()], "compile_options": options}
        return Hello(version, self.driver_version(), settings, build)

    def statements(self, statements: Statements, answer: Answer) -> None:
        execute = self._cursor.execute
        place = 0
        try:
            for place, sql in enumerate(statements.texts()):
                answer.take(execute(sql).fetchall())
        except self._error as error:
            raise self._failure(error, place) from None

    def insert_rows(self, load: Load) -> None:
        sql = _insert(load)
        execute = self._cursor.execute
        place = 0
        try:
            for start, stop in load.transactions():
                execute("BEGIN")
                # The driver keeps the statement prepared from one call to the next.
                for place, row in enumerate(load.file.tuples(start, stop), start):
                    execute(sql, row)
                execute("COMMIT")
        except self._error as error:
            raise self._failure(error, place - load.start) from None

    def bulk_load(self, load: Load) -> None:
        sql = _insert(load)
        cursor = self._cursor
        try:
            for start, stop in load.transactions():
                cursor.execute("BEGIN")
                cursor.executemany(sql, load.file.tuples(start, stop))
                cursor.execute("COMMIT")
        except self._error as error:
            raise self._failure(error) from None

    def scan(self, sql: str, answer: Answer) -> None:
        answer.take(self.query(sql))

    def blocks(self, table: str, columns: list[Column]) -> Iterator[Rows]:
        names = ", ".join(identifier(column.name) for column in columns)
        try:
            rows = self._cursor.execute(f"SELECT {names} FROM {identifier(table)}")
            while block := list(islice(rows, BLOCK)):
                yield block
        except self._error as error:
            raise self._failure(error) from None

    def query(self, sql: str) -> Rows:
        try:
            return self._cursor.execute(sql).fetchall()
        except self._error as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception, place: int | None = None) -> Failure:
        return Failure(self.words(error), place)


def _insert(load: Load) -> str:
    return f"INSERT INTO {identifier(load.table)} VALUES ({', '.join('?' * len(load.columns))})"
