"""The runner for drivers in Python: all of a trial, and what each driver does with it.

`main` goes from standard input to exit code, `contract` reads the job, `events` writes what happened,
`trial` goes through the tests, `models` does the work of one, `mix` that of many clients, `clock`,
`counters`, `gauge` and `histogram` measure it, `inputs` maps the files, `drivers` reach the engines.
docs/protocol.md says what all runners owe.
"""

VERSION = "0.1.0"
