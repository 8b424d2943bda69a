#!/bin/sh
# Compiles the tests of the runner on the JVM, and runs them: `sh runners/jvm/tests/run.sh target/jvm`, the folder being the one
# that scripts/build-jvm.sh makes.
set -eu
place=$(cd "$1" && pwd)
cd "$(dirname "$0")"
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -J-XX:-UsePerfData --release 17 -encoding UTF-8 -proc:none -cp "$place/runner.jar:$place/lib/*" -d "$classes" $(find . -name '*.java')
"$place/bin/java" -XX:-UsePerfData -cp "$classes:$place/runner.jar:$place/lib/*" dyno.runner.Tests
