"""Statements, settings and failures, at the protocol's seam. `dyno conformance` checks what every runner must
do; this file checks what is specific to Python."""

import json

from .support import Place, answer, sample


class Statements(Place):
    def test_values_keep_their_kind(self):
        sql = "SELECT 1, -0.5, 'ünï', x'00ff', NULL, '', 9e999"
        for driver in ("sqlite/sqlite3", "sqlite/apsw"):
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
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "duckdb/python"):
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
        for driver in ("sqlite/sqlite3", "sqlite/apsw"):
            self.assertEqual(self.complaint(self.job(driver, [test], settings=MEMORY)), words)

    def test_counters_are_told(self):
        test = self.statements(
            "CREATE TABLE t AS SELECT range AS a FROM range(200000)", "SELECT sum(a) FROM t"
        )
        told = sample(self.run_job(self.job("duckdb/python", [test])), "1")
        spent = told["section"]["client"]
        self.assertGreater(spent["user_ns"] + spent["system_ns"], 0)
        self.assertGreater(spent["peak_memory_bytes"], 1 << 20)
        self.assertGreater(told["section"]["nanoseconds"], 0)


MEMORY = [{"name": "database", "value": ":memory:"}]


class Settings(Place):
    def in_force(self, driver, **asked):
        settings = [{"name": name, "value": value} for name, value in asked.items()]
        hello = self.run_job(self.job(driver, [], settings=settings))[0]
        self.assertEqual(hello["event"], "hello", hello)
        return {setting["name"]: setting["value"] for setting in hello["settings"]}

    def test_sqlites_are_told_by_their_names(self):
        for driver in ("sqlite/sqlite3", "sqlite/apsw"):
            found = self.in_force(driver, synchronous="3", journal_mode="wal", page_size="8192")
            told = [found[name] for name in ("synchronous", "journal_mode", "page_size", "database")]
            self.assertEqual(told, ["EXTRA", "wal", "8192", "file"])
            self.assertEqual(self.in_force(driver, database="temporary")["database"], "temporary")

    def test_duckdbs_sizes_are_told_as_they_were_asked(self):
        found = self.in_force("duckdb/python", memory_limit="1GB", threads="1", fsync_mode="NONE")
        self.assertEqual((found["memory_limit"], found["threads"], found["fsync_mode"]), ("1GB", "1", "NONE"))

    def test_what_is_no_setting_is_refused(self):
        for driver in ("sqlite/sqlite3", "sqlite/apsw", "duckdb/python"):
            for name, value in (("no_such_setting", "1"), ("a b", "1"), ("database", "nowhere")):
                job = self.job(driver, [], settings=[{"name": name, "value": value}])
                self.assertIn(name, self.complaint(job))
        job = self.job("sqlite/apsw", [], settings=[{"name": "synchronous", "value": "MAYBE"}])
        self.assertIn("is one of OFF, NORMAL, FULL, EXTRA, not 'MAYBE'", self.complaint(job))


class Jobs(Place):
    def test_what_is_wrong_is_said_without_the_value(self):
        job = self.job("sqlite/apsw", [])
        self.assertIn("a value of another kind in `settings`", self.complaint(job | {"settings": "hunter2"}))
        self.assertIn("missing field `engine`", self.complaint({"protocol": 2}))
        server = {"host": "h", "user": "u", "scratch": "dyno_1", "password": ["hunter2"]}
        said = self.complaint(job | {"server": server})
        self.assertEqual(
            said, "the job on standard input cannot be read: a value of another kind in `password`"
        )
        self.assertIn("not JSON at line 1", self.run_text("nonsense")[-1]["message"])

    def test_only_a_database_of_dynos_own_is_made_and_removed(self):
        for name in ("dyno_", "production", "Dyno_x", "dyno_x;", "dyno_x y"):
            job = self.job(
                "postgres/psycopg", [], build="system", server={"host": "h", "user": "u", "scratch": name}
            )
            self.assertIn("named dyno_… only", self.complaint(job))

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
