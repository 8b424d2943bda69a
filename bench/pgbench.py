"""Compares dyno's clients with pgbench's: the same statements on one PostgreSQL, in turns.

    python3 bench/pgbench.py [--rounds 7] [--seconds 3] [--clients 1,8,32,128] [--only transfer]

Starts a private server. Each round runs pgbench with prepared statements, once with a thread for each CPU and once with one
for two clients, and dyno, in a random order. For each number of clients it prints dyno's throughput over pgbench's, and the
processor's time that a transaction takes the client, dyno's over pgbench's: medians of the rounds' ratios with the interval
of their ranks. Each figure is over the better of the two pgbenches: in each round the higher throughput, and the lower time.
dyno has a thread for each CPU too.
Needs `make build` before (or `DYNO`, another dyno), and the programs of PostgreSQL's server package.
"""

import argparse
import contextlib
import glob
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DYNO = Path(os.environ.get("DYNO", HERE.parent / "target/release/dyno"))
BRANCHES = 10
# The suite's tests, with pgbench's options for the same.
SCRIPTS = {"read": ["-S"], "transfer": []}


def program(name: str) -> str:
    found = shutil.which(name) or max(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), default=None)
    if not found:
        sys.exit(f"cannot find {name}: install a PostgreSQL server (Debian: postgresql)")
    return found


@contextlib.contextmanager
def server(folder: str):
    """A server on a socket in the folder. It does not run as root."""
    data = f"{folder}/data"
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(folder, "postgres", "postgres")
    quiet = {"stdout": subprocess.DEVNULL, "check": True, "cwd": folder}
    subprocess.run([*user, program("initdb"), "-D", data, "-U", "postgres", "--locale=C"], **quiet)
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c max_connections=300"
    control = [*user, program("pg_ctl"), "-D", data, "-w", "-l", f"{data}/log"]
    subprocess.run([*control, "-o", options, "start"], **quiet)
    try:
        yield
    finally:
        subprocess.run([*control, "-m", "fast", "stop"], **quiet)


def cpu() -> float:
    """Seconds of the processor that children have taken so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pgbench(test: str, clients: int, threads: int, seconds: int, folder: str) -> tuple[float, float]:
    """Transactions a second, and seconds of the client's processor for one."""
    command = [program("pgbench"), "-h", folder, "-U", "postgres", "-n", "-M", "prepared", "-T", str(seconds)]
    command += ["-c", str(clients), "-j", str(threads), *SCRIPTS[test], "pgbench"]
    before = cpu()
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent = cpu() - before
    done = int(re.search(r"transactions actually processed: (\d+)", output)[1])
    # Where nothing was done in time there is no rate.
    found = re.search(r"tps = ([0-9.]+)", output)
    if not found:
        sys.exit(f"pgbench's {clients} clients were not connected after {seconds} s: take more --seconds")
    rate = float(found[1])
    return rate, spent / done


def dyno(test: str, clients: int, seconds: int, folder: str) -> tuple[float, float]:
    """The same of dyno."""
    url = f"postgres://postgres@/postgres?host={folder}"
    run = f"{folder}/run.jsonl"
    command = [DYNO, "run", "bank", "--url", url, "--only", test, "--clients", str(clients)]
    command += ["--duration", f"{seconds}s", "--set", "warm_up=0", "--set", f"branches={BRANCHES}"]
    command += ["--set", "accounts=100000", "--trials", "1", "--no-warm-up", "--quiet", "-o", run]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    lines = [json.loads(line) for line in Path(run).read_text().splitlines()]
    harness = [contender["harness"] for contender in lines[0]["run"]["contenders"]]
    trials = [line["trial"] for line in lines if "trial" in line]
    (trial,) = [trial for trial in trials if not harness[trial["contender"]]]
    (sample,) = [sample for sample in trial["samples"] if sample["test"] == test]
    section, done = sample["section"], sample["operations"]
    spent = section["client"]["user_ns"] + section["client"]["system_ns"]
    return done / section["nanoseconds"] * 1e9, spent / 1e9 / done


def one_round(test: str, clients: int, seconds: int, folder: str) -> tuple[tuple[float, float], list[tuple[float, float]]]:
    """Rate and cost of dyno, and of pgbench with each number of threads."""
    threads = {min(clients, len(os.sched_getaffinity(0))), max(1, clients // 2)}
    found = {}
    for count in random.sample([None, *threads], 1 + len(threads)):
        if count is None:
            found[count] = dyno(test, clients, seconds, folder)
        else:
            found[count] = pgbench(test, clients, count, seconds, folder)
    return found.pop(None), list(found.values())


def interval(ratios: list[float]) -> str:
    """The median, and the ranks between which it lies in 95 of 100 cases, or all of them where there are too few."""
    ratios = sorted(ratios)
    count, out = len(ratios), 0
    while sum(math.comb(count, rank) for rank in range(out + 1)) / 2**count <= 0.025:
        out += 1
    low = max(out - 1, 0)
    return f"{statistics.median(ratios):.3f} ({ratios[low]:.3f}–{ratios[count - 1 - low]:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--clients", default="1,8,32,128")
    parser.add_argument("--only", choices=SCRIPTS, help="one of the tests")
    arguments = parser.parse_args()
    # The server and its folder go away then too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, server(folder):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
        connect = ["-h", folder, "-U", "postgres"]
        subprocess.run([program("createdb"), *connect, "pgbench"], **quiet)
        subprocess.run([program("pgbench"), *connect, "-i", "-s", str(BRANCHES), "-n", "pgbench"], **quiet)
        print("dyno over pgbench    throughput                client's processor a transaction")
        for test in [arguments.only] if arguments.only else SCRIPTS:
            for clients in map(int, arguments.clients.split(",")):
                rates, costs = [], []
                for _ in range(arguments.rounds):
                    own, others = one_round(test, clients, arguments.seconds, folder)
                    rates.append(own[0] / max(rate for rate, _ in others))
                    costs.append(own[1] / min(cost for _, cost in others))
                print(f"{test:9} {clients:3} clients  {interval(rates):24}  {interval(costs)}", flush=True)


if __name__ == "__main__":
    main()
