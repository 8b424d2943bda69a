#!/bin/sh
# Builds the servers of clusters that are had as source in Go, and the runners that reach them, into a folder, where dyno's
# own program is.
#
#   scripts/build-clusters.sh FOLDER
#
# They are large (etcd is 25 MB, rqlited 33 MB, each from some 60 modules), so `make build` leaves them out. rqlited has
# SQLite in C: without a C compiler, rqlite is left out.
set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../runners"

if ! command -v go >/dev/null; then
    echo "etcd and rqlite cannot be built: there is no Go here (https://go.dev/dl/)" >&2
    exit 1
fi
# The versions are those of go.mod and go.sum of the folder; a clone is not asked for its history, and the programs do not
# name its folder.
build() { # with C or without, the folder, the program, its package, and what the linker is given
    (cd "$2" && CGO_ENABLED=$1 go build -mod=readonly -buildvcs=false -trimpath -ldflags="-s ${5-}" -o "$folder/$3" "$4")
}

# Without C, they need nothing of the system.
build 0 etcd etcd go.etcd.io/etcd/server/v3
build 0 etcd dyno-runner-etcd ./cmd/dyno-runner-etcd

build 0 rqlite dyno-runner-rqlite ./cmd/dyno-runner-rqlite
if [ "$(go env CGO_ENABLED)" = 1 ]; then
    # It says which version it is only where the linker is given that.
    module=github.com/rqlite/rqlite/v8
    version=$(cd rqlite && go list -mod=readonly -m -f '{{.Version}}' $module)
    build 1 rqlite rqlited $module/cmd/rqlited "-X $module/cmd.Version=$version"
else
    echo "rqlite is left out: there is no C compiler here" >&2
fi
