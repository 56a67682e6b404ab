# SPDX-License-Identifier: MIT
"""What lives in a world: bodies, pins, obstacles and joints. They are handles: light, and refused
once their object or world is gone."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np

from . import _convert as convert
from . import meshes
from ._library import abi, check, lib, text
from .errors import InvalidError, StaleError
from .models import Model
from .views import View

if TYPE_CHECKING:
    from .worlds import World


class FieldInfo(NamedTuple):
    """A quantity over a body."""

    name: str
    unit: str  #: "" for none
    meaning: str  #: in a few words; may be ""
    per_cell: bool  #: one value per tet, else one per particle


class Pin:
    """Holds or pulls vertices of a body."""

    def __init__(self, world: "World", pin_id: Any) -> None:
        self._world, self._id = world, pin_id

    def move(self, offset: Any = (0, 0, 0), rotation: Any = None) -> None:
        """Moves the held points from where they were pinned: by offset (m), turned by rotation,
        (x, y, z, w) or (axis, degrees). Replaces the path from the next step on."""
        place, turn = convert.vec3(offset, "offset"), convert.quat(rotation, "rotation")
        with self._world._change() as world:
            check(lib.yw_pin_move(world, self._id, place, turn), otherwise="this pin was removed")

    def remove(self) -> None:
        """Lets go."""
        with self._world._change() as world:
            check(lib.yw_pin_destroy(world, self._id), otherwise="this pin was removed before")


class Obstacle:
    """A fixed or moving solid that bodies touch."""

    def __init__(self, world: "World", obstacle_id: Any) -> None:
        self._world, self._id = world, obstacle_id

    @property
    def name(self) -> str:
        """As given to add_obstacle, or by the scene."""
        with self._world._read() as world:
            return text(lib.yw_obstacle_name(world, self._id))

    def pose(self, time: Optional[float] = None) -> Dict[str, Any]:
        """position (m), rotation (x, y, z, w) and scale at a time in s, now if None."""
        out = abi.yw_transform()
        with self._world._read() as world:
            when = lib.yw_world_time(world) if time is None else convert.number(time, "time")
            check(lib.yw_obstacle_pose(world, self._id, when, ctypes.byref(out)),
                  otherwise="this obstacle was removed")
        return {"position": np.array([out.position.x, out.position.y, out.position.z]),
                "rotation": np.array([out.rotation.x, out.rotation.y, out.rotation.z, out.rotation.w]),
                "scale": out.scale}

    def remove(self) -> None:
        """Takes the obstacle out of the world."""
        with self._world._change() as world:
            check(lib.yw_obstacle_destroy(world, self._id), otherwise="this obstacle was removed before")


class Track:
    """A value of the world, a body or a pin that follows keys."""

    def __init__(self, world: "World", track_id: Any) -> None:
        self._world, self._id = world, track_id

    def remove(self) -> None:
        """Gravity, friction and strength return to what they were; settings stay as they are."""
        with self._world._change() as world:
            check(lib.yw_track_destroy(world, self._id), otherwise="this track was removed before")


class Joint:
    """Connects two bodies, or a body and the world."""

    def __init__(self, world: "World", joint_id: Any) -> None:
        self._world, self._id = world, joint_id

    def read(self) -> Dict[str, Any]:
        """position (rad or m), speed, force (N), torque (N m), error (m) in the last substep."""
        out = abi.yw_joint_reading()
        with self._world._read() as world:
            check(lib.yw_joint_read(world, self._id, ctypes.byref(out)),
                  otherwise="this joint was removed, or its body was")
        return convert.values(out)

    def set_motor(self, speed: float, force: float) -> None:
        """Motor of a hinge (rad/s, N m) or slider (m/s, N); force 0 switches it off."""
        numbers = convert.number(speed, "speed"), convert.number(force, "force")
        with self._world._change() as world:
            check(lib.yw_joint_set_motor(world, self._id, *numbers),
                  otherwise="only hinges and sliders that exist have motors, with a force of 0 or more")

    def remove(self) -> None:
        """Lets go of both ends."""
        with self._world._change() as world:
            check(lib.yw_joint_destroy(world, self._id), otherwise="this joint was removed before")


class Body:
    """A body of a world. Lengths in m, velocities in m/s.

    positions, velocities and radii are views (yawara.View): they are read where they are, without a
    copy, and refuse after the next step.
    """

    def __init__(self, world: "World", body_id: Any) -> None:
        self._world, self._id = world, body_id

    def _same(self, world: Any) -> None:
        if not lib.yw_body_is_valid(world, self._id):
            raise StaleError("this body was removed from its world")

    @property
    def world(self) -> "World":
        """The world that it is in."""
        return self._world

    @property
    def name(self) -> str:
        """As given to World.add, or by the scene; not necessarily unique."""
        with self._world._read() as world:
            self._same(world)
            return text(lib.yw_body_name(world, self._id))

    @property
    def model(self) -> Model:
        """What it was made of: mesh, material and examples."""
        with self._world._read() as world:
            self._same(world)
            return Model._wrap(lib.yw_model_retain(lib.yw_body_model(world, self._id)))

    @property
    def method(self) -> str:
        """Word of its method: "match", "frames", "fem", "slender", "plastic" or "rigid"."""
        return self.model.method

    @property
    def active(self) -> bool:
        """False while the body waits for its start time."""
        with self._world._read() as world:
            self._same(world)
            return lib.yw_body_is_active(world, self._id)

    # Particles.

    def _view(self, function: Callable[..., Any], columns: int, name: str) -> Optional[View]:
        count = ctypes.c_int32()
        with self._world._read() as world:
            self._same(world)
            pointer = function(world, self._id, ctypes.byref(count))
            if not pointer:
                return None
            memory = (ctypes.c_float * (columns * count.value)).from_address(pointer)
            numbers = np.frombuffer(memory, np.float32)
            return View(self._world, self._world._moment,
                        numbers.reshape(-1, columns) if columns > 1 else numbers, name)

    @property
    def positions(self) -> View:
        """(n, 3), m, in the order of the model's points."""
        return self._view(lib.yw_body_positions, 3, "positions")

    @property
    def velocities(self) -> View:
        """(n, 3), m/s."""
        return self._view(lib.yw_body_velocities, 3, "velocities")

    @property
    def radii(self) -> Optional[View]:
        """(n,), m, of bodies that touch as spheres; None for volumes."""
        return self._view(lib.yw_body_radii, 1, "radii")

    def __len__(self) -> int:
        return len(self.positions)

    def set_state(self, positions: Any, velocities: Any = None) -> None:
        """Sets positions (m) and, unless None, velocities (m/s) of all particles, each (n, 3)."""
        n = len(self.positions)
        place = convert.array(positions, 3, "positions", rows=n)
        speed = None if velocities is None else convert.array(velocities, 3, "velocities", rows=n)
        with self._world._change() as world:
            check(lib.yw_body_set_state(world, self._id, convert.address(place), convert.address(speed)),
                  otherwise="the state of this body cannot be set")

    def remove(self) -> None:
        """Removes the body, its pins and its joints from the world."""
        with self._world._change() as world:
            self._same(world)
            check(lib.yw_body_destroy(world, self._id))

    # Shape.

    @property
    def surface(self) -> Optional[meshes.TriMesh]:
        """The shown surface as it is now (a copy); None for loose particles."""
        out = self.model.surface
        if out is None:
            return None
        with self._world._read() as world:
            self._same(world)
            check(lib.yw_body_surface_positions(world, self._id, convert.address(out.points),
                                                len(out.points)))
        return out

    @property
    def cells(self) -> Optional[np.ndarray]:
        """Current tets (m, 4), lines (m, 2) of rods, triangles (m, 3) of sheets; None for loose
        particles."""
        with self._world._read() as world:
            self._same(world)
            number = lib.yw_body_cells(world, self._id, None, 0)
            if number > 0:
                out = np.empty((number, 4), np.int32)
                lib.yw_body_cells(world, self._id, convert.address(out), number)
                return out
        return self.model.elements

    # Fields.

    @property
    def fields(self) -> Dict[str, FieldInfo]:
        """The fields of this body by name; values come from field(name)."""
        out = {}
        with self._world._read() as world:
            self._same(world)
            for i in range(lib.yw_body_num_fields(world, self._id)):
                info = lib.yw_body_field_info(world, self._id, i)
                meaning = text(lib.yw_body_field_meaning(world, self._id, i))
                out[text(info.name)] = FieldInfo(text(info.name), text(info.unit), meaning, info.per_cell)
        return out

    def field(self, name: str) -> np.ndarray:
        """Values of a field, computed now: one per particle, or per tet; fields has the unit."""
        with self._world._read() as world:
            self._same(world)
            index = lib.yw_body_find_field(world, self._id, convert.label(name, "the name of a field"))
            if index < 0:
                raise InvalidError(f"{self.name!r} has no field {name!r}; it has "
                                   f"{', '.join(self.fields)}")
            info = lib.yw_body_field_info(world, self._id, index)
            count = ctypes.c_int32()
            lib.yw_body_positions(world, self._id, ctypes.byref(count))
            size = lib.yw_body_cells(world, self._id, None, 0) if info.per_cell else count.value
            out = np.empty(size, np.float32)
            check(lib.yw_body_field_values(world, self._id, index, convert.address(out), size),
                  otherwise=f"the field {name!r} cannot be computed")
        return out

    def to_vtk(self, fields: Any = None) -> Any:
        """A vtkUnstructuredGrid (pyvista's class where pyvista is there) of positions, cells and
        fields: all of them, or those named."""
        names = list(self.fields) if fields is None else list(fields)
        points, cells = self.positions.copy(), self.cells
        if cells is None:
            cells = np.arange(len(points)).reshape(-1, 1)
        known = self.fields
        values = {name: (self.field(name), name in known and known[name].per_cell) for name in names}
        return meshes.to_vtk(points, cells, values)

    # Settings.

    def _struct(self, world: Any) -> Any:
        method = text(lib.yw_model_method(lib.yw_body_model(world, self._id)))
        out = getattr(abi, f"yw_{method}_params")()
        check(getattr(lib, f"yw_body_{method}_params")(world, self._id, ctypes.byref(out)))
        return out, getattr(lib, f"yw_body_set_{method}_params")

    @property
    def params(self) -> Dict[str, Any]:
        """Settings of the body's method as they are now. help(yawara.Model.match) etc. explain them."""
        with self._world._read() as world:
            self._same(world)
            return convert.values(self._struct(world)[0])

    def set(self, **settings: Any) -> None:
        """Changes settings of the body's method, e.g. body.set(beta=0.5)."""
        with self._world._change() as world:
            self._same(world)
            struct, set_params = self._struct(world)
            convert.fill(struct, settings)
            check(set_params(world, self._id, ctypes.byref(struct)), otherwise=_refused(struct, settings))

    # Pins.

    def pin(self, vertices: Any, keys: Any = None, stiffness: float = 0.0, damping: float = 0.0,
            clamp: bool = False, loop: bool = False, smooth: bool = False, pivot: Any = (0, 0, 0)) -> Pin:
        """Holds vertices where they are, or pulls them by springs.

        Args:
            vertices: their numbers, or a mask (n,).
            keys: a path, [(time in s, offset in m), ...] or [(time, offset, rotation), ...].
            stiffness: 0: held exactly; otherwise that of a spring per vertex, N/m.
            damping: N s/m, of the springs.
            clamp: rods and sheets keep their direction, too.
            loop, smooth: the path starts again; runs through its keys smoothly.
            pivot: m, about which rotations turn.
        """
        d = lib.yw_default_pin_def()
        chosen = convert.indices(vertices, None, "vertices", len(self))
        if not len(chosen):
            raise InvalidError("a pin needs at least one vertex, but none was chosen")
        d.body, d.vertices, d.num_vertices = self._id, convert.address(chosen), len(chosen)
        d.stiffness, d.damping = convert.number(stiffness, "stiffness"), convert.number(damping, "damping")
        d.clamp = bool(clamp)
        keep = set_path(d.path, keys, loop, smooth, pivot)
        out, error = abi.yw_pin_id(), abi.yw_error()
        with self._world._change() as world:
            check(lib.yw_pin_create(world, ctypes.byref(d), ctypes.byref(out), ctypes.byref(error)), error)
        del keep
        return Pin(self._world, out)

    def follow(self, targets: Any, vertices: Any = None, strengths: Any = None, **settings: Any) -> Pin:
        """Lets vertices follow an animation.

        Args:
            targets: (frames, k, 3), positions in the world in m, one per vertex and frame.
            vertices: (k,) their numbers; default: all.
            strengths: (k,), 1 exactly, 0 not at all, springs between; default: 1.
            settings: see below.

        Settings:
        """
        d = lib.yw_default_follow_def()
        chosen = (np.arange(len(self), dtype=np.int32) if vertices is None else
                  convert.indices(vertices, None, "vertices", len(self)))
        given = np.asarray(targets)
        if given.ndim != 3 or given.shape[1:] != (len(chosen), 3):
            raise InvalidError(f"targets must have shape (frames, {len(chosen)}, 3), but has {given.shape}")
        place = convert.array(given.reshape(-1, 3), 3, "targets")
        share = None if strengths is None else convert.array(strengths, None, "strengths", rows=len(chosen))
        d.body, d.vertices, d.num_vertices = self._id, convert.address(chosen), len(chosen)
        d.targets, d.num_frames, d.strengths = convert.address(place), len(given), convert.address(share)
        convert.fill(d, settings, dict.fromkeys(_FOLLOW_SETTINGS, ""))
        out, error = abi.yw_pin_id(), abi.yw_error()
        with self._world._change() as world:
            check(lib.yw_follow_create(world, ctypes.byref(d), ctypes.byref(out), ctypes.byref(error)), error)
        return Pin(self._world, out)

    def track(self, setting: str, keys: Any, kind: str = "linear", loop: bool = False, example: int = 0,
              group: int = -1) -> Track:
        """Changes a setting of the method, "friction", or the "weight" of an example over time: see
        World.track."""
        return self._world.track(self, setting, keys, kind, loop, example, group)

    # Pushing.

    def add_force(self, force: Any, vertices: Any = None) -> None:
        """Acts during the next step, N. force: (3,) on the whole body; with vertices: (3,) on each of them,
        or (k, 3)."""
        self._push("force", force, vertices)

    def add_impulse(self, impulse: Any, vertices: Any = None) -> None:
        """Acts at once, N s; arguments as in add_force."""
        self._push("impulse", impulse, vertices)

    def _push(self, kind: str, given: Any, vertices: Any) -> None:
        if vertices is None:
            whole = convert.vec3(given, kind)
            with self._world._change() as world:
                self._same(world)
                check(getattr(lib, f"yw_body_add_{kind}")(world, self._id, whole))
            return
        chosen = convert.indices(vertices, None, "vertices", len(self))
        rows = np.asarray(given)
        rows = np.broadcast_to(rows, (len(chosen), 3)) if rows.shape == (3,) else rows
        vectors = convert.array(rows, 3, kind, rows=len(chosen))
        with self._world._change() as world:
            self._same(world)
            check(getattr(lib, f"yw_body_add_vertex_{kind}s")(world, self._id, convert.address(chosen),
                                                              convert.address(vectors), len(chosen)))

    @property
    def asleep(self) -> bool:
        """It rests, and costs nothing until something touches it."""
        with self._world._read() as world:
            self._same(world)
            return bool(lib.yw_body_is_asleep(world, self._id))

    def wake(self) -> None:
        """Wakes the body and those that rest with it."""
        with self._world._change() as world:
            self._same(world)
            check(lib.yw_body_wake(world, self._id))

    def nearest(self, points: Any) -> np.ndarray:
        """Numbers of the particles that are closest to points, (3,) or (k, 3) in m."""
        given = np.asarray(points)
        wanted = convert.array(given.reshape(1, -1) if given.ndim == 1 else given, 3, "points")
        place = self.positions.copy()
        return np.array([int(((place - p) ** 2).sum(axis=1).argmin()) for p in wanted], np.int32)

    # Sums.

    def sums(self) -> Dict[str, Any]:
        """mass (kg), center (m), momentum (kg m/s), angular_momentum (kg m^2/s), kinetic_energy (J)."""
        return self._sums(lib.yw_body_sums_of, abi.yw_body_sums())

    def energy(self) -> Dict[str, float]:
        """kinetic, elastic, gravitational, J; elastic is NaN where the method has none."""
        return self._sums(lib.yw_body_energy_of, abi.yw_body_energy())

    def forces(self) -> Dict[str, Any]:
        """Mean forces over the last step, N; needs world.measure_forces() before it."""
        return self._sums(lib.yw_body_forces_of, abi.yw_body_forces(),
                          "forces are not known: call world.measure_forces() before the step")

    def _sums(self, function: Callable[..., int], out: Any, otherwise: str = "") -> Dict[str, Any]:
        with self._world._read() as world:
            self._same(world)
            check(function(world, self._id, ctypes.byref(out)), otherwise=otherwise)
        return convert.values(out)

    def statistics(self) -> Dict[str, float]:
        """Numbers of the body's method by name: iterations, counts, example weights."""
        out = abi.yw_statistics()
        with self._world._read() as world:
            self._same(world)
            check(lib.yw_body_statistics_of(world, self._id, ctypes.byref(out)))
        return {text(item.name): item.value for item in out.items[:out.count]}

    @property
    def weights(self) -> Optional[np.ndarray]:
        """Weights of the rest pose and of the examples in the last substep, (groups, 1 + examples), of
        match, frames and slender; None for other methods."""
        method = self.method
        with self._world._read() as world:
            self._same(world)
            if method == "frames":
                facts = abi.yw_frames_statistics()
                check(lib.yw_body_frames_statistics(world, self._id, ctypes.byref(facts)))
                number, width = lib.yw_body_frames_weights(world, self._id, None, 0), 1 + facts.num_examples
                out = np.empty((number // width, width), np.float32)
                lib.yw_body_frames_weights(world, self._id, convert.address(out), number)
                return out
            if method == "slender":
                return self._slender_weights(world)
            if method != "match":
                return None
            facts = abi.yw_match_statistics()
            check(lib.yw_body_match_statistics(world, self._id, ctypes.byref(facts)))
            out = np.empty((facts.num_groups, 1 + facts.num_examples), np.float32)
            lib.yw_body_match_weights(world, self._id, convert.address(out), out.size)
            return out

    def _slender_weights(self, world: Any) -> np.ndarray:
        groups = lib.yw_body_slender_weights(world, self._id, None, 0)
        out = np.full(groups * (1 + abi.YW_MAX_EXAMPLES), np.nan, np.float32)
        lib.yw_body_slender_weights(world, self._id, convert.address(out), out.size)
        return out[~np.isnan(out)].reshape(groups, -1)

    def set_weights(self, weights: Any, group: int = -1, share: float = 1.0) -> None:
        """Lets the body aim for weights of its examples instead of choosing by itself.

        Args:
            weights: (examples,), 0 to 1; the rest pose gets what is left. None: it chooses again.
            group: -1: all.
            share: how much they count, 0 to 1; what the body chooses makes up the rest.
        """
        method = self.method
        if method not in ("match", "frames", "slender"):
            raise InvalidError(f"bodies of {method} have no examples")
        known = self.weights.shape[1] - 1
        given = None if weights is None else convert.array(weights, None, "weights", rows=known)
        number, part = convert.count(group, "group", -1), convert.number(share, "share")
        with self._world._change() as world:
            check(getattr(lib, f"yw_body_{method}_set_weights")(world, self._id, number, convert.address(given), part),
                  otherwise="weights and share must be 0 to 1, for a group of a body with examples")

    def __repr__(self) -> str:
        if self._world.closed:
            return "<Body of a closed world>"
        return f"<Body {self.name!r}, {self.method}, {len(self)} particles>"


_FOLLOW_SETTINGS = ("fps", "start", "loop", "smooth", "stiffness", "damping", "max_speed")
Body.follow.__doc__ = (Body.follow.__doc__ or "") + convert.document(
    "yw_follow_def", leave_out=tuple(set(abi.DOCS["yw_follow_def"]) - set(_FOLLOW_SETTINGS)))


def _refused(struct: Any, settings: Dict[str, Any]) -> str:
    docs = abi.DOCS[type(struct).__name__]
    known = "; ".join(f"{name} = {value!r}: {docs.get(name) or 'see the header'}"
                      for name, value in settings.items())
    return f"a setting is out of range. {known}"


def set_path(path: Any, keys: Any, loop: bool, smooth: bool, pivot: Any) -> List[Any]:
    """Fills a yw_path; returns what must live until it was copied."""
    if keys is None:
        return []
    rows = list(keys)
    table = (abi.yw_key * max(len(rows), 1))()
    for i, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or len(row) not in (2, 3):
            raise InvalidError(f"keys[{i}] must be (time, offset) or (time, offset, rotation), but is "
                               f"{row!r}")
        table[i].time = convert.number(row[0], f"the time of keys[{i}]")
        table[i].offset = convert.vec3(row[1], f"the offset of keys[{i}]")
        table[i].rotation = convert.quat(row[2] if len(row) == 3 else None, f"the rotation of keys[{i}]")
        if i and not table[i].time > table[i - 1].time:
            raise InvalidError(f"the times of keys must increase, but keys[{i}] is at {table[i].time} s "
                               f"after {table[i - 1].time} s")
    path.keys = ctypes.cast(table, type(path.keys))
    path.num_keys, path.loop, path.smooth = len(rows), bool(loop), bool(smooth)
    path.pivot = convert.vec3(pivot, "pivot")
    return [table]
