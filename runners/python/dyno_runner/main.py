"""From standard input to exit code, whatever goes wrong between."""

import sys
import traceback
from pathlib import Path
from typing import BinaryIO

from .contract import read_job
from .events import Closed, Events
from .failure import Failure, one_line
from .trial import Trial


def main() -> int:
    """Reads a job from standard input, goes through it and writes events to standard output."""
    return run(sys.stdin.buffer, sys.stdout.buffer)


def run(source: BinaryIO, out: BinaryIO) -> int:
    """0 means that `bye` was sent. Any failure, one of the runner's own included, has been told in a `failed`
    event and on standard error; where standard output is closed there is nobody to tell."""
    events = Events(out)
    trial: Trial | None = None
    try:
        trial = Trial(read_job(source), events, source)
        trial.run()
        return 0
    except Closed as closed:
        print(f"cannot write to standard output: {closed}", file=sys.stderr)
        return 1
    except Failure as failure:
        message = failure.message
    except Exception as error:
        message = _own_fault(error)
    print(message, file=sys.stderr)
    test = {"test": trial.current} if trial and trial.current is not None else {}
    try:
        events.send("failed", **test, message=message)
    except Closed:
        pass
    return 1


def _own_fault(error: Exception) -> str:
    """What nobody foresaw, in one line with its place."""
    frames = traceback.extract_tb(error.__traceback__)
    place = (
        f" in {frames[-1].name}, line {frames[-1].lineno} of {Path(frames[-1].filename).name}"
        if frames
        else ""
    )
    words = f"{type(error).__name__}: {one_line(error)}{place}"
    return f"the runner itself failed, which is an error in the runner: {words}"
