"""Starts the command, whose programs are in this package."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes dyno. Drivers in Python are those of this interpreter's environment."""
    program = Path(__file__).parent / "bin" / "dyno"
    os.environ.setdefault("DYNO_PYTHON", sys.executable)
    os.execv(program, ["dyno", *sys.argv[1:]])


if __name__ == "__main__":
    main()
