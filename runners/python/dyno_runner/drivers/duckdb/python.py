"""DuckDB's own client for Python, which contains the engine."""

import os
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import duckdb

from ...answer import Rows
from ...contract import Job
from ...driver import Driver, Hello, identifier, variant_of
from ...failure import Failure, one_line
from ...inputs import Load
from ...records import RecordFile
from ..listed import JobSql, OnConnect
from ..spelling import quoted
from ..sql import BLOCK, Sql, blocks_of
from .settings import location

# Statements that return how many rows they changed, in place of rows.
CHANGING = {duckdb.StatementType.INSERT, duckdb.StatementType.UPDATE, duckdb.StatementType.DELETE}
COUNT = "Count"
# The types of what is in a file.
TYPES = {"text": "VARCHAR", "integer": "INTEGER"}


class DuckDb(Sql):
    """An open database."""

    _error = duckdb.Error

    def __init__(self, connection: Any, variant: str) -> None:
        self._connection = connection
        if variant == "arrow":
            # Before a clock starts, and only where it is needed.
            self._batches = import_module(".arrow", __package__).Batches
        ways = {"arrow": self._arrow, "appender": self._appender, "executemany": self.insert_rows}
        self._load = ways.get(variant, super()._load)

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        variant = variant_of(job, ("arrow", "appender", "executemany", "csv"))
        if job.build != "bundled":
            raise Failure(
                "the wheel of duckdb has the engine in it and takes no other: name the contender duckdb"
            )
        place = location(job, job.directory)
        # Data that do not fit into memory belong on the measured file system, like the database; and nothing
        # is fetched from a network.
        config: dict[str, Any] = {
            "temp_directory": str(job.directory / "temporary"),
            "autoinstall_known_extensions": "false",
            # DuckDB would use all of the machine's processors even where it is given only some.
            "threads": len(os.sched_getaffinity(0)),
        }
        try:
            connection = duckdb.connect(place, config=config)
        except duckdb.Error as error:
            raise Failure(f"cannot open {place}: {one_line(error)}") from None
        driver = cls(connection, variant)
        sql = JobSql(driver._run, duckdb.Error, lambda error: type(error).__name__, one_line)
        OnConnect(job.on_connect).apply(sql)
        version, source = driver.query("SELECT library_version, source_id FROM pragma_version()")[0]
        build = {"source_id": [source], "library": [duckdb.__file__ or "unknown"]}
        version = version.removeprefix("v")
        return driver, Hello(version, f"duckdb {duckdb.__version__}", [], build, sql.read_back(job.read_back))

    def _run(self, sql: str) -> Rows:
        # The text is parsed once: `execute` of a text would parse it in the same way.
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1:
            raise duckdb.Error(f"it holds {len(statements)} statements and not one")
        result = self._connection.execute(statements[0])
        rows = result.fetchall()
        if statements[0].type in CHANGING and result.description[0][0] == COUNT:
            self._changes += rows[0][0]
            return ()
        return rows

    def _select(self, sql: str) -> Iterator[Rows]:
        return blocks_of(self._connection.execute(sql))

    def _begin(self) -> None:
        self._connection.begin()

    def _commit(self) -> None:
        self._connection.commit()

    def insert_rows(self, load: Load) -> None:
        """`executemany`, which executes one prepared statement for each row. The client keeps no statement
        from one call of `execute` to the next, and would plan the same INSERT again for every row."""
        sql = self._insert(load)
        with self._as_failures():
            for transaction in self._between(load.ranges(), load.begins()):
                for start, stop in load.turns.parts(*transaction):
                    rows = load.file.tuples(start, stop)
                    while block := list(islice(rows, BLOCK)):
                        self._connection.executemany(sql, block)

    def _arrow(self, load: Load) -> None:
        """INSERT from a SELECT over Arrow data, which DuckDB reads in place. Each transaction is one statement, which
        commits on its own."""
        columns = ", ".join(f"row[{place + 1}]" for place in range(len(load.columns)))
        sql = f"INSERT INTO {identifier(load.table)} SELECT {columns} FROM dyno_rows"
        connection = self._connection
        batches = self._batches(load.file)
        for start, stop in load.transactions():
            connection.register("dyno_rows", batches.reader(start, stop))
            connection.execute(sql)
            connection.unregister("dyno_rows")

    def _appender(self, load: Load) -> None:
        """The appender, which takes rows and plans nothing."""
        for start, stop in self._transactions(load):
            appender = self._connection.appender(load.table)
            appender.append_rows(load.file.tuples(start, stop))
            appender.flush()

    def import_file(self, load: Load) -> None:
        """INSERT from a SELECT over the file, which DuckDB's own CSV reader splits with as many threads as
        the engine has. Nothing is guessed: columns and delimiter are given. An empty field is an empty text,
        not NULL. Each transaction is one statement, which commits on its own; where there are several, each reads the
        file from its beginning."""
        file: RecordFile = load.file
        types = {column.name: TYPES[column.kind] for column in file.columns}
        texts = [name for name, kind in types.items() if kind == TYPES["text"]]
        columns = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in types.items())
        names = ", ".join(map(identifier, types))
        sql = (
            f"INSERT INTO {identifier(load.table)} ({names}) SELECT * FROM read_csv({quoted(file.file)}, "
            f"auto_detect = false, header = false, delim = {quoted(file.delimiter)}, "
            "quote = '', escape = '', "
            f"columns = {{{columns}}}, force_not_null = [{', '.join(map(quoted, texts))}])"
        )
        with self._as_failures():
            for start, stop in load.transactions():
                whole = stop - start == file.count
                self._connection.execute(sql if whole else f"{sql} LIMIT {stop - start} OFFSET {start}")

    def close(self) -> None:
        try:
            self._connection.close()
        except duckdb.Error as error:
            raise Failure(f"the database did not close: {one_line(error)}") from None
