#!/bin/sh
# Makes every package of what `make build` has made, in target/dist, with SHA256SUMS, the notes of the release from
# CHANGELOG.md, and an SBOM where cargo-cyclonedx is installed (`cargo install cargo-cyclonedx`).
#
#   packaging/all.sh           the packages and what goes with a release
#   packaging/all.sh --test    the packages, each of which is then tried
#
# DYNO_PROGRAMS names another folder of programs than that of the release build.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
archive=$(sh packaging/dist.sh)
deb=$(sh packaging/deb.sh)
wheel=$(sh packaging/wheel.sh)
if [ "${1-}" = --test ]; then
    exec sh packaging/test.sh "$archive" "$deb" "$wheel"
fi

dist=$target/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# The section of this version, or of what has no version yet.
awk -v version="$version" '/^## / { on = index($2, version) || $2 == "Unreleased" && !done; done = done || on } on' \
    CHANGELOG.md >"$dist/NOTES.md"
if cargo cyclonedx --version >/dev/null 2>&1; then
    cargo cyclonedx --manifest-path crates/dyno/Cargo.toml --format json --override-filename sbom
    mv crates/dyno/sbom.json "$dist/dyno-$version.cdx.json"
else
    echo "packaging: there is no SBOM: \`cargo install cargo-cyclonedx\` installs what writes it" >&2
fi
cd "$dist"
rm -f SHA256SUMS
sha256sum ./*.tar.zst ./*.deb ./*.whl NOTES.md $(ls ./*.cdx.json 2>/dev/null) >SHA256SUMS
cat SHA256SUMS
