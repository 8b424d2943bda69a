#!/bin/sh
# Runs suites at a small size and writes their pages, a picture of each and an index to target/gallery/.
#
#   scripts/gallery.sh [SUITE|PAGE...]     all of suites/ and all pages, where none is named
#
# The pages are of drivers: page-layers is a web application through the layers of Node.js, page-sqlite is SQLite in every
# language, and page-delay is what a millisecond of network costs. What is missing here is left out of them.
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

# The first of two texts at the size of a picture, the second at a tiny one.
at() { # SMALL TINY
    if [ "$scale" = tiny ]; then echo "$2"; else echo "$1"; fi
}

# Those contenders whose drivers are here.
here() { # ENGINE/DRIVER[+VARIANT][:PROFILE]...
    for contender; do
        listed=${contender%%:*}
        case $listed in */*) ;; *) echo "$contender" && continue ;; esac
        if grep -qxF "${listed%%+*}" "$work/here"; then
            echo "$contender"
        else
            echo "gallery: $contender is missing here and left out: \`dyno list\` says how to get it" >&2
        fi
    done | paste -sd,
}

# What a page runs: a suite with its options. All settings are the same for all contenders, and are read back.
page() { # PAGE
    [ -s "$work/here" ] || "$dyno" list --format json |
        python3 -c 'import json, sys
for engine in json.load(sys.stdin)["engines"]:
    for driver in engine["drivers"]:
        if driver["version"]:
            print(engine["name"] + "/" + driver["driver"])' >"$work/here"
    case $1 in
    page-layers)
        echo "app --rate $(at 200 50) --clients 8 --duration $(at 5s 0.5s) --round-trips --with $(
            here postgres/pg postgres/postgres postgres/kysely postgres/knex postgres/drizzle postgres/drizzle+prepared
        )" ;;
    page-sqlite)
        echo "speedtest --scale $(at 0.2 0.02) --with $(
            set -- better-sqlite3 node-sqlite bun-sqlite libsql node-sqlite3 mattn modernc gosqlite sqlite3 apsw rusqlite sqlite-jdbc
            here $(printf 'sqlite/%s:wal,cache_size=-2000 ' c "$@")
        )" ;;
    page-delay)
        echo "bank $(at "" "--only read") --clients 1 --duration $(at 2s 0.2s) --delay $(at 0,0.2ms,1ms,5ms,40ms 0,1ms) --round-trips --with $(
            here postgres postgres/pgx postgres/pq postgres/psycopg postgres/pg postgres/postgres postgres/pgjdbc \
                mariadb mariadb/go-sql-driver mariadb/pymysql mariadb/mysql2 mariadb/mariadb-java-client
        )" ;;
    *) return 1 ;;
    esac
}

# The part of a page at its top: what a README has room for.
picture() { # PAGE PNG
    # Run as root, Chromium needs an option that says it has no sandbox.
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1500 \
        --virtual-time-budget=5000 --screenshot="$work/picture.png" "file://$1" 2>/dev/null
    mv "$work/picture.png" "$2"
}

# A page with its picture for everything that is in the folder, so that a suite may be run alone.
index() {
    echo "# Gallery"
    echo
    echo "Pages of real runs, made by \`make gallery\` at a small size. Each holds its run file, which \`dyno rerun\` repeats."
    for page in "$folder"/*.html; do
        suite=$(basename "$page" .html)
        printf '\n## %s\n\n[![The page of %s](%s.png)](%s.html)\n' "$suite" "$suite" "$suite" "$suite"
    done
}

[ $# -gt 0 ] || set -- $(cd suites && ls *.toml | sed 's/\.toml$//') page-layers page-sqlite page-delay
for suite; do
    case $suite in
    page-*) run=$(page "$suite") ;;
    *) run="$suite $(options "$suite")" ;;
    esac
    echo "gallery: dyno run $run"
    # 3 means that something failed or gave a wrong answer: the page shows it.
    "$dyno" run $run --trials "$trials" --quiet \
        --out "$folder/$suite.jsonl" --report "$folder/$suite.html" >"$work/$suite.txt" || [ $? = 3 ] || {
        echo "gallery: $suite was not run, see above" >&2
        continue
    }
    picture "$folder/$suite.html" "$folder/$suite.png"
done
index >"$folder/README.md"
