"""Clients that are made of nothing, and mixes for them."""

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
    """What may pass."""


class Toy(Driver):
    """Gives sessions that remember in one list what all of them have done, in order."""

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
                    # Two of three tries are in somebody's way.
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
    """A test with mixes by a toy."""

    def setUp(self):
        super().setUp()
        # The runner finds the library with which it measures by its argument.
        patched = mock.patch.object(sys, "argv", ["", str(PROGRAMS)])
        patched.start()
        self.addCleanup(patched.stop)
        # The clock puts all that there is out of the collector's sight, that of other tests too.
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
        """Does it, in so many sessions or in one a client: the sample, and what the clients did."""
        toy = Toy()
        try:
            return perform(Work(mix), toy, Clock(None), None), toy.lines
        finally:
            self.assertEqual(toy.closed, mix["clients"] if sessions is None else sessions)
            self.assertEqual(threading.active_count(), 1)

    @contextmanager
    def fails(self, words: str):
        with self.assertRaises(Failure) as caught:
            yield
        self.assertIn(words, caught.exception.message)


def counts(told: dict[str, Any]) -> list[tuple[int, int, int]]:
    """What was done, failed and retried of each class."""
    return [(one["done"], one["failed"], one["retried"]) for one in told["classes"]]
