"""Values of rows as the contract writes them: JSON's own, and `{"blob": "00ff"}` for bytes."""

import math
from decimal import Decimal
from typing import Any


def to_json(value: Any) -> Any:
    """A value that a driver has fetched, of whatever type it gave it."""
    match value:
        case None | str():
            return value
        case bool():
            return int(value)
        case int():
            return value
        case float():
            return _real(value)
        case Decimal():
            return _decimal(value)
        case bytes() | bytearray() | memoryview():
            return {"blob": bytes(value).hex()}
        case _:
            # Dates, times and what else has no type in JSON: as it prints.
            return str(value)


def _real(value: float) -> float | str:
    """JSON has no infinities and no NaN: they are told by their names."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else str(value)


def _decimal(value: Decimal) -> int | float | str:
    """Whole where it has no fraction to show, as every runner reads it."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        return _real(float(value))
    return int(value) if exponent >= 0 else float(value)
