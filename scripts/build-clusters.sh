#!/bin/sh
# Builds the servers of clusters that are had as source in Go, and the runners that reach them, into a folder, where dyno's
# own program is.
#
#   scripts/build-clusters.sh FOLDER
#
# They are large (etcd is 25 MB, from some 60 modules), so `make build` leaves them out.
set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../runners/etcd"

if ! command -v go >/dev/null; then
    echo "etcd cannot be built: there is no Go here (https://go.dev/dl/)" >&2
    exit 1
fi
# The versions are those of go.mod and go.sum; a clone is not asked for its history, and the programs do not name its folder.
# Without C, they need nothing of the system.
build() { CGO_ENABLED=0 go build -mod=readonly -buildvcs=false -trimpath -ldflags=-s -o "$folder/$1" "$2"; }

build etcd go.etcd.io/etcd/server/v3
build dyno-runner-etcd ./cmd/dyno-runner-etcd
