"""One event loop for all clients of an asynchronous driver, as a program written with asyncio has.

The runner's own code is made of ordinary calls, so each client of a mix is a greenlet within a task of the loop: a
call that has to wait hands what it waits for to the task, and the task goes on with other clients meanwhile.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from greenlet import getcurrent, greenlet

from .alarm import Alarm

# More than the loop allocates for what it receives, in bytes.
LARGE = 1 << 20


class Within(greenlet):
    """A call within a task."""


def waits() -> Callable[[Awaitable[Any]], Any]:
    """The function that waits, within a call that `EventLoop.at_once` has made."""
    return getcurrent().parent.switch


class EventLoop:
    """A loop, which runs in the thread that waits for something, one at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # The loop allocates 256 KiB for each answer. glibc maps and unmaps pages for each, which doubles the cost of a
        # row, until a program has once freed a larger block, as one that runs for long does.
        bytes(LARGE)
        self._alarm = Alarm(self._loop)

    def wait_for(self, awaitable: Awaitable[Any]) -> Any:
        """Waits, within a call that the loop makes or outside of it."""
        if isinstance(getcurrent(), Within):
            return waits()(awaitable)
        return self._loop.run_until_complete(awaitable)

    def at_once(self, calls: list[Callable[[], None]]) -> None:
        """Makes calls, each in a task."""

        async def all_of_them() -> None:
            await asyncio.gather(*map(_made, calls))

        self._loop.run_until_complete(all_of_them())

    def sleep(self, seconds: float) -> None:
        """Lets a client sleep, and others work meanwhile; 0: for one turn of the loop."""
        if seconds > 0:
            waits()(self._alarm.until(time.monotonic_ns() + round(seconds * 1e9)))
        else:
            waits()(asyncio.sleep(0))

    def close(self) -> None:
        """Closes the loop."""
        self._alarm.close()
        self._loop.close()


async def _made(call: Callable[[], None]) -> None:
    within = Within(call)
    switch = within.switch
    given = switch()
    # It is false once the call has returned.
    while within:
        try:
            result = await given
        except BaseException as error:
            given = within.throw(error)
        else:
            given = switch(result)
