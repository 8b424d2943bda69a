"""What the runner in Python costs compared with the shortest honest program for the same work with the same driver.

    target/python/bin/python bench/python.py target/release sqlite/sqlalchemy [--rounds 10] [--only mix]
    target/python/bin/python bench/python.py target/release postgres/asyncpg --server USER@HOST:PORT/DATABASE

Both do the work in turns, each in a process of its own. It prints the ratio of their times by the clock and of CPU time,
which depends less on what else the machine does: the geometric mean over the rounds with its 95 % interval. A server must be
running, and have a database in which the tables t and r may be made.
"""

import argparse
import asyncio
import gc
import itertools
import json
import math
import random
import re
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Operations of each kind of work.
ROWS, STEPS, CLIENTS = 20_000, 20_000, 4
COLUMNS = [{"name": name, "bytes": 8} for name in ("a1", "b2", "c3")]
SETUP = [
    "DROP TABLE IF EXISTS t",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, s VARCHAR(20))",
    "INSERT INTO t WITH RECURSIVE g(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM g WHERE v < 900) SELECT v, v, 'row' FROM g",
]
# MariaDB wants the common table behind INSERT … SELECT otherwise.
MARIADB = "INSERT INTO t SELECT seq, seq, 'row' FROM seq_1_to_900"
TABLE = ["DROP TABLE IF EXISTS r", "CREATE TABLE r(a1 VARCHAR(8), b2 VARCHAR(8), c3 VARCHAR(8))"]
FIND, INSERT = "SELECT n, s FROM t WHERE id = ", "INSERT INTO r VALUES "
STEP = struct.Struct("<QQq")


def connect(contender: str, server: dict, folder: str):
    """A connection of a driver, as the runner opens it."""
    engine, name = contender.split("/")
    host, port, user, base = (server.get(key) for key in ("host", "port", "user", "database"))
    name, _, below = name.partition("+")
    if name == "sqlalchemy":
        import sqlalchemy
        from sqlalchemy.pool import NullPool

        below = {"sqlite": "sqlite3", "postgres": "psycopg", "mariadb": below or "pymysql"}[engine]
        dialect = {"sqlite3": "sqlite", "psycopg": "postgresql+psycopg", "mysqlclient": "mysql+mysqldb"}
        raw = connect(f"{engine}/{below}", server, folder)
        engine = sqlalchemy.create_engine(
            f"{dialect.get(below, 'mysql+pymysql')}://",
            creator=lambda: raw,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
        )
        return engine.connect()
    if name == "sqlite3":
        import sqlite3

        return sqlite3.connect(f"{folder}/dyno.db", isolation_level=None)
    if name == "psycopg":
        import psycopg

        raw = psycopg.connect(host=host, port=port, user=user, dbname=base, autocommit=True)
        raw.prepare_threshold = 0
        return raw
    if name == "pymysql":
        import pymysql

        return pymysql.connect(host=host, port=port, user=user, database=base, charset="utf8mb4", autocommit=True)
    import MySQLdb

    return MySQLdb.connect(host=host, port=port, user=user, database=base, charset="utf8mb4", autocommit=True)


def loops(contender: str, connection):
    """The work by a connection: BEGIN and the like, the look-up by an id, and the INSERT of a row."""
    if "/sqlalchemy" in contender:
        from sqlalchemy import column, insert, table, text

        find = text(FIND + ":id")
        into = insert(table("r", *(column(each["name"]) for each in COLUMNS)))
        execute = connection.execute
        return (
            connection.exec_driver_sql,
            lambda place: execute(find, {"id": place}).fetchall(),
            lambda a, b, c: execute(into, {"a1": a, "b2": b, "c3": c}),
        )
    cursor = connection.cursor()
    mark = "?" if contender.startswith("sqlite") else "%s"
    find, into = FIND + mark, f"{INSERT}({mark}, {mark}, {mark})"

    def look_up(place):
        cursor.execute(find, (place,))
        return cursor.fetchall()

    return cursor.execute, look_up, lambda *row: cursor.execute(into, row)


def cells(folder: str):
    """The rows, as texts."""
    data = Path(folder, "rows").read_bytes()
    return re.compile("(.{8})(.{8})(.{8})").findall(data.decode())


def hand_rows(contender, connection, folder):
    run, _, insert = loops(contender, connection)
    run("BEGIN")
    for row in cells(folder):
        insert(*row)
    run("COMMIT")


def hand_mix(contender, connection, folder):
    _, find, _ = loops(contender, connection)
    data, times, now = Path(folder, "steps").read_bytes(), [], time.monotonic_ns
    free = now()
    for place in range(STEPS):
        find(STEP.unpack_from(data, place * STEP.size)[2])
        ended = now()
        times += free, ended
        free = ended


async def async_rows(connections, folder):
    (connection,) = connections
    insert = (await connection.prepare(f"{INSERT}($1, $2, $3)")).fetch
    yield
    await connection.execute("BEGIN")
    for row in cells(folder):
        await insert(*row)
    await connection.execute("COMMIT")


async def async_mix(connections, folder):
    finds = [(await connection.prepare(f"{FIND}$1")).fetch for connection in connections]
    yield
    data, times, now, take = Path(folder, "steps").read_bytes(), [], time.monotonic_ns, itertools.count().__next__

    async def client(find):
        free = now()
        while (place := take()) < STEPS:
            await find(STEP.unpack_from(data, place * STEP.size)[2])
            ended = now()
            times.extend((free, ended))
            free = ended

    await asyncio.gather(*map(client, finds))


def spent() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return round(1e9 * (used.ru_utime + used.ru_stime))


def hand(contender: str, kind: str, server: dict, folder: str) -> None:
    """Does the work, and prints its times: by the clock, and of the CPU."""
    if contender == "postgres/asyncpg":
        asyncio.run(async_hand(kind, server, folder))
        return
    connection = connect(contender, server, folder)
    work = hand_rows if kind == "rows" else hand_mix
    gc.collect()
    before, began = spent(), time.monotonic_ns()
    work(contender, connection, folder)
    print(json.dumps([time.monotonic_ns() - began, spent() - before]))


async def async_hand(kind: str, server: dict, folder: str) -> None:
    import asyncpg

    # As in the runner: the allocator of a process that has freed no large block maps pages for each answer.
    bytes(1 << 20)
    several = CLIENTS if kind == "mix4" else 1
    connections = [await asyncpg.connect(**server) for _ in range(several)]
    work = (async_rows if kind == "rows" else async_mix)(connections, folder)
    await anext(work)
    gc.collect()
    before, began = spent(), time.monotonic_ns()
    await anext(work, None)
    print(json.dumps([time.monotonic_ns() - began, spent() - before]))
    for connection in connections:
        await connection.close()


def job(contender: str, kind: str, server: dict, folder: str) -> dict:
    """The same as a job for a runner."""
    name, _, variant = contender.partition("+")
    engine, driver = name.split("/")
    setup = [MARIADB if engine == "mariadb" and sql == SETUP[2] else sql for sql in SETUP]
    if kind == "rows":
        rows = {"file": f"{folder}/rows", "count": ROWS, "columns": COLUMNS}
        test = {"model": "insert-rows", "table": "r", "rows": rows, "setup": setup + TABLE}
    else:
        found = {"name": "find", "statements": [{"text": [FIND, ""], "parameters": [0]}]}
        test = {
            "model": "mix",
            "setup": setup + TABLE,
            "classes": [found],
            "fields": [{"name": "id", "kind": "integer", "bytes": 8}],
            "clients": CLIENTS if kind == "mix4" else 1,
            "steps": [{"file": f"{folder}/steps", "count": STEPS}],
            "patience_ns": 10**9,
        }
    speaks = {"postgres": "postgres", "mariadb": "mysql"}.get(engine)
    job = {"protocol": 3, "engine": engine, "speaks": speaks, "driver": driver, "variant": variant or None}
    job |= {"build": "system", "settings": [], "directory": folder, "tests": [{"id": "1"} | test]}
    if speaks:
        job["server"] = server
    return job


def runner(programs: str, contender: str, kind: str, server: dict, folder: str) -> list[int]:
    """The times of the runner."""
    command = [sys.executable, "-I", "-B", HERE.parent / "runners/python", programs]
    given = json.dumps(job(contender, kind, server, folder))
    return times(contender, subprocess.run(command, input=given, capture_output=True, text=True))


def times(contender: str, done: subprocess.CompletedProcess) -> list[int]:
    """Those that a runner has reported."""
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        sys.exit(f"{contender}: {events[-1]['message']}")
    return pair(next(event["section"] for event in events if event["event"] == "sample"))


def pair(section: dict) -> list[int]:
    """The times of a section: by the clock, and of the CPU."""
    return [section["nanoseconds"], section["client"]["user_ns"] + section["client"]["system_ns"]]


def output(command: list, given: str = "") -> list[str]:
    """The lines that a program printed."""
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.splitlines()


def write(folder: str) -> None:
    """The inputs."""
    Path(folder, "rows").write_text("".join(f"{place:x>8}{2 * place:x>8}{3 * place:x>8}" for place in range(ROWS)))
    steps = (STEP.pack(0, 0, 1 + place * 7919 % 900) for place in range(STEPS))
    Path(folder, "steps").write_bytes(b"".join(steps))


def interval(ratios: list[float]) -> str:
    """The geometric mean with its 95 % interval, by Student's t as of 6 rounds."""
    logs, free = list(map(math.log, ratios)), len(ratios) - 1
    centre = statistics.fmean(logs)
    half = (1.96 + 2.37 / free + 2.8 / free**2) * statistics.stdev(logs) / math.sqrt(len(logs))
    return "{:.3f} ({:.3f}–{:.3f})".format(*map(math.exp, (centre, centre - half, centre + half)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("contenders", nargs="+")
    parser.add_argument("--server", help="USER@HOST:PORT/DATABASE")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", choices=["rows", "mix", "mix4"])
    parser.add_argument("--hand", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    server = {}
    if given.server:
        user, host, port, database = re.fullmatch(r"(.*)@(.*):(\d+)/(.*)", given.server).groups()
        server = {"user": user, "host": host, "port": int(port), "database": database}
    if given.hand:
        hand(given.contenders[0], given.hand[0], server, given.hand[1])
        return
    for contender in given.contenders:
        kinds = ["rows", "mix"] + ["mix4"] * (contender == "postgres/asyncpg")
        for kind in [given.only] if given.only else kinds:
            ratios = [[], []]
            for turn in range(given.rounds + 1):
                with tempfile.TemporaryDirectory(prefix="dyno-bench-python-") as folder:
                    write(folder)
                    # The runner makes the tables, so the first of its two times counts for nothing else.
                    times = {"runner": runner(given.programs, contender, kind, server, folder)}
                    for way in random.sample(["runner", "hand"], 2):
                        if way == "runner":
                            times[way] = runner(given.programs, contender, kind, server, folder)
                        else:
                            again = [sys.executable, __file__, given.programs, contender]
                            again += ["--hand", kind, folder] + (["--server", given.server] if server else [])
                            done = subprocess.run(again, capture_output=True, text=True, check=True)
                            times[way] = json.loads(done.stdout)
                # The first turn warms up the machine.
                for one, ours, theirs in zip(ratios, times["runner"], times["hand"]):
                    one += [ours / theirs] * (turn > 0)
            clock, cpu = map(interval, ratios)
            print(f"{contender:32} {kind:5} clock {clock}, CPU {cpu}, {given.rounds} rounds", flush=True)


if __name__ == "__main__":
    main()
