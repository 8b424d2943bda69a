"""The parts that can be wrong independently of an engine."""

import asyncio
import io
import json
import os
import ssl
import tempfile
import threading
import time
import unittest
import zlib
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from dyno_runner.contract import Server, Statement
from dyno_runner.counters import Counters, number_after, wait_of
from dyno_runner.digest import TableDigest
from dyno_runner.drivers.listed import JobSql
from dyno_runner.drivers.mysql.errors import code_of, words_of
from dyno_runner.drivers.mysql.options import parse
from dyno_runner.drivers.mysql.pymysql import PyMySqlAccess, PyMySqlSession
from dyno_runner.drivers.mysql.server import MANY
from dyno_runner.drivers.mysql.server import MySql as MySqlDriver
from dyno_runner.drivers.mysql.stream import feed
from dyno_runner.drivers.spelling import MARK, numbered
from dyno_runner.drivers.sql import Sql
from dyno_runner.events import CHARACTERS, Closed, Events
from dyno_runner.failure import Failure
from dyno_runner.gauge import Gauge
from dyno_runner.inputs import Load, RowFile
from dyno_runner.trial import folder_bytes
from dyno_runner.values import to_json

from .support import PROGRAMS, Place, cells_of


class Sizes(unittest.TestCase):
    def test_holes_are_no_part_of_a_database(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "below"))
            Path(folder, "below", "short").write_bytes(b"12345")
            sparse = Path(folder, "sparse")
            sparse.write_bytes(b"7" * 4096)
            os.truncate(sparse, 1 << 30)
            # A file system may give a file more blocks than were written, but not a gigabyte.
            self.assertTrue(4096 + 5 <= folder_bytes(Path(folder)) < 1 << 20)


class Values(unittest.TestCase):
    def test_numbers_of_any_type_are_numbers(self):
        given = [
            Decimal("7"),
            Decimal("7.50"),
            Decimal("NaN"),
            float("-inf"),
            True,
            2**70,
            bytearray(b"\x01"),
        ]
        self.assertEqual(list(map(to_json, given)), [7, 7.5, "NaN", "-inf", 1, 2**70, {"blob": "01"}])


class Answers(unittest.TestCase):
    def pieces(self, rows):
        out = io.BytesIO()
        Events(out).send_answer("3", rows)
        return [len(json.loads(line)["rows"]) for line in out.getvalue().splitlines()]

    def test_a_long_answer_comes_in_pieces(self):
        self.assertEqual(self.pieces([(number,) for number in range(2500)]), [1000, 1000, 500])
        self.assertEqual(self.pieces([("x" * (CHARACTERS // 2 + 1),)] * 5), [2, 2, 1])
        self.assertEqual(self.pieces([]), [])

    def test_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb", buffering=0) as out, self.assertRaises(Closed):
            Events(out).send("bye")


class Inputs(Place):
    def test_blocks_are_the_rows(self):
        rows = self.rows(9001, [8, 3, 32])
        file, cells = RowFile(rows), cells_of(rows)
        # A range that begins and ends within blocks.
        texts = [tuple(cell.decode() for cell in row) for row in cells[5:8000]]
        self.assertEqual(list(file.tuples(5, 8000)), texts)
        self.assertEqual(
            b"".join(file.lines(5, 8000)), b"".join(b"\t".join(row) + b"\n" for row in cells[5:8000])
        )
        self.assertEqual(list(file.row(77)), cells[77])

    def test_arrow_sees_every_row(self):
        from dyno_runner.drivers.duckdb import arrow

        rows = self.rows(1000, [8, 3, 32])
        batches = arrow.Batches(RowFile(rows))
        batches._size = 128
        seen = [row["row"] for row in batches.reader(10, 990).read_all().to_pylist()]
        self.assertEqual(seen, [[cell.decode() for cell in row] for row in cells_of(rows)[10:990]])


class Hearing(Sql):
    """A driver that lists what is sent to its engine."""

    _error = ValueError

    def __init__(self):
        self.sent = []
        self._insert_row = lambda sql, row: self.sent.append(row[0])

    def _run(self, sql):
        self.sent.append(sql)
        return ()

    def blocks_of(self, load, each):
        """Loads transactions by statements of up to `each` rows."""
        for start, stop in self._transactions(load, each):
            self.sent.append(f"{start}-{stop}")


class Transactions(Place):
    def sent(self, per_commit, each=None):
        rows = self.rows(5, [1])
        Path(rows["file"]).write_text("abcde")
        load, hearing = Load("t", RowFile(rows), 0, 5, per_commit), Hearing()
        if each is None:
            hearing.insert_rows(load)
        else:
            hearing.blocks_of(load, each)
        return " ".join(hearing.sent)

    def test_rows_that_commit_each_on_their_own_have_no_begin_and_commit_around_them(self):
        self.assertEqual(self.sent(1), "a b c d e")
        self.assertEqual(self.sent(2), "BEGIN a b COMMIT BEGIN c d COMMIT BEGIN e COMMIT")
        self.assertEqual(self.sent(None), "BEGIN a b c d e COMMIT")

    def test_a_transaction_of_one_statement_is_not_begun(self):
        self.assertEqual(self.sent(1, each=1), "0-1 1-2 2-3 3-4 4-5")
        self.assertEqual(self.sent(2, each=2), "0-2 2-4 4-5")
        self.assertEqual(self.sent(3, each=2), "BEGIN 0-3 COMMIT BEGIN 3-5 COMMIT")
        self.assertEqual(self.sent(1000, each=5), "0-5")
        self.assertEqual(self.sent(None, each=4), "BEGIN 0-5 COMMIT")


class Digests(unittest.TestCase):
    def digest(self, *rows):
        digest = TableDigest({"one": "text", "two": "text"}, ["a", "z"])
        digest.add(rows)
        return digest.answer()

    def test_the_order_of_rows_does_not_matter_and_everything_else_does(self):
        right = self.digest(("a", "b"), ("c", "d"))
        self.assertEqual(right, self.digest(("c", "d"), ("a", "b")))
        self.assertEqual(right[1:], [("a", "b"), [None]])
        self.assertEqual(
            right[0],
            [2, *(zlib.crc32(x) + zlib.crc32(y) for x, y in ((b"a", b"c"), (b"b", b"d"), (b"ab", b"cd")))],
        )
        for wrong in (
            self.digest(("a", "d"), ("c", "b")),
            self.digest(("b", "a"), ("d", "c")),
            self.digest(("a", "b")),
        ):
            self.assertNotEqual(right, wrong)

    def test_what_is_no_text_is_named(self):
        with self.assertRaisesRegex(Failure, "column two is stored as bytes"):
            self.digest(("a", "b"), ("c", b"d"))
        with self.assertRaisesRegex(Failure, "has 1 columns and not 2"):
            self.digest(("a",))


class Kernel(unittest.TestCase):
    def test_fields_are_found_at_the_beginning_of_a_line(self):
        text = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 512\ncancelled_write_bytes: 7\n"
        self.assertEqual((number_after(text, "write_bytes:"), number_after(text, "nothing:")), (512, 0))
        self.assertEqual(
            (number_after("VmHWM:\t    2048 kB\n", "VmHWM:"), wait_of("5 112408 6\n")), (2048, 112_408)
        )

    def test_work_shows_in_the_counters(self):
        counters = Counters()
        before = counters.before()
        memory = b"x" * (64 << 20)
        end = time.monotonic() + 0.03
        while time.monotonic() < end:
            pass
        after = counters.after()
        self.assertGreater(after.user_ns + after.system_ns, before.user_ns + before.system_ns)
        self.assertGreaterEqual(counters.peak_bytes(), len(memory))

    def test_work_shows_in_the_cost_of_a_server(self):
        # This process stands in for a server.
        gauge = Gauge([os.getpid()], PROGRAMS)
        gauge.before()
        memory = b"x" * (64 << 20)
        end = time.monotonic() + 0.03
        while time.monotonic() < end:
            pass
        cost = gauge.after()
        self.assertGreater(cost["user_ns"] + cost["system_ns"], 0)
        self.assertGreaterEqual(cost["peak_memory_bytes"], len(memory))

    def test_a_library_that_is_missing_comes_with_the_command_that_builds_it(self):
        with self.assertRaisesRegex(Failure, "cargo build --release -p dyno-gauge"):
            Gauge([1], Path("/nowhere"))


class Spelling(unittest.TestCase):
    def test_parameters_get_names_by_their_numbers(self):
        self.assertEqual(numbered(f"a {MARK}, {MARK}::int", "${}".format), "a $1, $2::int")
        self.assertEqual(numbered("none", "${}".format), "none")


class EventLoops(unittest.TestCase):
    def test_calls_wait_at_once_and_each_gets_its_own_result_or_error(self):
        from dyno_runner.drivers.eventloop import EventLoop

        loop, lines = EventLoop(), []
        self.addCleanup(loop.close)

        async def slow(value):
            await asyncio.sleep(0.02)
            return 6 / value

        def call(value):
            lines.append(f"begin {value}")
            try:
                lines.append(loop.wait_for(slow(value)))
            except ZeroDivisionError:
                lines.append("division")
            loop.sleep(0.001 * value)
            lines.append(f"end {value}")

        loop.at_once([partial(call, value) for value in (3, 0)])
        self.assertEqual(lines[:2], ["begin 3", "begin 0"])
        self.assertEqual(set(lines[2:]), {2, "division", "end 3", "end 0"})
        self.assertEqual(loop.wait_for(slow(2)), 3)

    def test_clients_wake_in_the_order_of_their_moments_and_none_early(self):
        from dyno_runner.drivers.eventloop import EventLoop

        loop, order, early = EventLoop(), [], []
        self.addCleanup(loop.close)
        # Long enough that all of them sleep before the first of the moments.
        began = time.monotonic_ns() + 150_000_000

        def sleep_until(moment):
            if (left := moment - time.monotonic_ns()) > 0:
                loop.sleep(left / 1e9)
            early.append(time.monotonic_ns() < moment)

        def call(milliseconds):
            sleep_until(began + milliseconds * 1_000_000)
            order.append(milliseconds)
            # Once more, after the timer has ended.
            sleep_until(time.monotonic_ns() + 2_000_000)

        # The first is not the one that waits shortest.
        loop.at_once([partial(call, milliseconds) for milliseconds in (25, 5, 15, 10, 20)])
        self.assertEqual(order, [5, 10, 15, 20, 25])
        self.assertEqual(early, [False] * 10)


class Postgres(unittest.TestCase):
    def test_a_job_without_a_mode_of_encryption_asks_for_plain_text(self):
        from dyno_runner.drivers.postgres.asyncpg import AsyncPgAccess
        from dyno_runner.drivers.postgres.psycopg import _options

        for given, mode in (({}, "disable"), ({"sslmode": "prefer"}, "prefer")):
            server = Server(host="h", port=None, user="u", password=None, database=None, options=given)
            self.assertEqual(_options(server, "d")["sslmode"], mode)
            job = SimpleNamespace(build="system", reached=lambda: server)
            self.assertIn(f"sslmode={mode}", AsyncPgAccess(job)._address)

    def test_psycopg_prepares_the_statements_of_a_mix_and_not_what_begins_and_ends_transactions(self):
        from dyno_runner.drivers.postgres.psycopg import PsycopgSession

        cursor = mock.Mock()
        session = PsycopgSession(SimpleNamespace(cursor=lambda: cursor), None)
        session.begin_write()
        session.prepare("SELECT %s")((1,))
        session.commit()
        self.assertEqual(
            cursor.execute.mock_calls,
            [
                mock.call("BEGIN", prepare=False),
                mock.call("SELECT %s", (1,), prepare=True),
                mock.call("COMMIT", prepare=False),
            ],
        )


class MySql(unittest.TestCase):
    def test_options_are_named_as_mysqls_programs_name_them(self):
        self.assertEqual(parse({"connect-timeout": "3"}, "it").patience, 3)
        self.assertEqual(parse({"ssl-mode": "verify-identity"}, "it").mode, "VERIFY_IDENTITY")
        self.assertEqual(parse({"ssl_ca": "ca.pem"}, "it").mode, "VERIFY_CA")
        self.assertEqual(parse({"ssl-cert": "me.pem"}, "it").mode, "REQUIRED")
        self.assertEqual(parse({}, "it").mode, "DISABLED")
        for name, value in (("sslmode", "require"), ("ssl-mode", "maybe"), ("connect-timeout", "soon")):
            with self.assertRaisesRegex(Failure, name):
                parse({name: value}, "it")

    def keywords(self, access, **options):
        """What a driver makes of the options of a URL."""
        return access.keywords(None, parse(options, "it"))

    def test_pymysql_waits_as_long_as_the_url_says(self):
        waits = {"3": 3, "0": 31_536_000, "99999999": 31_536_000}
        for seconds, patience in waits.items():
            keywords = self.keywords(PyMySqlAccess, connect_timeout=seconds)
            self.assertEqual(keywords["connect_timeout"], patience)

    def test_pymysql_keeps_demands_for_encryption(self):
        self.assertTrue(self.keywords(PyMySqlAccess, ssl_mode="DISABLED")["ssl_disabled"])
        self.assertNotIn("ssl", self.keywords(PyMySqlAccess, ssl_mode="PREFERRED"))
        identity = self.keywords(PyMySqlAccess, ssl_mode="verify-identity")["ssl"]
        self.assertTrue(identity.check_hostname)
        self.assertEqual(identity.verify_mode, ssl.CERT_REQUIRED)
        for mode, verify in (("VERIFY_CA", ssl.CERT_REQUIRED), ("REQUIRED", ssl.CERT_NONE)):
            self.assertEqual(self.keywords(PyMySqlAccess, ssl_mode=mode)["ssl"].verify_mode, verify)
        with self.assertRaisesRegex(Failure, "ssl-ca"):
            self.keywords(PyMySqlAccess, ssl_ca="/nowhere/x.pem")

    def test_mysqlclient_keeps_demands_for_encryption_or_refuses_them(self):
        try:
            from dyno_runner.drivers.mysql.mysqlclient import MySqlClientAccess as access
        except ImportError as error:
            self.skipTest(f"it is compiled where libmariadb-dev is: {error}")
        verified = self.keywords(access, ssl_mode="VERIFY_CA", ssl_ca="ca.pem")
        self.assertEqual((verified["ssl_mode"], verified["ssl"]), ("VERIFY_CA", {"ca": "ca.pem"}))
        self.assertEqual(self.keywords(access, ssl_mode="DISABLED")["ssl_mode"], "DISABLED")
        self.assertEqual(self.keywords(access)["ssl_mode"], "DISABLED")
        for mode in ("REQUIRED", "PREFERRED"):
            with self.assertRaisesRegex(Failure, f"ssl-mode={mode}"):
                self.keywords(access, ssl_mode=mode)
        # No server is sent a file.
        self.assertEqual(self.keywords(access)["local_infile"], 0)

    def codes(self, session, error):
        """The codes by which a suite may name an error."""
        return session.codes(None, error)

    def test_an_error_is_named_by_its_number_and_by_its_sqlstate(self):
        import pymysql

        error = pymysql.IntegrityError(1062, "Duplicate entry", sqlstate="23000")
        self.assertEqual(self.codes(PyMySqlSession, error), ["1062", "23000"])
        # An error of the connection has none.
        self.assertEqual(self.codes(PyMySqlSession, pymysql.OperationalError(2013, "lost")), [])

        def refuse(sql):
            raise error

        # What a job lists is ignored by the number alone.
        sql = JobSql(refuse, pymysql.Error, code_of, words_of)
        for code in ("1062", "*"):
            sql.execute([Statement("", "INSERT", [code])])
        for code in ("1205", "23000"):
            with self.assertRaisesRegex(Failure, "cannot do it: Duplicate entry"):
                sql.execute([Statement("do it", "INSERT", [code])])

    def test_mysqlclients_errors_have_the_sqlstate_of_their_connection(self):
        try:
            import MySQLdb
            from dyno_runner.drivers.mysql.mysqlclient import MySqlClientSession
        except ImportError as error:
            self.skipTest(f"it is compiled where libmariadb-dev is: {error}")
        states = ["23000"]
        cursor = mock.Mock()
        cursor.connection.sqlstate = lambda: states[-1]
        cursor.execute.side_effect = lambda sql: states.append("00000")
        session = MySqlClientSession(SimpleNamespace(cursor=lambda: cursor), None)
        error = MySQLdb.IntegrityError(1062, "Duplicate entry")
        self.assertEqual(session.codes(error), ["1062", "23000"])
        # The connection forgets it with the next command.
        session.rollback()
        self.assertEqual(session.codes(error), ["1062", "23000"])
        self.assertEqual(session.codes(MySQLdb.OperationalError(2013, "lost")), [])

    def test_transactions_of_one_statement_of_many_rows_are_found_by_its_length(self):
        def together(most):
            load = SimpleNamespace(file=SimpleNamespace(width=6), columns=["a", "b"])
            driver = SimpleNamespace(_cursor=SimpleNamespace(max_stmt_length=most))
            return MySqlDriver._together(driver, load, "INSERT INTO t VALUES (%s, %s)")

        # 29 bytes, and for each row 15: ('abc', 'def') and a comma.
        self.assertEqual([together(most) for most in (10, 88, 89, 10**9)], [1, 3, 4, MANY])

    def test_a_pipe_is_a_file_to_whoever_reads_it(self):
        blocks = [bytes([65 + number % 26]) * 70_000 for number in range(40)]
        read = []

        def load(name):
            with open(name, "rb") as file:
                read.append(file.read())

        feed(iter(blocks), load)
        self.assertEqual(read, [b"".join(blocks)])

    def test_a_pipe_that_nobody_reads_stops_its_writer(self):
        before = threading.active_count()
        with self.assertRaises(ZeroDivisionError):
            feed(iter([b"x" * (4 << 20)]), lambda name: 1 // 0)
        self.assertEqual(threading.active_count(), before)
