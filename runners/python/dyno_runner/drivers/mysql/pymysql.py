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
from ...driver import Driver, Hello, identifier, variant_of
from ...failure import Failure
from ...inputs import Load
from ...mix.session import Session
from ..server import ServerDriver
from ..sql import blocks_of
from .errors import NO_LOCAL, number_of, words_of
from .scratch import MySqlScratch
from .session import MySqlSession
from .settings import Settings
from .stream import feed
from .version import short

# The ways of loading rows, the usual one first.
VARIANTS = ("load-data", "multirow", "insert")

# Rows that `executemany` is given at once: it wants a list of them, and makes of it statements of at most
# `max_stmt_length` bytes.
MANY = 10_000


class PyMySql(ServerDriver):
    """A connection to the trial's database."""

    _error = pymysql.Error

    def __init__(self, scratch: MySqlScratch, variant: str) -> None:
        super().__init__(scratch, variant)
        self._insert_row = self._cursor.execute
        ways = {"load-data": self._load_data, "multirow": self._multi_row, "insert": self.insert_rows}
        self._load = ways[variant]

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        variant = variant_of(job, VARIANTS)
        settings = Settings(job)
        scratch = MySqlScratch(job.scratch_server(), job.engine, settings)
        with scratch.opened():
            driver = cls(scratch, variant)
            return driver, driver._hello(scratch.version, settings)

    @classmethod
    def join(cls, job: Job) -> Driver:
        scratch = MySqlScratch(job.scratch_server(), job.engine, Settings(job))
        scratch.join()
        return cls(scratch, variant_of(job, VARIANTS))

    def _hello(self, version: str, settings: Settings) -> Hello:
        comment = str(self.query("SELECT @@version_comment")[0][0])
        cipher = self.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        encryption = cipher[0][1] if cipher and cipher[0][1] else "none"
        build = {"version": [version, comment], "encryption": [encryption]}
        return Hello(short(version), f"PyMySQL {pymysql.__version__}", settings.in_force(self._cursor), build)

    def words(self, error: Exception) -> str:
        advice = ""
        if number_of(error) in NO_LOCAL:
            advice = "; let the server take rows from its clients: SET GLOBAL local_infile = 1"
        return words_of(error) + advice

    def session(self, place: int) -> Session:
        return MySqlSession(self._connection, None) if place == 0 else self.visit()

    def visit(self) -> Session:
        another = self._scratch.another()
        return MySqlSession(another, another.close)

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
            # What would be an error of an INSERT is a warning here.
            if cursor.warning_count:
                raise self._warned()

    def _warned(self) -> Failure:
        self._cursor.execute("SHOW WARNINGS")
        level, number, words = self._cursor.fetchone()
        return Failure(f"LOAD DATA changed what it was given: {words} ({level.lower()} {number})")

    def _is_lost(self) -> bool:
        return not self._connection.open

    def database_bytes(self) -> int:
        """The size of the trial's tables, as far as the server reports it. The sizes of InnoDB's files come
        from its list of files, which requires a privilege; its statistics, which require none, lag behind."""
        for files in ("innodb_sys_tablespaces", "innodb_tablespaces"):
            if (told := self._bytes_if_told(_FILES.format(files=files))) is not None:
                return told
        return int(self.query(_TABLES)[0][0])


_FILES = (
    "SELECT (SELECT coalesce(sum(file_size), 0) FROM information_schema.{files} "
    "WHERE name LIKE concat(replace(database(), '_', '\\_'), '/%')) "
    "+ (SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.tables "
    "WHERE table_schema = database() AND engine <> 'InnoDB')"
)
_TABLES = (
    "SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.tables WHERE "
    "table_schema = database()"
)
