# SPDX-License-Identifier: MIT
"""A bake: the program at work in a process of its own, and its frames on their way to Blender."""
import json
import os
import shutil
import time

from . import program, runfiles
from .arrival import Arrival, Target

RUNNING, DONE, STOPPED, FAILED = "running", "done", "stopped", "failed"
# s after which a run that was asked to stop is ended.
PATIENCE = 20.0
# s between two looks at the frames: a look costs the program's start.
INTERVAL = 1.0


def clear(folder):
    """Removes an earlier bake from its folder, and nothing else."""
    for name in ("run", "caches", "files"):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    for name in ("scene.json", "bake.json", "log.txt"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))


def save(folder, record):
    """Keeps what a bake is of, next to it, so that it can be resumed later."""
    with open(os.path.join(folder, "bake.json"), "w", encoding="utf-8") as file:
        json.dump(record, file, ensure_ascii=False)


def load(folder):
    """What save kept; None if there is no bake."""
    try:
        with open(os.path.join(folder, "bake.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


class Job:
    """One bake. record: bodies (object, name, kind, matrices), places, frames, unit."""

    def __init__(self, tool, folder, record):
        self.tool, self.folder, self.record = tool, folder, record
        self.run = os.path.join(folder, "run")
        self.frames = record["frames"]
        self.state, self.message, self.culprit, self.process = STOPPED, "", None, None
        targets = [Target(i, body["name"], body["kind"], body.get("matrices"))
                   for i, body in enumerate(record["bodies"])]
        self.arrival = Arrival(tool, self.run, os.path.join(folder, "caches"), targets, record["unit"])
        self._stop_at = self._looked = self._began = 0.0
        self._first = 0

    def start(self, resume=False, threads=0):
        """Starts the program; resume: after the frames of an earlier bake."""
        arguments = ["run", os.path.join(self.folder, "scene.json"), "-o", self.run, "--snapshot-every", "10"]
        if threads > 0:
            arguments += ["--threads", str(threads)]
        if any(body["kind"] == "particles" for body in self.record["bodies"]):
            # Particles come and go: motion blur needs their velocities.
            arguments += ["--fields", "velocity"]
        if resume and os.path.exists(os.path.join(self.run, "snapshot.yws")):
            arguments.append("--resume")
            self.arrival.keep(self.frames + 1)
        else:
            self.arrival.taken = 0
        self._first = self.arrival.taken
        self.process = program.start(self.tool, arguments, os.path.join(self.folder, "log.txt"))
        self.state, self.message, self.culprit = RUNNING, "", None
        self._began, self._stop_at, self._looked = time.monotonic(), 0.0, 0.0

    def stop(self):
        """Asks the program to stop after its frame."""
        if self.state == RUNNING:
            program.stop(self.process)
            self._stop_at = self._stop_at or time.monotonic() + PATIENCE

    def give_up(self, message):
        """Stops because the frames cannot be shown."""
        self.stop()
        self._fail(message)

    def poll(self):
        """Takes new frames and says how the bake stands."""
        if self.state != RUNNING:
            return self.state
        code = self.process.poll()
        now = time.monotonic()
        if code is None and self._stop_at and now > self._stop_at:
            self.process.kill()
        if code is None and now - self._looked < INTERVAL:
            return self.state
        self._looked = now
        try:
            self.arrival.take()
        except (program.ProgramError, runfiles.RunError, OSError) as problem:
            # A run that has just begun may still be writing what is shown.
            if code is not None:
                self._fail(str(problem))
        if code is not None and self.state == RUNNING:
            self._end(code)
        return self.state

    def wait(self):
        """Until the end; for scripts and tests."""
        while self.poll() == RUNNING:
            time.sleep(0.02)
        return self.state

    def _fail(self, message):
        names = {body["name"]: body["object"] for body in self.record["bodies"]}
        self.culprit = program.culprit(message, self.record["places"], names)
        named = not self.culprit or message.startswith(f'"{self.culprit}"')
        self.state, self.message = FAILED, message if named else f'"{self.culprit}": {message}'

    def _end(self, code):
        with open(os.path.join(self.folder, "log.txt"), encoding="utf-8", errors="replace") as file:
            text = file.read()
        if self._stop_at:
            self.state, self.message = STOPPED, f"stopped after frame {self.arrival.taken - 1}"
        elif code == 0:
            self.state, self.message = DONE, "; ".join(program.warnings(text))
        else:
            self._fail(program.summary(text, code))

    @property
    def done(self):
        """Frames that Blender can show, without the first."""
        return max(self.arrival.taken - 1, 0)

    @property
    def seconds_left(self):
        """Estimate; None before it can be made."""
        made = self.arrival.taken - self._first
        if self.state != RUNNING or made < 2:
            return None
        return (time.monotonic() - self._began) / made * (self.frames - self.done)
