"""Shared by the drivers of MariaDB and MySQL, whose calls are nearly the same."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from ...answer import Rows
from ...contract import Job
from ...inputs import Load
from ..server import ServerDriver, ServerTrial
from ..session import CursorSession
from ..sql import blocks_of
from .errors import MAY_PASS, code_of, number_of, state_of, words_of

# Rows that `executemany` is given at once: it wants a list of them, and makes of it statements of at most
# `max_stmt_length` bytes.
MANY = 10_000


class MySqlSession(CursorSession):
    """A client on a connection. Its driver writes the values into the statement's text. A subclass sets
    `errors`."""

    parameter = "%s"

    def __init__(self, connection: Any, close: Callable[[], None] | None) -> None:
        super().__init__(connection.cursor(), close)

    # Nothing is prepared in any case.
    simple = CursorSession.prepare

    def may_pass(self, error: Exception) -> bool:
        return number_of(error) in MAY_PASS

    def codes(self, error: Exception) -> list[str]:
        code = code_of(error)
        return [code, state_of(error)] if code else []

    def words(self, error: Exception) -> str:
        return words_of(error)


class MySql(ServerDriver):
    """A connection to the trial's database. A subclass names its driver's classes."""

    # The cursor that does not hold all rows.
    _streams: type[Any]

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        super().__init__(job, trial, variant)
        self._cursor = self._connection.cursor()
        self._insert_row = self._cursor.execute

    def _encryption(self) -> str:
        cipher = self.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        return cipher[0][1] if cipher and cipher[0][1] else "none"

    def words(self, error: Exception) -> str:
        return words_of(error)

    def _run(self, sql: str) -> Rows:
        cursor = self._cursor
        count = cursor.execute(sql)
        rows = cursor.fetchall()
        if cursor.description is None:
            self._changes += count
        # A procedure that was called may have more than one result.
        while cursor.nextset():
            rows = [*rows, *cursor.fetchall()]
        return rows

    def _select(self, sql: str) -> Iterator[Rows]:
        # The client's usual cursor would hold the whole table.
        with self._connection.cursor(self._streams) as cursor:
            cursor.execute(sql)
            yield from blocks_of(cursor)

    def _multi_row(self, load: Load) -> None:
        """`executemany`, which makes one INSERT of many rows."""
        sql = self._insert(load)
        for transaction in self._transactions(load, self._together(load, sql)):
            for start, stop in load.turns.parts(*transaction, MANY):
                rows = load.file.tuples(start, stop)
                while many := list(islice(rows, MANY)):
                    self._cursor.executemany(sql, many)

    def _together(self, load: Load, sql: str) -> int:
        """The number of rows that are certainly in one statement: those whose texts, with quotes, parentheses and
        commas, are within the limit of `executemany`."""
        row = load.file.width + 4 * len(load.columns) + 1
        return max(1, min(MANY, (self._cursor.max_stmt_length - len(sql)) // row))
