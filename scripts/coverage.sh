#!/usr/bin/env bash
# Lines and branches of the library that the tests reach, per file, in build/coverage/coverage.txt.
# Kernels are compiled once, for plain instructions. usage: scripts/coverage.sh
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/configure.sh build/coverage -DYW_BUILD_TESTS=ON -DYW_WITH_X86_KERNELS=OFF -DYW_OPTIMIZE=-O1 \
  -DYW_WITH_OPENVDB=OFF "-DCMAKE_C_FLAGS=--coverage -fprofile-update=atomic" -DCMAKE_EXE_LINKER_FLAGS=--coverage \
  -DCMAKE_SHARED_LINKER_FLAGS=--coverage
find build/coverage -name '*.gcda' -delete
ctest --test-dir build/coverage -j "$(nproc)" --timeout 3600 >build/coverage/ctest.txt ||
  { grep -A 100 'tests FAILED' build/coverage/ctest.txt; echo "some tests failed; what they reached counts"; }
gcovr --root . --filter src/ --object-directory build/coverage --exclude-unreachable-branches \
  --exclude-throw-branches --print-summary --txt build/coverage/coverage.txt
