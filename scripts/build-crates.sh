#!/bin/sh
# Builds the runners for client libraries of Rust, and puts them next to dyno's programs: into target/release, or the
# folder that is named. They are a separate workspace, runners/crates, whose packages no other build fetches.
#
#   scripts/build-crates.sh [FOLDER [PROFILE]]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
place=${1:-$target/release}
profile=${2:-release}

command -v cargo >/dev/null || {
    echo "build-crates: there is no cargo: see https://rustup.rs" >&2
    exit 1
}
cargo build --locked --profile "$profile" --manifest-path "$root/runners/crates/Cargo.toml" \
    --target-dir "$target/crates"
# Cargo names the folder of its profile `dev` otherwise.
folder=$profile
[ "$profile" != dev ] || folder=debug
mkdir -p "$place"
for name in mysql-async rusqlite sea-orm sqlx tokio-postgres; do
    # By another name first: a program that is being executed cannot be overwritten.
    cp "$target/crates/$folder/dyno-runner-$name" "$place/.dyno-runner-$name"
    mv "$place/.dyno-runner-$name" "$place/dyno-runner-$name"
done
