"""The inputs of tests: files that dyno wrote, mapped, with every page touched before the clock starts.

The files are bytes. Converting them to what a driver takes, `str` for example, is part of what the language
costs: so it is timed, a statement or a block of rows at a time.
"""

import mmap
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from .contract import take
from .counters import number_after, read_text
from .failure import Failure
from .turns import Turns

# The number of bytes of rows that are made into objects at once: large enough that the cost per block is
# negligible compared with that of its rows, and small enough to stay in the processor's cache.
BLOCK = 1 << 16


class Statements:
    """A file of texts, each ended by one NUL byte."""

    def __init__(self, file: str, count: int) -> None:
        self._name = f"statements file {file}"
        self._data = _map(file, self._name)
        # The search for the ends touches every page.
        self._ends = self._find()
        if len(self._ends) != count:
            raise Failure(f"{self._name} holds {len(self._ends)} statements where the job says {count}")

    def _find(self) -> list[int]:
        ends: list[int] = []
        start = 0
        while start < len(self._data):
            end = self._data.find(b"\0", start)
            number = len(ends) + 1
            if end < 0:
                tail = bytes(self._data[start : start + 60]).decode("utf-8", "replace")
                raise Failure(
                    f"{self._name}: statement {number} has no NUL byte at its end: the file is cut off "
                    f"({tail!r})"
                )
            if end == start:
                raise Failure(f"{self._name}: statement {number} is empty")
            ends.append(end)
            start = end + 1
        return ends

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def bytes(self) -> int:
        """The length of all texts together in bytes, without the NUL bytes."""
        return len(self._data) - len(self._ends)

    def texts(self, start: int, stop: int) -> Iterator[str]:
        """The statements in a range of positions, each decoded when it is asked for."""
        data = self._data
        ends = self._ends if stop - start == len(self) else self._ends[start:stop]
        start = self._ends[start - 1] + 1 if start else 0
        for end in ends:
            yield str(data[start:end], "utf-8")
            start = end + 1

    def get(self, place: int) -> str:
        """The statement at a place counted from zero."""
        start = self._ends[place - 1] + 1 if place else 0
        return bytes(self._data[start : self._ends[place]]).decode("utf-8", "replace")


@dataclass(frozen=True)
class Column:
    """A column, its type (`text` or `integer`), and the width of its cells in bytes where that is fixed."""

    name: str
    bytes: int = 0
    kind: str = "text"


class RowFile:
    """A flat file of rows, each its cells one after another: all of them ASCII letters and digits."""

    # Statements within the clock, before the first row and after the last.
    before: Sequence[str] = ()
    after: Sequence[str] = ()

    def __init__(self, rows: Any) -> None:
        self.columns = columns_of(rows)
        self.width = sum(column.bytes for column in self.columns)
        self.count = take(rows, "count", int)
        self._data = map_cells(take(rows, "file", str), self.count, self.width)
        self._view = memoryview(self._data)
        self._cells = struct.Struct("".join(f"{column.bytes}s" for column in self.columns))
        self._pattern = re.compile("".join(f"(.{{{column.bytes}}})" for column in self.columns), re.DOTALL)
        self._step = max(1, BLOCK // self.width)

    @property
    def view(self) -> memoryview:
        """All rows as they lie in memory."""
        return self._view

    def row(self, place: int) -> tuple[bytes, ...]:
        """The cells of the row at a place counted from zero."""
        return self._cells.unpack_from(self._view, place * self.width)

    def bytes_of(self, count: int) -> int:
        """The length of the first rows in bytes."""
        return count * self.width

    def shown(self) -> list[str]:
        """The first cells of the rows that a digest returns whole: the first, the middle and the last."""
        places = [0, self.count // 2, self.count - 1] if self.count else []
        return [self.row(place)[0].decode() for place in places]

    def tuples(self, start: int, stop: int) -> Iterator[tuple[str, ...]]:
        """Rows as tuples of text, the form in which drivers take parameters. Blocks are made when they are
        asked for, and no line of Python runs for a row."""
        starts = range(start, stop, self._step)
        return chain.from_iterable(self._tuples(first, min(first + self._step, stop)) for first in starts)

    def _tuples(self, start: int, stop: int) -> Iterable[tuple[str, ...]]:
        # The fastest way of cutting a text at fixed positions in Python: it takes half of the time of slices.
        rows = self._pattern.findall(str(self._view[start * self.width : stop * self.width], "ascii"))
        # With a single group it returns texts, not tuples.
        return rows if len(self.columns) > 1 else zip(rows)

    def lines(self, start: int, stop: int) -> Iterator[bytes]:
        """Rows as text with a tab between cells and a newline after each row, a block at a time: the input of
        COPY and LOAD DATA. Letters and digits need no escapes."""
        for first in range(start, stop, self._step):
            last = min(first + self._step, stop)
            rows = self._cells.iter_unpack(self._view[first * self.width : last * self.width])
            yield b"\n".join(map(b"\t".join, rows)) + b"\n"


@dataclass(frozen=True)
class Load:
    """Rows for a table, and how they commit."""

    table: str
    file: Any  # a RowFile or a RecordFile, as the model says
    start: int
    stop: int
    per_commit: int | None
    # The turns in which they are loaded.
    turns: Turns = field(default_factory=Turns)

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.stop - self.start

    @property
    def columns(self) -> list[Column]:
        """The table's columns, in order."""
        return self.file.columns

    def transactions(self) -> Iterable[tuple[int, int]]:
        """The ranges of rows that make a transaction each: a single one where the job names no size."""
        step = self.per_commit or max(1, self.count)
        return [(start, min(start + step, self.stop)) for start in range(self.start, self.stop, step)]

    def begins(self, each: int = 1) -> bool:
        """True if transactions are begun and committed, where a statement loads up to `each` rows. A transaction of
        one statement commits on its own: BEGIN and COMMIT would cost an exchange with a server each."""
        return min(self.per_commit or self.count, self.count) > each

    def ranges(self) -> Iterable[tuple[int, int]]:
        """Ranges of rows that are inserted one by one: transactions, or all rows where each commits on its own."""
        return self.transactions() if self.begins() else [(self.start, self.stop)]


def columns_of(record: Any) -> list[Column]:
    """The columns that a job names."""
    return [
        Column(take(each, "name", str), take(each, "bytes", int)) for each in take(record, "columns", list)
    ]


def map_cells(file: str, count: int, width: int) -> mmap.mmap | bytes:
    """A flat file of cells, or of rows, of one width in bytes, mapped and touched."""
    name = f"the input {file}"
    data = _map(file, name)
    if len(data) != count * width:
        raise Failure(
            f"{name} has {len(data)} bytes where {count} rows of {width} bytes are "
            "promised: it is cut off or of another shape"
        )
    # A file larger than half of the free memory is not touched: that would evict its own beginning.
    if len(data) < number_after(read_text("/proc/meminfo"), "MemAvailable:") * 1024 / 2:
        _touch(data)
    return data


def _map(file: str, name: str) -> mmap.mmap | bytes:
    try:
        with open(file, "rb") as opened:
            if opened.seek(0, 2) == 0:
                return b""  # nothing cannot be mapped
            data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise Failure(f"cannot open {name}: {error.strerror}") from None
    data.madvise(mmap.MADV_WILLNEED)
    return data


def _touch(data: mmap.mmap | bytes) -> None:
    """Reads a byte of every page."""
    for place in range(0, len(data), mmap.PAGESIZE):
        data[place]
