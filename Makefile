# The commands of a clone. Everything is built by cargo, but the drivers in Go by go, and those in Python get an
# environment of their own; only `make needs` and `make install` write outside target/.

CARGO ?= cargo
# The programs of the workspace but for the benchmark of dyno itself.
BUILD = $(CARGO) build --release --workspace --exclude dyno-bench
# What the table of `make run` takes. Their features are those of the whole workspace (crates/dyno/tests/builds.rs), so
# that nothing is compiled again by a later `make build`.
BUILD_FIRST = $(CARGO) build --release -p dyno -p dyno-runner-sqlite -p dyno-runner-null
# Where Cargo puts what it builds. Programs in Go go beside its own; the private environment of the runner in
# Python is there too.
TARGET = $(or $(CARGO_TARGET_DIR),target)
PYTHON = $(TARGET)/python/bin/python
# Where `make install` puts it; DESTDIR goes before it, for those who make packages.
PREFIX = /usr/local

.PHONY: build build-go build-python run test needs lint check bench dist install gallery report-assets import-parquet clean

# dyno and its runners. Without Go or Python all but their drivers work; `dyno list` says so.
build:
	sh scripts/needs.sh --check build
	$(BUILD)
	-sh scripts/build-go.sh "$(TARGET)/release"
	-sh scripts/build-python.sh

# The private environment of the runner in Python.
build-python:
	sh scripts/build-python.sh

# The runner of drivers in Go, and the library with which it measures; without Go, nothing.
build-go:
	if command -v go >/dev/null; then $(CARGO) build --release -p dyno-gauge; fi
	sh scripts/build-go.sh "$(TARGET)/release"

# The fifteen tests on SQLite, with syncing on and off.
run:
	sh scripts/needs.sh --check build
	$(BUILD_FIRST)
	$(TARGET)/release/dyno run speedtest

# Every check. `needs` installs what needs.txt lists, or says how.
test: needs lint check

needs:
	sh scripts/needs.sh test
	sh scripts/build-python.sh

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	cd runners/go && test -z "$$(gofmt -l .)" && go vet -mod=readonly ./...
	PYTHONPYCACHEPREFIX=$(TARGET)/python/compiled $(PYTHON) -W error -m compileall -q runners/python

check: build-go
	cd runners/go && go test -mod=readonly ./...
	$(CARGO) build --release --workspace
	$(CARGO) test --release --workspace --no-fail-fast
	$(PYTHON) -B -m unittest discover -s runners/python -t runners/python
	sh scripts/test-dist.sh "$$(sh scripts/dist.sh)"

# dyno's own cost over programs written by hand in C, dyno import beside other ways to load, and how long proofs take.
bench: build
	$(CARGO) run --release --quiet -p dyno-bench
	$(CARGO) run --release --quiet -p dyno-bench --bin dyno-bench-import
	$(PYTHON) bench/threads.py
	sh bench/prove.sh "$(TARGET)/release/dyno"

# One archive that runs where there is no toolchain, target/dist/dyno-VERSION-linux-ARCH.tar.zst; docs/building.md.
dist: build
	sh scripts/dist.sh

# The same files, of what was built before: `make build && sudo make install`.
install:
	sh scripts/dist.sh --install "$(DESTDIR)$(PREFIX)"

# The command with Parquet for dyno import.
import-parquet:
	$(CARGO) build --release -p dyno --features parquet

# Every suite at a small size, as pages and pictures in docs/gallery/. The pictures need Chromium. Contenders that are
# not at hand are left out.
gallery: build
	sh scripts/gallery.sh

# The report's chart library anew from the versions in package-lock.json. Only this needs npm.
report-assets:
	cd crates/show/report && npm ci --no-audit --no-fund && npm run build

clean:
	$(CARGO) clean
