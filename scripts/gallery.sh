#!/bin/sh
# Runs suites at a small size and writes their pages, a picture of each and an index to target/gallery/.
#
#   scripts/gallery.sh [SUITE...]          all of suites/, where none is named
#
# GALLERY_TRIALS (8: as many as carry intervals) and GALLERY_SCALE (small or tiny) say how much is measured, DYNO with
# which program. The run files are there too.
set -eu
cd "$(dirname "$0")/.."

dyno=${DYNO:-${CARGO_TARGET_DIR:-target}/release/dyno}
trials=${GALLERY_TRIALS:-8}
scale=${GALLERY_SCALE:-small}
folder=${CARGO_TARGET_DIR:-target}/gallery
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo 'gallery: the pictures need Chromium: run `make needs`' >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Those of a suite's own contenders that have a profile.
all_of() { # SUITE PROFILE
    grep -o "\"[a-z]*:$2\"" "suites/$1.toml" | tr -d '"' | paste -sd,
}

# The options with which a suite is run: enough to show its views, small enough for a coffee.
options() { # SUITE
    case $1-$scale in
    # The contenders are the suite's own, but where the servers of other engines are worth a picture.
    speedtest-small) echo "--with sqlite,sqlite:wal,sqlite:nosync,postgres,mariadb" ;;
    speedtest-tiny) echo "--with sqlite,sqlite:wal,sqlite:nosync --scale 0.02" ;;
    encryption-small) echo "--scale 0.2" ;;
    encryption-tiny) echo "--scale 0.02" ;;
    intuition-small) echo "--rows 20000" ;;
    intuition-tiny) echo "--rows 500" ;;
    # 5,000 pairs are a size of the page of 2009; the last is the one of which the page is. All four configurations with
    # their latencies make a page of 16 MB.
    kv-small) echo "--n 50,500,5000 --latency --with $(all_of kv transactional)" ;;
    kv-tiny) echo "--all --n 100,300 --latency" ;;
    bank-small) echo "--only transfer --with sqlite:wal,$(all_of bank serializable) --clients 1,8,32 --duration 1s" ;;
    app-small | orders-small | ycsb-small) echo "--duration 1s" ;;
    bank-tiny | app-tiny | orders-tiny | ycsb-tiny) echo "--duration 0.2s --set warm_up=0.1" ;;
    import*-small) echo "--rows 100000" ;;
    import*-tiny) echo "--rows 500" ;;
    *) echo "" ;;
    esac
}

# The part of a page at its top: what a README has room for.
picture() { # PAGE PNG
    # Run as root, Chromium needs to be told that it has no sandbox.
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1500 \
        --virtual-time-budget=5000 --screenshot="$work/picture.png" "file://$1" 2>/dev/null
    mv "$work/picture.png" "$2"
}

# A page with its picture for everything that is in the folder, so that a suite may be run by itself.
index() {
    echo "# Gallery"
    echo
    echo "Pages of real runs, made by \`make gallery\` at a small size. Each holds its run file, which \`dyno rerun\` repeats."
    for page in "$folder"/*.html; do
        suite=$(basename "$page" .html)
        printf '\n## %s\n\n[![The page of %s](%s.png)](%s.html)\n' "$suite" "$suite" "$suite" "$suite"
    done
}

[ $# -gt 0 ] || set -- $(cd suites && ls *.toml | sed 's/\.toml$//')
for suite; do
    echo "gallery: $suite"
    # 3 means that something failed or gave a wrong answer: the page shows it.
    "$dyno" run "$suite" $(options "$suite") --trials "$trials" --quiet \
        --out "$folder/$suite.jsonl" --report "$folder/$suite.html" >"$work/$suite.txt" || [ $? = 3 ] || {
        echo "gallery: $suite was not run, see above" >&2
        continue
    }
    picture "$folder/$suite.html" "$folder/$suite.png"
done
index >"$folder/README.md"
