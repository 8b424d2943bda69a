"""Feeds LOAD DATA LOCAL from memory.

PyMySQL reads what it sends from a file that it opens by its name. Here that is the reading end of a pipe: so
rows go from the mapped input to the server without a file between, however many they are.
"""

import os
from collections.abc import Callable, Iterator
from threading import Thread

# What a pipe holds at once, in bytes: the most that the kernel gives to everybody.
CAPACITY = 1 << 20
F_SETPIPE_SZ = 1031


def feed(blocks: Iterator[bytes], load: Callable[[str], None]) -> None:
    """Calls `load` with the name of a file that holds the blocks, one after another."""
    reader, writer = os.pipe()
    _widen(writer)
    thread = Thread(target=_write, args=(writer, blocks), daemon=True)
    thread.start()
    try:
        load(f"/proc/self/fd/{reader}")
    finally:
        # Where nobody has read to the end, the writer is stopped by there being no reader.
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
    import fcntl

    try:
        fcntl.fcntl(pipe, F_SETPIPE_SZ, CAPACITY)
    except OSError:
        pass  # it stays as wide as it is
