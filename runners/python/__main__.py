"""Starts the runner: `python -I runners/python FOLDER`, FOLDER being that of dyno's own program."""

import sys

from dyno_runner.main import main

sys.exit(main())
