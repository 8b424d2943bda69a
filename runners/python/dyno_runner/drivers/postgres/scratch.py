"""Connects to, makes and removes the trial's own database."""

import os
from typing import Any

import psycopg

from ...contract import Server
from ...failure import Failure, one_line
from ..server import Scratch
from ..spelling import quoted
from .errors import words_of
from .settings import Settings

# The database that every PostgreSQL has for this purpose.
MAINTENANCE = "postgres"
# Seconds to wait for an answer to a connection, where the URL does not say.
PATIENCE = 10
# The oldest supported version, which is also the first that accepts a collation provider when a database is
# made.
OLDEST = 100_000
WITH_PROVIDERS = 150_000
# Variables of the environment that libpq may read: where it finds a password that the job does not bring.
KEPT = ("PGPASSWORD", "PGPASSFILE")

# What to do where a server has no connection left.
FULL = (
    "; the server lets in no more: take fewer clients, close other connections, or raise its max_connections"
)
# What to do about a connection that failed, for the usual reasons in libpq's words.
ADVICE = {
    "no password supplied": "; give the password in the URL, in PGPASSWORD or in ~/.pgpass",
    "authentication failed": "; check user and password in the URL, PGPASSWORD or ~/.pgpass",
    "could not translate host name": "; check the host's name in the URL",
    "failed to resolve host": "; check the host's name in the URL",
    "is too long": "; use a folder with a shorter name for the socket",
    "does not exist": "; name a database and a user of the server in the URL",
    "too many clients": FULL,
    "connection slots": FULL,
    "too many connections for": "; the server lets in no more of this role or to this database: take fewer "
    "clients, or raise the limit (ALTER ROLE or ALTER DATABASE … CONNECTION LIMIT)",
    "Too many open files": "; the limit of open files is reached: take fewer clients, or raise it (ulimit "
    "-n)",
}


class PostgresScratch(Scratch):
    """A database of PostgreSQL."""

    def __init__(self, server: Server, engine: str, settings: Settings) -> None:
        super().__init__(server)
        self._engine = engine
        _forget_environment()
        self._settings = settings

    def _connect(self) -> psycopg.Connection[Any]:
        return self._connect_to(self._server.database or MAINTENANCE)

    def _connect_to(self, database: str) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(**_options(self._server, database), autocommit=True)
        except psycopg.Error as error:
            words = one_line(error)
            advice = next((advice for known, advice in ADVICE.items() if known in words), "")
            raise Failure(
                f"cannot connect to the database '{database}' of {self._server.host}: {words}{advice}"
            ) from None

    def _create(self, maintenance: psycopg.Connection[Any]) -> None:
        """Makes the database, from the unmodified template.

        Texts are UTF-8 and compare by their bytes, whatever the server was set up with: so answers are in the
        same order as SQLite's, and the locale of the machine where `initdb` ran is no part of the
        measurement. Other systems that speak PostgreSQL's protocol have their own rules.
        """
        name = self._server.scratch
        version = maintenance.info.server_version
        if version < OLDEST:
            raise Failure(
                f"the server is PostgreSQL {version // 10_000}.{version // 100 % 100}, and dyno works "
                "with version 10 and later"
            )
        told = told_version(maintenance)
        if not self._server.is_own(told):
            raise Failure(
                f"the server is {told}, not {self._engine}: name the engine that it is, or another server"
            )
        sql = f'CREATE DATABASE "{name}"'
        if is_postgres(told):
            provider = " LOCALE_PROVIDER libc" if version >= WITH_PROVIDERS else ""
            sql += f" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE {quoted(self._settings.collate)}"
            sql += f" LC_CTYPE {quoted(self._settings.ctype)}{provider}"
        try:
            maintenance.execute(sql)
        except psycopg.errors.InsufficientPrivilege as error:
            raise Failure(
                f"cannot make the database {name}: {words_of(error)}; dyno works in a database of its own, "
                f'so let an administrator run: ALTER ROLE "{self._server.user}" CREATEDB'
            ) from None
        except psycopg.Error as error:
            raise Failure(f"cannot make the database {name}: {words_of(error)}") from None

    def _enter(self, maintenance: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
        maintenance.close()
        return self.another()

    def another(self) -> psycopg.Connection[Any]:
        connection = self._connect_to(self._server.scratch)
        try:
            self._settings.apply(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _drop(self, maintenance: psycopg.Connection[Any]) -> None:
        """Removes the database if it exists. A statement that a killed runner left running in it is ended
        first: PostgreSQL would wait five seconds for it and then refuse."""
        name = self._server.scratch
        try:
            maintenance.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {quoted(name)}"
            )
        except psycopg.Error:
            pass  # what only speaks the protocol may not know how; if it is needed, the next statement fails
        try:
            maintenance.execute(f'DROP DATABASE IF EXISTS "{name}"')
        except psycopg.Error as error:
            raise Failure(f"cannot remove the database {name}: {words_of(error)}") from None


def is_postgres(version: str) -> bool:
    """True if a server of this version is PostgreSQL itself or made from it, and does not only speak its
    protocol."""
    return version.startswith("PostgreSQL")


def told_version(connection: psycopg.Connection[Any]) -> str:
    """The server's name and version in its own words."""
    try:
        row = connection.execute("SELECT version()").fetchone()
    except psycopg.Error as error:
        raise Failure(f"the server does not tell its version: {words_of(error)}") from None
    return "" if row is None else str(row[0])


def _options(server: Server, database: str) -> dict[str, Any]:
    """libpq's keywords and their values. Those of the user's URL come first: they cannot lead to another
    server or database."""
    options: dict[str, Any] = {"application_name": "dyno", "connect_timeout": PATIENCE}
    options |= server.options
    if server.port is not None:
        options["port"] = server.port
    if server.password is not None:
        options["password"] = server.password
    return options | {"host": server.host, "user": server.user, "dbname": database, "client_encoding": "UTF8"}


def _forget_environment() -> None:
    """Removes libpq's variables from the environment, because libpq takes unset options from them. Only the
    job says where to connect and how: PGHOSTADDR would lead to another server, PGOPTIONS to other
    settings."""
    for name in [name for name in os.environ if name.startswith("PG") and name not in KEPT]:
        del os.environ[name]
