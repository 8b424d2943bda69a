"""Shared by the drivers of servers: connections to the database of a trial, which the job's maintenance makes
and removes."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from ..contract import Job
from ..driver import Driver, Hello, variant_of
from ..failure import Failure
from ..mix.session import Session
from .listed import JobSql, OnConnect
from .sql import Sql


class Access:
    """The way by which a driver reaches a server."""

    def __init__(self, job: Job) -> None:
        """Reads the address and options of the job's server, and does not connect yet."""
        raise NotImplementedError

    def connect(self, database: str | None) -> Any:
        """Connects to a database; to none where the engine needs none."""
        raise NotImplementedError

    def sql(self, connection: Any) -> JobSql:
        """Executes what the job lists by a connection."""
        raise NotImplementedError


class ServerTrial:
    """A trial on a server."""

    def __init__(self, job: Job, access: Access) -> None:
        """Does not connect, and makes nothing yet."""
        self._job = job
        self._access = access
        self._settings = OnConnect(job.on_connect)
        # True if something is to be done at the end.
        self._made = False
        self.connection: Any = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Makes the database, if the job says how, and connects to it. If what is done within fails, nothing of
        it is left."""
        try:
            if self._job.maintenance is not None:
                self._maintain(self._job.maintenance.before)
                self._made = True
            self.connection = self.another()
            yield
        except BaseException:
            self.abandon()
            raise

    def another(self) -> Any:
        """One more connection to the database, with the settings in force. Called by several threads at
        once."""
        connection = self._access.connect(self._job.reached().database)
        try:
            self._settings.apply(self._access.sql(connection))
            return connection
        except BaseException:
            connection.close()
            raise

    def sql(self) -> JobSql:
        """Executes what the job lists by the connection."""
        return self._access.sql(self.connection)

    def close(self) -> None:
        """Closes the connection and does what is to be done at the end."""
        # By a new connection, because the old one may be lost or within a transaction, and because some
        # servers remove no database to which a client is connected. Uncommitted work is rolled back.
        connection, self.connection = self.connection, None
        if connection is not None and not self._is_closed(connection):
            connection.close()
        if self._made and self._job.maintenance and self._job.maintenance.after:
            self._made = False
            self._maintain(self._job.maintenance.after)

    def abandon(self) -> None:
        """Does the same as far as possible, after a failure whose cause is reported elsewhere."""
        try:
            self.close()
        except Failure:
            pass

    def _maintain(self, statements: list[Any]) -> None:
        assert self._job.maintenance is not None
        with closing(self._access.connect(self._job.maintenance.database)) as connection:
            self._access.sql(connection).execute(statements)

    @staticmethod
    def _is_closed(connection: Any) -> bool:
        is_open = getattr(connection, "open", None)
        return connection.closed if is_open is None else not is_open


class ServerDriver(Sql):
    """A connection to the trial's database. A subclass names its variants, and the classes of its sessions and of
    how it connects."""

    _parameter = "%s"
    _variants: tuple[str, ...]
    _session: type[Any]
    _reaches: type[Access]

    def __init__(self, job: Job, trial: ServerTrial, variant: str) -> None:
        self._job = job
        self._trial = trial
        self._variant = variant
        self._connection = trial.connection

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        variant = variant_of(job, cls._variants)
        trial = ServerTrial(job, cls._reaches(job))
        with trial.opened():
            driver = cls(job, trial, variant)
            answers = trial.sql().read_back(job.read_back)
            build = {"encryption": [driver._encryption()]}
            return driver, Hello("", cls._version(), [], build, answers)

    @staticmethod
    def _version() -> str:
        """The driver's name and version."""
        raise NotImplementedError

    def _encryption(self) -> str:
        """The encryption of the connection, or `none`."""
        raise NotImplementedError

    def session(self, place: int) -> Session:
        return self._session(self._connection, None) if place == 0 else self.visit()

    def visit(self) -> Session:
        another = self._trial.another()
        return self._session(another, another.close)

    def database_bytes(self) -> int:
        return self._trial.sql().first_number(self._job.database_bytes)

    def close(self) -> None:
        self._trial.close()

    def abandon(self) -> None:
        self._trial.abandon()
