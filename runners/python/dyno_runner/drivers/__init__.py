"""The drivers, each imported when a job names it, so that a missing package affects only its own driver.
`sql` is shared by the drivers with SQL, `server` by those of servers."""

from importlib import import_module

from ..contract import Job
from ..driver import Driver
from ..failure import Failure, one_line

# By the two names in a job (an engine or the protocol that it speaks, and a driver): the module and the class
# that implement it, and the package that they need.
DRIVERS = {
    ("null", "python"): ("null", "Null", None),
    ("sqlite", "sqlite3"): ("sqlite.stdlib", "Stdlib", "sqlite3"),
    ("sqlite", "apsw"): ("sqlite.apsw", "Apsw", "apsw"),
    ("postgres", "psycopg"): ("postgres.psycopg", "Psycopg", "psycopg"),
    ("postgres", "asyncpg"): ("postgres.asyncpg", "AsyncPg", "asyncpg"),
    ("mysql", "pymysql"): ("mysql.pymysql", "PyMySql", "pymysql"),
    ("mysql", "mysqlclient"): ("mysql.mysqlclient", "MySqlClient", "mysqlclient"),
    ("sqlite", "sqlalchemy"): ("sqlalchemy", "OverSqlite", "sqlalchemy"),
    ("postgres", "sqlalchemy"): ("sqlalchemy", "OverPostgres", "sqlalchemy"),
    ("mysql", "sqlalchemy"): ("sqlalchemy", "OverMySql", "sqlalchemy"),
    ("duckdb", "python"): ("duckdb.python", "DuckDb", "duckdb"),
}


def find(job: Job) -> type[Driver]:
    """The driver that a job names."""
    wanted = job.speaks or job.engine
    found = DRIVERS.get((wanted, job.driver))
    if found is None:
        served = ", ".join(f"{name}/{driver}" for name, driver in DRIVERS)
        raise Failure(f"this runner serves {served} and the job asks for {wanted}/{job.driver}")
    module, name, package = found
    try:
        return getattr(import_module(f".{module}", __package__), name)
    except ImportError as error:
        raise Failure(
            f"the Python package {package} cannot be used ({one_line(error)}): make build-python puts it "
            "into the runner's private environment"
        ) from None
