#!/bin/sh
# Installs what `make test` measures against, where it is missing: the system's SQLite. As root on Debian
# by apt; elsewhere it says the command and fails, because a test that silently lacks its engine proves
# nothing.
set -eu

missing=
need() { # a package, and a file that proves it is there
    ls $2 >/dev/null 2>&1 || missing="$missing $1"
}

need libsqlite3-0 "/usr/lib/*/libsqlite3.so.0"

[ -n "$missing" ] || exit 0
command="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "make test: these packages are missing:$missing" >&2
    echo "make test: install them first: sudo $command" >&2
    exit 1
fi
apt-get update
DEBIAN_FRONTEND=noninteractive $command
