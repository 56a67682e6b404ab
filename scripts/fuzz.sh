#!/usr/bin/env bash
# Coverage-guided fuzzing of every reader: tests/fuzz/fuzz_*.c, libFuzzer with the address and undefined-behaviour sanitizers.
# usage: scripts/fuzz.sh [SECONDS [PROGRAM[:PROCESSES]...]]
#        SECONDS in all (default 600); programs like fuzz_mesh (default all). Cores that are left over go to the fast programs; processes of
#        one program share what they find.
# Inputs stay in build/fuzz/corpus, so that the next time goes on from them. Those that broke something are in build/fuzz/found:
# build/fuzz/tests/PROGRAM FILE runs one again; after each the program starts anew. Exits 1 if something broke.
# YW_FUZZ_BUILD=FOLDER takes programs from FOLDER/tests that were built before, on a machine without clang for example, and keeps inputs
# there; YW_FUZZ_TIMEOUT=S is what an input may take (default 10 s, for busy machines; five times S where a world is built); YW_FUZZ_PROGRAMS is the same as naming programs.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${YW_FUZZ_BUILD:-$PWD/build/fuzz}
seconds=${1:-600}
shift $(($# > 0 ? 1 : 0))
[ $# -gt 0 ] || set -- ${YW_FUZZ_PROGRAMS:-}
cores=${YW_FUZZ_CORES:-$(nproc)}
export LSAN_OPTIONS="suppressions=$PWD/tests/support/leaks.supp:print_suppressions=0"
# Short stacks of allocations and a small quarantine make small inputs several times as fast.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=8:detect_stack_use_after_return=0

build_programs() {
  local log generator=()
  log=$(mktemp)
  [ -f "$build/CMakeCache.txt" ] || { command -v ninja >/dev/null 2>&1 && generator=(-G Ninja); }
  if ! cmake -S . -B "$build" "${generator[@]}" -DCMAKE_C_COMPILER=clang -DYW_SANITIZE=fuzzer-no-link,address,undefined -DYW_BUILD_TESTS=ON \
    -DYW_BUILD_FUZZERS=ON -DYW_OPTIMIZE=-O1 -DYW_WITH_X86_KERNELS=OFF -DYW_WITH_OPENVDB=OFF -DYW_WITH_WEBSOCKETS=OFF \
    >"$log" 2>&1 || ! cmake --build "$build" --parallel "$cores" --target fuzzers >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
  rm -f "$log"
}
[ -n "${YW_FUZZ_BUILD:-}" ] || build_programs

# "PROGRAM PROCESSES" per line.
list_programs() {
  local name fast=(fuzz_files fuzz_requests fuzz_mesh) names=("$@")
  [ ${#names[@]} -gt 0 ] || mapfile -t names < <(basename -s .c tests/fuzz/fuzz_*.c)
  for name in "${names[@]}"; do
    local own=1 i
    [[ $name != *:* ]] || own=${name#*:}
    if [ $# -eq 0 ]; then
      for i in "${!fast[@]}"; do
        [ "${fast[i]}" != "$name" ] || own=$((1 + (cores > ${#names[@]} ? (cores - ${#names[@]} + 2 - i) / 3 : 0)))
      done
    fi
    echo "${name%:*} $own"
  done
}
programs=()
declare -A processes
total_processes=0
while read -r name own; do
  programs+=("$name")
  processes[$name]=$own
  total_processes=$((total_processes + own))
done < <(list_programs "$@")
share=$((total_processes > cores ? seconds * cores / total_processes : seconds))
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

# What an input may take. Those that build worlds are some ten times as slow with sanitizers as without.
longest_time() {
  case $1 in
    fuzz_scene | fuzz_snapshot | fuzz_cache) echo -timeout=$((5 * ${YW_FUZZ_TIMEOUT:-2})) ;;
    *) echo "-timeout=${YW_FUZZ_TIMEOUT:-10}" ;;
  esac
}

# fuzz PROGRAM NUMBER: runs one process in an empty folder, in memory where there is such a place. What breaks is not the end of it.
fuzz() {
  local name=$1 corpus=$build/corpus/$1 log=$build/logs/$1.$2 place=/dev/shm folder end left try
  [ -w $place ] || place=${TMPDIR:-/tmp}
  folder=$(mktemp -d "$place/yawara-fuzz-XXXXXX")
  end=$((SECONDS + share))
  : >"$log"
  (
    cd "$folder" || exit 1
    for try in {1..20}; do
      left=$((end - SECONDS))
      [ $left -gt 0 ] || break
      "$build/tests/$name" -max_total_time=$left $(longest_input "$name") $(longest_time "$name") -malloc_limit_mb=64 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/found/$name-" "$corpus" >>"$log" 2>&1 && break
      echo "broke something: try $try" >>"$log"
    done
  )
  rm -rf "$folder"
}

write_seeds() {
  local folder
  folder=$(mktemp -d)
  mkdir -p "$build/corpus/$1" "$build/found" "$build/logs"
  rm -f "$build/logs/$1".*
  (cd "$folder" && YW_FUZZ_SEEDS=$build/corpus/$1 "$build/tests/$1" >"$build/logs/$1.seeds" 2>&1) || {
    cat "$build/logs/$1.seeds" >&2
    exit 1
  }
  rm -rf "$folder" "$build/logs/$1.seeds"
}

# The numbers of reached branches and of features (branches with counts) in a line of libFuzzer's log.
covered() { sed -nE 's/.* cov: ([0-9]+) ft: ([0-9]+).*/\1 \2/p'; }
# statistic PROGRAM NAME sum|most|mean: over all processes of a program
statistic() {
  sed -nE "s/^stat::$2: *//p" "$build/logs/$1".* | awk -v how="$3" '{ sum += $1; if ($1 > most) most = $1 }
    END { printf "%d", how == "sum" ? sum : how == "most" ? most : NR ? sum / NR : 0 }'
}

for name in "${programs[@]}"; do write_seeds "$name"; done
for name in "${programs[@]}"; do
  for ((number = 1; number <= processes[$name]; ++number)); do
    while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n; done
    fuzz "$name" $number &
  done
done
wait

failed=0
total=0
printf '%-14s %12s %8s %16s %18s %8s %8s  %s\n' program executions per_s "branches" "features" "slowest" "memory" result
for name in "${programs[@]}"; do
  # Every process comes to know what the others found: the one that began with least, and the one that ended with most.
  read -r cov_first ft_first < <(grep -h -m 1 INITED "$build/logs/$name".* | covered | sort -n | head -n 1)
  read -r cov_last ft_last < <(grep -h ' cov: ' "$build/logs/$name".* | covered | sort -n | tail -n 1)
  executions=$(statistic "$name" number_of_executed_units sum)
  total=$((total + executions))
  result=ok
  broken=$(cat "$build/logs/$name".* | grep -c '^broke something')
  if [ "$broken" -ne 0 ] || [ "$executions" -eq 0 ]; then
    failed=1
    result="BROKEN $broken times, see build/fuzz/logs/$name.*: $(grep -h -m 1 -E '^broken:|ERROR: |runtime error' "$build/logs/$name".* | head -n 1)"
  fi
  printf '%-14s %12s %8s %7s -> %5s %8s -> %6s %6s s %5s MB  %s\n' "$name" "$executions" "$(statistic "$name" average_exec_per_sec mean)" \
    "${cov_first:-?}" "${cov_last:-?}" "${ft_first:-?}" "${ft_last:-?}" "$(statistic "$name" slowest_unit_time_sec most)" \
    "$(statistic "$name" peak_rss_mb most)" "$result"
done
echo "$total executions, $total_processes processes of $share s, $(date -u +%F)"
exit $failed
