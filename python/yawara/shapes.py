# SPDX-License-Identifier: MIT
"""Solids for bodies, obstacles and selections: primitives, their combinations, closed meshes."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

from . import _convert as convert
from ._library import abi, check, lib
from .errors import InvalidError
from .meshes import TetMesh, TriMesh, as_triangles


class Shape:
    """A solid, immutable. Lengths are in metres.

    Made with Shape.sphere, box, capsule, cylinder, cone, torus, plane and mesh. `a | b`, `a & b` and
    `a - b` are union, intersection and difference; Shape.union and the like blend smoothly.
    """

    def __init__(self) -> None:
        raise InvalidError("make shapes with Shape.sphere(radius), Shape.box(size), Shape.mesh(...)")

    @classmethod
    def _make(cls, function: Any, *args: Any, error: Any = None, otherwise: str = "") -> "Shape":
        out = ctypes.c_void_p()
        tail = (ctypes.byref(out),) if error is None else (ctypes.byref(out), ctypes.byref(error))
        check(function(*args, *tail), error, otherwise)
        self = cls.__new__(cls)
        self._pointer = out.value
        return self

    def __del__(self) -> None:
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            lib.yw_shape_release(pointer)

    # Primitives, centred at the origin.

    @classmethod
    def sphere(cls, radius: float) -> "Shape":
        """radius in m."""
        return cls._make(lib.yw_shape_sphere, None, convert.number(radius, "radius"),
                         otherwise=f"radius must be above 0, but is {radius}")

    @classmethod
    def box(cls, size: Any, rounding: float = 0.0) -> "Shape":
        """size: edge lengths in m, one or three numbers; rounding: radius of the edges in m."""
        whole = convert.vec3(size, "size")
        half = abi.yw_vec3(whole.x / 2, whole.y / 2, whole.z / 2)
        return cls._make(lib.yw_shape_rounded_box, None, half, convert.number(rounding, "rounding"),
                         otherwise=f"a box needs a size above 0 and a rounding from 0 to half of it, "
                                   f"but has size {size} and rounding {rounding}")

    @classmethod
    def capsule(cls, a: Any, b: Any, radius: float) -> "Shape":
        """All points within radius (m) of the line from a to b."""
        return cls._make(lib.yw_shape_capsule, None, convert.vec3(a, "a"), convert.vec3(b, "b"),
                         convert.number(radius, "radius"),
                         otherwise=f"a capsule needs a radius above 0, but has {radius}")

    @classmethod
    def cylinder(cls, radius: float, height: float) -> "Shape":
        """Along y; lengths in m."""
        return cls._make(lib.yw_shape_cylinder, None, convert.number(radius, "radius"),
                         convert.number(height, "height") / 2,
                         otherwise=f"a cylinder needs a radius and a height above 0, but has {radius} "
                                   f"and {height}")

    @classmethod
    def cone(cls, bottom_radius: float, top_radius: float, height: float) -> "Shape":
        """Along y; lengths in m; one radius may be 0."""
        return cls._make(lib.yw_shape_cone, None, convert.number(bottom_radius, "bottom_radius"),
                         convert.number(top_radius, "top_radius"), convert.number(height, "height") / 2,
                         otherwise="a cone needs a height above 0 and at least one radius above 0")

    @classmethod
    def torus(cls, ring_radius: float, tube_radius: float) -> "Shape":
        """A ring in the xz plane; lengths in m."""
        return cls._make(lib.yw_shape_torus, None, convert.number(ring_radius, "ring_radius"),
                         convert.number(tube_radius, "tube_radius"),
                         otherwise="a torus needs two radii above 0")

    @classmethod
    def plane(cls, normal: Any = (0, 1, 0), offset: float = 0.0) -> "Shape":
        """The half-space of all points p with normal . p <= offset (m): a floor."""
        return cls._make(lib.yw_shape_plane, None, convert.vec3(normal, "normal"),
                         convert.number(offset, "offset"),
                         otherwise=f"a plane needs a normal with a length, but has {normal}")

    @classmethod
    def mesh(cls, surface: Any) -> "Shape":
        """The solid inside of a surface: a TriMesh, (points, triangles), a file name, or an object of
        meshio, trimesh, pyvista or vtk. Holes and self-intersections are fine."""
        mesh, error = as_triangles(surface)._struct(), abi.yw_error()
        return cls._make(lib.yw_shape_mesh, None, ctypes.byref(mesh), error=error)

    # Combinations.

    @classmethod
    def _combine(cls, function: Any, shapes: Sequence["Shape"], smooth: float) -> "Shape":
        if not shapes or not all(isinstance(s, Shape) for s in shapes):
            raise InvalidError("a combination needs one or more shapes")
        pointers = (ctypes.c_void_p * len(shapes))(*(s._pointer for s in shapes))
        return cls._make(function, None, len(shapes), pointers, convert.number(smooth, "smooth"),
                         otherwise=f"the shapes cannot be combined: smooth must be 0 or more, but is "
                                   f"{smooth}, and shapes may be nested 64 deep")

    @classmethod
    def union(cls, *shapes: "Shape", smooth: float = 0.0) -> "Shape":
        """smooth: width of the blend in m."""
        return cls._combine(lib.yw_shape_union, shapes, smooth)

    @classmethod
    def intersection(cls, *shapes: "Shape", smooth: float = 0.0) -> "Shape":
        """smooth: width of the blend in m."""
        return cls._combine(lib.yw_shape_intersection, shapes, smooth)

    @classmethod
    def difference(cls, *shapes: "Shape", smooth: float = 0.0) -> "Shape":
        """The first shape without the others; smooth: width of the blend in m."""
        return cls._combine(lib.yw_shape_difference, shapes, smooth)

    def __or__(self, other: "Shape") -> "Shape":
        return Shape.union(self, other) if isinstance(other, Shape) else NotImplemented

    def __and__(self, other: "Shape") -> "Shape":
        return Shape.intersection(self, other) if isinstance(other, Shape) else NotImplemented

    def __sub__(self, other: "Shape") -> "Shape":
        return Shape.difference(self, other) if isinstance(other, Shape) else NotImplemented

    def moved(self, position: Any = (0, 0, 0), rotation: Any = None, scale: float = 1.0) -> "Shape":
        """Scaled, then turned by rotation, (x, y, z, w) or (axis, degrees), then moved (m)."""
        return Shape._make(lib.yw_shape_transform, None, self._pointer,
                           convert.transform(position, rotation, scale),
                           otherwise=f"scale must be above 0, but is {scale}")

    def offset(self, distance: float) -> "Shape":
        """Grown by distance (m); shrunk where it is negative."""
        return Shape._make(lib.yw_shape_offset, None, self._pointer,
                           convert.number(distance, "distance"), otherwise="distance is out of range")

    def sampled(self, spacing: float) -> "Shape":
        """Its distance on a grid (m), for obstacles made of many triangles: faster to ask."""
        error = abi.yw_error()
        return Shape._make(lib.yw_shape_sampled, None, self._pointer,
                           convert.number(spacing, "spacing"), error=error)

    # Questions.

    def distance(self, points: Any) -> Any:
        """Signed distance in m, negative inside: of one point, or (n,) of points (n, 3)."""
        given = np.asarray(points)
        single = given.ndim == 1
        rows = convert.array(given.reshape(1, -1) if single else given, 3, "points")
        out = np.empty(len(rows), np.float32)
        ask, vec3, pointer = lib.yw_shape_distance, abi.yw_vec3, self._pointer
        for i, (x, y, z) in enumerate(rows.tolist()):
            out[i] = ask(pointer, vec3(x, y, z))
        return float(out[0]) if single else out

    def contains(self, points: Any) -> Any:
        """True inside: of one point, or (n,) of points (n, 3)."""
        return self.distance(points) <= 0

    def bounds(self) -> Optional[Tuple[np.ndarray, np.ndarray]]:
        """Lower and upper corner in m; None if the solid has no end (planes)."""
        box = abi.yw_aabb()
        if not lib.yw_shape_bounds(self._pointer, ctypes.byref(box)):
            return None
        return (np.array([box.lower.x, box.lower.y, box.lower.z], np.float32),
                np.array([box.upper.x, box.upper.y, box.upper.z], np.float32))

    def surface(self, size: float) -> TriMesh:
        """Triangles with edges of about size (m)."""
        mesh, error = abi.yw_tri_mesh(), abi.yw_error()
        check(lib.yw_shape_surface(self._pointer, None, convert.number(size, "size"),
                                   ctypes.byref(mesh), ctypes.byref(error)), error)
        return TriMesh._take(mesh)

    def tets(self, size: float = 0.0, max_tets: Optional[int] = None,
             size_at: Optional[Callable[[float, float, float], float]] = None,
             bulk: int = 1) -> TetMesh:
        """Fills the solid with tets of edge length size (m). 0: as large as its thin parts and its
        volume to 1 % allow, below max_tets (30,000). size_at(x, y, z): edge length (m) where tets
        are to be smaller; inf: any. bulk: tets away from the surface are 1, 2, 4 or 8 times as
        large."""
        settings, mesh, error = lib.yw_default_mesher_def(), abi.yw_tet_mesh(), abi.yw_error()
        settings.size = convert.number(size, "size")
        settings.bulk = convert.count(bulk, "bulk", 1)
        if max_tets is not None:
            settings.max_tets = convert.count(max_tets, "max_tets", 1)
        if size_at is not None:
            wish = size_at
            settings.size_at = abi.yw_size_function(lambda _, p: wish(p.x, p.y, p.z))
        check(lib.yw_shape_tets(self._pointer, None, ctypes.byref(settings), ctypes.byref(mesh),
                                ctypes.byref(error)), error)
        return TetMesh._take(mesh)
