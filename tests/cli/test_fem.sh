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

sed 's/"max_level": 2/"max_level": 8/' bar.json >large.json
refuses "levels that would not fit" "GB" "$yawara" inspect large.json
sed 's/\[1.2e6, 3e5\]/[1.2e6, 0]/' bar.json >zero.json
refuses "no stiffness" "greater than 0" "$yawara" inspect zero.json
finish
