#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One body on several ranks over MPI: the same run, resumed by any number of them, after a rank was
# killed too; and what is refused.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

cat >scene.json <<'END'
{ "gravity": [0, -9.81, 0], "substeps": 2, "floor": true, "duration": 0.1,
  "bodies": [{ "name": "bar", "shape": { "box": { "size": [0.4, 0.1, 0.1] } },
    "position": [0, 0.06, 0], "velocity": [0, -2, 0],
    "plastic": { "spacing": 0.02, "youngs_modulus": 2e5, "sleep_speed": 0 } },
    { "name": "jelly", "mesh": { "lattice": { "size": 0.08, "cells": 2 } }, "position": [0.05, 0.16, 0],
      "velocity": [0, -3, 0], "match": {} },
    { "name": "stone", "shape": { "box": { "size": 0.05 } }, "position": [-0.1, 0.14, 0],
      "velocity": [0, -3, 0], "rigid": {} }] }
END
refuses "ranks without MPI say what to install" "libopenmpi-dev and openmpi-bin" \
  env YAWARA_RANKS=2 YAWARA_MPI_LIBRARY=/nowhere.so "$yawara" run scene.json -o none

command -v mpirun >/dev/null 2>&1 || { echo "skip ranks: no mpirun (Debian: openmpi-bin)"; finish; exit; }
[ -f "$(dirname "$yawara")/libyawara_mpi.so" ] || { echo "skip ranks: built without MPI"; finish; exit; }
launch=(mpirun)
if mpirun --version | grep -q "Open MPI"; then
  launch+=(--oversubscribe --mca mpi_yield_when_idle 1)
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

check "one rank runs" "$yawara" run scene.json -o one --fields stress -q
check "two ranks run" "${launch[@]}" -n 2 "$yawara" run scene.json -o two --fields stress -q
same "two ranks end with the same state" "$(state_of one)" "$(state_of two)"
check "with the same frames" diff -r one/frames two/frames
check "and the same snapshot" cmp one/snapshot.yws two/snapshot.yws
log_of() { cut -d, -f1,2,7- "$1/log.csv"; }
same "and the same log" "$(log_of one | md5sum)" "$(log_of two | md5sum)"

# Rank 1 is killed in the middle.
"${launch[@]}" -n 2 "$yawara" run scene.json -o killed --fields stress --frames 1000 --snapshot-every 2 -q \
  >/dev/null 2>&1 &
run=$!
for _ in $(seq 600); do [ -f killed/snapshot.yws ] && break; sleep 0.05; done
victim=
for process in $(pgrep -f "run scene.json -o killed"); do
  grep -qz '^OMPI_COMM_WORLD_RANK=1$' "/proc/$process/environ" 2>/dev/null && victim=$process
done
[ -n "$victim" ] || victim=$(pgrep -f "yawara run scene.json -o killed" | tail -1)
kill -9 "$victim"
wait $run
code=$?
if [ $code -ne 0 ]; then pass "a killed rank ends the run"; else flunk "a killed rank ends the run" "code 0"; fi
check "two other ranks resume it" "${launch[@]}" -n 2 "$yawara" run scene.json -o killed --fields stress \
  --frames 6 --resume -q
check "one rank resumes it" "$yawara" run scene.json -o killed --frames 6 --resume -q

refuses "ranks with all frames in one file" "several write a file for each frame" \
  "${launch[@]}" -n 2 "$yawara" run scene.json -o bad --pack
sed 's/-2, 0/-3, 0/' scene.json >other.json
refuses "ranks with different scenes" "another scene" \
  "${launch[@]}" -n 1 "$yawara" run scene.json -o bad : -n 1 "$yawara" run other.json -o bad
{ cat "$yawara"; echo; } >changed && chmod +x changed
refuses "ranks that are different programs" "different programs" \
  env YAWARA_MPI_LIBRARY="${YAWARA_MPI_LIBRARY:-$(dirname "$yawara")/libyawara_mpi.so}" \
  "${launch[@]}" -n 1 "$yawara" run scene.json -o bad : -n 1 ./changed run scene.json -o bad
refuses "more ranks than chunks of masters" "3 ranks are too many for 500 masters" \
  "${launch[@]}" -n 3 "$yawara" run scene.json -o bad
sed 's/, "sleep_speed": 0//' scene.json >sleep.json
refuses "bodies that sleep" "sleep_speed" "${launch[@]}" -n 2 "$yawara" run sleep.json -o bad
refuses "a scene that only one rank finds" "rank 1: .*nowhere.json" \
  "${launch[@]}" -n 1 "$yawara" run scene.json -o bad : -n 1 "$yawara" run nowhere.json -o bad
finish
