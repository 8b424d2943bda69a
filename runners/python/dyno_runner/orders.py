"""The orders of dyno to a process that has some of a mix's clients."""

import json
import time
from typing import Any, BinaryIO

from .contract import take
from .events import Events
from .failure import Failure


class Orders:
    """Reads orders as lines of `source`. Each answers an event."""

    def __init__(self, source: BinaryIO, events: Events) -> None:
        self._source = source
        self._events = events

    def begin(self) -> int:
        """Reports that the clients of this process are ready, and waits for the order to begin. dyno compares
        the clocks meanwhile. Returns the moment at which they begin."""
        while True:
            order, kind = self._ask("ready", clock_ns=time.monotonic_ns())
            if kind == "begin":
                return int(take(order, "at_ns", int))
            if kind != "clock":
                raise Failure(f"the order {kind!r} came before the clients began")

    def end(self) -> None:
        """Reports that the clients of this process are done, and waits until those of all processes are."""
        _, kind = self._ask("done")
        if kind != "go-on":
            raise Failure(f"the order {kind!r} came where the clients are done")

    def _ask(self, event: str, **fields: int) -> tuple[Any, str]:
        self._events.send(event, **fields)
        line = self._source.readline()
        if not line:
            raise Failure("standard input ended where an order was expected")
        try:
            order = json.loads(line)
            return order, take(order, "order", str)
        except (ValueError, Failure):
            raise Failure(f"{line!r} is no order") from None
