"""Settings: any parameter of PostgreSQL, and `lc_collate` and `lc_ctype` of the trial's database.

A setting that is not in force already is set for the session, if the server allows it. All are read back
after that. dyno compares what was asked with what is in force, and cannot know that `6GB` and `6144MB` are
one value, because a bare number is in units that only the server knows. So a value that equals the one asked
for is reported in the spelling in which it was asked.
"""

from typing import Any

import psycopg

from ...contract import Job, Setting
from ...failure import Failure
from ..spelling import check_names, last_of_each, quoted
from .errors import words_of
from .units import are_equal

# Settings that are fixed when a database is made, with the columns of `pg_database` that hold them: `SHOW`
# has not known these since PostgreSQL 16.
LOCALE = {"lc_collate": "datcollate", "lc_ctype": "datctype"}

# Errors: only the server's start, its configuration or an administrator can set it. dyno reports that it is
# not in force as asked.
NOT_HERE = (psycopg.errors.CantChangeRuntimeParam, psycopg.errors.InsufficientPrivilege)


class Settings:
    """The settings of a job."""

    def __init__(self, job: Job) -> None:
        """Refuses what cannot be a setting of PostgreSQL."""
        check_names(job.settings, "PostgreSQL", "parameter")
        all_of_them = last_of_each(job.settings)
        self._read_back = job.read_back
        self.collate = all_of_them.get("lc_collate", "C")
        self.ctype = all_of_them.get("lc_ctype", "C")
        self._asked = {name: value for name, value in all_of_them.items() if name not in LOCALE}
        # Settings that each session sets for itself; None until the first session has found out.
        self._own: dict[str, str] | None = None

    def apply(self, connection: psycopg.Connection[Any]) -> None:
        """Sets what is not in force yet, for this session only. The first session, before there are clients,
        finds out which settings those are: a query for them in every other session would be a cost that no
        program has."""
        if self._own is not None:
            for name, value in self._own.items():
                _set(connection, name, value)
            return
        own = {}
        for name, value in self._asked.items():
            found = _show(connection, name)
            if not _means(connection, name, value, found) and _set(connection, name, value):
                own[name] = value
        self._own = own

    def in_force(self, connection: psycopg.Connection[Any]) -> list[Setting]:
        """Reads back what was asked for, what the job wants read back, and the locale."""
        settings: dict[str, str | None] = {}
        for name, value in self._asked.items():
            found = _show(connection, name)
            settings[name] = value if _means(connection, name, value, found) else found
        for name in self._read_back:
            if name not in settings:
                settings[name] = _if_told(connection, f"SHOW {_identifier(name)}")
        for name, column in LOCALE.items():
            sql = f"SELECT {column} FROM pg_database WHERE datname = current_database()"
            settings[name] = _if_told(connection, sql)
        return [Setting(name, value) for name, value in settings.items() if value is not None]


def _set(connection: psycopg.Connection[Any], name: str, value: str) -> bool:
    """Sets a parameter for a session. Returns False if the server does not allow that."""
    try:
        connection.execute(f"SET {_identifier(name)} = {quoted(value)}")
    except NOT_HERE:
        return False
    except psycopg.Error as error:
        raise Failure(f"PostgreSQL refuses the setting '{name}': {words_of(error)}") from None
    return True


def _identifier(name: str) -> str:
    """`work_mem` as `"work_mem"`, `a.b` as `"a"."b"`: so no name is taken for a word of the language."""
    return '"' + name.replace(".", '"."') + '"'


def _value(connection: psycopg.Connection[Any], sql: str) -> str | None:
    row = connection.execute(sql).fetchone()
    return None if row is None or row[0] is None else str(row[0])


def _show(connection: psycopg.Connection[Any], name: str) -> str:
    """The value of a setting in the server's own spelling."""
    try:
        return _value(connection, f"SHOW {_identifier(name)}") or ""
    except psycopg.errors.UndefinedObject as error:
        raise Failure(
            f"unknown setting '{name}' (see https://www.postgresql.org/docs/current/runtime-config.html, "
            f"or leave it out): {words_of(error)}"
        ) from None
    except psycopg.Error as error:
        raise Failure(f"the server does not tell its setting '{name}': {words_of(error)}") from None


def _if_told(connection: psycopg.Connection[Any], sql: str) -> str | None:
    """Leaves out what a server refuses because it has no such thing; a lost connection is an error."""
    try:
        return _value(connection, sql)
    except psycopg.Error as error:
        if connection.closed:
            raise Failure(f"cannot read the settings back: {words_of(error)}") from None
        return None


def _means(connection: psycopg.Connection[Any], name: str, asked: str, found: str) -> bool:
    """True if a value found is the one asked for."""
    if asked.lower() == found.lower():
        return True
    # A system that speaks the protocol but has no such view reports its values in their only spelling.
    unit = _if_told(connection, f"SELECT unit FROM pg_settings WHERE lower(name) = lower({quoted(name)})")
    return are_equal(asked, found, unit)
