"""Settings: any PRAGMA that SQLite can read back, and `database`, which says where the data are stored.

All are applied first and read back after that, because one may change another. dyno compares what was asked
with what is in force.
"""

import re
from collections.abc import Callable
from pathlib import Path

from ...answer import Rows
from ...contract import Job, Setting
from ...failure import Failure

# Executes a statement and returns its rows.
Execute = Callable[[str], Rows]

# Order matters: settings that shape the file must be set before it has a page, the locking mode decides how
# the journal is kept, and the journal mode must be set before the settings that depend on it.
TURNS = {"page_size": 0, "auto_vacuum": 0, "encoding": 0, "locking_mode": 1, "journal_mode": 2}
LAST_TURN = 3

# The places where data may be stored, and SQLite's names for them.
FILE = "dyno.db"
PLACES = {"file": None, ":memory:": ":memory:", "temporary": ""}


class Settings:
    """The settings of a job."""

    def __init__(self, job: Job) -> None:
        """Splits the settings asked for and rejects what cannot be a setting of SQLite."""
        self.database = "file"
        self._read_back = job.read_back
        # The names of the numbers that SQLite reads back, by setting.
        self._values = job.values
        self._pragmas: list[Setting] = []
        for setting in job.settings:
            if setting.name == "database":
                self.database = _database(setting.value)
            else:
                _check(setting, self._values.get(setting.name, []))
                self._pragmas.append(setting)
        self._pragmas.sort(key=lambda setting: TURNS.get(setting.name, LAST_TURN))

    def place(self, directory: Path) -> str:
        """The path or name to open."""
        place = PLACES[self.database]
        return str(directory / FILE) if place is None else place

    def apply(self, execute: Execute) -> None:
        """Applies all of them."""
        for setting in self._pragmas:
            # As a string, so that the value can be nothing but a value. PRAGMAs take numbers so too.
            value = setting.value.replace("'", "''")
            try:
                execute(f"PRAGMA {setting.name}='{value}'")
            except Failure as failure:
                raise failure.within(f"SQLite refuses the setting '{setting.name}'") from None

    def in_force(self, execute: Execute) -> list[Setting]:
        """Reads back what was asked for and what the job wants read back."""
        asked = [setting.name for setting in self._pragmas]
        settings = {"database": self._database_in_force(execute)}
        for name in self._read_back + asked:
            if name in settings:
                continue
            value = _told(execute, name, self._values.get(name, []))
            if value is not None:
                settings[name] = value
            elif name in asked:
                raise Failure(
                    f"SQLite has no setting '{name}' that can be read back from this database: see "
                    "https://sqlite.org/pragma.html, or leave it out"
                )
        return [Setting(name, value) for name, value in settings.items()]

    def _database_in_force(self, execute: Execute) -> str:
        """SQLite reports whether there is a file with a name; the other two places cannot be distinguished,
        so the one asked for is returned."""
        files = [row[2] for row in execute("PRAGMA database_list") if row[1] == "main"]
        if files and files[0]:
            return "file"
        if self.database == "file":
            raise Failure("SQLite opened no file where a file was asked for")
        return self.database


def _database(value: str) -> str:
    if value not in PLACES:
        raise Failure(f"the setting 'database' is one of {', '.join(PLACES)}, not '{value}'")
    return value


def _check(setting: Setting, names: list[str]) -> None:
    name, value = setting.name, setting.value
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        raise Failure(
            f"'{name}' cannot be a setting of SQLite: it is not the name of a PRAGMA in small letters"
        )
    if "\0" in value:
        raise Failure(f"the value of the setting '{name}' holds a NUL byte")
    # SQLite reads any other value as one of its own.
    if names and value.upper() not in names and value not in map(str, range(len(names))):
        raise Failure(f"SQLite's setting '{name}' is one of {', '.join(names)}, not '{value}'")


def _told(execute: Execute, name: str, names: list[str]) -> str | None:
    """The value of a setting, by its name where it has one. None where SQLite has no such setting."""
    try:
        rows = execute(f"PRAGMA {name}")
    except Failure as failure:
        raise failure.within(f"SQLite does not tell its setting '{name}'") from None
    if not rows:
        return None
    value = str(rows[0][0])
    return names[int(value)] if value.isdigit() and int(value) < len(names) else value
