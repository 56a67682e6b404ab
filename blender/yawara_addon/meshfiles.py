# SPDX-License-Identifier: MIT
"""Mesh files for the program, and the OBJ files that it writes."""
import numpy as np


def _rows(prefix, values):
    # Nine digits read back as the same 32-bit float.
    values = np.asarray(values, np.float32)
    row = f"{prefix} {' '.join(['%.9g'] * values.shape[1])}\n"
    return (row * len(values)) % tuple(values.ravel().tolist())


def write_obj(path, vertices, faces, uvs=None, materials=None, flip=False):
    """vertices (n, 3); faces: lists of vertex numbers; uvs: a row per corner, in the order of the
    faces; materials: a name per face; flip: turns faces over, for mirrored objects."""
    lines = [_rows("v", vertices)]
    if uvs is not None:
        lines.append(_rows("vt", uvs))
    corner, material = 0, None
    for i, face in enumerate(faces):
        if materials is not None and materials[i] != material:
            material = materials[i]
            lines.append(f"usemtl {material}\n")
        numbers = [(v + 1, corner + k + 1) for k, v in enumerate(face)]
        corner += len(face)
        words = (f"{v}/{t}" if uvs is not None else str(v) for v, t in (numbers[::-1] if flip else numbers))
        lines.append(f"f {' '.join(words)}\n")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


def write_ply(path, vertices, values=None, faces=None, name="quality"):
    """A binary PLY with one number per vertex; faces as in write_obj."""
    faces = faces or []
    extra = [(name, "<f4")] if values is not None else []
    data = np.empty(len(vertices), [("x", "<f4"), ("y", "<f4"), ("z", "<f4")] + extra)
    for k, axis in enumerate("xyz"):
        data[axis] = np.asarray(vertices)[:, k]
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\n"
    header += "".join(f"property float {axis}\n" for axis in "xyz")
    if values is not None:
        data[name] = values
        header += f"property float {name}\n"
    header += f"element face {len(faces)}\nproperty list int int vertex_indices\nend_header\n"
    with open(path, "wb") as file:
        file.write(header.encode("ascii"))
        file.write(data.tobytes())
        for face in faces:
            file.write(np.array([len(face), *face], "<i4").tobytes())


def read_obj(path):
    """Vertices (n, 3) and faces of an OBJ file that the program wrote."""
    vertices, faces = [], []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words and words[0] == "v":
                vertices.append([float(word) for word in words[1:4]])
            elif words and words[0] == "f":
                faces.append([int(word.split("/")[0]) - 1 for word in words[1:]])
    return np.array(vertices, np.float32).reshape(-1, 3), faces
