"""A client of a mix, for drivers that execute statements by a cursor."""

from collections.abc import Callable
from typing import Any

from ..mix.session import Execute, Session


class CursorSession(Session):
    """A client with its own cursor. A subclass sets `errors` and says which of them are worth a retry."""

    # The statement that begins a transaction that writes.
    begins_write = "BEGIN"

    def __init__(self, cursor: Any, close: Callable[[], None] | None = None) -> None:
        """`close` closes the connection where it was opened for this client."""
        self.cursor = cursor
        self._execute = cursor.execute
        self._fetch = cursor.fetchall
        self._close = close

    def prepare(self, sql: str) -> Execute:
        """A driver that prepares statements does so when it executes one for the first time, and keeps it."""
        execute, fetch = self._execute, self._fetch

        def run(values: tuple[Any, ...]) -> Any:
            execute(sql, values)
            return fetch()

        return run

    def begin_read(self) -> Any:
        return self._execute("BEGIN")

    def begin_write(self) -> Any:
        return self._execute(self.begins_write)

    def commit(self) -> Any:
        return self._execute("COMMIT")

    def rollback(self) -> Any:
        try:
            return self._execute("ROLLBACK")
        except self.errors as error:
            if not self.is_over(error):
                raise
            return None

    def is_over(self, error: Exception) -> bool:
        """True if the error of a rollback says that the engine has done it already."""
        return False

    def close(self) -> None:
        if self._close:
            self._close()
