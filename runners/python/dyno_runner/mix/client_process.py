"""The main program of a client that is a process."""

import ctypes
import os
import pickle
import signal
import sys
from contextlib import nullcontext
from typing import Any, BinaryIO

from ..clock import Clock
from ..drivers import find
from ..failure import Failure, own_fault
from .processes import CLOSED, DONE, FAILED, READY, ClientJob
from .section import Part, perform_part

PR_SET_PDEATHSIG = 1


def be_client(source: BinaryIO, out: BinaryIO) -> int:
    """Reads its job from standard input and answers on standard output. Returns 0 if it has done its part."""

    def say(kind: str, what: Any = None) -> None:
        pickle.dump((kind, what), out)
        out.flush()

    try:
        _part(source, say)
        said = CLOSED, None
    except Failure as failure:
        said = FAILED, failure.message
    except Exception as error:
        said = FAILED, own_fault(error)
    try:
        say(*said)
    except OSError:
        # The reader has closed its end, so the trial has ended.
        return 1
    return 0 if said[0] == CLOSED else 1


def _part(source: BinaryIO, say: Any) -> None:
    """Does a client's part."""
    job = pickle.load(source)
    if not isinstance(job, ClientJob):
        raise Failure("a client is started by its runner, not by hand")
    # No client outlives its runner, not even one in the middle of a call.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != job.parent:
        raise Failure("the runner has ended")

    def begin() -> int:
        say(READY)
        moment: int = pickle.load(source)
        return moment

    try:
        driver = find(job.job).join(job.job)
    except Failure as failure:
        raise failure.within(f"client {job.before + 1}") from None
    try:
        with nullcontext() if job.work.session is None else driver.aside():
            done = perform_part(job.work, driver, Clock(None), Part(job.before, _take(job), begin))
        say(DONE, done)
        # Until standard input is closed.
        source.read()
    except BaseException:
        driver.abandon()
        raise
    driver.close()


def _take(job: ClientJob) -> Any:
    """Returns a function that reads the next number from the file whose position all clients share; at its
    end it returns a number that is too large. None where clients share no file."""
    numbers = job.numbers
    if numbers is None:
        return None
    read, number, order = os.read, int.from_bytes, sys.byteorder
    size = 8

    def take() -> int:
        found = read(numbers, size)
        return number(found, order) if found else sys.maxsize

    return take
