#!/bin/sh
# Makes the runs that this repository keeps in runs/, from which `make site` makes its site: one run of each suite named
# below, small enough to be kept (some tens of KiB, packed), on a quiet machine, by the release build. Read what `dyno
# doctor` prints first.
#
#   scripts/kept-runs.sh [SUITE...]
#
# DYNO names another program, such as an installed one, since a run file has the paths of the libraries that were measured.
# MADE_BY names another maker than a maintainer of dyno.
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
    micro) echo "--trials 8 --with sqlite:wal,postgres" ;;
    kv) echo "--trials 8 --n 20000" ;;
    encryption) echo "--trials 8 --scale 0.2 --with sqlite:plain,sqlite@sqlcipher:raw-key,sqlite@mc:encrypted,cipher=chacha20" ;;
    intuition) echo "--trials 6 --rows 20000 --with sqlite,postgres,mariadb,duckdb" ;;
    bank) echo "--trials 6 --only transfer --duration 1s --with sqlite:wal,postgres:serializable,mariadb:serializable" ;;
    ycsb | orders | app) echo "--trials 4 --duration 1s --with sqlite:wal,postgres:serializable,mariadb:serializable" ;;
    import*) echo "--trials 6 --rows 50000" ;;
    *) echo "--trials 8" ;;
    esac
}

[ $# -gt 0 ] || set -- speedtest encryption intuition import kv bank
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
