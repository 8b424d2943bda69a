"""Jobs made by hand, and the events that they cause."""

import json
import os
import random
import string
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any

RUNNER = Path(__file__).parent.parent
# The folder of dyno's own program, with the libraries next to it: that of a release build, or DYNO_PROGRAMS.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", RUNNER.parent.parent / "target"))
PROGRAMS = Path(os.environ.get("DYNO_PROGRAMS", TARGET / "release")).absolute()

LETTERS = string.ascii_letters + string.digits


class Place(unittest.TestCase):
    """A test with a separate folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="dyno-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "database").mkdir()

    def job(self, contender: str, tests: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        """A job for `engine/driver+variant`."""
        name, _, variant = contender.partition("+")
        engine, driver = name.split("/")
        # The module of the standard library is tested as it stands, whether or not dyno is built.
        build = "system" if driver in ("sqlite3", "sqlalchemy") else "bundled"
        job = {
            "protocol": 3,
            "engine": engine,
            "driver": driver,
            "build": build,
            "settings": [],
            "tests": tests,
        }
        job["directory"] = str(self.folder / "database")
        return job | ({"variant": variant} if variant else {}) | changes

    def run_text(self, text: str, *options: str) -> list[dict[str, Any]]:
        """The events of a runner whose standard input is a text, optionally with options for Python. Checks
        that it prints no traceback."""
        command = [sys.executable, "-I", "-B", *options, str(RUNNER), str(PROGRAMS)]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False, timeout=120)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(done.returncode == 0, events[-1]["event"] == "bye", done)
        self.assertNotIn(b"Traceback", done.stderr + done.stdout)
        return events

    def run_job(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of a job."""
        return self.run_text(json.dumps(job))

    def complaint(self, job: dict[str, Any]) -> str:
        """The message with which a job fails."""
        last = self.run_job(job)[-1]
        self.assertEqual(last["event"], "failed", last)
        return last["message"]

    def statements(self, *statements: str, **changes: Any) -> dict[str, Any]:
        """A test of statements."""
        file = self.folder / f"{random.getrandbits(64)}.statements"
        file.write_bytes(b"".join(statement.encode() + b"\0" for statement in statements))
        return {"id": "1", "model": "statements", "file": str(file), "count": len(statements)} | changes

    def rows(self, count: int, widths: list[int]) -> dict[str, Any]:
        """A file of rows, as a test names it."""
        file = self.folder / f"{random.getrandbits(64)}.rows"
        seeded = random.Random(7)
        file.write_text("".join(seeded.choices(LETTERS, k=count * sum(widths))))
        columns = [{"name": f"c{place}", "bytes": width} for place, width in enumerate(widths)]
        return {"file": str(file), "count": count, "columns": columns}


def load(model: str, rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A test that loads rows into a table that it makes."""
    columns = ", ".join(f"{column['name']} TEXT" for column in rows["columns"])
    test = {"id": model, "model": model, "setup": [f"CREATE TABLE t({columns})"], "table": "t", "rows": rows}
    return test | changes


def cells_of(rows: dict[str, Any]) -> list[list[bytes]]:
    """The cells of a row file, read the plain way."""
    data = Path(rows["file"]).read_bytes()
    cells = []
    place = 0
    for _ in range(rows["count"]):
        row = []
        for column in rows["columns"]:
            row.append(data[place : place + column["bytes"]])
            place += column["bytes"]
        cells.append(row)
    return cells


def digest_of(rows: dict[str, Any]) -> list[list[Any]]:
    """The digest of a table that holds a row file, cell by cell."""
    cells = cells_of(rows)
    columns = [sum(zlib.crc32(row[place]) for row in cells) for place in range(len(rows["columns"]))]
    whole = sum(zlib.crc32(b"".join(row)) for row in cells)
    shown = [[cell.decode() for cell in cells[place]] for place in (0, len(cells) // 2, -1)]
    return [[len(cells), *columns, whole], *shown]


def answer(events: list[dict[str, Any]], test: str) -> list[Any]:
    """The rows of a test's answer."""
    parts = [event["rows"] for event in events if event["event"] == "answer" and event["test"] == test]
    return [row for part in parts for row in part]


def sample(events: list[dict[str, Any]], test: str) -> dict[str, Any]:
    """The sample of a test."""
    return next(event for event in events if event["event"] == "sample" and event["test"] == test)
