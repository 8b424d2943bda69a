"""Error numbers and messages of MariaDB and MySQL. `runners/mysql/errors.toml` says what the numbers mean, with
the manuals' pages."""

from ...failure import one_line

# Errors after which there is no connection: the server has gone, was lost within a query, shuts down, has
# killed the connection or closed it as idle.
LOST = (2006, 2013, 1053, 1927, 3169, 4031)
# Errors: the server or its configuration lets no client send a file.
NO_LOCAL = (1148, 3948, 4166)
# Errors after which another try may succeed: a deadlock, a lock that was not to be had in time or at once, a
# row that another transaction has changed.
MAY_PASS = (1213, 1205, 3572, 1020)


def number_of(error: Exception) -> int:
    """The server's or the driver's number of an error; 0 where it has none."""
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def state_of(error: Exception) -> str:
    """The SQLSTATE that the server sent with an error; empty where it sent none."""
    return getattr(error, "sqlstate", None) or ""


def code_of(error: Exception) -> str:
    """The server's number; empty for an error of the connection."""
    number = number_of(error)
    return str(number) if number and number not in LOST else ""


def words_of(error: Exception) -> str:
    """The message of the server or the driver, with the number; or that the connection to the server is
    lost."""
    number = number_of(error)
    # Each driver has its own class of this name.
    if not number and type(error).__name__ == "InterfaceError":
        return "the connection to the server is lost"
    words = one_line(error.args[1] if len(error.args) > 1 else error)
    words = f"{words} (error {number})" if number else words
    if number in LOST:
        return (
            f"the connection to the server is lost: {words}. If the server has crashed or was stopped, its "
            "log says why"
        )
    return words
