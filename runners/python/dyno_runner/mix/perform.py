"""Runs a mix: starts its clients and counts what they recorded."""

from contextlib import nullcontext
from typing import Any

from ..clock import Clock
from ..driver import Driver
from ..failure import Failure
from ..orders import Orders
from .recorder import Sum
from .section import perform_section
from .work import Work


def perform(work: Work, driver: Driver, clock: Clock, orders: Orders) -> dict[str, Any]:
    """Runs a mix. Returns its sample."""
    # Only clients that come and go are connected.
    with nullcontext() if work.session is None else driver.aside():
        done = perform_section(work, driver, clock, None if work.before is None else orders)
    total = Sum(work, done.began, done.recorders)
    # Of several processes dyno looks at the sum.
    if not total.operations and work.before is None:
        why = next((f": {one['failure']}" for one in total.classes if one["failure"]), "")
        raise Failure(f"no operation succeeded within the time{why}")
    window = work.window
    # Operations that ended later do not count; and the clients began before the thread that reads the clock
    # was awake.
    nanoseconds = done.last - done.began if window.stop is None else window.duration
    section = done.section | {"nanoseconds": nanoseconds}
    return {"section": section, "operations": total.operations, "classes": total.classes, "ticks": total.ticks}
