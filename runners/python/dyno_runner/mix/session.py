"""What a client does with prepared statements."""

from collections.abc import Callable
from typing import Any

# Executes a statement with values for its parameters and fetches all rows, which it returns.
Run = Callable[[tuple[Any, ...]], Any]


class Session:
    """A session with the engine, a client's own. Its calls raise `errors`, and all but `prepare` and `close`
    are within the clock. A subclass is used by one thread at a time, which need not be the one that made
    it."""

    errors: type[Exception]
    # How a statement spells a parameter.
    parameter = "?"
    # Whether what is stored can be read back: of the harness it cannot, and it misses no row.
    keeps = True

    def wait_for_locks(self, patience: int) -> None:
        """Has the engine wait for locks so long, in nanoseconds, where that is the client's to say. Outside
        the clock."""

    def prepare(self, sql: str) -> Run:
        """Prepares a statement, as far as the driver can before it is executed. Outside the clock."""
        raise NotImplementedError

    def begin_read(self) -> Any:
        """Begins a transaction that reads only."""
        raise NotImplementedError

    def begin_write(self) -> Any:
        """Begins a transaction that writes."""
        raise NotImplementedError

    def commit(self) -> Any:
        """Commits it."""
        raise NotImplementedError

    def rollback(self) -> Any:
        """Undoes it. The engine may have done so already."""
        raise NotImplementedError

    def may_pass(self, error: Exception) -> bool:
        """Whether an operation that failed so may succeed if it is tried again: the database was busy, it was
        the victim of a deadlock, or it could not be put in an order with the others."""
        raise NotImplementedError

    def codes(self, error: Exception) -> list[str]:
        """The codes of an error, as a suite names errors."""
        return []

    def words(self, error: Exception) -> str:
        """What the engine said."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the connection if it was opened for this client. Outside the clock."""
