"""Connects to a server."""

from typing import Any

from ...contract import Job, Server
from ...failure import Failure, one_line
from ..listed import JobSql
from ..server import Access
from .errors import code_of, number_of, words_of
from .options import Options, parse

# MySQL's usual port.
PORT = 3306
# A client's capability: an UPDATE counts the rows that it finds.
FOUND_ROWS = 2
# Most bytes of a socket's path: one less than the kernel's `sun_path`.
LONGEST_PATH = 107

# The protocol's numbers of TIMESTAMP, DATE, TIME, DATETIME.
TIMES = (7, 10, 11, 12)

# Advice on a connection that failed, for the usual reasons.
ADVICE = {
    1045: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
    1698: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
    1044: "; name a database in the URL that the user may enter, or none",
    1049: "; name a database in the URL that the user may enter, or none",
    1040: "; the server accepts no more connections: take fewer clients, close other connections, or raise its "
    "max_connections",
    1203: "; the server accepts no more connections of one account: take fewer clients, or raise its "
    "max_user_connections",
    1226: "; the account may do no more: take fewer clients, or raise its limit (ALTER USER … WITH "
    "MAX_USER_CONNECTIONS …)",
    2002: "; is the server running, and does it listen there?",
    2003: "; is the server running, and does it listen there? Else check the host's name",
    2061: "; the server wants an encrypted connection or another plugin: try ?ssl-mode=REQUIRED",
}


class MySqlAccess(Access):
    """A server of this protocol. A subclass opens a connection by its driver."""

    # The driver's name, and what its calls raise.
    name: str
    error: type[Exception]

    def __init__(self, job: Job) -> None:
        self._server = server = job.reached()
        # Read once: a program that connects often does not read its certificates each time.
        self._options = self.keywords(parse(server.options, self.name))

    def keywords(self, options: Options) -> dict[str, Any]:
        """The driver's words for what a URL asks for."""
        raise NotImplementedError

    def open(self, **keywords: Any) -> Any:
        """Opens a connection."""
        raise NotImplementedError

    def connect(self, database: str | None) -> Any:
        server = self._server
        named = {} if database is None else {"database": database}
        try:
            return self.open(
                **_address(server),
                **self._options,
                **named,
                user=server.user,
                password=server.password or "",
                # Both drivers then send SET NAMES, so that the server chooses the collation.
                charset="utf8mb4",
                # Each statement commits on its own, as in the other engines, unless a suite says otherwise.
                autocommit=True,
                client_flag=FOUND_ROWS,
            )
        except self.error as error:
            advice = ADVICE.get(number_of(error), "")
            raise Failure(f"cannot connect to {server.host}: {words_of(error)}{advice}") from None
        except OSError as error:
            raise Failure(f"cannot connect to {server.host}: {one_line(error)}") from None

    def sql(self, connection: Any) -> JobSql:
        cursor = connection.cursor()

        def run(sql: str) -> Any:
            cursor.execute(sql)
            return cursor.fetchall()

        return JobSql(run, self.error, code_of, words_of)


def as_written(conversions: dict[Any, Any]) -> dict[Any, Any]:
    """A driver's conversions, but dates and times as the server writes them: no value of Python holds the day
    zero, and it writes durations in another form."""
    return conversions | dict.fromkeys(TIMES, str)


def _address(server: Server) -> dict[str, Any]:
    if not server.host.startswith("/"):
        return {"host": server.host, "port": server.port or PORT}
    if len(server.host.encode()) > LONGEST_PATH:
        raise Failure(
            f"the path of the socket {server.host} is too long: the kernel takes {LONGEST_PATH} bytes; use "
            "a folder with a shorter name"
        )
    return {"unix_socket": server.host}
