"""The container into which a driver puts the rows that it fetches.

A client that asks for rows reads their values, and in Python that means having them as objects: so fetching
belongs to the timed section. Turning them into JSON does not.
"""

from collections.abc import Sequence
from typing import Any

Rows = Sequence[Sequence[Any]]


class Answer:
    """The rows of one test, in the order in which they were fetched."""

    def __init__(self, keep: bool) -> None:
        """Without `keep`, rows are counted and dropped, so a test whose answer comes from a check query may
        return any number of them."""
        self.keep = keep
        self.count = 0
        self.rows: list[Sequence[Any]] = []

    def take(self, rows: Rows) -> None:
        """Adds the rows that a statement has returned."""
        self.count += len(rows)
        if self.keep:
            self.rows.extend(rows)
