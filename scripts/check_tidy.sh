#!/usr/bin/env bash
# Runs clang-tidy on the library, the program and the studies; .clang-tidy lists the checks.
# usage: scripts/check_tidy.sh BUILD_FOLDER      (needs its compile_commands.json)
set -uo pipefail
cd "$(dirname "$0")/.."
# Skip kernels: they are slow to check, and plain arithmetic.
find src apps studies -name '*.c' ! -name '*_kernels.c' ! -name '*_none.c' |
  xargs -P "$(nproc)" -n 8 clang-tidy -p "$1" --quiet 2>/dev/null
