#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills yawara run at chosen moments, resumes it, and compares with an undisturbed run.

usage: kill.py YAWARA IO_FAULTS.so KILLS [SEED]

KILLS moments per method: half inside the program's I/O calls (see tests/support/io_faults.c), half
at random times. Full and broken disks, interrupted calls, a clock that is set back, a folder that is
deleted under the run, power that fails (power.py), a second program in the folder, another version, and (where file systems can
be mounted) a small disk that is full and one that becomes read-only are tried as well. Every frame,
every other file and every number of the log that is no timing must be equal. Prints one line per
method, "ok NAME" or "not ok NAME: why".
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

import power

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
        self.power = os.path.join(os.path.dirname(faults), "io_power.so")
        self.scene = os.path.join(folder, "scene.json")
        self.packed = False

    def write_scene(self, body):
        body = dict(body, name="body", position=[0, 0.35, 0], velocity=[0.5, -3, 0])
        scene = {"floor": True, "fps": 60, "substeps": 2, "bodies": [body]}
        with open(self.scene, "w") as file:
            json.dump(scene, file)

    def command(self, run, *more):
        return [self.yawara, "run", self.scene, "-o", os.path.join(self.folder, run), "--frames", str(FRAMES),
                "--snapshot-every", "3", "--threads", "1", "-q", *(["--pack"] if self.packed else []), *more]

    def run(self, run, fault=None, *more):
        faults = {"LD_PRELOAD": self.faults, "YW_IO_FAULT": fault} if fault else {}
        return self.run_with(run, *more, YW_IO_REMOVE=os.path.join(self.folder, run), **faults)

    def run_with(self, run, *more, **environment):
        return subprocess.run(self.command(run, *more), env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)

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


def try_deleted(bench, whole, calls, draw):
    """The folder is deleted under a run: an error that names a file of it, and the next run is as if nothing had been."""
    done = bench.run("parts", f"remove:{draw.randrange(calls)}")
    if done.returncode not in (0, 2) or (done.returncode == 2 and "parts" not in done.stderr):
        return f"a deleted folder: ends with {done.returncode}: {done.stderr.strip()}"
    shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
    done = bench.run("parts")
    found = difference(whole, bench.contents("parts")) if done.returncode == 0 else done.stderr.strip()
    return f"after a deleted folder: {found}" if found else None


def try_two(bench, whole):
    """A second program in the folder refuses, and harms nothing."""
    shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
    first = subprocess.Popen(bench.command("parts"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(os.path.join(bench.folder, "parts", "run.json")) and first.poll() is None:
        time.sleep(0.001)
    first.send_signal(signal.SIGSTOP)
    running = first.poll() is None
    second = bench.run("parts", None, "--resume")
    first.send_signal(signal.SIGCONT)
    if first.wait() != 0 or (running and (second.returncode != 2 or "parts" not in second.stderr)):
        return f"two programs: the first ends with {first.returncode}, the second with {second.returncode}: {second.stderr.strip()}"
    found = difference(whole, bench.contents("parts"))
    return f"two programs: {found}" if found else None


def try_version(bench, whole, draw):
    """A run of another version is resumed with a word about it."""
    shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
    bench.run("parts", None, "--frames", str(draw.randrange(1, FRAMES)))
    path = os.path.join(bench.folder, "parts", "run.json")
    with open(path) as file:
        text = file.read()
    made_by = json.loads(text)["made_by"]
    with open(path, "w") as file:
        file.write(text.replace(f'"{made_by}"', '"0.0.7"'))
    done = bench.run("parts", None, "--resume")
    found = difference(whole, bench.contents("parts")) if done.returncode == 0 else done.stderr.strip()
    if found or "0.0.7" not in done.stderr:
        return f"another version: {found}, {done.stderr.strip()}"
    return None


# The run fills a small disk, which is enlarged; then the disk becomes read-only for a while.
SMALL_DISK = r"""
mount -t tmpfs -o size=$2 tmpfs "$1" || exit 77
shift 2
"$@" && { echo "a full disk ends with 0" >&2; exit 1; }
[ $? -eq 2 ] || { echo "a full disk does not end with 2" >&2; exit 1; }
[ -z "$(find "$FOLDER" -name '*tmp*')" ] || { echo "a full disk leaves parts of files" >&2; exit 1; }
mount -o remount,size=64m,ro "$FOLDER"
"$@" --resume && { echo "a read-only disk ends with 0" >&2; exit 1; }
[ $? -eq 2 ] || { echo "a read-only disk does not end with 2" >&2; exit 1; }
mount -o remount,rw "$FOLDER"
"$@" --resume || "$@" || exit 1
cp -r "$FOLDER/parts" "$RESULT"
"""


def try_small_disk(bench, whole, draw):
    """None, what went wrong, or False where file systems cannot be mounted."""
    mounted = os.path.join(bench.folder, "mounted")
    os.makedirs(mounted, exist_ok=True)
    shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
    size = sum(len(content) for content in whole.values() if isinstance(content, bytes))
    command = bench.command("parts")
    command[command.index("-o") + 1] = os.path.join(mounted, "parts")
    done = subprocess.run(["unshare", "-m", "bash", "-c", SMALL_DISK, "bash", mounted, str(draw.randrange(20000, max(30000, size))), *command],
                          env=dict(os.environ, FOLDER=mounted, RESULT=os.path.join(bench.folder, "parts")), capture_output=True, text=True)
    if done.returncode == 77 or "unshare" in done.stderr:
        return False
    found = difference(whole, bench.contents("parts")) if done.returncode == 0 else done.stderr.strip()
    return f"a small disk: {found}" if found else None


def try_power(bench, whole, tries, draw):
    """(number of runs, what went wrong) of runs whose power fails: they resume, from a snapshot if one was safe."""
    shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
    most = power.count_operations(bench, "parts")
    for tried in range(tries):
        shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
        at, safe = power.fail(bench, "parts", draw, most)
        left = os.path.join(bench.folder, "left")
        shutil.rmtree(left, ignore_errors=True)
        if os.path.exists(os.path.join(bench.folder, "parts")):
            shutil.copytree(os.path.join(bench.folder, "parts"), left)
        done = bench.run("parts", None, "--resume")
        if done.returncode != 0:
            return tried, f"power fails at {at} of {most}: resuming ends with {done.returncode}: {done.stderr.strip()}"
        if safe and ("beginning" in done.stderr or "no run" in done.stderr):
            return tried, f"power fails at {at} of {most}: a snapshot is lost: {done.stderr.strip()}"
        found = difference(whole, bench.contents("parts"))
        if found:
            return tried, f"power fails at {at} of {most}: {found}"
    return tries, None


def try_places(bench, whole, calls, draw):
    """(number of runs, what went wrong)."""
    tried = 0
    for attempt in (lambda: try_deleted(bench, whole, calls, draw), lambda: try_two(bench, whole), lambda: try_version(bench, whole, draw),
                    lambda: try_small_disk(bench, whole, draw)):
        wrong = attempt()
        if wrong:
            return 0, wrong
        tried += wrong is None
    return tried, None


def try_method(bench, name, kills, draw, places):
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
    plans += [f"{kind}:{draw.randrange(calls)}" for kind in ("full", "broken", "interrupt", "clock") for _ in range(1 + kills // 20)]
    plans += [draw.uniform(0, duration) for _ in range(max(1, kills - 2 * (kills // 4)))]
    for plan in plans:
        shutil.rmtree(os.path.join(bench.folder, "parts"), ignore_errors=True)
        if isinstance(plan, float):
            bench.kill_later("parts", plan)
        else:
            done = bench.run("parts", plan)
            expected = {"kill": -9, "killed": -9, "interrupt": 0, "clock": 0}.get(plan.split(":")[0], 2)
            if done.returncode != expected:
                return 0, f"{plan} of {calls} ends with {done.returncode}: {done.stderr.strip()}"
        wrong = resume_and_compare(bench, whole, f"{plan} of {calls} calls, {duration:.2f} s")
        if wrong:
            return 0, wrong
    tried, wrong = try_power(bench, whole, max(1, kills // 2), draw)
    if wrong:
        return 0, wrong
    more, wrong = try_places(bench, whole, calls, draw) if places else (0, None)
    return len(plans) + tried + more, wrong


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    seed = int(sys.argv[4]) if len(sys.argv) == 5 else 1
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        kills = int(sys.argv[3])
        for i, name in enumerate(BODIES):
            # Short tests try bad places with one method: what happens there hardly depends on it.
            places = kills >= 10 or i == seed % len(BODIES)
            # Half of the methods with frames in one file, the other half with the next seed.
            bench.packed = (i + seed) % 2 == 0
            layout = "packed" if bench.packed else "a file for each frame"
            tries, wrong = try_method(bench, name, kills, random.Random(f"{seed} {name}"), places)
            failed |= wrong is not None
            print(f"not ok {name}, {layout}, seed {seed}: {wrong}" if wrong else f"ok {name}: {tries} disturbed runs resumed, 0 lost",
                  flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
