#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Figures of Saida et al. 2017 show their effects; coarse, without pictures.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
export YAWARA_SCENES=$root/scenes

numbers() { "$yawara" paper "saida2017-$1" --quick --no-pictures >"$1.txt" 2>"$1.log"; }

check "lists the figures" grep -q saida2017-table2 <("$yawara" paper)
check "figure 10" numbers fig10
# fig. 10, left  masters slaves (at start, at end) pieces (most, at end) crumbs top speed ms solve
holds "two cubes, in one piece each" fig10.txt \
  '/^fig\. 10/ { n += $4 == 512 && $5 > 512 && $7 == 1 && $8 == 1 && $9 == 0 } END { print (n == 2) ? "true" : "false" }'
holds "the one that yields earlier stays lower" fig10.txt \
  '/left/ { left = $10 } /right/ { right = $10 } END { print (right < left - 0.005 && right > 0.1) ? "true" : "false" }'
check "figure 1" numbers fig1
holds "slaves see what masters do not" fig1.txt \
  '/masters alone/ { alone = $3 } /with slaves/ { with = $3 } END { print (alone > 0.9 && with < 0.001) ? "true" : "false" }'
check "buckling" numbers buckling
holds "a sheet on its edge leaves its plane and springs back" buckling.txt \
  '/^three layers$/ { exit } NF == 4 && $1 == "0.08" { bent = $4 } NF == 4 && $1 == "0.28" { back = $4 } END { print (bent > 0.025 && back < 0.5 * bent) ? "true" : "false" }'
# The extent of three layers is 0.02 m when they are flat.
holds "three layers spring back" buckling.txt \
  '/^three layers$/ { inside = 1 } inside && $1 == "0.04" { bent = $4 - 0.02 } inside && $1 == "0.40" { back = $4 - 0.02 } END { print (bent > 0.05 && back < 0.3 * bent) ? "true" : "false" }'

# The long ones: one frame of every scene, in which bodies are still whole. saida2017-mpm takes too long even so.
trial() { "$yawara" paper "saida2017-$1" --quick --no-pictures --frames 1 >"$1.txt" 2>"$1.log"; }
for part in fig7:4 fig8:3 fig9:2 fig11:2 fig12:1 fig13:2 fig14:1; do
  name=${part%:*}
  check "$name, one frame" trial "$name"
  # Pieces, most and at the end, follow masters and slaves.
  same "bodies of $name in one piece" \
    "$(grep '%$' "$name.txt" | sed -E 's/^.{27}//' | awk '$1 > 500 && $3 >= $2 && $4 == 1 && $5 == 1' | wc -l)" "${part#*:}"
done
check "fig16, one frame" trial fig16
holds "the same masters at every extent" fig16.txt \
  '/of the first/ { n += $2 == 2040 && $3 > 0 } END { print (n == 4) ? "true" : "false" }'
check "table2, one frame" trial table2
holds "every scene of the table" table2.txt '/x$/ { n += $(NF - 5) > 500 && $(NF - 2) > 0 } END { print (n == 10) ? "true" : "false" }'
check "slaves, one frame" trial slaves
holds "every rule for slaves; none loses momentum" slaves.txt \
  '/^Lumps/ { lumps = 1 } NF > 8 && !lumps { n += /0 +0 +24/ } lumps && $NF ~ /^[0-9]+$/ { m += $(NF - 7) < 1e-6 && $(NF - 5) > 0.999 }
   END { print (n == 12 && m == 5) ? "true" : "false" }'

# docs/papers.md has the numbers that the program prints.
for name in fig1 buckling; do
  check "numbers of $name in the docs" python3 "$root/scripts/write_papers.py" --check "$name.txt" "saida2017-$name"
done
check "numbers in its text are those of the blocks" python3 "$root/scripts/write_papers.py" --check-text

finish
