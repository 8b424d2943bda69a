"""A client of a mix, of drivers whose statements are executed by a cursor."""

from collections.abc import Callable
from typing import Any

from ..mix.session import Run, Session


class CursorSession(Session):
    """A client with a cursor of its own. A subclass sets `errors` and says what may pass."""

    # What begins a transaction that writes.
    begins_write = "BEGIN"

    def __init__(self, cursor: Any, close: Callable[[], None] | None = None) -> None:
        """`close` closes the connection where it was opened for this client."""
        self._execute = cursor.execute
        self._fetch = cursor.fetchall
        self._close = close

    def prepare(self, sql: str) -> Run:
        """The driver prepares a statement when it is executed first, if it does, and keeps it."""
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
        return self._execute("ROLLBACK")

    def close(self) -> None:
        if self._close:
            self._close()
