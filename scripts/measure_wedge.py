#!/usr/bin/env python3
"""What a wedge costs beside the steps of its runs (docs/wedge.md, Cost).

usage: scripts/measure_wedge.py [RUNS [ROUNDS]]

RUNS variants (200) of a box of 225 particles, 3 s in 720 substeps, one after another, with 60
frames a second and with 2. First the clock: a wedge with one job, and the plain loop over the same
variants in one process (the Python package: read, build, all steps in one call), in turn, ROUNDS (5) times; the
least of each counts, and the median of the shares of all rounds says how steady they are. Then
instructions of one run by callgrind, where valgrind is installed. YAWARA: the program
(build/yawara); the package is that of its build. PYTHON: one with numpy (/usr/bin/python3).
"""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SCENE = """{"duration": 3, "floor": {"friction": 0.8}, "bodies": [{
  "mesh": {"lattice": {"size": [0.4, 0.8, 0.4], "cells": [4, 8, 4]}}, "position": [0, 1, 0],
  "rotation": {"axis": [1, 0, 1], "degrees": 12}, "match": {"alpha": 0.3}}]}"""
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
PLAIN = ["yw_world_step", "scene_options_read", "yw_scene_build"]
PARTS = [*PLAIN, "start_run", "add_frame", "save_progress"]
FORCES = ["yw_forces_skip", "yw_forces_note_advance", "yw_forces_note_contact"]


def wedge(program, folder, runs, fps, before=()):
    scene = os.path.join(folder, "box.json")
    with open(scene, "w") as file:
        file.write(SCENE)
    sweep = f"bodies[0].match.alpha=0.1..0.9:{runs}"
    subprocess.run([*before, program, "wedge", scene, "-o", os.path.join(folder, "out"), "--sweep",
                    sweep, "--set", f"fps={fps}", "--set", f"substeps={240 // fps}", "--jobs", "1",
                    "--quiet"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.path.join(folder, "out", "runs")


LOOP = """
import resource, sys, time
sys.path.insert(0, sys.argv[1])
import yawara
runs = int(sys.argv[3])
start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
for i in range(runs):
    alpha = 0.1 + 0.8 * i / (runs - 1)
    scene = yawara.load(sys.argv[2], {"bodies[0].match.alpha": alpha}, threads=1)
    world = scene.build(threads=1)
    world.step(3.0, 720)
    world.close()
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.monotonic() - start, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime)
"""


def plain_loop(program, folder, runs):
    """Seconds by the clock and of the processor."""
    package = os.path.join(os.path.dirname(os.path.abspath(program)), "python")
    said = subprocess.run([PYTHON, "-c", LOOP, package, os.path.join(folder, "box.json"), str(runs)],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(word) for word in said.split()]


def time_of_wedge(program, runs, fps):
    with tempfile.TemporaryDirectory() as folder:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        wedge(program, folder, runs, fps)
        clock = time.monotonic() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = (used.ru_utime - before.ru_utime) + (used.ru_stime - before.ru_stime)
        return [clock, processor], plain_loop(program, folder, runs)


def measure_time(program, runs, rounds, fps):
    pairs = [time_of_wedge(program, runs, fps) for _ in range(rounds)]
    for k, kind in enumerate(("by the clock", "of the processor")):
        least = [min(pair[who][k] for pair in pairs) for who in (0, 1)]
        median = statistics.median(pair[0][k] / pair[1][k] for pair in pairs)
        print(f"{runs} runs {kind}: {least[0]:.2f} s, plain loop {least[1]:.2f} s: "
              f"{100 * (least[0] / least[1] - 1):.1f} % more (median {100 * (median - 1):.1f} %)")


def measure_instructions(program, fps):
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile.%p")
        wedge(program, folder, 2, fps, ["valgrind", "--tool=callgrind",
                                        f"--callgrind-out-file={profile}"])
        profiles = [name for name in os.listdir(folder) if name.startswith("profile.")]
        texts = [subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100",
                                 "--tree=calling", os.path.join(folder, name)], check=True,
                                capture_output=True, text=True).stdout for name in profiles]
    found = [text for text in texts if re.search(r"\* +\S*:cmd_run", text)]
    # What cmd_run calls: the process has the counts of the wedge that it was copied from, too, and
    # makes several runs.
    called = found[0][re.search(r"\* +\S*:cmd_run", found[0]).start():].split("\n\n")[0]
    rows = re.findall(r"([\d,]+) \([ \d.%]*\)  > +\S*:(\w+) \((\d+)x\)", called)
    runs = next(int(times) for _, name, times in rows if name == "scene_options_read")
    counts = {name: int(count.replace(",", "")) / runs for count, name, _ in rows}
    whole = sum(counts.values())
    plain = sum(counts[name] for name in PLAIN)
    forces = sum(int(count.replace(",", "")) / runs for count, name in
                 re.findall(r"([\d,]+) \([ \d.%]*\)  \* +\S*:(\w+)", found[0]) if name in FORCES)
    for name in PARTS:
        print(f"{name:28} {counts[name] / 1e6:8.1f} million instructions")
    print(f"{'sums of forces in steps':28} {forces / 1e6:8.1f}")
    print(f"{'a run':28} {whole / 1e6:8.1f}: {100 * (whole - plain) / plain:.1f} % beside steps, "
          f"reading and building the scene; {100 * (whole / (plain - forces) - 1):.1f} % if the sums "
          "of forces count as beside, too")


def main():
    program = os.environ.get("YAWARA", "build/yawara")
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for fps in (60, 2):
        print(f"{fps} frames a second")
        measure_time(program, runs, rounds, fps)
        if shutil.which("valgrind"):
            measure_instructions(program, fps)


if __name__ == "__main__":
    main()
