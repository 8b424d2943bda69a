#!/bin/sh
# The time of `dyno prove` for 100 power cuts: of an embedded engine, and of a server. Controls are a part of it.
# Usage: bench/prove.sh DYNO. It ends with 1 where an aim is missed, and says so where no disk can be recorded here.
set -u
dyno=$1
# Findings of this measurement must not appear in later output of dyno.
DYNO_PROOFS=$(mktemp) || exit 1
export DYNO_PROOFS
trap 'rm -f "$DYNO_PROOFS"' EXIT

missed=0
measure() {
    start=$(date +%s%N)
    said=$("$dyno" prove --with "$1" --cuts 100 --kills 0 --no-errors --seed 1 --quiet 2>&1)
    code=$?
    took=$((($(date +%s%N) - start) / 1000000))
    if [ $code -ne 0 ]; then
        printf '| `%s` | not measured (code %s) | %s s |\n' "$1" $code "$2"
        printf '%s\n' "$said" | head -n 3 >&2
        return
    fi
    printf '| `%s` | %s.%s s | %s s |\n' "$1" $((took / 1000)) $((took % 1000 / 100)) "$2"
    [ $took -le $(($2 * 1000)) ] || missed=1
}

printf '\n| 100 power cuts of | took | aim |\n| --- | ---: | ---: |\n'
measure sqlite:wal 60
measure postgres 300
exit $missed
