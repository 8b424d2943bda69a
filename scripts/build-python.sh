#!/bin/sh
# Makes the private environment of the runner in Python: target/python, or python/ in an installation, with
# the packages that runners/python/requirements.txt pins by version and hash. Nothing is installed elsewhere, and
# of the packages only the one in compiled.txt is compiled, where MariaDB's headers are. Without Python there is no such
# runner, and all others work: `dyno list` says so.
#
#   scripts/build-python.sh            or with another interpreter: PYTHON=python3.13 scripts/build-python.sh
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
place=${CARGO_TARGET_DIR:-$root/target}/python
# In an installation, next to the programs that look for it.
[ ! -x "$root/bin/dyno" ] || place=$root/python
wanted=$root/runners/python/requirements.txt
compiled=$root/runners/python/compiled.txt
python=${PYTHON:-python3}

say() { # what happened, and what to do
    echo "build-python: $1" >&2
    exit 1
}

command -v "$python" >/dev/null ||
    say "there is no $python: apt-get install python3 python3-venv (Debian), or set PYTHON"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    say "$("$python" --version) is too old: the runner needs Python 3.11 or later; set PYTHON"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    say "$python cannot make environments: apt-get install python3-venv (Debian)"

# Made for this interpreter, these packages and this client library already?
stamp=$place/made-from
made="$("$python" -c 'import sys; print(sys.executable, sys.version)') $(cat "$wanted" "$compiled" | cksum)"
mariadb=$(mariadb_config --cflags --libs 2>/dev/null) || mariadb=
made="$made $mariadb"
[ "$(cat "$stamp" 2>/dev/null)" != "$made" ] || exit 0

"$python" -m venv --clear "$place"
fetch() { # a file of requirements, each with everything that it needs
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
        "${2:---only-binary=:all:}" --requirement "$1"
}

# One that cannot be had here leaves the others working: then each is fetched alone.
missing=
if ! fetch "$wanted"; then
    one=$place/one-requirement
    for name in $(grep -oE '^[a-z][^ ]*==[^ ]+' "$wanted"); do
        awk -v name="$name" '/^[^ ]/ { mine = ($1 == name) } mine' "$wanted" >"$one"
        fetch "$one" || missing="$missing $name"
    done
fi

# By what was fetched above, and with libmariadb alone: where MySQL's headers are too, it would choose those.
export MYSQLCLIENT_CFLAGS="${mariadb%%-L*}" MYSQLCLIENT_LDFLAGS="-L${mariadb#*-L}"
if [ -z "$mariadb" ]; then
    echo "build-python: mysqlclient is left out: it is compiled with libmariadb-dev and python3-dev (Debian)" >&2
else
    fetch "$compiled" --no-build-isolation || missing="$missing mysqlclient (which is compiled, with python3-dev too)"
fi
[ -z "$missing" ] || say "these packages cannot be had, and their drivers are missing:$missing"
echo "$made" >"$stamp"
