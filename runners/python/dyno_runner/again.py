"""Reads the results of the tests once more after the database was closed and opened again. This finds an
engine that kept data in memory only, or that wrote something else to its files than it returned. None of it
is timed."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .answer import Rows
from .contract import Job, Test
from .driver import Driver
from .failure import Failure
from .values import to_json

# Characters of a row that a message quotes.
QUOTED = 200


def lasting(tests: list[Test]) -> set[int]:
    """The positions of the tests whose answers must be the same at the end, because no later test changes the
    tables they read: the last test that loaded each table. Statements may change anything, so a test of
    statements counts only if it has a check and no later test loads a table or executes statements, and what
    was written before it does not count."""
    found: set[int] = set()
    seen: set[str] = set()
    for place in range(len(tests) - 1, -1, -1):
        test = tests[place]
        if test.model in ("statements", "mix"):
            if not seen and test.check is not None:
                found.add(place)
            break
        table = test.input.get("table")
        if test.model in ("insert-rows", "bulk-load", "import-file") and table not in seen:
            seen.add(table)
            found.add(place)
    return found


@dataclass(frozen=True)
class Left:
    """The answer of a test, and the function that asks for it again."""

    test: Test
    ask: Callable[[Driver], Rows]
    rows: list[list[Any]]

    @classmethod
    def of(cls, test: Test, ask: Callable[[Driver], Rows], rows: Rows) -> "Left":
        """Keeps the digest of an answer."""
        return cls(test, ask, _kept(rows))

    def compare(self, driver: Driver) -> None:
        """Compares the present answer with the kept one."""
        test = self.test.id
        try:
            now = _kept(self.ask(driver))
        except Failure as failure:
            raise failure.within(f"test {test}, after the database was opened again") from None
        if now == self.rows:
            return
        differs = ((one, other) for one, other in zip(self.rows, now) if one != other)
        one, other = next(differs, (f"{len(self.rows)} rows", f"{len(now)} rows"))
        raise Failure(
            f"the database was closed and opened again, and what test {test} had left is not there: {_text(one)} was "
            f"read before and {_text(other)} now. What a commit survives is not what its settings say, or the engine "
            "shows what it did not write"
        )


def read_again(driver: Driver, job: Job, left: list[Left]) -> Driver | None:
    """Closes the database, opens it again and compares. Returns the driver to go on with, or None where the
    database ended with its process and is closed."""
    try:
        reopened = driver.reopened(job)
    except Failure as failure:
        raise failure.within("the database was closed and does not open again") from None
    if reopened is not None:
        try:
            for each in left:
                each.compare(reopened)
        except BaseException:
            reopened.abandon()
            raise
    return reopened


def _kept(rows: Rows) -> list[list[Any]]:
    return [[to_json(value) for value in row] for row in rows]


def _text(row: Any) -> str:
    return row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)[:QUOTED]
