"""PyMySQL: the driver in Python alone that serves MariaDB and MySQL alike.

It has no prepared statements: it writes the parameters into the statement's text, and an insert of one row
is such a text.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice

import pymysql
from pymysql.cursors import SSCursor

from ...answer import Answer, Rows
from ...contract import Job
from ...driver import Driver, Hello, identifier, variant_of
from ...failure import Failure
from ...inputs import Column, Load, Statements
from .scratch import Scratch, number_of, words_of
from .settings import Settings
from .stream import feed

# Rows that are read back at once.
BLOCK = 4096
# Rows that `executemany` is given at once: it wants a list of them, and makes of it statements of at most
# `max_stmt_length` bytes.
MANY = 10_000
# The oldest versions that are served.
OLDEST = {"mariadb": (10, 2), "mysql": (5, 7)}
TITLES = {"mariadb": "MariaDB", "mysql": "MySQL"}
# Errors: the server or its configuration lets no client send a file.
NO_LOCAL = (1148, 3948, 4166)


class PyMySql(Driver):
    """A connection to the trial's database."""

    def __init__(self, scratch: Scratch, variant: str) -> None:
        self._scratch = scratch
        self._connection = scratch.connection
        self._cursor = scratch.connection.cursor()
        self._changes = 0
        ways: dict[str, Callable[[Load], None]] = {
            "load-data": self._load_data,
            "multirow": self._multi_row,
            "insert": self.insert_rows,
        }
        self._load = ways[variant]

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        variant = variant_of(job, ("load-data", "multirow", "insert"))
        settings = Settings(job.settings)
        scratch = Scratch(job.scratch_server())
        driver = cls(scratch, variant)
        try:
            version = str(driver.query("SELECT version()")[0][0])
            check_version(job.engine, version)
            # The database is made by some of the settings.
            settings.apply(driver._cursor)
            scratch.make()
            return driver, driver._hello(version, settings)
        except BaseException:
            driver.abandon()
            raise

    def _hello(self, version: str, settings: Settings) -> Hello:
        comment = str(self.query("SELECT @@version_comment")[0][0])
        cipher = self.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        encryption = cipher[0][1] if cipher and cipher[0][1] else "none"
        build = {"version": [version, comment], "encryption": [encryption]}
        return Hello(short(version), f"PyMySQL {pymysql.__version__}", settings.in_force(self._cursor), build)

    def statements(self, statements: Statements, answer: Answer) -> None:
        run = self._run
        place = 0
        try:
            for place, sql in enumerate(statements.texts()):
                answer.take(run(sql))
        except pymysql.Error as error:
            raise Failure(words_of(error), place) from None

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

    def insert_rows(self, load: Load) -> None:
        sql = _insert(load)
        execute = self._cursor.execute
        place = 0
        try:
            for start, stop in load.transactions():
                execute("BEGIN")
                for place, row in enumerate(load.file.tuples(start, stop), start):
                    execute(sql, row)
                execute("COMMIT")
        except pymysql.Error as error:
            raise Failure(words_of(error), place - load.start) from None

    def _multi_row(self, load: Load) -> None:
        """`executemany`, which makes one INSERT of many rows."""
        sql = _insert(load)
        cursor = self._cursor
        try:
            for start, stop in load.transactions():
                cursor.execute("BEGIN")
                rows = load.file.tuples(start, stop)
                while many := list(islice(rows, MANY)):
                    cursor.executemany(sql, many)
                cursor.execute("COMMIT")
        except pymysql.Error as error:
            raise Failure(words_of(error)) from None

    def _load_data(self, load: Load) -> None:
        """LOAD DATA LOCAL from the text that the rows are made into, a block at a time."""
        cursor = self._cursor

        def one(name: str) -> None:
            cursor.execute(
                f"LOAD DATA LOCAL INFILE '{name}' INTO TABLE {identifier(load.table)} CHARACTER SET utf8mb4"
            )

        try:
            for start, stop in load.transactions():
                cursor.execute("BEGIN")
                feed(load.file.lines(start, stop), one)
                # What would be an error of an INSERT is a warning here.
                if cursor.warning_count:
                    raise self._warned()
                cursor.execute("COMMIT")
        except pymysql.Error as error:
            advice = ""
            if number_of(error) in NO_LOCAL:
                advice = "; let the server take rows from its clients: SET GLOBAL local_infile = 1"
            raise Failure(words_of(error) + advice) from None

    def _warned(self) -> Failure:
        self._cursor.execute("SHOW WARNINGS")
        level, number, words = self._cursor.fetchone()
        return Failure(f"LOAD DATA changed what it was given: {words} ({level.lower()} {number})")

    def bulk_load(self, load: Load) -> None:
        self._load(load)

    def scan(self, sql: str, answer: Answer) -> None:
        answer.take(self.query(sql))

    def blocks(self, table: str, columns: list[Column]) -> Iterator[Rows]:
        names = ", ".join(identifier(column.name) for column in columns)
        try:
            # The client's usual cursor would hold the whole table.
            with self._connection.cursor(SSCursor) as cursor:
                cursor.execute(f"SELECT {names} FROM {identifier(table)}")
                while rows := cursor.fetchmany(BLOCK):
                    yield rows
        except pymysql.Error as error:
            raise Failure(words_of(error)) from None

    def query(self, sql: str) -> Rows:
        try:
            return self._run(sql)
        except pymysql.Error as error:
            raise Failure(words_of(error)) from None

    def changes(self) -> int:
        return self._changes

    def database_bytes(self) -> int:
        """The files of the trial's tables, as far as the server tells. InnoDB's come from its list of files,
        which takes a privilege; its statistics, which need none, lag behind."""
        for files in ("innodb_sys_tablespaces", "innodb_tablespaces"):
            try:
                return int(self._run(_FILES.format(files=files))[0][0])
            except pymysql.Error as error:
                if not self._connection.open:
                    raise Failure(words_of(error)).within("cannot tell the size of the database") from None
        return int(self.query(_TABLES)[0][0])

    def close(self) -> None:
        self._scratch.remove()

    def abandon(self) -> None:
        try:
            self._scratch.remove()
        except Failure:
            pass  # the cause is told elsewhere; what cannot be removed now, the next trial removes


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


def check_version(engine: str, version: str) -> None:
    """Refuses a server that is not the engine that was asked for, because the two have drifted apart, and one
    that is too old."""
    found = "mariadb" if "MariaDB" in version else "mysql"
    if engine != found:
        raise Failure(
            f"the server is {TITLES[found]} {short(version)}, not {TITLES[engine]}: name the contender "
            f"{found}, or another server"
        )
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    oldest = OLDEST[engine]
    if tuple(numbers) < oldest:
        raise Failure(
            f"the server is {TITLES[engine]} {short(version)}, and dyno works with version "
            f"{oldest[0]}.{oldest[1]} and later"
        )


def short(version: str) -> str:
    """`10.11.19-MariaDB-0+deb12u1` without what a distribution adds."""
    name, mark, _ = version.partition("-MariaDB")
    return name + mark


def _insert(load: Load) -> str:
    return f"INSERT INTO {identifier(load.table)} VALUES ({', '.join(['%s'] * len(load.columns))})"
