#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What an imported surface has besides positions survives exports, and velocities come along.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# A box of two materials, with a seam in its texture coordinates, hard edges and colours.
cat >box.py <<'END'
corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
faces = [((1, 2, 4, 3), (-1, 0, 0)), ((5, 7, 8, 6), (1, 0, 0)), ((1, 5, 6, 2), (0, -1, 0)),
         ((3, 4, 8, 7), (0, 1, 0)), ((1, 3, 7, 5), (0, 0, -1)), ((2, 6, 8, 4), (0, 0, 1))]
with open("box.obj", "w") as f:
    f.write("mtllib box.mtl\n")
    for i, (x, y, z) in enumerate(corners): f.write("v %g %g %g %g 0.5 0.25\n" % (x, y, z, i / 7))
    for i, (_, n) in enumerate(faces):
        f.write("vn %d %d %d\n" % n)
        for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)): f.write("vt %g %g\n" % ((i + 0.9 * u) / 6, v))
    for i, (face, _) in enumerate(faces):
        if i in (0, 3): f.write("usemtl %s\n" % ("red paint" if i == 0 else "gold"))
        f.write("f" + "".join(" %d/%d/%d" % (v, 4 * i + k + 1, i + 1) for k, v in enumerate(face)) + "\n")
# The same as glTF: a vertex per corner of a face, a primitive per material, v from the top.
import array, base64, json
rows = [(corners[v - 1], ((i + 0.9 * u) / 6, 1 - w), ((v - 1) / 7, 0.5, 0.25), n)
        for i, (face, n) in enumerate(faces) for v, (u, w) in zip(face, ((0, 0), (1, 0), (1, 1), (0, 1)))]
numbers = [array.array("f", [x for row in rows for x in row[k]]) for k in range(4)]
numbers += [array.array("I", [4 * i + c for i in part for c in (0, 1, 2, 0, 2, 3)]) for part in ((0, 1, 2), (3, 4, 5))]
data, views = b"", []
for a in numbers:
    views.append({"buffer": 0, "byteOffset": len(data), "byteLength": 4 * len(a)})
    data += a.tobytes()
kinds = [("VEC3", 24, 5126), ("VEC2", 24, 5126), ("VEC3", 24, 5126), ("VEC3", 24, 5126), ("SCALAR", 18, 5125), ("SCALAR", 18, 5125)]
# Once as it is; once mirrored, turned and stretched by its node.
for file, node in (("crate.gltf", {"mesh": 0}), ("mirror.gltf", {"mesh": 0, "scale": [-1, 2, 1], "rotation": [0, 0, 0.38268343, 0.92387953]})):
  json.dump({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [node],
           "materials": [{"name": "gold"}, {"name": "赤 paint"}], "bufferViews": views,
           "buffers": [{"byteLength": len(data), "uri": "data:;base64," + base64.b64encode(data).decode()}],
           "accessors": [{"bufferView": i, "type": t, "count": n, "componentType": c} for i, (t, n, c) in enumerate(kinds)],
           "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1, "COLOR_0": 2, "NORMAL": 3}, "indices": 4 + k, "material": 1 - k}
                                      for k in (0, 1)]}]}, open(file, "w"))
with open("ball.ply", "w") as f:
    f.write("ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
            "property float s\nproperty float t\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
            "element face 6\nproperty list uchar int vertex_indices\nend_header\n")
    for i, p in enumerate(corners): f.write("%g %g %g %g %g %d 51 255\n" % (*p, i / 8, 1 - i / 16, 17 * i))
    for face, _ in faces: f.write("4 " + " ".join(str(v - 1) for v in face) + "\n")
# A cloth of 3 by 2 quads: numbers that run backwards, a seam, two materials, colours; as OBJ, and as
# PLY with a texture coordinate per vertex.
grid = [(x / 3, 0, z / 2) for z in (2, 1, 0) for x in (3, 2, 1, 0)]
quads = [(4 * j + i, 4 * j + i + 1, 4 * j + i + 5, 4 * j + i + 4) for j in range(2) for i in range(3)]
with open("cloth.obj", "w") as f:
    f.write("mtllib cloth.mtl\n")
    for i, (x, y, z) in enumerate(grid): f.write("v %.9g %g %g 0.25 %g 0.5\n" % (x, y, z, i / 11))
    for x, y, z in grid: f.write("vt %.9g %g\n" % (x, z))
    f.write("vt 0.5 0.75\n")
    for i, quad in enumerate(quads):
        if i in (0, 3): f.write("usemtl %s\n" % ("wool" if i == 0 else "silk"))
        f.write("f" + "".join(" %d/%d" % (v + 1, 13 if i == 5 and v == 6 else v + 1) for v in quad) + "\n")
with open("flag.ply", "w") as f:
    f.write("ply\nformat ascii 1.0\nelement vertex 12\nproperty float x\nproperty float y\nproperty float z\nproperty float s\nproperty float t\n"
            "element face 6\nproperty list uchar int vertex_indices\nend_header\n")
    for i, p in enumerate(grid): f.write("%.9g %g %g %g %g\n" % (*p, i / 16, 1 - i / 32))
    for quad in quads: f.write("4 %d %d %d %d\n" % quad)
END
python3 box.py
cat >looks.json <<'END'
{ "duration": 0.1, "fps": 30, "gravity": [0, -6, 0], "bodies": [
  { "name": "box", "shape": { "mesh": { "file": "box.obj" } }, "match": {}, "angular_velocity": [0, 0, 3] },
  { "name": "ball", "shape": { "mesh": { "file": "ball.ply" } }, "match": {}, "position": [5, 0, 0] },
  { "name": "clay", "shape": { "sphere": { "radius": 0.1 } }, "plastic": { "spacing": 0.05, "sheet": true }, "position": [9, 0, 0] },
  { "name": "crate", "shape": { "mesh": { "file": "crate.gltf" } }, "match": {}, "position": [0, 5, 0] },
  { "name": "mirror", "shape": { "mesh": { "file": "mirror.gltf" } }, "match": {}, "position": [9, 9, 0] },
  { "name": "cloth", "sheet": { "file": "cloth.obj", "thickness": 0.02 }, "slender": {}, "position": [0, 9, 0], "angular_velocity": [0, 0, 3] },
  { "name": "flag", "sheet": { "file": "flag.ply" }, "slender": {}, "position": [0, 12, 0] } ] }
END
"$yawara" run looks.json -o run -q 2>run.txt || cat run.txt
said=$("$yawara" export run -q --format obj,ply,pc2,mdd,gltf,usd,vtu --velocities 2>&1)
same "exports with velocities" $? 0
check "of particles they must be kept" grep -q 'velocities of "clay" are left out: its particles come and go; keep them with yawara run --fields velocity' <<<"$said"
"$yawara" export run -q --format obj,gltf --thick -o sides
"$yawara" run looks.json -o kept -q --fields velocity --format ply,vtu,bgeo 2>/dev/null
"$yawara" export kept -q --velocities --format usd
cat >again.json <<'END'
{ "frames": 0, "bodies": [ { "name": "box", "shape": { "mesh": { "file": "run/ply/box_000_000000.ply" } }, "match": {} } ] }
END
"$yawara" run again.json -o again -q --format ply 2>/dev/null

cat >look.py <<'END'
import array, json, re, struct, sys, usda
def obj(path):
    out = {}
    for line in open(path): out.setdefault(line.split()[0], []).append(line.split()[1:])
    return out
def corner(text): return [int(i) for i in text.split("/")]
def ply(path):
    data = open(path, "rb").read()
    head, body = data.split(b"end_header\n", 1)
    lines, at, out = head.decode().splitlines(), 0, {"comments": [l[8:] for l in head.decode().splitlines() if l.startswith("comment ")]}
    kinds = {"float": "f", "uchar": "B", "int": "i"}
    elements = []
    for line in lines:
        words = line.split()
        if words[0] == "element": elements.append((words[1], int(words[2]), []))
        if words[0] == "property": elements[-1][2].append(words[1:])
    for name, count, properties in elements:
        rows = []
        for _ in range(count):
            row = {}
            for p in properties:
                n = 1
                if p[0] == "list": n = body[at]; at += 1
                row[p[-1]] = struct.unpack_from("<%d%s" % (n, kinds[p[-2]]), body, at)
                at += struct.calcsize(kinds[p[-2]]) * n
            rows.append(row)
        out[name] = rows
    assert at == len(body), path
    return out
def cache(path):
    data = open(path, "rb").read()
    points, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    numbers = array.array("f", data[32:])
    assert len(numbers) == 3 * points * frames
    return [numbers[3 * points * k:3 * points * (k + 1)] for k in range(frames)]
def near(a, b, e=1e-5): return len(a) == len(b) and all(abs(x - y) < e for x, y in zip(a, b))
before, after = obj("box.obj"), obj("run/obj/box_000_000003.obj")
def looks_of_obj():
    assert after["vt"] == before["vt"] and after["usemtl"] == before["usemtl"] and after["mtllib"] == before["mtllib"]
    assert [[corner(c)[:2] for c in f] for f in after["f"]] == [[corner(c)[:2] for c in f] for f in before["f"]]
    assert all(near(map_(a[3:]), map_(b[3:])) for a, b in zip(after["v"], before["v"]))
    order = [l.split()[0] for l in open("run/obj/box_000_000003.obj") if l.split()[0] in ("usemtl", "f")]
    assert order == ["usemtl"] + 3 * ["f"] + ["usemtl"] + 3 * ["f"], order
def map_(words): return [float(w) for w in words]
def looks_of_ply():
    p = ply("run/ply/box_000_000003.ply")
    assert [c for c in p["comments"] if c.startswith("material")] == ["material 0 red paint", "material 1 gold"]
    for row, v in zip(p["vertex"], after["v"]):
        assert near((*row["x"], *row["y"], *row["z"]), map_(v[:3])), (row, v)
        assert near([row[c][0] / 255 for c in ("red", "green", "blue")], map_(v[3:]), 0.003)
    uv = {(c[0], tuple(map_(before["vt"][c[1] - 1]))) for f in before["f"] for c in map(corner, f)}
    for face in p["face"]:
        for k, v in enumerate(face["vertex_indices"]):
            at = face["texcoord"][2 * k:2 * k + 2]
            assert any(i == v + 1 and near(at, t) for i, t in uv), face
    assert [f["material_index"][0] for f in p["face"]] == 6 * [0] + 6 * [1]
def looks_of_a_ply_file():
    p = ply("run/ply/ball_001_000003.ply")
    assert all(row["s"][0] == i / 8 and row["t"][0] == 1 - i / 16 and row["red"][0] == 17 * i for i, row in enumerate(p["vertex"]))
    o = obj("run/obj/ball_001_000003.obj")
    assert all(near(map_(o["vt"][i]), (i / 8, 1 - i / 16)) for i in range(8)) and all(corner(c)[0] == corner(c)[1] for f in o["f"] for c in f)
def looks_of_gltf():
    d, data = json.load(open("run/gltf/run.gltf")), open("run/gltf/run.bin", "rb").read()
    def numbers(i):
        a = d["accessors"][i]
        count = a["count"] * {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[a["type"]]
        return array.array({5125: "I", 5126: "f"}[a["componentType"]], data[a["byteOffset"]:a["byteOffset"] + 4 * count])
    parts = next(m for m in d["meshes"] if m["name"] == "box")["primitives"]
    assert [d["materials"][p["material"]]["name"] for p in parts] == ["red paint", "gold"]
    vt = [map_(t) for t in before["vt"]]
    faces = [[corner(c) for c in f] for f in before["f"]]
    for which, p in enumerate(parts):
        a = p["attributes"]
        x, n, uv, color = (numbers(a[k]) for k in ("POSITION", "NORMAL", "TEXCOORD_0", "COLOR_0"))
        assert len(x) == 3 * 24, "a point for each corner with a texture coordinate of its own"
        for i in sorted(set(numbers(p["indices"]))):
            at = [uv[2 * i], 1 - uv[2 * i + 1]]
            face, c = next((f, c) for f, r in enumerate(faces) for c in r if near(vt[c[1] - 1], at) and f // 3 == which)
            assert near(n[3 * i:3 * i + 3], map_(before["vn"][face]), 1e-3), "hard edges"
            assert near(color[3 * i:3 * i + 3], map_(before["v"][c[0] - 1][3:]), 1e-5)
        last = p["targets"][-1]
        now = [a + b for a, b in zip(x, numbers(last["POSITION"]))]
        spots = {tuple(round(float(w), 4) for w in v[:3]) for v in after["v"]}
        assert all(any(near(now[3 * i:3 * i + 3], s, 1e-3) for s in spots) for i in range(24))
def velocities():
    for name, points in (("box_000", 8), ("ball_001", 8)):
        x, v = cache("run/pc2/%s.pc2" % name), cache("run/pc2/%s.velocity.pc2" % name)
        assert len(x) == len(v) == 4 and len(x[0]) == 3 * points
        for k in range(4):
            a, b = max(k - 1, 0), min(k + 1, 3)
            assert near(v[k], [(q - p) * 30 / (b - a) for p, q in zip(x[a], x[b])], 1e-3), (name, k)
            fall = sum(v[k][1::3]) / points
            assert abs(fall + 6 * (a + b) / 60) < 0.12, (name, k, fall)
            rows = ply("run/ply/%s_%06d.ply" % (name, k))["vertex"]
            assert near([row[c][0] for row in rows for c in ("vx", "vy", "vz")], v[k], 1e-6), (name, k)
    assert len(open("run/mdd/box_000.velocity.mdd", "rb").read()) == len(open("run/mdd/box_000.mdd", "rb").read())
def kept_velocities():
    rows = ply("kept/ply/clay_002_000003.ply")["vertex"]
    assert len(rows) > 10 and abs(sum(r["vy"][0] for r in rows) / len(rows) + 0.6) < 0.05
    text = open("kept/vtu/clay_002_000003.vtu", "rb").read()
    assert re.search(rb'Name="velocity"[^>]*NumberOfComponents="3"', text) or re.search(rb'NumberOfComponents="3"[^>]*Name="velocity"', text)
    assert b'"vx"' not in text and b"\x00\x01v\x00\x03\x00\x00\x00\x05" in open("kept/bgeo/clay_002_000003.bgeo", "rb").read()
def looks_of_a_gltf_file():
    p, o, mesh = ply("run/ply/crate_003_000003.ply"), obj("run/obj/crate_003_000003.obj"), usda.read("run/usd/run.usda")[1]["prims"]["crate"]
    assert len(p["vertex"]) == 8 and len(p["face"]) == 12 and o["usemtl"] == [["赤", "paint"], ["gold"]]
    assert [c for c in p["comments"] if c.startswith("material")] == ["material 0 赤 paint", "material 1 gold"]
    assert [f["material_index"][0] for f in p["face"]] == 6 * [0] + 6 * [1]
    corners = [[(i, u, v) for i, u, v in zip(f["vertex_indices"], f["texcoord"][0::2], f["texcoord"][1::2])] for f in p["face"]]
    square = ((0, 0), (1, 0), (1, 1), (0, 1))
    for t, face in enumerate(corners):
        for (vertex, u, v), k in zip(face, (0, 1, 2) if t % 2 == 0 else (0, 2, 3)):
            assert near((u, v), ((t // 2 + 0.9 * square[k][0]) / 6, square[k][1])), (t, k, u, v)
            at = mesh["primvars:st"][int(mesh["primvars:st:indices"][3 * t + face.index((vertex, u, v))])]
            assert near(at, (u, v)), (t, at)
    assert near(flat(mesh["primvars:displayColor"]), [row[c][0] / 255 for row in p["vertex"] for c in ("red", "green", "blue")], 0.003)
    assert any(row["red"][0] > 100 for row in p["vertex"])
def normals_of_a_gltf_file():
    for name in ("crate_003", "mirror_004"):
        o = obj("run/obj/%s_000003.obj" % name)
        v, vn = [map_(w[:3]) for w in o["v"]], [map_(w) for w in o["vn"]]
        assert len(o["f"]) == 12
        for f in o["f"]:
            a, b, c = (v[corner(k)[0] - 1] for k in f)
            p, q = [b[i] - a[i] for i in range(3)], [c[i] - a[i] for i in range(3)]
            n = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
            size = sum(w * w for w in n) ** 0.5
            for k in f: assert sum(x * y for x, y in zip(n, vn[corner(k)[2] - 1])) > 0.999 * size, (name, f, "hard edges come back")
def looks_of_corners_in_a_ply_file():
    given, back = ply("run/ply/box_000_000000.ply")["face"], ply("again/ply/box_000000.ply")["face"]
    assert [f["texcoord"] for f in given] == [f["texcoord"] for f in back] and len({f["texcoord"] for f in back}) == 12
def flat(rows): return [x for row in rows for x in row]
def looks_of_usd():
    head, root = usda.read("run/usd/run.usda")
    assert (head["metersPerUnit"], head["upAxis"], head["timeCodesPerSecond"], head["startTimeCode"], head["endTimeCode"]) == (1, "Y", 30, 0, 3)
    box = root["prims"]["box"]
    assert box["type"] == "Mesh" and box["faceVertexCounts"] == 12 * [3] and box["subdivisionScheme"] == "none"
    x, v = cache("run/pc2/box_000.pc2"), cache("run/pc2/box_000.velocity.pc2")
    corners = box["faceVertexIndices"]
    for k in range(4):
        assert near(flat(box["points.timeSamples"][k]), x[k], 1e-6) and near(flat(box["velocities.timeSamples"][k]), v[k], 1e-6)
        low, high = box["extent.timeSamples"][k]
        assert all(near([low[c], high[c]], [min(x[k][c::3]), max(x[k][c::3])], 1e-6) for c in range(3))
        n = box["primvars:normals.timeSamples"][k]
        for t in range(12):
            a, b, c = (box["points.timeSamples"][k][int(i)] for i in corners[3 * t:3 * t + 3])
            p, q = [b[i] - a[i] for i in range(3)], [c[i] - a[i] for i in range(3)]
            flat_one = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
            size = sum(w * w for w in flat_one) ** 0.5
            for i in box["primvars:normals:indices"][3 * t:3 * t + 3]:
                assert sum(w * m for w, m in zip(flat_one, n[int(i)])) > 0.999 * size, "hard edges turn along"
    uv = {(c[0], tuple(map_(before["vt"][c[1] - 1]))) for f in before["f"] for c in map(corner, f)}
    for corner_, at in zip(corners, box["primvars:st:indices"]):
        assert any(i == corner_ + 1 and near(box["primvars:st"][int(at)], t) for i, t in uv)
    assert near(flat(box["primvars:displayColor"]), [w for r in before["v"] for w in map_(r[3:])])
    bound = {root["prims"]["Materials"]["prims"][s["material:binding"].rsplit("/", 1)[1]]["metadata"]["displayName"]: s["indices"]
             for s in box["prims"].values()}
    assert bound == {"red paint": [0, 1, 2, 3, 4, 5], "gold": [6, 7, 8, 9, 10, 11]}, bound
    clay = root["prims"]["clay"]
    assert clay["type"] == "Points" and "velocities.timeSamples" not in clay and near(clay["widths.timeSamples"][3], len(clay["points"]) * [0.05])
    clay = usda.read("kept/usd/run.usda")[1]["prims"]["clay"]
    assert near([p[1] for p in clay["velocities.timeSamples"][3]], [r["vy"][0] for r in ply("kept/ply/clay_002_000003.ply")["vertex"]], 1e-6)
def looks_of_sheets():
    given, made = obj("cloth.obj"), obj("run/obj/cloth_005_000003.obj")
    assert all(made[k] == given[k] for k in ("vt", "usemtl", "mtllib", "f")), "numbers, faces, texture coordinates, materials"
    assert len(made["v"]) == 12 and all(near(map_(a[3:]), map_(b[3:])) for a, b in zip(made["v"], given["v"]))
    x, v = cache("run/pc2/cloth_005.pc2"), cache("run/pc2/cloth_005.velocity.pc2")
    assert near(x[3], [w for r in made["v"] for w in map_(r[:3])], 1e-5) and len(v[3]) == 36
    assert near(v[1], [(b - a) * 15 for a, b in zip(x[0], x[2])], 1e-3)
    p = ply("run/ply/cloth_005_000003.ply")
    assert [f["material_index"][0] for f in p["face"]] == 6 * [0] + 6 * [1] and len(p["vertex"]) == 12
    assert near(p["face"][10]["texcoord"] + p["face"][11]["texcoord"], [w for f in ((0, 1, 2), (0, 2, 3)) for k in f
                for w in map_(given["vt"][corner(given["f"][5][k])[1] - 1])])
    p = ply("run/ply/flag_006_000003.ply")
    assert [(r["s"][0], r["t"][0]) for r in p["vertex"]] == [(i / 16, 1 - i / 32) for i in range(12)]
    assert abs(sum(r["vy"][0] for r in p["vertex"]) / 12 + 0.5) < 0.05
    rows = ply("kept/ply/cloth_005_000003.ply")["vertex"]
    assert len(rows) == 12 and abs(sum(r["vy"][0] for r in rows) / 12 + 0.6) < 0.05, "fields of particles"
    d = json.load(open("run/gltf/run.gltf"))
    sides = {m["name"]: m.get("doubleSided", False) for m in d["materials"]}
    assert sides["wool"] and sides["silk"] and sides["flag"] and not sides["gold"], sides
    usd = usda.read("run/usd/run.usda")[1]["prims"]["cloth"]
    assert near(flat(usd["points.timeSamples"][3]), x[3], 1e-6) and len(usd["primvars:st"]) == 13
    thick = obj("sides/obj/cloth_005_000003.obj")
    assert len(thick["v"]) > 24 and len(thick["f"]) == 2 * 12 + 2 * 10 and "doubleSided" not in open("sides/gltf/run.gltf").read()
globals()[sys.argv[1]]()
END
# Clay shows what it was made of, in every format, as long as it holds; PLY and OBJ then have a skin.
cat >clay.json <<'END'
{ "duration": 0.1, "fps": 30, "floor": true, "bodies": [
  { "name": "box", "shape": { "mesh": { "file": "box.obj" } }, "plastic": { "spacing": 0.3, "youngs_modulus": 1e6 }, "position": [0, 3, 0], "angular_velocity": [0, 0, 3] } ] }
END
check "clay of a model" "$yawara" run clay.json -o clay -q --format obj,ply,gltf,usd,pc2
faces_of() { grep -E '^(vt|usemtl|mtllib|f) ' "$1" | sed -E 's#(/[0-9]+)/[0-9]+#\1#g'; }
same "keeps texture coordinates, materials and faces" "$(faces_of clay/obj/box_000003.obj)" "$(faces_of box.obj)"
check "also in glTF" grep -q TEXCOORD_0 clay/gltf/run.gltf
check "and in USD" grep -q 'primvars:st' clay/usd/run.usda
check "and in point caches" test -s clay/pc2/box.pc2
for what in looks_of_obj looks_of_ply looks_of_a_ply_file looks_of_gltf looks_of_a_gltf_file normals_of_a_gltf_file looks_of_corners_in_a_ply_file looks_of_usd looks_of_sheets velocities kept_velocities; do
  check "${what//_/ }" env PYTHONPATH="$root/tests/support" PYTHONDONTWRITEBYTECODE=1 python3 look.py $what
done
finish
