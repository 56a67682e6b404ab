#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the words of `yawara run --as` do to a cube in match, frames and fem: a table of how far it
sags, how high it bounces and how fast it vibrates. Words should look alike in all methods.
usage: scripts/measure_words.py [WORD...]    needs build/yawara"""
import os
import struct
import subprocess
import sys
import tempfile

WORDS = ["jelly", "rubber", "foam", "toy", "clay", "steel"]
METHODS = ["match", "frames", "fem"]
FRAMES = 150
RATE = 60.0


def write_cube(path):
    corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    quads = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
    with open(path, "w") as file:
        for corner in corners:
            file.write("v %g %g %g\n" % corner)
        for quad in quads:
            file.write("f %d %d %d %d\n" % quad)


def heights(path):
    """Lowest and highest y of every frame of a PC2 file."""
    with open(path, "rb") as file:
        data = file.read()
    points, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    rows = []
    for frame in range(frames):
        y = struct.unpack_from("<%df" % (3 * points), data, 32 + 12 * points * frame)[1::3]
        rows.append((min(y), max(y)))
    return rows


def measure(cube, word, method, folder):
    run = os.path.join(folder, word + "_" + method)
    subprocess.run(
        ["build/yawara", "run", cube, "--as", word, "--method", method, "-o", run, "-q",
         "--frames", str(FRAMES), "--format", "pc2"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = [os.path.join(at, n) for at, _, names in os.walk(run) for n in names]
    rows = heights(next(n for n in found if n.endswith(".pc2")))
    size = rows[0][1] - rows[0][0]
    drop = rows[0][0]
    landed = next(i for i, row in enumerate(rows) if row[0] < 0.01 * size)
    bounce = max(low for low, _ in rows[landed:])
    tall = [high - low for low, high in rows[landed:]]
    rest = sum(tall[-20:]) / 20
    crossings = [i for i in range(1, len(tall)) if (tall[i] > rest) != (tall[i - 1] > rest)]
    pitch = 0.0
    if len(crossings) > 2:
        pitch = 0.5 * (len(crossings) - 1) * RATE / (crossings[-1] - crossings[0])
    return 1 - rest / size, bounce / drop if drop > 0 else 0.0, min(tall) / size, pitch


def main():
    words = sys.argv[1:] or WORDS
    print("| word | method | sag | squashed to | bounce | vibration |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        cube = os.path.join(folder, "cube.obj")
        write_cube(cube)
        for word in words:
            for method in METHODS:
                sag, bounce, least, pitch = measure(cube, word, method, folder)
                print("| %s | %s | %.2f %% | %.0f %% | %.0f %% | %.1f /s |"
                      % (word, method, 100 * sag, 100 * least, 100 * bounce, pitch), flush=True)


main()
