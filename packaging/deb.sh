#!/bin/sh
# Packs what `make build` has made as a package for Debian and its relatives, target/dist/dyno_VERSION_ARCH.deb.
#
# DYNO_PROGRAMS names another folder of programs than that of the release build.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)
root=$target/dist/deb
package=$target/dist/dyno_${version}_$architecture.deb

rm -rf "$root"
mkdir -p "$root/DEBIAN" "$root/usr/share/doc/dyno"
sh packaging/dist.sh --install "$root/usr" >/dev/null
gzip -9n "$root"/usr/share/man/man1/*.1
cp README.md CHANGELOG.md "$root/usr/share/doc/dyno"

libc=$(sh packaging/libc.sh "$root"/usr/lib/dyno/bin/*)
# The libraries of engines, which runners load where they are installed.
libraries=$(awk '$1 == "test" && $2 ~ /^lib/ && $2 !~ /-dev$/ && $3 ~ /\.so/ { printf "%s%s", comma, $2; comma = ", " }' needs.txt)
size=$(du -sk "$root/usr" | cut -f1)
cat >"$root/DEBIAN/control" <<END
Package: dyno
Version: $version
Architecture: $architecture
Maintainer: the authors of dyno <dyno@localhost>
Installed-Size: $size
Depends: libc6 (>= $libc), libgcc-s1
Suggests: $libraries, postgresql, mariadb-server, python3-venv
Section: database
Priority: optional
Description: dynamometer for database engines
 dyno measures which database, which driver and which settings are fastest for
 a piece of work, on this machine, at the same proven safety. It interleaves the
 trials, compares the answers, reads the settings back, and claims a difference
 only where the samples show one.
END

SOURCE_DATE_EPOCH=$(sh packaging/commit-time.sh)
export SOURCE_DATE_EPOCH
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
chmod -R u=rwX,go=rX "$root"
dpkg-deb --root-owner-group -Zzstd -z10 --build "$root" "$package" >/dev/null
rm -rf "$root"
echo "$package"
