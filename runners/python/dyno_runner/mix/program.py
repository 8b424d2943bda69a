"""One try of an operation: the order of its statements, and the values of their parameters.

A class of statements that depend on nothing but the step becomes a function without a loop over parts, as a
program written for that purpose would have it.
"""

import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from .session import Execute, Session
from .timing import Timing
from .work import WRITE, Class, Item, Loop, Row, Statement, Value, Work

# One try of an operation, with a step. It returns None if it is done, UNDONE if it was rolled back as
# planned, or the position of the statement that returned no row where there must be one.
Operation = Callable[[Any], int | None]
UNDONE = -1
# The result of an operation that met an error which the suite ignores.
IGNORED = -3

# Returns the values of a statement's parameters, given a step, whose fields come after two numbers, the rows
# that are kept by statement, the position of the current item's first field, and the loop's statement and
# row.
Get = Callable[[Any, list[Any], int, int, int], tuple[Any, ...]]


def operation(
    session: Session,
    work: Work,
    one: Class,
    timing: Timing | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Operation:
    """Compiles a class's operations to a function that tries one of them, and times its statements if it is
    to. Its pauses `sleep`."""
    prepare = session.simple if one.is_simple else session.prepare
    runs = [prepare(each.sql(session.parameter)) for each in one.statements]
    if timing is not None:
        runs = [timing.timed(place, run) for place, run in enumerate(runs, timing.first)]
    body = _program(session, work, one, runs, sleep)
    if not one.loops and not one.pauses and all(each.keeps is None for each in one.statements):
        body = _plain(one, runs)
    if one.rollback_if is not None:
        body = _undone(body, 2 + one.rollback_if)
    if one.transaction is not None:
        body = _transaction(session, one, body, timing)
    return body if timing is None else timing.operation(body, UNDONE)


def _plain(one: Class, runs: list[Execute]) -> Operation:
    """Every statement once, with values of the step."""
    statements = [(run, _fields(each.parameters)) for run, each in zip(runs, one.statements)]
    if len(statements) == 1:
        run, get = statements[0]

        def alone(step: Any) -> None:
            run(get(step))

        return alone

    def all_of_them(step: Any) -> None:
        for run, get in statements:
            run(get(step))

    return all_of_them


def _fields(parameters: list[int]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns the values of fields of a step."""
    places = [2 + field for field in parameters]
    match places:
        case []:
            return lambda step: ()
        case [place]:
            return lambda step: (step[place],)
        case _:
            return itemgetter(*places)


def _program(
    session: Session, work: Work, one: Class, runs: list[Execute], sleep: Callable[[float], None]
) -> Operation:
    """The statements with the rows that they keep, some of them repeated."""
    count, keeps = len(runs), session.stores_rows
    statements = [_statement(place, run, each) for place, (run, each) in enumerate(zip(runs, one.statements))]
    parts: list[tuple[Loop | None, list[Any]]] = []
    place = 0
    for loop in one.loops:
        parts.append((None, _paused(one, statements, place, loop.first, sleep)))
        parts.append((loop, statements[loop.first : loop.end]))
        place = loop.end
    parts.append((None, _paused(one, statements, place, count, sleep)))

    def program(step: Any) -> int | None:
        # Pauses stand behind the statements, and keep nothing.
        kept: list[Any] = [()] * (count + 1)
        for loop, part in parts:
            for item, of, row in ((0, -1, 0),) if loop is None else _turns(work, loop, step, kept):
                for place, run, get, needs, shape in part:
                    if keeps and needs and not all(kept[need] for need in needs):
                        # Its row may be missing, and so may those that come of it.
                        kept[place] = ()
                        continue
                    rows = run(get(step, kept, item, of, row))
                    if shape is not None:
                        kept[place] = rows
                        if not rows and not shape.may_miss and keeps:
                            return place
        return None

    return program


def _paused(
    one: Class, statements: list[Any], first: int, end: int, sleep: Callable[[float], None]
) -> list[Any]:
    """Statements that are done once, with the pauses before each of them and before what follows."""
    parts = []
    for place in range(first, end + 1):
        parts += [
            _pause(len(statements), seconds, sleep) for before, seconds in one.pauses if before == place
        ]
        parts += statements[place : min(place + 1, end)]
    return parts


def _pause(place: int, seconds: float, sleep: Callable[[float], None]) -> tuple[Any, ...]:
    """A pause as a statement that takes nothing and keeps nothing."""
    return place, lambda values: sleep(seconds), lambda *step: (), [], None


def _turns(work: Work, loop: Loop, step: Any, kept: list[Any]) -> list[tuple[int, int, int]]:
    """For each turn of a loop the position of the item in the step, or the statement and the row."""
    if loop.rows is not None:
        return [(0, loop.rows, row) for row in range(len(kept[loop.rows]))]
    over = work.lists[loop.list]
    return [(2 + over.first + turn * over.columns, -1, 0) for turn in range(step[2 + over.count])]


def _statement(place: int, run: Execute, one: Statement) -> tuple[Any, ...]:
    """A statement with its parameters, the earlier statements without whose rows it is left out, and the rows
    that it keeps."""
    needs = sorted({value.statement for value in one.parameters if isinstance(value, Row)})
    return place, run, _getter(one.parameters), needs, one.keeps


def _getter(parameters: list[Value]) -> Get:
    if all(isinstance(value, int) for value in parameters):
        fields = _fields(parameters)
        return lambda step, kept, item, of, row: fields(step)
    gets = [_one(value) for value in parameters]
    return lambda step, kept, item, of, row: tuple([get(step, kept, item, of, row) for get in gets])


def _one(value: Value) -> Callable[[Any, list[Any], int, int, int], Any]:
    match value:
        case Item(column):
            return lambda step, kept, item, of, row: step[item + column]
        case Row(statement, column):

            def column_of(step: Any, kept: list[Any], item: int, of: int, row: int) -> Any:
                rows = kept[statement]
                # Only the null driver returns no rows.
                return rows[row if of == statement else 0][column] if rows else None

            return column_of
        case field:
            return lambda step, kept, item, of, row: step[2 + field]


def _undone(body: Operation, place: int) -> Operation:
    def undone(step: Any) -> int | None:
        missing = body(step)
        return UNDONE if missing is None and step[place] else missing

    return undone


def _transaction(session: Session, one: Class, body: Operation, timing: Timing | None) -> Operation:
    begin = session.begin_write if one.transaction == WRITE else session.begin_read
    commit, rollback, errors = session.commit, session.rollback, session.errors
    if timing is not None:
        begin = timing.timed(0, begin)
        commit, rollback = timing.timed(timing.end, commit), timing.timed(timing.end, rollback)

    def together(step: Any) -> int | None:
        begin()
        try:
            ended = body(step)
            if ended is None:
                commit()
            else:
                rollback()
        except errors as error:
            try:
                rollback()
            except errors as second:
                # The first error is the cause.
                error.add_note(f"and the rollback failed: {session.words(second)}")
            raise
        return ended

    return together
