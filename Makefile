# The commands of a clone. Everything is built by cargo, but the drivers in Go by go, and those in Python, in Node.js
# and on the JVM get a folder of packages each; only `make needs` and `make install` write outside target/.

CARGO ?= cargo
# The programs of the workspace but for the benchmark of dyno itself.
BUILD = $(CARGO) build --release --workspace --exclude dyno-bench
# The programs for the table of `make run`. Their features are those of the whole workspace
# (crates/dyno/tests/builds.rs), so that nothing is compiled again by a later `make build`.
BUILD_FIRST = $(CARGO) build --release -p dyno -p dyno-runner-sqlite -p dyno-runner-null
# Where Cargo puts what it builds. Programs in Go go next to its own; the private environment of the runner in
# Python is there too.
TARGET = $(or $(CARGO_TARGET_DIR),target)
PYTHON = $(TARGET)/python/bin/python
NODE = $(TARGET)/node/bin/node
JAVA = $(TARGET)/jvm/bin/java
# Where `make install` puts it; DESTDIR goes before it, for those who make packages.
PREFIX = /usr/local

.PHONY: build build-go build-clusters build-python build-node build-jvm build-crates run test needs drivers lint check check-rust check-others soak bench dist deb wheel release install gallery page-layers page-sqlite page-delay manual site report-assets clean

# dyno and its runners. Without Go or Python all but their drivers work; `dyno list` says so.
build:
	sh scripts/needs.sh --check build
	$(BUILD)
	-sh scripts/build-go.sh "$(TARGET)/release"
	-sh scripts/build-python.sh

# The private environment of the runner in Python.
build-python:
	sh scripts/build-python.sh

# The private folder of the runner in Node.js, and the library with which it measures. `make build` leaves it out.
build-node:
	$(CARGO) build --release -p dyno-gauge
	sh scripts/build-node.sh

# The private folder of the runner on the JVM, and the library with which it measures. `make build` leaves it out.
build-jvm:
	$(CARGO) build --release -p dyno-gauge
	sh scripts/build-jvm.sh

# The runners for client libraries of Rust, with separate packages. `make build` leaves them out.
build-crates:
	sh scripts/build-crates.sh "$(TARGET)/release"

# The runner of drivers in Go, and the library with which it measures; without Go, nothing.
build-go:
	if command -v go >/dev/null; then $(CARGO) build --release -p dyno-gauge; fi
	sh scripts/build-go.sh "$(TARGET)/release"

# The servers of clusters that are had as source in Go, and the runners that reach them. `make build` leaves them out.
build-clusters:
	$(CARGO) build --release -p dyno-gauge
	sh scripts/build-clusters.sh "$(TARGET)/release"

# The fifteen tests on SQLite, with syncing on and off.
run:
	sh scripts/needs.sh --check build
	$(BUILD_FIRST)
	$(TARGET)/release/dyno run speedtest

TEST_PACKAGES = sh packaging/all.sh --test

# Every check. `needs` installs what needs.txt lists, or says how. Two steps run at once where one of them mostly waits.
test: needs
	$(MAKE) --no-print-directory -j2 lint drivers
	$(MAKE) --no-print-directory check

needs:
	sh scripts/needs.sh test
	sh scripts/build-python.sh

# The drivers in Node.js and on the JVM, where they can be had.
drivers:
	-sh scripts/build-node.sh
	sh scripts/build-jvm.sh || test $$? -eq 1

# Clippy compiles the packages of the workspace for `lint`, and what comes of it is what `check` runs: nothing is
# compiled twice. Their profile is that of everyday work on dyno; `make soak` tests what users get.
CHECKED = $(TARGET)/checked
CHECKED_CARGO = RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ $(CARGO)
# More tests than processors run at once, as some wait for servers and disks.
THREADS ?= $$(( 2 * $$(nproc) ))

# The copies of SQLite in Go's packages compile in half of the time, and with the flags of scripts/build-go.sh once.
lint check: export CGO_CFLAGS = -O1
lint check: export GOFLAGS = -trimpath

lint:
	$(CARGO) fmt --check
	cd runners/go && test -z "$$(gofmt -l . ../etcd ../rqlite)" && go vet -mod=readonly ./...
	PYTHONPYCACHEPREFIX=$(TARGET)/python/compiled $(PYTHON) -W error -m compileall -q runners/python
	$(CHECKED_CARGO) build --profile checked --workspace
	$(CHECKED_CARGO) test --profile checked --workspace --no-run

check: lint
	sh scripts/build-go.sh "$(CHECKED)"
	$(MAKE) --no-print-directory -j2 check-rust check-others
	@test -x $(CHECKED)/etcd || echo "NOT TESTED: etcd, which 'sh scripts/build-clusters.sh $(CHECKED)' builds"
	@test -x $(CHECKED)/rqlited || echo "NOT TESTED: rqlite, which 'sh scripts/build-clusters.sh $(CHECKED)' builds"
	@test -x $(CHECKED)/dyno-runner-sqlx || echo "NOT TESTED: the drivers of Rust's crates; 'sh scripts/build-crates.sh $(CHECKED) checked' builds them"
	@test -x $(NODE) || echo "NOT TESTED: the drivers in Node.js; 'sh scripts/build-node.sh' says why"
	@test -x $(JAVA) || echo "NOT TESTED: the drivers on the JVM; 'sh scripts/build-jvm.sh' says why"

# The tests of the workspace, and those of the command among them.
check-rust:
	RUST_TEST_THREADS=$(THREADS) $(CHECKED_CARGO) test --profile checked --workspace --no-fail-fast

# The tests of the runners in other languages, and of the packages.
check-others:
	cd runners/go && DYNO_PROGRAMS="$(abspath $(CHECKED))" go test -mod=readonly ./...
	DYNO_PROGRAMS=$(CHECKED) $(PYTHON) -B -m unittest discover -s runners/python -t runners/python
	! test -x $(CHECKED)/etcd || (cd runners/etcd && DYNO_PROGRAMS="$(abspath $(CHECKED))" go test -mod=readonly ./...)
	! test -x $(CHECKED)/rqlited || (cd runners/rqlite && DYNO_PROGRAMS="$(abspath $(CHECKED))" go test -mod=readonly ./...)
	! test -x $(NODE) || DYNO_PROGRAMS=$(CHECKED) $(NODE) --test "runners/node/tests/*.test.js"
	! test -x $(JAVA) || DYNO_PROGRAMS=$(CHECKED) sh runners/jvm/tests/run.sh $(TARGET)/jvm
	DYNO_PROGRAMS=$(CHECKED) $(TEST_PACKAGES)

# Checks that take hours, on the programs that users get; before each release. `make soak TRIES=100` is shorter.
TRIES ?= 10000
# Seconds for each fuzz target.
FUZZ ?= 600
soak: needs drivers build build-crates build-clusters
	DYNO_THOROUGH=1 RUST_TEST_THREADS=$(THREADS) $(CARGO) test --release --workspace --no-fail-fast
	DYNO_TRIES=$(TRIES) DYNO_FILES=$(TRIES) DYNO_KILLS=200 SQLITE_PAGES_CASES=2500 $(CARGO) test --release --workspace \
		--no-fail-fast -- --ignored --skip helper_that_waits_to_be_killed --skip holds_a_server
	$(CARGO) test --release -p dyno --no-default-features -- parquet version
	$(TEST_PACKAGES)
	sh scripts/site.sh
	sh scripts/manual.sh
	sh scripts/fuzz.sh $(FUZZ)

# dyno's own cost over programs written by hand, dyno import compared with other ways to load, how long proofs take,
# and how exact counts and causes are.
bench: build
	$(CARGO) run --release --quiet -p dyno-bench
	$(CARGO) run --release --quiet -p dyno-bench --bin dyno-bench-import
	$(PYTHON) bench/threads.py
	$(PYTHON) bench/python.py "$(TARGET)/release" sqlite/sqlalchemy
	! test -x $(NODE) || $(NODE) --expose-gc bench/node.mjs "$(TARGET)/release"
	! test -x "$(TARGET)/release/dyno-runner-go-mattn" || $(PYTHON) bench/go.py "$(TARGET)/release"
	! test -x $(JAVA) || $(PYTHON) bench/jvm.py "$(TARGET)/release"
	sh bench/prove.sh "$(TARGET)/release/dyno"
	$(PYTHON) bench/counts.py "$(TARGET)/release/dyno"

# One archive that runs where there is no toolchain, target/dist/dyno-VERSION-linux-ARCH.tar.zst; docs/building.md.
dist: build
	sh packaging/dist.sh

# The same as a package for Debian, and as a wheel for pip.
deb: build
	sh packaging/deb.sh
wheel: build
	sh packaging/wheel.sh

# All of them with their checksums, a list of what they are made of, and the notes of the release, in target/dist.
release: build
	sh packaging/all.sh

# The same files, of what was built before: `make build && sudo make install`.
install:
	sh packaging/dist.sh --install "$(DESTDIR)$(PREFIX)"

# Every suite at a small size, as pages and pictures in target/gallery/. The pictures need Chromium. Contenders that are
# not at hand are left out.
gallery: build
	sh scripts/gallery.sh

# One page of the gallery each: a web application through layers, SQLite in every language, what a millisecond of network costs.
page-layers page-sqlite page-delay: build
	sh scripts/gallery.sh $@

# The pages of docs/ as a site that can be searched from a disk, target/manual/html. The tool comes from PyPI.
manual:
	sh scripts/manual.sh

# The kept runs of runs/ as one folder of pages, target/site. scripts/kept-runs.sh makes the runs anew, on a quiet
# machine.
site:
	$(CARGO) build --release -p dyno
	sh scripts/site.sh

# The report's chart library anew from the versions in package-lock.json. Only this needs npm.
report-assets:
	cd crates/show/report && npm ci --no-audit --no-fund && npm run build

clean:
	$(CARGO) clean
