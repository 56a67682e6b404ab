#!/usr/bin/env bash
# Long tests, for hours on many cores: docs/reliability.md says what they are and what came of them.
# usage: scripts/soak.sh [SEED]      another seed tries other things
set -uo pipefail
cd "$(dirname "$0")/.."
seed=${1:-1}
kills=${YW_SOAK_KILLS:-200}
scenes=${YW_SOAK_SCENES:-10000}
cores=$(nproc)
failed=0

scripts/configure.sh build -DYW_BUILD_TESTS=ON || exit 1

echo "== $kills kills per method, seed $seed"
python3 tests/soak/kill.py build/yawara build/tests/io_faults.so "$kills" "$seed" || failed=1

# Each process takes every so many seeds in a row.
share=$(((scenes + cores - 1) / cores))
echo "== $((share * cores)) random scenes from seed $((seed * 1000000)) on"
pids=()
logs=$(mktemp -d)
for i in $(seq 0 $((cores - 1))); do
  YW_TEST_SEEDS="$((seed * 1000000 + i * share)) $share" build/tests/test_random_scenes >"$logs/$i" 2>&1 &
  pids+=($!)
done
for i in "${!pids[@]}"; do
  wait "${pids[$i]}" && continue
  failed=1
  echo "not ok, $(grep '^seed' "$logs/$i" | tail -n 1):"
  grep -v '^seed' "$logs/$i" | head -n 20
done
rm -r "$logs"

echo "== torture of every method and pair of methods, ${YW_SOAK_TORTURE:-20} seeds from $seed on"
YW_TEST_SEEDS="$seed ${YW_SOAK_TORTURE:-20}" build/tests/test_torture || failed=1

echo "== fuzzing of every reader, ${YW_SOAK_FUZZ:-7200} s"
scripts/fuzz.sh "${YW_SOAK_FUZZ:-7200}" || failed=1

echo "== all tests at full length"
YW_TEST_FULL=1 ctest --test-dir build -j "$cores" --timeout 7200 --output-on-failure || failed=1

echo "== the page, with ten minutes of random clicks"
if scripts/web.sh --check && command -v chromium >/dev/null 2>&1; then
  scripts/web.sh && YW_TEST_FULL=1 node tests/web/run.mjs || failed=1
else
  echo "skipped: scripts/setup.sh web installs what it needs"
fi

[ $failed -eq 0 ] && echo "nothing failed" || echo "FAILED: see above"
exit $failed
