#!/bin/sh
# Builds the manual, target/manual/html, from docs/ and the pages at the root. Sphinx and its theme go into a private
# environment, target/manual/python, with the versions and hashes that docs/manual/requirements.txt pins; reading needs no network.
#
#   scripts/manual.sh            or with another interpreter: PYTHON=python3.13 scripts/manual.sh
set -eu
cd "$(dirname "$0")/.."

folder=${CARGO_TARGET_DIR:-target}/manual
python=${PYTHON:-python3}
wanted=docs/manual/requirements.txt

"$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    echo "manual: needs Python 3.11 or later that can make environments: apt-get install python3-venv (Debian), or set PYTHON" >&2
    exit 1
}
stamp=$folder/python/made-from
made="$("$python" -c 'import sys; print(sys.executable, sys.version)') $(cksum <"$wanted")"
if [ "$(cat "$stamp" 2>/dev/null)" != "$made" ]; then
    "$python" -m venv --clear "$folder/python"
    "$folder/python/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --requirement "$wanted"
    echo "$made" >"$stamp"
fi

# A warning, such as a link to an anchor that is not there, is an error.
"$folder/python/bin/python" -B -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --builder html --conf-dir docs/manual \
    --doctree-dir "$folder/doctrees" . "$folder/html"
# The manual's first page is that of the contents.
printf '<!doctype html><meta charset="utf-8"><title>dyno</title><meta http-equiv="refresh" content="0; url=docs/README.html">\n' \
    >"$folder/html/index.html"
echo "The manual is in $folder/html/index.html."
