"""Times each statement of an operation, for mixes that ask for it. Operations of all others are compiled without a
clock."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .work import Class

# Records the executions of an operation: the position of its class, when it was done, and each statement's position with
# how long it took, in nanoseconds.
Record = Callable[[int, int, list[tuple[int, int]]], None]


def texts(one: "Class") -> list[str]:
    """The statements of a class that are timed, with the beginning and the end of its transaction."""
    own = ["?".join(each.text).strip() for each in one.statements]
    return own if one.transaction is None else ["BEGIN", *own, "COMMIT"]


class Timing:
    """Times the statements of one class of one client."""

    def __init__(self, record: Record, place: int, one: "Class") -> None:
        """`place` is the position of the class."""
        self._record = record
        self._place = place
        # A transaction's beginning is its first statement.
        self.first = 0 if one.transaction is None else 1
        self.end = 1 + len(one.statements)
        # The executions of the operation under way: the position of the statement, and how long it took.
        self._executions: list[tuple[int, int]] = []

    def timed(self, statement: int, run: Callable[..., Any]) -> Callable[..., Any]:
        """A call that is timed as an execution of a statement, by its position."""
        now, executions = time.monotonic_ns, self._executions

        def timed(*values: Any) -> Any:
            began = now()
            rows = run(*values)
            executions.append((statement, now() - began))
            return rows

        return timed

    def operation(self, body: Callable[[Any], int | None], undone: int) -> Callable[[Any], int | None]:
        """An operation that records its executions if it is done, or ends with `undone`."""
        executions, place, record = self._executions, self._place, self._record

        def operation(step: Any) -> int | None:
            executions.clear()
            how = body(step)
            if how is None or how == undone:
                record(place, time.monotonic_ns(), executions)
            return how

        return operation
