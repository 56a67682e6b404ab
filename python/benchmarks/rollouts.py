#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rollouts per second from Python and from C (`yawara bench rollouts`), in turn; the best of each.
usage: rollouts.py PROGRAM [REPETITIONS]"""
import json
import subprocess
import sys
import time

import yawara

# As in studies/bench/bench_rollout.c.
SCENE = {
    "floor": True, "fps": 60, "frames": 120, "substeps": 4, "bodies": [{
        "mesh": {"lattice": {"size": [1, 2, 1], "cells": [4, 8, 4]}},
        "position": [0, 1.2, 0], "match": {"beta": 0.9, "stiffness": 100},
        "examples": [{"deform": {"twist": {"axis": "y", "degrees": 60}}}],
    }],
}
VARIANTS = 64
TARGET = 0.95


def python_speed(scene, workers):
    changes = [{"bodies[0].match.beta": i / VARIANTS} for i in range(VARIANTS)]
    # As in C: a single thread by its own clock, several by the clock on the wall.
    clock = time.thread_time if workers == 1 else time.perf_counter
    start = clock()
    yawara.rollout(scene, changes, workers=workers)
    return VARIANTS / (clock() - start)


def c_speed(program):
    said = subprocess.run([program, "bench", "rollouts", "--json", "--repetitions", "1"], check=True,
                          stdout=subprocess.PIPE).stdout
    return {row["threads"]: row["value"] for row in map(json.loads, said.splitlines())}


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    scene, best, best_c = yawara.load(SCENE), {1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0}
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 7):
        for threads, speed in c_speed(sys.argv[1]).items():
            best_c[threads] = max(best_c[threads], speed)
        for workers in best:
            best[workers] = max(best[workers], python_speed(scene, workers))
    print("rollouts, 225 particles, 120 frames: threads, Python 1/s, C 1/s, ratio")
    for workers, speed in best.items():
        ratio = speed / best_c[workers]
        print(f"{workers:3d} {speed:10.1f} {best_c[workers]:10.1f} {ratio:8.3f} "
              f"{'PASS' if ratio >= TARGET else 'MISS'} (>= {TARGET})")


if __name__ == "__main__":
    main()
