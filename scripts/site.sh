#!/bin/sh
# Makes one static folder of pages, target/site, from the runs that this repository keeps in runs/ (scripts/kept-runs.sh).
# A file RUN.withdrawn there says why a run is withdrawn.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
dyno=${DYNO:-$target/release/dyno}
[ -x "$dyno" ] || {
    echo "site: there is no $dyno: run \`make build\`" >&2
    exit 1
}
ls runs/*.jsonl.gz >/dev/null 2>&1 || {
    echo "site: there is no run in runs/: scripts/kept-runs.sh makes them" >&2
    exit 1
}
# Kept packed, and unpacked where nothing is kept.
rm -rf "$target/runs"
mkdir -p "$target/runs"
for run in runs/*.jsonl.gz; do
    gzip -dc "$run" >"$target/runs/$(basename "$run" .gz)"
done
for note in runs/*.withdrawn; do
    [ ! -e "$note" ] || cp "$note" "$target/runs/"
done
"$dyno" site "$target"/runs/*.jsonl -o "$target/site"
