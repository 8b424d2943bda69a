"""What a table holds, in a few numbers that every language can compute: a count, and sums of CRC-32 as zlib
has it. Sums do not depend on the order of rows, which tables do not promise."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from .answer import Rows
from .failure import Failure


class TableDigest:
    """The digest of a table, taken in block by block."""

    def __init__(self, columns: Sequence[str], shown: Sequence[str]) -> None:
        """`shown` are the first cells of the rows that are to be shown whole."""
        self._names = columns
        self._count = 0
        self._columns = [0] * len(columns)
        # The sum over whole rows tells cells of different rows that changed places.
        self._rows = 0
        self._shown = list(shown)
        self._found: dict[str, Sequence[Any]] = {}

    def add(self, rows: Rows) -> None:
        """Takes in rows. A cell that is not text is a failure: what was loaded was text."""
        if not rows:
            return
        columns = list(zip(*rows))
        if len(columns) != len(self._names):
            raise Failure(f"row {self._count + 1} has {len(columns)} columns and not {len(self._names)}")
        cells = [self._encode(name, column) for name, column in zip(self._names, columns)]
        self._columns = [total + sum(map(crc32, column)) for total, column in zip(self._columns, cells)]
        self._rows += sum(map(crc32, map(b"".join, zip(*cells))))
        self._count += len(rows)
        wanted = set(self._shown)
        if not wanted.isdisjoint(columns[0]):
            self._found.update((row[0], row) for row in rows if row[0] in wanted)

    def _encode(self, name: str, column: Sequence[Any]) -> list[bytes]:
        for kind in set(map(type, column)) - {str}:
            raise Failure(f"a cell of the column {name} is stored as {kind.__name__} and not as text")
        return [cell.encode() for cell in column]

    def answer(self) -> list[Sequence[Any]]:
        """The rows of the answer: the count and the sums, then each wanted row or one NULL."""
        sums = [self._count, *self._columns, self._rows]
        return [sums, *(self._found.get(first, [None]) for first in self._shown)]
