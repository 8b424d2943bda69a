"""Settings: any PRAGMA that SQLite can read back, and `database`, which says where the data lives.

All are applied first and read back after that, because one may undo another. What is asked and what is in
force are compared by dyno.
"""

import re
from collections.abc import Callable
from pathlib import Path

from ...answer import Rows
from ...contract import Setting
from ...failure import Failure

# Executes a statement and returns its rows.
Execute = Callable[[str], Rows]

# Settings whose values SQLite reads back as numbers, and the names that its manual gives them.
NAMED = {
    "synchronous": ["OFF", "NORMAL", "FULL", "EXTRA"],
    "temp_store": ["DEFAULT", "FILE", "MEMORY"],
    "auto_vacuum": ["NONE", "FULL", "INCREMENTAL"],
    "secure_delete": ["OFF", "ON", "FAST"],
}

# What bears on speed or safety and is told whether it was asked for or not.
ALWAYS = [
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "mmap_size",
    "temp_store",
    "locking_mode",
    "auto_vacuum",
    "wal_autocheckpoint",
    "encoding",
    "fullfsync",
    "threads",
]

# What shapes the file must be set before it has a page; how it is locked decides how the journal is kept; the
# journal must be there before what depends on it.
TURNS = {"page_size": 0, "auto_vacuum": 0, "encoding": 0, "locking_mode": 1, "journal_mode": 2}
LAST_TURN = 3

# Where the data lives, and what SQLite calls that place.
FILE = "dyno.db"
PLACES = {"file": None, ":memory:": ":memory:", "temporary": ""}


class Settings:
    """The settings of a job."""

    def __init__(self, asked: list[Setting]) -> None:
        """Takes the settings asked for apart and refuses what cannot be a setting of SQLite."""
        self.database = "file"
        self._pragmas: list[Setting] = []
        for setting in asked:
            if setting.name == "database":
                self.database = _database(setting.value)
            else:
                _check(setting)
                self._pragmas.append(setting)
        self._pragmas.sort(key=lambda setting: TURNS.get(setting.name, LAST_TURN))

    def place(self, directory: Path) -> str:
        """What to open."""
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
        """Reads back what was asked for and what matters in any case."""
        asked = [setting.name for setting in self._pragmas]
        settings = {"database": self._database_in_force(execute)}
        for name in ALWAYS + asked:
            if name in settings:
                continue
            value = _read_back(execute, name)
            if value is not None:
                settings[name] = value
            elif name in asked:
                raise Failure(
                    f"SQLite has no setting '{name}' that can be read back from this database: see "
                    "https://sqlite.org/pragma.html, or leave it out"
                )
        return [Setting(name, value) for name, value in settings.items()]

    def _database_in_force(self, execute: Execute) -> str:
        """SQLite tells whether there is a file with a name; of the other two it is the one asked for."""
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


def _check(setting: Setting) -> None:
    name, value = setting.name, setting.value
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        raise Failure(
            f"'{name}' cannot be a setting of SQLite: it is not the name of a PRAGMA in small letters"
        )
    if "\0" in value:
        raise Failure(f"the value of the setting '{name}' holds a NUL byte")
    # SQLite takes any other value for some value of its own.
    names = NAMED.get(name, [])
    if names and value.upper() not in names and value not in map(str, range(len(names))):
        raise Failure(f"SQLite's setting '{name}' is one of {', '.join(names)}, not '{value}'")


def _read_back(execute: Execute, name: str) -> str | None:
    try:
        rows = execute(f"PRAGMA {name}")
    except Failure as failure:
        raise failure.within(f"SQLite does not tell its setting '{name}'") from None
    if not rows:
        return None
    value = str(rows[0][0])
    names = NAMED.get(name, [])
    return names[int(value)] if value.isdigit() and int(value) < len(names) else value
