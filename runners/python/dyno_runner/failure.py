"""Errors of the runner, as exceptions."""

import traceback
from pathlib import Path

# The number of characters of a statement that a message quotes.
QUOTED = 200


class Failure(Exception):
    """A message that says what happened, where, and what to do next: the text of a `failed` event, so never a
    secret.

    `place` is the position of the operation in its input, counted from zero, where that is known.
    """

    def __init__(self, message: str, place: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place

    def within(self, context: str) -> "Failure":
        """The same failure with a prefix that says where it happened."""
        return Failure(f"{context}: {self.message}")


class Refused(Failure):
    """A statement of the job that the engine refused, by its name, with the engine's code."""

    def __init__(self, message: str, code: str, statement: str) -> None:
        super().__init__(message)
        self.code = code
        self.statement = statement


def one_line(text: object) -> str:
    """An engine's message on one line."""
    return " ".join(str(text).split())


def own_fault(error: Exception) -> str:
    """An unexpected exception in one line, with the line of code that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = (
        f" in {frames[-1].name}, line {frames[-1].lineno} of {Path(frames[-1].filename).name}"
        if frames
        else ""
    )
    words = f"{type(error).__name__}: {one_line(error)}{place}"
    return f"the runner itself failed, which is an error in the runner: {words}"


def quote(sql: str) -> str:
    """The beginning of a statement, for a message."""
    return sql if len(sql) <= QUOTED else f"{sql[:QUOTED]}…"
