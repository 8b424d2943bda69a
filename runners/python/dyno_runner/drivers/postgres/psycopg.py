"""psycopg, version 3, with libpq as its binary wheel brings it."""

from collections.abc import Callable, Iterator

import psycopg
from psycopg import pq

from ...answer import Answer, Rows
from ...contract import Job
from ...driver import Driver, Hello, identifier, variant_of
from ...failure import Failure
from ...inputs import Column, Load, Statements
from .scratch import Scratch, is_postgres, words_of
from .settings import Settings

# Rows that are read back at once.
BLOCK = 4096


class Psycopg(Driver):
    """A connection to the trial's database.

    It commits by itself, so that the statements of a test and the BEGIN and COMMIT of a load are all there
    is.
    """

    def __init__(self, scratch: Scratch, variant: str) -> None:
        self._scratch = scratch
        self._connection = scratch.connection
        self._cursor = scratch.connection.cursor()
        self._changes = 0
        ways: dict[str, Callable[[Load], None]] = {
            "copy": self._copy,
            "pipeline": self._pipeline,
            "insert": self.insert_rows,
        }
        self._load = ways[variant]

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        variant = variant_of(job, ("copy", "pipeline", "insert"))
        if job.build == "bundled":
            raise Failure("PostgreSQL is a server and has no bundled build")
        settings = Settings(job.settings)
        scratch = Scratch(job.scratch_server(), settings.collate, settings.ctype)
        driver = cls(scratch, variant)
        try:
            settings.apply(scratch.connection)
            return driver, driver._hello(settings)
        except BaseException:
            driver.abandon()
            raise

    def _hello(self, settings: Settings) -> Hello:
        version = str(self.query("SELECT version()")[0][0])
        short = version.split(" (")[0]
        if is_postgres(self._connection):
            short = str(self.query("SHOW server_version")[0][0]).split(" ")[0]
        libpq = pq.version()
        encryption = "TLS" if self._connection.pgconn.ssl_in_use else "none"
        return Hello(
            short,
            f"psycopg {psycopg.__version__} ({pq.__impl__}), libpq {libpq // 10_000}.{libpq % 10_000}",
            settings.in_force(self._connection),
            {"version": [version], "encryption": [encryption]},
        )

    def statements(self, statements: Statements, answer: Answer) -> None:
        run = self._run
        place = 0
        try:
            for place, sql in enumerate(statements.texts()):
                answer.take(run(sql))
        except psycopg.Error as error:
            raise Failure(words_of(error), place) from None

    def _run(self, sql: str) -> Rows:
        cursor = self._cursor
        cursor.execute(sql)
        if cursor.description is not None:
            return cursor.fetchall()
        self._changes += max(0, cursor.rowcount)
        return ()

    def insert_rows(self, load: Load) -> None:
        sql = _insert(load)
        execute = self._cursor.execute
        place = 0
        try:
            for start, stop in load.transactions():
                execute("BEGIN")
                for place, row in enumerate(load.file.tuples(start, stop), start):
                    execute(sql, row, prepare=True)
                execute("COMMIT")
        except psycopg.Error as error:
            raise Failure(words_of(error), place - load.start) from None

    def _pipeline(self, load: Load) -> None:
        """The prepared statement for each row without waiting for the answer to the one before, which is how
        psycopg's `executemany` works on its own."""
        sql = _insert(load)
        cursor = self._cursor
        try:
            for start, stop in load.transactions():
                cursor.execute("BEGIN")
                cursor.executemany(sql, load.file.tuples(start, stop))
                cursor.execute("COMMIT")
        except psycopg.Error as error:
            raise Failure(words_of(error)) from None

    def _copy(self, load: Load) -> None:
        """COPY from the text that the rows are made into, a block at a time."""
        sql = f"COPY {identifier(load.table)} FROM STDIN"
        cursor = self._cursor
        try:
            for start, stop in load.transactions():
                cursor.execute("BEGIN")
                with cursor.copy(sql) as copy:
                    for block in load.file.lines(start, stop):
                        copy.write(block)
                cursor.execute("COMMIT")
        except psycopg.Error as error:
            raise Failure(words_of(error)) from None

    def bulk_load(self, load: Load) -> None:
        self._load(load)

    def scan(self, sql: str, answer: Answer) -> None:
        try:
            answer.take(self._cursor.execute(sql, prepare=True).fetchall())
        except psycopg.Error as error:
            raise Failure(words_of(error)) from None

    def blocks(self, table: str, columns: list[Column]) -> Iterator[Rows]:
        names = ", ".join(identifier(column.name) for column in columns)
        try:
            # A cursor of the server's: the client's own would hold the whole table.
            with self._connection.transaction(), self._connection.cursor(name="dyno") as cursor:
                cursor.execute(f"SELECT {names} FROM {identifier(table)}")
                while rows := cursor.fetchmany(BLOCK):
                    yield rows
        except psycopg.Error as error:
            raise Failure(words_of(error)) from None

    def query(self, sql: str) -> Rows:
        try:
            return self._run(sql)
        except psycopg.Error as error:
            raise Failure(words_of(error)) from None

    def changes(self) -> int:
        return self._changes

    def database_bytes(self) -> int:
        try:
            return int(self._run("SELECT pg_database_size(current_database())")[0][0])
        except psycopg.Error as error:
            if self._connection.closed:
                raise Failure(words_of(error)).within("cannot tell the size of the database") from None
            return 0  # what only speaks the protocol may have no such function

    def close(self) -> None:
        self._scratch.remove()

    def abandon(self) -> None:
        try:
            self._scratch.remove()
        except Failure:
            pass  # the cause is told elsewhere; what cannot be removed now, the next trial removes


def _insert(load: Load) -> str:
    return f"INSERT INTO {identifier(load.table)} VALUES ({', '.join(['%s'] * len(load.columns))})"
