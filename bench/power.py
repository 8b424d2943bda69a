"""Counts how often `dyno run` finds a slowdown that was planted.

    python3 bench/power.py [--dyno target/release/dyno] [--runs 20] [--folder FOLDER]

Each run has a contender beside itself, slowed by 4 % in its runner. It counts the runs whose mean says slower.
Then it takes the 4 % out of the samples of a copy of each run file, puts 15 % into one test after another, and
counts in how many of these tables dyno says slower of that test. A slowdown is a factor of each slice, so one
that is put in afterwards is as one that the runner made. The copies with nothing put in are tables of equals: it
counts those that call anything different.

The run files go to a temporary folder, which is removed at the end. With --folder they are kept, and those that a folder
has already are counted and not measured again.
"""

import argparse
import csv
import io
import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

SLOWDOWN = 0.04
IN_ONE_TEST = 0.15


def measure(arguments: argparse.Namespace, file: Path) -> None:
    """Makes a run of a contender and its slower copy, which lasts the time whatever its intervals are."""
    contender = arguments.contender
    copy = f"{contender},slowdown={SLOWDOWN:.0%}"
    command = [arguments.dyno, "run", "speedtest", "--with", contender, "--with", copy]
    command += ["--budget", f"{arguments.seconds}s", "--target", "0", "--quiet", "-o", str(file)]
    if arguments.nice is not None:
        command += ["--nice", str(arguments.nice)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def planted(file: Path, factor: Callable[[str], float], copy: Path) -> None:
    """Writes a run again with the times of the second contender multiplied by a factor for each test."""
    lines = []
    for line in file.read_text().splitlines():
        record = json.loads(line)
        if record.get("trial", {}).get("contender") == 1:
            for sample in record["trial"]["samples"]:
                section = sample["section"]
                section["nanoseconds"] = int(section["nanoseconds"] * factor(sample["test"]))
            line = json.dumps(record)
        lines.append(line + "\n")
    copy.write_text("".join(lines))


def judged(dyno: str, file: Path) -> list[dict[str, str]]:
    """The words of dyno on the second contender of a run, by test."""
    command = [dyno, "show", str(file), "--format", "csv"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [row for row in csv.DictReader(io.StringIO(shown)) if ",slowdown=" in row["contender"]]


def mean_is_slower(dyno: str, file: Path) -> bool:
    """True if dyno calls the mean of the second contender slower, with all comparisons of the table counted."""
    command = [dyno, "show", str(file), "--format", "json"]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return any(
        summary.get("difference", {}).get("difference") == "slower" for summary in shown["verdict"]["summaries"]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dyno", default="target/release/dyno")
    parser.add_argument("--contender", default="sqlite:nosync")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--nice", type=int, help="the priority of the runners, as dyno run --nice takes it")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        return count(arguments, arguments.folder)
    with tempfile.TemporaryDirectory(prefix="dyno-power-") as folder:
        count(arguments, Path(folder))


def count(arguments: argparse.Namespace, folder: Path) -> None:
    """Measures the runs that a folder lacks, and counts what dyno finds in all of them."""
    copy = folder / "planted.jsonl"
    by_mean = in_test = tests = alarms = 0
    for number in range(1, arguments.runs + 1):
        file = folder / f"run-{number}.jsonl"
        # Earlier measurements are used again.
        if not file.exists():
            measure(arguments, file)
        by_mean += mean_is_slower(arguments.dyno, file)
        planted(file, lambda _: 1 / (1 + SLOWDOWN), copy)
        equals = judged(arguments.dyno, copy)
        alarms += any(row["difference"] in ("faster", "slower") for row in equals)
        for test in [row["test"] for row in equals]:
            planted(file, lambda name, test=test: (1 + IN_ONE_TEST * (name == test)) / (1 + SLOWDOWN), copy)
            rows = [row for row in judged(arguments.dyno, copy) if row["test"] == test]
            in_test += any(row["difference"] == "slower" for row in rows)
            tests += 1
        print(f"{number} runs: {SLOWDOWN:.0%} slower is found by the mean in {by_mean}.")
        print(f"  {IN_ONE_TEST:.0%} slower in one test is found there in {in_test} of {tests} tables.")
        print(f"  {alarms} tables of equals call something different.", flush=True)
    copy.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
