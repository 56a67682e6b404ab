#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The papers' figures show their effects.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
export YAWARA_SCENES=$root/scenes

numbers() { "$yawara" paper "koyama2013-$1" --no-pictures >"$1.txt" 2>"$1.log"; }

check "lists the figures" grep -q koyama2013-table1 <("$yawara" paper)
refuses "a figure that is not there" "did you mean \"koyama2013-fig1\"" "$yawara" paper koyama2013-fig13
refuses "scenes that are not there" "name the folder" "$yawara" paper koyama2013-fig1 --scenes nowhere
refuses "a folder that cannot be made" "/dev/null" "$yawara" paper koyama2013-fig1 -o /dev/null/x

check "figure 1" numbers fig1
holds "twists only with an example" fig1.txt '/largest twist/ { print ($4 < 1 && $5 > 60) ? "true" : "false" }'
holds "and untwists again" fig1.txt '/twist at the end/ { print ($6 * $6 < 900) ? "true" : "false" }'
check "figure 5" numbers fig5
holds "twist grows with beta" fig5.txt \
  '$1 + 0 == $1 && NF == 4 { if ($2 < last) bad = 1; last = $2; ++n } END { print (n == 8 && !bad && last > 60) ? "true" : "false" }'
check "figure 6" numbers fig6
holds "the other hand follows in one group only" fig6.txt \
  '/way of the other hand/ { print ($(NF - 1) > 4 * $NF) ? "true" : "false" }'
check "figure 7" numbers fig7
holds "regions on their own twist unevenly" fig7.txt \
  '/unevenness/ { print ($NF > 2 * $(NF - 1)) ? "true" : "false" }'
check "figure 8" numbers fig8
holds "has the particles of the paper" fig8.txt '/particles/ { print ($3 == 2250) ? "true" : "false" }'
check "figure 9" numbers fig9
holds "every tube takes its pose" fig9.txt \
  '/^(squash|S-bend|twist|bulge)/ { n += $2 > 0.5 } END { print (n == 4) ? "true" : "false" }'
check "figure 10" numbers fig10
holds "every car with an example takes it and recovers" fig10.txt \
  '/^(bulge|arch|lean)/ { n += $2 > 0.5 && $NF < 0.1 } END { print (n == 3) ? "true" : "false" }'
check "figure 11" numbers fig11
holds "cuboid as in the paper, the others about" fig11.txt \
  '/^(cuboid|cylinder|teddy)/ { n += $2 > 0.95 * $3 && $2 < 1.05 * $3 } END { print (n == 3) ? "true" : "false" }'
numbers12() { "$yawara" paper koyama2013-fig12 --quick --no-pictures >fig12.txt 2>fig12.log; }
check "figure 12" numbers12
# Times are for people to read: a busy machine must not fail here.
holds "both kinds of finite elements are timed beside match, for both bodies" fig12.txt \
  '/^  (Schumacher|Martin)/ { for (i = 1; i <= NF; ++i) if ($i ~ /x$/ && $i + 0 > 0) ++n } END { print (n >= 4) ? "true" : "false" }'
# A block in place of the cars.
printf 'v %s\n' "0 0 0" "2 0 0" "2 1 0" "0 1 0" "0 0 1" "2 0 1" "2 1 1" "0 1 1" >block.obj
printf 'f %s\n' "1 4 3 2" "5 6 7 8" "1 2 6 5" "2 3 7 6" "3 4 8 7" "4 1 5 8" >>block.obj
modelled() { "$yawara" paper koyama2013-fig10 --model block.obj --quick --no-pictures >model.txt 2>model.log; }
check "a model of one's own" modelled
holds "blocks are driven into the wall" model.txt \
  '/^333 particles/ { n += 1 } /^(bulge|lean)/ { n += $2 > 0.5 } END { print (n == 3) ? "true" : "false" }'
refuses "a model where nothing can be replaced" "no bunny, car or teddy" "$yawara" paper koyama2013-fig1 --model block.obj
refuses "a model that is not there" "no such file" "$yawara" paper koyama2013-fig10 --model nowhere.obj --no-pictures
refuses "two sizes" "one of --quick and --full" "$yawara" paper koyama2013-fig1 --quick --full
check "projection" numbers projection
holds "of two examples the nearest point of the hull takes more of the twist than the paper's rule" projection.txt \
  '/^2, exact/ { exact = $(NF - 1) } /^2, paper/ { print (exact > 1.5 * $(NF - 1)) ? "true" : "false" }'
# docs/papers.md has the numbers that the program prints.
for name in fig1 fig5 fig6 fig7 fig9 fig10 fig11 projection; do
  check "numbers of $name in the docs" python3 "$root/scripts/write_papers.py" --check "$name.txt" "koyama2013-$name"
done
check "table 1" "$yawara" paper koyama2013-table1 --quick

imai() { "$yawara" paper "imai-$1" --quick --no-pictures >"$1.txt" 2>"$1.log"; }
check "imai figure 3" imai fig3
holds "one material keeps its stiffness in the body only" fig3.txt \
  '/homogeneous +11/ { split($0, p, "C = "); print (p[2] < 0.7 && p[3] > 1.346 && p[3] < 1.347 && /holds everywhere/) ? "true" : "false" }'
check "imai sampling" imai sampling
holds "homogeneous levels are exact, each tet alone too soft" sampling.txt \
  '/homogeneous +embedded/ && NF == 4 { e = $3 == 1 && $4 == 1 } /homogeneous +stand-alone/ && NF == 4 { s = $3 < 0.25 && $4 < 0.5 }
   /homogeneous +settled/ { t = $3 < 0.5 } END { print (e && s && t) ? "true" : "false" }'
check "imai classes" imai classes
for name in fig3 classes; do
  check "numbers of imai $name in the docs" python3 "$root/scripts/write_papers.py" --check "$name.txt" "imai-$name"
done
holds "five classes" classes.txt '$1 == 5 && NF == 7 { print ($2 == 54592 && $3 == 10944 && $4 == 10912 && $7 == 10912) ? "true" : "false" }'

# Every figure is run by a test, or takes too long and is run by scripts/soak.py papers.
long="saida2017-mpm"
missing=
for name in $("$yawara" paper | sed -nE 's/^  ([a-z]+[0-9]*-[a-z0-9]+) .*/\1/p'); do
  case $name in
    hino-*) continue ;; # "paper hino" is all of them
    koyama2013-*) call="(numbers|paper)( koyama2013-| )${name#*-}" files=(test_paper.sh) ;;
    saida2017-*) call="(numbers|trial|part in.*) ${name#*-}" files=(test_paper_saida.sh) ;;
    *) call="(imai|figure|trial) ${name#*-}" files=(test_paper.sh test_paper_imai.sh) ;;
  esac
  if ! (cd "$root/tests/cli" && grep -qE "$call\b" "${files[@]}") && ! grep -qw "$name" <<<"$long"; then missing+=" $name"; fi
done
same "figures that no test runs" "none$missing" none

if "$yawara" render nothing 2>&1 | grep -q "libembree-dev"; then
  echo "built without Embree: no pictures to test"
else
  check "with pictures" "$yawara" paper koyama2013-fig1 --quick -o figures
  same "sheet and plots" "$(ls figures/koyama2013-fig1 | grep -v '^[tw].*png' | tr '\n' ' ')" \
    "sheet.png twist.csv twist.svg weight.csv weight.svg "
fi
finish
