"""Executes prepared statements for a client."""

from collections.abc import Callable
from typing import Any

from ..failure import Failure

# Executes a statement with values for its parameters and fetches all rows, which it returns.
Execute = Callable[[tuple[Any, ...]], Any]


class Session:
    """A client's session with the engine. Its calls raise `errors`. Only executed statements and the beginning,
    commit and rollback of transactions are timed; where clients connect and leave, connecting includes
    `wait_for_locks` and `prepare`. One thread at a time uses a session, not always the one that made it."""

    errors: type[Exception]
    # The spelling of a parameter in a statement.
    parameter = "?"
    # True if the engine stores rows. The null driver stores none, so a mix reports no missing row for it.
    stores_rows = True

    def wait_for_locks(self, patience: int) -> None:
        """Sets the engine's lock timeout, in nanoseconds, where the client can set it."""

    def prepare(self, sql: str) -> Execute:
        """Prepares a statement, as far as the driver can before it is executed."""
        raise NotImplementedError

    def simple(self, sql: str) -> Execute:
        """Returns a function that executes a statement without preparing it: each call sends its text."""
        raise Failure(
            "the mix has a statement to send as text, and this driver keeps every statement that it has prepared"
        )

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
        """Closes the connection if it was opened for this client."""
