"""The file of records of the model `import-file`, for engines that read it themselves."""

from dataclasses import dataclass
from typing import Any

from .contract import take
from .failure import Failure

# Bytes that are looked through at once.
PIECE = 1 << 20


@dataclass(frozen=True)
class FileColumn:
    """A column that the file fills; `kind` is `text` or `integer`."""

    name: str
    kind: str


class RecordFile:
    """One record a line, with a delimiter between fields, without header and quoting."""

    def __init__(self, work: dict[str, Any]) -> None:
        """Checks that the file is the one promised, which also brings it into the kernel's cache: reading it is
        timed, waiting for a device is not."""
        self.table = take(work, "table", str)
        self.columns = [
            FileColumn(take(each, "name", str), take(each, "kind", str))
            for each in take(work, "columns", list)
        ]
        self.file = take(work, "file", str)
        self.delimiter = take(work, "delimiter", str)
        self.count = take(work, "records", int)
        self.bytes = take(work, "bytes", int)
        self.before = take(work, "before", list, [])
        self.after = take(work, "after", list, [])
        timed = take(work, "timed", int, self.count)
        if take(work, "per_commit", int, None) is not None or timed < self.count:
            raise Failure(
                "the driver has its engine read the whole file, in one transaction: leave out per_commit"
            )
        self._check()

    def _check(self) -> None:
        size, lines, last = 0, 0, b"\n"
        try:
            with open(self.file, "rb") as opened:
                while piece := opened.read(PIECE):
                    size += len(piece)
                    lines += piece.count(b"\n")
                    last = piece[-1:]
        except OSError as error:
            raise Failure(f"cannot open the input {self.file}: {error.strerror}") from None
        if (size, lines, last) != (self.bytes, self.count, b"\n"):
            raise Failure(
                f"the input {self.file} has {size} bytes and {lines} records where {self.bytes} and "
                f"{self.count} are promised: it is cut off or another"
            )
