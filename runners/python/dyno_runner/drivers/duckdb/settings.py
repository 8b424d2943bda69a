"""Settings: any option of DuckDB that can be set and read back, and `database`, which says where the data are
stored.

DuckDB reports sizes with one decimal, as `953.6 MiB` for 1GB, and dyno cannot know that both are one value.
So a value that equals the one asked for is reported in the spelling in which it was asked.
"""

import os
import re
from pathlib import Path
from typing import Any

import duckdb

from ...contract import Job, Setting
from ...failure import Failure, one_line
from ..spelling import check_names, last_of_each, quoted

# Where the data lives.
FILE = "dyno.duckdb"
PLACES = ("file", ":memory:")

FACTORS = {"": 1, "B": 1, **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)}}
FACTORS |= {f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)}


class Settings:
    """The settings of a job."""

    def __init__(self, job: Job) -> None:
        """Refuses what cannot be a setting of DuckDB."""
        check_names(job.settings, "DuckDB", "configuration option")
        self._asked = last_of_each(job.settings)
        self._read_back = job.read_back
        self.database = self._asked.pop("database", PLACES[0])
        if self.database not in PLACES:
            raise Failure(f"the setting 'database' is one of {', '.join(PLACES)}, not '{self.database}'")

    def place(self, directory: Path) -> str:
        """The path or name to open."""
        return str(directory / FILE) if self.database == "file" else self.database

    def apply(self, connection: Any) -> None:
        """Applies all settings. DuckDB would use all of the machine's processors even where it is given only
        some."""
        if not {"threads", "worker_threads"} & self._asked.keys():
            connection.execute(f"SET threads = {len(os.sched_getaffinity(0))}")
        for name, value in self._asked.items():
            try:
                connection.execute(f"SET {name} = {quoted(value)}")
            except duckdb.Error as error:
                raise Failure(f"DuckDB refuses the setting '{name}': {one_line(error)}") from None

    def in_force(self, connection: Any) -> list[Setting]:
        """Reads back what was asked for and what the job wants read back."""
        file = connection.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchone()[0]
        settings = {"database": "file" if file else ":memory:"}
        for name, value in self._asked.items():
            found = _value(connection, name)
            settings[name] = value if means(value, found) else found
        known = {name for (name,) in connection.execute("SELECT name FROM duckdb_settings()").fetchall()}
        for name in self._read_back:
            if name in known and name not in settings:
                settings[name] = _value(connection, name)
        return [Setting(name, value) for name, value in settings.items()]


def means(asked: str, found: str) -> bool:
    """True if a value found is the one asked for; a size is reported with one decimal, cut off."""
    if asked.lower() == found.lower():
        return True
    one, other = _amount(asked), _amount(found)
    if one is None or other is None:
        return False
    unit = re.sub(r"[\d.\s]", "", found).upper()
    return -1 < one - other < 0.1 * FACTORS.get(unit, 1)


def _amount(text: str) -> float | None:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not found or found[2].upper() not in FACTORS:
        return None
    return float(found[1]) * FACTORS[found[2].upper()]


def _value(connection: Any, name: str) -> str:
    """The value of a setting in DuckDB's own spelling."""
    try:
        value = connection.execute(f"SELECT current_setting({quoted(name)})").fetchone()[0]
    except duckdb.Error as error:
        raise Failure(f"DuckDB does not tell its setting '{name}': {one_line(error)}") from None
    return str(value).lower() if isinstance(value, bool) else str(value)
