# SPDX-License-Identifier: MIT
"""PC2 files: what Blender's Mesh Cache modifier plays, and what bodies follow."""
import os
import struct

import numpy as np

_HEADER = struct.Struct("<12siiffi")
_COUNT_AT = 28


class CacheError(ValueError):
    """The file is no point cache, or one of another mesh."""


def read_header(path):
    """Points, first frame and frames of a PC2 file."""
    with open(path, "rb") as file:
        data = file.read(_HEADER.size)
    if len(data) < _HEADER.size or not data.startswith(b"POINTCACHE2\0"):
        raise CacheError(f"{path}: is not a PC2 file")
    _, _, points, start, _, frames = _HEADER.unpack(data)
    return points, start, frames


def read(path, first=0):
    """Frames from `first` on, as (frames, points, 3)."""
    points, _, frames = read_header(path)
    count = max(frames - first, 0)
    data = np.fromfile(path, "<f4", count * points * 3, offset=_HEADER.size + first * points * 12)
    if data.size != count * points * 3:
        raise CacheError(f"{path}: ends in the middle of a frame")
    return data.reshape(count, points, 3)


class Writer:
    """Frames of a PC2 file, which others may read while it grows: the count is written last."""

    def __init__(self, path, points, frames_kept=0):
        self.path, self.points, self.frames = path, points, 0
        if frames_kept and os.path.exists(path):
            there, _, frames = read_header(path)
            if there != points:
                raise CacheError(f"{path}: has {there} points, but the mesh has {points}")
            self.frames = min(frames, frames_kept)
            return
        with open(path, "wb") as file:
            file.write(_HEADER.pack(b"POINTCACHE2\0", 1, points, 0.0, 1.0, 0))

    def append(self, rows):
        """rows: (frames, points, 3)."""
        rows = np.ascontiguousarray(rows, "<f4").reshape(-1, self.points, 3)
        with open(self.path, "r+b") as file:
            file.seek(_HEADER.size + self.frames * self.points * 12)
            file.write(rows.tobytes())
            file.flush()
            self.frames += len(rows)
            file.seek(_COUNT_AT)
            file.write(struct.pack("<i", self.frames))
