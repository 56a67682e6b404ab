# SPDX-License-Identifier: MIT
"""Run folders as docs/runs.md describes them: bodies, and particles of frames."""
import json
import os

import numpy as np

PARTICLES, BOUNDARY, OWN, EMBEDDED, OWN_OF_FILE = 0, 1, 3, 4, 5
# Fields that hold the velocities of particles, if the run kept them.
VELOCITY = ("vx", "vy", "vz")


class RunError(ValueError):
    """The folder holds no run, or a damaged one."""


class _Reader:
    def __init__(self, path, magic, begin=0, size=-1):
        try:
            with open(path, "rb") as file:
                file.seek(begin)
                self.data, self.at = file.read(size), 8
        except OSError as problem:
            raise RunError(f"{path}: cannot be read: {problem.strerror}") from problem
        if self.data[:8] != magic:
            raise RunError(f"{path}: is not of this version of Yawara")
        self.path = path

    def array(self, kind, count):
        dtype = np.dtype(kind)
        if count < 0 or self.at + count * dtype.itemsize > len(self.data):
            raise RunError(f"{self.path}: is damaged: it ends too early")
        out = np.frombuffer(self.data, dtype, count, self.at)
        self.at += count * dtype.itemsize
        return out

    def number(self):
        return int(self.array("<u4", 1)[0])

    def text(self):
        return self.array("u1", self.number()).tobytes().decode("utf-8", "replace")

    def skip_rows(self, width, count=None):
        self.array("<u4", width * (self.number() if count is None else count))


def info(folder):
    """run.json."""
    path = os.path.join(folder, "run.json")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as problem:
        raise RunError(f"{folder}: holds no run of Yawara (there is no run.json)") from problem
    except ValueError as problem:
        raise RunError(f"{path}: is damaged: {problem}") from problem


def frame_path(folder, number):
    return os.path.join(folder, "frames", f"{number:06d}.ywf")


def _pack_path(folder):
    return os.path.join(folder, "frames.ywp")


def _is_packed(folder):
    try:
        return bool(info(folder).get("packed"))
    except RunError:
        return False


# Of packed runs, as far as they were looked at: path and inode -> where frames end.
_ends = {}


def _pack_ends(path):
    """Where the frames of a packed run end, after the offset where the first begins."""
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            ends = _ends.setdefault((path, state.st_ino), [8])
            if ends[-1] > state.st_size:  # the run was started again
                del ends[1:]
            while True:
                file.seek(ends[-1])
                length = int.from_bytes(file.read(8), "little")
                if length == 0 or ends[-1] + 8 + length > state.st_size:
                    return ends
                ends.append(ends[-1] + 8 + length)
    except OSError:
        return [8]


def last_frame(folder, start=0):
    """Number of the last frame that is there, looking from `start` on; -1: none."""
    if _is_packed(folder):
        return len(_pack_ends(_pack_path(folder))) - 2
    number = max(start, 0)
    while os.path.exists(frame_path(folder, number)):
        number += 1
    return number - 1


class Body:
    """A body of a run: its name, method, kind and number of what is shown."""

    def __init__(self, name, model):
        self.name = name
        self.method, self.kind, self.elements, self.num_surface = model


def _read_model(r):
    method = r.text()
    r.skip_rows(3)
    r.skip_rows(4)
    corners = r.number()
    elements = r.array("<u4", r.number() * (corners or 1)).reshape(-1, corners or 1)
    kind = r.number()
    vertices = r.number()
    r.skip_rows(3, vertices)
    r.skip_rows(3)
    if r.number():
        r.skip_rows(3, vertices)
    if kind == BOUNDARY:
        r.skip_rows(1, vertices)
    if kind == EMBEDDED:
        r.skip_rows(4)
        links = r.number()
        r.skip_rows(1, vertices)
        r.skip_rows(2, links)
        r.text()
    if kind == OWN_OF_FILE:
        kind = OWN
        r.text()
    return method, kind, elements, vertices


def bodies(folder):
    """The bodies of a run, in its order."""
    r = _Reader(os.path.join(folder, "shown.ywr"), b"YWSHOWN3")
    r.array("u1", 4 + 4 * 30)
    models = [_read_model(r) for _ in range(r.number())]
    out = []
    for _ in range(r.number()):
        name, index = r.text(), r.number()
        if index >= len(models):
            raise RunError(f"{r.path}: is damaged: it has no model {index}")
        r.array("u1", 8 + 40 + 4)
        r.skip_rows(3)
        out.append(Body(name, models[index]))
    return out


class FrameBody:
    """A body in a frame: whether it has started, particles (n, 3), their radii and velocities (n, 3),
    or None."""

    def __init__(self, r):
        flags = r.number()
        self.active = bool(flags & 1)
        self.positions = r.array("<f4", 3 * r.number()).reshape(-1, 3)
        if flags & 2:
            r.skip_rows(3)
        self.radii = r.array("<f4", len(self.positions)) if flags & 4 else None
        r.skip_rows(1, len(self.positions) if flags & 32 else 0)
        cells = r.number()
        r.skip_rows(4, cells if flags & 8 else 0)
        r.skip_rows(1, 1 if flags & 16 else 0)
        fields = {}
        for _ in range(r.number()):
            name, _, _ = r.text(), r.text(), r.text()
            fields[name] = r.array("<f4", cells if r.number() else len(self.positions))
        kept = all(name in fields for name in VELOCITY)
        self.velocities = np.stack([fields[name] for name in VELOCITY], axis=1) if kept else None


def _frame_reader(folder, number):
    if not _is_packed(folder):
        return _Reader(frame_path(folder, number), b"YWFRAME4")
    path = _pack_path(folder)
    ends = _pack_ends(path)
    if number + 1 >= len(ends):
        raise RunError(f"{path}: has {len(ends) - 1} frames, but no frame {number}")
    begin = ends[number] + 8
    return _Reader(path, b"YWFRAME4", begin, ends[number + 1] - begin)


def read_frame(folder, number):
    """All bodies of a frame."""
    r = _frame_reader(folder, number)
    r.array("u1", 8 + 4 + 8)
    r.skip_rows(8)
    return [FrameBody(r) for _ in range(r.number())]
