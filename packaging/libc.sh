#!/bin/sh
# Prints the newest version of the C library that one of the programs named needs, as in 2.34.
set -eu
objdump -T "$@" 2>/dev/null | grep -oE 'GLIBC_[0-9]+\.[0-9.]+' | sed 's/GLIBC_//' | sort -Vu | tail -n 1
