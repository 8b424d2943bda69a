"""The file of records of the model `import-file`, for engines that read it themselves."""

from typing import Any

from .contract import take
from .failure import Failure
from .inputs import Column


class RecordFile:
    """A file with one record per line, a delimiter between fields, and neither header nor quotes."""

    def __init__(self, work: dict[str, Any]) -> None:
        """Checks that the file matches the job. This also brings it into the kernel's cache: reading it is
        timed, waiting for a device is not."""
        self.columns = [
            Column(take(each, "name", str), kind=take(each, "kind", str))
            for each in take(work, "columns", list)
        ]
        self.file = take(work, "file", str)
        self.delimiter = take(work, "delimiter", str)
        self.count = take(work, "records", int)
        # Statements within the clock, before the first record and after the last.
        self.before: list[str] = take(work, "before", list, [])
        self.after: list[str] = take(work, "after", list, [])
        self._bytes = take(work, "bytes", int)
        size, lines, last = self._read(self.count + 1)
        if (size, lines) != (self._bytes, self.count) or last not in (b"", b"\n"):
            raise Failure(
                f"the input {self.file} has {size} bytes and {lines} lines where {self._bytes} bytes and "
                f"{self.count} records are promised: it is cut off or another"
            )

    def bytes_of(self, count: int) -> int:
        """The length of the first records in bytes."""
        return self._bytes if count == self.count else self._read(count)[0]

    def shown(self) -> list[str]:
        """The digest of a file returns no records."""
        return []

    def _read(self, most: int) -> tuple[int, int, bytes]:
        """Counts bytes and lines, and finds how the last line ends."""
        size, lines, line = 0, 0, b""
        try:
            with open(self.file, "rb") as opened:
                for line in opened:
                    if lines == most:
                        break
                    size += len(line)
                    lines += 1
        except OSError as error:
            raise Failure(f"cannot open the input {self.file}: {error.strerror}") from None
        return size, lines, line[-1:]
