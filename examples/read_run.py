#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a run without yawara (docs/runs.md): counts and box of every body's surface at a frame.
usage: read_run.py RUN [FRAME]"""
import json, struct, sys

class Reader:
    def __init__(self, path, magic):
        self.bytes, self.at = open(path, "rb").read(), 8
        assert self.bytes[:8] == magic, f"{path}: is of another version"
    def skip(self, size):
        self.at += size
        return self.bytes[self.at - size:self.at]
    def rows(self, width, kind="f", count=None):  # the count comes first, unless given
        count = self.number() if count is None else count
        return list(struct.iter_unpack(f"<{width}{kind}", self.skip(4 * width * count)))
    def number(self): return struct.unpack("<I", self.skip(4))[0]
    def text(self): return self.skip(self.number()).decode()

def read_bodies(path):
    r, models, bodies = Reader(path, b"YWSHOWN2"), [], []
    r.skip(4 + 4 * 30)  # camera and lights
    for _ in range(r.number()):
        r.text(), r.rows(3), r.rows(4, "I")  # method, vertices at rest, tets
        r.rows(r.number() or 1, "I")  # lines or triangles
        kind, vertices, triangles = r.number(), len(r.rows(3)), r.rows(3, "I")
        r.rows(3, "f", vertices if r.number() else 0)  # colours
        follow = r.rows(1, "I", vertices if kind == 1 else 0)
        if kind == 2: follow = [struct.unpack("<4I4f", r.skip(32)) for _ in range(vertices)]
        models.append((kind, follow, triangles))
    for _ in range(r.number()):
        bodies.append((r.text(), *models[r.number()]))
        r.skip(8 + 40), r.rows(3)  # mass, look, colours
    return bodies

def read_frame(path, bodies):
    r = Reader(path, b"YWFRAME4")
    r.skip(8 + 4 + 8), r.rows(8), r.number()  # run, number, time; poses of obstacles; bodies
    for name, kind, follow, triangles in bodies:
        flags, positions = r.number(), r.rows(3)
        surface = r.rows(3) if flags & 2 else positions
        r.skip(4 * len(positions) if flags & 4 else 0)  # radii
        cells = r.number()
        r.skip(16 * cells if flags & 8 else 4 if flags & 16 else 0)
        for _ in range(r.number()):  # fields: name, unit, meaning, per cell or particle, values
            r.text(), r.text(), r.text(), r.skip(4 * (cells if r.number() else len(positions)))
        if kind == 1: surface = [positions[v] for v, in follow]
        if kind == 2: surface = [tuple(sum(f[4 + i] * positions[f[i]][k] for i in range(4))
                                       for k in range(3)) for f in follow]
        if flags & 1: yield name, positions, surface, triangles  # otherwise it has not started yet

if __name__ == "__main__":
    run = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
    last = json.load(open(f"{run}/run.json"))["frames_done"]
    frame = f"{run}/frames/{int(sys.argv[2]) if len(sys.argv) > 2 else last:06d}.ywf"
    for name, positions, surface, triangles in read_frame(frame, read_bodies(f"{run}/shown.ywr")):
        low, high = (", ".join(f"{end(axis):g}" for axis in zip(*surface)) for end in (min, max))
        print(f"{name}: {len(positions)} particles, {len(surface)} vertices, {len(triangles)} "
              f"triangles, box ({low}) to ({high}) m")
