#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The log of a run: every frame has a row, numbers are right, resuming continues it, charts are drawn.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
cat >scene.json <<'END'
{
  "floor": true, "duration": 1,
  "bodies": [
    { "name": "box, \"big\"", "mesh": { "lattice": { "size": 0.2, "cells": 3 } }, "position": [0, 1, 0], "match": {},
      "examples": [{ "deform": { "twist": { "axis": "y", "degrees": 90 } } }] },
    { "name": "bar", "mesh": { "lattice": { "size": [0.4, 0.1, 0.1], "cells": [8, 2, 2] } }, "position": [1, 1, 0],
      "frames": { "youngs_modulus": 1e5 }, "pins": [{ "select": { "box": { "size": [0.02, 1, 1], "center": [0.8, 1, 0] } } }] },
    { "name": "twin", "mesh": { "lattice": { "size": 0.1, "cells": 1 } }, "position": [2, 1, 0], "fem": { "max_level": 0 } },
    { "name": "twin", "mesh": { "lattice": { "size": 0.1, "cells": 1 } }, "position": [3, 1, 0], "match": {} }
  ]
}
END
check "runs" "$yawara" run scene.json -o whole --quiet --frames 20
same "a row per frame, the first and the header" "$(wc -l <whole/log.csv)" 22

# number ROW COLUMN: the cell of a frame.
number() {
  "$yawara" plot whole --list >columns.txt
  local at
  at=$(grep -nxF "$2" columns.txt | cut -d: -f1)
  [ -n "$at" ] || { echo "no column $2"; return; }
  # Names are quoted and may contain commas; rows contain only numbers.
  sed -n "$((2 + $1))p" whole/log.csv | cut -d, -f"$at"
}
within() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { exit !(a != "" && a - b <= t && b - a <= t) }'; }
check "mass" within "$(number 0 'box, "big" mass (kg)')" 8 1e-4
check "gravitational energy of all bodies" within "$(number 0 'all gravitational energy (J)')" 137.34 0.01
check "speed of a fall" within "$(number 15 'box, "big" momentum y (kg m/s)')" "$(awk 'BEGIN { print -8 * 9.81 * 0.25 }')" 0.2
check "kinetic energy of a fall" within "$(number 15 'twin 3 kinetic energy (J)')" "$(awk 'BEGIN { print 0.5 * (9.81 * 0.25) ^ 2 }')" 0.05
check "no forces in free fall" within "$(number 15 'box, "big" obstacle force y (N)')" 0 0.01
check "pins pull upwards" awk -v f="$(number 3 'bar pin force y (N)')" 'BEGIN { exit !(f + 0 > 5) }'
check "elastic energy where there is one" awk -v e="$(number 10 'bar elastic energy (J)')" 'BEGIN { exit !(e + 0 > 0.01) }'
same "an empty cell where there is none" "x$(number 10 'twin 3 elastic energy (J)')" x
check "weights of examples" within "$(number 0 'box, "big" rest weight')" 1 1e-6
check "counts of a method" awk -v n="$(number 5 'twin 2 tets')" 'BEGIN { exit !(n + 0 >= 5) }'

# Resumed in the middle, with rows of frames that are computed again.
check "first half" "$yawara" run scene.json -o parts --quiet --frames 10
echo "11,9.9,1,2,3" >>parts/log.csv
printf '12,9.' >>parts/log.csv
check "second half" "$yawara" run scene.json -o parts --quiet --frames 20 --resume
# Computing times differ between runs.
for run in whole parts; do cut -d, -f1,2,7- $run/log.csv | tail -n +2 >$run.rows; done
check "resumed rows are those of one run" cmp whole.rows parts.rows

check "the usual charts" "$yawara" plot whole
for chart in energy kinetic_energy elastic_energy momentum forces height weights times iterations counts; do
  check "$chart.svg" grep -q "</svg>" "whole/plots/$chart.svg"
done
check "columns that are asked for" "$yawara" plot whole -c "bar pin force y, all pin force y" -o forces.svg
check "their names are in the chart" grep -q "bar pin force y" forces.svg
refuses "a wrong column" 'did you mean "bar mass"' "$yawara" plot whole -c "bar mas"
refuses "columns of two units" "unit" "$yawara" plot whole -c "bar mass,bar kinetic energy"
refuses "no run" "cannot be opened" "$yawara" plot nowhere
refuses "a folder without a run" "folder of a run" "$yawara" plot .
refuses "another ending" "must end in .svg or .png" "$yawara" plot whole -c "bar mass" -o x.pdf
finish
