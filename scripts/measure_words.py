#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the words of `yawara run --as` do to a cube of 1 m in match, frames and fem. Words should look
alike in all methods. Two runs each, with nothing but the word and the method:
  standing on its held base, gravity sets in: how far it sags, how fast it vibrates, and how long until
  a tenth of the vibration is left;
  dropped from 0.12 m: how high it bounces.
usage: scripts/measure_words.py [--write] [--check] [WORD...]    needs build/yawara (or YAWARA)
--write replaces the table in docs/materials.md; --check fails where methods differ by more than LIMITS."""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

WORDS = ["jelly", "rubber", "foam", "toy", "clay", "steel"]
METHODS = ["match", "frames", "fem"]
PAGE = "docs/materials.md"
BEGIN, END = "<!-- words: begin -->", "<!-- words: end -->"
DROP = 0.12
# Of the largest over the smallest of the methods; of bounces the difference, in drops.
LIMITS = {"sag": 1.35, "pitch": 1.25, "fade": 2.0, "bounce": 0.15}
LEAST_SAG = 0.002   # less cannot be seen: nor can its vibration


def write_cube(path):
    corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    quads = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
    with open(path, "w") as file:
        for corner in corners:
            file.write("v %g %g %g\n" % corner)
        for quad in quads:
            file.write("f %d %d %d %d\n" % quad)


def heights(run):
    """Lowest and highest y of every frame of the PC2 file of a run."""
    found = [os.path.join(at, n) for at, _, names in os.walk(run) for n in names]
    with open(next(n for n in found if n.endswith(".pc2")), "rb") as file:
        data = file.read()
    points, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    rows = []
    for frame in range(frames):
        y = struct.unpack_from("<%df" % (3 * points), data, 32 + 12 * points * frame)[1::3]
        rows.append((min(y), max(y)))
    return rows


def play(scene, run, frames, settings):
    options = [word for pair in settings for word in ("--set", pair)]
    program = os.environ.get("YAWARA", "build/yawara")
    subprocess.run([program, "run", scene, "-o", run, "-q", "--frames", str(frames), "--format", "pc2"] + options,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return heights(run)


def ring(scene, run):
    """Sag, frequency (1/s) and time to a tenth (s) of a cube that stands on its held base."""
    rate, frames = 240.0, 300
    held = [{"select": {"box": {"size": [2, 0.002, 2]}}}]
    rows = play(scene, run, frames, ["fps=240", "substeps=1", "bodies[0].position=[0, 0.5, 0]", "floor=false",
                                     "bodies[0].pins=" + json.dumps(held)])
    tall = [high for _, high in rows]
    rest = sum(tall[-60:]) / 60
    for _ in range(3):
        passages = [i for i in range(1, len(tall)) if (tall[i] > rest) != (tall[i - 1] > rest)]
        # Whole periods at the end: a vibration that still goes on does not count as sag.
        period = 2 * (passages[-1] - passages[0]) / (len(passages) - 1) if len(passages) > 4 else 60
        whole = round(period * max(1, int(120 / period)))
        rest = sum(tall[-whole:]) / whole
    sag = 1 - rest
    # Swings: the largest distances from rest between two passages, and their times.
    swings, at = [], 0
    for i in passages:
        best = max(range(at, i), key=lambda k: abs(tall[k] - rest))
        swings.append((abs(tall[best] - rest), best))
        at = i
    swings = [s for s in swings if swings and s[0] > 0.05 * swings[0][0]][:12]
    if len(swings) < 3:
        first = next((i for i, h in enumerate(tall) if h - rest < 0.1 * sag), frames)
        return sag, 0.0, first / rate
    span = (swings[-1][1] - swings[0][1]) / rate
    pitch = 0.5 * (len(swings) - 1) / span
    # Of two swings in a row, so that the height around which it swings matters little.
    decay = math.log((swings[0][0] + swings[1][0]) / (swings[-2][0] + swings[-1][0])) / (span - 0.5 / pitch)
    return sag, pitch, math.log(10) / max(decay, 0.1)


def bounce(scene, run):
    rows = play(scene, run, 75, [])
    landed = next((i for i, row in enumerate(rows) if row[0] < 0.01), len(rows) - 1)
    tall = [high - low for low, high in rows[landed:]]
    return max(low for low, _ in rows[landed:]) / DROP, min(tall)


def measure(folder, word, method):
    name = "%s_%s" % (word, method)
    scene = os.path.join(folder, name + ".json")
    program = os.path.abspath(os.environ.get("YAWARA", "build/yawara"))
    subprocess.run([program, "new", name, "--from", "cube.obj", "--as", word, "--method", method], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    sag, pitch, fade = ring(scene, os.path.join(folder, name + "_ring"))
    up, least = bounce(scene, os.path.join(folder, name + "_drop"))
    return {"word": word, "method": method, "sag": sag, "pitch": pitch, "fade": fade, "bounce": up, "least": least}


def row_of(m):
    pitch = "%.1f /s" % m["pitch"] if m["pitch"] > 0 else "none"
    return "| %s | %s | %.2f %% | %s | %.2f s | %.0f %% | %.0f %% |" % (
        m["word"], m["method"], 100 * m["sag"], pitch, m["fade"], 100 * m["least"], 100 * m["bounce"])


def differences(rows):
    """What of a word differs too much between methods."""
    bad = []
    seen = max(m["sag"] for m in rows) >= LEAST_SAG
    for key in ("sag", "pitch", "fade", "bounce"):
        values = [m[key] for m in rows]
        low, high = min(values), max(values)
        if key == "bounce":
            wrong = high - low > LIMITS[key]
        else:
            wrong = seen and high > LIMITS[key] * low and not (key == "pitch" and high == 0)
        if wrong:
            bad.append("%s: %s is %s in %s" % (rows[0]["word"], key, ", ".join("%.3g" % v for v in values),
                                               ", ".join(m["method"] for m in rows)))
    return bad


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")] or WORDS
    table = ["| word | method | sags | vibrates at | to a tenth in | squashed to | bounces to |", "|---|---|---|---|---|---|---|"]
    print("\n".join(table), flush=True)
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        write_cube(os.path.join(folder, "cube.obj"))
        for word in words:
            rows = [measure(folder, word, method) for method in METHODS]
            bad += differences(rows)
            table += [row_of(m) for m in rows]
            print("\n".join(table[-len(rows):]), flush=True)
    if "--write" in sys.argv:
        with open(PAGE) as file:
            text = file.read()
        new = BEGIN + "\n" + "\n".join(table) + "\n" + END
        with open(PAGE, "w") as file:
            file.write(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: new, text, flags=re.S))
    for line in bad:
        print(line)
    if "--check" in sys.argv and bad:
        raise SystemExit(1)


main()
