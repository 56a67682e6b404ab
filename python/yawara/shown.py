# SPDX-License-Identifier: MIT
"""What a run shows: surfaces that follow the particles, kept apart as in pictures and exports."""
from __future__ import annotations

import ctypes
from typing import Any, List, Optional

import numpy as np

from . import _abi as abi
from . import _convert as convert
from . import meshes
from ._library import check, lib

# How vertices of a surface are found; docs/runs.md.
PARTICLES, BOUNDARY, OWN, EMBEDDED = 0, 1, 3, 4


class Rig:
    """How an embedded surface follows its tets. Arrays as in docs/runs.md."""

    def __init__(self, points: np.ndarray, carriers: np.ndarray, surface: np.ndarray, counts: np.ndarray,
                 links: np.ndarray) -> None:
        self._arrays = [np.ascontiguousarray(a) for a in (points, carriers, surface, links)]
        self._first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        points, carriers, surface, links = self._arrays
        self._tets, self._surface = abi.yw_tet_mesh(), abi.yw_tri_mesh()
        self._tets.num_vertices, self._tets.num_tets = len(points), len(carriers)
        self._tets.positions, self._tets.tets = convert.address(points), convert.address(carriers)
        self._surface.num_vertices, self._surface.positions = len(surface), convert.address(surface)
        self._rig = abi.yw_surface_rig()
        self._rig.tets, self._rig.surface = ctypes.pointer(self._tets), ctypes.pointer(self._surface)
        self._rig.first = convert.address(self._first)
        self._rig.links = ctypes.cast(convert.address(links), type(self._rig.links))

    def move(self, positions: np.ndarray) -> np.ndarray:
        """Vertices of the surface."""
        place = np.ascontiguousarray(positions, np.float32)
        out = np.empty((self._surface.num_vertices, 3), np.float32)
        check(lib.yw_surface_rig_move(ctypes.byref(self._rig), convert.address(place), convert.address(out)))
        return out


def walls_of(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Boundary triangles of tets, (n, 3) numbers of points."""
    faces = np.sort(tets[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3), axis=1)
    once, counts = np.unique(faces, axis=0, return_counts=True)
    mesh = meshes.TetMesh.__new__(meshes.TetMesh)
    mesh.points, mesh.tets, mesh.labels = np.ascontiguousarray(points), np.ascontiguousarray(tets), None
    # The library numbers the vertices of a boundary in the order of the points.
    return np.unique(once[counts == 1])[mesh.surface().triangles].astype(np.int32)


class Obstacle:
    """An obstacle of a run, in its own coordinates: a plane, a surface, or a mesh that deforms."""

    def __init__(self, r: Any) -> None:
        self.name = r.text()
        r.take("<u4", 10)  # look
        self.plane: Optional[np.ndarray] = None
        self.points, self.triangles = np.empty((0, 3), np.float32), np.empty((0, 3), np.int32)
        self.deforms = False
        if r.number():
            self.plane = r.take("<f4", 4)
            return
        self.deforms = r.number() == 2
        self.points = r.vectors()
        self.triangles = r.rows(3)
        if r.number():
            r.vectors(len(self.points))
        if self.deforms:
            frames = r.number()
            r.take("<u4", 6)  # rate, start, whether it loops and is smooth
            r.vectors(frames * len(self.points))

    def posed(self, pose: np.ndarray) -> np.ndarray:
        """Its vertices; pose: position, rotation and scale of a frame."""
        x, y, z, w = (np.float32(v) for v in pose[3:7])
        p = self.points * np.float32(pose[7])
        u = np.array([x, y, z], np.float32)
        t = np.float32(2) * np.cross(u, p)
        return np.ascontiguousarray(p + w * t + np.cross(u, t) + pose[:3], np.float32)


def _body_of(points: np.ndarray, triangles: np.ndarray) -> Any:
    out = abi.yw_shown_body()
    out.num_vertices, out.num_triangles = len(points), len(triangles)
    out.vertices, out.triangles = convert.address(points), convert.address(triangles)
    return out


def _planes(obstacles: List[Obstacle], poses: np.ndarray) -> List[Any]:
    """The planes among obstacles, as the library takes them; their shapes must be released."""
    out = []
    for obstacle, pose in zip(obstacles, poses):
        if obstacle.plane is None:
            continue
        shape = ctypes.c_void_p()
        normal = abi.yw_vec3(*(float(v) for v in obstacle.plane[:3]))
        if lib.yw_shape_plane(None, normal, float(obstacle.plane[3]), ctypes.byref(shape)) < 0:
            continue
        place = abi.yw_transform(abi.yw_vec3(*map(float, pose[:3])), abi.yw_quat(*map(float, pose[3:7])),
                                 float(pose[7]))
        out.append(abi.yw_shown_obstacle(shape, place))
    return out


def surfaces_of(bodies: List[Any], touches: List[bool], obstacles: List[Obstacle],
                poses: np.ndarray) -> List[Optional[np.ndarray]]:
    """Vertices that each body shows in a frame; None: its particles. Surfaces are kept apart from each
    other and from obstacles, as the program does."""
    out = [body._follow() for body in bodies]
    if not any(body.model.kind == EMBEDDED for body in bodies):
        return out
    rows, kept = [], []
    for body, touching, points in zip(bodies, touches, out):
        if points is None or not touching or not body.active:
            rows.append(abi.yw_shown_body())
            continue
        row = _body_of(points, body.model.triangles)
        if body.model.kind == EMBEDDED:
            place = np.ascontiguousarray(body.positions)
            kept.append(place)
            row.walls, row.num_walls = convert.address(body.model.walls), len(body.model.walls)
            row.positions, row.num_positions = convert.address(place), len(body.model.points)
        rows.append(row)
    for obstacle, pose in zip(obstacles, poses):
        # Meshes that deform have no inside to be kept out of.
        if len(obstacle.triangles) and not obstacle.deforms:
            kept.append(obstacle.posed(pose))
            rows.append(_body_of(kept[-1], obstacle.triangles))
    planes = _planes(obstacles, poses)
    scene = abi.yw_shown_scene()
    scene.num_bodies, scene.num_obstacles = len(rows), len(planes)
    scene.bodies = (abi.yw_shown_body * max(len(rows), 1))(*rows)
    scene.obstacles = (abi.yw_shown_obstacle * max(len(planes), 1))(*planes)
    try:
        check(lib.yw_shown_keep_apart(ctypes.byref(scene), -1))
    finally:
        for plane in planes:
            lib.yw_shape_release(plane.shape)
    return out
