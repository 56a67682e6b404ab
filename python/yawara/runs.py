# SPDX-License-Identifier: MIT
"""Runs on disk, written by `yawara run`, as arrays. docs/runs.md describes the files."""
from __future__ import annotations

import csv
import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, Optional

import numpy as np

from . import _convert as convert
from . import meshes, shown
from .errors import FileError, FormatError, InvalidError


class _Reader:
    """Numbers of a binary file, one after another; refuses files that end too early."""

    def __init__(self, path: pathlib.Path, kind: bytes, data: Optional[bytes] = None) -> None:
        self.path, self.at = path, 8
        self.data = _bytes_of(path) if data is None else data
        if self.data[:8] != kind:
            raise FormatError(f"{path}: is no {kind[:7].decode().lower()} of this version "
                              f"({kind.decode()}): it starts with {self.data[:8]!r}")

    def take(self, dtype: Any, count: int) -> np.ndarray:
        size = np.dtype(dtype).itemsize * count
        # The last 8 bytes are the hash of the file.
        if self.at + size > len(self.data) - 8:
            raise FormatError(f"{self.path}: ends too early, at byte {self.at}: run it again")
        out = np.frombuffer(self.data, dtype, count, self.at)
        self.at += size
        return out

    def number(self) -> int:
        return int(self.take("<u4", 1)[0])

    def text(self) -> str:
        return self.take("u1", self.number()).tobytes().decode("utf-8", "replace")

    def vectors(self, count: Optional[int] = None) -> np.ndarray:
        return self.take("<f4", 3 * (self.number() if count is None else count)).reshape(-1, 3)

    def rows(self, width: int) -> np.ndarray:
        return self.take("<i4", width * self.number()).reshape(-1, width)


def _bytes_of(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise FileError(f"{path}: cannot be read: {problem.strerror}") from None


class RunModel:
    """What does not change: rest points (m), tets, elements of rods and sheets, and the surface."""

    def __init__(self, r: _Reader) -> None:
        self.method = r.text()
        self.points = r.vectors()
        self.tets = r.rows(4)
        corners = r.number()
        self.elements = r.rows(max(corners, 1))
        self.kind = r.number()
        self.surface_points = r.vectors()
        self.triangles = r.rows(3)
        self.colors = r.vectors(len(self.surface_points)) if r.number() else None
        vertices = len(self.surface_points)
        if self.kind == 1:
            self.follow = r.take("<i4", vertices)
        elif self.kind == 4:
            carriers = r.rows(4)
            self.carriers = carriers if len(carriers) else self.tets
            total = r.number()
            self.counts = r.take("<u4", vertices)
            self.links = r.take(np.dtype([("vertex", "<i4"), ("weight", "<f4")]), total)
            r.text()
        elif self.kind == 5:
            self.kind = shown.OWN
            r.text()
        self._walls: Optional[np.ndarray] = None
        self._rig: Optional[shown.Rig] = None
        self._check(r)

    def _check(self, r: _Reader) -> None:
        most = len(self.points)
        for name, table, limit in (("tets", self.tets, most), ("triangles", self.triangles,
                                                               len(self.surface_points)),
                                   ("links", self.links["vertex"] if self.kind == 4 else self.tets[:0], most),
                                   ("carriers", getattr(self, "carriers", self.tets), most),
                                   ("surface", getattr(self, "follow", self.tets[:0]), most)):
            if len(table) and (table.min() < 0 or table.max() >= limit):
                raise FormatError(f"{r.path}: {name} of a model name a vertex that is not there")
        if self.kind == 4 and int(self.counts.sum()) != len(self.links):
            raise FormatError(f"{r.path}: the links of a surface do not add up")

    @property
    def walls(self) -> np.ndarray:
        """Boundary of the tets, (n, 3)."""
        if self._walls is None:
            self._walls = shown.walls_of(self.points, self.tets)
        return self._walls

    def surface_of(self, positions: np.ndarray) -> np.ndarray:
        """Vertices of the surface for positions of the particles."""
        if self.kind == shown.BOUNDARY:
            return positions[self.follow]
        if self._rig is None:
            self._rig = shown.Rig(self.points, self.carriers, self.surface_points, self.counts, self.links)
        return self._rig.move(positions)


class RunBody:
    """A body in one frame of a run.

    Attributes:
        name: not necessarily unique.
        active: False while it waits for its start.
        positions: (n, 3), m.
        radii: (n,), m, of loose particles and of plastic bodies, or None.
        parted: (n,), 0 to 1, of plastic bodies: where their surface no longer holds; None: it holds.
        fields: values by name; units has theirs.
    """

    _frame: "RunFrame"
    _index: int

    def __init__(self, name: str, model: RunModel, r: _Reader) -> None:
        self.name, self.model = name, model
        flags = r.number()
        self.active = bool(flags & 1)
        self.positions = r.vectors()
        self._surface = r.vectors() if flags & 2 else None
        self.radii = r.take("<f4", len(self.positions)) if flags & 4 else None
        self.parted = r.take("<f4", len(self.positions)) if flags & 32 else None
        number = r.number()
        self.cells: Optional[np.ndarray] = None
        self._cells_in: Optional[int] = None
        if flags & 8:
            self.cells = r.take("<i4", 4 * number).reshape(-1, 4)
        elif flags & 16:
            self._cells_in = r.number()
        else:
            self.cells = model.tets if len(model.tets) else None
        self.fields: Dict[str, np.ndarray] = {}
        self.units: Dict[str, str] = {}
        self.per_cell: Dict[str, bool] = {}
        for _ in range(r.number()):
            title, unit, _meaning, per_cell = r.text(), r.text(), r.text(), bool(r.number())
            self.fields[title] = r.take("<f4", number if per_cell else len(self.positions))
            self.units[title], self.per_cell[title] = unit, per_cell

    @property
    def surface(self) -> Optional[meshes.TriMesh]:
        """What pictures and exports show: the surface as it follows the particles, kept apart from other
        bodies and obstacles; None for loose particles."""
        place = self._frame.surfaces[self._index]
        if place is None:
            return None
        out = meshes.TriMesh.__new__(meshes.TriMesh)
        out.points, out.triangles, out.colors = place, self.model.triangles, self.model.colors
        return out

    def _follow(self) -> Optional[np.ndarray]:
        """The surface, before it is kept apart from others."""
        if self.model.kind == shown.PARTICLES:
            return None
        if self._surface is not None:
            return self._surface.copy()
        return self.model.surface_of(self.positions[:max(len(self.model.points), 1)])

    def to_vtk(self) -> Any:
        """A vtkUnstructuredGrid (pyvista's class where pyvista is there) with its fields."""
        cells = self.cells
        if cells is None:
            cells = self.model.elements
        if cells is None or not len(cells):
            cells = np.arange(len(self.positions)).reshape(-1, 1)
        fields = {name: (values, self.per_cell[name]) for name, values in self.fields.items()}
        return meshes.to_vtk(self.positions, cells, fields)


class RunFrame:
    """One frame: time in s, and bodies by name or number."""

    def __init__(self, run: "Run", number: int, time: float, poses: np.ndarray, bodies: List[RunBody]) -> None:
        self.number, self.time, self.bodies = number, time, bodies
        self._run, self._poses = run, poses
        self._surfaces: Optional[List[Optional[np.ndarray]]] = None
        for i, body in enumerate(bodies):
            body._frame, body._index = self, i

    @property
    def surfaces(self) -> List[Optional[np.ndarray]]:
        """Vertices that each body shows, (n, 3) in m; None for loose particles."""
        if self._surfaces is None:
            self._surfaces = shown.surfaces_of(self.bodies, self._run._touches, self._run._obstacles, self._poses)
        return self._surfaces

    def __getitem__(self, key: Any) -> RunBody:
        if isinstance(key, str):
            for body in self.bodies:
                if body.name == key:
                    return body
            raise KeyError(f"there is no body {key!r}; there are "
                           f"{', '.join(repr(b.name) for b in self.bodies[:20])}")
        return self.bodies[key]


class Run:
    """A run on disk: `for frame in run: frame["teddy"].positions`.

    Attributes:
        info: what run.json says.
        frames: number of frames after frame 0 that exist.
        fps: frames per second.
        names: of the bodies.
    """

    def __init__(self, folder: Any) -> None:
        self.folder = pathlib.Path(os.fsdecode(convert.path(folder, "folder")))
        path = self.folder / "run.json"
        if not path.exists():
            raise FileError(f"{self.folder}: is no run: it has no run.json. `yawara run` makes runs")
        try:
            self.info: Dict[str, Any] = json.loads(_bytes_of(path))
            self.frames, self.fps = int(self.info["frames_done"]), float(self.info["fps"])
            self._hash = int(self.info["shown_hash"], 16)
            version = self.info["yawara_run"]
        except (ValueError, KeyError, TypeError) as problem:
            raise FormatError(f"{path}: is not what a run has: {problem!r}") from None
        if version != 1:
            raise FormatError(f"{path}: is a run of format {version}, but this package reads format 1")
        self._ends = [8]  # of packed frames, as far as they were looked for; the first begins at 8
        self._read_shown()

    def _read_shown(self) -> None:
        r = _Reader(self.folder / "shown.ywr", b"YWSHOWN3")
        if int.from_bytes(r.data[-8:], "little") != self._hash:
            raise FormatError(f"{r.path}: is damaged, ends too early or belongs to another run")
        r.take("<u4", 31)  # camera and lights
        self.models = [RunModel(r) for _ in range(r.number())]
        self.names: List[str] = []
        self._model_of: List[RunModel] = []
        self._touches: List[bool] = []
        for _ in range(r.number()):
            self.names.append(r.text())
            index = r.number()
            if index >= len(self.models):
                raise FormatError(f"{r.path}: body {self.names[-1]!r} has a model that is not there")
            self._model_of.append(self.models[index])
            r.take("<f4", 12)  # mass, look
            self._touches.append(bool(r.number()))
            r.vectors()
        self._obstacles = [shown.Obstacle(r) for _ in range(r.number())]

    def __len__(self) -> int:
        return self.frames + 1

    def __getitem__(self, number: int) -> RunFrame:
        """A frame by its number; frame 0 is the start, -1 the last."""
        index = number.__index__()
        index = index + len(self) if index < 0 else index
        if not 0 <= index < len(self):
            raise IndexError(f"the run has frames 0 to {self.frames}, but no {number}")
        frame = self._read_frame(index)
        for i, body in enumerate(frame.bodies):
            if body._cells_in is not None and 0 <= body._cells_in < index:
                body.cells = self._read_frame(body._cells_in).bodies[i].cells
        return frame

    def __iter__(self) -> Iterator[RunFrame]:
        return (self[i] for i in range(len(self)))

    def _frame_reader(self, index: int) -> _Reader:
        if not self.info.get("packed"):
            return _Reader(self.folder / "frames" / f"{index:06d}.ywf", b"YWFRAME4")
        path = self.folder / "frames.ywp"
        try:
            with open(path, "rb") as file:
                kind = file.read(8)
                if kind != b"YWPACK01":
                    raise FormatError(f"{path}: is no file of frames of this version (YWPACK01): it "
                                      f"starts with {kind!r}")
                while len(self._ends) < index + 2:
                    begin = file.seek(self._ends[-1])
                    length = int.from_bytes(file.read(8), "little")
                    if length == 0:
                        raise FormatError(f"{path}: ends too early, before frame {index}: run it again")
                    self._ends.append(begin + 8 + length)
                begin = file.seek(self._ends[index] + 8)
                data = file.read(self._ends[index + 1] - begin)
        except OSError as problem:
            raise FileError(f"{path}: cannot be read: {problem.strerror}") from None
        return _Reader(path, b"YWFRAME4", data)

    def _read_frame(self, index: int) -> RunFrame:
        r = self._frame_reader(index)
        if int(r.take("<u8", 1)[0]) != self._hash:
            raise FormatError(f"{r.path}: belongs to another run")
        number, time = r.number(), float(r.take("<f8", 1)[0])
        poses = r.take("<f4", 8 * r.number()).reshape(-1, 8)
        if len(poses) != len(self._obstacles):
            raise FormatError(f"{r.path}: has another number of obstacles than shown.ywr")
        if r.number() != len(self.names):
            raise FormatError(f"{r.path}: has another number of bodies than shown.ywr")
        bodies = [RunBody(name, model, r) for name, model in zip(self.names, self._model_of)]
        if r.at != len(r.data) - 8:
            raise FormatError(f"{r.path}: is damaged: it goes on at byte {r.at}, after its last body")
        return RunFrame(self, number, time, poses, bodies)

    @property
    def times(self) -> np.ndarray:
        """Time of every frame, s."""
        return np.arange(len(self)) / self.fps

    def positions(self, name: Any) -> np.ndarray:
        """Positions of a body in all frames, (frames + 1, n, 3) in m."""
        rows = [frame[name].positions for frame in self]
        if len({len(row) for row in rows}) > 1:
            raise InvalidError(f"body {name!r} has a changing number of particles: use "
                               "[frame[name].positions for frame in run]")
        return np.stack(rows)

    @property
    def log(self) -> Dict[str, np.ndarray]:
        """The columns of log.csv, e.g. log["time (s)"]; unknown values are NaN."""
        path = self.folder / "log.csv"
        rows = list(csv.reader(_bytes_of(path).decode("utf-8", "replace").splitlines()))
        if not rows:
            raise FormatError(f"{path}: is empty")
        out: Dict[str, np.ndarray] = {}
        for i, title in enumerate(rows[0]):
            try:
                cells = [row[i] for row in rows[1:]]
                out[title] = np.array([float(cell) if cell else np.nan for cell in cells])
            except (IndexError, ValueError):
                raise FormatError(f"{path}: column {title!r} has a cell that is no number") from None
        return out

    def log_frame(self) -> Any:
        """The log as a DataFrame of pandas."""
        try:
            import pandas
        except ImportError:
            raise ImportError("log_frame needs pandas: install python3-pandas (Debian) or run `pip "
                              "install pandas`; run.log has the same columns without it") from None
        return pandas.DataFrame(self.log)

    def __repr__(self) -> str:
        return f"<Run {str(self.folder)!r}, {len(self)} frames, {len(self.names)} bodies>"


def open_run(folder: Any) -> Run:
    """Opens a folder that `yawara run` wrote."""
    return Run(folder)
