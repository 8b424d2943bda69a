#!/bin/sh
# Unpacks the MySQL server of Oracle into a folder in which dyno finds it, as mysql@9.
#
#   scripts/install-mysql.sh [OPTION OF MMDEBSTRAP]...
#
# Debian has MySQL in its unstable release only. This fetches the package mysql-server-core and the
# libraries that it needs, by the machine's own apt and mirror, and keeps the server, its libraries and its
# messages: about 220 MB. Nothing is installed into the system, nothing is started, and neither is root
# needed. docs/mysql.md says more.
set -eu

say() {
    printf '%s\n' "$*" >&2
}

for program in mmdebstrap tar; do
    command -v "$program" >/dev/null || {
        say "this needs $program: apt-get install --no-install-recommends $program"
        exit 1
    }
done

# True if only root can change what is in a folder or on the way to it, by the links of its path and where they lead.
is_guarded() {
    is_guarded_way "$1" && is_guarded_way "$(readlink -m -- "$1")"
}
is_guarded_way() {
    place=$1
    while :; do
        if [ -e "$place" ]; then
            about=$(stat -L -c '%u %a' "$place")
            case $about in
            "0 "*[2367] | "0 "*[2367]?) return 1 ;;
            "0 "*) ;;
            *) return 1 ;;
            esac
        fi
        [ "$place" != / ] || return 0
        place=$(dirname "$place")
    done
}

# The same rule as dyno's own, in crates/lab/src/server/install.rs.
if [ "$(id -u)" = 0 ] && [ -n "${XDG_DATA_HOME:-}" ] && ! is_guarded "$XDG_DATA_HOME"; then
    say "XDG_DATA_HOME names $XDG_DATA_HOME, which other users than root can change; set another, or unset it"
    exit 1
fi
if [ -n "${XDG_DATA_HOME:-}" ]; then
    engines=$XDG_DATA_HOME/dyno/engines
elif [ "$(id -u)" = 0 ]; then
    # Root's servers run under another account, which may not enter root's home.
    engines=/var/lib/dyno/engines
else
    engines=$HOME/.local/share/dyno/engines
fi

mkdir -p "$engines"
work=$(mktemp -d "$engines/.mysql.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Nothing of what is unpacked is run during the unpacking, so no change of root is needed, which only root
# or a machine set up for it could make.
[ "$(id -u)" = 0 ] || set -- --mode=chrootless "$@"

say "fetching mysql-server-core of Debian unstable"
mmdebstrap --quiet --variant=extract --format=tar --include=mysql-server-core "$@" unstable "$work/all.tar" || {
    say "it could not be fetched; with --verbose mmdebstrap says why. Where apt calls its list expired, as of a mirror"
    say "that is kept on purpose: $0 --aptopt='Acquire::Check-Valid-Until \"false\"'"
    exit 1
}
mkdir "$work/new"
# Ownership is the user's, whatever it was in the archive.
tar -xf "$work/all.tar" -C "$work/new" --no-same-owner \
    ./usr/sbin/mysqld ./usr/lib ./usr/lib64 ./usr/share/mysql
rm "$work/all.tar"
chmod 755 "$work/new"

# The server needs the C library that it came with, and that its own loader.
cd "$work/new"
for loader in usr/lib/*/ld-linux*; do
    version=$("$loader" --library-path "${loader%/*}" usr/sbin/mysqld --version)
done
number=${version##* Ver }
name=mysql@${number%%.*}
if [ -e "$engines/$name" ]; then
    say "$engines/$name is there already; remove it to replace it"
    exit 1
fi
mv "$work/new" "$engines/$name"
say "MySQL ${number%% *} is in $engines/$name; dyno knows it as $name"
