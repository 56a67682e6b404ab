#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A run is self-contained: it is drawn, exported and inspected without the scene and its meshes, and
# resumed only with the same ones.
. "$(dirname "$0")/lib.sh"
mkdir "$work/made" && cd "$work/made" || exit 1

# Meshes of every kind that a scene may use: a cube of five tets, its surface, a pose, a wedge to
# fall on, a grid of stiffnesses.
mkdir meshes
cat >meshes/cube.node <<'END_NODES'
8 3 0 0
0 0 0 0
1 1 0 0
2 0 1 0
3 1 1 0
4 0 0 1
5 1 0 1
6 0 1 1
7 1 1 1
END_NODES
printf '%s\n' "5 4 0" "0 0 1 2 4" "1 3 2 1 7" "2 5 4 7 1" "3 6 7 4 2" "4 1 2 4 7" >meshes/cube.ele
awk 'NR > 1 { $3 *= 1.3 } 1' meshes/cube.node >meshes/tall.node
awk 'NR > 1 { printf "v %g %g %g\n", $2 * 0.8 + 0.1, $3 * 0.8 + 0.1, $4 * 0.8 + 0.1 }' meshes/cube.node >meshes/skin.obj
printf 'f %d %d %d\n' 1 3 2 2 3 4 5 6 7 6 8 7 1 2 5 2 6 5 3 7 4 4 7 8 1 5 3 3 5 7 2 4 6 4 8 6 >>meshes/skin.obj
printf '%s\n' "v -1 -0.3 -1" "v 1 -0.3 -1" "v -1 -0.3 2" "v 1 -0.3 2" "v 0 0 -1" "v 0 0 2" \
  "f 1 2 4" "f 1 4 3" "f 1 5 2" "f 3 4 6" "f 1 3 6" "f 1 6 5" "f 2 5 6" "f 2 6 4" >meshes/wedge.obj
cat >meshes/stiff.mhd <<'END_GRID'
NDims = 3
DimSize = 2 2 2
ElementSpacing = 1 1 1
Offset = 0 0 0
ElementType = MET_FLOAT
ElementDataFile = stiff.raw
END_GRID
for _ in 1 2 3 4 5 6 7 8; do printf '\0\0\200\077'; done >meshes/stiff.raw

cat >scene.json <<'END_SCENE'
{ "floor": { "height": -1 }, "fps": 60, "duration": 0.4, "substeps": 2, "gravity": [0, -9.81, 0],
  "models": {
    "cube": { "mesh": { "file": "meshes/cube.ele" }, "surface": { "file": "meshes/skin.obj", "subdivide": 1 },
              "examples": [ { "file": "meshes/tall.node" } ] } },
  "bodies": [
    { "name": "painted", "model": "cube", "position": [0, 0.05, 0],
      "paint": [ { "shape": { "sphere": { "radius": 0.6 } }, "color": "#ffffff" } ] },
    { "name": "late", "model": "cube", "position": [2, 1, 0], "start": 0.1 },
    { "name": "soft", "mesh": { "file": "meshes/cube.ele" }, "position": [-2, -0.7, 0], "velocity": [0, -4, 0],
      "rotation": { "axis": "z", "degrees": 20 },
      "fem": { "youngs_modulus": 3e4, "max_level": 2, "check_interval": 0.02 } },
    { "name": "rope", "rod": { "line": { "from": [-1, 2, 0], "to": [1, 2, 0], "count": 9 }, "radius": 0.03 },
      "frames": { "youngs_modulus": 1e5 } } ],
  "obstacles": [ { "shape": { "mesh": { "file": "meshes/wedge.obj" } }, "position": [0, -0.2, -0.5],
                   "path": { "keys": [ { "time": 0 }, { "time": 1, "offset": [0, 0.4, 0] } ] } } ] }
END_SCENE

check "runs a scene with mesh files" "$yawara" run scene.json -o run -q --frames 20 --fields all --set gravity[1]=-8
for file in cube.ele cube.node skin.obj tall.node wedge.obj; do
  check "the run knows $file" grep -qE "\"path\": \"meshes/$file\", \"bytes\": [1-9]" run/run.json
done
check "the run has a copy of the scene" cmp scene.json run/scene.json

can_draw=true
"$yawara" render nothing 2>&1 | grep -q "libembree-dev" && can_draw=false

# look RUN OUT: pictures, files of all formats and what inspect says.
look() {
  mkdir "$2"
  if $can_draw; then
    "$yawara" render "$1" -o "$2/one.png" --from 15 --to 15 --size 160x90 -q || return 1
    "$yawara" render "$1" -o "$2/speed.png" --from 12 --to 12 --size 160x90 -q --color-by speed || return 1
  fi
  "$yawara" export "$1" -o "$2" -q --format ply,obj,vtu,pc2,mdd,bgeo || return 1
  "$yawara" inspect "$1" | tail -n +2 >"$2/inspect.txt"
}
sums() { (cd "$1" && find . -type f | sort | xargs md5sum | md5sum); }

check "a run is looked at" look run "$work/before"
mkdir "$work/elsewhere" && mv run "$work/elsewhere/moved" && cp -r . "$work/kept"
cd "$work" && rm -r made
check "a moved run without its scene and meshes is looked at" look elsewhere/moved after
same "and shows the same bytes" "$(sums before)" "$(sums after)"
same "a file per body, frame and format" "$(ls after/ply/*.ply | wc -l) $(ls after/vtu/*.vtu | wc -l)" "78 78"

# Repeating a run gives the same files, except for timings.
cd kept || exit 1
check "runs the same again" "$yawara" run scene.json -o again -q --frames 20 --fields all --set gravity[1]=-8
# run.json and log.csv contain timings; the snapshot before the last depends on where a run was stopped.
files() { (cd "$1" && find . -type f ! -name run.json ! -name log.csv ! -name snapshot-before.yws | sort | xargs md5sum | md5sum); }
same "the same run has the same bytes" "$(files again)" "$(files ../elsewhere/moved)"

# Resumed: the same bytes too, with references to cells in earlier frames.
"$yawara" run scene.json -o parts -q --frames 9 --fields all --set gravity[1]=-8
check "resumes" "$yawara" run scene.json -o parts -q --frames 20 --resume --set gravity[1]=-8
same "a resumed run has the same bytes" "$(files again)" "$(files parts)"

# Changed files are named.
resume() { "$yawara" run scene.json -o parts -q --frames 25 --resume --set gravity[1]=-8; }
for file in meshes/cube.node meshes/cube.ele meshes/skin.obj meshes/tall.node meshes/wedge.obj scene.json; do
  cp "$file" original
  sed 's/ 1 / 1  /' original >"$file"
  refuses "resuming with another $file" "$file has changed since.*without --resume" resume
  cp original "$file"
done
check "resuming with all as it was" resume

# A grid refers to another file, which is checked as well.
cat >grid.json <<'END_SCENE'
{ "bodies": [ { "mesh": { "file": "meshes/cube.ele" },
    "fem": { "max_level": 1, "fields": [ { "grid": { "file": "meshes/stiff.mhd" }, "youngs_modulus": [1e4, 1e5] } ] } } ] }
END_SCENE
if "$yawara" run grid.json -o grid -q --frames 1 2>/dev/null; then
  check "the run knows what a grid refers to" grep -q '"meshes/stiff.raw"' grid/run.json
else
  flunk "runs a scene with a grid" "$("$yawara" run grid.json -o grid -q --frames 1 2>&1)"
fi

# Read by other programs.
if command -v python3 >/dev/null 2>&1; then
  python3 "$root/examples/read_run.py" ../elsewhere/moved 20 >said
  for body in painted_000 late_001 soft_002 rope_003; do
    name=${body%_*}
    "$yawara" inspect "../after/ply/${body}_000020.ply" >ply
    counts() { sed -nE "s/^$name: [0-9]+ particles, ([0-9]+) vertices, ([0-9]+) triangles.*/\1 \2/p" said; }
    ply_counts() { sed -nE 's/.*(vertices|triangles) +([0-9]+).*/\2/p' ply | tr '\n' ' ' | sed 's/ $//'; }
    same "python counts $name as a PLY does" "$(counts)" "$(ply_counts)"
    # Weighted sums round differently in double: compare numbers, not text.
    box() { grep "$2" "$1" | sed -E 's/.*box//; s/[^-+0-9.e]+/ /g; s/ e / /g'; }
    apart=$(echo "$(box said "^$name:") $(box ply box)" | awk '{ for (i = 1; i <= 6; i++) { d = $i - $(i + 6); if (d < 0) d = -d; if (!(d < 1e-5)) print "axis", i, d } if (NF != 12) print "fields:", NF }')
    same "python sees $name where a PLY is" "none$apart" "none"
  done
fi

cat >clay.json <<'END_SCENE'
{ "bodies": [ { "name": "clay", "shape": { "sphere": { "radius": 0.2 } }, "velocity": [0, -1, 0],
    "plastic": { "youngs_modulus": 1e4, "yield_stress": 1e3, "spacing": 0.1 } } ] }
END_SCENE
# All frames in one file: other programs and commands see the same.
"$yawara" run clay.json -o loose -q --frames 9 --snapshot-every 4
check "runs with all frames in one file" "$yawara" run clay.json -o packed -q --frames 9 --pack
check "and no folder of frames" test ! -e packed/frames
check "with the same bytes" python3 -c '
import glob
data, at, frames = open("packed/frames.ywp", "rb").read(), 8, []
while at < len(data):
    size = int.from_bytes(data[at:at + 8], "little")
    frames.append(data[at + 8:at + 8 + size])
    at += 8 + size
assert frames == [open(path, "rb").read() for path in sorted(glob.glob("loose/frames/*.ywf"))]'
same "the same state" "$(state_of loose)" "$(state_of packed)"
same "python reads the same" "$(python3 "$root/examples/read_run.py" packed 5)" "$(python3 "$root/examples/read_run.py" loose 5)"
export_of() { "$yawara" export "$1" --format bgeo -o "$1.out" -q && cat "$1".out/*/* | md5sum; }
same "exports are the same" "$(export_of loose)" "$(export_of packed)"
check "inspect reads it" "$yawara" inspect packed
cp -r packed begun
check "goes on as it began" "$yawara" run clay.json -o begun -q --frames 12 --resume
check "a longer run" "$yawara" run clay.json -o longer -q --frames 12 --pack
check "ends with the same bytes" cmp begun/frames.ywp longer/frames.ywp
check "can begin again without" "$yawara" run clay.json -o begun -q --frames 9
check "and leaves no pack behind" test ! -e begun/frames.ywp -a -f begun/frames/000009.ywf
head -c 9000 packed/frames.ywp >begun/frames.ywp
mv begun/frames.ywp packed/
refuses "a pack that lacks frames" "run.json speaks of 9 frames, but frame [0-9] is missing" "$yawara" export packed -o cut -q

# Fields on a skin: every vertex takes the value of a nearby particle, and all particles fall.
check "runs loose particles" "$yawara" run clay.json -o clay -q --frames 2 --fields speed
if "$yawara" export clay -q --skin 2>/dev/null && command -v python3 >/dev/null 2>&1; then
  slowest=$(python3 -c '
import struct, sys
data = open("clay/ply/clay_000002.ply", "rb").read()
head, body = data.split(b"end_header\n", 1)
count = int(head.split(b"element vertex ")[1].split()[0])
names = [line.split()[-1] for line in head.split(b"element face")[0].splitlines() if line.startswith(b"property float")]
width = 4 * len(names)
print(count > 100 and all(1 < struct.unpack_from("<f", body, width * i + 4 * names.index(b"speed"))[0] < 2 for i in range(count)))')
  same "a skin carries the speeds of its particles" "$slowest" "True"
fi

# Damage: every file of a run, changed and truncated.
cd ..
for file in run.json shown.ywr frames/000007.ywf; do
  cp -r elsewhere/moved hurt
  size=$(wc -c <"elsewhere/moved/$file")
  bad=""
  for part in 0 1 7 8 9 20 $((size / 3)) $((size / 2)) $((size - 9)) $((size - 3)); do
    head -c "$part" "elsewhere/moved/$file" >"hurt/$file"
    said=$("$yawara" export hurt -o exported -q 2>&1)
    code=$?
    if [ $code -ne 2 ] || ! grep -q "$file" <<<"$said"; then bad="$bad $part:$code:$said"; fi
  done
  same "$file cut short is refused" "none$bad" "none"
  rm -r hurt
done
cp -r elsewhere/moved mixed
"$yawara" run kept/grid.json -o other -q --frames 1
cp other/shown.ywr mixed/
refuses "shown.ywr of another run" "shown.ywr: belongs to another run" "$yawara" inspect mixed
cp elsewhere/moved/shown.ywr mixed/ && cp other/frames/000001.ywf mixed/frames/
refuses "a frame of another run" "000001.ywf: belongs to another run" "$yawara" export mixed -o exported -q
sed -i 's/"yawara_run": 1/"yawara_run": 7/' mixed/run.json
refuses "a run of a later version" "version 7 of the format" "$yawara" inspect mixed
sed -i '/yawara_run/d' mixed/run.json
refuses "a run of an older version" "older version" "$yawara" inspect mixed
finish
