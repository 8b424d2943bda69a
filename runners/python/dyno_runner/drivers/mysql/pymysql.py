"""PyMySQL: a driver in pure Python for both MariaDB and MySQL.

It has no prepared statements: it writes the parameters into the statement's text, also for an insert of one
row.
"""

import ssl
from typing import Any

import pymysql
from pymysql.converters import conversions
from pymysql.cursors import SSCursor

from ...contract import Job
from ...driver import identifier
from ...failure import Failure
from ...inputs import Load
from ..server import ServerTrial
from .access import MySqlAccess, as_written
from .errors import NO_LOCAL, number_of
from .options import ENCRYPTED, Options
from .server import MySql, MySqlSession
from .stream import feed

# The most seconds that PyMySQL waits for a connection. It has no word for no limit, which is 0 in MySQL's
# programs.
LONGEST = 31_536_000


class PyMySqlAccess(MySqlAccess):
    """A server that PyMySQL reaches."""

    name = "PyMySQL"
    error = pymysql.Error

    def keywords(self, options: Options) -> dict[str, Any]:
        words: dict[str, Any] = {
            "connect_timeout": min(options.patience or LONGEST, LONGEST),
            "local_infile": True,
            "conv": as_written(conversions),
        }
        # By default PyMySQL encrypts where the server offers it, also through a socket; no other driver does.
        if options.mode == "DISABLED":
            words["ssl_disabled"] = True
        elif options.mode in ENCRYPTED:
            words["ssl"] = _context(options.mode, options.files)
        return words

    def open(self, **keywords: Any) -> Any:
        connection = pymysql.connect(**keywords)
        # Older PyMySQLs continue in plain text where the server does not offer TLS.
        if "ssl" in keywords and not connection._secure:
            connection.close()
            raise Failure(
                f"cannot connect to {self._server.host}: the connection is not encrypted, and ssl-mode asks "
                "for that"
            )
        return connection


def _context(mode: str, files: dict[str, str]) -> ssl.SSLContext:
    """The TLS context for PyMySQL. If PyMySQL made one from its own options, it would not check the host name
    where no authority is named, and would ignore a context where a file is named."""
    try:
        context = ssl.create_default_context(cafile=files.get("ssl-ca"))
        context.check_hostname = mode == "VERIFY_IDENTITY"
        context.verify_mode = ssl.CERT_NONE if mode == "REQUIRED" else ssl.CERT_REQUIRED
        if "ssl-cert" in files or "ssl-key" in files:
            context.load_cert_chain(files.get("ssl-cert", ""), files.get("ssl-key"))
        return context
    except OSError as error:
        names = ", ".join(sorted(files))
        raise Failure(f"the files of the options {names} cannot be used: {error}") from None


class PyMySqlSession(MySqlSession):
    """A client on a connection of PyMySQL."""

    errors = pymysql.Error


class PyMySql(MySql):
    """A connection to the trial's database."""

    _error = pymysql.Error
    _variants = ("load-data", "multirow", "insert")
    _session = PyMySqlSession
    _reaches = PyMySqlAccess
    _streams = SSCursor

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        super().__init__(job, trial, variant)
        ways = {"load-data": self._load_data, "multirow": self._multi_row, "insert": self.insert_rows}
        self._load = ways[variant]

    @staticmethod
    def _version() -> str:
        return f"PyMySQL {pymysql.__version__}"

    def words(self, error: Exception) -> str:
        advice = ""
        if number_of(error) in NO_LOCAL:
            advice = "; let the server take rows from its clients: SET GLOBAL local_infile = 1"
        return super().words(error) + advice

    def _load_data(self, load: Load) -> None:
        """LOAD DATA LOCAL from the rows converted to text, a block at a time. Each transaction is one statement, which
        commits on its own."""
        cursor = self._cursor

        def one(name: str) -> None:
            cursor.execute(
                f"LOAD DATA LOCAL INFILE '{name}' INTO TABLE {identifier(load.table)} CHARACTER SET utf8mb4"
            )

        for start, stop in load.transactions():
            feed(load.file.lines(start, stop), one)
            # The server turns an error of an INSERT into a warning here.
            if cursor.warning_count:
                raise self._warned()

    def _warned(self) -> Failure:
        self._cursor.execute("SHOW WARNINGS")
        level, number, words = self._cursor.fetchone()
        return Failure(f"LOAD DATA changed what it was given: {words} ({level.lower()} {number})")
