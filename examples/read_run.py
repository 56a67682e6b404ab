#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a run without yawara (docs/runs.md): counts and box of every body's surface at a frame.
usage: read_run.py RUN [FRAME]"""
import json, struct, sys

class Reader:
    def __init__(self, path, magic, begin=0):
        self.bytes, self.at = open(path, "rb").read()[begin:], 8
        assert self.bytes[:8] == magic, f"{path}: is of another version"
    def skip(self, size):
        self.at += size
        return self.bytes[self.at - size:self.at]
    def rows(self, width, kind="f", count=None):  # the count comes first, unless given
        count = self.number() if count is None else count
        return list(struct.iter_unpack(f"<{width}{kind}", self.skip(4 * width * count)))
    def number(self): return struct.unpack("<I", self.skip(4))[0]
    def text(self): return self.skip(self.number()).decode()

def plus(a, b, scale=1.0): return [p + scale * q for p, q in zip(a, b)]
def cross(a, b): return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
def times(m, v): return [sum(p * q for p, q in zip(row, v)) for row in m]

def gradients(rest, tets, now):  # of the particles: the mean of their tets' gradients
    sums = [[[0.0] * 3 for _ in range(3)] for _ in rest]
    volumes = [0.0] * len(rest)
    for tet in tets:
        e, d = ([plus(x[v], x[tet[0]], -1) for v in tet[1:]] for x in (rest, now))
        normals = [cross(e[k - 2], e[k - 1]) for k in range(3)]
        for v in tet:
            volumes[v] += sum(p * q for p, q in zip(e[0], normals[0]))
            for i in range(3):
                for k in range(3): sums[v][i] = plus(sums[v][i], normals[k], d[k][i])
    return [[[x / w for x in row] for row in m] if w > 0 else m for m, w in zip(sums, volumes)]

def embedded(rest, tets, surface, links, now):
    f, out = gradients(rest, tets, now), []
    for x, of_x in zip(surface, links):
        mean = [[sum(w * f[v][i][k] for v, w in of_x) for k in range(3)] for i in range(3)]
        place = [0.0] * 3
        for v, w in of_x:
            offset = plus(x, rest[v], -1)
            moved = plus(times(f[v], offset), times(mean, offset))
            place = plus(place, plus(now[v], moved, 0.5), w)
        out.append(tuple(place))
    return out

def read_bodies(path):
    r, models, bodies = Reader(path, b"YWSHOWN3"), [], []
    r.skip(4 + 4 * 30)  # camera and lights
    for _ in range(r.number()):
        _, rest, tets = r.text(), r.rows(3), r.rows(4, "I")  # the first: method
        r.rows(r.number() or 1, "I")  # lines or triangles
        kind = r.number()
        vertices, triangles = r.rows(3), r.rows(3, "I")
        r.rows(3, "f", len(vertices) if r.number() else 0)  # colours
        follow = r.rows(1, "I", len(vertices) if kind == 1 else 0)
        if kind == 4:
            tets = r.rows(4, "I") or tets  # the ones that it follows
            total = r.number()
            counts = [n for n, in r.rows(1, "I", len(vertices))]
            links = struct.iter_unpack("<If", r.skip(8 * total))
            follow = [[next(links) for _ in range(n)] for n in counts]
            r.text()  # of an OBJ file
        models.append((kind, (rest, tets, vertices, follow), triangles))
    for _ in range(r.number()):
        bodies.append((r.text(), *models[r.number()]))
        r.skip(8 + 40 + 4), r.rows(3)  # mass, look, contact; colours
    return bodies

def read_frame(run, number, bodies):
    path, begin = f"{run}/frames/{number:06d}.ywf", 0
    if json.load(open(f"{run}/run.json")).get("packed"):  # all frames in one file, each behind its length
        path, begin = f"{run}/frames.ywp", 16
        pack = open(path, "rb").read()
        for _ in range(number): begin += 8 + struct.unpack_from("<Q", pack, begin - 8)[0]
    r = Reader(path, b"YWFRAME4", begin)
    r.skip(8 + 4 + 8), r.rows(8), r.number()  # run, number, time; poses of obstacles; bodies
    for name, kind, follow, triangles in bodies:
        flags, positions = r.number(), r.rows(3)
        surface = r.rows(3) if flags & 2 else positions
        r.skip(4 * len(positions) if flags & 4 else 0)  # radii
        cells = r.number()
        r.skip(16 * cells if flags & 8 else 4 if flags & 16 else 0)
        for _ in range(r.number()):  # fields: name, unit, meaning, per cell or particle, values
            r.text(), r.text(), r.text(), r.skip(4 * (cells if r.number() else len(positions)))
        if kind == 1: surface = [positions[v] for v, in follow[3]]
        if kind == 4: surface = embedded(*follow, positions)
        if flags & 1: yield name, positions, surface, triangles  # otherwise it has not started yet

if __name__ == "__main__":
    run = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
    last = json.load(open(f"{run}/run.json"))["frames_done"]
    frame = int(sys.argv[2]) if len(sys.argv) > 2 else last
    for name, positions, surface, triangles in read_frame(run, frame, read_bodies(f"{run}/shown.ywr")):
        low, high = (", ".join(f"{end(axis):g}" for axis in zip(*surface)) for end in (min, max))
        print(f"{name}: {len(positions)} particles, {len(surface)} vertices, {len(triangles)} "
              f"triangles, box ({low}) to ({high}) m")
