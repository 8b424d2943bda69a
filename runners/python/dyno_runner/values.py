"""Values of rows in the form of the contract: JSON's own, and `{"blob": "00ff"}` for bytes."""

import json
import math
from decimal import Decimal
from typing import Any


def to_json(value: Any) -> Any:
    """A value of any type that a driver fetched."""
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
        case dict() | list():
            return json.dumps(value, ensure_ascii=False, default=str)
        case _:
            # Dates, times and other types that JSON lacks: as they print.
            return str(value)


def _real(value: float) -> float | str:
    """JSON has no infinities and no NaN: they are written by name."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else str(value)


def _decimal(value: Decimal) -> int | float | str:
    """Whole where it has no fraction to show, as every runner reads it."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        return _real(float(value))
    return int(value) if exponent >= 0 else float(value)
