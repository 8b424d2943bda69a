"""Wakes the tasks of an event loop at moments of the monotonic clock.

The loop's own timers end to the millisecond, since asyncio rounds up to what epoll takes. To look at the clock in
each turn of the loop until a moment comes would be exact, but it takes processor time, which counts as that of the
clients, and makes every turn longer for the others. So a timer of the kernel (timerfd_create(2)) wakes the loop, as
a socket does.
"""

import asyncio
import ctypes
import os
import time
from heapq import heappop, heappush
from itertools import count

# Of timerfd_settime(2): the time is a moment and not a duration.
TFD_TIMER_ABSTIME = 1
SECOND = 1_000_000_000


class TimerTime(ctypes.Structure):
    """`struct itimerspec`: the interval at which a timer repeats, and when it ends first; 0: never."""

    _fields_ = [(name, ctypes.c_long) for name in ("every_s", "every_ns", "ends_s", "ends_ns")]


class Alarm:
    """The moments for which tasks of a loop wait, and one timer, which ends at the first of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # A heap of moments with what is awaited. Futures have no order, so a number stands before each.
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._time = TimerTime()
        library = ctypes.CDLL(None, use_errno=True)
        self._set_time = library.timerfd_settime
        self._timer = library.timerfd_create(time.CLOCK_MONOTONIC, os.O_CLOEXEC)
        if self._timer < 0:
            raise OSError(ctypes.get_errno(), "there is no timer for the event loop")
        loop.add_reader(self._timer, self._ring)

    def until(self, moment: int) -> "asyncio.Future[None]":
        """Something to await, which ends at a moment or, where the loop is busy then, after it."""
        future = self._loop.create_future()
        waiting = self._waiting
        heappush(waiting, (moment, next(self._numbers), future))
        if waiting[0][2] is future:
            self._set(moment)
        return future

    def close(self) -> None:
        """Gives the timer back."""
        self._loop.remove_reader(self._timer)
        os.close(self._timer)

    def _ring(self) -> None:
        now, waiting = time.monotonic_ns(), self._waiting
        while waiting and waiting[0][0] <= now:
            future = heappop(waiting)[2]
            # A task that was cancelled does not wait any more.
            if not future.done():
                future.set_result(None)
        # A timer that is set anew is not readable any more, so nothing has to be read.
        self._set(waiting[0][0] if waiting else 0)

    def _set(self, moment: int) -> None:
        """Has the timer end at a moment; 0: never."""
        self._time.ends_s, self._time.ends_ns = divmod(moment, SECOND)
        self._set_time(self._timer, TFD_TIMER_ABSTIME, ctypes.byref(self._time), None)
