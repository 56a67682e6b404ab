# SPDX-License-Identifier: MIT
"""What rays and points meet in a world."""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _convert as convert
from ._library import abi, fail, lib
from .bodies import Body, Obstacle
from .errors import InvalidError

if TYPE_CHECKING:
    from .worlds import World


class Hit:
    """A place on the surface of a body or obstacle.

    Attributes:
        body, obstacle: what was met; the other one is None.
        point: (3,), m, on the surface.
        normal: (3,), unit vector, outwards.
        distance: m; of a ray: how far it got; of a point: to the surface, negative inside.
        inside: the ray began, or the point lies, inside.
        vertices: numbers of the vertices of the triangle, segment or ball that was met; none of obstacles.
        weights: of these vertices; their sum is 1.
    """

    def __init__(self, world: "World", hit: Any) -> None:
        self.body: Optional[Body] = Body(world, hit.body) if hit.body.index1 else None
        self.obstacle: Optional[Obstacle] = Obstacle(world, hit.obstacle) if hit.obstacle.index1 else None
        self.point = np.array([hit.point.x, hit.point.y, hit.point.z], np.float32)
        self.normal = np.array([hit.normal.x, hit.normal.y, hit.normal.z], np.float32)
        self.distance, self.inside = float(hit.distance), bool(hit.inside)
        self.vertices = np.array(hit.vertices[:hit.num_vertices], np.int32)
        self.weights = np.array(hit.weights[:hit.num_vertices], np.float32)

    def __repr__(self) -> str:
        what = repr(self.body) if self.body is not None else "<Obstacle>"
        return f"<Hit of {what} at {self.point.tolist()}>"


def _filter(world: "World", ignored: Optional[Body]) -> Any:
    out = lib.yw_default_query_filter()
    if ignored is not None:
        if not isinstance(ignored, Body) or ignored._world is not world:
            raise InvalidError("ignored must be a Body of this world")
        out.ignored = ignored._id
    return out


def _hit(world: "World", found: int, hit: Any) -> Optional[Hit]:
    if found < 0:
        fail(found, "there is not enough memory for a query")
    return Hit(world, hit) if found else None


def ray(world: "World", origin: Any, way: Any, radius: float, ignored: Optional[Body]) -> Optional[Hit]:
    """See World.ray."""
    begin, span = convert.vec3(origin, "origin"), convert.vec3(way, "way")
    thick, seen, hit = convert.number(radius, "radius"), _filter(world, ignored), abi.yw_hit()
    if thick < 0:
        raise InvalidError(f"radius must be 0 or more, but is {thick}")
    with world._read() as handle:
        if thick > 0:
            found = lib.yw_world_cast_ball(handle, begin, thick, span, ctypes.byref(seen), ctypes.byref(hit))
        else:
            found = lib.yw_world_cast_ray(handle, begin, span, ctypes.byref(seen), ctypes.byref(hit))
        return _hit(world, found, hit)


def nearest(world: "World", point: Any, ignored: Optional[Body]) -> Optional[Hit]:
    """See World.nearest."""
    place, seen, hit = convert.vec3(point, "point"), _filter(world, ignored), abi.yw_hit()
    with world._read() as handle:
        found = lib.yw_world_nearest(handle, place, math.inf, ctypes.byref(seen), ctypes.byref(hit))
        return _hit(world, found, hit)
