#!/bin/sh
# Runs every suite a few times and writes its page and a picture of it to docs/gallery/. What a run measures
# is in its page and in results/gallery/; GALLERY_TRIALS and DYNO say how often and with which program.
set -eu
cd "$(dirname "$0")/.."

dyno=${DYNO:-target/release/dyno}
# As many as carry intervals.
trials=${GALLERY_TRIALS:-8}
folder=docs/gallery
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "gallery: the pictures need Chromium: sudo apt-get install chromium" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"

for file in suites/*.toml; do
    suite=$(basename "$file" .toml)
    # The contenders are the suite's own, but where the servers of other engines are worth a picture.
    with=
    [ "$suite" != speedtest ] || with="--with sqlite,sqlite:wal,sqlite:nosync,postgres,mariadb"
    echo "gallery: $suite"
    # 3 means that something failed or gave a wrong answer: the page shows it.
    "$dyno" run "$suite" $with --trials "$trials" --quiet \
        --out "results/gallery/$suite.json" --report "$folder/$suite.html" >"$work/$suite.txt" || [ $? = 3 ] || {
        echo "gallery: $suite was not run, see above" >&2
        continue
    }
    # Run as root, Chromium needs to be told that it has no sandbox.
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1500 \
        --virtual-time-budget=5000 --screenshot="$work/$suite.png" "file://$PWD/$folder/$suite.html" 2>/dev/null
    mv "$work/$suite.png" "$folder/$suite.png"
done
