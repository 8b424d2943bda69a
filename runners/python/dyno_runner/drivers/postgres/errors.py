"""Messages of PostgreSQL's errors."""

import psycopg

from ...failure import one_line


def code_of(error: psycopg.Error) -> str:
    """The server's code; empty for an error of the connection."""
    return "" if isinstance(error, psycopg.errors.AdminShutdown) else error.diag.sqlstate or ""


def words_of(error: psycopg.Error) -> str:
    """The server's message with its code; or that the connection to the server is lost."""
    diagnosis = error.diag
    if diagnosis.sqlstate is None or isinstance(error, psycopg.errors.AdminShutdown):
        words = one_line(error).rstrip(".")
        if isinstance(error, psycopg.OperationalError):
            return (
                f"the connection to the server is lost: {words}. If the server has crashed or was stopped, "
                "its log says why"
            )
        return words
    parts = [diagnosis.message_primary, diagnosis.message_detail, diagnosis.message_hint]
    return f"{one_line(' '.join(filter(None, parts)))} (PostgreSQL error {diagnosis.sqlstate})"
