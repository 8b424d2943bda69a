"""What the runner on the JVM costs compared with the shortest honest programs for the same work with the same driver.

    python3 bench/jvm.py target/release [--rounds 10] [--only mix] [--server USER@HOST:PORT/DATABASE]

Both do the work in turns, each in a new Java with the same flags; bench/Loop.java has the programs by hand. The driver is
sqlite-jdbc with a database in memory, or with --server pgjdbc and a tenth of the work in tables t and r. It prints the ratio
of their times by the clock and of CPU time, with that of Java's compiler and collector: the geometric mean over the rounds
with its 95 % interval. `make build build-jvm` first.

    statements  40,000 texts, half of them INSERT
    fetch       400,000 rows of one SELECT
    insert      400,000 rows, a call each
    batch       the same rows, a thousand a call
    mix         400,000 look-ups by one client
    lasting     look-ups for two seconds, after a warm-up of two: all others begin with code that is not compiled yet
"""

import argparse
import json
import os
import random
import re
import tempfile
import tomllib
from pathlib import Path

from python import COLUMNS, FIND, HERE, SETUP, STEP, TABLE, interval, output, pair

KINDS = ["statements", "fetch", "insert", "batch", "mix", "lasting"]


def write(kind: str, count: int, folder: str) -> dict:
    """Writes the input of both ways. Returns the runner's test."""
    file, setup = f"{folder}/input", [*SETUP, *TABLE]
    if kind in ("statements", "fetch"):
        if kind == "fetch":
            more = f"SELECT 1000 UNION ALL SELECT v + 1 FROM g WHERE v < {count}"
            setup.append(f"INSERT INTO t WITH RECURSIVE g(v) AS ({more}) SELECT v, v, 'row ' || v FROM g")
            texts = ["SELECT n, s FROM t"]
        else:
            texts = ["BEGIN"]
            for place in range(1000, 1000 + count // 20):
                id = 1 + place * 7919 % 800
                texts.append(f"SELECT n, s FROM t WHERE id BETWEEN {id} AND {id + 3}")
                texts.append(f"INSERT INTO t VALUES({place}, {id}, 'the row {place}')")
            texts.append("COMMIT")
        data = "".join(f"{text}\0" for text in texts).encode()
        test = {"model": "statements", "file": file, "count": len(texts)}
    elif kind in ("insert", "batch"):
        data = "".join(f"{place:x>8}{2 * place:x>8}{3 * place:x>8}" for place in range(count)).encode()
        rows = {"file": file, "count": count, "columns": COLUMNS}
        test = {"model": {"insert": "insert-rows", "batch": "bulk-load"}[kind], "table": "r", "rows": rows}
    else:
        data = b"".join(STEP.pack(0, 0, 1 + place * 7919 % 900) for place in range(count))
        found = {"name": "find", "statements": [{"text": [FIND, ""], "parameters": [0]}]}
        test = {"model": "mix", "classes": [found], "fields": [{"name": "id", "kind": "integer", "bytes": 8}]}
        test |= {"clients": 1, "steps": [{"file": file, "count": count}], "patience_ns": 10**9}
        if kind == "lasting":
            test["lasts"] = {"warm_up_ns": 2 * 10**9, "duration_ns": 2 * 10**9}
    Path(file).write_bytes(data)
    Path(folder, "setup").write_text("\n".join(setup))
    return test | {"id": "1", "setup": setup}


def runner(start: list[str], folder: str, test: dict, server: dict) -> list[float]:
    """The time of an operation of the runner by the clock, and of the CPU; of all the work where it is no mix."""
    job = {"protocol": 3, "variant": "batch", "directory": folder, "tests": [test]}
    if server:
        job |= {"engine": "postgres", "speaks": "postgres", "driver": "pgjdbc", "build": "system", "settings": []}
        job["server"] = server
    else:
        job |= {"engine": "sqlite", "driver": "sqlite-jdbc", "build": "bundled"}
        job["settings"] = [{"name": "database", "value": ":memory:"}]
    events = map(json.loads, output(start, json.dumps(job)))
    sample = next(event for event in events if event["event"] == "sample")
    done = sample["operations"] if test["model"] == "mix" else 1
    return [time / done for time in pair(sample["section"])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("--server", help="USER@HOST:PORT/DATABASE")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", choices=KINDS)
    given = parser.parse_args()
    programs, url, server = os.path.abspath(given.programs), "jdbc:sqlite::memory:", {}
    if given.server:
        user, host, port, database = re.fullmatch(r"(.*)@(.*):(\d+)/(.*)", given.server).groups()
        server = {"user": user, "host": host, "port": int(port), "database": database}
        # Statements are prepared on the server from their first execution on, as by the runner.
        url = f"jdbc:postgresql://{host}:{port}/{database}?user={user}&prepareThreshold=1&sslmode=disable&gssEncMode=disable"
    places = {"java": os.environ.get("DYNO_JAVA", f"{programs}/../jvm/bin/java"), "bin": programs}
    toml = (HERE.parent / "runners/jvm/runner.toml").read_text()
    start = [word.format(**places) for word in tomllib.loads(toml)["start"]]
    *flags, libraries, _, _ = start
    with tempfile.TemporaryDirectory(prefix="dyno-bench-jvm-") as top:
        # A Java that compiles the file itself before it runs it would have warmed up by that. The archive of classes serves
        # class paths that begin as the runner's.
        output(["javac", "-J-XX:-UsePerfData", "-cp", libraries, "-d", f"{top}/classes", str(HERE / "Loop.java")])
        by_hand = [*flags, f"{libraries}:{top}/classes", "Loop", programs, url, top]
        for kind in [given.only] if given.only else KINDS:
            ratios = [[], []]
            test, times = write(kind, 40_000 if server else 400_000, top), {}
            for turn in range(given.rounds + 1):
                for way in random.sample(["runner", "hand"], 2):
                    is_ours = way == "runner"
                    times[way] = runner(start, top, test, server) if is_ours else json.loads(output([*by_hand, kind])[0])
                # The first turn warms up the machine.
                for one, ours, theirs in zip(ratios, times["runner"], times["hand"]):
                    one += [ours / theirs] * (turn > 0)
            print(f"{kind:10} clock {interval(ratios[0])}, CPU {interval(ratios[1])}, {given.rounds} rounds", flush=True)


if __name__ == "__main__":
    main()
