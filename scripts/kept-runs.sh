#!/bin/sh
# Makes the runs that this repository keeps in runs/, from which `make site` makes its site: one run of each suite named
# below, small enough to be kept (some tens of KiB, packed), on a quiet machine, by the release build. Read what `dyno
# doctor` prints first.
#
#   scripts/kept-runs.sh [SUITE...]
#
# DYNO names another program, MADE_BY another maker than a maintainer of dyno.
set -eu
cd "$(dirname "$0")/.."

dyno=${DYNO:-${CARGO_TARGET_DIR:-target}/release/dyno}
[ -x "$dyno" ] || {
    echo "kept-runs: there is no $dyno: run \`make build\`" >&2
    exit 1
}

# The options with which a suite is run.
options() { # SUITE
    case $1 in
    speedtest) echo "--trials 12 --scale 0.2 --with sqlite,sqlite:wal,sqlite:nosync" ;;
    micro) echo "--trials 7 --with sqlite:wal,postgres,mariadb" ;;
    kv) echo "--trials 8 --n 1000" ;;
    *) echo "--trials 8" ;;
    esac
}

[ $# -gt 0 ] || set -- speedtest micro kv
mkdir -p runs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for suite; do
    echo "kept-runs: $suite"
    # 3 means that something failed or gave a wrong answer: such a run is not kept.
    "$dyno" run "$suite" $(options "$suite") --made-by "${MADE_BY:-maintainer}" --quiet --out "$work/$suite.jsonl" || {
        echo "kept-runs: $suite was not run whole, see above, and is not kept" >&2
        continue
    }
    "$dyno" verify "$work/$suite.jsonl"
    gzip -9nc "$work/$suite.jsonl" >"runs/$suite.jsonl.gz"
done
