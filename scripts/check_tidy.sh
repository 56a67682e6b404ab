#!/usr/bin/env bash
# clang-tidy finds nothing in the library, the program and the studies (.clang-tidy says what it looks for).
# usage: scripts/check_tidy.sh FOLDER      of a build, for its compile_commands.json
set -uo pipefail
cd "$(dirname "$0")/.."
# Kernels are compiled once per instruction set and take long; their code is plain arithmetic.
find src apps studies -name '*.c' ! -name '*_kernels.c' ! -name '*_none.c' |
  xargs -P "$(nproc)" -n 8 clang-tidy -p "$1" --quiet 2>/dev/null
