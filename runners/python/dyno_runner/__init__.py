"""The runner for drivers in Python: everything that is the same for all drivers, and the code of each driver.

`main` runs from standard input to exit code, `contract` reads the job, `events` reports what happened,
`trial` runs the tests in order, `models` does the work of one test, `mix` that of many clients, `clock`,
`counters`, `gauge` and `histogram` measure it, `inputs` maps the files, `drivers` connect to the engines.
docs/protocol.md says what every runner must do.
"""

VERSION = "0.1.0"
