#!/bin/sh
# Packs what `make build` has made into an archive that runs from any folder, without toolchains.
#
#   scripts/dist.sh                    target/dist/dyno-VERSION-linux-ARCH.tar.zst
#   scripts/dist.sh --install FOLDER   the same files into FOLDER/lib/dyno, and the command into FOLDER/bin
#
# DYNO_PROGRAMS names another folder of programs than that of the release build.
#
# It runs where the C library is at least as new as here. Drivers in Python need Python there:
# scripts/build-python.sh, which the archive holds, fetches them.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
programs=${DYNO_PROGRAMS:-$target/release}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=dyno-$version-linux-$(uname -m)
stage=$target/dist/$name

say() { # what is wrong, and what to do
    echo "dist: $*" >&2
    exit 1
}

rm -rf "$stage"
mkdir -p "$stage/bin" "$stage/runners" "$stage/scripts"
# Every runner has its programs; a runner in Python has sources.
for file in dyno libdyno_gauge.so libdyno_sqlite3.so libdyno_sqlcipher.so libdyno_sqlite3mc.so \
    $(grep -ohE '\{bin\}/dyno-runner-[a-z-]+' runners/*/runner.toml | sed 's/.*\///' | sort -u); do
    [ -f "$programs/$file" ] || say "$file is missing: run \`make build\`, and see what it leaves out"
    # Most of a program is debug information. Without it a panic still names its line, and a backtrace its functions.
    strip --strip-debug -o "$stage/bin/$file" "$programs/$file"
done
for folder in runners/*/; do
    mkdir -p "$stage/$folder"
    cp "$folder/runner.toml" "$stage/$folder"
done
cp -R runners/python/__main__.py runners/python/dyno_runner runners/python/requirements.txt "$stage/runners/python"
find "$stage/runners/python" -name __pycache__ -prune -exec rm -rf {} +
cp -R suites engines docs README.md needs.txt "$stage"
cp scripts/build-python.sh scripts/install-mysql.sh "$stage/scripts"

if [ "${1-}" = --install ]; then
    folder=${2:?--install names a folder}
    mkdir -p "$folder/lib" "$folder/bin"
    rm -rf "$folder/lib/dyno"
    cp -R "$stage" "$folder/lib/dyno"
    # The command finds the rest beside the file that the link leads to.
    ln -sfn ../lib/dyno/bin/dyno "$folder/bin/dyno"
    rm -rf "$stage"
    echo "dyno is in $folder/bin"
    exit 0
fi

command -v zstd >/dev/null || say "there is no zstd: run \`make needs\`"
tar -C "$target/dist" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" |
    zstd -q -T0 -10 -f -o "$target/dist/$name.tar.zst"
rm -rf "$stage"
echo "$target/dist/$name.tar.zst"
