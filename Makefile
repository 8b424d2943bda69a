# The commands of a clone. Everything is built by cargo; nothing is installed outside target/.

CARGO ?= cargo
# The programs of the workspace but for the benchmark of dyno itself.
BUILD = $(CARGO) build --release --workspace --exclude dyno-bench
DYNO = $(CARGO) run --release --quiet -p dyno --

.PHONY: build run test needs lint check bench gallery report-assets clean

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

# dyno's own cost over programs written by hand in C.
bench: build
	$(CARGO) run --release --quiet -p dyno-bench

# Every suite at a small size, as pages and pictures in docs/gallery/. The pictures need Chromium.
gallery: build
	sh scripts/gallery.sh

# The report's chart library anew from the versions in package-lock.json. Only this needs npm.
report-assets:
	cd crates/dyno/report && npm ci --no-audit --no-fund && npm run build

clean:
	$(CARGO) clean
