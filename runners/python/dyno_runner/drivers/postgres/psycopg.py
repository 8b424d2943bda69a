"""psycopg, version 3, with libpq as its binary wheel brings it."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
from psycopg import pq
from psycopg.types.string import TextLoader

from ...answer import Answer, Rows
from ...contract import Job, Server
from ...driver import identifier
from ...inputs import Load
from ...mix.session import Execute
from ..listed import JobSql
from ..server import ServerDriver, ServerTrial
from ..session import CursorSession
from ..sql import blocks_of
from .access import ENCRYPTION, PATIENCE, PostgresAccess
from .errors import PostgresErrors, code_of, words_of
from .written import AS_WRITTEN

for kind in AS_WRITTEN:
    psycopg.adapters.register_loader(kind, TextLoader)

# The ways of loading rows, the usual one first.
VARIANTS = ("copy", "pipeline", "insert")


class PsycopgAccess(PostgresAccess):
    """A server that psycopg reaches."""

    def connect(self, database: str | None) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(**_options(self._server, database), autocommit=True)
        except psycopg.Error as error:
            raise self.refused(database, error) from None

    def sql(self, connection: psycopg.Connection[Any]) -> JobSql:
        def run(sql: str) -> Any:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description is not None else ()

        return JobSql(run, psycopg.Error, code_of, words_of)


def _options(server: Server, database: str | None) -> dict[str, Any]:
    """libpq's keywords and their values. Those of the user's URL come first: they cannot lead to another
    server or database."""
    options: dict[str, Any] = {"application_name": "dyno", "connect_timeout": PATIENCE, "sslmode": ENCRYPTION}
    options |= server.options
    if server.port is not None:
        options["port"] = server.port
    if server.password is not None:
        options["password"] = server.password
    return options | {"host": server.host, "user": server.user, "dbname": database, "client_encoding": "UTF8"}


class PsycopgSession(PostgresErrors, CursorSession):
    """A client on a connection. Every statement is prepared when it is executed first, once for each choice
    of types that psycopg makes for its values: it has no call that prepares without executing. After a ROLLBACK
    it prepares all of them anew, as after its own `rollback`."""

    errors = psycopg.Error
    parameter = "%s"

    def __init__(self, connection: psycopg.Connection[Any], close: Callable[[], None] | None) -> None:
        # All statements of a mix stay prepared; by default psycopg keeps a hundred.
        connection.prepared_max = None
        super().__init__(connection.cursor(), close)
        # By default psycopg would prepare BEGIN and COMMIT at their sixth execution, within the clock.
        self._execute = partial(self.cursor.execute, prepare=False)

    def prepare(self, sql: str) -> Execute:
        cursor, execute, fetch = self.cursor, self.cursor.execute, self._fetch

        def run(values: tuple[Any, ...]) -> Any:
            execute(sql, values, prepare=True)
            return fetch() if cursor.pgresult.nfields else ()

        return run

    def simple(self, sql: str) -> Execute:
        """By a cursor that puts the values into the text, which goes by the simple protocol."""
        cursor = psycopg.ClientCursor(self.cursor.connection)
        execute, fetch = cursor.execute, cursor.fetchall

        def run(values: tuple[Any, ...]) -> Any:
            # Without values the cursor sends the text as it is, and percent signs would stay doubled.
            execute(sql, values, prepare=False)
            return fetch() if cursor.pgresult.nfields else ()

        return run


class Psycopg(ServerDriver):
    """A connection to the trial's database.

    It is in autocommit mode, so that the server gets only the statements of a test and the BEGIN and COMMIT
    of a load.
    """

    _error = psycopg.Error

    _variants = VARIANTS
    _session = PsycopgSession
    _reaches = PsycopgAccess

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        super().__init__(job, trial, variant)
        self._cursor = self._connection.cursor()
        self._insert_row = partial(self._cursor.execute, prepare=True)
        ways = {"copy": self._copy, "pipeline": self._pipeline, "insert": self.insert_rows}
        self._load = ways[variant]

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

    def _begin(self) -> None:
        self._cursor.execute("BEGIN", prepare=False)

    def _commit(self) -> None:
        self._cursor.execute("COMMIT", prepare=False)

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
        """COPY from the rows converted to text, a block at a time. Each transaction is one statement, which commits on
        its own."""
        sql = f"COPY {identifier(load.table)} FROM STDIN"
        for start, stop in load.transactions():
            with self._cursor.copy(sql) as copy:
                for block in load.file.lines(start, stop):
                    copy.write(block)
