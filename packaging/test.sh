#!/bin/sh
# Tests the packages. It unpacks the archive and the .deb each into a root folder that otherwise holds only the C library
# (no shell, no toolchain, no clone), installs the wheel into a new environment of Python, and tests the installation.
#
#   packaging/test.sh ARCHIVE DEB WHEEL
#
# PYTHON names an interpreter that can make environments.
set -eu

archive=$(realpath "$1")
deb=$(realpath "$2")
wheel=$(realpath "$3")
python=${PYTHON:-python3}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "packaging/test.sh: $*" >&2
    exit 1
}
says() { # what the last output must hold
    grep -qF -- "$1" "$work/said" || { cat "$work/said" >&2 && fail "this does not say \`$1\`"; }
}
passed() { # what, and its file
    echo "packaging/test.sh: $1 runs ($(du -h "$2" | cut -f1))"
}

new_root() {
    root=$work/$1
    mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/opt"
}
# The packages of every Debian: the C library with its loader, and the compiler's support library.
add_libraries() { # folder of programs
    for library in $(ldd "$1"/* | grep -oE '/[^ ]+/(ld-linux|lib(c|m|dl|rt|pthread|resolv|gcc_s)\.so)[^ ]*' | sort -u); do
        mkdir -p "$root${library%/*}"
        cp -L "$library" "$root$library"
    done
}

# Root has no need of a namespace of users, and some machines allow none.
unshare="unshare --mount --pid --fork --kill-child"
[ "$(id -u)" = 0 ] || unshare="$unshare --map-root-user"
chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)
export root chroot
inside() { # a program and its arguments
    # The mounts end with the namespace.
    $unshare sh -ec '
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        program=$1 && shift
        exec env -i HOME=/tmp PATH=/nowhere "$chroot" "$root" "/$program" "$@"' sh "$@"
}
speedtest="run speedtest --scale 0.02 --only 15 --trials 1 --quiet --report page.html"
has_page() { # the page that a run has made, and who made it
    grep -q "<!doctype html>" "$1" && grep -q "DROP TABLE" "$1" || fail "$2 made no page of its run"
}

new_root archive
tar -C "$root/opt" --zstd -xf "$archive"
home=$(cd "$root" && ls -d opt/dyno-*)
# A program that names the folder of its build is another one in each folder.
named=$(grep -rlF -- "$PWD/" "$root/$home" | head -n 3)
[ -z "$named" ] || fail "these name the folder of the build: $named"
for document in $(cd "$root/$home" && find . -name '*.md'); do
    for link in $(grep -oE '\]\([^)#: ]+[)#]' "$root/$home/$document" | grep -oE '[^](#)]+'); do
        [ -e "$root/$home/${document%/*}/$link" ] || fail "$document of the archive links to $link, which is not there"
    done
done
add_libraries "$root/$home/bin"
inside "$home/bin/dyno" list --format json >"$work/said"
says modernc
sqlites=sqlite,sqlite:nosync,sqlite@mc,sqlite/mattn,sqlite/gosqlite,sqlite/modernc
inside "$home/bin/dyno" run speedtest --scale 0.02 --trials 1 --quiet --with "$sqlites" >"$work/said" ||
    fail "speedtest: exit code $?"
says "DROP TABLE"
inside "$home/bin/dyno" run kv --n 50 --trials 1 --quiet --with fjall,redb,pebble >"$work/said" ||
    fail "kv: exit code $?"
ls "$root/results/"*.jsonl >/dev/null || fail "the runs left no run file"
passed "the archive" "$archive"

new_root deb
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/var/lib/dpkg/status"
# The packages that it depends on are copied and not installed, so dpkg does not know of them.
PATH=$PATH:/usr/sbin:/sbin dpkg --root="$root" --force-depends --force-not-root --force-bad-path --log=/dev/null \
    --install "$deb" >"$work/said" 2>&1 || { cat "$work/said" >&2 && fail "dpkg does not install the package"; }
add_libraries "$root/usr/lib/dyno/bin"
inside usr/bin/dyno $speedtest >"$work/said" || fail "the .deb's speedtest: exit code $?"
says "DROP TABLE"
has_page "$root/page.html" "the .deb"
for file in man/man1/dyno-run.1.gz bash-completion/completions/dyno zsh/site-functions/_dyno; do
    [ -s "$root/usr/share/$file" ] || fail "the .deb has no /usr/share/$file"
done
passed "the .deb" "$deb"

"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$wheel"
(cd "$work" && env -i HOME=/tmp PATH=/nowhere venv/bin/dyno $speedtest --with sqlite,sqlite/sqlite3 >said) ||
    fail "the wheel's speedtest: exit code $?"
says "DROP TABLE"
has_page "$work/page.html" "the wheel"
passed "the wheel" "$wheel"

sh packaging/dist.sh --install "$work/usr" >/dev/null
rm "$work/page.html"
(cd "$work" && usr/bin/dyno $speedtest >said) || fail "the installation: exit code $?"
says "DROP TABLE"
has_page "$work/page.html" "the installation"
