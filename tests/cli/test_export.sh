#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Exports of runs with every kind of body: what each format holds, cells, units.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# A strip that waves: 4 points, 31 frames at 60 per second, up by 0.01 m per frame.
python3 - <<'END'
import struct
with open("belt.obj", "w") as f: f.write("v 3 0 0\nv 3 0 1\nv 4 0 1\nv 4 0 0\nf 1 2 3 4\n")
with open("belt.pc2", "wb") as f:
    f.write(b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 4, 0, 1, 31))
    for k in range(31):
        for x, z in ((3, 0), (3, 1), (4, 1), (4, 0)): f.write(struct.pack("<3f", x, 0.01 * k * z, z))
END
cat >mix.json <<'END'
{ "duration": 0.05, "fps": 60, "floor": true, "contact": "points",
  "obstacles": [
    { "name": "wall", "shape": { "box": { "size": [0.1, 0.1, 0.1] } }, "position": [-1, 0, 0] },
    { "name": "lift", "shape": { "box": { "size": [0.1, 0.1, 0.1] } }, "position": [-2, 0, 0],
      "path": { "keys": [ { "time": 0 }, { "time": 1, "offset": [0, 6, 0] } ] } },
    { "name": "belt", "animation": { "file": "belt.pc2", "mesh": "belt.obj", "fps": 60 } } ],
  "bodies": [
    { "name": "rope", "rod": { "line": { "from": [0, 1, 0], "to": [0.5, 1, 0], "count": 6 }, "radius": 0.01 }, "slender": {} },
    { "name": "cloth", "sheet": { "rectangle": { "width": 0.3, "depth": 0.2, "across": 3, "along": 2 }, "thickness": 0.005 }, "slender": {}, "position": [0, 2, 0] },
    { "name": "jelly", "shape": { "box": { "size": [0.1, 0.1, 0.1] } }, "position": [2, 1, 0], "fem": { "max_level": 1 } },
    { "name": "clay", "shape": { "sphere": { "radius": 0.1 } }, "position": [1, 1, 0], "plastic": { "sheet": true } } ] }
END
check "a run with every kind of body" "$yawara" run mix.json -o mix -q --fields all

# Formats leave out what they cannot hold, and say so.
said=$("$yawara" run mix.json -o other -q --fields all --format pc2,bgeo 2>&1)
same "run --format exports what it can" $? 0
check "with the bodies that have a surface" test -s other/pc2/rope_000.pc2 -a -s other/pc2/cloth_001.pc2 -a -s other/pc2/jelly_002.pc2
check "but not loose particles" test ! -e other/pc2/clay_003.pc2
check "which it names" grep -q 'pc2: body "clay" is left out: it is made of loose particles' <<<"$said"
check "and fields of tets" grep -q 'bgeo: fields of tets are left out' <<<"$said"

check "export makes the folder that is named" "$yawara" export mix -q --format vtu,ply,bgeo -o new/deep/folder
check "with the files" test -s new/deep/folder/vtu/series.pvd

# Only the last frames, as a program asks that plays a run while it is made.
rm -rf late && check "frames from a number on" "$yawara" export mix -q --format pc2 --from 2 -o late
size=$(stat -c %s late/pc2/rope_000.pc2)
points=$((($(stat -c %s other/pc2/rope_000.pc2) - 32) / 48))
same "the last two of four frames" "$size" $((32 + 2 * 12 * points))
check "the same numbers" cmp <(tail -c $((2 * 12 * points)) other/pc2/rope_000.pc2) <(tail -c $((2 * 12 * points)) late/pc2/rope_000.pc2)
said=$("$yawara" export mix -q --format pc2 --from 9 -o late 2>&1)
check "a frame that is not there yet" grep -q 'there is no frame 9 yet: the last one is 3' <<<"$said"
cp -r mix going && sed -i 's/"frames_done": 3/"frames_done": 0/' going/run.json
check "frames that run.json does not know yet" "$yawara" export going -q --format pc2 --from 0
check "are all there" cmp other/pc2/rope_000.pc2 going/pc2/rope_000.pc2

# glTF: every accessor lies in the file, limits are those of the numbers, weights pick one frame each.
check "glTF" "$yawara" export mix -q --format gltf -o scene
cat >gltf.py <<'END'
import array, json
d = json.load(open("scene/gltf/run.gltf"))
data = open("scene/gltf/run.bin", "rb").read()
assert d["buffers"][0]["byteLength"] == len(data) == d["bufferViews"][0]["byteLength"]
def short(x): return array.array("f", [x])[0]
def numbers(i):
    a = d["accessors"][i]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
    out = array.array({5125: "I", 5126: "f"}[a["componentType"]])
    out.frombytes(data[a["byteOffset"]:a["byteOffset"] + 4 * width * a["count"]])
    assert len(out) == width * a["count"], (i, a)
    if "min" in a: assert all(min(out[k::width]) == short(low) for k, low in enumerate(a["min"])), a
    if "max" in a: assert all(max(out[k::width]) == short(high) for k, high in enumerate(a["max"])), a
    return out
used = set()
for mesh in d["meshes"]:
    part = mesh["primitives"][0]
    corners = len(numbers(part["attributes"]["POSITION"])) // 3
    still = mesh["name"] in ("floor", "wall", "lift")
    assert len(part.get("targets", [])) == (0 if still else 3), mesh["name"]
    for entry in [part["attributes"], *part.get("targets", [])]:
        assert all(len(numbers(i)) == 3 * corners for i in entry.values())
        used.update(entry.values())
    if "indices" in part: assert max(numbers(part["indices"])) < corners; used.add(part["indices"])
sampler = d["animations"][0]["samplers"][0]
assert all(abs(t - k / 60) < 1e-6 for k, t in enumerate(numbers(sampler["input"])))
assert list(numbers(sampler["output"])) == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
animation = d["animations"][0]
used.update(s[k] for s in animation["samplers"] for k in ("input", "output"))
moves = {c["target"]["path"]: numbers(animation["samplers"][c["sampler"]]["output"])
         for c in animation["channels"] if d["nodes"][c["target"]["node"]]["name"] == "lift"}
assert sorted(moves) == ["rotation", "scale", "translation"], moves
assert all(abs(moves["translation"][3 * k + 1] - k / 10) < 1e-5 for k in range(4)), moves["translation"]
belt = next(m for m in d["meshes"] if m["name"] == "belt")["primitives"][0]
assert all(abs(numbers(belt["targets"][2]["POSITION"])[3 * i + 1] - 0.03 * (i in (1, 2))) < 1e-6 for i in range(4))
wall = next(n for n in d["nodes"] if n["name"] == "wall")
assert wall["translation"] == [-1, 0, 0] and wall["scale"] == [1, 1, 1], wall
ground = next(m for m in d["meshes"] if m["name"] == "floor")["primitives"][0]["attributes"]
assert all(abs(y) < 1e-6 for y in numbers(ground["POSITION"])[1::3]) and set(numbers(ground["NORMAL"])[1::3]) == {1}
assert used == set(range(len(d["accessors"])))
print([n["name"] for n in d["nodes"]])
END
same "glTF holds every body and frame" "$(python3 gltf.py 2>&1)" "['rope', 'cloth', 'jelly', 'clay', 'floor', 'wall', 'lift', 'belt']"

# USD: bodies, obstacles that stand, move and deform, a body that starts later, and any name.
# Few vertices: the reader is slow.
sed -e 's|"name": "jelly"|"name": "赤い \\"jelly\\"/1"|; s|"name": "clay"|"name": "9 clays", "start": 0.03|' \
  -e 's|"sheet": true|"sheet": true, "spacing": 0.04|' \
  -e 's|"fem": {|"surface": { "shape": { "box": { "size": [0.1, 0.1, 0.1] } }, "size": 0.03 }, "fem": {|' mix.json >names.json
check "a run with odd names" "$yawara" run names.json -o names -q --format usd
cat >usd.py <<'END'
import usda
head, root = usda.read("names/usd/run.usda")
parts = root["prims"]
lift, belt, wall, floor = (parts[k] for k in ("lift", "belt", "wall", "floor"))
assert all(abs(lift["xformOp:translate.timeSamples"][k][1] - k / 10) < 1e-5 for k in range(4))
assert lift["xformOpOrder"] == ["xformOp:translate", "xformOp:orient", "xformOp:scale"]
assert lift["xformOp:orient.timeSamples"][2] == (1, 0, 0, 0) and "points.timeSamples" not in lift
assert all(abs(belt["points.timeSamples"][3][i][1] - 0.03 * (i in (1, 2))) < 1e-6 for i in range(4))
assert wall["xformOp:translate"] == (-1, 0, 0) and len(floor["points"]) == 4
assert len(wall["points"]) == 24 and len(wall["faceVertexCounts"]) == 12
clay = parts["_9_clays"]
assert clay["visibility.timeSamples"] == {0: "invisible", 2: "inherited"}, clay["visibility.timeSamples"]
print([p["metadata"]["displayName"] for p in parts.values() if p["type"] != "Scope"])
END
same "USD holds every body, frame and name" "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tests/support python3 usd.py 2>&1)" "['rope', 'cloth', '赤い \"jelly\"/1', '9 clays', 'floor', 'wall', 'lift', 'belt']"
cd new/deep/folder || exit 1

# Every field has a unit and, where its name is not enough, a meaning.
check "VTU has units" grep -aq '<InformationKey name="UNITS_LABEL" location="vtkDataArray">Pa</InformationKey>' vtu/jelly_002_000001.vtu
check "VTU says which stress" grep -aq '<!-- von Mises stress (Cauchy) -->' vtu/jelly_002_000001.vtu
check "PLY has both" grep -aq 'comment stress: Pa, von Mises stress (Cauchy)' ply/jelly_002_000001.ply
check "a list of fields for the others" grep -q 'jelly_002,stress,Pa,"von Mises stress (Cauchy)"' bgeo/fields.csv
check "of radii too" grep -q 'clay_003,pscale,m,' bgeo/fields.csv

# VTK reads the files as we mean them.
if /usr/bin/python3 -c 'import vtk' 2>/dev/null; then
  cat >look.py <<'END'
import vtk
for name in ("rope_000", "cloth_001", "jelly_002", "clay_003"):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName("vtu/%s_000001.vtu" % name)
    reader.Update()
    grid = reader.GetOutput()
    kinds = {grid.GetCellType(i) for i in range(grid.GetNumberOfCells())}
    data = grid.GetCellData() if name == "jelly_002" else grid.GetPointData()
    field = data.GetArray("stress" if name in ("jelly_002", "clay_003") else "energy")
    unit = field.GetInformation().Get(vtk.vtkDataArray.UNITS_LABEL())
    print(name, grid.GetNumberOfCells(), sorted(kinds), unit)
END
  said=$(/usr/bin/python3 look.py 2>&1)
  check "a rod is lines" grep -qx 'rope_000 5 \[3\] J/m^3' <<<"$said"
  check "a sheet is triangles" grep -qx 'cloth_001 12 \[5\] J/m^3' <<<"$said"
  check "a volume is tets, a unit arrives" grep -qE 'jelly_002 [0-9]+ \[10\] Pa' <<<"$said"
  check "loose particles are points" grep -qE 'clay_003 [0-9]+ \[1\] Pa' <<<"$said"
else
  echo "# python3-vtk9 is not installed: files are not read with VTK"
  check "a rod is lines" grep -aq 'NumberOfPoints="6" NumberOfCells="5"' vtu/rope_000_000001.vtu
  check "a sheet is triangles" grep -aq 'NumberOfPoints="12" NumberOfCells="12"' vtu/cloth_001_000001.vtu
fi
finish
