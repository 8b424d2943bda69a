"""A client of a mix."""

from collections.abc import Callable
from typing import Any

from ...mix.session import Execute
from ..session import CursorSession

# SQLite's codes of errors. The lowest byte of a longer one is one of these.
ERROR, BUSY, LOCKED = 1, 5, 6


class SqliteSession(CursorSession):
    """A client on a connection. It takes the write lock at the beginning of a transaction that writes: one
    that read first could not wait for it, since what it has read may have changed meanwhile
    (https://www.sqlite.org/lang_transaction.html)."""

    begins_write = "BEGIN IMMEDIATE"

    def __init__(self, database: Any, close: Callable[[], None] | None) -> None:
        """`database` is a `Database`."""
        super().__init__(database.cursor, close)
        self.errors = database.errors
        self.words = database.words
        self._code = database.code
        self._execute_simply = database.execute_simply

    def wait_for_locks(self, patience: int) -> None:
        self._execute(f"PRAGMA busy_timeout = {patience // 1_000_000}").fetchall()

    def simple(self, sql: str) -> Execute:
        execute, fetch = self._execute_simply, self._fetch
        if execute is None:
            return super().simple(sql)

        def run(values: tuple[Any, ...]) -> Any:
            execute(sql, values)
            return fetch()

        return run

    def is_over(self, error: Exception) -> bool:
        # There is no transaction.
        return self._code(error) & 0xFF == ERROR

    def codes(self, error: Exception) -> list[str]:
        code = self._code(error)
        return [str(code), str(code & 0xFF)]

    def may_pass(self, error: Exception) -> bool:
        return self._code(error) & 0xFF in (BUSY, LOCKED)
