"""Compares dyno's clients with threads written by hand in C: the same statements on SQLite, in turns.

    python3 bench/threads.py [--rounds 7] [--seconds 3] [--threads 1,2,4] [--only read] [--with sqlite:wal]

Each round runs threads.c and dyno, each with a fresh database, in a random order. For each number of threads it prints dyno's
throughput over C's, and the processor's time that an operation takes, dyno's over C's: medians of the rounds' ratios with
the interval of their ranks. Both load the same library. Needs `make build` before, and a C compiler.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from pgbench import DYNO, HERE, interval

PROGRAMS = DYNO.parent
LIBRARY = "libdyno_sqlite3.so"
BRANCHES, ACCOUNTS = 10, 2000
TESTS = ["read", "transfer"]


def build(folder: str) -> str:
    """The program in C, linked with the very library that dyno's runner loads."""
    program = f"{folder}/threads"
    command = [os.environ.get("CC", "cc"), "-O2", "-Wall", "-pthread", "-Wl,-z,now", f"-I{PROGRAMS}"]
    command += [f"-Wl,-rpath,{PROGRAMS}", "-o", program, HERE / "threads.c", PROGRAMS / LIBRARY]
    subprocess.run(command, check=True)
    return program


def reference(program: str, test: str, threads: int, seconds: float, settings: list[str]) -> tuple[float, float]:
    """Operations a second, and nanoseconds of the processor for one."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        command = [program, f"{folder}/bank.db", test, threads, seconds, BRANCHES, ACCOUNTS, *settings]
        output = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
    done, spent = map(int, output.split())
    return done / seconds, spent / done


def dyno(contender: str, test: str, threads: int, seconds: float) -> tuple[float, float, list[str]]:
    """The same of dyno, and its settings."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        run = f"{folder}/run.jsonl"
        command = [DYNO, "run", "bank", "--with", contender, "--only", test, "--clients", str(threads)]
        command += ["--duration", f"{seconds}s", "--set", "warm_up=0", "--set", f"branches={BRANCHES}"]
        command += ["--set", f"accounts={ACCOUNTS}", "--trials", "1", "--no-warm-up", "--quiet", "-o", run]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        lines = [json.loads(line) for line in Path(run).read_text().splitlines()]
    contenders = lines[0]["run"]["contenders"]
    trials = [line["trial"] for line in lines if "trial" in line]
    (trial,) = [trial for trial in trials if not contenders[trial["contender"]]["harness"]]
    (sample,) = [sample for sample in trial["samples"] if sample["test"] == test]
    section, done = sample["section"], sample["operations"]
    spent = section["client"]["user_ns"] + section["client"]["system_ns"]
    settings = [f"{asked['name']}={asked['value']}" for asked in contenders[trial["contender"]]["asked"]]
    return done / section["nanoseconds"] * 1e9, spent / done, settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--threads", default="1,2,4")
    parser.add_argument("--only", choices=TESTS, help="one of the tests")
    parser.add_argument("--with", dest="contender", default="sqlite:wal", help="the contender")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        program = build(folder)
        print("dyno over C          throughput                processor an operation    C's throughput")
        for test in [arguments.only] if arguments.only else TESTS:
            for threads in map(int, arguments.threads.split(",")):
                # Its settings are C's; the first run of it counts for nothing else.
                *_, settings = dyno(arguments.contender, test, threads, 0.1)
                rates, costs, done = [], [], []
                for _ in range(arguments.rounds):
                    found = {}
                    for name in random.sample(["c", "dyno"], 2):
                        if name == "c":
                            found[name] = reference(program, test, threads, arguments.seconds, settings)
                        else:
                            found[name] = dyno(arguments.contender, test, threads, arguments.seconds)[:2]
                    rates.append(found["dyno"][0] / found["c"][0])
                    costs.append(found["dyno"][1] / found["c"][1])
                    done.append(found["c"][0])
                ratios = f"{interval(rates):24}  {interval(costs):24}"
                print(f"{test:9} {threads:3} threads  {ratios}  {statistics.median(done):.0f}/s", flush=True)


if __name__ == "__main__":
    main()
