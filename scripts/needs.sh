#!/bin/sh
# Installs what needs.txt lists and this machine lacks.
#
#   scripts/needs.sh build            what a build needs
#   scripts/needs.sh test             that, and what the tests measure against
#   scripts/needs.sh --check WHEN     installs nothing
#
# As root on Debian apt installs it. Elsewhere, and with --check, this prints the command that would, and fails: a test
# that silently lacks its engine proves nothing. Toolchains that Debian has too old are never installed.
set -eu

check=
[ "${1-}" != --check ] || { check=yes && shift; }
case ${1-} in
build) wanted=' build ' ;;
test) wanted=' build test ' ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
table=$(dirname "$0")/../needs.txt

say() { echo "needs: $*" >&2; }

# The first number with a dot that a program says of itself; `go` knows no --version.
version() { { "$1" --version || "$1" version; } 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1; }

# Tests if a proof, as needs.txt has them, holds here. What the system's folders of programs hold counts as well.
holds() (
    PATH=$PATH:/usr/sbin:/sbin
    python=${PYTHON:-python3}
    case $1 in
    /*) ls $1 ;;
    '<'*) echo "#include $1" | "${CC:-cc}" -fsyntax-only -xc - ;;
    lib*.so*) ldconfig -p | grep -F "	$1 (" ;;
    python3:*) "$python" -c "import ${1#*:}" ;;
    'python3>='*) printf '%s\n' "${1#*>=}" "$(version "$python")" | sort -VC ;;
    *'>='*) printf '%s\n' "${1#*>=}" "$(version "${1%%>=*}")" | sort -VC ;;
    *) command -v "$1" ;;
    esac >/dev/null 2>&1
)

# Sets `packages` to what Debian has of what is missing here; says what it has not.
look() {
    packages='' elsewhere=
    while read -r when package proof about; do
        case $wanted in *" $when "*) ;; *) continue ;; esac
        ! holds "$proof" || continue
        case $package in
        http*) say "$about is missing: see $package" && elsewhere=yes ;;
        *) packages="$packages $package" ;;
        esac
    done <"$table"
}

look
[ -z "$elsewhere" ] || exit 1
[ -n "$packages" ] || exit 0
install="apt-get install -y --no-install-recommends$packages"
if [ -n "$check" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "these packages are missing:$packages"
    say "install them: sudo apt-get update && sudo $install"
    exit 1
fi

# Debian starts a server when it is installed; dyno starts its own, so this keeps theirs from starting.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
    trap 'exit 1' HUP INT TERM
fi
apt-get update
DEBIAN_FRONTEND=noninteractive $install
look
[ -z "$packages" ] || { say "these packages were installed, but what needs.txt expects of them is not there:$packages" && exit 1; }
