# The commands of a clone. Everything is built by cargo; nothing is installed outside target/.

CARGO ?= cargo
# The programs of the workspace but for the benchmark of dyno itself.
BUILD = $(CARGO) build --release --workspace --exclude dyno-bench
DYNO = $(CARGO) run --release --quiet -p dyno --

.PHONY: build run test needs lint check bench import-parquet clean

# dyno and its runners.
build:
	$(BUILD)

# The fifteen tests on SQLite, with syncing on and off.
run: build
	$(DYNO) run speedtest

# Every check. `needs` installs what the tests measure against, or says how.
test: needs lint check

needs:
	sh scripts/test-needs.sh

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings

check:
	$(CARGO) build --release --workspace
	$(CARGO) test --release --workspace --no-fail-fast

# dyno's own cost over programs written by hand in C, and dyno import beside other ways to load.
bench: build
	$(CARGO) run --release --quiet -p dyno-bench
	$(CARGO) run --release --quiet -p dyno-bench --bin dyno-bench-import

# The command with Parquet for dyno import.
import-parquet:
	$(CARGO) build --release -p dyno --features parquet

clean:
	$(CARGO) clean
