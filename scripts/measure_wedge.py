#!/usr/bin/env python3
"""What a wedge costs beside the steps of its runs (docs/wedge.md, Cost).

usage: scripts/measure_wedge.py [RUNS]

RUNS variants (200) of a box of 225 particles, 3 s in 720 substeps, one after another, with 60
frames a second and with 2: processor time of the wedge against the time of the steps as the logs
have it (on a quiet machine), then instructions of one run by callgrind, where valgrind is
installed. YAWARA: the program (build/yawara).
"""
import csv
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

SCENE = """{"duration": 3, "floor": {"friction": 0.8}, "bodies": [{
  "mesh": {"lattice": {"size": [0.4, 0.8, 0.4], "cells": [4, 8, 4]}}, "position": [0, 1, 0],
  "rotation": {"axis": [1, 0, 1], "degrees": 12}, "match": {"alpha": 0.3}}]}"""
PARTS = ["yw_world_step", "scene_options_read", "yw_scene_build", "run_log_append", "write_frame",
         "run_folder_write_snapshot"]


def wedge(program, folder, runs, fps, before=()):
    scene = os.path.join(folder, "box.json")
    with open(scene, "w") as file:
        file.write(SCENE)
    sweep = f"bodies[0].match.alpha=0.1..0.9:{runs}"
    subprocess.run([*before, program, "wedge", scene, "-o", os.path.join(folder, "out"), "--sweep",
                    sweep, "--set", f"fps={fps}", "--set", f"substeps={240 // fps}", "--jobs", "1",
                    "--quiet"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.path.join(folder, "out", "runs")


def measure_time(program, runs, fps):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        logs = wedge(program, folder, runs, fps)
        clock = time.monotonic() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        steps = 0.0
        for run in sorted(os.listdir(logs)):
            with open(os.path.join(logs, run, "log.csv")) as file:
                steps += sum(float(row["step (s)"] or 0) for row in csv.DictReader(file))
    user, system = used.ru_utime - before.ru_utime, used.ru_stime - before.ru_stime
    print(f"{runs} runs: {clock:.2f} s, {user + system:.2f} of the processor, {system:.2f} of these in "
          f"the system (files), {steps:.2f} in steps")


def measure_instructions(program, fps):
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile.%p")
        wedge(program, folder, 2, fps, ["valgrind", "--tool=callgrind",
                                        f"--callgrind-out-file={profile}"])
        profiles = [name for name in os.listdir(folder) if name.startswith("profile.")]
        texts = [subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100",
                                 "--tree=calling", os.path.join(folder, name)], check=True,
                                capture_output=True, text=True).stdout for name in profiles]
    found = [match for match in (re.search(r"\* +\S*:cmd_run", text) for text in texts) if match]
    # What cmd_run calls: the process has the counts of the wedge that it was copied from, too.
    called = found[0].string[found[0].start() :].split("\n\n")[0]
    counts = {name: int(count.replace(",", ""))
              for count, name in re.findall(r"([\d,]+) \([ \d.%]*\)  > +\S*:(\w+)", called)}
    whole = sum(counts.values())
    plain = sum(counts[name] for name in PARTS[:3])
    for name in PARTS:
        print(f"{name:28} {counts[name] / 1e6:8.1f} million instructions")
    print(f"{'a run':28} {whole / 1e6:8.1f}: {100 * (whole - plain) / plain:.1f} % beside steps, "
          "reading and building the scene")


def main():
    program = os.environ.get("YAWARA", "build/yawara")
    for fps in (60, 2):
        print(f"{fps} frames a second")
        measure_time(program, int(sys.argv[1]) if len(sys.argv) > 1 else 200, fps)
        if shutil.which("valgrind"):
            measure_instructions(program, fps)


if __name__ == "__main__":
    main()
