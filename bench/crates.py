"""What the runners of runners/crates cost next to the shortest honest programs for the same work with the same libraries.

    python3 bench/crates.py target/release sqlite/sqlx [--rounds 10] [--only mix]
    python3 bench/crates.py target/release postgres/sqlx --server USER@HOST:PORT/DATABASE

Programs by hand are in runners/crates/examples/by_hand.rs:

    cargo build --release --manifest-path runners/crates/Cargo.toml --target-dir target/crates --example by_hand

The work, the turns and the ratios that it prints are those of bench/python.py.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import python

HERE = Path(__file__).resolve().parent
# The program and its argument for each contender.
PROGRAMS = {
    "sqlite/sqlx": ["dyno-runner-sqlx", "sqlite"],
    "postgres/sqlx": ["dyno-runner-sqlx", "postgres"],
    "mariadb/sqlx": ["dyno-runner-sqlx", "mysql"],
    "mariadb/mysql_async": ["dyno-runner-mysql-async"],
}


def runner(programs: str, contender: str, kind: str, server: dict, folder: str) -> list[int]:
    """The times of a runner."""
    name, *arguments = PROGRAMS[contender]
    job = python.job(contender, kind, server, folder)
    if contender.startswith("sqlite"):
        job["build"] = "bundled"
    done = subprocess.run([f"{programs}/{name}", *arguments], input=json.dumps(job), capture_output=True, text=True)
    return python.times(contender, done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("contenders", nargs="+", choices=PROGRAMS)
    parser.add_argument("--server", help="USER@HOST:PORT/DATABASE")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", choices=["rows", "mix"])
    parser.add_argument("--hand", default=HERE.parent / "target/crates/release/examples/by_hand")
    given = parser.parse_args()
    server = []
    if given.server:
        server = re.fullmatch(r"(.*)@(.*):(\d+)/(.*)", given.server).groups()
    named = dict(zip(["user", "host", "port", "database"], server))
    named |= {"port": int(named["port"])} if server else {}
    for contender in given.contenders:
        for kind in [given.only] if given.only else ["rows", "mix"]:
            ratios = [[], []]
            for turn in range(given.rounds + 1):
                with tempfile.TemporaryDirectory(prefix="dyno-bench-crates-") as folder:
                    python.write(folder)
                    # The runner makes the tables, so the first of its two times counts for nothing else.
                    times = {"runner": runner(given.programs, contender, kind, named, folder)}
                    for way in random.sample(["runner", "hand"], 2):
                        if way == "runner":
                            times[way] = runner(given.programs, contender, kind, named, folder)
                        else:
                            again = [given.hand, contender, kind, folder, *server]
                            done = subprocess.run(again, capture_output=True, text=True, check=True)
                            times[way] = json.loads(done.stdout)
                # The first turn warms up the machine.
                for one, ours, theirs in zip(ratios, times["runner"], times["hand"]):
                    one += [ours / theirs] * (turn > 0)
            clock, cpu = map(python.interval, ratios)
            print(f"{contender:32} {kind:5} clock {clock}, CPU {cpu}, {given.rounds} rounds", flush=True)


if __name__ == "__main__":
    sys.exit(main())
