# The commands of a clone. Everything is built by cargo, but the drivers in Go by go; nothing is installed
# outside target/.

CARGO ?= cargo
# The programs of the workspace but for the benchmark of dyno itself.
BUILD = $(CARGO) build --release --workspace --exclude dyno-bench
DYNO = $(CARGO) run --release --quiet -p dyno --
# Where cargo puts programs; those in Go go there too.
PROGRAMS = $(or $(CARGO_TARGET_DIR),target)/release

.PHONY: build build-go run test needs lint check bench clean

# dyno and its runners.
build: build-go
	$(BUILD)

# The runner of drivers in Go; without Go, nothing.
build-go:
	sh scripts/build-go.sh "$(PROGRAMS)"

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
	cd runners/go && test -z "$$(gofmt -l .)" && go vet -mod=readonly ./...

check: build-go
	cd runners/go && go test -mod=readonly ./...
	$(CARGO) build --release --workspace
	$(CARGO) test --release --workspace --no-fail-fast

# dyno's own cost over programs written by hand in C.
bench: build
	$(CARGO) run --release --quiet -p dyno-bench

clean:
	$(CARGO) clean
