"""psycopg, version 3, with libpq as its binary wheel brings it."""

from collections.abc import Iterator
from functools import partial

import psycopg
from psycopg import pq

from ...answer import Answer, Rows
from ...contract import Job
from ...driver import identifier
from ...failure import Failure
from ...inputs import Load
from ..server import ServerDriver, ServerTrial
from ..sql import blocks_of
from .access import PostgresAccess
from .errors import words_of
from .session import PostgresSession

# The ways of loading rows, the usual one first.
VARIANTS = ("copy", "pipeline", "insert")


class Psycopg(ServerDriver):
    """A connection to the trial's database.

    It is in autocommit mode, so that the server gets only the statements of a test and the BEGIN and COMMIT
    of a load.
    """

    _error = psycopg.Error

    _variants = VARIANTS
    _session = PostgresSession

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        super().__init__(job, trial, variant)
        self._insert_row = partial(self._cursor.execute, prepare=True)
        ways = {"copy": self._copy, "pipeline": self._pipeline, "insert": self.insert_rows}
        self._load = ways[variant]

    @classmethod
    def _access(cls, job: Job) -> PostgresAccess:
        if job.build == "bundled":
            raise Failure("PostgreSQL is a server and has no bundled build")
        return PostgresAccess(job.reached())

    @staticmethod
    def _version() -> str:
        libpq = pq.version()
        return f"psycopg {psycopg.__version__} ({pq.__impl__}), libpq {libpq // 10_000}.{libpq % 10_000}"

    def _encryption(self) -> str:
        return "TLS" if self._connection.pgconn.ssl_in_use else "none"

    def words(self, error: Exception) -> str:
        return words_of(error)

    def _run(self, sql: str) -> Rows:
        cursor = self._cursor
        cursor.execute(sql)
        if cursor.description is not None:
            return cursor.fetchall()
        self._changes += max(0, cursor.rowcount)
        return ()

    def _select(self, sql: str) -> Iterator[Rows]:
        # A server-side cursor: the client's usual one would hold the whole table.
        with self._connection.transaction(), self._connection.cursor(name="dyno") as cursor:
            cursor.execute(sql)
            yield from blocks_of(cursor)

    def scan(self, sql: str, answer: Answer) -> None:
        with self._as_failures():
            answer.take(self._cursor.execute(sql, prepare=True).fetchall())

    def _pipeline(self, load: Load) -> None:
        """The prepared statement for each row without waiting for the answer to the one before, which is how
        psycopg's `executemany` works on its own."""
        sql = self._insert(load)
        for transaction in self._transactions(load):
            for start, stop in load.turns.parts(*transaction):
                self._cursor.executemany(sql, load.file.tuples(start, stop))

    def _copy(self, load: Load) -> None:
        """COPY from the rows converted to text, a block at a time."""
        sql = f"COPY {identifier(load.table)} FROM STDIN"
        for start, stop in self._transactions(load):
            with self._cursor.copy(sql) as copy:
                for block in load.file.lines(start, stop):
                    copy.write(block)
