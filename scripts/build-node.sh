#!/bin/sh
# Makes the private folder of the runner in Node.js: target/node, or node/ in an installation, with the packages that
# runners/node/package-lock.json pins by version and hash, among them the Node.js that the runner works with. Nothing is
# installed elsewhere. Without npm there is no such runner, and all others work: `dyno list` says so.
#
#   scripts/build-node.sh
#
# One package, sqlite3, is compiled, with the headers of that Node.js; without a C++ compiler, make and Python its driver
# alone is missing. DYNO_NODE names another Node.js at run time.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
place=${CARGO_TARGET_DIR:-$root/target}/node
# In an installation, next to the programs that look for it.
[ ! -x "$root/bin/dyno" ] || place=$root/node
wanted=$root/runners/node

say() { echo "build-node: $1" >&2; } # what happened, and what to do

for program in node npm; do
    command -v "$program" >/dev/null || {
        say "there is no $program: apt-get install nodejs npm (Debian), or see https://nodejs.org"
        exit 1
    }
done
node -e 'process.exit(process.versions.node.split(".")[0] < 18 ? 1 : 0)' || {
    say "Node.js $(node --version) is too old: npm needs 18 or later here"
    exit 1
}

# Made of these packages already?
stamp=$place/made-from
made="$(uname -m) $(cat "$wanted/package-lock.json" "$0" | cksum)"
[ "$(cat "$stamp" 2>/dev/null)" != "$made" ] || exit 0

rm -rf "$place"
mkdir -p "$place/bin"
place=$(cd "$place" && pwd)
cp "$wanted/package.json" "$wanted/package-lock.json" "$place"
# Scripts of packages do not run: one would look for compiled files elsewhere than npm's registry has them.
(cd "$place" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)

# The Node.js of the packages, where there is one for this machine; else that of the system.
ln -sf "$(command -v node)" "$place/bin/node"
headers=
for folder in "$place"/node_modules/node-linux-*; do
    ! "$folder/bin/node" --version >/dev/null 2>&1 || {
        ln -sf "../node_modules/${folder##*/}/bin/node" "$place/bin/node"
        headers=$folder
    }
done
# Bun, for its own module of SQLite.
for folder in "$place"/node_modules/@oven/bun-linux-*; do
    ! "$folder/bin/bun" --version >/dev/null 2>&1 ||
        ln -sf "../node_modules/@oven/${folder##*/}/bin/bun" "$place/bin/bun"
done
[ -n "$headers" ] ||
    say "npm has no Node.js for this machine: the runner works with $(node --version), and node:sqlite needs 24.4"

# Its compiled files are wanted and not what came before them. Each step by `&&`: the shell ends no function at a failure
# whose caller looks at it.
compile() (
    PATH=$place/bin:$PATH && export PATH JOBS=max
    cd "$place/node_modules/$1" &&
        node ../node-gyp/bin/node-gyp.js rebuild --release ${headers:+--nodedir="$headers"} >"$place/$1.log" 2>&1 &&
        find build -name '*.node' -not -path '*/obj.target/*' | grep -q . &&
        rm -rf build/Release/obj* build/deps
)
compile sqlite3 ||
    say "sqlite3 cannot be compiled, and its driver is missing: it needs g++, make and python3; $place/sqlite3.log says more"
echo "$made" >"$stamp"
