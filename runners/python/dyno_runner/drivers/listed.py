"""Statements and queries that the job lists, executed outside the clock. What they mean is for dyno to say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..answer import Rows
from ..contract import Query, Statement
from ..failure import Failure, Refused
from ..values import to_json

# Stands for any code.
ANY = "*"


@dataclass(frozen=True)
class JobSql:
    """Executes what the job lists by a connection."""

    # Executes a statement and returns its rows.
    run: Callable[[str], Rows]
    # The exception that it raises.
    error: type[Exception]
    # The engine's code of an error; empty for an error of the connection.
    code: Callable[[Any], str]
    # The engine's message.
    words: Callable[[Any], str]

    def execute(self, statements: list[Statement]) -> None:
        """Executes the statements of a maintenance, in order."""
        for statement in statements:
            try:
                self._execute(statement)
            except self.error as error:
                raise self._refused(statement, error, f"cannot {statement.name}") from None

    def read_back(self, queries: list[Query]) -> list[dict[str, Any]]:
        """Asks queries. What the engine refuses is reported as that; a lost connection is a failure."""
        answers = []
        for query in queries:
            answer: dict[str, Any] = {"name": query.name}
            try:
                answer["rows"] = [[to_json(value) for value in row] for row in self.run(query.query)]
            except self.error as error:
                if not self.code(error):
                    raise Failure(f"cannot read the settings back: {self.words(error)}") from None
                answer["refused"] = {"code": self.code(error), "message": self.words(error)}
            answers.append(answer)
        return answers

    def first_number(self, queries: list[str]) -> int:
        """The answer of the first of some queries that the engine does not refuse; 0 if it refuses all."""
        for query in queries:
            try:
                return int(self.run(query)[0][0])
            except self.error as error:
                if not self.code(error):
                    raise Failure(self.words(error)).within("cannot read the size of the database") from None
        return 0

    def _execute(self, statement: Statement) -> bool:
        """Executes a statement. Returns True if it was refused for a reason that the job ignores."""
        statements = [statement.sql]
        if statement.each:
            statements = [row[0] for row in self.run(statement.sql)]
        ignored = False
        for sql in statements:
            try:
                self.run(sql)
            except self.error as error:
                code = self.code(error)
                if not code or {code, ANY}.isdisjoint(statement.ignores):
                    raise
                ignored = True
        return ignored

    def _refused(self, statement: Statement, error: Exception, what: str) -> Failure:
        message = f"{what}: {self.words(error)}"
        code = self.code(error)
        return Refused(message, code, statement.name) if code else Failure(message)


class OnConnect:
    """The settings that every connection sets for itself."""

    def __init__(self, statements: list[Statement]) -> None:
        self._statements = statements

    def apply(self, sql: JobSql) -> None:
        """Sets them for a connection. What the first connection was refused is not tried again: it would cost
        each of the others an exchange that no ordinary program makes."""
        taken = []
        for statement in self._statements:
            try:
                if not sql._execute(statement):
                    taken.append(statement)
            except sql.error as error:
                raise sql._refused(statement, error, f"the setting '{statement.name}' is refused") from None
        self._statements = taken
