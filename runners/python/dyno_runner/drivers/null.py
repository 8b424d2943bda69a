"""The null driver: it does nothing, and so measures the cost of dyno itself in Python.

It converts the input to what drivers take, `str` and tuples of them, because that conversion is the part of
every other figure that is neither driver nor engine.
"""

from collections import deque
from collections.abc import Iterator

from .. import VERSION
from ..answer import Answer, Rows
from ..contract import Job
from ..driver import Driver, Hello
from ..failure import Failure
from ..inputs import Column, Load, Statements
from ..mix.session import Execute, Session


class Null(Driver):
    """A driver without an engine."""

    @classmethod
    def open(cls, job: Job) -> tuple[Driver, Hello]:
        if job.build != "bundled":
            raise Failure("the null engine has no build other than its own")
        for setting in job.settings:
            raise Failure(f"the null engine has no setting '{setting.name}': it has none")
        return cls(), Hello(VERSION, VERSION, [])

    def statements(self, statements: Statements, start: int, stop: int, answer: Answer) -> None:
        for place, _ in enumerate(statements.texts(start, stop), start):
            pass

    def query(self, sql: str) -> Rows:
        return []

    def insert_rows(self, load: Load) -> None:
        for transaction in load.ranges():
            for start, stop in load.turns.parts(*transaction):
                for place, _ in enumerate(load.file.tuples(start, stop), start):
                    pass

    def bulk_load(self, load: Load) -> None:
        for transaction in load.transactions():
            for start, stop in load.turns.parts(*transaction):
                deque(load.file.tuples(start, stop), maxlen=0)

    def scan(self, sql: str, answer: Answer) -> None:
        pass

    def blocks(self, table: str, columns: list[Column]) -> Iterator[Rows]:
        return iter(())

    def session(self, place: int) -> Session:
        return NullSession()

    def visit(self) -> Session:
        return NullSession()


class NullSession(Session):
    """A client without an engine. It gets the values of each statement's parameters."""

    errors = Failure
    stores_rows = False

    def prepare(self, sql: str) -> Execute:
        return lambda values: ()

    simple = prepare

    def begin_read(self) -> None:
        pass

    begin_write = commit = rollback = begin_read
