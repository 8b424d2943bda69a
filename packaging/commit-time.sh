#!/bin/sh
# Prints the time of the commit in seconds since 1970, so that files which are packed twice are the same bytes.
# SOURCE_DATE_EPOCH, if it is set, wins (https://reproducible-builds.org/specs/source-date-epoch/).
set -eu
cd "$(dirname "$0")/.."
echo "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
