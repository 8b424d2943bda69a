"""The main program: from standard input to exit code, whatever fails in between."""

import sys
from typing import BinaryIO

from .contract import read_job
from .events import Closed, Events
from .failure import Failure, Refused, own_fault
from .trial import Trial


def main() -> int:
    """Reads a job from standard input, runs it and writes events to standard output."""
    return run(sys.stdin.buffer, sys.stdout.buffer)


def run(source: BinaryIO, out: BinaryIO) -> int:
    """Returns 0 if `bye` was sent. Otherwise the failure, which may be a fault of the runner, has been
    reported in a `failed` event and on standard error; only on the latter where standard output is closed."""
    events = Events(out)
    trial: Trial | None = None
    about: dict[str, str] = {}
    try:
        trial = Trial(read_job(source), events, source)
        trial.run()
        return 0
    except Closed as closed:
        print(f"cannot write to standard output: {closed}", file=sys.stderr)
        return 1
    except Failure as failure:
        message = failure.message
        if isinstance(failure, Refused):
            about = {"code": failure.code, "statement": failure.statement}
    except Exception as error:
        message = own_fault(error)
    print(message, file=sys.stderr)
    test = {"test": trial.current} if trial and trial.current is not None else {}
    try:
        events.send("failed", **test, message=message, **about)
    except Closed:
        pass
    return 1
