#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# yawara mesh as a doctor: what is wrong with a model and what to do; units, axes, parts.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# cube LOW HIGH FIRST: a cube with 12 triangles whose first vertex has this number.
cube() {
  for z in "$1" "$2"; do for y in "$1" "$2"; do for x in "$1" "$2"; do echo "v $x $y $z"; done; done; done
  for f in "0 2 1" "1 2 3" "4 5 6" "5 7 6" "0 1 4" "1 5 4" "2 6 3" "3 6 7" "0 4 2" "2 4 6" "1 3 5" "3 7 5"; do
    echo "f $(for v in $f; do printf '%d ' $((v + $3)); done)"
  done
}
# says NAME "PATTERN" COMMAND...: the command succeeds and prints a line that matches.
says() {
  local name=$1 pattern=$2 said
  shift 2
  if ! said=$("$@" 2>&1); then
    flunk "$name" "exit code $?: $said"
  elif ! grep -qE -- "$pattern" <<<"$said"; then
    flunk "$name" "no line is like /$pattern/: $said"
  else
    pass "$name"
  fi
}

cube 0 1 1 >cube.obj
says "a good surface has no open edges" "open edges +none" "$yawara" mesh cube.obj
says "is wound alike" "winding +alike" "$yawara" mesh cube.obj
says "and keeps its volume when filled finely" "of the surface +1 m\^3, [01]\.[0-9] %" "$yawara" mesh cube.obj --size 0.1

sed '/^f/{s/^f \(.*\) \(.*\) \(.*\) $/f \1 \3 \2/;:a;n;ba}' cube.obj >mixed.obj
says "mixed winding is named" "mixed: 3 edges between triangles that face opposite sides, the first at" "$yawara" mesh mixed.obj
says "which tets are made without" "turned over +1 of 12 triangles for the tets below" "$yawara" mesh mixed.obj
says "so that nothing is lost" "of the surface +1 m\^3, 0.0 %" "$yawara" mesh mixed.obj
says "and repaired" "1 of 12 triangles turned over" "$yawara" mesh mixed.obj --repair
says "after which it is alike" "winding +alike" "$yawara" mesh mixed.obj --repair

grep -v "^f 1 3 2" cube.obj >open.obj
says "a hole is named with its place" "3 around 1 hole, the first at" "$yawara" mesh open.obj

(cube 0 1 1; cube 0.5 1.5 9) >crossing.obj
says "crossings are named" "triangles pass through others" "$yawara" mesh crossing.obj
says "so are parts" "parts +2 " "$yawara" mesh crossing.obj
says "overlapping parts become one" "tets have 1 part, the surface 2" "$yawara" mesh crossing.obj --size 0.2
check "parts are split into files, in a new folder" "$yawara" mesh crossing.obj --split -o new/part.vtu --size 0.25
check "one each" test -s new/part_1.vtu -a -s new/part_2.vtu -a ! -e new/part_3.vtu

cat >sizes.json <<'END'
{ "frames": 0, "bodies": [
  { "name": "hill", "mesh": { "lattice": { "size": 100, "cells": 1 } } },
  { "name": "man", "mesh": { "lattice": { "size": 1.8, "cells": 1 } }, "position": [200, 0, 0] },
  { "name": "mite", "mesh": { "lattice": { "size": 0.001, "cells": 1 } }, "position": [400, 0, 0] } ] }
END
said=$("$yawara" run sizes.json -o sizes -q 2>&1)
same "run warns of both" "$(grep -oE 'warning: body .* large' <<<"$said")" 'warning: body "hill" is 100 m large
warning: body "mite" is 0.001 m large'
printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n' >flat.obj
says "a flat model is offered as a sheet" '"sheet": \{ "file": "flat.obj", "thickness": 0.01 \}' "$yawara" mesh flat.obj
refuses "and not filled" "is flat, so it cannot be filled with tets" "$yawara" mesh flat.obj -o flat.vtu
printf 'v 0 0 0\nv 1 0 0\nv 1 0.3 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n' >bent.obj
says "nor is an open one, unless asked" "not made of a sheet; -o OUT" "$yawara" mesh bent.obj
check "which -o does" "$yawara" mesh bent.obj --size 0.5 -o bent.vtu
cat >sheet.json <<END
{ "duration": 0.05, "bodies": [ { "sheet": { "file": "flat.obj", "thickness": 0.01 }, "slender": {} } ] }
END
check "the offer works in a scene" "$yawara" run sheet.json -o sheet -q

# Thin legs are kept, by smaller tets there.
(cube 0 1 1; printf 'v 0.4 -1 0.4\nv 0.5 -1 0.4\nv 0.4 0.5 0.4\nv 0.5 0.5 0.4\nv 0.4 -1 0.5\nv 0.5 -1 0.5\nv 0.4 0.5 0.5\nv 0.5 0.5 0.5\n'
 cube 0 1 9 | grep '^f') >leg.obj
says "thin legs are kept with a coarse size" "of the surface .* ([01]\.[0-9]|2\.0) %" "$yawara" mesh leg.obj --size 0.4
says "in one part" "volume .* in 1 part" "$yawara" mesh leg.obj --size 0.4

# Units and axes.
cube 0 120 1 >large.obj
says "a model of 120 m gets a hint" "hint: the model is 120 m large.*--unit mm makes it 0.12 m" "$yawara" mesh large.obj
says "which helps" "size +0.12 x 0.12 x 0.12 m" "$yawara" mesh large.obj --unit mm
says "inches" "size +3.048 x 3.048 x 3.048 m" "$yawara" mesh large.obj --unit inch
cube 0 0.001 1 >tiny.obj
says "so does one of 1 mm" "hint: the model is 1 mm large" "$yawara" mesh tiny.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n' >tall.obj
says "z up is turned to y up" "size +1 x 3 x 2 m" "$yawara" mesh tall.obj --up z
check "and written so" "$yawara" mesh tall.obj --up z -o turned.obj
says "without mirroring it" "^v 0 3 0|^v 0 3 -0" cat turned.obj
refuses "an unknown unit" "must be mm, cm, m, inch or ft" "$yawara" mesh tall.obj --unit parsec
refuses "an unknown axis" "must be y or z" "$yawara" mesh tall.obj --up x

# Files of other programs.
files=$root/tests/data/files
says "second-order tets get a word" "warning: .*48 cells are of second or higher order" "$yawara" mesh "$files/gmsh_boxes_41_second.msh"
says "partitioned meshes keep labels" "48 with labels" "$yawara" mesh "$files/gmsh_boxes_41_parts.msh"
says "glTF is a surface" "12 triangles, 8 vertices" "$yawara" mesh "$files/vtk_cube.gltf"
if ldd "$yawara" | grep -q libz; then
  says "VTK's default is read" "tets +2 with labels" "$yawara" mesh "$files/vtk_zlib_appended.vtu"
fi
if /usr/bin/python3 -c 'import vtk, meshio, gmsh' 2>/dev/null && ldd "$yawara" | grep -q liblzma; then
  check "other programs write" /usr/bin/python3 "$root/tests/data/make_files.py" made
  for file in made/*.vtu made/*.msh made/*.meshb made/*.inp made/*.vtk; do
    says "$(basename "$file") as written now" "tets +(2|48)" "$yawara" mesh "$file"
  done
else
  echo "# python3-vtk9, python3-meshio and python3-gmsh are not installed: only their files in tests/data are read"
fi
finish
