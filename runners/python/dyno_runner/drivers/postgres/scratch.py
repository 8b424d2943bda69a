"""The trial's own database on a server: made anew, worked in, and removed whatever happens."""

import os
from typing import Any

import psycopg

from ...contract import Server
from ...failure import Failure, one_line
from ..spelling import quoted

# The database that every PostgreSQL has for this purpose.
MAINTENANCE = "postgres"
# Seconds to wait for an answer to a connection, where the URL does not say.
PATIENCE = 10
# The oldest version that is served, and the first that can be told whose collations are meant.
OLDEST = 100_000
WITH_PROVIDERS = 150_000
# Variables of the environment that libpq may read: where it finds a password that the job does not bring.
KEPT = ("PGPASSWORD", "PGPASSFILE")

# What to do about a connection that failed, for the usual reasons in libpq's words.
ADVICE = {
    "no password supplied": "; give the password in the URL, in PGPASSWORD or in ~/.pgpass",
    "authentication failed": "; check user and password in the URL, PGPASSWORD or ~/.pgpass",
    "could not translate host name": "; check the host's name in the URL",
    "failed to resolve host": "; check the host's name in the URL",
    "is too long": "; use a folder with a shorter name for the socket",
    "does not exist": "; name a database and a user of the server in the URL",
}


class Scratch:
    """A connection to a database that goes away with it."""

    def __init__(self, server: Server, collate: str, ctype: str) -> None:
        """Removes a database of that name, makes it and connects to it."""
        _forget_environment()
        self._server = server
        self._made = False
        with self._connect(self._maintenance()) as maintenance:
            version = maintenance.info.server_version
            if version < OLDEST:
                raise Failure(
                    f"the server is PostgreSQL {version // 10_000}.{version // 100 % 100}, and dyno works "
                    "with version 10 and later"
                )
            self._drop(maintenance)
            self._create(maintenance, collate, ctype)
        self._made = True
        self.connection = self._connect(server.scratch)

    def remove(self) -> None:
        """Closes the connection and removes the database."""
        # No database can be removed while somebody is connected to it.
        self.connection.close()
        if self._made:
            self._made = False
            with self._connect(self._maintenance()) as maintenance:
                self._drop(maintenance)

    def _maintenance(self) -> str:
        return self._server.database or MAINTENANCE

    def _connect(self, database: str) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(**_options(self._server, database), autocommit=True)
        except psycopg.Error as error:
            words = one_line(error)
            advice = next((advice for known, advice in ADVICE.items() if known in words), "")
            raise Failure(
                f"cannot connect to the database '{database}' of {self._server.host}: {words}{advice}"
            ) from None

    def _create(self, maintenance: psycopg.Connection[Any], collate: str, ctype: str) -> None:
        """Makes the database, from the template that nobody has changed.

        Texts are UTF-8 and compare by their bytes, whatever the server was set up with: so answers are in the
        same order as SQLite's, and the locale of the machine where `initdb` ran is no part of the
        measurement. Other systems that speak PostgreSQL's protocol have rules of their own.
        """
        name = self._server.scratch
        sql = f'CREATE DATABASE "{name}"'
        if is_postgres(maintenance):
            provider = " LOCALE_PROVIDER libc" if maintenance.info.server_version >= WITH_PROVIDERS else ""
            sql += f" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE {quoted(collate)}"
            sql += f" LC_CTYPE {quoted(ctype)}{provider}"
        try:
            maintenance.execute(sql)
        except psycopg.errors.InsufficientPrivilege as error:
            raise Failure(
                f"cannot make the database {name}: {words_of(error)}; dyno works in a database of its own, "
                f'so let an administrator run: ALTER ROLE "{self._server.user}" CREATEDB'
            ) from None
        except psycopg.Error as error:
            raise Failure(f"cannot make the database {name}: {words_of(error)}") from None

    def _drop(self, maintenance: psycopg.Connection[Any]) -> None:
        """Removes the database if it is there. Where a runner that was killed has left a statement running in
        it, that is ended first: PostgreSQL would wait five seconds for it and then refuse."""
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


def words_of(error: psycopg.Error) -> str:
    """What the server said, with its code; or, where no server is left, that it is lost."""
    diagnosis = error.diag
    if diagnosis.sqlstate is None or isinstance(error, psycopg.errors.AdminShutdown):
        words = one_line(error).rstrip(".")
        if isinstance(error, psycopg.OperationalError):
            return (
                f"the connection to the server is lost: {words}. If the server has crashed or was stopped, "
                "its log says why"
            )
        return words
    parts = [diagnosis.message_primary, diagnosis.message_detail, diagnosis.message_hint]
    return f"{one_line(' '.join(filter(None, parts)))} (PostgreSQL error {diagnosis.sqlstate})"


def is_postgres(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server is PostgreSQL itself or made from it, and does not only speak its protocol."""
    try:
        row = connection.execute("SELECT version()").fetchone()
    except psycopg.Error as error:
        raise Failure(f"the server does not tell its version: {words_of(error)}") from None
    return row is not None and str(row[0]).startswith("PostgreSQL")


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
    """libpq takes what it is not told from variables of the environment. Where to connect and how is the
    job's to say alone: PGHOSTADDR would lead to another server, PGOPTIONS to other settings."""
    for name in [name for name in os.environ if name.startswith("PG") and name not in KEPT]:
        del os.environ[name]
