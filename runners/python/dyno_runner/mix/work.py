"""What a job says of a mix."""

from dataclasses import dataclass
from typing import Any

from ..contract import take
from ..failure import Failure

READ, WRITE = "read", "write"


@dataclass(frozen=True)
class Statement:
    """A statement: what stands before, between and after its parameters, and the position of a field for
    each."""

    text: list[str]
    parameters: list[int]

    def sql(self, parameter: str) -> str:
        """Its text with a driver's placeholder. Where that begins with a percent sign, others are doubled."""
        pieces = [piece.replace("%", "%%") for piece in self.text] if parameter[0] == "%" else self.text
        return parameter.join(pieces)


@dataclass(frozen=True)
class Class:
    """A class of operations. `transaction` is what its statements are one transaction for; None: each is a
    transaction of its own."""

    name: str
    transaction: str | None
    statements: list[Statement]


@dataclass(frozen=True)
class Field:
    """A field of a step: a number of 8 bytes, or text."""

    name: str
    kind: str
    bytes: int


@dataclass(frozen=True)
class Window:
    """When operations count: those that end within it, in nanoseconds since the clients began. Without an end
    all steps are done once."""

    start: int
    stop: int | None

    @property
    def duration(self) -> int:
        """How long it is; 0 without an end."""
        return 0 if self.stop is None else self.stop - self.start


class Work:
    """The input of a mix."""

    def __init__(self, work: Any) -> None:
        """Refuses what makes no sense."""
        self.classes = [_class(each) for each in take(work, "classes", list)]
        self.fields = [
            Field(take(each, "name", str), take(each, "kind", str), take(each, "bytes", int))
            for each in take(work, "fields", list)
        ]
        self.clients = take(work, "clients", int)
        # A file for each client, or one that they share.
        self.steps = [
            (take(each, "file", str), take(each, "count", int)) for each in take(work, "steps", list)
        ]
        self.patience = take(work, "patience_ns", int)
        lasts = take(work, "lasts", dict, None)
        self.window = Window(0, None)
        if lasts is not None:
            start = take(lasts, "warm_up_ns", int, 0)
            self.window = Window(start, start + take(lasts, "duration_ns", int))
        self._check()

    def _check(self) -> None:
        if self.clients < 1:
            raise Failure("a mix of no clients")
        if len(self.steps) not in (1, self.clients):
            raise Failure(f"there are {len(self.steps)} files of steps for {self.clients} clients")
        for field in self.fields:
            if field.kind == "integer" and field.bytes != 8:
                raise Failure(f"the number {field.name} of a step has {field.bytes} bytes and not 8")
        for each in (statement for one in self.classes for statement in one.statements):
            if len(each.text) != len(each.parameters) + 1 or any(
                not 0 <= field < len(self.fields) for field in each.parameters
            ):
                raise Failure(
                    "a parameter of the mix names a field that is not there: this is an error in dyno"
                )


def _class(record: Any) -> Class:
    statements = [
        Statement(take(each, "text", list), take(each, "parameters", list))
        for each in take(record, "statements", list)
    ]
    return Class(take(record, "name", str), take(record, "transaction", str, None), statements)
