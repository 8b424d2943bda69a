"""The kernel's counters of a server's processes, read just outside the clock.

They are read by the library that all runners measure with, next to dyno's own program, whose folder is the
runner's argument; crates/gauge/include/dyno_gauge.h describes it. It is loaded before any clock starts. Times
are nanoseconds, sizes are bytes.

This process's own counters are read by `counters`, in Python and nearer the clock: behind a call that reads
them elsewhere the first statements of a section take some 4 µs longer.
"""

import ctypes
import sys
from pathlib import Path

from .failure import Failure, one_line

FILE = "libdyno_gauge.so"
# The version of the library's interface that this code is written for.
VERSION = 4

# The fields of `dyno_gauge_cost`, by the names of the protocol.
FIELDS = (
    "user_ns",
    "system_ns",
    "wait_ns",
    "device_read_bytes",
    "device_written_bytes",
    "peak_memory_bytes",
)


class Cost(ctypes.Structure):
    """The cost of all processes of a server."""

    _fields_ = [(name, ctypes.c_uint64) for name in FIELDS]

    def fields(self) -> dict[str, int]:
        """The fields as the protocol has them."""
        return {name: getattr(self, name) for name in FIELDS}


class Gauge:
    """The counters, ready to be read."""

    def __init__(self, server: list[int], programs: Path | None = None) -> None:
        """`server` is its main processes, several of a cluster; `programs` the folder of dyno's own program,
        where it is not the runner's argument."""
        functions = library(programs)
        self._server = Cost()
        self._handle = ctypes.c_void_p(functions.dyno_gauge_open(server[0] if server else 0))
        for node in server[1:]:
            functions.dyno_gauge_add_node(self._handle, ctypes.c_uint32(node))
        # The arguments of the calls are made now and not close to the clock.
        self._before, self._after = functions.dyno_gauge_before, functions.dyno_gauge_after
        self._prepare = functions.dyno_gauge_prepare
        self._places = (None, ctypes.byref(self._server))

    def prepare(self) -> None:
        """Does the slow part of the next reading before the clock starts."""
        self._prepare(self._handle)

    def before(self) -> None:
        """Reads just before the clock starts."""
        self._before(self._handle)

    def after(self) -> dict[str, int] | None:
        """The server's cost since `before`. None where the server has ended."""
        return self._server.fields() if self._after(self._handle, *self._places) else None


def library(programs: Path | None = None) -> ctypes.PyDLL:
    """The library; `programs` is the folder of dyno's own program, where it is not the runner's argument."""
    file = (programs or Path(sys.argv[1] if len(sys.argv) > 1 else ".")) / FILE
    try:
        # The interpreter's lock is kept: to give it up and take it again would lie between counters and
        # clock.
        functions = ctypes.PyDLL(str(file.resolve()))
        version = functions.dyno_gauge_version()
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
    functions.dyno_gauge_open.restype = ctypes.c_void_p
    functions.dyno_gauge_open.argtypes = [ctypes.c_uint32]
    functions.dyno_gauge_add_node.restype = None
    functions.dyno_gauge_before.restype = None
    functions.dyno_gauge_prepare.restype = None
    return functions
