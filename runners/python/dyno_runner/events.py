"""Sends events: one JSON object a line, each flushed before the next thing happens."""

import json
from typing import Any, BinaryIO

from .answer import Rows
from .values import to_json

# Most rows that one `answer` event holds.
ROWS = 1000
# An `answer` event ends after the row with which its texts and blobs reach this many characters, so that a
# reader's memory depends on the largest row and not on how many there are.
CHARACTERS = 1 << 18


class Closed(Exception):
    """The reader of the events has gone."""


class Events:
    """The stream of events."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def send(self, event: str, **fields: Any) -> None:
        """Sends one event."""
        line = json.dumps(
            {"event": event, **fields}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        try:
            self._out.write(line.encode("utf-8", "replace") + b"\n")
            self._out.flush()
        except OSError as error:
            raise Closed(str(error)) from None

    def send_answer(self, test: str, rows: Rows) -> None:
        """Sends the rows of an answer in as many events as they need; sends nothing where there is no row."""
        part: list[list[Any]] = []
        size = 0
        for row in rows:
            values = [to_json(value) for value in row]
            part.append(values)
            size += sum(map(_size, values))
            if len(part) == ROWS or size >= CHARACTERS:
                self.send("answer", test=test, rows=part)
                part, size = [], 0
        if part:
            self.send("answer", test=test, rows=part)


def _size(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case {"blob": digits}:
            return len(digits)
        case _:
            return 8
