"""SQLAlchemy's Core, a layer over other drivers of this runner.

The driver below connects, with the options of the URL and the settings of the job, and SQLAlchemy gets its connections
by `creator`. So the layer is all that differs from the driver's own contender.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from itertools import islice
from threading import local
from typing import Any

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from ..answer import Rows
from ..contract import Job
from ..driver import Driver, Hello, identifier, variant_of
from ..failure import Failure, one_line
from ..inputs import Column, Load
from ..mix.session import Execute, Session
from .spelling import MARK, numbered
from .sql import Sql

# Rows that one call of `execute` is given to insert.
MANY = 10_000
# For texts that are executed as they are: percent signs stay, and changed rows are counted.
AS_IS = {"no_parameters": True, "preserve_rowcount": True}


class Layer(Sql):
    """SQLAlchemy over an open driver. A subclass names the drivers."""

    _error = SQLAlchemyError
    # By variant, the usual one first: SQLAlchemy's name of the dialect, and the module and class of the driver below.
    _below: dict[str, tuple[str, str, str]]
    # Rows that a statement of the driver's `executemany` may hold.
    _rows = 1

    def __init__(self, below: Any, dialect: str) -> None:
        self._driver = below
        # The connection that the thread's next call of `connect` gets.
        self._next = local()
        self._engine = sqlalchemy.create_engine(
            f"{dialect}://",
            creator=lambda: self._next.connection,
            poolclass=NullPool,
            # Each statement commits on its own, unless BEGIN was sent.
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
        )
        sqlalchemy.event.listen(self._engine, "handle_error", _keep_state)
        self._take(below.session(0))

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        dialect, module, name = cls._below[variant_of(job, tuple(cls._below))]
        driver: type[Driver] = getattr(import_module(f".{module}", __package__), name)
        below, hello = driver.open(replace(job, variant=None))
        try:
            layer = cls(below, dialect)
        except BaseException as error:
            below.abandon()
            if isinstance(error, SQLAlchemyError):
                raise Failure(f"SQLAlchemy cannot use the connection: {one_line(error)}") from None
            raise
        version = f"SQLAlchemy {sqlalchemy.__version__}, {hello.driver_version}"
        return layer, replace(hello, driver_version=version)

    def _over(self, session: Any) -> sqlalchemy.Connection:
        """A connection of SQLAlchemy that uses the one of a session."""
        self._next.connection = session.cursor.connection
        return self._engine.connect()

    def _take(self, session: Any) -> None:
        """Uses the connection of a session from now on."""
        self._first = session
        self._connection = self._over(session)

    def words(self, error: Exception) -> str:
        return self._driver.words(_cause(error))

    def session(self, place: int) -> Session:
        return LayerSession(self._connection, self._first, None) if place == 0 else self.visit()

    def visit(self) -> Session:
        session = self._driver.visit()
        connection = self._over(session)
        return LayerSession(connection, session, connection.close)

    @contextmanager
    def aside(self) -> Iterator[None]:
        with self._driver.aside():
            yield
        session = self._driver.session(0)
        if session.cursor.connection is not self._first.cursor.connection:
            # It is closed already, and would not be reset.
            self._connection.invalidate()
            self._take(session)

    def _run(self, sql: str) -> Rows:
        result = self._connection.exec_driver_sql(sql, execution_options=AS_IS)
        if result.returns_rows:
            return result.fetchall()
        self._changes += max(0, result.rowcount)
        return ()

    def _insert(self, load: Load) -> Any:
        names = [identifier(column.name) for column in load.columns]
        table = sqlalchemy.table(identifier(load.table), *map(sqlalchemy.column, names))
        execute, named = self._connection.execute, _named(names)
        _prepare_all(self._first)
        self._insert_row = lambda statement, row: execute(statement, named(row))
        return sqlalchemy.insert(table)

    def _load(self, load: Load) -> None:
        """`execute` of an INSERT with a list of rows, which becomes `executemany` of the driver."""
        statement = self._insert(load)
        named = _named([column.name for column in load.columns])
        for transaction in self._transactions(load):
            for start, stop in load.turns.parts(*transaction, self._rows):
                rows = map(named, load.file.tuples(start, stop))
                while many := list(islice(rows, MANY)):
                    self._connection.execute(statement, many)

    def blocks(self, table: str, columns: list[Column]) -> Iterator[Rows]:
        return self._driver.blocks(table, columns)

    def database_bytes(self) -> int | None:
        return self._driver.database_bytes()

    def close(self) -> None:
        self._connection.close()
        self._driver.close()

    def abandon(self) -> None:
        self._driver.abandon()


class LayerSession(Session):
    """A client on a connection of SQLAlchemy. What its errors mean is for the driver's session to say."""

    errors = SQLAlchemyError
    parameter = MARK

    def __init__(self, connection: sqlalchemy.Connection, below: Any, close: Callable[[], None] | None) -> None:
        self._connection = connection
        self._session = below
        self._close = close

    def wait_for_locks(self, patience: int) -> None:
        self._session.wait_for_locks(patience)

    def prepare(self, sql: str) -> Execute:
        """`text` with named parameters, which SQLAlchemy compiles once."""
        _prepare_all(self._session)
        # Other colons are none of names.
        statement = sqlalchemy.text(numbered(sql.replace(":", r"\:"), lambda number: f":p{number}"))
        named = _named([f"p{number + 1}" for number in range(sql.count(MARK))])
        execute = self._connection.execute

        def run(values: tuple[Any, ...]) -> Any:
            result = execute(statement, named(values))
            return result.fetchall() if result.returns_rows else ()

        return run

    # Of the drivers below, those with statements that are not prepared prepare none.
    simple = prepare

    def _send(self, sql: str) -> Any:
        return self._connection.exec_driver_sql(sql)

    def begin_read(self) -> Any:
        return self._send("BEGIN")

    def begin_write(self) -> Any:
        return self._send(self._session.begins_write)

    def commit(self) -> Any:
        return self._send("COMMIT")

    def rollback(self) -> Any:
        try:
            return self._send("ROLLBACK")
        except self.errors as error:
            if not self._session.is_over(_cause(error)):
                raise
            return None

    def may_pass(self, error: Exception) -> bool:
        return self._session.may_pass(_cause(error))

    def codes(self, error: Exception) -> list[str]:
        return self._session.codes(_cause(error))

    def words(self, error: Exception) -> str:
        return self._session.words(_cause(error))

    def close(self) -> None:
        if self._close:
            self._close()


class OverSqlite(Layer):
    """Over the standard library's module."""

    _below = {"sqlite3": ("sqlite+pysqlite", "sqlite.stdlib", "Stdlib")}


class OverPostgres(Layer):
    """Over psycopg."""

    _below = {"psycopg": ("postgresql+psycopg", "postgres.psycopg", "Psycopg")}


class OverMySql(Layer):
    """Over PyMySQL or mysqlclient."""

    _below = {
        "pymysql": ("mysql+pymysql", "mysql.pymysql", "PyMySql"),
        "mysqlclient": ("mysql+mysqldb", "mysql.mysqlclient", "MySqlClient"),
    }
    _rows = MANY


def _prepare_all(session: Any) -> None:
    """Has a connection prepare each statement when it is executed first, where that is a setting: psycopg's."""
    connection = session.cursor.connection
    if hasattr(connection, "prepare_threshold"):
        connection.prepare_threshold = 0


def _named(names: list[str]) -> Callable[[tuple[Any, ...]], dict[str, Any]]:
    """A function that makes a dictionary of a row, as `{"a": row[0], "b": row[1]}` does: `zip` would take twice as
    long. The names are those of columns or parameters, which are checked."""
    pairs = ", ".join(f"{identifier(name)!r}: row[{place}]" for place, name in enumerate(names))
    return eval(f"lambda row: {{{pairs}}}")


def _keep_state(context: Any) -> None:
    """Adds its SQLSTATE to an error of mysqlclient, whose connection forgets it when SQLAlchemy closes the cursor."""
    connection = context.connection and context.connection.connection.dbapi_connection
    if hasattr(connection, "sqlstate"):
        context.original_exception.sqlstate = connection.sqlstate()


def _cause(error: Exception) -> Exception:
    """The driver's own error, if it was one."""
    return getattr(error, "orig", None) or error
