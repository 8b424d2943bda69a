"""Connects to, makes and removes the trial's own database."""

from typing import Any

import pymysql
from pymysql.constants import CLIENT

from ...contract import Server
from ...failure import Failure, one_line
from ..server import Scratch
from .errors import number_of, words_of
from .options import parse
from .settings import Settings
from .version import check_version

# MySQL's usual port.
PORT = 3306
# Most bytes of a socket's path: one less than the kernel's `sun_path`.
LONGEST_PATH = 107

# Error: the user may not do that with a database.
DATABASE_ACCESS_DENIED = 1044
# Error: there is no such connection to end.
NO_SUCH_THREAD = 1094

# What to do about a connection that failed, for the usual reasons.
ADVICE = {
    1045: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
    1698: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
    DATABASE_ACCESS_DENIED: "; name a database in the URL that the user may enter, or none",
    1049: "; name a database in the URL that the user may enter, or none",
    1040: "; the server lets in no more: take fewer clients, close other connections, or raise its "
    "max_connections",
    1203: "; the server lets in no more of one account: take fewer clients, or raise its "
    "max_user_connections",
    1226: "; the account may do no more: take fewer clients, or raise its limit (ALTER USER … WITH "
    "MAX_USER_CONNECTIONS …)",
    2002: "; is the server running, and does it listen there?",
    2003: "; is the server running, and does it listen there? Else check the host's name",
    2061: "; the server wants an encrypted connection or another plugin: try ?ssl-mode=REQUIRED",
}


class MySqlScratch(Scratch):
    """A database of MariaDB or MySQL."""

    def __init__(self, server: Server, engine: str, settings: Settings) -> None:
        super().__init__(server)
        self._engine = engine
        self._settings = settings
        # Read once: a program that connects often does not read its certificates each time.
        self._options = parse(server.options)
        # The server's, once it is connected to.
        self.version = ""

    def _create(self, connection: Any) -> None:
        """Makes the database.

        Texts are in utf8mb4 and compare by the engine's own rules for it (the setting `collation_server`
        where its character set is that one), which MySQL's users live with: letters that differ by case are
        equal, unlike in the other engines.
        """
        name = self._server.scratch
        with connection.cursor() as cursor:
            try:
                cursor.execute("SELECT version()")
                self.version = str(cursor.fetchone()[0])
                check_version(self._engine, self._server, self.version)
                # The database is made by some of the settings.
                self._settings.apply(cursor)
                cursor.execute("SELECT @@character_set_server, @@collation_server")
                charset, collation = cursor.fetchone()
                collate = f" COLLATE {collation}" if charset == "utf8mb4" else ""
                cursor.execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4{collate}")
            except pymysql.Error as error:
                raise _explained(error, "make", name) from None

    def _enter(self, connection: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(f"USE `{self._server.scratch}`")
        return connection

    def another(self) -> Any:
        connection = self._connect_to(self._server.scratch)
        try:
            with connection.cursor() as cursor:
                self._settings.apply(cursor)
            return connection
        except BaseException:
            connection.close()
            raise

    def _close(self, connection: Any) -> None:
        if connection.open:
            connection.close()

    def _connect(self) -> Any:
        return self._connect_to(self._server.database)

    def _connect_to(self, database: str | None) -> Any:
        server = self._server
        try:
            connection = pymysql.connect(
                **_address(server),
                **self._options,
                user=server.user,
                password=server.password or "",
                database=database,
                charset="utf8mb4",
                # Each statement commits on its own, as in the other engines, unless a suite says otherwise.
                autocommit=True,
                local_infile=True,
                # An UPDATE counts the rows that it finds.
                client_flag=CLIENT.FOUND_ROWS,
            )
            # Older PyMySQLs continue in plain text where the server does not offer TLS.
            if "ssl" in self._options and not connection._secure:
                connection.close()
                raise Failure(
                    f"cannot connect to {server.host}: the connection is not encrypted, and ssl-mode asks "
                    "for that"
                )
            with connection.cursor() as cursor:
                # The server's own choice of collation for it, which the driver's may not be.
                cursor.execute("SET NAMES utf8mb4")
            return connection
        except pymysql.Error as error:
            advice = ADVICE.get(number_of(error), "")
            raise Failure(f"cannot connect to {server.host}: {words_of(error)}{advice}") from None
        except OSError as error:
            raise Failure(f"cannot connect to {server.host}: {one_line(error)}") from None

    def _drop(self, connection: Any) -> None:
        """Removes the database if it exists. A statement that a killed runner left running in it is ended
        first: it would hold the tables for as long as it runs."""
        name = self._server.scratch
        with connection.cursor() as cursor:
            try:
                cursor.execute("SHOW PROCESSLIST")
                for process in cursor.fetchall():
                    if process[3] == name:
                        _kill(cursor, process[0])
                # The server's note that the database does not exist is no error.
                cursor.execute(f"DROP DATABASE IF EXISTS `{name}`")
            except pymysql.Error as error:
                raise _explained(error, "remove", name) from None


def _address(server: Server) -> dict[str, Any]:
    if not server.host.startswith("/"):
        return {"host": server.host, "port": server.port or PORT}
    if len(server.host.encode()) > LONGEST_PATH:
        raise Failure(
            f"the path of the socket {server.host} is too long: the kernel takes {LONGEST_PATH} bytes; use "
            "a folder with a shorter name"
        )
    return {"unix_socket": server.host}


def _kill(cursor: Any, process: int) -> None:
    try:
        cursor.execute(f"KILL {process}")
    except pymysql.Error as error:
        if number_of(error) != NO_SUCH_THREAD:
            raise


def _explained(error: Exception, what: str, name: str) -> Failure:
    words = words_of(error)
    if number_of(error) == DATABASE_ACCESS_DENIED:
        words += (
            "; dyno works in a database of its own, so let an administrator run: GRANT ALL ON "
            "`dyno\\_%`.* TO the user"
        )
    return Failure(f"cannot {what} the database {name}: {words}")
