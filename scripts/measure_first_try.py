#!/usr/bin/env python3
"""How long a first try of a large model takes: the table "Time" of docs/models.md.

usage: scripts/measure_first_try.py MODEL.obj [--yawara build/yawara] [--split 2] [--frames 1 60] [--only fem]

Every triangle of the model is divided into four, --split times. Prints a row per word and method and
number of frames: seconds by the clock, and of processor time of the main thread and of all others.
Linux only.
"""
import argparse
import glob
import os
import subprocess
import tempfile
import time

CASES = [("jelly", "match"), ("jelly", "frames"), ("jelly", "fem"), ("clay", "plastic"), ("clay", "fem"),
         ("cloth", "slender")]


def read_obj(path):
    vertices, faces = [], []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[:1] == ["v"]:
                vertices.append(tuple(float(x) for x in words[1:4]))
            elif words[:1] == ["f"]:
                corners = [int(word.split("/")[0]) - 1 for word in words[1:]]
                faces += [(corners[0], a, b) for a, b in zip(corners[1:], corners[2:])]
    return vertices, faces


def split(vertices, faces):
    middles, out = {}, []

    def middle(a, b):
        key = (min(a, b), max(a, b))
        if key not in middles:
            middles[key] = len(vertices)
            vertices.append(tuple(0.5 * (x + y) for x, y in zip(vertices[a], vertices[b])))
        return middles[key]

    for a, b, c in faces:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        out += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return out


def write_obj(path, vertices, faces):
    with open(path, "w") as file:
        file.writelines("v %.7g %.7g %.7g\n" % v for v in vertices)
        file.writelines("f %d %d %d\n" % tuple(i + 1 for i in f) for f in faces)


def seconds_of_threads(pid):
    found = {}
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(path) as file:
                words = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[path.split("/")[4]] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return found


def measure(command):
    start, threads = time.time(), {}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        threads.update(seconds_of_threads(process.pid))
        time.sleep(0.01)
    if process.returncode != 0:
        raise SystemExit(" ".join(command) + f" failed with {process.returncode}")
    main = threads.get(str(process.pid), 0.0)
    return time.time() - start, main, sum(threads.values()) - main


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--yawara", default="build/yawara")
    parser.add_argument("--split", type=int, default=2)
    parser.add_argument("--frames", type=int, nargs="+", default=[1, 60])
    parser.add_argument("--only", help="one method")
    options = parser.parse_args()
    vertices, faces = read_obj(options.model)
    for _ in range(options.split):
        faces = split(vertices, faces)
    print(f"{len(faces)} triangles\n\n| | frames | by the clock | main thread | others |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.obj")
        write_obj(model, vertices, faces)
        for word, method in CASES:
            for frames in options.frames if options.only in (None, method) else []:
                run = [options.yawara, "run", model, "--as", word, "--method", method, "-q",
                       "-n", str(frames), "-o", os.path.join(folder, "run")]
                row = measure(run)
                print(f"| `--as {word} --method {method}` | {frames} | " + " | ".join("%.1f s" % t for t in row) + " |",
                      flush=True)


if __name__ == "__main__":
    main()
