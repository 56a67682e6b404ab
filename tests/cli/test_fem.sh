#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Finite elements for users: levels in inspect, and a cache that may be damaged or missing.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache

cat >bar.json <<'JSON'
{ "duration": 0.05, "fps": 40, "substeps": 1,
  "bodies": [ { "name": "bar", "mesh": { "lattice": { "size": [0.4, 0.1, 0.1], "cells": [4, 1, 1] } },
    "fem": { "max_level": 2, "fields": [ { "from": [-0.2, 0, 0], "to": [0.2, 0, 0], "youngs_modulus": [1.2e6, 3e5] } ] },
    "pins": [ { "select": { "box": { "size": [0.01, 1, 1], "center": [-0.2, 0, 0] } } } ] } ] }
JSON

check "inspect" "$yawara" inspect bar.json
"$yawara" inspect bar.json >second.txt
check "levels and their tets" grep -qE '^ +2 +2080 ' second.txt
check "the second time from the cache" grep -q "coarse levels from the cache" second.txt
same "one file in the cache" "$(ls cache/yawara | wc -l)" 1
check "run" "$yawara" run bar.json -o cached
file=$(ls cache/yawara/*.ywc)

printf 'x' | dd of="$file" bs=1 seek=300 conv=notrunc 2>/dev/null
"$yawara" inspect bar.json >damaged.txt
check "a damaged cache is ignored with a word" grep -q "warning: .*checksum" damaged.txt
check "and made again" grep -q "coarse levels sampled" damaged.txt
"$yawara" inspect bar.json >mended.txt
check "once" grep -q "coarse levels from the cache" mended.txt
rm -r cache
check "run without a cache" "$yawara" run bar.json -o fresh
same "gives the same" "$(state_of cached)" "$(state_of fresh)"
: >blocked
XDG_CACHE_HOME=$work/blocked check "a cache that cannot be is no failure" "$yawara" run bar.json -o blocked_run

# A stiff light block that is pulled to ten times its length, and not.
pulled() {
  sed "s/OFFSET/$1/g" >"$2" <<'JSON'
{ "duration": 0.25, "fps": 60, "substeps": 1, "gravity": [0, 0, 0],
  "bodies": [ { "name": "band", "mesh": { "lattice": { "size": 0.4, "cells": 2 } }, "density": 20, "fem": { "max_level": 0, "youngs_modulus": 5e8 },
    "pins": [
      { "select": { "box": { "size": [0.01, 1, 1], "center": [-0.2, 0, 0] } }, "path": [{ "time": 0 }, { "time": 0.1, "offset": [-OFFSET, 0, 0] }] },
      { "select": { "box": { "size": [0.01, 1, 1], "center": [0.2, 0, 0] } }, "path": [{ "time": 0 }, { "time": 0.1, "offset": [OFFSET, 0, 0] }] } ] } ] }
JSON
}
pulled 1.8 far.json
pulled 0.1 near.json
check "a body that is pulled far is simulated" "$yawara" run far.json -o far -q
"$yawara" run far.json -o far -q 2>far.txt
"$yawara" run near.json -o near -q 2>near.txt
same "it is told once that it moves in slow motion" "$(grep -c 'body "band" .*slow motion' far.txt)" 1
same "others are not" "$(grep -c 'slow motion' near.txt)" 0
check "the log has the time that it missed" grep -q '"band missed (s)"' far/log.csv

sed 's/"max_level": 2/"max_level": 8/' bar.json >large.json
refuses "levels that would not fit" "GB" "$yawara" inspect large.json
sed 's/\[1.2e6, 3e5\]/[1.2e6, 0]/' bar.json >zero.json
refuses "no stiffness" "greater than 0" "$yawara" inspect zero.json
finish
