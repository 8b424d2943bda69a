#!/bin/sh
# Builds and packs the commit that is checked out twice, in two clones whose folders have names of different lengths, and
# compares the two archives byte by byte. Says which file differs first; exit code 1 then.
#
#   packaging/reproducible.sh         what `make run` builds: dyno and the runners of SQLite and of nothing
#   packaging/reproducible.sh --all   what `make dist` packs, in half an hour or more
#
# The clones and what is built there are in a folder of TMPDIR, which is removed at the end. JOBS is for Cargo.
set -eu
cd "$(dirname "$0")/.."

clone=$PWD
commit=$(git rev-parse HEAD)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM

say() {
    echo "reproducible: $*" >&2
}
pack() { # in a clone
    unset CARGO_TARGET_DIR DYNO_PROGRAMS DYNO_RUNNERS
    if [ "$all" = yes ]; then
        make build && sh packaging/dist.sh
    else
        cargo build --release --locked ${JOBS:+-j "$JOBS"} -p dyno -p dyno-runner-sqlite -p dyno-runner-null &&
            DYNO_RUNNERS="sqlite null" sh packaging/dist.sh
    fi
}

all=no
[ "${1-}" != --all ] || all=yes
[ -z "$(git status --porcelain)" ] || say "what is not committed is left out"
for folder in "$work/a" "$work/another/folder"; do
    git clone --quiet --no-checkout "$clone" "$folder"
    git -C "$folder" checkout --quiet --detach "$commit"
    say "builds in $folder"
    (cd "$folder" && pack >"$folder.log" 2>&1) || {
        tail -n 20 "$folder.log" >&2
        say "cannot build in $folder"
        exit 1
    }
    mkdir "$folder.packed"
    mv "$folder"/target/dist/*.tar.zst "$folder.tar.zst"
    tar -C "$folder.packed" --zstd -xf "$folder.tar.zst"
    rm -rf --one-file-system "$folder"
done

sha256sum "$work/a.tar.zst" "$work/another/folder.tar.zst" | cut -d' ' -f1
if cmp "$work/a.tar.zst" "$work/another/folder.tar.zst"; then
    say "$commit gives the same archive in both folders"
    exit 0
fi
first=$(diff -rq "$work/a.packed" "$work/another/folder.packed" | head -n 1)
say "the archives differ; first: ${first:-only in their order, times or modes}"
exit 1
