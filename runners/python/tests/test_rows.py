"""Rows into tables and back, by every driver that contains its engine."""

from .support import Place, answer, cells_of, digest_of, load, sample

WAYS = [
    "sqlite/sqlite3",
    "sqlite/apsw",
    "sqlite/sqlalchemy",
    "duckdb/python+arrow",
    "duckdb/python+appender",
    "duckdb/python+executemany",
]
# More rows than one block has, in cells of different widths.
COUNT, WIDTHS = 10_000, [8, 3, 32]


class Rows(Place):
    def scan(self, rows, differ=(0, 1)):
        one, other = (rows["columns"][place]["name"] for place in differ)
        sql = f"SELECT COUNT(1) FROM t WHERE {one} <> {other}"
        return {
            "id": "scan",
            "model": "scan",
            "table": "t",
            "columns": rows["columns"],
            "differ": list(differ),
            "sql": sql,
        }

    def test_what_is_stored_is_what_was_in_the_file(self):
        rows = self.rows(COUNT, WIDTHS)
        for way in WAYS:
            with self.subTest(way):
                events = self.run_job(self.job(way, [load("bulk-load", rows), self.scan(rows)]))
                self.assertEqual(answer(events, "bulk-load"), digest_of(rows))
                self.assertEqual(answer(events, "scan"), [[COUNT]])
                reported = sample(events, "bulk-load")
                self.assertEqual(
                    (reported["operations"], reported["rows"], reported["bytes"]), (COUNT, COUNT, COUNT * 43)
                )
                self.assertEqual(
                    (sample(events, "scan")["operations"], sample(events, "scan")["rows"]), (1, 1)
                )
                self.clear()

    def test_rows_one_by_one(self):
        rows = self.rows(700, WIDTHS)
        for way in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            with self.subTest(way):
                events = self.run_job(self.job(way, [load("insert-rows", rows, per_commit=100)]))
                self.assertEqual(answer(events, "insert-rows"), digest_of(rows))
                self.clear()

    def test_rows_that_commit_each_on_their_own(self):
        rows = self.rows(10, WIDTHS)
        for way in WAYS:
            for model in ("insert-rows", "bulk-load"):
                with self.subTest((way, model)):
                    events = self.run_job(self.job(way, [load(model, rows, per_commit=1)]))
                    self.assertEqual(answer(events, model), digest_of(rows))
                    self.clear()

    def test_one_column(self):
        rows = self.rows(5000, [5])
        for way in WAYS:
            with self.subTest(way):
                events = self.run_job(self.job(way, [load("bulk-load", rows)]))
                self.assertEqual(answer(events, "bulk-load"), digest_of(rows))
                self.clear()

    def test_what_is_not_timed_is_loaded_too(self):
        rows = self.rows(1000, WIDTHS)
        for way in WAYS:
            with self.subTest(way):
                events = self.run_job(self.job(way, [load("bulk-load", rows, timed=300, per_commit=128)]))
                self.assertEqual(answer(events, "bulk-load"), digest_of(rows))
                reported = sample(events, "bulk-load")
                self.assertEqual((reported["operations"], reported["bytes"]), (300, 300 * 43))
                self.clear()

    def test_a_scan_counts_rows_that_differ(self):
        rows = self.rows(5000, [1, 1])
        differing = sum(one != other for one, other in cells_of(rows))
        self.assertLess(differing, 5000)
        for way in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            with self.subTest(way):
                events = self.run_job(self.job(way, [load("bulk-load", rows), self.scan(rows)]))
                self.assertEqual(answer(events, "scan"), [[differing]])
                self.clear()

    def test_a_cell_that_is_not_stored_as_text_is_a_failure(self):
        rows = self.rows(10, [4])
        (self.folder / "digits").write_text("0123" * 10)
        rows["file"] = str(self.folder / "digits")
        for way in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            with self.subTest(way):
                test = load("bulk-load", rows, setup=["CREATE TABLE t(c0 INTEGER)"])
                said = self.complaint(self.job(way, [test]))
                self.assertIn("a cell of the column c0 is stored as int and not as text", said)
                self.clear()

    def test_what_cannot_be_loaded_is_reported_and_not_counted(self):
        rows = self.rows(10, [4])
        for way in ("sqlite/sqlite3", "sqlite/apsw", "sqlite/sqlalchemy", "duckdb/python"):
            with self.subTest(way):
                narrow = load("insert-rows", rows, setup=["CREATE TABLE t(c0 TEXT CHECK (length(c0) < 3))"])
                events = self.run_job(self.job(way, [narrow]))
                self.assertEqual([event["event"] for event in events], ["hello", "progress", "failed"])
                self.assertIn("constraint", events[-1]["message"].lower())
                self.clear()
                there = load("bulk-load", rows)
                there["setup"] *= 2
                self.assertIn("already exists", self.complaint(self.job(way, [there])))
                self.clear()

    def test_a_file_that_is_cut_off_is_named(self):
        rows = self.rows(10, [4])
        rows["count"] = 11
        for way in ("null/python", "sqlite/sqlite3"):
            said = self.complaint(self.job(way, [load("bulk-load", rows)]))
            self.assertIn("has 40 bytes where 11 rows of 4 bytes are promised", said)
            self.clear()

    def test_no_rows_are_fine(self):
        rows = self.rows(0, WIDTHS)
        for way in WAYS:
            with self.subTest(way):
                events = self.run_job(self.job(way, [load("bulk-load", rows)]))
                self.assertEqual(answer(events, "bulk-load"), [[0, 0, 0, 0, 0]])
                self.clear()

    def clear(self):
        for file in (self.folder / "database").iterdir():
            file.unlink()
