"""Statements and queries that a job lists, on a connection made of nothing."""

import unittest

from dyno_runner.contract import Query, Statement
from dyno_runner.drivers.listed import JobSql, OnConnect
from dyno_runner.failure import Failure, Refused


class Heard(list):
    """Remembers statements: answers with two, or refuses."""

    def run(self, sql):
        self.append(sql)
        if sql.startswith(("refuse", "lose")):
            raise ValueError(sql)
        return {"two": [("a",), ("b",)], "7": [(7,)]}.get(sql, ())

    def sql(self):
        return JobSql(self.run, ValueError, lambda error: "E1" if str(error) == "refuse" else "", str)


class Listed(unittest.TestCase):
    def test_each_row_of_a_query_can_be_a_statement(self):
        heard = Heard()
        heard.sql().execute([Statement("", "one"), Statement("", "two", each=True)])
        self.assertEqual(heard, ["one", "two", "a", "b"])

    def test_only_what_the_job_ignores_is_ignored(self):
        for code in ("E1", "*"):
            Heard().sql().execute([Statement("", "refuse", [code])])
        with self.assertRaises(Refused) as refused:
            Heard().sql().execute([Statement("do it", "refuse", ["E2"])])
        self.assertEqual((refused.exception.code, refused.exception.statement), ("E1", "do it"))
        self.assertEqual(refused.exception.message, "cannot do it: refuse")
        with self.assertRaisesRegex(Failure, "cannot do it: lose"):
            Heard().sql().execute([Statement("do it", "lose", ["*"])])

    def test_what_the_first_connection_was_refused_is_not_tried_again(self):
        settings = OnConnect([Statement("", "refuse", ["E1"]), Statement("", "fine")])
        first, second = Heard(), Heard()
        settings.apply(first.sql())
        settings.apply(second.sql())
        self.assertEqual((first, second), (["refuse", "fine"], ["fine"]))

    def test_rows_are_reported_as_they_are_and_refusals_as_such(self):
        answers = Heard().sql().read_back([Query("a", "7"), Query("b", "refuse")])
        refused = {"name": "b", "refused": {"code": "E1", "message": "refuse"}}
        self.assertEqual(answers, [{"name": "a", "rows": [[7]]}, refused])
        with self.assertRaises(Failure):
            Heard().sql().read_back([Query("a", "lose")])
        self.assertEqual(Heard().sql().first_number(["refuse", "7", "lose"]), 7)
