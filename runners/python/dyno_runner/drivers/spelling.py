"""Quoted texts and numbered parameters in statements."""

from collections.abc import Callable

# Stands for a parameter where each is to get another name.
MARK = "\0"


def quoted(text: str) -> str:
    """A text between single quotes, by the SQL standard."""
    return "'" + text.replace("'", "''") + "'"


def numbered(sql: str, name: Callable[[int], str]) -> str:
    """A statement whose parameters are marked, with the name of each by its number."""
    first, *others = sql.split(MARK)
    return first + "".join(f"{name(number)}{piece}" for number, piece in enumerate(others, 1))
