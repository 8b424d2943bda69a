"""The kernel's counters of this process, read just outside the clock.

The files of `/proc` are opened once and read again in place, so that a reading is short and lies close to
the clock. A counter that this system does not give reads as zero. Times are nanoseconds.
"""

import os
import resource
from dataclasses import dataclass


@dataclass
class Reading:
    """The values of the counters at one moment."""

    user_ns: int
    system_ns: int
    wait_ns: int
    device_read_bytes: int
    device_written_bytes: int


NOTHING = Reading(0, 0, 0, 0, 0)


class Counters:
    """The counters, ready to be read."""

    def __init__(self) -> None:
        self._schedstat = _open("schedstat")
        self._io = _open("io")
        self._status = _open("status")
        self._clear_refs = _open("clear_refs", os.O_WRONLY)
        self._me = str(os.getpid())

    def before(self) -> Reading:
        """Reads before the clock starts. The wait for a processor matters most and is read last."""
        reading = self._slow()
        others = self._wait_of_other_threads()
        reading.wait_ns = self._own_wait() + others
        return reading

    def after(self) -> Reading:
        """Reads after the clock has stopped: the wait for a processor comes first."""
        wait = self._own_wait()
        reading = self._slow()
        reading.wait_ns = wait + self._wait_of_other_threads()
        return reading

    def peak_bytes(self) -> int:
        """Largest resident memory since the last reading before a clock."""
        return number_after(_read(self._status), "VmHWM:") * 1024

    def _slow(self) -> Reading:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        io = _read(self._io)
        return Reading(
            user_ns=round(usage.ru_utime * 1e9),
            system_ns=round(usage.ru_stime * 1e9),
            wait_ns=0,
            device_read_bytes=number_after(io, "read_bytes:"),
            device_written_bytes=number_after(io, "write_bytes:"),
        )

    def _own_wait(self) -> int:
        """`/proc/self/schedstat` counts the first thread only."""
        return wait_of(_read(self._schedstat))

    def _wait_of_other_threads(self) -> int:
        """The time that drivers' own threads waited. The figure of a thread that ends is lost with it."""
        others = (thread for thread in os.listdir("/proc/self/task") if thread != self._me)
        return sum(wait_of(read_text(f"/proc/self/task/{thread}/schedstat")) for thread in others)

    def prepare(self) -> None:
        """Prepares a reading. Writing 5 resets the peak of resident memory to what is resident now; it
        touches no page."""
        if self._clear_refs is not None:
            try:
                os.pwrite(self._clear_refs, b"5", 0)
            except OSError:
                pass  # the peak is then that of the whole process so far


def read_text(path: str) -> str:
    """The text of a small file; empty where it cannot be read."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def number_after(text: str, name: str) -> int:
    """The number after a name at the beginning of a line; zero where there is none."""
    for line in text.splitlines():
        if line.startswith(name):
            return int(line[len(name) :].split()[0])
    return 0


def wait_of(schedstat: str) -> int:
    """The second of the three numbers of a `schedstat`: the time spent waiting for a processor."""
    parts = schedstat.split()
    return int(parts[1]) if len(parts) > 1 else 0


def _open(name: str, flags: int = os.O_RDONLY) -> int | None:
    try:
        return os.open(f"/proc/self/{name}", flags)
    except OSError:
        return None


def _read(file: int | None) -> str:
    """Reads a file of `/proc` from its beginning, which makes the kernel write it anew."""
    return "" if file is None else os.pread(file, 4096, 0).decode("ascii", "replace")
