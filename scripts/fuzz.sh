#!/usr/bin/env bash
# Coverage-guided fuzzing of every reader: tests/fuzz/fuzz_*.c, libFuzzer with the address and undefined-behaviour sanitizers.
# usage: scripts/fuzz.sh [SECONDS [PROGRAM...]]      SECONDS in all (default 600); programs like fuzz_mesh (default all)
# Inputs stay in build/fuzz/corpus, so that the next time goes on from them. Those that broke something are in build/fuzz/found:
# build/fuzz/tests/PROGRAM FILE runs one again. Exits 1 if something broke.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build/fuzz
seconds=${1:-600}
shift $(($# > 0 ? 1 : 0))
cores=${YW_FUZZ_CORES:-$(nproc)}
export LSAN_OPTIONS="suppressions=$PWD/tests/support/leaks.supp:print_suppressions=0"
# Short stacks of allocations and a small quarantine make small inputs several times as fast.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=8:detect_stack_use_after_return=0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
generator=()
[ -f "$build/CMakeCache.txt" ] || { command -v ninja >/dev/null 2>&1 && generator=(-G Ninja); }
if ! cmake -S . -B "$build" "${generator[@]}" -DCMAKE_C_COMPILER=clang -DYW_SANITIZE=fuzzer-no-link,address,undefined -DYW_BUILD_TESTS=ON \
  -DYW_BUILD_FUZZERS=ON -DYW_OPTIMIZE=-O1 -DYW_WITH_X86_KERNELS=OFF -DYW_WITH_OPENVDB=OFF -DYW_WITH_WEBSOCKETS=OFF \
  >"$log" 2>&1 || ! cmake --build "$build" --parallel "$cores" --target fuzzers >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi

programs=("$@")
[ ${#programs[@]} -gt 0 ] || mapfile -t programs < <(basename -s .c tests/fuzz/fuzz_*.c)
share=$((seconds * cores / ${#programs[@]}))
[ $share -gt 0 ] || share=1

# Most of what a reader can do wrong fits into small files, and small ones are fast. Binary files of
# a fixed size have no smaller ones that are read to their end.
longest_input() {
  case $1 in
    fuzz_requests) echo -max_len=200 ;;
    fuzz_mesh | fuzz_files) echo -max_len=600 ;;
    fuzz_scene) echo -max_len=1500 ;;
  esac
}

# Runs one program in an empty folder, in memory where there is such a place.
fuzz() {
  local name=$1 corpus=$build/corpus/$1 place=/dev/shm folder
  [ -w $place ] || place=${TMPDIR:-/tmp}
  folder=$(mktemp -d "$place/yawara-fuzz-XXXXXX")
  mkdir -p "$corpus" "$build/found" "$build/logs"
  (cd "$folder" && YW_FUZZ_SEEDS=$corpus "$build/tests/$name" >"$build/logs/$name" 2>&1 &&
    "$build/tests/$name" -max_total_time=$share $(longest_input "$name") -timeout=10 -malloc_limit_mb=64 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$build/found/$name-" "$corpus" >"$build/logs/$name" 2>&1)
  echo $? >"$build/logs/$name.rc"
  rm -rf "$folder"
}

# covered LINE: the numbers of reached branches and of features (branches with counts) in a line of libFuzzer's log
covered() { sed -nE 's/.* cov: ([0-9]+) ft: ([0-9]+).*/\1 \2/p' <<<"$1"; }
statistic() { sed -nE "s/^stat::$2: *//p" "$build/logs/$1" | tail -n 1; }

for name in "${programs[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n; done
  fuzz "$name" &
done
wait

failed=0
total=0
printf '%-14s %12s %8s %16s %18s %8s %8s  %s\n' program executions per_s "branches" "features" "slowest" "memory" result
for name in "${programs[@]}"; do
  read -r cov_first ft_first < <(covered "$(grep -m 1 INITED "$build/logs/$name")")
  read -r cov_last ft_last < <(covered "$(grep ' cov: ' "$build/logs/$name" | tail -n 1)")
  executions=$(statistic "$name" number_of_executed_units)
  total=$((total + ${executions:-0}))
  result=ok
  if [ "$(cat "$build/logs/$name.rc")" -ne 0 ]; then
    failed=1
    result="BROKEN, see build/fuzz/logs/$name: $(grep -m 1 -E '^broken:|ERROR: |runtime error' "$build/logs/$name")"
  fi
  printf '%-14s %12s %8s %7s -> %5s %8s -> %6s %6s s %5s MB  %s\n' "$name" "${executions:-0}" \
    "$(statistic "$name" average_exec_per_sec)" "${cov_first:-?}" "${cov_last:-?}" \
    "${ft_first:-?}" "${ft_last:-?}" "$(statistic "$name" slowest_unit_time_sec)" "$(statistic "$name" peak_rss_mb)" "$result"
done
echo "$total executions, $share s per program, $(date -u +%F)"
exit $failed
