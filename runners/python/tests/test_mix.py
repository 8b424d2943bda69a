"""Mixes by clients without an engine."""

import json
import struct
from typing import Any
from unittest import mock

from dyno_runner.driver import Driver
from dyno_runner.mix import recorder, section
from dyno_runner.mix.work import Work

from . import mixes
from .mixes import SECOND, counts
from .support import answer, sample


class Threads(mixes.Mixes):
    def test_statements_have_placeholders_and_values(self):
        mix = self.mix(["get", "write put"], 1, [(0, 1), (0, 0)])
        mix["classes"][0]["statements"] = [{"text": ["get 5% ", " ", ""], "parameters": [1, 0]}]
        sample, lines = self.done(mix)
        self.assertEqual(lines, ["begin write", "put %s (0,)", "commit", "get 5%% %s %s ('abc', 1)"])
        self.assertEqual((counts(sample), sample["operations"]), ([(1, 0, 0), (1, 0, 0)], 2))
        self.assertEqual(sample["ticks"], [])

    def test_what_is_in_somebodys_way_is_tried_again_and_undone_before(self):
        sample, lines = self.done(self.mix(["read crowded"], 1, [(0, 0)] * 2))
        self.assertEqual(counts(sample), [(2, 0, 4)])
        one = ["begin read", "rollback", "begin read", "rollback", "begin read", "crowded %s", "commit"]
        self.assertEqual([" ".join(line.split()[:2]) for line in lines], one * 2)

    def test_what_never_succeeds_is_counted_when_patience_ends(self):
        sample, _ = self.done(self.mix(["busy", "get"], 2, [(0, 0), (0, 1)], [(0, 1)]))
        busy, get = counts(sample)
        self.assertEqual((busy[:2], get), ((0, 1), (2, 0, 0)))
        self.assertGreater(busy[2], 0)

    def test_any_other_failure_ends_the_mix_and_names_the_client(self):
        slow = [(0, 1)] * 3
        for word, words in {
            "fail": "client 2: class fail: no such toy",
            "refused": "client 1: cannot prepare it",
        }.items():
            with self.subTest(word), self.fails(words):
                self.done(self.mix([word, "sleep"], 3, slow, [(0, 1), (0, 0)], slow))
        with self.assertRaises(SystemExit):
            self.done(self.mix(["exit", "sleep"], 2, slow, [(0, 0)]))

    def test_steps_that_are_shared_are_done_once_and_not_before_they_are_due(self):
        steps = [(place * 200_000, 0) for place in range(1, 101)]
        sample, lines = self.done(self.mix(["get"], 4, steps))
        self.assertEqual(counts(sample), [(100, 0, 0)])
        self.assertEqual(len(set(lines)), 100)
        self.assertGreaterEqual(sample["section"]["nanoseconds"], 20_000_000)
        self.assertTrue(all(sample["classes"][0][part] for part in ("response", "service", "wait", "late")))

    def test_a_mix_that_lasts_a_time_begins_anew_and_ends(self):
        lasts = {"duration_ns": 60_000_000, "warm_up_ns": 20_000_000}
        sample, lines = self.done(self.mix(["sleep"], 2, [(0, 0)] * 2, [(0, 0)] * 3, lasts=lasts))
        self.assertEqual(sample["section"]["nanoseconds"], 60_000_000)
        self.assertTrue(4 < sample["operations"] < len(lines), (sample["operations"], len(lines)))
        (tick,) = sample["ticks"]
        self.assertEqual((tick["ended_ns"], tick["classes"][0]["done"]), (60_000_000, sample["operations"]))

    def test_what_is_due_and_not_done_at_the_end_counts_with_its_age(self):
        steps = [(1, 0)] * 50 + [(200_000_000, 0)] * 50 + [(400_000_000, 0)]
        for clients in (1, 2):
            mix = self.mix(["sleep"], clients, steps, lasts={"duration_ns": 300_000_000})
            ages = []
            with self.subTest(clients), mock.patch.object(recorder, "text_of", sorted):
                sample, _ = self.done(mix)
                ages = sample["classes"][0]["unfinished"]
                self.assertEqual(sample["classes"][0]["done"] + len(ages), 100)
                self.assertLessEqual(ages[-1], 300_000_000)
                self.assertTrue(sample["ticks"][0]["succeeded"])

    def test_what_is_under_way_at_the_end_counts_with_its_age(self):
        work = Work(self.mix(["a"], 1, [(0, 0)], lasts={"duration_ns": SECOND, "warm_up_ns": SECOND}))
        one = recorder.Recorder(1, False)
        one.done(0, 0, 0, SECOND + 5, SECOND + 25_000_000)
        one.failed(0, 2 * SECOND - 7, 3 * SECOND, 1)
        one.done(0, 0, 0, 2 * SECOND, 2 * SECOND + 1)
        with mock.patch.object(recorder, "text_of", sorted):
            found = recorder.Sum(work, 0, [one])
        self.assertEqual((found.classes[0]["unfinished"], found.classes[0]["failed"]), ([7], 0))
        self.assertEqual(found.ticks[0]["succeeded"], "4")

    def test_statements_of_operations_that_are_done_are_timed(self):
        mix = self.mix(["write crowded", "get"], 1, [(0, 0), (0, 1), (0, 0)], times_statements=True)
        with mock.patch.object(recorder, "text_of", lambda times: len(list(times))):
            sample, lines = self.done(mix)
        # Tries that were repeated do not count.
        self.assertEqual(lines.count("rollback"), sample["classes"][0]["retried"])
        found = [[(one["text"], one["response"]) for one in each["statements"]] for each in sample["classes"]]
        self.assertEqual(found, [[("BEGIN", 2), ("crowded ?", 2), ("COMMIT", 2)], [("get ?", 1)]])
        sample, _ = self.done(mix | {"times_statements": False})
        self.assertNotIn("statements", sample["classes"][0])

    def test_a_class_has_its_own_patience(self):
        mix = self.mix(["busy", "crowded"], 1, [(0, 1), (0, 0)], patience_ns=SECOND * 60)
        mix["classes"][0]["patience_ns"] = 1
        sample, _ = self.done(mix)
        self.assertEqual([one["failed"] for one in sample["classes"]], [1, 0])

    def test_a_driver_that_keeps_all_statements_refuses_simple_ones(self):
        mix = self.mix(["get"], 1, [(0, 0)])
        mix["classes"][0]["protocol"] = "simple"
        with self.fails("keeps every statement"):
            self.done(mix)

    def test_a_mix_that_makes_no_sense_is_refused(self):
        for words, change in {
            "a mix of no clients": {"clients": 0},
            "there are 2 files of steps for 3 clients": {"clients": 3},
            "step 1 names a class that is not there": {"classes": [{"name": "get", "statements": []}]},
            "54 bytes where 2 rows of 24 bytes": {"fields": [{"name": "n", "kind": "integer", "bytes": 8}]},
        }.items():
            mix = self.mix(["get", "put"], 2, [(0, 0), (0, 1)], [(0, 0)])
            with self.subTest(words), self.fails(words):
                section.Section(Work(mix | change), Driver(), None)

    def test_what_ends_within_the_window_counts_once_and_in_its_tick(self):
        lasts = {"duration_ns": 5 * SECOND // 2, "warm_up_ns": SECOND}
        work = Work(self.mix(["a", "b"], 1, [(0, 0)], lasts=lasts))
        sample = []
        for _ in range(2):
            one = recorder.Recorder(2, False)
            for place, ended in [(0, SECOND - 1), (0, SECOND), (1, 3 * SECOND + 1), (1, 7 * SECOND // 2)]:
                one.done(place, 0, ended - 1, ended - 1, ended)
            one.retried(0, SECOND, 3)
            one.failed(1, SECOND, 2 * SECOND - 1, 1, "no row")
            one.failed(1, SECOND, 4 * SECOND, 1)
            sample.append(one)
        found = recorder.Sum(work, 0, sample)
        self.assertEqual(counts({"classes": found.classes}), [(2, 0, 6), (2, 2, 2)])
        self.assertEqual((found.operations, found.classes[0]["service"]), (4, ""))
        ticks = [(tick["ended_ns"], *(one["done"] for one in tick["classes"])) for tick in found.ticks]
        self.assertEqual(ticks, [(SECOND, 2, 0), (2 * SECOND, 0, 0), (5 * SECOND // 2, 0, 2)])

    def test_a_wait_is_split_into_nobody_free_and_late(self):
        work = Work(self.mix(["a"], 1, [(1000, 0)]))
        one = recorder.Recorder(1, True)
        one.done(0, 1000, 500, 1100, 1300)
        one.done(0, 1000, 1500, 1501, 1600)
        with mock.patch.object(recorder, "text_of", sorted):
            (sample,) = recorder.Sum(work, 0, [one]).classes
        self.assertEqual((sample["response"], sample["service"]), ([300, 600], [99, 200]))
        self.assertEqual((sample["wait"], sample["late"]), ([0, 500], [1, 100]))

    def test_clients_of_a_database_do_what_they_are_reported(self):
        """On files and, by one client, in memory, which only one connection can have."""
        create = self.statements("CREATE TABLE t(a INTEGER)", id="0")
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy"):
            for settings in ([], [{"name": "database", "value": ":memory:"}]):
                for clients in (1, 2):
                    mix = self.mix(["write put"], clients, *[[(0, 0)] * 5] * clients, patience_ns=20 * SECOND)
                    mix["classes"][0]["statements"][0]["text"] = ["INSERT INTO t VALUES (", ")"]
                    test = {"id": "1", "model": "mix", "check": "SELECT sum(a), count(*) FROM t"} | mix
                    job = self.job(driver, [create, test], settings=settings)
                    with self.subTest(json.dumps([driver, settings, clients])):
                        if settings and clients > 1:
                            self.assertIn("one connection alone", self.complaint(job))
                        else:
                            events = self.run_job(job)
                            self.assertEqual(sample(events, "1")["operations"], 5 * clients)
                            self.assertEqual(answer(events, "1"), [[10 * clients, 5 * clients]])
                    for file in (self.folder / "database").iterdir():
                        file.unlink()

    def chained(self, step: list[int], statements: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        """A mix of one class whose step has a number, the count of a list and its items."""
        mix = self.mix(["write class"], 1, [(0, 0)])
        with open(mix["steps"][0]["file"], "wb") as file:
            file.write(struct.pack("<QQ4q", 0, 0, *step))
        names = ["undo", "count", "item 1", "item 2"]
        mix["fields"] = [{"name": name, "kind": "integer", "bytes": 8} for name in names]
        mix["lists"] = [{"name": "list", "count": 1, "first": 2, "columns": 1, "most": 2}]
        mix["classes"][0] |= {"statements": statements} | changes
        return mix

    def test_rows_and_items_are_parameters_of_statements_that_are_repeated(self):
        def row(column):
            return {"statement": 0, "column": column}

        statements = [
            {"text": ["rows"], "parameters": [], "keeps": {"columns": 2, "all": True}},
            {"text": ["for ", " ", ""], "parameters": [{"item": 0}, row(1)]},
            {"text": ["each ", ""], "parameters": [row(1)]},
            {"text": ["after ", ""], "parameters": [row(0)]},
        ]
        loops = [
            {"first": 1, "count": 1, "over": {"list": 0}},
            {"first": 2, "count": 1, "over": {"rows": 0}},
        ]
        more = {"loops": loops, "rollback_if": 0}
        sample, lines = self.done(self.chained([0, 2, 8, 9], statements, **more))
        rows = ["each %s ('row 0',)", "each %s ('row 1',)", "after %s (0,)"]
        items = ["for %s %s (8, 'row 0')", "for %s %s (9, 'row 0')"]
        self.assertEqual(lines, ["begin write", "rows ()", *items, *rows, "commit"])
        self.assertEqual(sample["classes"][0]["undone"], 0)
        sample, lines = self.done(self.chained([1, 0, 0, 0], statements, **more))
        self.assertEqual(lines, ["begin write", "rows ()", *rows, "rollback"])
        self.assertEqual((counts(sample), sample["classes"][0]["undone"]), ([(1, 0, 0)], 1))
        for words, changed in {
            "a loop of class class names": {"loops": [{"first": 0, "count": 9, "over": {"list": 0}}]},
            "the end of class class names": {"rollback_if": 4},
            "a parameter of class class names": {"loops": []},
        }.items():
            with self.subTest(words), self.fails(words):
                Work(self.chained([0] * 4, statements, **more | changed))
        with self.fails("the list list of step 0 has more than 2 items"):
            section.Section(Work(self.chained([0, 3, 0, 0], statements, **more)), Driver(), None)

    def test_a_row_that_is_missing_fails_the_operation_unless_it_may_be(self):
        for may_miss in (True, False):
            statements = [
                {"text": ["none"], "parameters": [], "keeps": {"columns": 1, "may_miss": may_miss}},
                {
                    "text": ["some ", ""],
                    "parameters": [{"statement": 0, "column": 0}],
                    "keeps": {"columns": 1},
                },
                {"text": ["use ", ""], "parameters": [{"statement": 1, "column": 0}]},
                {"text": ["always ", ""], "parameters": [1]},
            ]
            mix = self.chained([0] * 4, statements)
            if may_miss:
                _, lines = self.done(mix)
                self.assertEqual(lines, ["begin write", "none ()", "always %s (0,)", "commit"])
            else:
                with self.fails("no operation succeeded within the time: no row came of none"):
                    self.done(mix)

    def test_a_client_thinks_before_a_step(self):
        statements = [{"text": ["get ", ""], "parameters": [1]}]
        mix = self.chained([0, 0, 3_000_000, 0], statements) | {"think": 2}
        sample, lines = self.done(mix)
        self.assertEqual(len(lines), 3)
        self.assertGreaterEqual(sample["section"]["nanoseconds"], 3_000_000)
        with self.fails("the time to think names what is not there"):
            Work(mix | {"think": 4})
