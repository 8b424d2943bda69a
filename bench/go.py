"""What the runner in Go costs compared with the shortest honest program for the same work, both with mattn/go-sqlite3 on a
database in memory, in turns, each time in a new process.

    python3 bench/go.py target/release [--rounds 20] [--only mix]

It prints the ratio of their times by the clock and of CPU time, which depends less on what else the machine does: the geometric
mean over the rounds with its 95 % interval. `make build` first. The work is:

    statements  40,000 texts, half of them INSERT
    rows        400,000 rows, one by each execution of a prepared statement
    bulk, scan  the same rows, fifty by each, and then one query that compares two cells of all of them
    mix         200,000 look-ups by one client

The program by hand is runners/go/cmd/by-hand. Both are built here, by the flags of scripts/build-go.sh and one CGO_CFLAGS, as much
of the time is that of the SQLite in them; of the folder only the library is used with which runners measure.
"""

import argparse
import json
import random
import subprocess
import tempfile
from pathlib import Path

from python import COLUMNS, FIND, HERE, STEP, interval, output, pair

KINDS = {"statements": ["statements"], "rows": ["rows"], "bulk": ["bulk", "scan"], "mix": ["mix"]}
# Operations of each kind of work.
STATEMENTS, ROWS, STEPS = 40_000, 400_000, 200_000
NUMBERS = "WITH RECURSIVE g(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM g WHERE v < 10000)"
FILLED = ["CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, s TEXT)", f"INSERT INTO t {NUMBERS} SELECT v, v, 'row ' || v FROM g"]


def write(kind: str, file: str) -> list[dict]:
    """Writes the input of both ways. Returns the runner's tests; the first one's setup is that of the work by hand as well."""
    if kind == "statements":
        texts = FILLED.copy()
        for place in range(len(texts), STATEMENTS):
            number = place * 7919 % 10_000
            find = f"SELECT n, s FROM t WHERE id BETWEEN {number} AND {number + 3}"
            texts.append(find if place % 2 else f"INSERT INTO t(n, s) VALUES({number}, 'the row of statement {place}')")
        Path(file).write_text("".join(f"{text}\0" for text in texts))
        return [{"model": "statements", "setup": [], "file": file, "count": STATEMENTS}]
    if kind == "mix":
        Path(file).write_bytes(b"".join(STEP.pack(0, 0, 1 + place * 7919 % 10_000) for place in range(STEPS)))
        found = {"name": "find", "statements": [{"text": [FIND, ""], "parameters": [0]}]}
        test = {"model": "mix", "setup": FILLED, "classes": [found], "clients": 1, "patience_ns": 10**9}
        test["fields"] = [{"name": "id", "kind": "integer", "bytes": 8}]
        return [test | {"steps": [{"file": file, "count": STEPS}]}]
    Path(file).write_text("".join(f"{place:x>8}{2 * place:x>8}{3 * place:x>8}" for place in range(1, ROWS + 1)))
    test = {"model": "insert-rows" if kind == "rows" else "bulk-load", "table": "r"}
    test["setup"] = ["CREATE TABLE r(a1 TEXT, b2 TEXT, c3 TEXT)"]
    test["rows"] = {"file": file, "count": ROWS, "columns": COLUMNS}
    scan = {"model": "scan", "table": "r", "columns": COLUMNS, "differ": [0, 1]}
    scan["sql"] = "SELECT count(*) FROM r WHERE a1 <> b2"
    return [test, scan][: len(KINDS[kind])]


def runner(folder: str, tests: list[dict]) -> list[int]:
    """The times of the runner, two for each test: by the clock, and of the CPU."""
    job = {"protocol": 3, "engine": "sqlite", "driver": "mattn", "build": "bundled", "directory": folder}
    job["settings"] = [{"name": "database", "value": ":memory:"}]
    job["tests"] = [test | {"id": str(place)} for place, test in enumerate(tests)]
    events = map(json.loads, output([f"{folder}/dyno-runner-go-mattn"], json.dumps(job)))
    pairs = [pair(event["section"]) for event in events if event["event"] == "sample"]
    return [time for times in pairs for time in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", choices=KINDS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dyno-bench-go-") as top:
        build = ["go", "build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-o", f"{top}/"]
        subprocess.run([*build, "./cmd/dyno-runner-go-mattn", "./cmd/by-hand"], cwd=HERE.parent / "runners/go", check=True)
        # The runner looks for the library in its own folder.
        Path(top, "libdyno_gauge.so").symlink_to(Path(given.programs, "libdyno_gauge.so").resolve(strict=True))
        for kind in [given.only] if given.only else KINDS:
            tests = write(kind, f"{top}/{kind}")
            by_hand = [f"{top}/by-hand", kind, f"{top}/{kind}", *tests[0]["setup"]]
            ways = {"runner": lambda: runner(top, tests), "hand": lambda: [int(line) for line in output(by_hand)]}
            turns = []
            for _ in range(given.rounds + 1):
                times = {way: ways[way]() for way in random.sample(sorted(ways), 2)}
                turns.append([ours / theirs for ours, theirs in zip(times["runner"], times["hand"], strict=True)])
            # The first turn warms up the machine.
            ratios = map(interval, zip(*turns[1:]))
            for name in KINDS[kind]:
                print(f"{name:10} clock {next(ratios)}, CPU {next(ratios)}, {given.rounds} rounds", flush=True)


if __name__ == "__main__":
    main()
