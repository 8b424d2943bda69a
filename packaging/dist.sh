#!/bin/sh
# Packs what `make build` has made into an archive that runs from any folder, without toolchains.
#
#   packaging/dist.sh                    target/dist/dyno-VERSION-linux-ARCH.tar.zst
#   packaging/dist.sh --install FOLDER   the same files into FOLDER/lib/dyno, the command into FOLDER/bin, and manual pages
#                                      and completions into FOLDER/share
#
# DYNO_PROGRAMS names another folder of programs than that of the release build.
#
# It runs where the C library is at least as new as here. Drivers in Python, in Node.js and on the JVM need Python, npm, or
# a JDK with Maven there: scripts/build-python.sh, build-node.sh and build-jvm.sh, which the archive holds, fetch them.
set -eu
[ "${1-}" != --install ] || set -- --install "$(realpath -m -- "${2:?--install names a folder}")"
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
# What `make build` leaves out is packed where it was built: no package holds its sources.
runners=
for folder in runners/*/; do
    case $folder in
    runners/crates/) made=dyno-runner-rusqlite ;;
    runners/etcd/) made=dyno-runner-etcd ;;
    runners/rqlite/) made=dyno-runner-rqlite ;;
    *) made=dyno ;;
    esac
    [ ! -f "$programs/$made" ] || runners="$runners $folder"
done
# Every runner has its programs; those in Python, in Node.js and on the JVM have sources.
for file in dyno libdyno_gauge.so libdyno_heap.so libdyno_sqlite3.so libdyno_sqlcipher.so libdyno_sqlite3mc.so \
    $(grep -ohE '\{bin\}/dyno-runner-[a-z-]+' $(printf '%srunner.toml ' $runners) | sed 's/.*\///' | sort -u); do
    [ -f "$programs/$file" ] || say "$file is missing: run \`make build\`, and see what it leaves out"
    # Most of a program is debug information. Without it a panic still names its line, and a backtrace its functions. It
    # names the folders of the build, and the linker computes the identifier of a build from all of it.
    objcopy --strip-debug --remove-section=.note.gnu.build-id "$programs/$file" "$stage/bin/$file"
    # Where a program looks in folders of its build, its package has zeros (crates/files/src/build_folder.rs).
    size=$(objdump -h "$stage/bin/$file" | sed -n 's/^ *[0-9]* \.dyno\.folders *\([0-9a-f]*\) .*/\1/p')
    if [ -n "$size" ]; then
        head -c $((0x$size)) /dev/zero >"$stage/zeros"
        objcopy --update-section ".dyno.folders=$stage/zeros" "$stage/bin/$file"
        rm "$stage/zeros"
    fi
done
for folder in $runners; do
    mkdir -p "$stage/$folder"
    cp "$folder/runner.toml" "$stage/$folder"
done
cp -R runners/python/__main__.py runners/python/dyno_runner runners/python/requirements.txt runners/python/compiled.txt \
    "$stage/runners/python"
cp -R runners/node/main.js runners/node/src runners/node/package.json runners/node/package-lock.json "$stage/runners/node"
cp -R runners/jvm/src runners/jvm/pom.xml runners/jvm/checksums "$stage/runners/jvm"
find "$stage/runners/python" -name __pycache__ -prune -exec rm -rf {} +
cp -R suites engines docs README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md needs.txt "$stage"
# Files of the source that the documents link to.
cp --parents bench/bdb.c bench/prepared.c bench/reference.c bench/turns.h crates/sqlite/flags.txt runners/mysql/errors.toml \
    "$stage"
cp scripts/build-python.sh scripts/build-node.sh scripts/build-jvm.sh scripts/install-mysql.sh "$stage/scripts"
# Manual pages and completions, which `dyno` prints.
man=$stage/share/man/man1
mkdir -p "$man" "$stage/share/bash-completion/completions" "$stage/share/zsh/site-functions" \
    "$stage/share/fish/vendor_completions.d"
"$stage/bin/dyno" man >"$man/dyno.1"
for command in $("$stage/bin/dyno" man --list); do
    "$stage/bin/dyno" man "$command" >"$man/dyno-$command.1"
done
"$stage/bin/dyno" completions bash >"$stage/share/bash-completion/completions/dyno"
"$stage/bin/dyno" completions zsh >"$stage/share/zsh/site-functions/_dyno"
"$stage/bin/dyno" completions fish >"$stage/share/fish/vendor_completions.d/dyno.fish"

if [ "${1-}" = --install ]; then
    folder=$2
    mkdir -p "$folder/lib" "$folder/bin"
    rm -rf "$folder/lib/dyno"
    cp -R "$stage/share" "$folder"
    rm -r "$stage/share"
    cp -R "$stage" "$folder/lib/dyno"
    # The command finds the rest next to the file that the link leads to.
    ln -sfn ../lib/dyno/bin/dyno "$folder/bin/dyno"
    rm -rf "$stage"
    echo "dyno is in $folder/bin"
    exit 0
fi

chmod -R u=rwX,go=rX "$stage"
command -v zstd >/dev/null || say "there is no zstd: run \`make needs\`"
tar -C "$target/dist" --sort=name --mtime="@$(sh packaging/commit-time.sh)" --owner=0 --group=0 --numeric-owner -cf - "$name" |
    zstd -q -T0 -10 -f -o "$target/dist/$name.tar.zst"
rm -rf "$stage"
echo "$target/dist/$name.tar.zst"
