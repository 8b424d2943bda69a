"""Feeds LOAD DATA LOCAL from memory.

PyMySQL reads what it sends from a file that it opens by its name. Here that file is the reading end of a
pipe, so any number of rows go from the mapped input to the server without a file on disk.

The name comes back from the server, which may ask for another file at any time, and PyMySQL would send it. So
its function that sends is wrapped: nothing but the pipe is ever sent.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pymysql
from pymysql import connections

# The pipe's capacity in bytes: the largest that the kernel allows without privileges.
CAPACITY = 1 << 20
F_SETPIPE_SZ = 1031

# The names of the pipes that are being read.
_offered: set[bytes] = set()
_send = connections._send_local_file


def _send_what_is_offered(name: Any, connection: Any) -> None:
    wanted = os.fsencode(name)
    if wanted not in _offered:
        file = os.fsdecode(wanted)
        raise pymysql.OperationalError(
            f"the server asks for the file {file}, and the runner sends rows alone"
        )
    _send(name, connection)


connections._send_local_file = _send_what_is_offered


def feed(blocks: Iterator[bytes], load: Callable[[str], None]) -> None:
    """Calls `load` with the name of a file that holds the blocks, one after another."""
    reader, writer = os.pipe()
    _widen(writer)
    thread = Thread(target=_write, args=(writer, blocks), daemon=True)
    thread.start()
    name = f"/proc/self/fd/{reader}"
    _offered.add(name.encode())
    try:
        load(name)
    finally:
        _offered.clear()
        # If the pipe was not read to its end, closing the reading end stops the writer.
        os.close(reader)
        thread.join()


def _write(pipe: int, blocks: Iterator[bytes]) -> None:
    try:
        with open(pipe, "wb", buffering=0) as out:
            for block in blocks:
                rest = memoryview(block)
                while rest:
                    rest = rest[out.write(rest) :]
    except BrokenPipeError:
        pass  # the load has failed, and says so itself


def _widen(pipe: int) -> None:
    try:
        fcntl.fcntl(pipe, F_SETPIPE_SZ, CAPACITY)
    except OSError:
        pass  # it stays as wide as it is
