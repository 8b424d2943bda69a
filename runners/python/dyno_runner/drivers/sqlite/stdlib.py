"""The module `sqlite3` of Python's standard library.

It is linked with the SQLite that the system's loader finds. For another build the library is loaded before
the module is imported, and its functions are found first: so `sqlite/sqlite3` runs on the very library that
`sqlite/c` runs on, and only the driver differs.
"""

import ctypes
import os
import platform
import sys
from pathlib import Path

from ...contract import Job
from ...failure import Failure, one_line
from .database import Database

# The bundled library, next to dyno's own program, whose folder is the runner's argument.
BUNDLED = "libdyno_sqlite3.so"
# Names of the library in an installation folder.
NAMES = ("libsqlite3.so.0", "libsqlite3.so")


class Stdlib(Database):
    """A connection of `sqlite3`."""

    def __init__(self, place: str, library: str) -> None:
        """The library is loaded."""
        import sqlite3

        self._error = sqlite3.Error
        self._library = library
        try:
            # Without a level the module does not begin transactions on its own. A client of a mix is a thread
            # other than the one that connects.
            self._work_by(sqlite3.connect(place, isolation_level=None, check_same_thread=False))
        except sqlite3.Error as error:
            raise Failure(f"cannot open {place}: {one_line(error)}") from None

    @classmethod
    def connect(cls, job: Job, place: str) -> "Stdlib":
        library, source = _load(job.build)
        database = cls(place, library)
        found = database.query("SELECT sqlite_source_id()")[0][0]
        if source not in (None, found):
            raise Failure(
                f"the module sqlite3 of {sys.executable} has its own SQLite in it and takes no other: name "
                "the contender sqlite@system/sqlite3, or build the runner with another Python"
            )
        return database

    def beside(self, place: str) -> "Stdlib":
        return type(self)(place, self._library)

    def words(self, error: Exception) -> str:
        code = self.code(error)
        return f"{one_line(error)} (SQLite error {code})" if code else one_line(error)

    def code(self, error: Exception) -> int:
        return getattr(error, "sqlite_errorcode", 0)

    def driver_version(self) -> str:
        return f"sqlite3 of Python {platform.python_version()}"

    def library(self) -> str:
        return self._library

    def changes(self) -> int:
        return self._connection.total_changes


def _load(build: str | Path) -> tuple[str, str | None]:
    """Loads the library of a build. Returns its file, and its source id where it is not the one that the
    module is linked with."""
    if build == "system":
        import _sqlite3

        return _file_in_maps() or f"within {_sqlite3.__file__}", None
    file = _bundled() if build == "bundled" else _own(Path(build))
    try:
        library = ctypes.CDLL(str(file), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        source_id = library.sqlite3_sourceid
    except (OSError, AttributeError) as error:
        raise Failure(f"cannot use {file} as SQLite: {one_line(error)}") from None
    source_id.restype = ctypes.c_char_p
    return str(file), source_id().decode()


def _bundled() -> Path:
    file = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / BUNDLED
    if not file.is_file():
        raise Failure(f"the bundled SQLite, {file}, is missing: cargo build --release -p dyno-runner-sqlite")
    return file.resolve()


def _own(path: Path) -> Path:
    """A file given by the user, or the library in an installation folder."""
    if not path.is_dir():
        return path.resolve()
    files = [folder / name for folder in (path, path / "lib", path / ".libs") for name in NAMES]
    for file in files:
        if file.is_file():
            return file.resolve()
    raise Failure(f"neither {path} nor its lib folder holds {' or '.join(NAMES)}")


def _file_in_maps() -> str | None:
    """The library that the loader found, among the files that are mapped."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if "libsqlite3.so" in line}
    return files.pop() if files else None
