"""Values with units, as `64MB`, `5min` or `4` (in units of the setting's own, as 8kB).

See https://www.postgresql.org/docs/current/config-setting.html.
"""

import re

# For each unit, the quantity that it measures, and its size in bytes or microseconds.
UNITS = {
    "": ("number", 1.0),
    "B": ("memory", 1.0),
    "kB": ("memory", 2.0**10),
    "MB": ("memory", 2.0**20),
    "GB": ("memory", 2.0**30),
    "TB": ("memory", 2.0**40),
    "us": ("time", 1.0),
    "ms": ("time", 1e3),
    "s": ("time", 1e6),
    "min": ("time", 60e6),
    "h": ("time", 3_600e6),
    "d": ("time", 86_400e6),
}


def are_equal(one: str, other: str, unit: str | None) -> bool:
    """True if two spellings are one value of a setting whose bare numbers are in `unit`."""
    amount = _amount(one, unit)
    return amount is not None and amount == _amount(other, unit)


def _amount(text: str, unit: str | None) -> tuple[str, float] | None:
    number, name = _split(text)
    if number is None:
        return None
    # A setting's unit may include a factor, as `8kB`.
    factor, name = _split(unit) if not name and unit else (1.0, name)
    if name not in UNITS:
        return None
    kind, value = UNITS[name]
    return kind, number * (1.0 if factor is None else factor) * value


def _split(text: str) -> tuple[float | None, str]:
    """A number, if there is one, and what follows it."""
    found = re.fullmatch(r"\s*([-+]?[\d.]*)\s*([A-Za-z]*)\s*", text)
    if not found:
        return None, text
    try:
        return float(found[1]), found[2]
    except ValueError:
        return None, found[2]
