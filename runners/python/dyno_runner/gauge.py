"""The kernel's counters of this process, and of a server's processes, read just outside the clock.

They are read by the library that all runners measure with, beside dyno's own program, whose folder is the
runner's argument; crates/gauge/include/dyno_gauge.h describes it. It is loaded before any clock starts. Times
are nanoseconds, sizes are bytes.
"""

import ctypes
import sys
from pathlib import Path
from typing import Any

from .failure import Failure, one_line

FILE = "libdyno_gauge.so"
# The version of the library's interface that this is for.
VERSION = 1

# What `dyno_gauge_cost` holds, by the names of the protocol.
FIELDS = (
    "user_ns",
    "system_ns",
    "wait_ns",
    "device_read_bytes",
    "device_written_bytes",
    "peak_memory_bytes",
)


class Cost(ctypes.Structure):
    """What a process, or all processes of a server, spent."""

    _fields_ = [(name, ctypes.c_uint64) for name in FIELDS]

    def fields(self) -> dict[str, int]:
        """The fields of a sample."""
        return {name: getattr(self, name) for name in FIELDS}


class Gauge:
    """The counters, ready to be read."""

    def __init__(self, server: int | None, programs: Path | None = None) -> None:
        """`server` is the main process of a server that may be looked at; `programs` the folder of dyno's own
        program, where it is not the runner's argument."""
        library = _load(programs or Path(sys.argv[1] if len(sys.argv) > 1 else "."))
        self._process, self._server = Cost(), Cost()
        self._handle = ctypes.c_void_p(library.dyno_gauge_open(server or 0))
        # What they are called with is made now and not beside the clock.
        self._before, self._after = library.dyno_gauge_before, library.dyno_gauge_after
        self._places = (ctypes.byref(self._process), ctypes.byref(self._server))

    def before(self) -> None:
        """Reads just before the clock starts."""
        self._before(self._handle)

    def after(self) -> dict[str, Any]:
        """Reads just after the clock has stopped: every field of the sample that the kernel tells."""
        is_there = self._after(self._handle, *self._places)
        sample: dict[str, Any] = self._process.fields()
        if is_there:
            sample["server"] = self._server.fields()
        return sample


def _load(programs: Path) -> ctypes.PyDLL:
    file = programs / FILE
    try:
        # The interpreter's lock is kept: to give it up and take it again would lie between counters and
        # clock.
        library = ctypes.PyDLL(str(file.resolve()))
        version = library.dyno_gauge_version()
    except (OSError, AttributeError) as error:
        raise Failure(
            f"cannot load {file}, with which runners measure (`cargo build --release -p dyno-gauge`): "
            f"{one_line(error)}"
        ) from None
    if version != VERSION:
        raise Failure(
            f"{file} has version {version} of its interface, and this runner is for {VERSION}: take both "
            "from the same source"
        )
    library.dyno_gauge_open.restype = ctypes.c_void_p
    library.dyno_gauge_open.argtypes = [ctypes.c_uint32]
    library.dyno_gauge_before.restype = None
    return library
