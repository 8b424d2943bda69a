"""APSW, which exposes SQLite's whole interface and has its own SQLite in its wheel."""

from collections.abc import Callable
from functools import partial
from typing import Any

import apsw

from ...contract import Job
from ...failure import Failure, one_line
from .database import Database


class Apsw(Database):
    """A connection of APSW."""

    _error = apsw.Error

    def __init__(self, place: str) -> None:
        try:
            self._work_by(apsw.Connection(place))
        except apsw.Error as error:
            raise Failure(f"cannot open {place}: {one_line(error)}") from None

    @classmethod
    def connect(cls, job: Job, place: str) -> "Apsw":
        if job.build != "bundled":
            raise Failure("apsw has its SQLite in its wheel and no other: name the contender sqlite/apsw")
        return cls(place)

    def beside(self, place: str) -> "Apsw":
        return type(self)(place)

    def words(self, error: Exception) -> str:
        # APSW puts the class's name before SQLite's message.
        words = one_line(error).removeprefix(f"{type(error).__name__}: ")
        code = self.code(error)
        return f"{words} (SQLite error {code})" if code else words

    def code(self, error: Exception) -> int:
        return getattr(error, "extendedresult", 0)

    @property
    def execute_simply(self) -> Callable[..., Any]:
        return partial(self._cursor.execute, can_cache=False)

    def driver_version(self) -> str:
        return f"apsw {apsw.apsw_version()}"

    def library(self) -> str:
        return apsw.__file__ or "unknown"

    def changes(self) -> int:
        return self._connection.total_changes()
