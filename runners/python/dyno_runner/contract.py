"""Reads the job, dyno's request, from standard input and checks it.

A job may contain a password, so a message names the field and never its value.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from .failure import Failure

PROTOCOL = 2

# The prefix of the name of every database that a runner makes on a server, and the pattern of a name that
# needs no quotes there. PostgreSQL and MySQL keep at most 63 bytes whole.
SCRATCH = re.compile(r"dyno_[a-z0-9_]{1,58}")


@dataclass(frozen=True)
class Setting:
    """A setting asked for, as the engine spells it."""

    name: str
    value: str


@dataclass(frozen=True)
class Server:
    """How to reach a server, and the one database on it that is the trial's own."""

    host: str
    user: str
    scratch: str
    port: int | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    process: int | None = None
    # True if the database stays when the runner ends.
    keep: bool = False
    # Words that the version of the engine's own servers contains, and words that it does not contain.
    holds: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)

    def is_own(self, version: str) -> bool:
        """True if a version is that of one of the engine's own servers, not of another that speaks the same
        protocol."""
        return all(word in version for word in self.holds) and not any(word in version for word in self.lacks)


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
    # Settings to read back whether or not they were asked for, as far as the engine has them.
    read_back: list[str] = field(default_factory=list)
    # The names that the engine gives to numbers, by setting.
    values: dict[str, list[str]] = field(default_factory=dict)
    # True if the database is closed after the last test, opened again and compared.
    read_again: bool = False
    # True if tests are done in slices, each started by a line of the input.
    turns: bool = False
    # The share by which timed sections are to be slower than they are.
    slowdown: float = 0.0

    def scratch_server(self) -> Server:
        """The server of a job; a failure where the job has none, or a database name that no runner makes."""
        if self.server is None:
            raise Failure(
                f"the job says no server, and {self.engine} is reached through one: this is an error in dyno"
            )
        if not SCRATCH.fullmatch(self.server.scratch):
            raise Failure(
                "the runner makes and removes databases named dyno_… only (small letters, digits and _, "
                f"at most 63), not '{self.server.scratch}'"
            )
        return self.server


def read_job(stream: BinaryIO) -> Job:
    """Reads one job: to the end of the input, or to the end of the first line where turns follow."""
    data = stream.readline()
    if not _has_turns(data):
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
            f"the job is in version {version} of the contract and this runner speaks {PROTOCOL}: take both "
            "from the same source"
        )
    return _job(job)


def _has_turns(line: bytes) -> bool:
    """True if a line is a job with turns."""
    try:
        job = json.loads(line)
    except ValueError:
        return False
    return isinstance(job, dict) and job.get("turns") is True


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
        read_back=take(job, "read_back", list, []),
        values=take(job, "values", dict, {}),
        read_again=take(job, "read_again", bool, False),
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
    version = take(server, "version", dict, {})
    return Server(
        host=take(server, "host", str),
        user=take(server, "user", str),
        scratch=take(server, "scratch", str),
        port=take(server, "port", int, None),
        password=take(server, "password", str, None),
        database=take(server, "database", str, None),
        options=take(server, "options", dict, {}),
        process=take(server, "process", int, None),
        keep=take(server, "keep", bool, False),
        holds=take(version, "holds", list, []),
        lacks=take(version, "lacks", list, []),
    )


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
