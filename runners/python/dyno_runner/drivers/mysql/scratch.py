"""The trial's own database on a server: made anew, worked in, and removed whatever happens."""

from typing import Any

import pymysql
from pymysql.constants import CLIENT

from ...contract import Server
from ...failure import Failure, one_line
from .options import parse

# MySQL's usual port.
PORT = 3306
# Most bytes of a socket's path: one less than the kernel's `sun_path`.
LONGEST_PATH = 107

# Error: the user may not do that with a database.
DATABASE_ACCESS_DENIED = 1044
# Error: there is no such connection to end.
NO_SUCH_THREAD = 1094
# Errors after which there is no connection: the server has gone, was lost within a query, shuts down, has
# killed the connection or closed it as idle.
LOST = (2006, 2013, 1053, 1927, 3169, 4031)

# What to do about a connection that failed, for the usual reasons.
ADVICE = {
    1045: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
    1698: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
    DATABASE_ACCESS_DENIED: "; name a database in the URL that the user may enter, or none",
    1049: "; name a database in the URL that the user may enter, or none",
    1040: "; the server has no connection left: raise max_connections or close others",
    2002: "; is the server running, and does it listen there?",
    2003: "; is the server running, and does it listen there? Else check the host's name",
    2061: "; the server wants an encrypted connection or another plugin: try ?ssl-mode=REQUIRED",
}


class Scratch:
    """A connection to a server on which there is, once made, a database that goes away with it."""

    def __init__(self, server: Server) -> None:
        """Connects to the server, without a database of the trial's own as yet."""
        self._server = server
        self._made = False
        self.connection = self._connect()

    def make(self) -> None:
        """Removes a database of that name, makes it and works in it from then on.

        Texts are in utf8mb4 and compare by the engine's own rules for it (the setting `collation_server`
        where its character set is that one), which MySQL's users live with: letters that differ by case are
        equal, unlike in the other engines.
        """
        name = self._server.scratch
        with self.connection.cursor() as cursor:
            _drop(cursor, name)
            try:
                cursor.execute("SELECT @@character_set_server, @@collation_server")
                charset, collation = cursor.fetchone()
                collate = f" COLLATE {collation}" if charset == "utf8mb4" else ""
                cursor.execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4{collate}")
            except pymysql.Error as error:
                raise _explained(error, "make", name) from None
            self._made = True
            cursor.execute(f"USE `{name}`")

    def remove(self) -> None:
        """Removes the database and closes the connection."""
        # By a new connection, because the old one may be lost or in the middle of anything. The server rolls
        # back what that has not committed.
        if self.connection.open:
            self.connection.close()
        if self._made:
            self._made = False
            with self._connect() as connection, connection.cursor() as cursor:
                _drop(cursor, self._server.scratch)

    def _connect(self) -> Any:
        server = self._server
        try:
            connection = pymysql.connect(
                **_address(server),
                **parse(server.options),
                user=server.user,
                password=server.password or "",
                database=server.database,
                charset="utf8mb4",
                # Statements commit by themselves, as in the other engines, unless a suite says otherwise.
                autocommit=True,
                local_infile=True,
                # An UPDATE counts the rows that it finds.
                client_flag=CLIENT.FOUND_ROWS,
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


def number_of(error: Exception) -> int:
    """The server's or the driver's number of an error; 0 where it has none."""
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def words_of(error: Exception) -> str:
    """What the server or the driver said, with the number; or that the server is lost."""
    number = number_of(error)
    if not number and isinstance(error, pymysql.InterfaceError):
        return "the connection to the server is lost"
    words = one_line(error.args[1] if len(error.args) > 1 else error)
    words = f"{words} (error {number})" if number else words
    if number in LOST:
        return (
            f"the connection to the server is lost: {words}. If the server has crashed or was stopped, its "
            "log says why"
        )
    return words


def _address(server: Server) -> dict[str, Any]:
    if not server.host.startswith("/"):
        return {"host": server.host, "port": server.port or PORT}
    if len(server.host.encode()) > LONGEST_PATH:
        raise Failure(
            f"the path of the socket {server.host} is too long: the kernel takes {LONGEST_PATH} bytes; use "
            "a folder with a shorter name"
        )
    return {"unix_socket": server.host}


def _drop(cursor: Any, name: str) -> None:
    """Removes a database if it is there. Where a runner that was killed has left a statement running in it,
    that is ended first: it would hold the tables for as long as it runs."""
    try:
        cursor.execute("SHOW PROCESSLIST")
        for process in cursor.fetchall():
            if process[3] == name:
                _kill(cursor, process[0])
        # A note that there is none is no error and for nobody here.
        cursor.execute(f"DROP DATABASE IF EXISTS `{name}`")
    except pymysql.Error as error:
        raise _explained(error, "remove", name) from None


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
