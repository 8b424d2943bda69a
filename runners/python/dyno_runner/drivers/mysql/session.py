"""A client of a mix."""

from collections.abc import Callable
from typing import Any

import pymysql

from ..session import CursorSession
from .errors import number_of, words_of

# Errors after which another try may succeed: a deadlock, a lock that was not to be had in time, a row that
# another transaction has changed.
MAY_PASS = (1213, 1205, 1020)


class MySqlSession(CursorSession):
    """A client on a connection. PyMySQL writes the values into the statement's text."""

    errors = pymysql.Error
    parameter = "%s"

    def __init__(self, connection: Any, close: Callable[[], None] | None) -> None:
        super().__init__(connection.cursor(), close)

    # PyMySQL prepares nothing in any case.
    simple = CursorSession.prepare

    def may_pass(self, error: Exception) -> bool:
        return number_of(error) in MAY_PASS

    def codes(self, error: Exception) -> list[str]:
        return [str(number_of(error))]

    def words(self, error: Exception) -> str:
        return words_of(error)
