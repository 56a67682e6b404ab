#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# yawara fit: numbers against theory, moduli from measurements, classic settings in pascals.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# value FILE KEY [COLUMN]: a number of the JSON output: of a row's column, or of a single value.
value() {
  if [ -n "${3:-}" ]; then
    sed -n "s/.*\"key\": \"$2\".*\"$3\": \([-+0-9.e]*\)[,}].*/\1/p" "$1"
  else
    sed -n "s/.*\"$2\": \([-+0-9.e]*\)[,}].*/\1/p" "$1" | head -n 1
  fi
}
# near NAME VALUE EXPECTED TOLERANCE: relative.
near() {
  if awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { exit !(a != "" && (a - b) ^ 2 <= (t * b) ^ 2) }'; then
    pass "$1"
  else
    flunk "$1" "$2 is not within $4 of $3"
  fi
}
# within NAME VALUE LOW HIGH
within() {
  if awk -v a="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(a != "" && a + 0 >= l && a + 0 <= h) }'; then
    pass "$1"
  else
    flunk "$1" "$2 is not between $3 and $4"
  fi
}

# Measured stiffness of a bar.
"$yawara" fit -E 2e6 -n 0.3 --json >bar.json
near "has the modulus it was given" "$(value bar.json youngs_modulus model)" 2e6 1e-5
near "and the ratio" "$(value bar.json poissons_ratio model)" 0.3 1e-4
near "theory of bending" "$(value bar.json bending_stiffness theory)" 166666.67 1e-6
within "bending error, 8 rings across" "$(value bar.json bending_stiffness error)" -0.015 0.015
within "torsion error" "$(value bar.json torsion_stiffness error)" -0.015 0.015
within "tip error" "$(value bar.json cantilever error)" -0.015 0.015
within "first frequency error" "$(value bar.json frequency_1 error)" -0.01 0.01
within "linear tets are too stiff" \
  "$(awk -v a="$(value bar.json bending_stiffness 'linear tets')" 'BEGIN { print a / 166666.67 - 1 }')" 0.02 0.04
"$yawara" fit -E 2e6 -n 0.3 --kind cells --cells 4 --json >cells.json
within "bending error, 4 cells across" "$(value cells.json bending_stiffness error)" -0.05 -0.03
"$yawara" fit --box 0.3x0.002x0.03 -m steel --kind cells --cells 60x4x8 --hold none --json >ruler.json
within "the pitch of a steel ruler" "$(value ruler.json frequency_1 error)" -0.02 0.02
near "  in hertz" "$(value ruler.json frequency_1 theory)" 116.7 2e-3
check "a table" grep -q "bending stiffness EI" <("$yawara" fit -E 1e6 --cells 2)

# Inverse: the tip deflection of theory gives the modulus of theory (a slender bar: clamp and shear matter little).
tip=$(awk 'BEGIN { E = 1e7; print 0.02 * 0.2 ^ 3 / (3 * E * 0.01 ^ 4 / 12) + 0.02 * 1.2 * 0.2 / (E / 2 * 1e-4) }')
"$yawara" fit --box 0.2x0.01x0.01 -n 0 --deflection "$tip" --force 0.02 --kind cells --json >tip.json
near "the modulus behind a tip" "$(value tip.json youngs_modulus)" 1e7 0.01
within "  with a small uncertainty" "$(value tip.json relative_uncertainty)" 0.01 2
near "  and that of beam theory" "$(value tip.json youngs_modulus_of_beam)" 1e7 1e-4
"$yawara" fit --box 0.2x0.01x0.01 -n 0 -d 1200 --frequency 3.6852 --kind cells --json >pitch.json
near "the modulus behind a frequency" "$(value pitch.json youngs_modulus)" \
  "$(value pitch.json youngs_modulus_of_beam)" 0.01
"$yawara" fit --box 0.2x0.01x0.01 -n 0 -d 1200 --frequency 7.3704 --kind cells --json >octave.json
near "an octave is four times the modulus" "$(value octave.json youngs_modulus)" \
  "$(awk -v a="$(value pitch.json youngs_modulus)" 'BEGIN { print 4 * a }')" 1e-5
# An elastica with P L^2 / EI = 1 deflects by 0.3017 L; shear and stretch add less than 0.5 % here.
"$yawara" fit --box 0.2x0.01x0.01 -n 0 --deflection 0.06034 --force 0.02 --kind cells --json >large.json
near "large deflections follow the elastica" "$(value large.json youngs_modulus)" 960000 0.02
"$yawara" fit --box 0.2x0.01x0.01 -n 0 -d 1000 --deflection 0.001 --json >droop.json
near "its own weight" "$(value droop.json youngs_modulus)" "$(value droop.json youngs_modulus_of_beam)" 0.015

# Classic settings.
"$yawara" fit --alpha 0.5 --dt 0.01 --cells 4 --json >alpha.json
"$yawara" fit --alpha 0.5 --dt 0.005 --cells 4 --json >half.json
near "kappa is alpha / h^2" "$(value alpha.json kappa)" 5000 1e-6
near "half the step, four times the modulus" "$(value half.json youngs_modulus)" \
  "$(awk -v a="$(value alpha.json youngs_modulus)" 'BEGIN { print 4 * a }')" 1e-6
within "classic bodies do not contract" "$(value alpha.json poissons_ratio)" -0.01 0.01
"$yawara" fit -E "$(value alpha.json youngs_modulus)" --dt 0.01 --cells 4 --json >back.json
near "and the other way round" "$(value back.json alpha)" 0.5 1e-4
"$yawara" fit --stiffness 0.2 --sweeps 3 --dt 0.01 --cells 4 --json >sweeps.json
"$yawara" fit -E "$(value sweeps.json youngs_modulus)" --sweeps 3 --dt 0.01 --cells 4 --json >back.json
near "sweeps, the other way round" "$(value back.json stiffness)" 0.2 1e-4
check "a modulus that a step cannot reach is said" \
  grep -q "cannot be set" <("$yawara" fit -E 1e9 --dt 0.0167 --cells 4)

# Bodies from files.
"$yawara" fit "$root/scenes/gallery/first.json" -E 1e5 --json >scene.json 2>scene.log
near "a scene's body" "$(value scene.json youngs_modulus model)" 1e5 1e-4
cat >frames.json <<'S'
{ "bodies": [ { "mesh": { "lattice": { "size": [1, 0.4, 0.4], "cells": [5, 2, 2] } }, "frames": { "youngs_modulus": 3e4, "poissons_ratio": 0.4 } } ] }
S
"$yawara" fit frames.json --json >scene.json 2>scene.log
near "  with its own material" "$(value scene.json youngs_modulus model)" 3e4 1e-4
near "  and ratio" "$(value scene.json poissons_ratio model)" 0.4 1e-3

# Plots.
check "a plot" "$yawara" fit --cells 4 --plot fit.svg
check "  is there" grep -q "<svg" fit.svg
same "  with its numbers" "$(head -n 1 fit.csv)" "cells across,bending (%),cantilever (%),torsion (%)"
check "a plot of a measurement" "$yawara" fit --cells 4 --frequency 1 --plot pitch.svg
check "a plot of classic settings" "$yawara" fit --cells 4 --alpha 0.1 --dt 0.01 --plot alpha.svg

# Rejected input.
refuses "no supports" "needs supports" "$yawara" fit --deflection 0.1 --hold none
refuses "E of 0" "youngs-modulus is 0" "$yawara" fit -E 0
refuses "E below 0" "youngs-modulus is -1e5" "$yawara" fit --youngs-modulus=-1e5
refuses "E that is no number" "must be a number" "$yawara" fit -E nan
refuses "nu of one half" "poissons-ratio is 0.5" "$yawara" fit -n 0.5
refuses "nu below 0" "poissons-ratio is -0.1" "$yawara" fit -n -0.1
refuses "a misspelt option" "did you mean \"poissons-ratio\"" "$yawara" fit --poisson-ratio 0.3
refuses "a misspelt material" "did you mean \"rubber\"" "$yawara" fit -m ruber
refuses "a box with two sides" "length x depth x width" "$yawara" fit --box 1x2
refuses "a box that lies across" "must be the longest" "$yawara" fit --box 1x2x1
refuses "too many cells" "at most" "$yawara" fit --cells 500
refuses "no cells" "cells across" "$yawara" fit --cells 0
refuses "settings without a step" "give --dt" "$yawara" fit --alpha 0.5
refuses "a step alone" "says nothing" "$yawara" fit --dt 0.01
refuses "two settings" "not both" "$yawara" fit --alpha 0.5 --stiffness 0.5 --dt 0.01
refuses "two measurements" "not both" "$yawara" fit --deflection 1 --frequency 1
refuses "a force that did nothing" "give --deflection" "$yawara" fit --force 1
refuses "a body that is not there" "nothing.vtu" "$yawara" fit nothing.vtu
refuses "a body that the scene does not have" "counted from 0" "$yawara" fit frames.json --body 7
printf '8 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 5 0 0\n5 6 0 0\n6 5 1 0\n7 5 0 1\n' >two.node
printf '2 4 0\n0 0 1 2 3\n1 4 5 6 7\n' >two.ele
refuses "a body in two parts" "2 parts" "$yawara" fit two.node -E 1e5
printf '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n' >one.node
printf '1 4 0\n0 0 1 2 3\n' >one.ele
check "a body of one tet" "$yawara" fit one.node -E 1e5
refuses "an impossible plot" "png or .svg" "$yawara" fit --cells 2 --plot fit.gif
finish
