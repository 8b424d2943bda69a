#!/bin/sh
# Installs what `make test` measures against, where it is missing: the system's SQLite, the servers of
# PostgreSQL and MariaDB and their client libraries, Berkeley DB with its header, LMDB and RocksDB, Python, what
# encryption needs, and the browser that opens reports. As root on Debian by apt; elsewhere it says the command and
# fails, because a test that silently lacks its engine proves nothing. Go it does not install.
set -eu

# Debian's package of Go is older than its drivers; no package of it is asked for.
go version 2>/dev/null | grep -Eq 'go1\.(2[6-9]|[3-9][0-9])' || {
    echo "make test: the drivers in Go need Go 1.26 or later: https://go.dev/dl/" >&2
    exit 1
}

missing=
need() { # a package, and a file that proves it is there
    ls $2 >/dev/null 2>&1 || missing="$missing $1"
}

need libsqlite3-0 "/usr/lib/*/libsqlite3.so.0"
need libpq5 "/usr/lib/*/libpq.so.5"
need libmariadb3 "/usr/lib/*/libmariadb.so.3"
need postgresql "/usr/lib/postgresql/*/bin/postgres"
need mariadb-server "/usr/sbin/mariadbd"
need libdb5.3-dev "/usr/include/db.h"
need liblmdb0 "/usr/lib/*/liblmdb.so.0"
# The package of the library alone has its version in its name, another one in each release of Debian.
need librocksdb-dev "/usr/lib/*/librocksdb.so.*"
"${PYTHON:-python3}" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3 python3-venv"
need libssl-dev "/usr/include/openssl/crypto.h"
need gocryptfs "/usr/bin/gocryptfs"
need fuse3 "/usr/bin/fusermount3"
need chromium /usr/bin/chromium
need chromium-driver /usr/bin/chromedriver

[ -n "$missing" ] || exit 0
command="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "make test: these packages are missing:$missing" >&2
    echo "make test: install them first: sudo $command" >&2
    exit 1
fi

# Debian starts a server when it is installed; dyno starts its own, so this keeps theirs from starting.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
fi
apt-get update
DEBIAN_FRONTEND=noninteractive $command
