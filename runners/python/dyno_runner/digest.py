"""The content of a table in a few numbers that every language can compute: a count, and sums of zlib's
CRC-32. Sums do not depend on the order of rows, which tables do not promise."""

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from .answer import Rows
from .failure import Failure


class TableDigest:
    """The digest of a table, taken in block by block."""

    def __init__(self, columns: Mapping[str, str], shown: Sequence[str]) -> None:
        """`columns` are the names and types (`text` or `integer`) of the columns, `shown` the first cells of
        the rows that are returned whole."""
        self._kinds = columns
        self._count = 0
        self._columns = [0] * len(columns)
        # The sum over whole rows detects cells that were swapped between rows.
        self._rows = 0
        self._shown = list(shown)
        self._found: dict[str, Sequence[Any]] = {}

    def add(self, rows: Rows) -> None:
        """Adds rows. A cell whose type is not that of its column is a failure."""
        if not rows:
            return
        columns = list(zip(*rows))
        if len(columns) != len(self._kinds):
            raise Failure(f"row {self._count + 1} has {len(columns)} columns and not {len(self._kinds)}")
        cells = [_encode(name, kind, column) for (name, kind), column in zip(self._kinds.items(), columns)]
        self._columns = [total + sum(map(crc32, column)) for total, column in zip(self._columns, cells)]
        self._rows += sum(map(crc32, map(b"".join, zip(*cells))))
        self._count += len(rows)
        wanted = set(self._shown)
        if not wanted.isdisjoint(columns[0]):
            self._found.update((row[0], row) for row in rows if row[0] in wanted)

    def answer(self) -> list[Sequence[Any]]:
        """The rows of the answer: the count and the sums, then each wanted row or one NULL."""
        sums = [self._count, *self._columns, self._rows]
        return [sums, *(self._found.get(first, [None]) for first in self._shown)]


def _encode(name: str, kind: str, column: Sequence[Any]) -> list[bytes]:
    """Cells as texts: a whole number in decimal."""
    wanted, title = (int, "a whole number") if kind == "integer" else (str, "text")
    for found in set(map(type, column)) - {wanted}:
        raise Failure(f"a cell of the column {name} is stored as {found.__name__} and not as {title}")
    return [str(cell).encode() for cell in column]
