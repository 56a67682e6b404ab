#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/scene.schema.json and the key reference in docs/scenes.md agree with the program's output.
. "$(dirname "$0")/lib.sh"
check "schema and reference are those of the program" "$root/scripts/write_scene_docs.sh" --check "$yawara"
refuses "an argument that it does not take" "schema" "$yawara" schema scene.json

# Every key of every object and every named value is in a scene that tests run: those of the gallery (test_scene_build, the page),
# test_golden's, and one of rare keys here, with small files for it.
cd "$work" || exit 1
cp "$root"/tests/data/keys/*.json .
python3 - <<'END'
import struct

corners = [(x, y, z) for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)]
sides = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]


def write_obj(name, points):
    with open(name, "w") as out:
        out.writelines(f"v {x} {y} {z}\n" for x, y, z in points)
        out.writelines("f " + " ".join(map(str, side)) + "\n" for side in sides)


write_obj("cube.obj", corners)
write_obj("turned.obj", [(x + 0.2 * y, y, z) for x, y, z in corners])
for frame in (1, 2, 3):
    write_obj(f"walk_{frame}.obj", [(x, y + 0.01 * frame, z) for x, y, z in corners])
with open("paint.ply", "w") as out:
    out.write("ply\nformat ascii 1.0\nelement vertex 8\n" + "".join(f"property float {name}\n" for name in ("x", "y", "z", "quality")))
    out.write("element face 6\nproperty list uchar int vertex_indices\nend_header\n")
    out.writelines(f"{x} {y} {z} {y + 0.5}\n" for x, y, z in corners)
    out.writelines("4 " + " ".join(str(v - 1) for v in side) + "\n" for side in sides)
numbers = struct.pack("<8f", *[0.2, 0.3] * 4)
with open("grid.raw", "wb") as out:
    out.write(numbers)
with open("grid.mhd", "w") as out:
    out.write("ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 1 1\nOffset = -0.5 -0.5 -0.5\nElementType = MET_FLOAT\n"
              "ElementDataFile = grid.raw\n")
with open("grid.vti", "w") as out:
    out.write('<VTKFile type="ImageData" version="0.1" byte_order="LittleEndian"><ImageData WholeExtent="0 1 0 1 0 1" Origin="-0.5 -0.5 -0.5" '
              'Spacing="1 1 1"><Piece Extent="0 1 0 1 0 1"><PointData><DataArray type="Float32" Name="n" format="ascii">'
              + "0.2 0.3 " * 4 + "</DataArray></PointData></Piece></ImageData></VTKFile>\n")
# The cube as five tets; labels 1 and 2.
tets = [(1, 2, 3, 5), (4, 3, 2, 8), (6, 5, 8, 2), (7, 8, 5, 3), (2, 3, 5, 8)]
with open("tets.mesh", "w") as out:
    out.write("MeshVersionFormatted 1\nDimension 3\nVertices 8\n" + "".join(f"{x} {y} {z} 0\n" for x, y, z in corners))
    out.write("Tetrahedra 5\n" + "".join(" ".join(map(str, tet)) + f" {1 + i % 2}\n" for i, tet in enumerate(tets)) + "End\n")
with open("pose.node", "w") as out:
    out.write("8 3 0 0\n" + "".join(f"{i} {x + 0.1 * y} {y} {z}\n" for i, (x, y, z) in enumerate(corners)))
END
check "a scene of rare keys runs" "$yawara" run every_key.json -o rare -q
"$yawara" schema >schema.json
check "every key and named value is run" python3 "$root/tests/support/every_key.py" schema.json "$root"/scenes/gallery/*.json \
  "$root"/tests/golden/scenes/*.json every_key.json
finish
