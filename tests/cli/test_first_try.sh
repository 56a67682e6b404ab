#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A model without a scene, words for materials, another look at a run, bodies that diverge.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

cat >"a box.obj" <<'END'
v 10 0 0
v 30 0 0
v 30 10 0
v 10 10 0
v 10 0 10
v 30 0 10
v 30 10 10
v 10 10 10
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
END

# Every word, in every method that has it.
for pair in jelly:match jelly:frames jelly:fem jelly:plastic rubber: foam: toy: clay: cloth: steel:; do
  word=${pair%:*} method=${pair#*:}
  check "run MODEL --as $word $method" "$yawara" run "a box.obj" --as "$word" \
    ${method:+--method "$method"} -n 2 -q -o "run_$word"
done
said=$("$yawara" inspect run_rubber)
if grep -q 'body a box  *match' <<<"$said"; then pass "the model is the body"; else flunk "the model is the body" "$said"; fi
# The surface of the file is shown, scaled to 1 m: 8 vertices, 12 triangles.
"$yawara" export run_rubber --format obj -o . >/dev/null 2>&1
same "the model's own faces are shown" "$(grep '^f ' obj/*_000002.obj)" "$(grep '^f ' "a box.obj")"
same "a longest side of 1 m" "$(awk '/^v /{if(!n++||$2<a)a=$2;if($2>b)b=$2}END{printf "%.4f",b-a}' obj/*_000000.obj)" 1.0000
# Points that belong to no face do not count, nor does a mark at the start of the text.
{ printf '\357\273\277v 10 0 0\r\n'; sed '1d;s/$/\r/' "a box.obj"; printf 'v 900 -900 900\r\n'; } >marked.obj
check "a model with a stray point" "$yawara" run marked.obj -n 2 -q -o run_marked
"$yawara" export run_marked --format obj -o marked >/dev/null 2>&1
same "has its own size" "$(awk '/^v /&&n++<8{if(n==1||$2<a)a=$2;if(n==1||$2>b)b=$2}END{printf "%.4f",b-a}' marked/obj/*_000000.obj)" 1.0000
# So is that of cloth, however large the triangles of the sheet are.
cp "a box.obj" sack.obj
"$yawara" new sack --from sack.obj --as cloth >/dev/null && sed -i 's/"size": [0-9.]*/"size": 0.9/' sack.json
"$yawara" run sack.json -n 2 -q -o run_sack >/dev/null 2>&1 && "$yawara" export run_sack --format obj -o sack >/dev/null 2>&1
same "cloth shows the model's own faces" "$(grep '^f ' sack/obj/*_000002.obj)" "$(grep '^f ' sack.obj)"
check "a run of a model resumes" "$yawara" run "a box.obj" --as rubber -n 4 -q -o run_rubber --resume
refuses "another word cannot resume" 'has changed' "$yawara" run "a box.obj" --as toy -n 4 -q -o run_rubber --resume
refuses "an unknown word" 'did you mean "jelly"' "$yawara" run "a box.obj" --as jely
refuses "a method that a word lacks" 'cloth can be: slender' "$yawara" run "a box.obj" --as cloth --method fem
: >grid.mhd; : >scan.nii; : >animal.FBX; : >part.step; : >points.xyz
for command in mesh inspect run; do
  refuses "$command: a grid" 'grid.mhd: a grid of numbers, .*take a contour' "$yawara" $command grid.mhd
  refuses "$command: a scan" 'scan.nii: a grid of numbers has no surface' "$yawara" $command scan.nii
  refuses "$command: a format of animation programs" 'animal.FBX: not read: .*OBJ' "$yawara" $command animal.FBX
  refuses "$command: a format of CAD programs" 'part.step: a CAD model' "$yawara" $command part.step
  refuses "$command: an unknown format" 'unknown ending ".xyz", expected .obj' "$yawara" $command points.xyz
done
refuses "a word for a grid" 'a grid of numbers' "$yawara" run grid.mhd --as jelly
cp "$root/scenes/gallery/first.json" plain.scene
check "a scene may have any ending" "$yawara" run plain.scene -n 1 -q -o plain
refuses "a word for a scene" 'is a scene' "$yawara" run "$root/scenes/gallery/first.json" --as jelly
printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n' >flat.obj
refuses "a flat model is offered as a sheet" '--as cloth makes a sheet' "$yawara" run flat.obj -n 0 -q -o run_flat
check "which works" "$yawara" run flat.obj --as cloth -n 1 -q -o run_flat
printf 'v 0 0 0\nv 1 0.1 0\nv 1 0 1\nv 0 0.1 1\nf 1 2 3 4\n' >wavy.obj
refuses "so is one that is nearly flat" 'hardly anything behind it: --as cloth' "$yawara" run wavy.obj -n 0 -q -o run_wavy
awk 'BEGIN { for (i = 0; i < 9; ++i) for (k = 0; k < 9; ++k) printf "v %g %g %g\n", i / 8, 0.02 * (i % 3) * (k % 2), k / 8
  for (i = 0; i < 8; ++i) for (k = 1; k < 9; ++k) {
    a = 9 * i + k; b = a + 9
    if ((i + k) % 2) print "f", a, a + 1, b + 1, b; else print "f", b, b + 1, a + 1, a } }' >wavy.obj
refuses "also if its triangles face either side" 'hardly anything behind it: --as cloth' "$yawara" run wavy.obj -n 0 -q -o run_wavy
awk 'BEGIN { for (i = 0; i < 24; ++i) for (k = 0; k < 2; ++k) printf "v %g %g %g\n", cos(i * 0.2618), 0.4 * k, sin(i * 0.2618)
  for (i = 0; i < 24; ++i) print "f", 2 * i + 1, 2 * i + 2, (2 * i + 3) % 48 + 1, (2 * i + 2) % 48 + 1 }' >band.obj
refuses "and a band, whose holes are larger than itself" 'hardly anything behind it: --as cloth' "$yawara" run band.obj -n 0 -q -o run_band
echo "v 1 1 1" >point.obj
refuses "a model without extent" 'point.obj' "$yawara" run point.obj

# A box with a fin of a thirtieth of its length: particles would fold it. A plate is a layer of them, but
# two that are joined would fray.
sed 's/^v 10 0 0/v 0 4.5 0/;s/^v 30 0 0/v 10 4.5 0/;s/^v 30 10 0/v 10 5.5 0/;s/^v 10 10 0/v 0 5.5 0/
     s/^v 10 0 10/v 0 4.5 10/;s/^v 30 0 10/v 10 4.5 10/;s/^v 30 10 10/v 10 5.5 10/;s/^v 10 10 10/v 0 5.5 10/' "a box.obj" >fin.obj
awk '/^f/{for(i=2;i<=5;++i)$i+=8;print}' "a box.obj" >fin_faces
{ sed '/^f/d' "a box.obj"; sed '/^f/d' fin.obj; sed '/^v/d' "a box.obj"; cat fin_faces; } >finned.obj
awk '/^v /{print $1, $2, 0.3 * ($3 > 5), $4; next} {print}' fin.obj >plate.obj
awk '/^v /{x[++n] = $2; y[n] = $3; z[n] = $4} /^f /{f[++m] = $0}
  END { for (i = 1; i <= n; ++i) print "v", x[i], y[i], z[i]; for (i = 1; i <= n; ++i) print "v", y[i], x[i], z[i]
    for (i = 1; i <= m; ++i) print f[i]
    for (i = 1; i <= m; ++i) { split(f[i], v, " "); print "f", v[5] + n, v[4] + n, v[3] + n, v[2] + n } }' plate.obj >angle.obj
for model in "a box:plastic" finned:fem fin:plastic plate:plastic angle:fem; do
  "$yawara" new "clay_${model%:*}" --from "${model%:*}.obj" --as clay >/dev/null 2>&1
  if grep -q "\"${model#*:}\": {" "clay_${model%:*}.json"; then pass "clay of ${model%:*} is ${model#*:}"
  else flunk "clay of ${model%:*} is ${model#*:}" "$(cat "clay_${model%:*}.json")"; fi
done

# A box without its upper face is filled as a solid, and said to be.
sed '$d' "a box.obj" >bowl.obj
said=$("$yawara" run bowl.obj --as steel -n 0 -q -o run_bowl 2>&1)
if grep -q 'the surface is open: 1 hole, .* is closed.*--as cloth' <<<"$said"; then
  pass "an open model is said to be filled"
else flunk "an open model is said to be filled" "$said"; fi
said=$("$yawara" run bowl.obj --as cloth -n 0 -q -o run_bag 2>&1)
if grep -q 'is closed' <<<"$said"; then flunk "as cloth it stays open" "$said"; else pass "as cloth it stays open"; fi

said=$("$yawara" run "a box.obj" --as steel -n 1 -o run_cost 2>&1)
if grep -qE '^1 body, [1-9][0-9]* particles: [1-9][0-9]* MB of memory; 2 frames of [0-9.e-]+ MB each' <<<"$said"; then
  pass "what a run takes is said before"
else flunk "what a run takes is said before" "$said"; fi

# A column ten times as tall as thick must be stiffer than a block to keep its centre above its foot:
# 15 times 12 n^2 / 2 times the 22 of 48 sections below it, where the block has 40 (docs/models.md).
awk '/^v /{print $1, $2 / 2, 10 * $3, $4; next} {print}' "a box.obj" >column.obj
modulus() {
  "$yawara" new "$1" --from "$1.obj" --as jelly --method frames >/dev/null && sed -n 's/.*youngs_modulus": \([^,]*\),.*/\1/p' "$1.json"
}
cp "a box.obj" block.obj
block=$(modulus block)
ratio=$(awk -v a="$(modulus column)" -v b="$block" 'BEGIN {print (a / b > 101 && a / b < 105.3) ? "right" : a / b}')
same "what may lean is stiffer" "$ratio" right
# A needle does not stand, whatever it is made of: six times 300 are enough to keep it straight.
awk '/^v /{print $1, $2 / 2, 60 * $3, $4; next} {print}' "a box.obj" >needle.obj
ratio=$(awk -v a="$(modulus needle)" -v b="$block" 'BEGIN {print (a / b > 44.5 && a / b < 45.5) ? "right" : a / b}')
same "what falls anyway is not as stiff as what stands" "$ratio" right
# A table does not lean, but its legs buckle: V (38 / 48)^2 / (pi^2 I), I = w^4 / 4 of all four,
# V the 10 of 48 sections above them.
awk 'function box(x, y, z, a, b, c) {
  for (k = 0; k < 8; ++k) print "v", x + a * (k % 2), y + b * (int(k / 2) % 2), z + c * int(k / 4)
  split("1 3 4 2 5 6 8 7 1 2 6 5 3 7 8 4 1 5 7 3 2 4 8 6", f, " ")
  for (k = 0; k < 24; k += 4) print "f", f[k + 1] + n, f[k + 2] + n, f[k + 3] + n, f[k + 4] + n
  n += 8 }
  BEGIN { box(0, 0.8, 0, 1, 0.2, 1); for (i = 0; i < 4; ++i) box(0.9 * (i % 2), 0, 0.9 * int(i / 2), 0.1, 0.8, 0.1) }' >table.obj
ratio=$(awk -v a="$(modulus table)" -v b="$block" 'BEGIN {r = 6 * 10 / 48 * (38 / 48)^2 / 9.8696 / 2.5e-5 / 40
  print (a / b > 0.99 * r && a / b < 1.01 * r) ? "right" : a / b}')
same "thin legs make a word stiffer" "$ratio" right

# Toys hold themselves up and come back to their shape, at any size.
same "toys keep their shape: a block" "$(python3 "$root/tests/support/toys.py" "$yawara" block.obj match frames)" kept
same "toys keep their shape: a table" "$(python3 "$root/tests/support/toys.py" "$yawara" table.obj match)" kept

# A block that leans, its centre over 0.1 of its base from the edge: 0.385 units of height topple it, a
# drop turns e^2 = 0.64 of its energy, with a factor of 3 to spare (docs/models.md).
awk '/^v /{print $1, $2 + 1.6 * $3, $3, $4; next} {print}' "a box.obj" >leaning.obj
"$yawara" new leaning --from leaning.obj --as toy >/dev/null
same "what would topple is put down gently" "$(grep -o 'starts at .* of the height' leaning.json block.json | tr '\n' ' ')" \
  "leaning.json:starts at 0.02 of the height block.json:starts at 0.12 of the height "

# Legs thinner than two particles of plastic would fold: clay is made of fem there, and says so.
awk '/^v /{print $1, $2 / 12, 10 * $3, $4 / 6; next} {print}' "a box.obj" >stalk.obj
said=$("$yawara" new stalk --from stalk.obj --as clay 2>&1)
if grep -q 'too thin for particles of plastic.*: fem is taken' <<<"$said" && grep -q '"fem": .*"yield"' stalk.json; then
  pass "legs that particles cannot hold"
else flunk "legs that particles cannot hold" "$said"; fi

# Texture coordinates, normals, polygons and materials come back; normals turn with the body.
{
  echo "mtllib paint.mtl"
  grep '^v ' "a box.obj"
  printf 'vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 -1\nvn 0 0 1\nusemtl red\n'
  printf 'f 1/1/1 4/2/1 3/3/1 2/4/1\nf -4/-4/-1 -3/-3/-1 -2/-2/-1 -1/-1/-1\nusemtl blue\n'
  grep '^f ' "a box.obj" | tail -n +3
} >painted.obj
check "a painted model" "$yawara" run painted.obj --as steel -n 1 -q -f obj -o run_painted
back=run_painted/obj/painted_000001.obj
same "texture coordinates come back" "$(grep '^vt' $back)" "$(grep '^vt' painted.obj)"
same "materials come back" "$(grep 'mtl' $back)" "$(grep 'mtl' painted.obj)"
same "polygons come back" "$(grep '^f' $back | head -n 2 | tr '\n' ' ')" "f 1/1/1 4/2/2 3/3/3 2/4/4 f 5/1/5 6/2/6 7/3/7 8/4/8 "
same "normals come back" "$(awk '/^vn/{printf "%.2f ", $4}' $back)" "-1.00 -1.00 -1.00 -1.00 1.00 1.00 1.00 1.00 "

# Normals of a PLY file: here those of a ball, at the corners of the box.
{
  printf 'ply\nformat ascii 1.0\nelement vertex 8\n'
  printf 'property float %s\n' x y z nx ny nz
  printf 'element face 6\nproperty list uchar int vertex_indices\nend_header\n'
  awk '/^v /{print $2, $3, $4, ($2 > 20 ? 0.6 : -0.6), ($3 > 5 ? 0.6 : -0.6), ($4 > 5 ? 0.6 : -0.6)}
    /^f /{print 4, $2 - 1, $3 - 1, $4 - 1, $5 - 1}' "a box.obj"
} >round.ply
check "a PLY model with normals" "$yawara" run round.ply --as steel -n 0 -q -f obj -o run_round
same "its normals come back" "$(awk '/^vn/{n += $2 * $2 > 0.3 && $3 * $3 > 0.3}END{print n}' run_round/obj/round_000000.obj)" 36

# Sizes and axes of other programs: 20 by 10 by 10 mm, z up; then the box and a copy above it.
side() { awk -v k="$1" '/^v /{if(!n++||$k<a)a=$k;if($k>b)b=$k}END{printf "%.4f",b-a}' "$2"; }
check "a model in mm" "$yawara" run "a box.obj" --unit mm --as steel -n 0 -q -f obj -o run_mm
same "20 mm are 0.02 m" "$(side 2 run_mm/obj/*_000000.obj)" 0.0200
{ awk '/^v /{print $1, $2, 2 * $3, 3 * $4}' "a box.obj"; grep '^f ' "a box.obj"; } >upright.obj
check "a model with z up" "$yawara" run upright.obj --up z --unit cm --as steel -n 0 -q -f obj -o run_up
same "z becomes the height" "$(side 3 run_up/obj/*_000000.obj)" 0.3000
refuses "an unknown unit" 'must be mm' "$yawara" run "a box.obj" --unit mile
refuses "an unknown axis" 'must be y or z' "$yawara" run "a box.obj" --up x
refuses "two sizes" 'give one of them' "$yawara" run "a box.obj" --unit mm --fit 2
awk '/^v /{print $1, 10 * $2, 10 * $3, 10 * $4; next} {print}' "a box.obj" >large.obj
said=$("$yawara" run large.obj --as steel -n 0 -q -o run_large 2>&1)
if grep -q '200 m large.*--unit mm (0.2 m)' <<<"$said"; then pass "an unlikely size is said"; else flunk "an unlikely size is said" "$said"; fi
# Faces that are wound either way: what is inside is found out, and said.
awk '/^f /{if (n++ % 3 == 0) {print $1, $5, $4, $3, $2; next}} {print}' "a box.obj" >mixed.obj
said=$("$yawara" run mixed.obj --as steel -n 0 -q -o run_mixed 2>&1)
same "faces that face the wrong way are turned over" "$(grep -o '[0-9]* of 12 triangles face the wrong way' <<<"$said")" "4 of 12 triangles face the wrong way"
"$yawara" run "a box.obj" --as steel -n 0 -q -o run_whole 2>/dev/null
same "which makes the same body" "$("$yawara" inspect run_mixed | grep 'body mixed' | sed 's/mixed/a box/;s/ \+/ /g')" "$("$yawara" inspect run_whole | grep 'body a box' | sed 's/ \+/ /g')"
{
  cat "a box.obj"
  awk '/^v /{print $1, $2, $3 + 15, $4}' "a box.obj"
  awk '/^f /{print $1, $2 + 8, $3 + 8, $4 + 8, $5 + 8}' "a box.obj"
} >two.obj
check "parts as bodies" "$yawara" run two.obj --parts --as steel -n 0 -q -f obj -o run_two
same "a body for each part" "$(ls run_two/obj | tr '\n' ' ')" "two_1_000_000000.obj two_2_001_000000.obj "
same "parts keep their places" "$(cat run_two/obj/*.obj >both.obj; side 3 both.obj)" 1.0000
same "each body is one part" "$(grep -c '^v ' run_two/obj/two_1_000_000000.obj)" 8
echo '{ "bodies": [ { "shape": { "mesh": { "file": "two.obj", "part": 3 } } } ] }' >third.json
refuses "a part that is not there" 'asks for part 3, but the file has 2' "$yawara" run third.json
said=$("$yawara" run two.obj --as steel -n 0 -q -o run_joined 2>&1)
same "parts of one body of match are named" "$(grep -o 'is in [0-9]* parts' <<<"$said")" "is in 2 parts"
said=$("$yawara" run two.obj --as jelly --method frames -n 0 -q -o run_joined 2>&1)
same "those of frames fall by themselves" "$(grep -c 'is in [0-9]* parts' <<<"$said")" 0
check "parts as one body" "$yawara" run two.obj --as steel -n 0 -q -f obj -o run_one
same "one body has all parts" "$(grep -c '^v ' run_one/obj/*.obj)" 16
if ! "$yawara" render nothing 2>&1 | grep -q "libembree-dev"; then
  check "view takes the same" "$yawara" view two.obj --parts --unit cm --up z --as steel --size 64x36 -o seen.png --run run_seen -q
fi

# Scenes to start from.
check "a new scene" "$yawara" new start --from "a box.obj" --as jelly --fit 0.2
check "it runs" "$yawara" run start.json -n 1 -q
refuses "it is not overwritten" 'exists already' "$yawara" new start
check "a new scene without a model" "$yawara" new ball
check "it runs" "$yawara" run ball.json -n 1 -q

# Bodies that diverge.
cat >lost.json <<'END'
{"gravity": [0, 0, 0], "fps": 0.001, "substeps": 1, "frames": 12, "bodies": [
 {"name": "kept", "mesh": {"lattice": {"size": 1, "cells": 2}}, "match": {"alpha": 0.5}},
 {"name": "lost", "mesh": {"lattice": {"size": 1, "cells": 2}}, "match": {"alpha": 0.5},
  "position": [5000, 0, 0], "velocity": [1e5, 0, 0]}]}
END
said=$("$yawara" run lost.json -q --on-fault continue 2>&1)
same "going on without a body has an exit code of its own" $? 3
if grep -q 'frame 10 .*body "lost" diverged' <<<"$said"; then pass "it says which and when"; else flunk "it says which and when" "$said"; fi
said=$("$yawara" inspect out/lost)
if grep -q 'body "lost" diverged' <<<"$said"; then pass "the run remembers it"; else flunk "the run remembers it" "$said"; fi
"$yawara" run lost.json -q >/dev/null 2>&1
same "by default the run stops" $? 1
cat >fast.json <<'END'
{"floor": true, "fps": 30, "substeps": 1, "bodies": [{"name": "fast", "position": [0, 18.2, 0], "velocity": [0, -250, 0],
 "mesh": {"lattice": {"size": 0.4, "cells": 2}}, "fem": {"youngs_modulus": 1e5, "max_level": 0}}]}
END
"$yawara" run fast.json -q --frames 6 >/dev/null 2>&1
same "a body that is too fast for the steps stops the run" $? 1
said=$("$yawara" run fast.json -q --frames 6 --on-fault retry 2>&1)
same "smaller steps save it" $? 0
if grep -qE 'frame 3 .*body "fast" diverged; the frame was made in [0-9]+ steps instead of 1' <<<"$said"; then
  pass "where it says so"
else
  flunk "where it says so" "$said"
fi
state=$(state_of out/fast)
"$yawara" run fast.json -q --frames 3 --on-fault retry -o parts 2>/dev/null
"$yawara" run fast.json -q --frames 6 --on-fault retry -o parts --resume 2>/dev/null
same "resuming retries alike" "$(state_of parts)" "$state"

# Another look.
if "$yawara" render run_rubber -o a.png --to 0 --size 32x18 -q >/dev/null 2>&1; then
  check "keys of a picture" "$yawara" render run_rubber -o b.png --to 0 --size 32x18 -q --set camera.azimuth=90 \
    --set color=#112233 --set "colors.a box=[1,0,0]" --set floor.visible=false --set sun.radius=10
  if cmp -s a.png b.png; then flunk "they change the picture" "both are the same"; else pass "they change the picture"; fi
  echo '{"camera": {"eye": [3, 2, 1], "target": [0, 0, 0], "fov": 20}, "gloss": 1}' >look.json
  check "a look file" "$yawara" render run_rubber -o c.png --to 0 --size 32x18 -q --look look.json
  refuses "unknown keys are not ignored" 'did you mean "camera.fov"' \
    "$yawara" render run_rubber -o d.png --to 0 --set camera.fow=15
  refuses "values out of range" 'a number from 1 to 170' "$yawara" render run_rubber -o d.png --set camera.fov=500
  refuses "an unknown body" 'there is no body "b box"' "$yawara" render run_rubber -o d.png --set "colors.b box=#ffffff"
  refuses "half a camera" 'camera.eye needs camera.target' "$yawara" render run_rubber -o d.png --set camera.eye=[1,2,3]
  check "view" "$yawara" view "a box.obj" --as toy -o e.png --run run_view --size 32x18 -q
else
  pass "no pictures here: skipped"
fi
finish
