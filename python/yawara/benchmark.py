# SPDX-License-Identifier: MIT
"""Rollouts per second from Python, for `yawara bench rollouts`, which runs the same in C.

usage: python3 -m yawara.benchmark SCENE PATH VARIANTS

SCENE is the text of a scene; its number at PATH goes from 0 to 1. Prints a line for 1 and one for 2
workers: workers, rollouts per second, and all hashes combined.
"""
from __future__ import annotations

import json
import sys
import time

import numpy as np

from . import load, rollout


def main() -> None:
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    scene, path, variants = load(json.loads(sys.argv[1])), sys.argv[2], int(sys.argv[3])
    changes = [{path: i / variants} for i in range(variants)]
    # The first call loads what later ones have.
    rollout(scene, changes[:2], workers=2)
    for workers in (1, 2):
        # As in C: a single thread by its own clock, several by the clock on the wall.
        clock = time.thread_time if workers == 1 else time.perf_counter
        start = clock()
        out = rollout(scene, changes, workers=workers)
        seconds = clock() - start
        print(workers, variants / seconds, f"{np.bitwise_xor.reduce(out.hashes):016x}")


if __name__ == "__main__":
    main()
