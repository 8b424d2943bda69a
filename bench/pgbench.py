"""Compares dyno's clients with pgbench's: the same statements on one PostgreSQL, in turns.

    python3 bench/pgbench.py [--rounds 7] [--seconds 3] [--clients 1,8,32] [--only transfer] [--clients-per-thread 1]

Starts a private server. Each round runs pgbench (prepared statements, one thread for two clients unless an option says otherwise) and
dyno, which has a thread for each client, in a random order. For each number of clients it prints dyno's throughput over
pgbench's, and the processor's time that a transaction takes the client, dyno's over pgbench's: medians of the rounds'
ratios with the interval of their ranks.
Needs `make build` before, and the programs of PostgreSQL's server package.
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
DYNO = HERE.parent / "target/release/dyno"
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
    rate = float(re.search(r"tps = ([0-9.]+)", output)[1])
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
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--clients-per-thread", type=int, default=2, help="of pgbench; 1 is how dyno does it")
    parser.add_argument("--threads", type=int, help="of pgbench, whatever the number of clients")
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
                    found = {}
                    for run in random.sample([pgbench, dyno], 2):
                        own = arguments.threads or clients // arguments.clients_per_thread
                        threads = [max(1, min(own, clients))] if run is pgbench else []
                        found[run] = run(test, clients, *threads, arguments.seconds, folder)
                    rates.append(found[dyno][0] / found[pgbench][0])
                    costs.append(found[dyno][1] / found[pgbench][1])
                print(f"{test:9} {clients:3} clients  {interval(rates):24}  {interval(costs)}", flush=True)


if __name__ == "__main__":
    main()
