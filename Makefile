# The commands of a clone. Everything is built by cargo; nothing is installed outside target/.

CARGO ?= cargo
# The programs of the workspace but for the benchmark of dyno itself.
BUILD = $(CARGO) build --release --workspace --exclude dyno-bench
DYNO = $(CARGO) run --release --quiet -p dyno --
# Where Cargo puts what it builds, and the private environment of the runner in Python beside it.
TARGET = $(or $(CARGO_TARGET_DIR),target)
PYTHON = $(TARGET)/python/bin/python

.PHONY: build build-python run test needs lint check bench clean

# dyno and its runners.
# Without Python all but its drivers work; `dyno list` says so.
build:
	$(BUILD)
	-sh scripts/build-python.sh

# The private environment of the runner in Python.
build-python:
	sh scripts/build-python.sh

# The fifteen tests on SQLite, with syncing on and off.
run: build
	$(DYNO) run speedtest

# Every check. `needs` installs what the tests measure against, or says how.
test: needs lint check

needs:
	sh scripts/test-needs.sh
	sh scripts/build-python.sh

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	PYTHONPYCACHEPREFIX=$(TARGET)/python/compiled $(PYTHON) -W error -m compileall -q runners/python

check:
	$(CARGO) build --release --workspace
	$(CARGO) test --release --workspace --no-fail-fast
	$(PYTHON) -B -m unittest discover -s runners/python -t runners/python

# dyno's own cost over programs written by hand in C.
bench: build
	$(CARGO) run --release --quiet -p dyno-bench

clean:
	$(CARGO) clean
