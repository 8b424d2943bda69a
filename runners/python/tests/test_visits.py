"""Clients that come and go."""

import json
from typing import Any
from unittest import mock

from dyno_runner.mix import recorder

from . import mixes
from .mixes import SECOND, counts
from .support import answer, sample

MILLISECOND = 1_000_000


def sessions(classes: list[list[int]], each: int = MILLISECOND) -> list[tuple[int, int]]:
    """The steps of sessions, by their classes, at a fixed distance."""
    return [
        (each * (number + 1) if place == 0 else 0, one)
        for number, session in enumerate(classes)
        for place, one in enumerate(session)
    ]


class Visits(mixes.Mixes):
    def test_each_session_connects_prepares_what_it_does_and_leaves(self):
        steps = sessions([[0, 1], [1, 1], [0, 0]])
        mix = self.mix(["get", "write put"], 1, steps, session=2)
        prepared: list[str] = []
        prepare = mixes.ToySession.prepare

        def noted(session: mixes.ToySession, sql: str) -> Any:
            prepared.append(sql)
            return prepare(session, sql)

        noting = mock.patch.object(mixes.ToySession, "prepare", noted)
        with noting, mock.patch.object(recorder, "text_of", list):
            reported, lines = self.done(mix, sessions=3)
        self.assertEqual(prepared, ["get %s", "put %s", "put %s", "get %s"])
        puts = [["begin write", f"put %s ({place},)", "commit"] for place in (1, 2, 3)]
        gets = [f"get %s ({place},)" for place in (0, 4, 5)]
        self.assertEqual(lines, ["aside", gets[0], *sum(puts, []), *gets[1:], "there again"])
        self.assertEqual((counts(reported), reported["operations"]), ([(3, 0, 0), (3, 0, 0), (3, 0, 0)], 6))
        get, _, connect = reported["classes"]
        self.assertEqual(connect["class"], "connect")
        # Connecting is due at a time, and so has waits; the operations after it are not.
        self.assertEqual([len(connect[part]) for part in ("response", "service", "wait", "late")], [3] * 4)
        self.assertEqual([len(get[part]) for part in ("response", "service", "wait", "late")], [3, 0, 0, 0])

    def test_sessions_are_shared_and_none_is_done_twice(self):
        mix = self.mix(["get"], 4, sessions([[0] * 4] * 25, MILLISECOND // 5), session=4)
        reported, lines = self.done(mix, sessions=25)
        self.assertEqual(counts(reported), [(100, 0, 0), (25, 0, 0)])
        self.assertEqual(len(set(lines)), 102)

    def test_who_leaves_in_the_middle_or_is_not_let_in_is_reported(self):
        for word, words in {
            "fail": "client 1: class fail: no such toy",
            "refused": "client 1: connect: cannot prepare it",
        }.items():
            with self.subTest(word), self.fails(words):
                self.done(self.mix([word], 1, sessions([[0]]), session=1), sessions=1)

    def test_steps_that_are_no_sessions_are_refused(self):
        for words, steps in {
            "there are 3 steps in sessions of 2": [(1, 0), (0, 0), (1, 0)],
            "session 1 is due at no time": [(1, 0), (0, 0)] + [(0, 0)] * 2,
        }.items():
            with self.subTest(words), self.fails(words):
                self.done(self.mix(["get"], 1, steps, session=2), sessions=0)


class Databases(mixes.Mixes):
    """Real databases, with clients of every kind."""

    def inserted(self, driver: str, files: list[list[tuple[int, int]]], wal: bool, **changes: Any) -> Any:
        """The rows that three clients insert: the sample, and the sum and the count of the rows."""
        create = self.statements("CREATE TABLE t(a INTEGER)", id="0")
        mix = self.mix(["write put"], 3, *files, patience_ns=20 * SECOND, **changes)
        mix["classes"][0]["statements"][0]["text"] = ["INSERT INTO t VALUES (", ")"]
        test = {"id": "1", "model": "mix", "check": "SELECT sum(a), count(*) FROM t"} | mix
        settings = [{"name": "journal_mode", "sql": "PRAGMA journal_mode='WAL'"}] if wal else []
        events = self.run_job(self.job(driver, [create, test], on_connect=settings))
        for file in (self.folder / "database").iterdir():
            file.unlink()
        self.assertEqual(events[-1]["event"], "bye", events[-1])
        return sample(events, "1"), answer(events, "1")

    def test_clients_come_and_go(self):
        visits = [sessions([[0] * 5] * 3)]
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy"):
            for wal in (False, True):
                with self.subTest(json.dumps([driver, wal])):
                    reported, rows = self.inserted(driver, visits, wal, session=5)
                    self.assertEqual((reported["operations"], rows), (15, [[105, 15]]))
                    # The kernel parts user time from system time by its slow tick, so that one of them may be
                    # 0 in a section this short; their sum is exact.
                    spent = reported["section"]["client"]
                    self.assertGreater(spent["user_ns"] + spent["system_ns"], 0)
