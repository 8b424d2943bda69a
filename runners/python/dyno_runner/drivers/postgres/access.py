"""Connects to a server."""

from ...contract import Job
from ...failure import Failure, one_line
from ..server import Access

# Seconds to wait for an answer to a connection, where the URL does not say.
PATIENCE = 10
# The mode of encryption where the job names none, of every driver. Through a network dyno names one.
ENCRYPTION = "disable"

# Advice if a server has no connection left.
FULL = (
    "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections"
)
# Advice on a connection that failed, for the usual reasons in libpq's words.
ADVICE = {
    "no password supplied": "; give the password in the URL, in PGPASSWORD or in ~/.pgpass",
    "authentication failed": "; check user and password in the URL, PGPASSWORD or ~/.pgpass",
    "could not translate host name": "; check the host's name in the URL",
    "failed to resolve host": "; check the host's name in the URL",
    "root certificate": "; name the authority's certificate by sslrootcert, or another sslmode",
    "is too long": "; use a folder with a shorter name for the socket",
    "does not exist": "; name a database and a user of the server in the URL",
    "too many clients": FULL,
    "connection slots": FULL,
    "too many connections for": "; the server accepts no more connections of this role or to this database: take fewer "
    "clients, or raise the limit (ALTER ROLE or ALTER DATABASE … CONNECTION LIMIT)",
    "Too many open files": "; the limit of open files is reached: take fewer clients, or raise it (ulimit "
    "-n)",
}


class PostgresAccess(Access):
    """A server of this protocol. A subclass connects by its driver."""

    def __init__(self, job: Job) -> None:
        if job.build == "bundled":
            raise Failure("PostgreSQL is a server and has no bundled build")
        self._server = job.reached()

    def refused(self, database: str | None, error: Exception | str) -> Failure:
        """The failure for a connection that cannot be had."""
        words = one_line(error)
        advice = next((advice for known, advice in ADVICE.items() if known in words), "")
        return Failure(f"cannot connect to the database '{database}' of {self._server.host}: {words}{advice}")
