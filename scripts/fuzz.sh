#!/bin/sh
# Fuzzes each reader of what strangers write, for a number of seconds each: fuzz/fuzz_targets/, in the layout of cargo-fuzz.
#
#   scripts/fuzz.sh [SECONDS] [TARGET...]
#
# It begins with real files (suites, labels, data) and keeps in fuzz/corpus/ what reached new code. An input that fails is
# kept in fuzz/artifacts/TARGET/, and this exits with 1. Sanitizers are for Rust's nightly; RUSTC_BOOTSTRAP=1 lets the stable
# compiler take their flags as well.
set -eu

cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# = 0 ] || shift
command -v cargo-fuzz >/dev/null || {
    echo "fuzz: cargo-fuzz is missing: cargo install cargo-fuzz (https://crates.io/crates/cargo-fuzz)" >&2
    exit 1
}
[ $# -gt 0 ] || set -- $(cargo fuzz list)

# Real inputs, so that the fuzzer need not find the formats.
seed() {
    corpus=fuzz/corpus/$1
    mkdir -p "$corpus"
    case $1 in
    suite) cp suites/*.toml "$corpus" ;;
    run_file) cp crates/dyno/tests/golden/run.json "$corpus" ;;
    contender) printf 'sqlite@system/c+insert:wal,cache_size=-65536,postgres=postgres://a:b@h:1/d' >"$corpus/label" ;;
    event) grep -o '{"event":[^`]*}' docs/protocol.md | split -l 1 - "$corpus/line" ;;
    wire) printf '\000\022\000\000\000\011\000\003\000\000\000\030Q\000\000\000\013COMMIT\000' >"$corpus/commit" ;;
    import) printf '\001\001id,name,size\n1,"A ""b""",2.5\n2,,-3\n' >"$corpus/table" ;;
    esac
}

status=0
for target; do
    seed "$target"
    echo "fuzz: $target for $seconds seconds"
    RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" -- -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
        -print_final_stats=1 -verbosity=0 || status=1
done
exit $status
