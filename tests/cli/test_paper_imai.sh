#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Figures about adaptive finite elements show their effects.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

check "lists the figures" grep -q imai-poke <("$yawara" paper)
# figure NAME: quick numbers into NAME.txt.
figure() {
  "$yawara" paper "imai-$1" --quick --no-pictures --scenes "$root/scenes" >"$1.txt" 2>"$1.log"
  same "$1 runs" "$?" 0
}

figure fig6
holds "the tips of both bars stay within 2.5 % of the finest mesh with less than half of the tets" fig6.txt \
  '/^(one stiffness|4x stiffer)/ { n += $(NF - 2) > 0 && $(NF - 2) < 2.5 && $NF < 50 } END { print (n == 2) ? "true" : "false" }'
# How much faster is for yawara bench to say: clocks of a busy machine decide no test.
figure fig7
holds "few tets at the beginning" fig7.txt \
  '/^ +0\.025/ { n += $2 < 15 } END { print (n == 2) ? "true" : "false" }'
figure variants
holds "carried nodes keep the momentum of a thrown bar, snapped ones do not" variants.txt \
  '/^thrown/ { on = 1 } on && /^as here/ { n += $(NF - 1) > 0.9999 && $(NF - 1) < 1.0001 }
   on && /^hanging/ { n += $(NF - 1) < 0.995 || $(NF - 1) > 1.005 } END { print (n == 2) ? "true" : "false" }'
figure poke
holds "a poke needs few tets, and is as deep as in the finest mesh" poke.txt \
  '$1 == "0.04" { print ($2 < 5 && $3 > 1 && $(NF - 2) < 3 && $(NF - 1) < 1.2) ? "true" : "false" }'
figure load
holds "small loads need few tets, and sag as the finest mesh does" load.txt \
  '$1 ~ /^(0.10|0.30|1.00)$/ { n += $3 < 15 && $6 < 1.5 && $6 > -1.5 } END { print (n == 6) ? "true" : "false" }'
figure fig8
holds "a surface finer than the tets in use" fig8.txt \
  '/^surface/ { fine = $4 } /^tets/ { print (fine > $(NF - 2)) ? "true" : "false" }'
check "numbers of fig8 in the docs" python3 "$root/scripts/write_papers.py" --check fig8.txt imai-fig8
# Long: the first frames of landing.
trial() { "$yawara" paper "imai-$1" --quick --no-pictures --frames 2 --scenes "$root/scenes" >"$1.txt" 2>"$1.log"; }
check "fig9, two frames" trial fig9
holds "soft ears give way more, the back does not" fig9.txt \
  '/^ear/ { ear = $NF } /^back/ { print (ear > 1.01 && $NF < 1.01) ? "true" : "false" }'
finish
