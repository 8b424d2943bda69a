"""Files of records into tables, by every driver whose engine reads them."""

import random
import zlib

from .support import Place, answer, sample

FIELDS = [("Route", "text"), ("Stop", "integer"), ("Note", "text")]
# More than the engine reads at once by one thread.
COUNT = 30_000
CREATE = "CREATE TABLE t(id INTEGER DEFAULT 7, Route TEXT, Stop INTEGER, Note TEXT)"
NOTES = ["", "NULL", '"', "a,b", "it's", " x ", "naïve", "1e3"]


def records_of(count):
    seeded = random.Random(7)
    return [
        (f"{place % 97}A", str(seeded.randrange(-(2**31), 2**31)), NOTES[place % len(NOTES)])
        for place in range(count)
    ]


def digest_of(records):
    """The digest of the columns that the file fills, field by field."""
    sums = [sum(zlib.crc32(record[place].encode()) for record in records) for place in range(len(FIELDS))]
    return [[len(records), *sums, sum(zlib.crc32("".join(record).encode()) for record in records)]]


class Records(Place):
    def work(self, records, delimiter="\t", **changes):
        file = self.folder / "records"
        text = "".join(delimiter.join(record) + "\n" for record in records)
        file.write_text(text)
        return {
            "id": "import",
            "model": "import-file",
            "setup": [CREATE],
            "table": "t",
            "columns": [{"name": name, "kind": kind} for name, kind in FIELDS],
            "file": str(file),
            "bytes": len(text.encode()),
            "records": len(records),
            "delimiter": delimiter,
        } | changes

    def events(self, work, **changes):
        return self.run_job(self.job("duckdb/python+csv", [work], **changes))

    def test_what_is_stored_is_what_was_in_the_file(self):
        records = records_of(COUNT)
        for delimiter in ("\t", "|"):
            work = self.work(records, delimiter, after=["CREATE INDEX i ON t(Stop)"])
            events = self.events(work)
            self.assertEqual(answer(events, "import"), digest_of(records), events[-1])
            reported = sample(events, "import")
            self.assertEqual((reported["operations"], reported["rows"], reported["bytes"]), (COUNT, COUNT, work["bytes"]))
            self.clear()

    def test_what_is_not_timed_is_imported_too(self):
        records = records_of(1000)
        work = self.work(records, timed=300, per_commit=128)
        events = self.events(work)
        self.assertEqual(answer(events, "import"), digest_of(records), events[-1])
        reported = sample(events, "import")
        beginning = "".join("\t".join(record) + "\n" for record in records[:300])
        self.assertEqual((reported["operations"], reported["bytes"]), (300, len(beginning.encode())))

    def test_a_file_that_is_cut_off_is_named(self):
        for wrong in ({"records": 11}, {"records": 9}, {"bytes": 9}):
            said = self.complaint(self.job("duckdb/python+csv", [self.work(records_of(10)) | wrong]))
            self.assertIn("are promised: it is cut off", said)
            self.clear()

    def test_a_record_of_another_shape_is_reported(self):
        for wrong in (("1A", "2"), ("1A", "two", "")):
            said = self.complaint(self.job("duckdb/python+csv", [self.work([*records_of(10), wrong])]))
            self.assertIn("Line: 11", said)
            self.clear()

    def test_a_statement_around_the_import_that_fails_is_named(self):
        for place, words in (("before", "before the first record"), ("after", "after the last record")):
            work = self.work(records_of(10)) | {place: ["CREATE INDEX i ON nowhere(a)"]}
            said = self.complaint(self.job("duckdb/python+csv", [work]))
            self.assertTrue(said.startswith(f"{words} (CREATE INDEX i ON nowhere(a)): "), said)
            self.clear()

    def clear(self):
        for file in (self.folder / "database").iterdir():
            file.unlink()
