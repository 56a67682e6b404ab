#!/usr/bin/env bash
# Runs all checks and tests and ends with one line: N passed, N failed.
# usage: scripts/test.sh [quick]      quick: only house rules and gcc, long tests shorter; for every change
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0
failed=0
skipped=0

# Names what comes next, with the seconds so far: by the clock, and of the processors (which a busy
# machine changes less).
note() {
  local cpu
  cpu=$(awk -v hz="$(getconf CLK_TCK)" '{ print int(($16 + $17) / hz) }' "/proc/$$/stat" 2>/dev/null)
  printf '\n== %s (%s s; processors %s s)\n' "$1" "$SECONDS" "$cpu"
}

# A check that is a single command.
check() {
  local name=$1
  shift
  if "$@"; then
    echo "ok: $name"
    passed=$((passed + 1))
  else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

# Counts the cases in a ctest log: cmocka's summaries and the "ok" / "not ok" lines of scripts. A
# program that died without a summary counts as one failure.
count_cases() {
  awk '
    /^[0-9]+\/[0-9]+ Testing: / { bad = 0 }
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4; bad += $4 }
    /^ok / { passed += 1 }
    /^not ok / { failed += 1; bad += 1 }
    /^Test Failed\./ { if (!bad) failed += 1 }
    END { printf "%d %d %d\n", passed, failed, skipped }
  ' "$1"
}

# suite NAME FOLDER CTEST_OPTIONS -- CMAKE_OPTIONS
suite() {
  local name=$1 folder=$2 options=()
  shift 2
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  shift
  note "$name"
  if ! scripts/configure.sh "$folder" -DYW_BUILD_TESTS=ON -DYW_WERROR=ON "$@"; then
    echo "FAILED: $name does not build"
    failed=$((failed + 1))
    return
  fi
  rm -f "$folder/Testing/Temporary/LastTest.log"
  local p=0 f=0 s=0 code=0
  ctest --test-dir "$folder" -j "$(nproc)" --output-on-failure --no-tests=error "${options[@]}" || code=$?
  read -r p f s < <(count_cases "$folder/Testing/Temporary/LastTest.log")
  # Timeouts and empty suites leave no failed case in the log.
  if [ $code -ne 0 ] && [ "${f:-0}" -eq 0 ]; then f=1; fi
  passed=$((passed + p))
  failed=$((failed + f))
  skipped=$((skipped + s))
}

# The page, in headless Chromium. Skipped where its tools are not installed.
page_suite() {
  local log
  note "page"
  if ! scripts/web.sh --check || ! command -v chromium >/dev/null 2>&1; then
    echo "skipped: the page (scripts/setup.sh web installs what it needs)"
    skipped=$((skipped + 1))
    return
  fi
  if ! scripts/web.sh; then
    echo "FAILED: the page does not build"
    failed=$((failed + 1))
    return
  fi
  log=$(mktemp)
  node tests/web/run.mjs | tee "$log"
  count_log "$log" 0
}

# Counts the cases of a log that a script printed. $2: 1 if the script failed.
count_log() {
  local p=0 f=0 s=0
  read -r p f s < <(count_cases "$1")
  # A runner that died has counted nothing.
  if [ "$f" -eq 0 ] && { [ "$p" -eq 0 ] || [ "$2" -ne 0 ]; }; then f=1; fi
  rm -f "$1"
  passed=$((passed + p))
  failed=$((failed + f))
}

# The Blender add-on: scenes without Blender, then all of it in Blender without a window.
blender_suite() {
  local log code=0
  note "Blender add-on"
  log=$(mktemp)
  blender/tests/run.sh | tee "$log"
  code=${PIPESTATUS[0]}
  count_log "$log" "$code"
  if ! command -v blender >/dev/null 2>&1; then
    echo "skipped: the add-on in Blender (scripts/setup.sh blender installs it)"
    skipped=$((skipped + 1))
  fi
}

note "house rules"
check "formatting" scripts/check_format.sh
check "include directions" scripts/check_includes.sh
check "picture of the rooms" python3 scripts/draw_rooms.py --check
check "forbidden calls and casts" scripts/check_source.sh
left_out=()
if [ "${1:-}" = quick ]; then
  export YW_TEST_FAST=1
  # Figures and measurements of the studies take long, and change only with them.
  left_out=(-E 'cli/test_(bench|fit|paper)|fem_shapes')
fi
suite "gcc" build "${left_out[@]}" -- -DYW_BUILD_BENCH_PEERS=ON
if [ "${1:-}" != quick ]; then
  clang=(-DCMAKE_C_COMPILER=clang -DYW_WITH_CUDA=OFF)
  # Warnings and tests of clang's code are those of the sanitizers below; here, its results.
  suite "clang" build/clang -- "${clang[@]}" -DYW_BUILD_APP=OFF -DYW_TEST_KINDS=golden
  export YW_TEST_FAST=1
  # The sanitizers build at -O1 and for one instruction set: golden hashes depend on neither. The skin
  # is C++ and takes a minute to compile: once, above, is enough.
  sanitized=("${clang[@]}" -DYW_WITH_OPENVDB=OFF -DYW_WITH_X86_KERNELS=OFF -DYW_OPTIMIZE=-O1)
  # Slow here, and no other code than the rest.
  slow='mesher|fem_(shapes|world|bar|plastic|sampling)|scene_(fem|build)|slender_world|frames_(extremes|static)'
  slow+='|frames_(scenes|composite|world)|match_size|plastic|plastic_(spin|press|sleep|conserve|sheet)|friction'
  slow+='|track|mesh_obstacle|contact_surfaces|lockstep|mesher_(law|models|octree)'
  slow+='|stacks|elastic|frames_calculix|fem_calculix|slender|world_random|device|plastic_state|contact_world|heaps|mpm'
  slow+='|contact_(rigid_surfaces|adaptive|list|crowds|spheres|ordeals)|control|respond|fem_graded|frames_turns|cholesky'
  suite "address and undefined behaviour" build/asan -- "${sanitized[@]}" -DYW_SANITIZE=address,undefined \
    "-DYW_TEST_NAMES_NOT=^test_($slow)$"
  check "clang-tidy" scripts/check_tidy.sh build/asan
  suite "threads" build/tsan -- "${sanitized[@]}" -DYW_BUILD_APP=OFF -DYW_SANITIZE=thread \
    '-DYW_TEST_NAMES=test_(base|threads|world|contact_surfaces_crowd|golden)$'
  page_suite
  blender_suite
  check "installed library" scripts/check_install.sh
  check "same interface within a minor version" scripts/check_compat.sh
fi

note "done"
if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
