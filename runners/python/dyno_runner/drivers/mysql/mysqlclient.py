"""mysqlclient, the module MySQLdb: a driver over libmariadb, against which it is compiled.

It has no prepared statements: it writes the parameters into the statement's text. It never loads by LOAD DATA LOCAL:
with LOCAL on it would send any file that a server asks for, and it lets nothing come between.
"""

from typing import Any

import MySQLdb
from MySQLdb import release
from MySQLdb.converters import conversions
from MySQLdb.cursors import SSCursor

from ...contract import Job
from ...failure import Failure
from ..server import ServerTrial
from .access import MySqlAccess, as_written
from .errors import code_of, state_of
from .options import Options
from .server import MySql, MySqlSession

# libmariadb checks certificate and host's name together or neither.
VERIFIES = ("VERIFY_CA", "VERIFY_IDENTITY")
# The names of the files that mysqlclient hands on.
FILES = {"ssl-ca": "ca", "ssl-cert": "cert", "ssl-key": "key"}
# The SQLSTATE of a command that succeeded.
SUCCESS = "00000"


class MySqlClientAccess(MySqlAccess):
    """A server that mysqlclient reaches."""

    name = "mysqlclient"
    error = MySQLdb.Error

    def keywords(self, options: Options) -> dict[str, Any]:
        mode = options.mode
        if mode not in ("DISABLED", *VERIFIES):
            raise Failure(
                f"a connection of mysqlclient cannot have ssl-mode={mode}, because libmariadb would go on "
                f"without encryption where the server offers none: name {' or '.join(VERIFIES)}, DISABLED, or "
                "another driver"
            )
        words: dict[str, Any] = {
            "connect_timeout": options.patience,
            "local_infile": 0,
            # One text is one statement, as with the other drivers.
            "multi_statements": False,
            "conv": as_written(conversions),
            "ssl_mode": mode,
        }
        if options.files:
            words["ssl"] = {FILES[name]: file for name, file in options.files.items()}
        return words

    def open(self, **keywords: Any) -> Any:
        return MySQLdb.connect(**keywords)


class MySqlClientSession(MySqlSession):
    """A client on a connection of mysqlclient. The module leaves an error's SQLSTATE to the connection, which forgets
    it with the next command, such as the ROLLBACK after the error."""

    errors = MySQLdb.Error
    # The connection's SQLSTATE before the last ROLLBACK.
    _state = ""

    def rollback(self) -> Any:
        self._state = self.cursor.connection.sqlstate()
        return super().rollback()

    def codes(self, error: Exception) -> list[str]:
        code = code_of(error)
        if not code:
            return []
        state = state_of(error) or self.cursor.connection.sqlstate()
        return [code, self._state if state == SUCCESS else state]


class MySqlClient(MySql):
    """A connection to the trial's database."""

    _error = MySQLdb.Error
    _variants = ("multirow", "insert")
    _session = MySqlClientSession
    _reaches = MySqlClientAccess
    _streams = SSCursor

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        super().__init__(job, trial, variant)
        self._load = {"multirow": self._multi_row, "insert": self.insert_rows}[variant]

    @staticmethod
    def _version() -> str:
        return f"mysqlclient {release.__version__}, libmariadb {MySQLdb.get_client_info()}"
