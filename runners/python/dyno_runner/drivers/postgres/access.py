"""Connects to a server."""

import os
from typing import Any

import psycopg

from ...contract import Server
from ...failure import Failure, one_line
from ..listed import JobSql
from ..server import Access
from .errors import code_of, words_of

# Seconds to wait for an answer to a connection, where the URL does not say.
PATIENCE = 10
# Variables of the environment that libpq may read: where it finds a password that the job does not bring.
KEPT = ("PGPASSWORD", "PGPASSFILE")

# Advice if a server has no connection left.
FULL = (
    "; the server lets in no more: take fewer clients, close other connections, or raise its max_connections"
)
# Advice on a connection that failed, for the usual reasons in libpq's words.
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


class PostgresAccess(Access):
    """A server that psycopg reaches."""

    def __init__(self, server: Server) -> None:
        self._server = server
        _forget_environment()

    def connect(self, database: str | None) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(**_options(self._server, database), autocommit=True)
        except psycopg.Error as error:
            words = one_line(error)
            advice = next((advice for known, advice in ADVICE.items() if known in words), "")
            raise Failure(
                f"cannot connect to the database '{database}' of {self._server.host}: {words}{advice}"
            ) from None

    def sql(self, connection: psycopg.Connection[Any]) -> JobSql:
        def run(sql: str) -> Any:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description is not None else ()

        return JobSql(run, psycopg.Error, code_of, words_of)


def _options(server: Server, database: str | None) -> dict[str, Any]:
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
