"""The end of a trial: the database closed, opened again and read once more."""

import tempfile
import unittest
from pathlib import Path

from dyno_runner.again import lasting
from dyno_runner.contract import Test

from .support import Place, load

FILES = ("sqlite/sqlite3", "sqlite/apsw", "duckdb/python")


def test(model: str, table: str | None = None, check: str | None = None) -> Test:
    return Test("1", model, [], check, {"table": table} if table else {})


class WhichTests(unittest.TestCase):
    """Those whose answers must last."""

    def test_the_last_that_loaded_a_table_counts(self):
        tests = [test("bulk-load", "a"), test("insert-rows", "b"), test("import-file", "a"), test("scan")]
        self.assertEqual(lasting(tests), {1, 2})

    def test_statements_may_have_changed_whatever_was_before(self):
        check = "SELECT 1"
        self.assertEqual(lasting([test("bulk-load", "a"), test("statements", check=check)]), {1})
        self.assertEqual(lasting([test("statements", check=check), test("statements")]), set())
        self.assertEqual(lasting([test("mix", check=check), test("bulk-load", "a")]), {1})


class End(Place):
    """The end of real trials."""

    def test_what_is_in_the_files_is_found_again(self):
        for driver in FILES:
            rows = self.rows(500, [8, 100])
            made = self.statements("CREATE TABLE u(a INTEGER)", "INSERT INTO u VALUES (1)", check="SELECT * FROM u", id="2")
            for tests in ([load("bulk-load", rows)], [made]):
                with self.subTest(driver=driver, model=tests[0]["model"]), tempfile.TemporaryDirectory() as folder:
                    changes = {"directory": str(Path(folder)), "read_again": True}
                    events = self.run_job(self.job(driver, tests, **changes))
                    self.assertEqual(events[-1]["event"], "bye", events[-1])

    def test_what_ends_with_the_connection_is_missed(self):
        for driver in FILES:
            with self.subTest(driver):
                sql = ("CREATE TEMP TABLE gone(a INTEGER)", "INSERT INTO gone VALUES (1)")
                tests = [self.statements(*sql, check="SELECT * FROM gone", id="7")]
                message = self.complaint(self.job(driver, tests, read_again=True))
                self.assertIn("test 7, after the database was opened again", message)
                self.assertIn("gone", message)
                for file in (self.folder / "database").iterdir():
                    file.unlink()

    def test_what_is_another_is_told(self):
        # What a connection alone has changed.
        sql = ("CREATE TABLE t(a)", "INSERT INTO t VALUES (1), (2)")
        tests = [self.statements(*sql, check="SELECT total_changes()", id="7")]
        message = self.complaint(self.job("sqlite/sqlite3", tests, read_again=True))
        self.assertIn("what test 7 had left is not there: [2] was read before and [0] now", message)

    def test_a_database_in_memory_is_only_closed(self):
        for driver in FILES:
            with self.subTest(driver):
                tests = [self.statements("CREATE TABLE t(a INTEGER)", check="SELECT * FROM t")]
                settings = [{"name": "database", "value": ":memory:"}]
                self.run_job(self.job(driver, tests, settings=settings, read_again=True))
