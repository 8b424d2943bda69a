#!/bin/sh
# Makes the private folder of the runner on the JVM: target/jvm, or jvm/ in an installation, with the libraries that
# runners/jvm/pom.xml names by version and runners/jvm/checksums by SHA-256, and the runner compiled. Nothing is installed
# elsewhere. Without a JDK and Maven there is no such runner, and all others work: `dyno list` says so.
#
#   scripts/build-jvm.sh
#
# DYNO_JAVA names another Java machine at run time. The exit code is 1 where something cannot be had here, 2 where the runner's
# own sources do not compile.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
place=${CARGO_TARGET_DIR:-$root/target}/jvm
# In an installation, next to the programs that look for it.
[ ! -x "$root/bin/dyno" ] || place=$root/jvm
wanted=$root/runners/jvm

# No counters of Java's tools stay in /tmp.
counts=-XX:-UsePerfData
export MAVEN_OPTS="$counts ${MAVEN_OPTS-}"

say() { echo "build-jvm: $1" >&2; } # what happened, and what to do

for program in java javac jar mvn; do
    command -v "$program" >/dev/null || {
        say "there is no $program: apt-get install openjdk-17-jdk-headless maven (Debian), or see https://adoptium.net and https://maven.apache.org"
        exit 1
    }
done
javac -J$counts --release 17 --version >/dev/null 2>&1 || {
    say "$(javac -J$counts -version 2>&1) is too old: the runner needs a JDK of version 17 or later"
    exit 1
}

# Made of these libraries and sources already?
stamp=$place/made-from
made="$(uname -m) $(javac -J$counts -version 2>&1) $(find "$wanted/src" -name '*.java' -print0 | sort -z | xargs -0 cat "$wanted/pom.xml" "$wanted/checksums" "$0" | cksum)"
[ "$(cat "$stamp" 2>/dev/null)" != "$made" ] || exit 0

rm -rf "$place"
mkdir -p "$place/bin" "$place/lib" "$place/native"
place=$(cd "$place" && pwd)
# A plugin by its version: another would change what is fetched.
mvn -q -B -f "$wanted/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DoutputDirectory="$place/lib" >"$place/maven.log" 2>&1 || {
    say "Maven cannot fetch the libraries; $place/maven.log says more"
    exit 1
}
# These files and no others.
(cd "$place/lib" && sha256sum --quiet --strict -c "$wanted/checksums" >&2) || {
    say "a library is not the one of runners/jvm/checksums: remove it from Maven's cache (~/.m2/repository) and try again"
    exit 1
}
[ "$(ls "$place/lib" | wc -l)" -eq "$(wc -l <"$wanted/checksums")" ] || {
    say "Maven brought other libraries than runners/jvm/checksums names: $(ls "$place/lib" | tr '\n' ' ')"
    exit 1
}

# The libraries in C are unpacked once, here: at run time they would be put into the folder for temporary files.
machine=$(uname -m)
case $machine in x86_64) jna=x86-64 ;; *) jna=$machine ;; esac
unpack() ( # an archive's file to native/
    cd "$place/native"
    jar -J$counts xf "$place"/lib/$1 "$2" && mv "$2" . && rm -r "${2%%/*}"
)
unpack 'jna-*.jar' "com/sun/jna/linux-$jna/libjnidispatch.so"
unpack 'sqlite-jdbc-*.jar' "org/sqlite/native/Linux/$machine/libsqlitejdbc.so"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/classes" "$work/databases"
# A list of files in quotes: a path may hold spaces.
find "$wanted/src" -name '*.java' | sed 's/.*/"&"/' >"$work/sources"
javac -J$counts --release 17 -encoding UTF-8 -proc:none -nowarn -cp "$place/lib/*" -d "$work/classes" "@$work/sources" || {
    say "the sources of the runner do not compile"
    exit 2
}
jar -J$counts cf "$place/runner.jar" -C "$work/classes" .
# Java takes the encoding of paths from the locale alone, and refuses other letters than ASCII's in the locale C.
cat >"$place/bin/java" <<EOF
#!/bin/sh
LC_ALL=C.UTF-8 exec "$(command -v java)" "\$@"
EOF
chmod +x "$place/bin/java"
# Java keeps the parsed classes, and a start takes half of the time: https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html
"$place/bin/java" $counts -XX:+UseG1GC -XX:ArchiveClassesAtExit="$place/runner.jsa" -Xlog:disable -Djna.boot.library.path="$place/native" \
    -Djna.nounpack=true -Djna.platform.library.path= -Dorg.sqlite.lib.path="$place/native" -Dorg.sqlite.lib.name=libsqlitejdbc.so \
    -Dslf4j.internal.verbosity=ERROR -cp "$place/runner.jar:$place/lib/*" dyno.runner.Archive "$work/databases" >"$place/archive.log" 2>&1 ||
    say "the classes could not be archived, so each start takes twice as long; $place/archive.log says more"
echo "$made" >"$stamp"
