"""Clients without an engine, and mixes for them."""

import gc
import struct
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any
from unittest import mock

from dyno_runner.clock import Clock
from dyno_runner.driver import Driver
from dyno_runner.failure import Failure
from dyno_runner.mix.perform import perform
from dyno_runner.mix.session import Session
from dyno_runner.mix.work import Work

from .support import PROGRAMS, Place

SECOND = 1_000_000_000


class Busy(Exception):
    """An error that is worth a retry."""


class Toy(Driver):
    """Its sessions record in one shared list what all of them have done, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tries = 0
        self.closed = 0

    def session(self, place: int) -> Session:
        return ToySession(self)

    def visit(self) -> Session:
        return ToySession(self)

    @contextmanager
    def aside(self):
        self.lines.append("aside")
        yield
        self.lines.append("there again")


class ToySession(Session):
    errors = Exception
    parameter = "%s"

    def __init__(self, toy: Toy) -> None:
        self._toy = toy

    def prepare(self, sql):
        if sql.startswith("refused"):
            raise ValueError("cannot prepare it")

        def run(values):
            toy = self._toy
            match sql.split()[0]:
                case "fail":
                    raise ValueError("no such toy")
                case "exit":
                    raise SystemExit("the toy broke")
                case "sleep":
                    time.sleep(0.005)
                case "busy":
                    raise Busy
                case "crowded":
                    # Two of three tries fail as busy.
                    toy.tries += 1
                    if toy.tries % 3:
                        raise Busy
            toy.lines.append(f"{sql} {values}")
            return [(number, f"row {number}") for number in range(2)] if sql.startswith("rows") else ()

        return run

    def begin_read(self):
        self._toy.lines.append("begin read")

    def begin_write(self):
        self._toy.lines.append("begin write")

    def commit(self):
        self._toy.lines.append("commit")

    def rollback(self):
        self._toy.lines.append("rollback")

    def may_pass(self, error):
        return isinstance(error, Busy)

    def words(self, error):
        return str(error)

    def close(self):
        self._toy.closed += 1


class Mixes(Place):
    """A test with mixes on a `Toy`."""

    def setUp(self):
        super().setUp()
        # The runner finds the library with which it measures by its argument.
        patched = mock.patch.object(sys, "argv", ["", str(PROGRAMS)])
        patched.start()
        self.addCleanup(patched.stop)
        # The clock freezes all objects that exist, also those of other tests.
        self.addCleanup(gc.unfreeze)

    def mix(
        self, classes: list[str], clients: int, *files: list[tuple[int, int]], **changes: Any
    ) -> dict[str, Any]:
        """A mix of classes of one statement each, "word" or "purpose word"; steps are (due, class)."""
        steps = []
        for number, file in enumerate(files):
            path = self.folder / f"{number}.steps"
            path.write_bytes(
                b"".join(struct.pack("<QQq3s", *step, place, b"abc") for place, step in enumerate(file))
            )
            steps.append({"file": str(path), "count": len(file)})
        records = []
        for each in classes:
            purpose, _, word = each.rpartition(" ")
            record = {"name": word, "statements": [{"text": [f"{word} ", ""], "parameters": [0]}]}
            records.append(record | ({"transaction": purpose} if purpose else {}))
        fields = [
            {"name": "place", "kind": "integer", "bytes": 8},
            {"name": "word", "kind": "text", "bytes": 3},
        ]
        mix = {"classes": records, "fields": fields, "clients": clients, "steps": steps}
        return mix | {"patience_ns": 50_000_000} | changes

    def done(self, mix: dict[str, Any], sessions: int | None = None) -> tuple[dict[str, Any], list[str]]:
        """Runs it, in a number of sessions or in one per client. Returns the sample, and the actions of the
        clients."""
        toy = Toy()
        try:
            return perform(Work(mix), toy, Clock([]), None), toy.lines
        finally:
            self.assertEqual(toy.closed, mix["clients"] if sessions is None else sessions)
            self.assertEqual(threading.active_count(), 1)

    @contextmanager
    def fails(self, words: str):
        with self.assertRaises(Failure) as caught:
            yield
        self.assertIn(words, caught.exception.message)


def counts(reported: dict[str, Any]) -> list[tuple[int, int, int]]:
    """The number of operations of each class that were done, failed and retried."""
    return [(one["done"], one["failed"], one["retried"]) for one in reported["classes"]]
