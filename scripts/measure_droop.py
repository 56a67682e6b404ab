#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far bodies of one word droop under their own weight in match, frames and fem. Words should look
alike in all methods. Each body stands on its base, which is held (the lowest 2 % of its height), gravity
sets in, and it comes to rest: the largest and (mean) drop of its surface, in thousandths of its longest
side, and Young's modulus over density, gravity and that side.
usage: scripts/measure_droop.py [--write] [--check] [--word W] [--methods M,M] [BODY|FILE...]
    needs build/yawara (or YAWARA); --write replaces the table in docs/models.md; --check fails where the
    largest and the smallest of the methods differ by more than LIMIT."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

METHODS = ["match", "frames", "fem"]
LIMIT = 1.5
LEAST = 0.0005  # of the longest side: less cannot be seen
HELD = 0.02
PAGE = "docs/models.md"
BEGIN, END = "<!-- droop: begin -->", "<!-- droop: end -->"
# Boxes (x, y, z from and to, m) that touch or overlap; y is up.
BODIES = {
    "box": [(0, 1, 0, .3, 0, .3)],
    "tower": [(0, .3, 0, 1, 0, .3)],
    "plus": [(.45, .55, 0, 1, 0, .1), (0, 1, .45, .55, 0, .1)],
    "table": [(0, 1, .5, .6, 0, .7), (0, .1, 0, .5, 0, .1), (.9, 1, 0, .5, 0, .1), (0, .1, 0, .5, .6, .7),
              (.9, 1, 0, .5, .6, .7)],
    "tee": [(.4, .6, 0, .8, 0, .2), (0, 1, .8, 1, 0, .2)],
    "ell": [(0, .2, 0, 1, 0, .3), (0, .8, 0, .2, 0, .3)],
    "frame": [(0, .12, 0, .8, 0, .2), (.88, 1, 0, .8, 0, .2), (0, 1, 0, .12, 0, .2), (0, 1, .68, .8, 0, .2)],
    "shelf": [(0, .2, 0, .5, 0, .5), (0, 1, .3, .4, 0, .5)],
}


def write_boxes(boxes, path):
    """The surface of a union of boxes: faces between full and empty cells of the grid of all their planes."""
    planes = [sorted({b[2 * k + s] for b in boxes for s in (0, 1)}) for k in range(3)]
    size = [len(p) - 1 for p in planes]

    def full(c):
        if any(c[k] < 0 or c[k] >= size[k] for k in range(3)):
            return False
        mid = [0.5 * (planes[k][c[k]] + planes[k][c[k] + 1]) for k in range(3)]
        return any(all(b[2 * k] < mid[k] < b[2 * k + 1] for k in range(3)) for b in boxes)

    vertices, quads = {}, []
    cells = [(i, j, k) for i in range(size[0]) for j in range(size[1]) for k in range(size[2])]
    for c in filter(full, cells):
        for axis in range(3):
            for side in (0, 1):
                beside = list(c)
                beside[axis] += 2 * side - 1
                if full(beside):
                    continue
                u, v = (axis + 1) % 3, (axis + 2) % 3
                quad = []
                for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)) if side else ((0, 0), (0, 1), (1, 1), (1, 0)):
                    at = list(c)
                    at[axis] += side
                    at[u] += a
                    at[v] += b
                    quad.append(vertices.setdefault(tuple(at), len(vertices) + 1))
                quads.append(quad)
    with open(path, "w") as file:
        for at in vertices:
            file.write("v %g %g %g\n" % tuple(planes[k][at[k]] for k in range(3)))
        for quad in quads:
            file.write("f %d %d %d %d\n" % tuple(quad))


def frames_of(run):
    """Positions of every frame of the PC2 file of a run."""
    found = [os.path.join(at, n) for at, _, names in os.walk(run) for n in names]
    with open(next(n for n in found if n.endswith(".pc2")), "rb") as file:
        data = file.read()
    points, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    return [struct.unpack_from("<%df" % (3 * points), data, 32 + 12 * points * f) for f in range(frames)]


def drop_of(rest, now):
    """The largest and the mean drop of the points, averaged over some frames: what swings about its
    base is hardly damped."""
    count = len(rest) // 3
    drops = [rest[3 * i + 1] - sum(frame[3 * i + 1] for frame in now) / len(now) for i in range(count)]
    return max(drops), sum(drops) / count


def measure(folder, file, name, word, method):
    program = os.path.abspath(os.environ.get("YAWARA", "build/yawara"))
    key = "%s_%s" % (name, method)
    subprocess.run([program, "new", key, "--from", file, "--as", word, "--method", method], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    path = os.path.join(folder, key + ".json")
    with open(path) as text:
        scene = json.loads(re.sub(r"(?m)//.*$", "", text.read()))
    body = scene["bodies"][0]
    drop = float(re.search(r"starts at ([0-9.e-]+) of", open(path).read()).group(1))
    # The box is centred, so that its height follows from its place.
    height = body["position"][1] / (0.5 + drop) if "shape" in body else None
    if height is None:
        raise SystemExit("%s: only surfaces can be measured" % file)
    body["position"] = [0, 0.5 * height, 0]
    body["pins"] = [{"select": {"box": {"size": [4, 2 * HELD * height, 4]}}}]
    stiffness = body[method]["youngs_modulus"] / (9.81 * body["density"])
    # Vibrations of what droops by a hundredth: enough damping to be at rest soon.
    body[method]["mass_damping" if method == "fem" else "damping"] = 25.0
    if method == "frames":
        body[method]["solver"] = "implicit"
    scene.update(floor=False, duration=5)
    with open(path, "w") as text:
        json.dump(scene, text)
    run = os.path.join(folder, key + "_run")
    subprocess.run([program, "run", path, "-o", run, "-q", "--frames", "200", "--format", "pc2"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = frames_of(run)
    most, mean = drop_of(rows[0], rows[-80::4])
    return {"name": name, "method": method, "most": most, "mean": mean, "stiffness": stiffness}


def row_of(rows):
    cells = ["%.1f (%.2f)" % (1e3 * r["most"], 1e3 * r["mean"]) for r in rows]
    return "| %s | %.0f | %s |" % (rows[0]["name"], rows[-1]["stiffness"], " | ".join(cells))


def differs(rows):
    """Whether the largest and the smallest droop differ by more than LIMIT."""
    values = [r["most"] for r in rows]
    return max(values) > LEAST and max(values) > LIMIT * min(values)


def main():
    args = sys.argv[1:]
    word, methods = "jelly", METHODS
    if "--word" in args:
        word = args.pop(args.index("--word") + 1)
    if "--methods" in args:
        methods = args.pop(args.index("--methods") + 1).split(",")
    chosen = [a for a in args if not a.startswith("--")] or list(BODIES)
    table = ["| body | E / (rho g L) | " + " | ".join(methods) + " |", "|---|---" + "|---" * len(methods) + "|"]
    print("\n".join(table), flush=True)
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for item in chosen:
            name = os.path.splitext(os.path.basename(item))[0]
            file = os.path.abspath(item) if item not in BODIES else os.path.join(folder, name + ".obj")
            if item in BODIES:
                write_boxes(BODIES[item], file)
            rows = [measure(folder, file, name, word, m) for m in methods]
            table.append(row_of(rows))
            print(table[-1], flush=True)
            if differs(rows):
                bad.append("%s: methods differ by more than %g" % (name, LIMIT))
    if "--write" in args:
        with open(PAGE) as file:
            text = file.read()
        new = BEGIN + "\n" + "\n".join(table) + "\n" + END
        with open(PAGE, "w") as file:
            file.write(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: new, text, flags=re.S))
    print("\n".join(bad))
    if "--check" in args and bad:
        raise SystemExit(1)


main()
