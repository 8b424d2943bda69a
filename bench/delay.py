#!/usr/bin/env python3
"""Compares what round trips predict of a network with what is measured on it.

Runs the suite `bank` with one client at several delays (`dyno run --delay`), for each contender that is named, and counts
the round trips of an operation (`--round-trips`). With these and the time at delay 0 it predicts the times at the other
delays, and prints how far those measured are from them. Beside the counted round trips stand those that follow from the
two largest delays: the time that an operation takes longer, over the delay that was added.

    python3 bench/delay.py postgres postgres/pgx postgres/psycopg
    python3 bench/delay.py --cost postgres

With --cost it measures what the proxy costs: in turns, runs that reach the server directly and runs with `--delay 0`.

Of the environment, DYNO names the program (target/release/dyno), DURATION how long each delay is measured (4s), and
TRIALS how often (3). Standard output is a table in Markdown.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

DYNO = Path(os.environ.get("DYNO", "target/release/dyno")).absolute()
ROUNDS = 7
DELAYS_MS = [0, 0.2, 1, 5, 40]
DURATION, TRIALS = os.environ.get("DURATION", "4s"), os.environ.get("TRIALS", "3")
TESTS = {"read": "look-up", "transfer": "transfer"}


def measure(contenders, folder):
    """The median response of an operation in milliseconds, by contender, test and delay, and its round trips."""
    delays = ",".join("0" if delay == 0 else f"{delay}ms" for delay in DELAYS_MS)
    command = [DYNO, "run", "bank", "--with", ",".join(contenders), "--clients", "1", "--delay", delays]
    command += ["--duration", DURATION, "--trials", TRIALS, "--no-warm-up", "--quiet", "--round-trips"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    times, trips = {}, {}
    for path in Path(folder, "results").glob("*.jsonl"):
        shown = subprocess.run([DYNO, "show", path, "--format", "json"], cwd=folder, check=True, stdout=subprocess.PIPE)
        with path.open() as lines:
            run = json.loads(next(lines))["run"]
        delay = run["limits"].get("round_trip_ns", 0) / 1e6
        for contender in run["contenders"]:
            for record in contender.get("traffic", []):
                if record.get("passes"):
                    trips[contender["label"], record["test"]] = record["passes"][0]["round_trips"] / record["operations"]
        for test in json.loads(shown.stdout)["verdict"]["latency"]["tests"]:
            for line in test["lines"]:
                times[line["label"], test["test"], delay] = line["percentiles"]["p50"] / 1e6
    return times, trips


def row(contender, test, times, trips):
    """A line of the table, and the largest share by which a prediction is wrong."""
    at = {delay: times.get((contender, test, delay)) for delay in DELAYS_MS}
    counted = trips.get((contender, test))
    if None in at.values() or counted is None:
        sys.exit(f"{contender} has no figure of {test} at some delay; `dyno run bank --with {contender}` says why")
    low, high = DELAYS_MS[-2:]
    fitted = (at[high] - at[low]) / (high - low)
    cells, worst = [], 0.0
    for delay in DELAYS_MS:
        predicted = at[0] + counted * delay
        off = at[delay] / predicted - 1
        worst = max(worst, abs(off))
        cells.append(f"{at[delay]:.2f}" if delay == 0 else f"{predicted:.2f} / {at[delay]:.2f} ({off:+.1%})")
    return f"| `{contender}` | {TESTS[test]} | {counted:g} ({fitted:.3f}) | " + " | ".join(cells) + " |", worst


def cost(contender, folder):
    """Runs that reach the server directly and runs through the proxy, in turns: microseconds of an operation."""
    figures = {"direct": [], "proxy": []}
    for _ in range(ROUNDS):
        for way, options in [("direct", []), ("proxy", ["--delay", "0"])]:
            path = Path(folder, "run.jsonl")
            command = [DYNO, "run", "bank", "--with", contender, "--clients", "1", "--only", "read", "--trials", "1"]
            command += ["--duration", DURATION, "--no-warm-up", "--quiet", "-o", path, *options]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            shown = subprocess.run([DYNO, "show", path, "--format", "json"], check=True, stdout=subprocess.PIPE)
            verdict = json.loads(shown.stdout)["verdict"]
            line = verdict["latency"]["tests"][0]["lines"][0]
            lines = [json.loads(text) for text in path.read_text().splitlines()]
            trials = [line["trial"] for line in lines if "trial" in line and line["trial"]["contender"] == 0]
            sample = next(sample for sample in trials[0]["samples"] if sample["test"] == "read")
            section = sample["section"]
            costs = [section[side] for side in ("client", "server")]
            spent = [(cost["user_ns"] + cost["system_ns"]) / sample["operations"] / 1e3 for cost in costs]
            figures[way].append([line["percentiles"]["p50"] / 1e3, *spent])
            path.unlink()
    print("| way | response, median | client's CPU | server's CPU |\n| --- | --- | --- | --- |")
    for way, rows in figures.items():
        medians = [statistics.median(column) for column in zip(*rows)]
        print(f"| {way} | " + " | ".join(f"{median:.1f} µs" for median in medians) + " |")


def main():
    contenders = sys.argv[1:]
    if not contenders:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        if contenders[0] == "--cost":
            return cost(contenders[1], folder)
        times, trips = measure(contenders, folder)
    print("| contender | operation | round trips | " + " | ".join(f"{delay} ms" for delay in DELAYS_MS) + " |")
    print("| --- " * (len(DELAYS_MS) + 3) + "|")
    worst = 0.0
    for test in TESTS:
        for contender in contenders:
            line, off = row(contender, test, times, trips)
            worst = max(worst, off)
            print(line)
    print(f"\nLargest difference of predicted and measured: {worst:.1%}")


if __name__ == "__main__":
    main()
