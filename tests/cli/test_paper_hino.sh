#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Figures about frames on springs show their effects.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

check "lists the figures" grep -q hino-limit <("$yawara" paper)
"$yawara" paper hino --quick --no-pictures >all.txt 2>all.log
same "all of them" "$?" 0
holds "net force and torque vanish, also in reflected states" all.txt \
  '/^(points|ellipsoids)/ { n += $(NF - 4) <= 1e-13 && $(NF - 3) <= 1e-13 && $(NF - 1) <= 1e-12 } END { print (n == 4) ? "true" : "false" }'
holds "only polar(A) is stable" all.txt \
  '/^(points|ellipsoids)/ { n += $(NF - 2) > 0 && $NF < 0 } END { print (n == 4) ? "true" : "false" }'
holds "position-based stiffness grows with the number of steps" all.txt \
  '/^position-based/ { print ($(NF - 1) / $(NF - 4) > 7.9 && $(NF - 1) / $(NF - 4) < 8.1) ? "true" : "false" }'
holds "springs keep theirs" all.txt \
  '/^springs, symplectic/ { print ($NF > 0.999 && $(NF - 4) < 1.05) ? "true" : "false" }'
holds "formulas are exact" all.txt '/^largest difference/ { print ($NF < 1e-8) ? "true" : "false" }'
holds "4 cells across: frames are within 5 %, linear tets are not" all.txt \
  '/^bending: error/ { on = 1 } /^torsion: error/ { on = 0 }
   on && /^nu/ && / (rings|cells) / { n += $NF < 5 && $NF > -5 } on && /^nu/ && /linear tets/ { n += $NF > 8 }
   END { print (n == 18) ? "true" : "false " n }'
holds "one spring constant leaves the sides at rest and torsion wrong" all.txt \
  '$1 == "0.3" && NF == 10 { print ($3 > 15 && $4 < -60 && $7 * $7 >= 100 && $9 * $9 < 25 && $10 * $10 < 0.1) ? "true" : "false" }'
holds "with orientations the difference from springs falls as fast as the disturbance" all.txt \
  '/ (places|orientations) / { n += $NF < 2e-4 * $(NF - 5) && $NF < 2e-5 } END { print (n == 6) ? "true" : "false " n }'
holds "oriented bodies deform and the other has not landed yet" all.txt \
  '$1 == "oriented" && NF == 6 { print ($4 > 0.03 && $6 < 0.01) ? "true" : "false" }'
holds "frames of 2 cells have less error than linear tets of 4" all.txt \
  '/^frames, (cells|rings) +2 / && NF == 6 { f = $5 < 0 ? -$5 : $5; if (f > most) most = f } /^fem, linear tets +4 / { t = $6 }
   END { print (most > 0 && most < t) ? "true" : "false " most " " t }'
"$yawara" paper hino-theorem --quick -o plots >theorem.log 2>&1
"$yawara" paper hino-frequency -o plots >/dev/null 2>&1
same "plots and their numbers" "$(cd plots && echo */*.csv */*.svg)" \
  "hino-frequency/frequency.csv hino-theorem/stability.csv hino-frequency/frequency.svg hino-theorem/stability.svg"
same "a row for every state" "$(grep -c , plots/hino-theorem/stability.csv)" "201"
if grep -q "lib[a-z0-9]*-dev" theorem.log; then
  echo "built without libpng or librsvg: no PNG to test"
else
  same "plots as pictures" "$(cd plots && echo */*.png)" "hino-frequency/frequency.png hino-theorem/stability.png"
fi
refuses "a figure that is not there" "did you mean \"hino-limit\"" "$yawara" paper hino-limits
# docs/papers.md has the numbers that the program prints.
for name in frequency oriented picture; do
  check "numbers of $name in the docs" python3 "$root/scripts/write_papers.py" --check all.txt "hino-$name"
done
finish
