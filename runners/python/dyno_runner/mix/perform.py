"""Runs a mix: starts its clients, threads or processes, and counts what they recorded."""

from contextlib import nullcontext
from typing import Any

from ..clock import Clock
from ..contract import Job
from ..driver import Driver
from ..failure import Failure
from . import processes
from .recorder import Sum
from .section import Part, perform_part
from .work import Work


def perform(work: Work, driver: Driver, clock: Clock, job: Job) -> dict[str, Any]:
    """Runs a mix. Returns its sample."""
    # Only clients that come and go are connected.
    with nullcontext() if work.session is None else driver.aside():
        if work.processes:
            done = processes.perform(work, job, clock)
        else:
            done = perform_part(work, driver, clock, Part())
    told = Sum(work, done.began, done.recorders)
    if not told.operations:
        why = next((f": {one['failure']}" for one in told.classes if one["failure"]), "")
        raise Failure(f"no operation succeeded within the time{why}")
    window = work.window
    # Operations that ended later do not count; and the clients began before the thread that reads the clock
    # was awake.
    nanoseconds = done.last - done.began if window.stop is None else window.duration
    section = done.section | {"nanoseconds": nanoseconds}
    return {"section": section, "operations": told.operations, "classes": told.classes, "ticks": told.ticks}
