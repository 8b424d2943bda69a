"""Quoted texts in statements."""


def quoted(text: str) -> str:
    """A text between single quotes, by the SQL standard."""
    return "'" + text.replace("'", "''") + "'"
