"""Shared by the drivers of servers: a database that belongs to the trial, made afresh, and removed whatever
happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..contract import Job, Server
from ..driver import Driver
from ..failure import Failure
from .sql import Sql


class Scratch:
    """A database on a server, and the connection to it. A subclass connects to it, makes it and removes
    it."""

    def __init__(self, server: Server) -> None:
        """Does not connect, and makes nothing yet."""
        self._server = server
        self._made = False
        self.connection: Any = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Removes a database of that name, makes it and connects to it. Where that fails, or what is done
        within, nothing of it is left."""
        try:
            self.connection = self._connect()
            self._drop(self.connection)
            self._create(self.connection)
            self._made = True
            self.connection = self._enter(self.connection)
            yield
        except BaseException:
            self.abandon()
            raise

    def join(self) -> None:
        """Connects to the database that another process has made, and will remove."""
        self.connection = self.another()

    def another(self) -> Any:
        """One more connection to the database, with the settings in force. Called by several threads at
        once."""
        raise NotImplementedError

    def reconnect(self) -> None:
        """Closes the connection and opens another."""
        self._close(self.connection)
        self.connection = self.another()

    def remove(self) -> None:
        """Closes the connection and removes the database, unless the job keeps it."""
        # By a new connection, because the old one may be lost or within a transaction, and because some
        # servers remove no database to which a client is connected. Uncommitted work is rolled back.
        if self.connection is not None:
            self._close(self.connection)
        if self._made and not self._server.keep:
            self._made = False
            with self._connect() as connection:
                self._drop(connection)

    def abandon(self) -> None:
        """Removes the database as far as possible, after a failure whose cause is reported elsewhere. Where
        that fails, the next trial removes it."""
        try:
            self.remove()
        except Failure:
            pass

    def _connect(self) -> Any:
        """Connects to where databases are made and removed."""
        raise NotImplementedError

    def _create(self, connection: Any) -> None:
        """Makes the database, which does not exist."""
        raise NotImplementedError

    def _enter(self, connection: Any) -> Any:
        """A connection to the database, made from the one that created it, or in its place."""
        raise NotImplementedError

    def _drop(self, connection: Any) -> None:
        """Removes the database if it exists, and ends the statements that a killed runner left running in
        it."""
        raise NotImplementedError

    def _close(self, connection: Any) -> None:
        connection.close()


class ServerDriver(Sql):
    """A connection to the trial's database."""

    _parameter = "%s"

    def __init__(self, scratch: Scratch, variant: str) -> None:
        self._scratch = scratch
        self._variant = variant
        self._connection = scratch.connection
        self._cursor = scratch.connection.cursor()

    def reopened(self, job: Job) -> Driver:
        """The server keeps the database, so this only opens another connection."""
        self._scratch.reconnect()
        return type(self)(self._scratch, self._variant)

    def close(self) -> None:
        self._scratch.remove()

    def abandon(self) -> None:
        self._scratch.abandon()

    def _is_lost(self) -> bool:
        """True if the connection is lost."""
        raise NotImplementedError

    def _bytes_if_told(self, sql: str) -> int | None:
        """The database's size in bytes, by a query that some servers do not support or do not allow; None
        there."""
        try:
            return int(self._run(sql)[0][0])
        except self._error as error:
            if self._is_lost():
                raise Failure(self.words(error)).within("cannot tell the size of the database") from None
            return None
