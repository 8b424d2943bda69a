"""psycopg, version 3, with libpq as its binary wheel brings it."""

from collections.abc import Iterator
from functools import partial

import psycopg
from psycopg import pq

from ...answer import Answer, Rows
from ...contract import Job
from ...driver import Driver, Hello, identifier, variant_of
from ...failure import Failure
from ...inputs import Load
from ...mix.session import Session
from ..server import ServerDriver
from ..sql import blocks_of
from .errors import words_of
from .scratch import PostgresScratch, is_postgres
from .session import PostgresSession
from .settings import Settings

# The ways of loading rows, the usual one first.
VARIANTS = ("copy", "pipeline", "insert")


class Psycopg(ServerDriver):
    """A connection to the trial's database.

    It is in autocommit mode, so that the server gets only the statements of a test and the BEGIN and COMMIT
    of a load.
    """

    _error = psycopg.Error

    def __init__(self, scratch: PostgresScratch, variant: str) -> None:
        super().__init__(scratch, variant)
        self._insert_row = partial(self._cursor.execute, prepare=True)
        ways = {"copy": self._copy, "pipeline": self._pipeline, "insert": self.insert_rows}
        self._load = ways[variant]

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        variant = variant_of(job, VARIANTS)
        if job.build == "bundled":
            raise Failure("PostgreSQL is a server and has no bundled build")
        settings = Settings(job)
        scratch = PostgresScratch(job.scratch_server(), job.engine, settings)
        with scratch.opened():
            driver = cls(scratch, variant)
            return driver, driver._hello(settings)

    @classmethod
    def join(cls, job: Job) -> Driver:
        scratch = PostgresScratch(job.scratch_server(), job.engine, Settings(job))
        scratch.join()
        return cls(scratch, variant_of(job, VARIANTS))

    def _hello(self, settings: Settings) -> Hello:
        version = str(self.query("SELECT version()")[0][0])
        short = version.split(" (")[0]
        if is_postgres(version):
            short = str(self.query("SHOW server_version")[0][0]).split(" ")[0]
        libpq = pq.version()
        encryption = "TLS" if self._connection.pgconn.ssl_in_use else "none"
        return Hello(
            short,
            f"psycopg {psycopg.__version__} ({pq.__impl__}), libpq {libpq // 10_000}.{libpq % 10_000}",
            settings.in_force(self._connection),
            {"version": [version], "encryption": [encryption]},
        )

    def words(self, error: Exception) -> str:
        return words_of(error)

    def session(self, place: int) -> Session:
        return PostgresSession(self._connection, None) if place == 0 else self.visit()

    def visit(self) -> Session:
        another = self._scratch.another()
        return PostgresSession(another, another.close)

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
        with self._told():
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

    def _is_lost(self) -> bool:
        return self._connection.closed

    def database_bytes(self) -> int:
        # Other systems that speak the protocol may have no such function.
        return self._bytes_if_told("SELECT pg_database_size(current_database())") or 0
