"""Stops a PostgreSQL for a moment under a steady load, and prints what each tool says that users waited.

    python3 bench/stall.py [--rate 1000] [--seconds 12] [--stall 1.5]

Work arrives steadily, so the truth is known: of what arrives while the server stands still, each waits until it goes on.
A closed loop of N clients notices N waits and nothing of those who could not ask. pgbench runs closed and with `--rate`, dyno
with `--rate`; sysbench runs too where it is at hand. Needs `make build` before, and the programs of PostgreSQL's server package.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pgbench import DYNO, program, server

SHARES = [0.5, 0.9, 0.99, 0.999]
ACCOUNTS = 100_000


def processes(folder: str) -> list[int]:
    """The server's main process and all that it has started."""
    main = int(Path(folder, "data", "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(main)], capture_output=True, text=True).stdout
    return [main, *map(int, children.split())]


def stop_once_busy(folder: str, wanted: str, into: float, stall: float) -> None:
    """Waits until a client executes the statement, then `into` seconds, and stops the server for `stall` seconds."""
    ask = f"SELECT count(*) FROM pg_stat_activity WHERE query LIKE '{wanted}%' AND pid <> pg_backend_pid()"
    psql = [program("psql"), "-h", folder, "-U", "postgres", "-d", "postgres", "-Atc", ask]
    while subprocess.run(psql, capture_output=True, text=True).stdout.strip() in ("", "0"):
        time.sleep(0.05)
    time.sleep(into)
    stopped = processes(folder)
    try:
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        time.sleep(stall)
    finally:
        for process in stopped:
            os.kill(process, signal.SIGCONT)


def quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def pgbench(folder: str, seconds: int, rate: int | None) -> list[float]:
    """Milliseconds of the shares of transactions, from the log of each of them."""
    with tempfile.TemporaryDirectory(dir=folder) as logs:
        command = [program("pgbench"), "-h", folder, "-U", "postgres", "-n", "-S", "-M", "prepared", "-T", str(seconds)]
        command += ["-c", "8", "-j", "4", "-l", "--log-prefix", f"{logs}/log", *(["-R", str(rate)] if rate else [])]
        subprocess.run([*command, "postgres"], capture_output=True, check=True)
        # With --rate the time begins when the transaction was due.
        lines = (line.split() for log in Path(logs).iterdir() for line in log.read_text().splitlines())
        times = sorted(int(line[2]) / 1000 for line in lines)
    return [quantile(times, share) for share in SHARES]


def dyno(folder: str, seconds: int, rate: int) -> list[float]:
    run = f"{folder}/run.jsonl"
    url = f"postgres://postgres@/postgres?host={folder}"
    command = [DYNO, "run", "bank", "--url", url, "--only", "read", "--clients", "8", "--rate", str(rate)]
    command += ["--duration", f"{seconds}s", "--set", "warm_up=0", "--set", "branches=1"]
    command += ["--set", f"accounts={ACCOUNTS}", "--trials", "1", "--no-warm-up", "--quiet", "-o", run]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    shown = subprocess.run([DYNO, "show", run, "--format", "json"], capture_output=True, text=True, check=True)
    (test,) = json.loads(shown.stdout)["verdict"]["latency"]["tests"]
    (line,) = test["lines"]
    return [line["percentiles"][name] / 1e6 for name in ("p50", "p90", "p99", "p999")]


def sysbench(folder: str, seconds: int, rate: int) -> list[float]:
    """Its histogram's percentiles; point selects of its own table, which are the same work."""
    base = ["sysbench", "oltp_point_select", "--db-driver=pgsql", f"--pgsql-host={folder}", "--pgsql-user=postgres"]
    base += ["--pgsql-db=postgres", "--tables=1", f"--table-size={ACCOUNTS}", "--threads=8"]
    found = []
    subprocess.run([*base, "prepare"], capture_output=True, check=True)
    output = subprocess.run(
        [*base, f"--time={seconds}", f"--rate={rate}", "--histogram", "--percentile=99", "run"],
        capture_output=True, text=True, check=True,
    ).stdout
    rows = [(float(ms), int(count)) for ms, count in re.findall(r"^\s+([\d.]+) \|\**\s+(\d+)$", output, re.M)]
    for share in SHARES:
        beyond = share * sum(count for _, count in rows)
        for ms, count in rows:
            beyond -= count
            if beyond <= 0:
                found.append(ms)
                break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=1000, help="how many arrive in a second")
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--stall", type=float, default=1.5, help="for how many seconds the server stands still")
    arguments = parser.parse_args()
    seconds, rate, stall = arguments.seconds, arguments.rate, arguments.stall

    def line(name: str, times: list[float]) -> None:
        print(f"{name:24}" + "".join(f"{time:>10.1f}" for time in times), flush=True)

    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, server(folder):
        connect = ["-h", folder, "-U", "postgres"]
        subprocess.run([program("pgbench"), *connect, "-i", "-s", "1", "postgres"], capture_output=True, check=True)

        def under_stall(work: Callable[[], list[float]], wanted: str) -> list[float]:
            stopper = threading.Thread(target=stop_once_busy, args=(folder, wanted, seconds / 3, stall))
            stopper.start()
            times = work()
            stopper.join()
            return times

        print(f"{'milliseconds':24}" + "".join(f"{f'p{share * 100:g}':>10}" for share in SHARES))
        # Requests that arrive while it stands still wait for the rest of it; (1 - share) of all wait longer than the share says.
        line("the truth, at least", [max(0.0, stall - (1 - share) * seconds) * 1000 for share in SHARES])
        line("dyno --rate", under_stall(lambda: dyno(folder, seconds, rate), "SELECT abalance"))
        line("pgbench --rate", under_stall(lambda: pgbench(folder, seconds, rate), "SELECT abalance"))
        line("pgbench", under_stall(lambda: pgbench(folder, seconds, None), "SELECT abalance"))
        if shutil.which("sysbench"):
            line("sysbench --rate", under_stall(lambda: sysbench(folder, seconds, rate), "SELECT c FROM sbtest"))
        else:
            print("sysbench is not at hand (Debian: sysbench)")


if __name__ == "__main__":
    main()
