"""Settings: any system variable of MariaDB or MySQL.

A setting that is not in force already is set for the session, if the server allows it. All are read back
after that. dyno compares what was asked with what is in force, and cannot know that `128M` and `134217728`
are one value. So a value that equals the one asked for is reported in the spelling in which it was asked.
"""

from typing import Any

import pymysql

from ...contract import Job, Setting
from ...failure import Failure
from ..spelling import check_names, last_of_each
from .errors import number_of, words_of

# Error: there is no variable of that name.
UNKNOWN_VARIABLE = 1193
# Errors: the variable is global, read-only, or set by administrators only. dyno reports that it is not in
# force as asked.
NOT_HERE = (1227, 1228, 1229, 1238, 3530)
# Error: a text was given for a number.
WRONG_TYPE = 1232

SWITCH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
FACTORS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class Settings:
    """The settings of a job."""

    def __init__(self, job: Job) -> None:
        """Refuses what cannot be a setting of MySQL."""
        check_names(job.settings, "MySQL", "system variable")
        self._asked = last_of_each(job.settings)
        self._read_back = job.read_back
        # Settings that each session sets for itself; None until the first session has found out.
        self._own: dict[str, str] | None = None

    def apply(self, cursor: Any) -> None:
        """Sets what is not in force yet, for this session only. The first session, before there are clients,
        finds out which settings those are: a query for them in every other session would be a cost that no
        program has."""
        if self._own is not None:
            for name, value in self._own.items():
                _is_set(cursor, name, value)
            return
        own = {}
        for name, value in self._asked.items():
            if not means(value, _show(cursor, name)) and _is_set(cursor, name, value):
                own[name] = value
        self._own = own

    def in_force(self, cursor: Any) -> list[Setting]:
        """Reads back what was asked for and what the job wants read back."""
        settings = {}
        for name, value in self._asked.items():
            found = _show(cursor, name)
            settings[name] = value if means(value, found) else found
        for name in self._read_back:
            if name not in settings and (told := _if_told(cursor, name)) is not None:
                settings[name] = told
        return [Setting(name, value) for name, value in settings.items()]


def means(asked: str, found: str) -> bool:
    """True if a value found is the one asked for."""
    switch, amount = SWITCH.get(asked.lower()), _amount(asked)
    return (
        asked.lower() == found.lower()
        or (switch is not None and SWITCH.get(found.lower()) == switch)
        or (amount is not None and _amount(found) == amount)
    )


def _amount(value: str) -> int | None:
    """A number with the suffixes that the server takes on its command line: K, M, G, T for powers of 1024."""
    factor = FACTORS.get(value[-1:].lower(), 1)
    try:
        return int(value[:-1] if factor > 1 else value) * factor
    except ValueError:
        return None


def _value(cursor: Any, name: str) -> str:
    cursor.execute(f"SELECT @@{name}")
    value = cursor.fetchone()[0]
    return "" if value is None else str(value)


def _is_set(cursor: Any, name: str, value: str) -> bool:
    """Sets a variable for a session. Returns False if the server does not allow that."""
    try:
        _set(cursor, name, value)
    except pymysql.Error as error:
        if number_of(error) in NOT_HERE:
            return False
        raise Failure(f"the server refuses the setting '{name}': {words_of(error)}") from None
    return True


def _set(cursor: Any, name: str, value: str) -> None:
    """Sets a variable to a text or, if it takes none, to a number."""
    text = value.replace("\\", "\\\\").replace("'", "''")
    try:
        cursor.execute(f"SET SESSION {name} = '{text}'")
    except pymysql.Error as error:
        amount = _amount(value)
        if number_of(error) != WRONG_TYPE or amount is None:
            raise
        cursor.execute(f"SET SESSION {name} = {amount}")


def _show(cursor: Any, name: str) -> str:
    """The value of a setting in the server's own spelling."""
    try:
        return _value(cursor, name)
    except pymysql.Error as error:
        if number_of(error) == UNKNOWN_VARIABLE:
            raise Failure(
                f"unknown setting '{name}' (see https://mariadb.com/kb/en/server-system-variables/ or "
                "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html, or leave it out): "
                f"{words_of(error)}"
            ) from None
        raise Failure(f"the server does not tell its setting '{name}': {words_of(error)}") from None


def _if_told(cursor: Any, name: str) -> str | None:
    """Leaves out what a server refuses because it has no such variable; a lost connection is an error."""
    try:
        return _value(cursor, name)
    except pymysql.Error as error:
        if not cursor.connection.open:
            raise Failure(f"cannot read the settings back: {words_of(error)}") from None
        return None
