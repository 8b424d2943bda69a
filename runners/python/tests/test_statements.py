"""Statements, settings and failures, at the protocol's seam. `dyno conformance` checks what every runner must
do; this file checks what is specific to Python."""

import json
import tempfile

from .support import Place, answer, load, sample


class Statements(Place):
    def test_values_keep_their_kind(self):
        sql = "SELECT 1, -0.5, 'ünï', x'00ff', NULL, '', 9e999"
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy"):
            events = self.run_job(self.job(driver, [self.statements(sql)]))
            self.assertEqual(answer(events, "1"), [[1, -0.5, "ünï", {"blob": "00ff"}, None, "", "inf"]])
        sql = (
            "SELECT 1, 0.5, 1e300 * 1e300, 'NaN'::DOUBLE, '\\x00\\xFF'::BLOB, DATE '2024-02-29', true, "
            "2::HUGEINT"
        )
        events = self.run_job(self.job("duckdb/python", [self.statements(sql)]))
        expected = [1, 0.5, "inf", "NaN", {"blob": "00ff"}, "2024-02-29", 1, 2]
        self.assertEqual(answer(events, "1"), [expected])

    def test_rows_changed_are_counted_and_are_no_answer(self):
        statements = ["CREATE TABLE t(a INTEGER)", "INSERT INTO t VALUES (1), (2), (3)", "UPDATE t SET a = 7"]
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            with self.subTest(driver):
                test = self.statements(
                    *statements, "DELETE FROM t WHERE a = 7", 'SELECT count(*) AS "Count" FROM t'
                )
                events = self.run_job(self.job(driver, [test], settings=MEMORY))
                self.assertEqual(answer(events, "1"), [[0]])
                self.assertEqual((sample(events, "1")["rows"], sample(events, "1")["operations"]), (10, 5))

    def test_a_statement_is_one_statement(self):
        for driver in ("sqlite/sqlite3", "duckdb/python"):
            said = self.complaint(self.job(driver, [self.statements("SELECT 1; SELECT 2")], settings=MEMORY))
            self.assertTrue(said.startswith("statement 1 of 1 (SELECT 1; SELECT 2): "), said)

    def test_errors_have_the_engines_words(self):
        test = self.statements("CREATE TABLE t(a INTEGER PRIMARY KEY)", *["INSERT INTO t VALUES (1)"] * 2)
        words = (
            "statement 3 of 3 (INSERT INTO t VALUES (1)): UNIQUE constraint failed: t.a (SQLite error 1555)"
        )
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy"):
            self.assertEqual(self.complaint(self.job(driver, [test], settings=MEMORY)), words)

    def test_counters_are_reported(self):
        test = self.statements(
            "CREATE TABLE t AS SELECT range AS a FROM range(200000)", "SELECT sum(a) FROM t"
        )
        reported = sample(self.run_job(self.job("duckdb/python", [test])), "1")
        spent = reported["section"]["client"]
        self.assertGreater(spent["user_ns"] + spent["system_ns"], 0)
        self.assertGreater(spent["peak_memory_bytes"], 1 << 20)
        self.assertGreater(reported["section"]["nanoseconds"], 0)


MEMORY = [{"name": "database", "value": ":memory:"}]


class Settings(Place):
    def read_back(self, driver, on_connect, queries):
        """The answers of queries after statements that the connection executes first."""
        on_connect = [{"name": "it", "sql": sql} for sql in on_connect]
        queries = [{"name": query, "query": query} for query in queries]
        hello = self.run_job(self.job(driver, [], on_connect=on_connect, read_back=queries))[0]
        self.assertEqual(hello["event"], "hello", hello)
        return [answer.get("rows") or answer["refused"]["message"] for answer in hello["read_back"]]

    def test_sqlite_executes_and_answers_what_the_job_lists(self):
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy"):
            on_connect = ["PRAGMA page_size='8192'", "PRAGMA synchronous='3'"]
            found = self.read_back(driver, on_connect, ["PRAGMA page_size", "PRAGMA synchronous", "SELEC"])
            self.assertEqual(found[:2], [[[8192]], [[3]]])
            self.assertIn("syntax error (SQLite error 1)", found[2])

    def test_duckdb_executes_and_answers_what_the_job_lists(self):
        query = "SELECT current_setting('threads')::VARCHAR"
        self.assertEqual(self.read_back("duckdb/python", ["SET threads = '1'"], [query]), [[["1"]]])

    def test_a_statement_that_is_refused_is_named(self):
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            job = self.job(driver, [], on_connect=[{"name": "no_such_setting", "sql": "SELEC"}])
            failed = self.run_job(job)[-1]
            self.assertIn("the setting 'no_such_setting' is refused: ", failed["message"])
            self.assertEqual(failed["statement"], "no_such_setting")
            job = self.job(driver, [], settings=[{"name": "database", "value": "nowhere"}])
            self.assertIn("the setting 'database' is one of file, ", self.complaint(job))

    def test_what_a_job_left_is_read_by_another(self):
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            with self.subTest(driver), tempfile.TemporaryDirectory() as folder:
                rows = load("bulk-load", self.rows(500, [8, 100]))
                sql = ("CREATE TABLE u(a INTEGER)", "INSERT INTO u VALUES (1)")
                job = self.job(driver, [self.statements(*sql, check="SELECT * FROM u"), rows], directory=folder)
                before = self.run_job(job)
                again = self.run_job(job | {"answers_only": True})
                self.assertEqual(
                    [event["event"] for event in again],
                    ["hello", "progress", "answer", "progress", "answer", "bye"],
                )
                for test in ("1", "bulk-load"):
                    self.assertEqual(answer(again, test), answer(before, test))


class Jobs(Place):
    def test_what_is_wrong_is_said_without_the_value(self):
        job = self.job("sqlite/apsw", [])
        self.assertIn("a value of another kind in `settings`", self.complaint(job | {"settings": "hunter2"}))
        self.assertIn("missing field `engine`", self.complaint({"protocol": 3}))
        self.assertIn("version 2 of the contract and this runner speaks version 3", self.complaint({"protocol": 2}))
        server = {"host": "h", "user": "u", "password": ["hunter2"]}
        said = self.complaint(job | {"server": server})
        self.assertEqual(
            said, "the job on standard input cannot be read: a value of another kind in `password`"
        )
        self.assertIn("not JSON at line 1", self.run_text("nonsense")[-1]["message"])

    def test_drivers_and_ways_that_are_not_there_are_named(self):
        self.assertIn("serves null/python, sqlite/sqlite3", self.complaint(self.job("sqlite/other", [])))
        said = self.complaint(self.job("duckdb/python+teleport", []))
        self.assertIn("has no way of working 'teleport'; it has arrow, appender, executemany", said)
        said = self.complaint(self.job("sqlite/apsw", [], build="system"))
        self.assertIn("name the contender sqlite/apsw", said)

    def test_a_package_that_is_missing_takes_only_its_driver_down(self):
        # Without the folder of packages.
        for driver, package in (("sqlite/apsw", "apsw"), ("duckdb/python", "duckdb")):
            said = self.run_text(json.dumps(self.job(driver, [])), "-S")[-1]["message"]
            self.assertIn(f"the Python package {package} cannot be used (No module named '{package}')", said)
            self.assertIn("make build-python", said)
        events = self.run_text(json.dumps(self.job("sqlite/sqlite3", [])), "-S")
        self.assertEqual([event["event"] for event in events], ["hello", "bye"])

    def test_a_library_that_is_none_is_named(self):
        file = self.folder / "text.so"
        file.write_text("no library")
        said = self.complaint(self.job("sqlite/sqlite3", [], build={"path": str(file)}))
        self.assertIn("text.so as SQLite", said)
        said = self.complaint(self.job("sqlite/sqlite3", [], build={"path": str(self.folder)}))
        self.assertIn("holds libsqlite3.so.0 or libsqlite3.so", said)
