#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A toy stands, and falls from its own height: it sags by less than 10 %, and a second after it has
landed (and sqrt(L) times that where it is larger than 1 m, whose vibrations are as much slower) its
points are as far apart as at rest within 5 %. At 1 cm, 1 m and 10 m.
usage: toys.py YAWARA MODEL METHOD...    prints what does not hold; if all does, kept"""
import json
import math
import re
import struct
import subprocess
import sys


def play(program, scene, run, frames):
    subprocess.run([program, "run", scene, "-o", run, "-q", "-n", str(frames), "--format", "pc2"], check=True)
    with open(next(p for p in subprocess.check_output(["find", run, "-name", "*.pc2"], text=True).split()), "rb") as file:
        data = file.read()
    points, count = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    return [struct.unpack_from("<%df" % (3 * points), data, 32 + 12 * points * f) for f in range(count)]


def apart(points, pairs):
    return [math.dist(points[3 * i:3 * i + 3], points[3 * k:3 * k + 3]) for i, k in pairs]


def heights(points):
    return max(points[1::3]) - min(points[1::3])


def check(program, model, method, size):
    """Whether it does; says so if not."""
    kept = True
    name = "%s_%s_%g" % (model.rsplit(".", 1)[0], method, size)
    subprocess.run([program, "new", name, "--from", model, "--as", "toy", "--method", method, "--fit", "%g" % size],
                   check=True, stdout=subprocess.DEVNULL)
    with open(name + ".json") as file:
        text = file.read()
    scene = json.loads(re.sub(r"(?m)//.*$", "", text))
    body = scene["bodies"][0]
    drop = float(re.search(r"starts at ([0-9.e-]+) of", text).group(1))
    height = body["position"][1] / (0.5 + drop)
    for above, what in ((0.0, "stand"), (height, "fall")):
        body["position"][1] = 0.5 * height + above
        with open(what + "_" + name + ".json", "w") as file:
            json.dump(scene, file)
        frames = round(60 * (math.sqrt(2 * above / 9.81) + max(1.0, math.sqrt(size))))
        rows = play(program, what + "_" + name + ".json", what + "_" + name, frames)
        rest, end = rows[0], rows[-1]
        if above == 0.0:
            sag = 1 - heights(end) / heights(rest)
            if not sag < 0.1:
                kept = False
                print("%s sags by %.3g" % (name, sag))
            continue
        count = len(rest) // 3
        pairs = [(i, (i + count // 2) % count) for i in range(0, count, max(1, count // 50))]
        pairs = [p for p, d in zip(pairs, apart(rest, pairs)) if d > 0.2 * size]
        ratios = [b / a for a, b in zip(apart(rest, pairs), apart(end, pairs))]
        if not (0.95 < min(ratios) and max(ratios) < 1.05):
            kept = False
            print("%s is stretched by %.3g to %.3g" % (name, min(ratios), max(ratios)))
    return kept


results = [check(sys.argv[1], sys.argv[2], how, length) for how in sys.argv[3:] for length in (0.01, 1, 10)]
if all(results):
    print("kept")
