"""A client of a mix."""

from collections.abc import Callable
from typing import Any

import psycopg

from ...mix.session import Run
from ..session import CursorSession
from .errors import words_of

# Errors after which a retry may succeed: a serialization failure, a deadlock, a lock that was not available.
MAY_PASS = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.LockNotAvailable,
)


class PostgresSession(CursorSession):
    """A client on a connection. Every statement is prepared when it is executed first, once for each choice
    of types that psycopg makes for its values."""

    errors = psycopg.Error
    parameter = "%s"

    def __init__(self, connection: psycopg.Connection[Any], close: Callable[[], None] | None) -> None:
        self._cursor = connection.cursor()
        super().__init__(self._cursor, close)

    def prepare(self, sql: str) -> Run:
        cursor, execute, fetch = self._cursor, self._execute, self._fetch

        def run(values: tuple[Any, ...]) -> Any:
            execute(sql, values, prepare=True)
            return fetch() if cursor.pgresult.nfields else ()

        return run

    def simple(self, sql: str) -> Run:
        """By a cursor that puts the values into the text, which goes by the simple protocol."""
        cursor = psycopg.ClientCursor(self._cursor.connection)
        execute, fetch = cursor.execute, cursor.fetchall

        def run(values: tuple[Any, ...]) -> Any:
            # Without values the cursor sends the text as it is, and percent signs would stay doubled.
            execute(sql, values, prepare=False)
            return fetch() if cursor.pgresult.nfields else ()

        return run

    def may_pass(self, error: Exception) -> bool:
        return isinstance(error, MAY_PASS)

    def codes(self, error: Exception) -> list[str]:
        return [getattr(error, "sqlstate", None) or ""]

    def words(self, error: Exception) -> str:
        return words_of(error)
