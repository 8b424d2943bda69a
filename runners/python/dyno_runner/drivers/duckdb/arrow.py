"""Shows DuckDB the mapped rows as Arrow data without copying a cell.

To Arrow the file is one long array of texts: its bytes, and the offset of each cell. A row is a list of as
many texts as there are columns. The offsets are the same in every batch, so they are computed once.
"""

from array import array
from itertools import accumulate
from typing import Any

import pyarrow

from ...inputs import RowFile

# Rows of a batch: those of a row group, which is what DuckDB writes at once.
BATCH = 122_880
# Places are 32 bits wide, so a batch has less than 2 GiB.
LONGEST = (1 << 31) - 1


class Batches:
    """A row file as batches of one column, `row`, of lists of texts."""

    def __init__(self, file: RowFile) -> None:
        self._file = file
        self._bytes = pyarrow.py_buffer(file.view)
        self._size = max(1, min(BATCH, file.count, LONGEST // file.width))
        widths = [column.bytes for column in file.columns]
        places = accumulate(widths * self._size, initial=0)
        self._places = pyarrow.py_buffer(array("i", places))
        self._type = pyarrow.list_(pyarrow.utf8(), len(widths))
        self._schema = pyarrow.schema([("row", self._type)])

    def reader(self, start: int, stop: int) -> Any:
        """Some of the rows, batch by batch."""
        starts = range(start, stop, self._size)
        batches = (self._batch(first, min(first + self._size, stop)) for first in starts)
        return pyarrow.RecordBatchReader.from_batches(self._schema, batches)

    def _batch(self, start: int, stop: int) -> Any:
        width, columns = self._file.width, len(self._file.columns)
        count = stop - start
        data = self._bytes.slice(start * width, count * width)
        cells = pyarrow.Array.from_buffers(pyarrow.utf8(), count * columns, [None, self._places, data])
        rows = pyarrow.Array.from_buffers(self._type, count, [None], children=[cells])
        return pyarrow.record_batch([rows], schema=self._schema)
