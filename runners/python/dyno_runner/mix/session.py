"""Executes prepared statements for a client."""

from collections.abc import Callable
from typing import Any

from ..failure import Failure

# Executes a statement with values for its parameters and fetches all rows, which it returns.
Run = Callable[[tuple[Any, ...]], Any]


class Session:
    """A client's session with the engine. Its calls raise `errors`, and all but `prepare` and `close` are
    timed. A subclass is used by one thread at a time, which need not be the one that made it."""

    errors: type[Exception]
    # The spelling of a parameter in a statement.
    parameter = "?"
    # True if stored rows can be read back. The null driver cannot, and reports no missing row.
    keeps = True

    def wait_for_locks(self, patience: int) -> None:
        """Sets the engine's lock timeout, in nanoseconds, where the client can set it. Not timed."""

    def prepare(self, sql: str) -> Run:
        """Prepares a statement, as far as the driver can before it is executed. Not timed."""
        raise NotImplementedError

    def simple(self, sql: str) -> Run:
        """A statement that is never prepared beforehand: each execution sends its text."""
        raise Failure("this driver keeps every statement that it has prepared")

    def begin_read(self) -> Any:
        """Begins a transaction that reads only."""
        raise NotImplementedError

    def begin_write(self) -> Any:
        """Begins a transaction that writes."""
        raise NotImplementedError

    def commit(self) -> Any:
        """Commits the transaction."""
        raise NotImplementedError

    def rollback(self) -> Any:
        """Rolls the transaction back. The engine may have done so already."""
        raise NotImplementedError

    def may_pass(self, error: Exception) -> bool:
        """True if an operation that failed with this error may succeed if it is tried again: the database was
        busy, it was the victim of a deadlock, or it could not be serialized with the others."""
        raise NotImplementedError

    def codes(self, error: Exception) -> list[str]:
        """The codes of an error, as a suite names errors."""
        return []

    def words(self, error: Exception) -> str:
        """The engine's message."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the connection if it was opened for this client. Not timed."""
