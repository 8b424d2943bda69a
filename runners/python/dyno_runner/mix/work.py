"""A mix, as described by a job."""

from dataclasses import dataclass
from typing import Any

from ..contract import take
from ..failure import Failure

READ, WRITE = "read", "write"
# The class that reports how long clients that come and go took to connect.
CONNECT = "connect"


@dataclass(frozen=True)
class Row:
    """A column of a row that an earlier statement keeps, by their positions: of the first row, or within a
    loop over its rows of the current one."""

    statement: int
    column: int


@dataclass(frozen=True)
class Item:
    """A column of the current item of a list, by its position."""

    column: int


# The source of a parameter's value; a number is the position of a field.
Value = int | Row | Item


@dataclass(frozen=True)
class Keeps:
    """The columns that are kept of the rows of a statement. Without `may_miss` there must be a row."""

    columns: int
    may_miss: bool


@dataclass(frozen=True)
class Statement:
    """A statement: the text before, between and after its parameters, the source of each value, and the
    columns that are kept of its rows."""

    text: list[str]
    parameters: list[Value]
    keeps: Keeps | None

    def sql(self, parameter: str) -> str:
        """Its text with a driver's placeholder. Where that begins with a percent sign, others are doubled."""
        pieces = [piece.replace("%", "%%") for piece in self.text] if parameter[0] == "%" else self.text
        return parameter.join(pieces)


@dataclass(frozen=True)
class Class:
    """A class of operations. `transaction` is the kind of the transaction around its statements; None: each
    statement is its own transaction."""

    name: str
    transaction: str | None
    statements: list[Statement]
    loops: list["Loop"]
    # The position of a field: where it is not 0, the transaction is rolled back at its end, as planned.
    rollback_if: int | None
    # The pauses of the client: before which statement, and for how many seconds.
    pauses: list[tuple[int, float]]
    # Codes of errors with which an operation may end.
    ignores: frozenset[str]
    # True if its statements are never prepared beforehand.
    is_simple: bool
    # The time for which one of its operations may wait for locks, in nanoseconds; None: as long as the mix says.
    patience: int | None


@dataclass(frozen=True)
class Loop:
    """The statements from `first` up to `end`, repeated for the items of a list or the rows of a statement,
    by the position of the one or the other."""

    first: int
    end: int
    list: int | None
    rows: int | None


@dataclass(frozen=True)
class List:
    """A list of a step: the positions of the fields of its count and of its first item's first column, how
    many columns an item has, and the most items."""

    name: str
    count: int
    first: int
    columns: int
    most: int


@dataclass(frozen=True)
class Field:
    """A field of a step: a number of 8 bytes, or text."""

    name: str
    kind: str
    bytes: int


@dataclass(frozen=True)
class Window:
    """The time in which operations count: those that end within it, in nanoseconds since the clients began.
    Without an end all steps are done once."""

    start: int
    stop: int | None

    @property
    def duration(self) -> int:
        """Its length; 0 without an end."""
        return 0 if self.stop is None else self.stop - self.start


class Work:
    """The input of a mix."""

    def __init__(self, work: Any) -> None:
        """Rejects contradictory input."""
        self.classes = [_class(each) for each in take(work, "classes", list)]
        self.fields = [
            Field(take(each, "name", str), take(each, "kind", str), take(each, "bytes", int))
            for each in take(work, "fields", list)
        ]
        self.lists = [
            List(take(each, "name", str), *(take(each, key, int) for key in LIST_KEYS))
            for each in take(work, "lists", list, [])
        ]
        self.clients = take(work, "clients", int)
        # A file for each client, or one that all share.
        self.steps = [
            (take(each, "file", str), take(each, "count", int)) for each in take(work, "steps", list)
        ]
        # The position of a field: the time for which the client waits before it sends the step, in
        # nanoseconds since it was free.
        self.think = take(work, "think", int, None)
        # The number of steps of a session, where clients come and go.
        self.session = take(work, "session", int, None)
        # The number of clients in the processes before this one, where several do the mix.
        part = take(work, "part", dict, None)
        self.before = None if part is None else take(part, "before", int)
        self.patience = take(work, "patience_ns", int)
        # True if each statement of each operation is timed.
        self.times_statements = take(work, "times_statements", bool, False)
        lasts = take(work, "lasts", dict, None)
        self.window = Window(0, None)
        if lasts is not None:
            start = take(lasts, "warm_up_ns", int, 0)
            self.window = Window(start, start + take(lasts, "duration_ns", int))
        self._check()

    def patience_of(self, place: int) -> int:
        """The time for which an operation of a class, by position, may wait for locks, in nanoseconds."""
        own = self.classes[place].patience
        return self.patience if own is None else own

    @property
    def shortest_patience(self) -> int:
        """The time for which any operation may wait for locks: the limit of a connection that has one limit
        for all. An operation that may wait longer is tried again."""
        return min(self.patience_of(place) for place in range(len(self.classes)))

    @property
    def shares(self) -> bool:
        """True if all clients share one file of steps."""
        return len(self.steps) < self.clients or self.session is not None

    @property
    def names(self) -> list[str]:
        """The classes that are reported."""
        return [one.name for one in self.classes] + [CONNECT] * (self.session is not None)

    def _check(self) -> None:
        if self.clients < 1:
            raise Failure("a mix of no clients")
        if len(self.steps) not in (1, self.clients):
            raise Failure(f"there are {len(self.steps)} files of steps for {self.clients} clients")
        for field in self.fields:
            if field.kind == "integer" and field.bytes != 8:
                raise Failure(f"the number {field.name} of a step has {field.bytes} bytes and not 8")
        if self.session is not None and self.session < 1:
            raise Failure("sessions have no steps")
        if self.think is not None and self.think >= len(self.fields):
            raise _wrong("the time to think")
        for one in self.lists:
            if not (one.count < len(self.fields) and one.first + one.columns * one.most <= len(self.fields)):
                raise _wrong(f"the list {one.name}")
        for one in self.classes:
            self._check_class(one)

    def _check_class(self, one: Class) -> None:
        columns = [0] * len(one.statements)
        place = 0
        for loop in one.loops:
            over_list = loop.list is not None and loop.list < len(self.lists)
            over_rows = loop.rows is not None and loop.rows < loop.first
            if not (over_list or over_rows) or loop.first < place or loop.end > len(one.statements):
                raise _wrong(f"a loop of class {one.name}")
            if over_list:
                columns[loop.first : loop.end] = [self.lists[loop.list].columns] * (loop.end - loop.first)
            place = loop.end
        for place, statement in enumerate(one.statements):
            for value in statement.parameters:
                match value:
                    case Item(column):
                        is_there = column < columns[place]
                    case Row(earlier, column):
                        keeps = one.statements[earlier].keeps if earlier < place else None
                        is_there = keeps is not None and column < keeps.columns
                    case field:
                        is_there = 0 <= field < len(self.fields)
                if not is_there or len(statement.text) != len(statement.parameters) + 1:
                    raise _wrong(f"a parameter of class {one.name}")
        if one.rollback_if is not None and one.rollback_if >= len(self.fields):
            raise _wrong(f"the end of class {one.name}")


LIST_KEYS = ("count", "first", "columns", "most")


def _wrong(what: str) -> Failure:
    return Failure(f"{what} names what is not there: this is an error in dyno")


def _class(record: Any) -> Class:
    loops = [
        Loop(
            take(each, "first", int),
            take(each, "first", int) + take(each, "count", int),
            take(each, "over", dict).get("list"),
            take(each, "over", dict).get("rows"),
        )
        for each in take(record, "loops", list, [])
    ]
    return Class(
        take(record, "name", str),
        take(record, "transaction", str, None),
        [_statement(each) for each in take(record, "statements", list)],
        loops,
        take(record, "rollback_if", int, None),
        [
            (take(each, "before", int), take(each, "nanoseconds", int) / 1e9)
            for each in take(record, "pauses", list, [])
        ],
        frozenset(take(record, "ignores", list, [])),
        take(record, "protocol", str, "prepared") == "simple",
        take(record, "patience_ns", int, None),
    )


def _statement(record: Any) -> Statement:
    keeps = take(record, "keeps", dict, None)
    if keeps is not None:
        keeps = Keeps(take(keeps, "columns", int), take(keeps, "may_miss", bool, False))
    parameters = [_value(each) for each in take(record, "parameters", list)]
    return Statement(take(record, "text", list), parameters, keeps)


def _value(record: Any) -> Value:
    if isinstance(record, int):
        return record
    if "item" in record:
        return Item(take(record, "item", int))
    return Row(take(record, "statement", int), take(record, "column", int))
