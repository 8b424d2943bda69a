"""Shared by the drivers of engines with SQL: everything but the calls of the client library."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..answer import Answer, Rows
from ..driver import Driver, identifier, unsupported
from ..failure import Failure, one_line
from ..inputs import Column, Load, Statements

# Rows that are read back at once.
BLOCK = 4096


class Sql(Driver):
    """A driver whose calls raise `_error`. A subclass executes statements, reads and inserts rows, and sets
    `_load` to the way that the job's variant names."""

    _error: type[Exception]
    # The spelling of a parameter in a statement.
    _parameter = "?"
    _changes = 0

    def words(self, error: Exception) -> str:
        """The engine's message, with its code where it has one."""
        return one_line(error)

    def _run(self, sql: str) -> Rows:
        """Executes one statement and fetches its rows; where it returns none, adds to `_changes`."""
        raise NotImplementedError

    def _select(self, sql: str) -> Iterator[Rows]:
        """Fetches the rows of a query, some at a time."""
        raise NotImplementedError

    def _insert_row(self, sql: str, row: Sequence[str]) -> Any:
        """Executes the INSERT of one row. A subclass sets a function of its driver in its place."""
        raise NotImplementedError

    def _load(self, load: Load) -> None:
        """Loads many rows by the variant's way, if it has one."""
        raise unsupported("bulk-load by this variant")

    def _begin(self) -> None:
        self._run("BEGIN")

    def _commit(self) -> None:
        self._run("COMMIT")

    @contextmanager
    def _as_failures(self) -> Iterator[None]:
        """Turns an engine's error into a failure."""
        try:
            yield
        except self._error as error:
            raise Failure(self.words(error)) from None

    def statements(self, statements: Statements, start: int, stop: int, answer: Answer) -> None:
        run = self._run
        place = start
        try:
            for place, sql in enumerate(statements.texts(start, stop), start):
                answer.take(run(sql))
        except self._error as error:
            raise Failure(self.words(error), place) from None

    def insert_rows(self, load: Load) -> None:
        sql = self._insert(load)
        insert = self._insert_row
        # That of a row; none at BEGIN and COMMIT.
        place: int | None = None
        try:
            for transaction in self._between(load.ranges(), load.begins()):
                for start, stop in load.turns.parts(*transaction):
                    for place, row in enumerate(load.file.tuples(start, stop), start):
                        insert(sql, row)
                place = None
        except self._error as error:
            raise Failure(self.words(error), None if place is None else place - load.start) from None

    def bulk_load(self, load: Load) -> None:
        with self._as_failures():
            self._load(load)

    def scan(self, sql: str, answer: Answer) -> None:
        answer.take(self.query(sql))

    def blocks(self, table: str, columns: list[Column]) -> Iterator[Rows]:
        names = ", ".join(identifier(column.name) for column in columns)
        with self._as_failures():
            yield from self._select(f"SELECT {names} FROM {identifier(table)}")

    def query(self, sql: str) -> Rows:
        with self._as_failures():
            return self._run(sql)

    def changes(self) -> int:
        return self._changes

    def _transactions(self, load: Load, each: int = 1) -> Iterator[tuple[int, int]]:
        """The ranges of rows that make a transaction each, which begins before and commits after, unless it is a
        single statement of up to `each` rows."""
        return self._between(load.transactions(), load.begins(each))

    def _between(self, ranges: Iterable[tuple[int, int]], begins: bool) -> Iterator[tuple[int, int]]:
        """Ranges of rows, each between BEGIN and COMMIT if `begins`. If something is raised, the transaction stays
        open: the trial ends with it."""
        for start, stop in ranges:
            if begins:
                self._begin()
            yield start, stop
            if begins:
                self._commit()

    def _insert(self, load: Load) -> str:
        """The INSERT of one row with parameters."""
        parameters = ", ".join([self._parameter] * len(load.columns))
        return f"INSERT INTO {identifier(load.table)} VALUES ({parameters})"


def blocks_of(cursor: Any) -> Iterator[Rows]:
    """The rows that a cursor has, some at a time."""
    while rows := cursor.fetchmany(BLOCK):
        yield rows
