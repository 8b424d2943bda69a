#!/bin/sh
# Builds the runner of drivers in Go into a folder, where dyno's own program is.
#
#   scripts/build-go.sh FOLDER
#
# Without Go, or without a C compiler for the drivers that carry SQLite in C, it says so and leaves the others
# as they are: `dyno list` shows what is missing.
set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../runners/go"

if ! command -v go >/dev/null; then
    echo "the drivers in Go are left out: there is no Go here (https://go.dev/dl/)" >&2
    exit 0
fi
# The versions are those of go.mod and go.sum; a clone is not asked for its history, and the programs do not name its folder.
build() { go build -mod=readonly -buildvcs=false -trimpath -o "$folder/" "$@"; }

build ./cmd/dyno-runner-go
# Go looks for the compiler itself.
if [ "$(go env CGO_ENABLED)" = 1 ]; then
    build ./cmd/dyno-runner-go-mattn ./cmd/dyno-runner-go-gosqlite
else
    echo "sqlite/mattn and sqlite/gosqlite are left out: there is no C compiler here" >&2
fi
