"""PyMySQL: a driver in pure Python for both MariaDB and MySQL.

It has no prepared statements: it writes the parameters into the statement's text, also for an insert of one
row.
"""

from collections.abc import Iterator
from itertools import islice

import pymysql
from pymysql.cursors import SSCursor

from ...answer import Rows
from ...contract import Job
from ...driver import identifier
from ...failure import Failure
from ...inputs import Load
from ..server import ServerDriver, ServerTrial
from ..sql import blocks_of
from .access import MySqlAccess
from .errors import NO_LOCAL, number_of, words_of
from .session import MySqlSession
from .stream import feed

# The ways of loading rows, the usual one first.
VARIANTS = ("load-data", "multirow", "insert")

# Rows that `executemany` is given at once: it wants a list of them, and makes of it statements of at most
# `max_stmt_length` bytes.
MANY = 10_000


class PyMySql(ServerDriver):
    """A connection to the trial's database."""

    _error = pymysql.Error

    _variants = VARIANTS
    _session = MySqlSession

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        super().__init__(job, trial, variant)
        self._insert_row = self._cursor.execute
        ways = {"load-data": self._load_data, "multirow": self._multi_row, "insert": self.insert_rows}
        self._load = ways[variant]

    @classmethod
    def _access(cls, job: Job) -> MySqlAccess:
        return MySqlAccess(job.reached())

    @staticmethod
    def _version() -> str:
        return f"PyMySQL {pymysql.__version__}"

    def _encryption(self) -> str:
        cipher = self.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        return cipher[0][1] if cipher and cipher[0][1] else "none"

    def words(self, error: Exception) -> str:
        advice = ""
        if number_of(error) in NO_LOCAL:
            advice = "; let the server take rows from its clients: SET GLOBAL local_infile = 1"
        return words_of(error) + advice

    def _run(self, sql: str) -> Rows:
        cursor = self._cursor
        count = cursor.execute(sql)
        rows = cursor.fetchall()
        if cursor.description is None:
            self._changes += count
        # A procedure that was called may have more than one result.
        while cursor.nextset():
            rows = [*rows, *cursor.fetchall()]
        return rows

    def _select(self, sql: str) -> Iterator[Rows]:
        # The client's usual cursor would hold the whole table.
        with self._connection.cursor(SSCursor) as cursor:
            cursor.execute(sql)
            yield from blocks_of(cursor)

    def _multi_row(self, load: Load) -> None:
        """`executemany`, which makes one INSERT of many rows."""
        sql = self._insert(load)
        for transaction in self._transactions(load):
            for start, stop in load.turns.parts(*transaction):
                rows = load.file.tuples(start, stop)
                while many := list(islice(rows, MANY)):
                    self._cursor.executemany(sql, many)

    def _load_data(self, load: Load) -> None:
        """LOAD DATA LOCAL from the rows converted to text, a block at a time."""
        cursor = self._cursor

        def one(name: str) -> None:
            cursor.execute(
                f"LOAD DATA LOCAL INFILE '{name}' INTO TABLE {identifier(load.table)} CHARACTER SET utf8mb4"
            )

        for start, stop in self._transactions(load):
            feed(load.file.lines(start, stop), one)
            # The server turns an error of an INSERT into a warning here.
            if cursor.warning_count:
                raise self._warned()

    def _warned(self) -> Failure:
        self._cursor.execute("SHOW WARNINGS")
        level, number, words = self._cursor.fetchone()
        return Failure(f"LOAD DATA changed what it was given: {words} ({level.lower()} {number})")
