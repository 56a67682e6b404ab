# SPDX-License-Identifier: MIT
"""Frames of a run, as they appear, into the point caches that Blender plays."""
import os
import re
import shutil

import numpy as np

from . import axes, pointcache, program, runfiles
from .scene import clean

# What a body becomes: vertices of a surface that the program moves, or its particles themselves.
SURFACES = ("volume", "rigid", "rod")


class Target:
    """Where a body of a run goes: a cache of an object.

    kind: "volume", "rigid", "rod", "sheet" or "particles"; matrices: of the object, one or one per
    frame, since caches hold coordinates relative to it."""

    def __init__(self, index, name, kind, matrices=None):
        self.index, self.name, self.kind = index, name, kind
        self.inverses = [np.linalg.inv(np.asarray(m, float)) for m in (matrices or [np.eye(4)])]
        self.writer = self.velocity_writer = None

    def _inverse(self, frame):
        return self.inverses[min(frame, len(self.inverses) - 1)]

    def relative(self, frame, points):
        return axes.apply(self._inverse(frame), points)

    def relative_direction(self, frame, vectors):
        return (vectors @ self._inverse(frame)[:3, :3].T).astype(np.float32)


class Arrival:
    """Takes the frames of a run folder that are not taken yet. caches: folder for the PC2 files."""

    def __init__(self, tool, run, caches, targets, unit=1.0):
        self.tool, self.run, self.caches, self.targets, self.unit = tool, run, caches, targets, unit
        self.taken = 0
        os.makedirs(caches, exist_ok=True)

    def cache_path(self, target):
        return os.path.join(self.caches, f"{clean(target.name)}_{target.index:03d}.pc2")

    def velocity_path(self, target):
        """Velocities of particles, as a cache like that of their positions; there if the run kept them."""
        return self.cache_path(target)[:-4] + ".velocity.pc2"

    def keep(self, frames):
        """Goes on after frames that were taken earlier, if all caches have them."""
        paths = [self.cache_path(t) for t in self.targets]
        paths += [self.velocity_path(t) for t in self.targets if os.path.exists(self.velocity_path(t))]
        there = [pointcache.read_header(path)[2] if os.path.exists(path) else 0 for path in paths]
        self.taken = min([frames, *there])

    def take(self):
        """Takes what is there; returns how many frames are taken in all."""
        last = runfiles.last_frame(self.run, self.taken)
        if last < self.taken or not os.path.exists(os.path.join(self.run, "run.json")):
            return self.taken
        surfaces = self._export() if any(t.kind in SURFACES for t in self.targets) else {}
        last = min([last] + [self.taken + len(rows) - 1 for rows in surfaces.values()])
        frames = [runfiles.read_frame(self.run, n) for n in range(self.taken, last + 1)] \
            if any(t.kind not in SURFACES for t in self.targets) else None
        for target in self.targets:
            if target.kind in SURFACES:
                rows = surfaces[target.index][:last + 1 - self.taken]
            else:
                rows = self._particles(target, frames)
                self._append_velocities(target, frames, len(rows[0]))
            self._append(target, rows)
        self.taken = last + 1
        return self.taken

    def _export(self):
        """Surfaces of all bodies, by their number, from the next frame on."""
        folder = os.path.join(self.caches, "arriving")
        program.call(self.tool, ["export", self.run, "--format", "pc2", "--from", str(self.taken),
                                 "-o", folder, "--thick", "--quiet"])
        files = [name for name in os.listdir(os.path.join(folder, "pc2")) if name.endswith(".pc2")]
        out = {}
        for target in self.targets:
            if target.kind not in SURFACES:
                continue
            name = surface_file(files, target.index)
            if name is None:
                raise program.ProgramError(f'{self.run}: body "{target.name}" has no surface to show')
            out[target.index] = pointcache.read(os.path.join(folder, "pc2", name))
        for target in self.targets:
            if target.kind == "rod" and self.taken == 0:
                source = os.path.join(folder, "pc2", surface_file(files, target.index)[:-4] + ".obj")
                shutil.copyfile(source, self.cache_path(target)[:-4] + ".obj")
        shutil.rmtree(folder, ignore_errors=True)
        return out

    def _particles(self, target, frames):
        """Particles; where their number changes, later ones wait at the first until they appear."""
        rows = [frame[target.index].positions for frame in frames]
        most = max(len(row) for row in rows)
        if target.kind == "sheet":
            return rows
        if target.writer is None and os.path.exists(self.cache_path(target)) and self.taken:
            most = max(most, pointcache.read_header(self.cache_path(target))[0])
        elif target.writer is not None:
            most = max(most, target.writer.points)
        return [np.vstack([row, np.repeat(row[:1], most - len(row), axis=0)]) for row in rows]

    def _append_velocities(self, target, frames, points):
        """Velocities, in Blender's units per second. Points that wait move with the first."""
        rows = [frame[target.index].velocities for frame in frames]
        if target.kind != "particles" or any(row is None for row in rows):
            return
        path = self.velocity_path(target)
        target.velocity_writer = self._writer(target.velocity_writer, path, points)
        wide = [np.vstack([row, np.repeat(row[:1], points - len(row), axis=0)]) for row in rows]
        target.velocity_writer.append(
            [target.relative_direction(self.taken + k, axes.to_blender(row, self.unit)) for k, row in enumerate(wide)])

    def _writer(self, writer, path, points):
        """A writer for so many points, after the frames that were taken."""
        if writer is not None and writer.points == points:
            return writer
        if self.taken and os.path.exists(path) and pointcache.read_header(path)[0] != points:
            self._widen(path, points)
        return pointcache.Writer(path, points, self.taken)

    def _append(self, target, rows):
        target.writer = self._writer(target.writer, self.cache_path(target), len(rows[0]))
        target.writer.append([target.relative(self.taken + k, axes.to_blender(row, self.unit))
                              for k, row in enumerate(rows)])

    def _widen(self, path, points):
        """Gives the frames of a cache more points: copies of the first."""
        old = pointcache.read(path)[:self.taken]
        more = np.repeat(old[:, :1], points - old.shape[1], axis=1)
        pointcache.Writer(path, points).append(np.concatenate([old, more], axis=1))


def surface_file(files, index):
    """The file of a body among those that the program exported."""
    if index == 0 and len(files) == 1 and not re.search(r"_\d{3,}\.\w+$", files[0]):
        return files[0]
    return next((name for name in files if re.search(rf"_{index:03d}\.\w+$", name)), None)
