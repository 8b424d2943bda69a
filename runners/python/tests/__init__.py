"""The tests of the runner: `make check` runs them in its private environment.

Drivers of servers are tested by crates/dyno/tests/python.rs, which starts the servers.
"""
