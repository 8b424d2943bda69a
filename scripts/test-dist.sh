#!/bin/sh
# Tries the archive that scripts/dist.sh makes in a root folder that holds it and the C library, and nothing else: no
# shell, no toolchain, no clone. Then tries the installation.
#
#   scripts/test-dist.sh ARCHIVE
set -eu

archive=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM
root=$work/root
mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/opt"

fail() {
    echo "test-dist: $*" >&2
    exit 1
}

tar -C "$root/opt" --zstd -xf "$archive"
home=$(cd "$root" && ls -d opt/dyno-*)
# What every Debian has: the C library with its loader, and the compiler's support library.
for library in $(ldd "$root/$home/bin/"* | grep -oE '/[^ ]+/(ld-linux|lib(c|m|dl|rt|pthread|resolv|gcc_s)\.so)[^ ]*' | sort -u); do
    mkdir -p "$root${library%/*}"
    cp -L "$library" "$root$library"
done

# Root has no need of a namespace of users, and some machines allow none.
unshare="unshare --mount --pid --fork --kill-child"
[ "$(id -u)" = 0 ] || unshare="$unshare --map-root-user"
chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)
export root chroot
inside() { # arguments of dyno
    # The mounts end with the namespace.
    $unshare sh -ec '
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        program=$1 && shift
        exec env -i HOME=/tmp PATH=/nowhere "$chroot" "$root" "/$program" "$@"' sh "$home/bin/dyno" "$@"
}
says() { # what the last output must hold
    grep -qF -- "$1" "$work/said" || { cat "$work/said" >&2 && fail "this does not say \`$1\`"; }
}

inside list --format json >"$work/said"
says modernc
sqlites=sqlite,sqlite:nosync,sqlite@mc,sqlite/mattn,sqlite/gosqlite,sqlite/modernc
inside run speedtest --scale 0.02 --trials 1 --quiet --with "$sqlites" >"$work/said" || fail "speedtest: exit code $?"
says "DROP TABLE"
inside run kv --n 50 --trials 1 --quiet --with fjall,redb,pebble >"$work/said" || fail "kv: exit code $?"
ls "$root/results/"*.jsonl >/dev/null || fail "the runs left no run file"

sh scripts/dist.sh --install "$work/usr" >/dev/null
(cd "$work" && usr/bin/dyno run speedtest --scale 0.02 --only 15 --trials 1 --quiet >said) ||
    fail "the installation: exit code $?"
says "DROP TABLE"
echo "test-dist: ${archive##*/} runs by itself ($(du -h "$archive" | cut -f1))"
