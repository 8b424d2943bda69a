"""PostgreSQL's errors, as both drivers raise them."""

from ...failure import one_line
from ...mix.session import Session

# Codes of errors after which there is no connection: the server was shut down by its administrator; and what
# asyncpg itself says of a connection that is lost.
LOST = ("57P01", "08003", "08006")
# The classes of errors without a code that mean the same: psycopg's, asyncpg's, Python's.
LOST_CLASSES = {"OperationalError", "InterfaceError", "OSError"}
# Codes after which a retry may succeed: a serialization failure, a deadlock, a lock that was not available.
MAY_PASS = ("40001", "40P01", "55P03")


def code_of(error: Exception) -> str:
    """The server's code; empty for an error of the connection."""
    code = getattr(error, "sqlstate", None) or ""
    return "" if code in LOST else code


def words_of(error: Exception) -> str:
    """The server's message with its code; or that the connection to the server is lost."""
    if code := code_of(error):
        said = getattr(error, "diag", None)
        parts = (
            [error.args[0], error.detail, error.hint]
            if said is None
            else [said.message_primary, said.message_detail, said.message_hint]
        )
        return f"{one_line(' '.join(filter(None, parts)))} (PostgreSQL error {code})"
    words = one_line(error).rstrip(".")
    # asyncpg's errors of values that it cannot send are of both kinds.
    is_class = not LOST_CLASSES.isdisjoint(one.__name__ for one in type(error).__mro__)
    if getattr(error, "sqlstate", None) or is_class and not isinstance(error, ValueError):
        return (
            f"the connection to the server is lost: {words}. If the server has crashed or was stopped, its "
            "log says why"
        )
    return words


class PostgresErrors(Session):
    """What a session says of its errors."""

    def may_pass(self, error: Exception) -> bool:
        return code_of(error) in MAY_PASS

    def codes(self, error: Exception) -> list[str]:
        return [getattr(error, "sqlstate", None) or ""]

    def words(self, error: Exception) -> str:
        return words_of(error)
