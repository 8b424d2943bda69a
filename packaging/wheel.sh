#!/bin/sh
# Packs what `make build` has made as a wheel for pip, target/dist/dyno_bench-VERSION-py3-none-PLATFORM.whl.
#
# DYNO_PROGRAMS names another folder of programs than that of the release build, PYTHON an interpreter with pip.
# pip fetches setuptools, which writes the wheel.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
python=${PYTHON:-$target/python/bin/python}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
stage=$target/dist/wheel
package=$stage/dyno_bench

rm -rf "$stage"
mkdir -p "$stage"
cp -R packaging/wheel/dyno_bench "$stage"
sh packaging/dist.sh --install "$stage/installed" >/dev/null
cp -R "$stage/installed/lib/dyno/." "$package"
rm -rf "$stage/installed"

# pip installs it where the C library is at least as new as the programs need (PEP 600).
libc=$(sh packaging/libc.sh "$package"/bin/*)
platform=manylinux_$(echo "$libc" | tr . _)_$(uname -m)
# setuptools is there to compile one of them from a clone.
drivers=$(sed -n '/^setuptools/d; s/^\([A-Za-z].*\)/"\1", /p' runners/python/requirements.in | tr -d '\n')
cat >"$stage/pyproject.toml" <<END
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "dyno-bench"
version = "$version"
description = "A dynamometer for database engines"
requires-python = ">=3.11"

[project.optional-dependencies]
drivers = [$drivers]

[project.scripts]
dyno = "dyno_bench.__main__:main"

[tool.setuptools]
packages = ["dyno_bench"]

[tool.setuptools.package-data]
dyno_bench = ["**/*"]
END
printf '[bdist_wheel]\npython_tag = py3\nplat_name = %s\n' "$platform" >"$stage/setup.cfg"

SOURCE_DATE_EPOCH=$(sh packaging/commit-time.sh)
export SOURCE_DATE_EPOCH
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$target/dist" "$stage"
rm -rf "$stage"
echo "$target/dist/dyno_bench-$version-py3-none-$platform.whl"
