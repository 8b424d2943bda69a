"""The aims of exact counts, gates and causes, measured: docs/ci.md.

Usage: python3 bench/counts.py DYNO [N] [GATES]

DYNO is the program. Counting and causes are repeated N times (2), and the gate is tried GATES times (5); 10 and 200 are
the numbers of the aims, and 50 that of causes. SQLite's source is the one that dyno is built with. It ends with 1 where
an aim is missed.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PLANTED = """
static volatile int planted_sum;
static __attribute__((noinline)) void planted(void) { planted_sum += 1; }
"""
ENTRY = "SQLITE_PRIVATE int sqlite3VdbeExec("
CASE = "case OP_MakeRecord: {"


class Bench:
    def __init__(self, dyno, folder):
        self.dyno, self.folder, self.missed = pathlib.Path(dyno).resolve(), folder, False

    def run(self, *arguments, exits=(0, 3)):
        done = subprocess.run([self.dyno, *arguments], cwd=self.folder, capture_output=True, text=True)
        if exits and done.returncode not in exits:
            sys.exit(f"dyno {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done

    def counted(self, contenders, *more):
        """The verdict and the run file of a run that counts."""
        with_ = ["--with", contenders, "--trials", "2", "--no-warm-up", "--quiet", "-o", "run.jsonl"]
        self.run("run", "speedtest", "--scale", "0.02", "--counts", *with_, *more)
        shown = self.run("show", "run.jsonl", "--format", "json")
        lines = (self.folder / "run.jsonl").read_text().splitlines()
        return json.loads(shown.stdout)["verdict"], [json.loads(line) for line in lines]

    def aim(self, what, found, is_met):
        self.missed |= not is_met
        print(f"| {what} | {found} | {'met' if is_met else 'missed'} |", flush=True)


def amalgamation():
    """SQLite's source among the packages of this clone."""
    clone = pathlib.Path(__file__).resolve().parent.parent
    asked = ["cargo", "metadata", "--format-version", "1", "--locked"]
    found = json.loads(subprocess.run(asked, cwd=clone, capture_output=True, text=True, check=True).stdout)
    manifests = [of["manifest_path"] for of in found["packages"] if of["name"] == "libsqlite3-sys"]
    return pathlib.Path(manifests[0]).parent / "sqlite3" / "sqlite3.c"


def compile_library(source, library):
    flags = ["-g", "-O2", "-fPIC", "-shared", "-DSQLITE_THREADSAFE=1"]
    subprocess.run(["gcc", *flags, source, "-o", library, "-lpthread", "-lm", "-ldl"], check=True)


def build(folder, source):
    """SQLite as it is, and with a call of a function more in its interpreter's loop."""
    text = pathlib.Path(source).read_text()
    if text.count(CASE) != 1 or ENTRY not in text:
        sys.exit(f"{source} has another interpreter than this knows: it looks for {CASE!r}")
    # The last one is the definition: a declaration may stand before it.
    before, after = text.rsplit(ENTRY, 1)
    changed = (before + PLANTED + ENTRY + after).replace(CASE, CASE + " planted();")
    (folder / "change.c").write_text(changed)
    compile_library(source, folder / "main.so")
    compile_library(folder / "change.c", folder / "change.so")
    shutil.copy(folder / "main.so", folder / "same.so")


def instructions(run):
    """The counts of each test in the trials that counted, by the order of these."""
    counts = {}
    for line in run:
        for sample in line.get("trial", {}).get("samples", []):
            found = sample["section"].get("counts", {}).get("instructions")
            if found is not None:
                counts.setdefault(sample["test"], []).append(found)
    return counts


def slower(run):
    """The least time of each test under callgrind over the least of the measured ones, summed over all tests: other
    work on the machine only adds."""
    counted, timed = {}, {}
    for line in run:
        for sample in line.get("trial", {}).get("samples", []):
            counts = sample["section"].get("counts", {})
            kind = timed if not counts else counted if "instructions" in counts else None
            if kind is not None:
                kind.setdefault(sample["test"], []).append(sample["section"]["nanoseconds"])
    least = lambda kind: sum(min(times) for times in kind.values())
    return least(counted) / least(timed)


def repeats(bench, passes):
    """Counts the same work again and again, and holds the time that counting takes against the timed passes."""
    found, costs = {}, []
    for _ in range((passes + 1) // 2):
        # Two passes of the contender, without those of the runner that does nothing.
        _, run = bench.counted("sqlite@./main.so:memory")
        for test, counts in instructions(only(run, 0)).items():
            found.setdefault(test, []).extend(counts)
        costs.append(slower(only(run, 0)))
    least = min(len(counts) for counts in found.values())
    equal = sum(len(set(counts)) == 1 for counts in found.values())
    bench.aim(
        f"instructions of {len(found)} tests, the same in all of {least} passes",
        f"{equal} of {len(found)} tests",
        equal == len(found),
    )
    cost = min(costs)
    bench.aim("counting takes at most 60 times the timed pass", f"{cost:.0f} times", cost <= 60)


def only(run, contender):
    """The lines without the trials of other contenders."""
    return [line for line in run if "trial" not in line or line["trial"]["contender"] == contender]


def functions(bench, tries):
    found, size = 0, 0.0
    for _ in range(tries):
        verdict, _ = bench.counted("sqlite@./main.so:memory,sqlite@./change.so:memory", "--only", "2,3")
        together = verdict["functions"][0]["tests"][0]
        differing = {of["function"] for of in together["functions"] if of["before"] != of["now"]}
        found += differing in ({"planted"}, {"planted", "sqlite3VdbeExec"})
        size = (together["now"] - together["before"]) / together["before"]
    what = f"a call planted in SQLite's interpreter ({size:+.2%} instructions) is found, and nothing else"
    bench.aim(what, f"{found} of {tries}", found == tries)


def gates(bench, tries):
    fired, undecided = 0, 0
    options = ["--only", "2,4", "--scale", "0.02", "--trials", "2", "--no-warm-up", "--quiet", "-o", "run.jsonl"]
    pair = "sqlite@./main.so:memory,sqlite@./same.so:memory"
    for _ in range(tries):
        code = bench.run("run", "speedtest", *options, "--with", pair, "--gate", "time<=+3%", exits=None).returncode
        fired, undecided = fired + (code == 1), undecided + (code == 5)
    bench.aim("the gate of equal builds with two trials fires", f"{fired} of {tries} runs", fired == 0)
    bench.aim("and says that it is undecided", f"{undecided} of {tries} runs", undecided == tries)


def causes(bench, tries):
    """A cause that is there for one of two contenders alone is named, and how exactly it is sized."""
    planted = [("disk", "sqlite,sqlite:nosync", []), ("network", "postgres:nosync,sqlite:memory", ["--delay", "2ms"])]
    for suspect, pair, more in planted:
        test = ["--only", "1", "--scale", "0.02", "--with", pair, *more]
        bench.run("run", "speedtest", *test, "--trials", "1", "--no-warm-up", "--quiet", "-o", "run.jsonl")
        named, widest, least = 0, 0.0, 1.0
        for _ in range(tries):
            asked = ["causes", "run.jsonl", "--of", pair, "--trials", "8", "--quiet", "--format", "json"]
            found = json.loads(bench.run(*asked, "-o", "found.jsonl").stdout)
            shares = {share["suspect"]: share for share in found["differences"][0]["shares"]}
            shown = [name for name, share in shares.items() if share["explains"] == "some"]
            interval = shares.get(suspect, {}).get("interval")
            if interval is None or suspect not in shown:
                continue
            largest = max(shown, key=lambda name: shares[name]["share"])
            named += largest == suspect
            widest = max(widest, interval["high"] - interval["low"])
            least = min(least, shares[suspect]["share"])
        sized = f"{named} of {tries}, share at least {least:.0%}, intervals at most {widest * 100:.0f} points wide"
        bench.aim(f"of {pair} the cause named is the {suspect}", sized, named == tries)


def main():
    dyno, *numbers = sys.argv[1:]
    tries, runs = (list(map(int, numbers)) + [2, 5][len(numbers) :])[:2]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(dyno, pathlib.Path(folder))
        build(bench.folder, amalgamation())
        print("| aim | found | |\n| --- | --- | --- |", flush=True)
        repeats(bench, tries)
        functions(bench, tries)
        gates(bench, runs)
        causes(bench, tries)
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
