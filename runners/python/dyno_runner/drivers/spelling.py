"""Names of settings, and quoted texts, in statements for servers."""

import re

from ..contract import Setting
from ..failure import Failure


def check_names(asked: list[Setting], engine: str, kind: str) -> None:
    """Rejects names that cannot stand in a statement (letters, digits, `_`, and dots between parts) and
    values that no engine takes."""
    for setting in asked:
        if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", setting.name, re.ASCII):
            raise Failure(f"'{setting.name}' cannot be a setting of {engine}: it is not the name of a {kind}")
        if "\0" in setting.value:
            raise Failure(f"the value of the setting '{setting.name}' holds a NUL byte")


def quoted(text: str) -> str:
    """A text between single quotes, by the SQL standard."""
    return "'" + text.replace("'", "''") + "'"


def last_of_each(asked: list[Setting]) -> dict[str, str]:
    """Drops all but the last of settings with the same name, since the last is in force."""
    return {setting.name: setting.value for setting in asked}
