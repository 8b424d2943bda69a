"""Tests that are done in slices, and slowed down. `dyno conformance` checks what every runner must do."""

import json
import time
from types import SimpleNamespace

from dyno_runner.clock import Clock
from dyno_runner.turns import Slices, Turns, added

from .support import Place, answer, digest_of, load, sample

MEMORY = [{"name": "database", "value": ":memory:"}]


class TurnsAreTaken(Place):
    def in_turns(self, job, *turns):
        """The events of a job with turns of `of` operations each."""
        lines = [json.dumps({"operations": operations}) for operations in turns]
        return self.run_text("\n".join([json.dumps(job | {"turns": True}), *lines, ""]))

    def far(self, events):
        """The number of operations that were done when it waited."""
        return [(event["done"], event["of"]) for event in events if event["event"] == "waiting"]

    def test_statements_are_done_in_slices(self):
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            with self.subTest(driver):
                test = self.statements("SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5")
                events = self.in_turns(self.job(driver, [test], settings=MEMORY), 2, 2, 7)
                self.assertEqual(self.far(events), [(0, 5), (2, 5), (4, 5)])
                self.assertEqual(answer(events, "1"), [[1], [2], [3], [4], [5]])
                reported = [event["nanoseconds"] for event in events if event["event"] == "waiting"]
                reported.append(sample(events, "1")["section"]["nanoseconds"])
                self.assertTrue(0 == reported[0] < reported[1] < reported[2] < reported[3], reported)

    def test_rows_are_loaded_in_slices(self):
        rows = self.rows(10, [3, 4])
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python+executemany"):
            for model in ("insert-rows", "bulk-load"):
                with self.subTest((driver, model)):
                    self.folder.joinpath("database").mkdir(exist_ok=True)
                    job = self.job(driver, [load(model, rows, per_commit=4)], settings=MEMORY)
                    events = self.in_turns(job, 3, 3, 3, 3)
                    # Four rows make a transaction, so the second turn is of the fourth and two of the next.
                    self.assertEqual(self.far(events), [(0, 10), (3, 10), (6, 10), (9, 10)])
                    self.assertEqual(answer(events, model), digest_of(rows))

    def test_what_fails_is_named_by_its_place_in_the_test(self):
        test = self.statements("SELECT 1", "SELECT 2", "SELECT 3", "nonsense")
        said = self.in_turns(self.job("sqlite/sqlite3", [test], settings=MEMORY), 2, 2)[-1]["message"]
        self.assertTrue(said.startswith("statement 4 of 4 (nonsense): "), said)

    def test_what_is_no_turn_is_reported(self):
        test = self.statements("SELECT 1", "SELECT 2")
        job = self.job("sqlite/sqlite3", [test], settings=MEMORY)
        for turns, words in (
            ([1], "standard input ended where a turn was expected"),
            ([0], "a turn of no operations"),
            (["many"], "is no turn"),
        ):
            self.assertIn(words, self.in_turns(job, *turns)[-1]["message"])


class Parts(Place):
    def test_without_turns_a_part_is_all(self):
        self.assertEqual(list(Turns().parts(3, 9)), [(3, 9)])
        self.assertEqual(list(Turns().parts(3, 3)), [])
        self.assertEqual(list(Turns().parts(3, 9, 4)), [(3, 9)])

    def test_a_turn_does_not_split_a_call_of_several(self):
        turns = iter([3, 11, 1])
        giver = SimpleNamespace(ask=lambda done, of, nanoseconds: next(turns))
        stopwatch = SimpleNamespace(start=lambda: None, stop=lambda: {"nanoseconds": 1})
        slices = Slices(giver, stopwatch, 17)
        self.assertEqual(list(slices.parts(0, 17, 5)), [(0, 5), (5, 15), (15, 17)])

    def test_a_slowdown_is_planted_within_the_clock(self):
        # It sleeps for 5 ms, and is made to take three times as long again: independent of the machine's
        # speed.
        _, sample = Clock([], None, 3.0).time(1, lambda _: time.sleep(0.005))
        self.assertGreaterEqual(sample["section"]["nanoseconds"], 20_000_000)

    def test_slices_are_added_up(self):
        one = {"nanoseconds": 1, "client": {"user_ns": 2, "peak_memory_bytes": 9}}
        two = {"nanoseconds": 3, "client": {"user_ns": 4, "peak_memory_bytes": 5}}
        both = {"nanoseconds": 4, "client": {"user_ns": 6, "peak_memory_bytes": 9}}
        self.assertEqual(added(one, two), both)
