#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills yawara run at chosen moments, resumes it, and compares with an undisturbed run.

usage: kill.py YAWARA IO_FAULTS.so KILLS [SEED]

KILLS moments per method: half inside the program's I/O calls (see tests/support/io_faults.c), half
at random times. Full and broken disks and interrupted calls are tried as well. Every frame, every
other file and every number of the log that is no timing must be equal. Prints one line per method,
"ok NAME" or "not ok NAME: why".
"""
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FRAMES = 12
BODIES = {
    "match": {"shape": {"box": {"size": 0.4}}, "match": {}},
    "frames": {"mesh": {"lattice": {"size": 0.4, "cells": [2, 3, 2]}}, "frames": {"youngs_modulus": 1e5}},
    "rod": {"rod": {"line": {"from": [-0.4, 0.1, 0], "to": [0.4, 0.1, 0], "count": 9}, "radius": 0.03},
            "frames": {"youngs_modulus": 1e5}},
    "plastic": {"shape": {"sphere": {"radius": 0.2}},
                "plastic": {"youngs_modulus": 1e4, "yield_stress": 3e2, "spacing": 0.1}},
    "fem": {"mesh": {"lattice": {"size": 0.4, "cells": [2, 2, 2]}},
            "fem": {"youngs_modulus": 3e4, "max_level": 1, "check_interval": 0.02}},
    "rigid": {"shape": {"box": {"size": 0.4}}, "rigid": {}},
}
TIMINGS = {"step (s)", "advance (s)", "contact (s)", "settle (s)"}


class Bench:
    def __init__(self, yawara, faults, folder):
        self.yawara, self.faults, self.folder = yawara, faults, folder
        self.scene = os.path.join(folder, "scene.json")

    def write_scene(self, body):
        body = dict(body, name="body", position=[0, 0.35, 0], velocity=[0.5, -3, 0])
        scene = {"floor": True, "fps": 60, "substeps": 2, "bodies": [body]}
        with open(self.scene, "w") as file:
            json.dump(scene, file)

    def command(self, run, *more):
        return [self.yawara, "run", self.scene, "-o", os.path.join(self.folder, run), "--frames", str(FRAMES),
                "--snapshot-every", "3", "--threads", "1", "-q", *more]

    def run(self, run, fault=None, *more):
        environment = dict(os.environ)
        if fault:
            environment.update(LD_PRELOAD=self.faults, YW_IO_FAULT=fault)
        return subprocess.run(self.command(run, *more), env=environment, capture_output=True, text=True, timeout=120)

    def kill_later(self, run, seconds):
        process = subprocess.Popen(self.command(run), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def contents(self, run):
        """Everything in a run that must not depend on its history."""
        root = os.path.join(self.folder, run)
        found = {}
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                key = os.path.relpath(path, root)
                if key == "snapshot-before.yws":
                    continue  # of whichever frame the last part of the run began with
                with open(path, "rb") as file:
                    found[key] = file.read()
        info = json.loads(found["run.json"])
        info.pop("seconds")
        found["run.json"] = info
        rows = list(csv.reader(found["log.csv"].decode().splitlines()))
        kept = [i for i, title in enumerate(rows[0]) if title not in TIMINGS]
        found["log.csv"] = [[row[i] for i in kept] for row in rows]
        return found


def difference(whole, parts):
    for key in sorted(set(whole) | set(parts)):
        if whole.get(key) != parts.get(key):
            return f"{key} {'differs' if key in whole and key in parts else 'is missing or left over'}"
    return None


def resume_and_compare(bench, whole, what):
    """None, or what went wrong after a disturbance."""
    done = bench.run("parts", None, "--resume")
    if done.returncode != 0:
        return f"{what}: resuming ends with {done.returncode}: {done.stderr.strip()}"
    found = difference(whole, bench.contents("parts"))
    return f"{what}: {found}" if found else None


def try_method(bench, name, kills, draw):
    bench.write_scene(BODIES[name])
    count_file = os.path.join(bench.folder, "count")
    shutil.rmtree(os.path.join(bench.folder, "whole"), ignore_errors=True)
    started = time.monotonic()
    first = bench.run("whole", f"count:{count_file}")
    duration = time.monotonic() - started
    if first.returncode != 0:
        return 0, f"the undisturbed run ends with {first.returncode}: {first.stderr.strip()}"
    whole = bench.contents("whole")
    calls = int(open(count_file).read())
    plans = []
    for kind in ("kill", "killed"):
        plans += [f"{kind}:{n}" for n in sorted(draw.sample(range(calls), min(calls, max(1, kills // 4))))]
    plans += [f"{kind}:{draw.randrange(calls)}" for kind in ("full", "broken", "interrupt") for _ in range(1 + kills // 20)]
    plans += [draw.uniform(0, duration) for _ in range(kills - kills // 2)]
    for plan in plans:
        shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
        if isinstance(plan, float):
            bench.kill_later("parts", plan)
        else:
            done = bench.run("parts", plan)
            expected = {"kill": -9, "killed": -9, "interrupt": 0}.get(plan.split(":")[0], 2)
            if done.returncode != expected:
                return 0, f"{plan} of {calls} ends with {done.returncode}: {done.stderr.strip()}"
        wrong = resume_and_compare(bench, whole, f"{plan} of {calls} calls, {duration:.2f} s")
        if wrong:
            return 0, wrong
    return len(plans), None


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    seed = int(sys.argv[4]) if len(sys.argv) == 5 else 1
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        for name in BODIES:
            tries, wrong = try_method(bench, name, int(sys.argv[3]), random.Random(f"{seed} {name}"))
            failed |= wrong is not None
            print(f"not ok {name}, seed {seed}: {wrong}" if wrong else f"ok {name}: {tries} disturbed runs resumed, 0 lost",
                  flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
