"""Reads the job, dyno's request, from standard input and checks it.

A job may contain a password, so a message names the field and never its value.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from .failure import Failure

PROTOCOL = 3

@dataclass(frozen=True)
class Setting:
    """A setting asked for, as the engine spells it."""

    name: str
    value: str


@dataclass(frozen=True)
class Statement:
    """A statement to execute outside the clock."""

    # The setting that it sets, or what it does in a maintenance.
    name: str
    sql: str
    # Codes of errors that do not matter; `*` is any.
    ignores: list[str] = field(default_factory=list)
    # True if it is a query, and the first value of each of its rows is a statement to execute.
    each: bool = False


@dataclass(frozen=True)
class Query:
    """A query whose rows are reported under a name."""

    name: str
    query: str


@dataclass(frozen=True)
class Maintenance:
    """Statements for a separate connection: before the database of the trial is connected to, and when all
    other connections are closed."""

    database: str | None
    before: list[Statement]
    after: list[Statement]


@dataclass(frozen=True)
class Server:
    """The address of a server, and the database of the trial."""

    host: str
    user: str
    port: int | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    process: int | None = None
    further_processes: list[int] = field(default_factory=list)

    def processes(self) -> list[int]:
        """The main processes of the server, or of all nodes of a cluster, whose counters may be read."""
        return [] if self.process is None else [self.process, *self.further_processes]


@dataclass(frozen=True)
class Test:
    """One test; `input` holds what its model needs, as the job gives it."""

    id: str
    model: str
    setup: list[str]
    check: str | None
    input: dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One trial. `build` is `bundled`, `system`, or the path of a library or folder of the user's own."""

    engine: str
    # The protocol that the engine speaks; None for engines within the runner.
    speaks: str | None
    driver: str
    variant: str | None
    build: str | Path
    settings: list[Setting]
    directory: Path
    tests: list[Test]
    server: Server | None = None
    # Statements that make the trial's database on a server and remove it; None where it is there already.
    maintenance: Maintenance | None = None
    # Statements that every connection executes before anything else; each is named after its setting.
    on_connect: list[Statement] = field(default_factory=list)
    # Queries whose rows are sent as they are.
    read_back: list[Query] = field(default_factory=list)
    # Queries for the size of the database: the first that is not refused counts.
    database_bytes: list[str] = field(default_factory=list)
    # True if the database is there, and each test is only asked for its answer.
    answers_only: bool = False
    # True if another process has the database open: nothing is made or removed.
    joins: bool = False
    # True if tests are done in slices, each started by a line of the input.
    turns: bool = False
    # The share by which timed sections are to be slower than they are.
    slowdown: float = 0.0

    def reached(self) -> Server:
        """The server of a job; a failure where the job has none."""
        if self.server is None:
            raise Failure(
                f"the job says no server, and {self.engine} is reached through one: this is an error in dyno"
            )
        return self.server


def read_job(stream: BinaryIO) -> Job:
    """Reads one job: to the end of the input, or to the end of the first line where turns or orders follow."""
    data = stream.readline()
    if not _has_more(data):
        data += stream.read()
    if not data.strip():
        raise Failure(
            "standard input is empty where a job is expected: a runner is started by dyno, not by hand"
        )
    try:
        job = json.loads(data)
    except json.JSONDecodeError as error:
        raise _unreadable(f"not JSON at line {error.lineno} column {error.colno}") from None
    except UnicodeDecodeError:
        raise _unreadable("not UTF-8") from None
    version = take(job, "protocol", int)
    if version != PROTOCOL:
        raise Failure(
            f"the job is in version {version} of the contract and this runner speaks version "
            f"{PROTOCOL}: take both from the same source"
        )
    return _job(job)


def _has_more(line: bytes) -> bool:
    """True if a line is a job that more lines follow."""
    try:
        job = json.loads(line)
        return job.get("turns") is True or any(_before(test) is not None for test in job["tests"])
    except (ValueError, AttributeError, KeyError, TypeError, Failure):
        return False


def _before(test: Any) -> int | None:
    """The number of a test's clients in the processes before this one; None where this one has all."""
    part = take(test, "part", dict, None)
    return None if part is None else take(part, "before", int)


def take(record: Any, name: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
    """Returns a field of the job and checks its type. An absent field yields `default`, if one is given, else
    a failure."""
    if not isinstance(record, dict):
        raise _unreadable(f"a value of another kind where an object with `{name}` is expected")
    value = record.get(name)
    if value is None:
        if default is ...:
            raise _unreadable(f"missing field `{name}`")
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _unreadable(f"a value of another kind in `{name}`")
    return value


def _job(job: Any) -> Job:
    server = take(job, "server", dict, None)
    return Job(
        engine=take(job, "engine", str),
        speaks=take(job, "speaks", str, None),
        driver=take(job, "driver", str),
        variant=take(job, "variant", str, None),
        build=_build(job),
        settings=[
            Setting(take(each, "name", str), take(each, "value", str)) for each in take(job, "settings", list)
        ],
        directory=Path(take(job, "directory", str)),
        tests=[_test(each) for each in take(job, "tests", list)],
        server=None if server is None else _server(server),
        maintenance=_maintenance(take(job, "maintenance", dict, None)),
        on_connect=_statements(job, "on_connect"),
        read_back=[
            Query(take(each, "name", str), take(each, "query", str, ""))
            for each in take(job, "read_back", list, [])
        ],
        database_bytes=take(job, "database_bytes", list, []),
        answers_only=take(job, "answers_only", bool, False),
        joins=any((_before(test) or 0) > 0 for test in take(job, "tests", list)),
        turns=take(job, "turns", bool, False),
        slowdown=float(take(job, "slowdown", (int, float), 0.0)),
    )


def _build(job: dict[str, Any]) -> str | Path:
    if isinstance(job.get("build"), dict):
        return Path(take(job["build"], "path", str))
    name = take(job, "build", str)
    if name not in ("bundled", "system"):
        raise _unreadable("a value of another kind in `build`")
    return name


def _server(server: dict[str, Any]) -> Server:
    return Server(
        host=take(server, "host", str),
        user=take(server, "user", str),
        port=take(server, "port", int, None),
        password=take(server, "password", str, None),
        database=take(server, "database", str, None),
        options=take(server, "options", dict, {}),
        process=take(server, "process", int, None),
        further_processes=take(server, "further_processes", list, []),
    )


def _maintenance(maintenance: dict[str, Any] | None) -> Maintenance | None:
    if maintenance is None:
        return None
    database = take(maintenance, "database", str, None)
    return Maintenance(database, _statements(maintenance, "before"), _statements(maintenance, "after"))


def _statements(record: dict[str, Any], name: str) -> list[Statement]:
    return [
        Statement(
            take(each, "name", str),
            take(each, "sql", str),
            take(each, "ignores", list, []),
            take(each, "each", bool, False),
        )
        for each in take(record, name, list, [])
    ]


def _test(test: Any) -> Test:
    return Test(
        id=take(test, "id", str),
        model=take(test, "model", str),
        setup=take(test, "setup", list, []),
        check=take(test, "check", str, None),
        input=test,
    )


def _unreadable(what: str) -> Failure:
    return Failure(f"the job on standard input cannot be read: {what}")
