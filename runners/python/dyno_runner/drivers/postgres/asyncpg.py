"""asyncpg, a driver for asyncio that speaks PostgreSQL's protocol itself, and binary formats alone.

Texts that are executed once, and simple statements, are prepared without a name: asyncpg's call without a preparation
(`execute`) drops rows. So they take two round trips.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

import asyncpg

from ...answer import Answer, Rows
from ...contract import Job
from ...driver import identifier
from ...failure import Failure
from ...inputs import Load, Statements
from ...mix.session import Execute
from ..eventloop import EventLoop, waits
from ..listed import JobSql
from ..server import ServerDriver, ServerTrial
from ..spelling import MARK, numbered
from ..sql import BLOCK
from .access import ENCRYPTION, PATIENCE, PostgresAccess
from .errors import PostgresErrors, code_of, words_of
from .written import AS_WRITTEN

ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
# libpq's options that asyncpg keeps, as parameters of its address.
VERSIONS = ("ssl_min_protocol_version", "ssl_max_protocol_version")
KEPT = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", *VERSIONS)
OWN = ("connect_timeout", "application_name")

dollars = partial(numbered, name=lambda number: f"${number}")


# What makes a simple statement's values those that asyncpg takes, by its text; None where they are.
Reader = Callable[[tuple[Any, ...]], Any] | None
Readers = dict[str, Reader]


class Link:
    """A connection, with calls that wait for its answers."""

    def __init__(self, loop: EventLoop, connection: asyncpg.Connection, readers: Readers) -> None:
        self.loop = loop
        self.connection = connection
        self.readers = readers

    @property
    def closed(self) -> bool:
        """True if it is closed or lost."""
        return self.connection.is_closed()

    def close(self) -> None:
        """Says good-bye to the server."""
        self.loop.wait_for(self.connection.close(timeout=PATIENCE))

    def run(self, sql: str) -> tuple[Rows, int]:
        """Executes a statement once. Returns its rows, and how many it has changed."""
        return self.loop.wait_for(self.execute(sql))

    async def execute(self, sql: str) -> tuple[Rows, int]:
        """The same, to be awaited."""
        statement = await self.connection.prepare(sql, name="")
        rows = await statement.fetch()
        if rows:
            return rows, 0
        # `INSERT 0 5`, `UPDATE 3`; also `SELECT 0`.
        count = (statement.get_statusmsg() or "").rpartition(" ")[2]
        return rows, int(count) if count.isdigit() and not statement.get_attributes() else 0


class AsyncPgAccess(PostgresAccess):
    """A server that asyncpg reaches."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._loop = EventLoop()
        # All connections share them, as those that come and go would ask within the clock.
        self._readers: Readers = {}
        options = dict(self._server.options)
        for name in options:
            if name not in (*KEPT, *OWN):
                known = ", ".join((*OWN, *KEPT))
                raise Failure(f"the URL has the option '{name}', and a connection by asyncpg has {known}")
        patience = options.pop("connect_timeout", str(PATIENCE))
        if not patience.isdigit():
            raise Failure(f"the option connect_timeout is in seconds, not '{patience}'")
        # As in libpq, 0 is no limit.
        self._patience = int(patience) or None
        self._name = options.pop("application_name", "dyno")
        self._address = f"postgresql://?{urlencode({'sslmode': ENCRYPTION} | options)}"

    def connect(self, database: str | None) -> Link:
        server = self._server
        connecting = asyncpg.connect(
            self._address,
            host=server.host,
            port=server.port,
            user=server.user,
            password=server.password,
            database=database,
            timeout=self._patience,
            server_settings={"application_name": self._name},
        )
        try:
            link = Link(self._loop, self._loop.wait_for(connecting), self._readers)
            _take_as_written(link.connection)
            return link
        except TimeoutError:
            raise self.refused(database, f"no answer came within {self._patience} s") from None
        except (*ERRORS, ValueError) as error:
            raise self.refused(database, error) from None

    def sql(self, connection: Link) -> JobSql:
        return JobSql(lambda sql: connection.run(sql)[0], ERRORS, code_of, words_of)


class AsyncPgSession(PostgresErrors):
    """A client on a connection."""

    errors = ERRORS
    parameter = MARK

    def __init__(self, link: Link, close: Callable[[], None] | None) -> None:
        self._link = link
        self._close = close

    def prepare(self, sql: str) -> Execute:
        wait_for = waits()
        statement = wait_for(self._link.connection.prepare(dollars(sql)))
        fetch, read = statement.fetch, _reader(statement)
        if read is None:
            return lambda values: wait_for(fetch(*values))
        return lambda values: wait_for(fetch(*read(values)))

    def simple(self, sql: str) -> Execute:
        wait_for, prepare, sql = waits(), self._link.connection.prepare, dollars(sql)
        readers = self._link.readers
        if sql not in readers:
            # Once for the types of its parameters.
            readers[sql] = _reader(wait_for(prepare(sql, name="")))
        read = readers[sql] or tuple

        async def fetch(values: tuple[Any, ...]) -> Any:
            statement = await prepare(sql, name="")
            return await statement.fetch(*read(values))

        return lambda values: wait_for(fetch(values))

    def _send(self, sql: str) -> Any:
        return waits()(self._link.connection.execute(sql))

    def begin_read(self) -> Any:
        return self._send("BEGIN")

    begin_write = begin_read

    def commit(self) -> Any:
        return self._send("COMMIT")

    def rollback(self) -> Any:
        return self._send("ROLLBACK")

    def close(self) -> None:
        if self._close:
            self._close()


class AsyncPg(ServerDriver):
    """A connection to the trial's database."""

    _error = ERRORS
    _parameter = MARK
    _variants = ("records", "copy", "executemany", "insert")
    _session = AsyncPgSession
    _reaches = AsyncPgAccess
    shares_thread = True

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        super().__init__(job, trial, variant)
        self._loop = self._connection.loop
        self._asyncpg = self._connection.connection
        self.at_once, self.sleep = self._loop.at_once, self._loop.sleep
        ways = {"records": self._records, "copy": self._copy, "executemany": self._execute_many}
        way = ways.get(variant)
        self._load = self.insert_rows if way is None else lambda load: self._loop.wait_for(way(load))

    @staticmethod
    def _version() -> str:
        return f"asyncpg {asyncpg.__version__}"

    def _encryption(self) -> str:
        return "TLS" if self._asyncpg._transport.get_extra_info("ssl_object") else "none"

    def words(self, error: Exception) -> str:
        return words_of(error)

    def statements(self, statements: Statements, start: int, stop: int, answer: Answer) -> None:
        place = start

        async def all_of_them() -> None:
            nonlocal place
            run = self._connection.execute
            for place, sql in enumerate(statements.texts(start, stop), start):
                rows, changes = await run(sql)
                answer.take(rows)
                self._changes += changes

        self._wait_for(all_of_them(), lambda: place)

    def insert_rows(self, load: Load) -> None:
        # That of a row; none at BEGIN and COMMIT.
        place: int | None = None

        async def all_of_them() -> None:
            nonlocal place
            insert = (await self._asyncpg.prepare(self._insert(load))).fetch
            async for transaction in self._begun(load.ranges(), load.begins()):
                for start, stop in load.turns.parts(*transaction):
                    for place, row in enumerate(load.file.tuples(start, stop), start):
                        await insert(*row)
                place = None

        self._wait_for(all_of_them(), lambda: None if place is None else place - load.start)

    def _wait_for(self, work: Awaitable[None], place: Callable[[], int | None]) -> None:
        try:
            self._loop.wait_for(work)
        except self._error as error:
            raise Failure(self.words(error), place()) from None

    def _run(self, sql: str) -> Rows:
        rows, changes = self._connection.run(sql)
        self._changes += changes
        return rows

    def _select(self, sql: str) -> Iterator[Rows]:
        # A cursor of the server, which lives within a transaction: else the client would hold the whole table.
        wait_for, transaction = self._loop.wait_for, self._asyncpg.transaction()
        wait_for(transaction.start())
        cursor = wait_for(self._asyncpg.cursor(sql))
        while rows := wait_for(cursor.fetch(BLOCK)):
            yield rows
        wait_for(transaction.commit())

    def _insert(self, load: Load) -> str:
        return dollars(super()._insert(load))

    async def _begun(self, ranges: Iterable[tuple[int, int]], begins: bool) -> AsyncIterator[tuple[int, int]]:
        """Ranges of rows, each between BEGIN and COMMIT if `begins`."""
        for rows in ranges:
            if begins:
                await self._asyncpg.execute("BEGIN")
            yield rows
            if begins:
                await self._asyncpg.execute("COMMIT")

    async def _records(self, load: Load) -> None:
        """COPY of rows in binary, which asyncpg makes of tuples. Each transaction is one statement, which commits on
        its own."""
        for start, stop in load.transactions():
            records = load.file.tuples(start, stop)
            await self._asyncpg.copy_records_to_table(_folded(load.table), records=records)

    async def _copy(self, load: Load) -> None:
        """The same with rows converted to text, a block at a time."""
        for start, stop in load.transactions():
            source = _blocks(load.file.lines(start, stop))
            await self._asyncpg.copy_to_table(_folded(load.table), source=source)

    async def _execute_many(self, load: Load) -> None:
        """The prepared statement for each row, of which many are sent together."""
        many = (await self._asyncpg.prepare(self._insert(load))).executemany
        # What one call sends commits together.
        async for transaction in self._begun(load.transactions(), load.begins()):
            for start, stop in load.turns.parts(*transaction):
                await many(load.file.tuples(start, stop))

    def close(self) -> None:
        super().close()
        self._loop.close()


def _reader(statement: Any) -> Reader:
    """A function that makes decimals of the numbers for a statement's parameters of that type, for which
    asyncpg takes no float; None where there are no such parameters."""
    are_decimals = [kind.name == "numeric" for kind in statement.get_parameters()]
    if not any(are_decimals):
        return None
    return lambda values: [
        Decimal(repr(value)) if is_decimal and isinstance(value, float) else value
        for value, is_decimal in zip(values, are_decimals)
    ]


def _take_as_written(connection: asyncpg.Connection) -> None:
    """Sets the text format for types, as `set_type_codec` does, which would ask the server for each one."""
    settings = connection._protocol.get_settings()
    for number, name in AS_WRITTEN.items():
        settings.add_python_codec(number, name, "pg_catalog", [], "scalar", str, str, "text")


def _folded(table: str) -> str:
    """A table's name as PostgreSQL reads it without the quotes that asyncpg puts around it."""
    return identifier(table).lower()


async def _blocks(blocks: Iterator[bytes]) -> AsyncIterator[bytes]:
    for block in blocks:
        yield block
