"""The kernel's counters of a server's processes, read just outside the clock.

A server is its main process and all that descend from it: PostgreSQL starts one for each connection and
more for a parallel query. The tree is looked up anew at each reading. A process that ends within the test
leaves its CPU time and its device bytes to the parent that waits for it. What may not be looked at reads as
zero. Times are nanoseconds, sizes are bytes.
"""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from .counters import number_after, read_text, wait_of

# How long one tick of `/proc/PID/stat` is.
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Stat:
    """What `/proc/PID/stat` says; CPU times in ticks, `ended_` those of the children that have ended."""

    parent: int
    user: int
    system: int
    ended_user: int
    ended_system: int


@dataclass
class Reading:
    """What the counters of all processes stood at."""

    processes: list[int]
    cpu_ns: int = 0
    user_ticks: int = 0
    system_ticks: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    # The wait of each thread: a thread that ends takes its figure with it.
    waits: dict[int, int] = field(default_factory=dict)


class ServerProcesses:
    """A server to be looked at."""

    def __init__(self, main: int) -> None:
        self._main = main

    def before(self) -> Reading | None:
        """Reads before the clock starts. None where there is no such process."""
        reading = self._read()
        for process in reading.processes if reading else []:
            try:
                with open(f"/proc/{process}/clear_refs", "w", encoding="ascii") as file:
                    file.write("5")
            except OSError:
                pass  # the peak is then that of the process's whole life
        return reading

    def since(self, before: Reading) -> dict[str, int] | None:
        """What has been spent since a reading. None where the process has gone."""
        after = self._read()
        if after is None:
            return None
        user_ns, system_ns = _split(before, after)
        return {
            "user_ns": user_ns,
            "system_ns": system_ns,
            "wait_ns": sum(
                max(0, wait - before.waits.get(thread, 0)) for thread, wait in after.waits.items()
            ),
            "device_read_bytes": max(0, after.read_bytes - before.read_bytes),
            "device_written_bytes": max(0, after.written_bytes - before.written_bytes),
            "peak_memory_bytes": max(map(_peak, after.processes), default=0),
        }

    def _read(self) -> Reading | None:
        stats = {
            process: stat
            for process in _numbers("/proc")
            if (stat := parse(read_text(f"/proc/{process}/stat")))
        }
        if self._main not in stats:
            return None
        reading = Reading(tree(self._main, stats))
        for process in reading.processes:
            _add(process, stats[process], reading)
        return reading


def parse(stat: str) -> Stat | None:
    """Reads `pid (name) state ppid …`; the name may hold spaces and parentheses."""
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 15:
        return None
    return Stat(int(fields[1]), *map(int, fields[11:15]))


def tree(main: int, stats: dict[int, Stat]) -> list[int]:
    """A process and its descendants."""
    found = [main]
    for parent in found:  # it grows while it is walked
        found.extend(process for process, stat in stats.items() if stat.parent == parent)
    return found


def _add(process: int, stat: Stat, reading: Reading) -> None:
    reading.cpu_ns += _cpu_ns(process, stat) + (stat.ended_user + stat.ended_system) * TICK_NS
    reading.user_ticks += stat.user + stat.ended_user
    reading.system_ticks += stat.system + stat.ended_system
    io = read_text(f"/proc/{process}/io")
    reading.read_bytes += number_after(io, "read_bytes:")
    reading.written_bytes += number_after(io, "write_bytes:")
    for thread in _numbers(f"/proc/{process}/task"):
        reading.waits[thread] = wait_of(read_text(f"/proc/{process}/task/{thread}/schedstat"))


def _split(before: Reading, after: Reading) -> tuple[int, int]:
    """The CPU time is known to the nanosecond, but its two kinds to the tick only: so the former is divided
    as the latter are."""
    cpu = max(0, after.cpu_ns - before.cpu_ns)
    user = max(0, after.user_ticks - before.user_ticks)
    ticks = user + max(0, after.system_ticks - before.system_ticks)
    user_ns = cpu * user // ticks if ticks else cpu
    return user_ns, cpu - user_ns


def _cpu_ns(process: int, stat: Stat) -> int:
    """The CPU time of all threads of a process, by its clock (clock_getcpuclockid(3)) where there is one."""
    try:
        return time.clock_gettime_ns((~process << 3) | 2)
    except OSError:
        return (stat.user + stat.system) * TICK_NS


def _peak(process: int) -> int:
    return number_after(read_text(f"/proc/{process}/status"), "VmHWM:") * 1024


def _numbers(folder: str) -> Iterable[int]:
    """The entries of a folder whose names are numbers."""
    try:
        return [int(entry) for entry in os.listdir(folder) if entry.isdigit()]
    except OSError:
        return []
