# SPDX-License-Identifier: MIT
"""Worlds: bodies, obstacles and pins, and the step that moves them."""
from __future__ import annotations

import ctypes
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from . import _convert as convert
from . import queries
from ._library import abi, check, lib, text
from .bodies import Body, Joint, Obstacle, Pin, Track, set_path
from .errors import DivergedError, InvalidError, StaleError, YawaraWarning
from .models import Model
from .queries import Hit
from .shapes import Shape

if TYPE_CHECKING:
    from .scenes import Scene


class Report:
    """What a step did: members of yw_step_report (yawara/world.h) as attributes; times in s."""

    def __init__(self, struct: Any, diverged: Optional[str]) -> None:
        self._struct = struct
        self.diverged = diverged  #: name of the first body that diverged, or None

    def __getattr__(self, name: str) -> Any:
        if name in abi.DOCS["yw_step_report"] and name != "first_diverged":
            return getattr(self._struct, name)
        raise AttributeError(f"a report has no {name!r}; it has {', '.join(self.as_dict())}")

    def as_dict(self) -> Dict[str, float]:
        """All numbers by name; see yw_step_report in yawara/world.h."""
        return convert.values(self._struct)


class Frame:
    """A world right after a step of play. Refuses once the world has moved on."""

    def __init__(self, world: "World", number: int, report: Report) -> None:
        self._world, self._moment = world, world._moment
        self.number = number  #: frames played, from 1
        self.report = report
        self.time = world.time  #: s

    def _check(self) -> "World":
        if self._world.closed or self._world._moment != self._moment:
            raise StaleError(f"frame {self.number} is over: the world has moved on. Take what you need "
                             "inside of the loop, e.g. frame[\"teddy\"].positions.copy()")
        return self._world

    def __getitem__(self, key: Any) -> Body:
        return self._check()[key]

    @property
    def bodies(self) -> List[Body]:
        """In order of creation."""
        return self._check().bodies


class World:
    """Bodies, obstacles and pins. SI units, y is up.

    One thread at a time: others wait. Closed by close(), at the end of a `with` block, or when it is
    no longer used; what was taken from it then refuses.

    Args:
        gravity: m/s^2.
        threads: including the caller; 0: one per core. Results do not depend on it.
        contact: "surfaces" (never cross) or "points" (faster in crowds, may overlap).
        contact_iterations: sweeps over contacts between bodies per substep, 1 to 64.
        simd: "auto", "plain", "avx2", "avx512". Results do not depend on it.
    """

    def __init__(self, gravity: Any = (0, -9.81, 0), threads: int = 0, contact: str = "surfaces",
                 contact_iterations: int = 4, simd: str = "auto") -> None:
        d, out = lib.yw_default_world_def(), ctypes.c_void_p()
        d.gravity = convert.vec3(gravity, "gravity")
        d.threads = convert.count(threads, "threads", 0, abi.YW_MAX_WORKERS)
        d.contact_iterations = convert.count(contact_iterations, "contact_iterations", 1, 64)
        convert.fill(d, {"contact": contact, "simd": simd})
        check(lib.yw_world_create(ctypes.byref(d), ctypes.byref(out)),
              otherwise=f"the world cannot be made with {threads} threads")
        self._start(out.value, None)

    @classmethod
    def _of_scene(cls, pointer: int, scene: "Scene") -> "World":
        self = cls.__new__(cls)
        self._start(pointer, scene)
        return self

    def _start(self, pointer: int, scene: Optional["Scene"]) -> None:
        self._pointer: Optional[int] = pointer
        self._lock = threading.RLock()
        self._moment = 0  # another one after every change
        self._scene = scene
        self._played = 0
        # What was stepped since the scene was built: [dt, substeps, times]. None: also changed by hand.
        self._history: Optional[List[List[float]]] = [] if scene else None

    # Life.

    def close(self) -> None:
        """Frees the world. What was taken from it refuses from now on."""
        with self._lock:
            pointer, self._pointer = self._pointer, None
            if pointer:
                lib.yw_world_destroy(pointer)

    @property
    def closed(self) -> bool:
        """Whether close() was called: nothing of it can be used any more."""
        return self._pointer is None

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            lib.yw_world_destroy(self._pointer)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _handle(self) -> int:
        if self._pointer is None:
            raise StaleError("this world was closed: build another one")
        return self._pointer

    @contextmanager
    def _read(self) -> Iterator[int]:
        with self._lock:
            yield self._handle()

    @contextmanager
    def _change(self) -> Iterator[int]:
        with self._lock:
            handle = self._handle()
            self._moment += 1
            self._history = None
            yield handle

    # Contents.

    @property
    def scene(self) -> Optional["Scene"]:
        """The scene it was built from, or None."""
        return self._scene

    @property
    def bodies(self) -> List[Body]:
        """In order of creation."""
        with self._read() as world:
            return [Body(self, lib.yw_world_body(world, i)) for i in range(lib.yw_world_num_bodies(world))]

    def __getitem__(self, key: Any) -> Body:
        bodies = self.bodies
        if isinstance(key, str):
            for body in bodies:
                if body.name == key:
                    return body
            names = ", ".join(repr(body.name) for body in bodies[:20])
            raise KeyError(f"there is no body {key!r}; there are {names or 'none'}")
        index = convert.count(key, "the number of a body", -len(bodies), max(len(bodies) - 1, 0))
        if not bodies:
            raise IndexError("the world has no bodies")
        return bodies[index]

    def __len__(self) -> int:
        with self._read() as world:
            return lib.yw_world_num_bodies(world)

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies)

    def add(self, model: Model, name: Optional[str] = None, position: Any = (0, 0, 0),
            rotation: Any = None, pose: Any = None, **settings: Any) -> Body:
        """Adds a body.

        Args:
            model: what it is made of.
            name: for messages and world[name].
            position: m.
            rotation: (x, y, z, w) or (axis, degrees).
            pose: (n, 3) positions in m to start from instead of the rest pose.
            settings: see below.

        Settings:
        """
        if not isinstance(model, Model):
            raise InvalidError(f"model must be a Model, but is a {type(model).__name__}")
        d = lib.yw_default_body_def()
        d.model, d.name = model._pointer, convert.label(name)
        d.transform = convert.transform(position, rotation)
        start = None if pose is None else convert.array(pose, 3, "pose", rows=model.num_particles)
        d.pose = convert.address(start)
        convert.fill(d, settings, {k: "" for k in _BODY_SETTINGS})
        out, error = abi.yw_body_id(), abi.yw_error()
        with self._change() as world:
            check(lib.yw_body_create(world, ctypes.byref(d), ctypes.byref(out), ctypes.byref(error)), error)
        return Body(self, out)

    def add_obstacle(self, shape: Shape, name: Optional[str] = None, position: Any = (0, 0, 0),
                     rotation: Any = None, keys: Any = None, loop: bool = False, smooth: bool = False,
                     pivot: Any = (0, 0, 0), **settings: Any) -> Obstacle:
        """Adds a solid that bodies touch.

        Args:
            shape: its solid.
            name: for messages.
            position: m.
            rotation: (x, y, z, w) or (axis, degrees).
            keys: a path, [(time in s, offset in m), ...] or [(time, offset, rotation), ...].
            loop, smooth, pivot: of the path; pivot in m.
            settings: friction, 0 or more (0.4); restitution, 0 to 1 (0); sticky (False).
        """
        if not isinstance(shape, Shape):
            raise InvalidError(f"shape must be a Shape, but is a {type(shape).__name__}")
        d = lib.yw_default_obstacle_def()
        d.shape, d.name = shape._pointer, convert.label(name)
        d.transform = convert.transform(position, rotation)
        keep = set_path(d.path, keys, loop, smooth, pivot)
        convert.fill(d, settings, {"friction": "", "restitution": "", "sticky": ""})
        out, error = abi.yw_obstacle_id(), abi.yw_error()
        with self._change() as world:
            check(lib.yw_obstacle_create(world, ctypes.byref(d), ctypes.byref(out), ctypes.byref(error)),
                  error)
        del keep
        return Obstacle(self, out)

    def add_mesh_obstacle(self, points: Any, triangles: Any, name: Optional[str] = None,
                          position: Any = (0, 0, 0), rotation: Any = None, fps: float = 24.0,
                          start: float = 0.0, loop: bool = False, smooth: bool = False,
                          thickness: float = 0.0, **settings: Any) -> Obstacle:
        """Adds a surface that bodies touch, and that may deform. It is two-sided; holes and triangles that
        cross each other do not matter.

        Args:
            points: (n, 3), m; or (frames, n, 3), an animation.
            triangles: (m, 3), numbers of points.
            name: for messages.
            position, rotation: of the whole, on top of the animation.
            fps: frames per second of the animation.
            start: s, time of its first frame.
            loop, smooth: the animation starts again; runs through its frames smoothly.
            thickness: m, bodies stay half of it away; 0: 5 % of the mean edge.
            settings: friction, restitution, sticky, as in add_obstacle.
        """
        given = np.asarray(points)
        frames = given[None] if given.ndim == 2 else given
        if frames.ndim != 3 or frames.shape[2] != 3 or not frames.size:
            raise InvalidError(f"points must have shape (n, 3) or (frames, n, 3), but has {given.shape}")
        place = convert.array(frames.reshape(-1, 3), 3, "points")
        corners = convert.indices(triangles, 3, "triangles", frames.shape[1])
        d = lib.yw_default_mesh_obstacle_def()
        d.obstacle.name, d.obstacle.transform = convert.label(name), convert.transform(position, rotation)
        convert.fill(d.obstacle, settings, {"friction": "", "restitution": "", "sticky": ""})
        d.triangles, d.num_triangles = convert.address(corners), len(corners)
        d.thickness = convert.number(thickness, "thickness")
        motion = d.animation
        motion.points, motion.num_points, motion.num_frames = convert.address(place), frames.shape[1], len(frames)
        motion.fps, motion.start = convert.number(fps, "fps"), convert.number(start, "start")
        motion.loop, motion.smooth = bool(loop), bool(smooth)
        out, error = abi.yw_obstacle_id(), abi.yw_error()
        with self._change() as world:
            check(lib.yw_mesh_obstacle_create(world, ctypes.byref(d), ctypes.byref(out), ctypes.byref(error)),
                  error)
        return Obstacle(self, out)

    def add_floor(self, height: float = 0.0, **settings: Any) -> Obstacle:
        """A floor at a height in m; settings as in add_obstacle."""
        return self.add_obstacle(Shape.plane((0, 1, 0), height), name="floor", **settings)

    def add_joint(self, kind: str, first: Any, second: Any = None, **settings: Any) -> Joint:
        """Connects two bodies, or a body and the world.

        Args:
            kind: "fixed", "ball", "hinge", "slider", "rope" or "spring".
            first, second: a rigid Body; (Body, point) with a point in m; (Body, vertices) of a soft
                body, as a list or array of integers; a point of the world; None: the world.
            settings: axis, limited, lower, upper, motor_speed, motor_force, length, stiffness,
                damping of yw_joint_def (yawara/joint.h).
        """
        d, keep = lib.yw_default_joint_def(), []
        d.kind = convert.word(kind, "yw_joint_kind", "kind")
        if first is None and isinstance(second, tuple) and kind not in ("rope", "spring"):
            first = second[1] if isinstance(second[0], Body) and second[0].method == "rigid" else None
        for end, given in zip(d.ends, (first, second)):
            keep.append(self._set_end(end, given))
        convert.fill(d, settings, {k: "" for k, _ in abi.yw_joint_def._fields_[2:-1]})
        out, error = abi.yw_joint_id(), abi.yw_error()
        with self._change() as world:
            check(lib.yw_joint_create(world, ctypes.byref(d), ctypes.byref(out), ctypes.byref(error)), error)
        return Joint(self, out)

    def track(self, target: Any, setting: str, keys: Any, kind: str = "linear", loop: bool = False,
              example: int = 0, group: int = -1) -> Track:
        """Changes a value over time.

        Args:
            target: this world, a Body or a Pin.
            setting: "gravity" (m/s^2) or "wind" (m/s) of the world; "friction" or a setting of the method of a body,
                e.g. "beta" or "stiffness_scale"; "weight" of an example or "control" of a body with examples,
                0 to 1; "strength" of a pin, 0 to 1.
            keys: [(time in s, value), ...], in order of time.
            kind: "linear", "smooth" (rests at every key) or "step" between keys.
            loop: starts again after the last key.
            example: of "weight", from 0.
            group: of "weight" and "control"; -1: all groups.
        """
        rows = list(keys)
        table = (abi.yw_track_key * max(len(rows), 1))()
        d = lib.yw_default_track_def()
        for i, row in enumerate(rows):
            if not isinstance(row, (tuple, list)) or len(row) != 2:
                raise InvalidError(f"keys[{i}] must be (time, value), but is {row!r}")
            table[i].time = convert.number(row[0], f"the time of keys[{i}]")
            if setting in ("gravity", "wind"):
                table[i].value = convert.vec3(row[1], f"the value of keys[{i}]")
            else:
                table[i].value.x = convert.number(row[1], f"the value of keys[{i}]")
        if target is self and setting in ("gravity", "wind"):
            d.target = abi.YW_TRACK_GRAVITY if setting == "gravity" else abi.YW_TRACK_WIND
        elif isinstance(target, Pin) and target._world is self and setting == "strength":
            d.target, d.pin = abi.YW_TRACK_PIN, target._id
        elif isinstance(target, Body) and target._world is self and setting not in ("gravity", "wind"):
            kinds = {"friction": abi.YW_TRACK_FRICTION, "weight": abi.YW_TRACK_WEIGHT,
                     "control": abi.YW_TRACK_CONTROL}
            d.target = kinds.get(setting, abi.YW_TRACK_PARAMETER)
            d.example = convert.count(example, "example")
            d.group = convert.count(group, "group", -1)
            d.body, d.parameter = target._id, convert.label(setting, "setting")
        else:
            raise InvalidError("a track changes \"gravity\" or \"wind\" of this world, \"strength\" of a pin of it, or a "
                               f"setting of a body of it, but not {setting!r} of {target!r}")
        d.keys, d.num_keys, d.loop = table, len(rows), bool(loop)
        d.kind = convert.word(kind, "yw_track_kind", "kind")
        out, error = abi.yw_track_id(), abi.yw_error()
        with self._change() as world:
            check(lib.yw_track_create(world, ctypes.byref(d), ctypes.byref(out), ctypes.byref(error)), error)
        return Track(self, out)

    def set_wind(self, velocity: Any = (0, 0, 0), **settings: Any) -> None:
        """Air that drags surfaces along; velocity in m/s.

        Settings:
        """
        d = lib.yw_default_wind_def()
        d.velocity = convert.vec3(velocity, "velocity")
        d.seed = convert.count(settings.pop("seed", 0), "seed", 0)
        convert.fill(d, settings, dict.fromkeys(("density", "drag", "turbulence", "size", "seed"), ""))
        with self._change() as world:
            check(lib.yw_world_set_wind(world, ctypes.byref(d)),
                  otherwise=f"wind needs density, drag and turbulence of 0 or more, size above 0: {settings}")

    def wind(self, point: Any) -> Tuple[float, float, float]:
        """Velocity of the air at a point (m), with gusts, m/s."""
        with self._read() as world:
            v = lib.yw_world_wind(world, convert.vec3(point, "point"))
            return (v.x, v.y, v.z)

    def ray(self, origin: Any, way: Any, radius: float = 0.0,
            ignored: Optional[Body] = None) -> Optional[Hit]:
        """The first thing on the way from origin to origin + way (m), of a ray or a ball; None: nothing.

        Args:
            origin, way: m.
            radius: of the ball, m.
            ignored: a body that is not seen, e.g. the one that asks.
        """
        return queries.ray(self, origin, way, radius, ignored)

    def nearest(self, point: Any, ignored: Optional[Body] = None) -> Optional[Hit]:
        """The surface nearest to a point (m), or the deepest around it; None: the world is empty."""
        return queries.nearest(self, point, ignored)

    @property
    def gravity(self) -> Tuple[float, float, float]:
        """As it is now, m/s^2."""
        with self._read() as world:
            g = lib.yw_world_gravity(world)
            return (g.x, g.y, g.z)

    def _set_end(self, end: Any, given: Any) -> Any:
        body, where = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        if not isinstance(body, Body):
            if given is not None:
                end.point = convert.vec3(given, "the point of a joint")
            return None
        if body._world is not self:
            raise InvalidError("a joint needs bodies of its own world")
        end.body = body._id
        if where is None:
            return None
        if body.method == "rigid":
            end.point = convert.vec3(where, "the point of a joint")
            return None
        chosen = convert.indices(where, None, "vertices", len(body))
        end.vertices, end.num_vertices = convert.address(chosen), len(chosen)
        return chosen

    # The step.

    def step(self, dt: Optional[float] = None, substeps: Optional[int] = None) -> Report:
        """Advances by dt (s) in equal substeps. Defaults: a frame of the scene, or 1/60 s and 4.

        A body that diverged is frozen and named in the report and in a YawaraWarning."""
        dt, substeps = self._pace(dt, substeps)
        struct = abi.yw_step_report()
        with self._lock:
            handle = self._handle()
            self._moment += 1
            status = lib.yw_world_step(handle, dt, substeps, ctypes.byref(struct))
            check(status, otherwise=f"a step of {dt} s in {substeps} substeps is not possible: dt must be "
                                    "above 0, substeps 1 to 10000")
            self._remember(dt, substeps)
            diverged = None
            if struct.diverged_bodies:
                diverged = text(lib.yw_body_name(handle, struct.first_diverged))
                warnings.warn(f"body {diverged!r} diverged at t = {lib.yw_world_time(handle):g} s and was "
                              "frozen: try more substeps", YawaraWarning, stacklevel=2)
        return Report(struct, diverged)

    def _pace(self, dt: Optional[float], substeps: Optional[int]) -> Tuple[float, int]:
        if dt is None:
            dt = 1.0 / (self._scene.fps if self._scene else 60.0)
        if substeps is None:
            substeps = self._scene.substeps if self._scene else 4
        return convert.number(dt, "dt"), convert.count(substeps, "substeps", 1, 10000)

    def _remember(self, dt: float, substeps: int) -> None:
        if self._history is None:
            return
        if self._history and self._history[-1][:2] == [dt, substeps]:
            self._history[-1][2] += 1
        else:
            self._history.append([dt, substeps, 1])

    def play(self, frames: Optional[int] = None, fps: Optional[float] = None,
             substeps: Optional[int] = None, on_fault: str = "warn") -> Iterator[Frame]:
        """Steps frame by frame: `for frame in world.play(240): frame["teddy"].positions`.

        Args:
            frames: how many; default: those of the scene, or without end.
            fps: frames per second; default: that of the scene, or 60.
            substeps: steps per frame; default: those of the scene, or 4.
            on_fault: "warn", or "raise" DivergedError when a body diverges.
        """
        if on_fault not in ("warn", "raise"):
            raise InvalidError(f"on_fault must be 'warn' or 'raise', but is {on_fault!r}")
        if fps is not None and not convert.number(fps, "fps") > 0:
            raise InvalidError(f"fps must be above 0, but is {fps}")
        if frames is None and self._scene:
            frames = self._scene.frames
        if frames is not None:
            convert.count(frames, "frames")
        pace = self._pace(None if fps is None else 1.0 / fps, substeps)
        return self._frames(frames, pace, on_fault)

    def _frames(self, frames: Optional[int], pace: Tuple[float, int], on_fault: str) -> Iterator[Frame]:
        done = 0
        while frames is None or done < frames:
            report = self.step(*pace)
            if report.diverged is not None and on_fault == "raise":
                raise DivergedError(f"body {report.diverged!r} diverged at t = {self.time:g} s: try more "
                                    "substeps")
            done += 1
            self._played += 1
            yield Frame(self, self._played, report)

    @property
    def time(self) -> float:
        """s since the start."""
        with self._read() as world:
            return lib.yw_world_time(world)

    @property
    def steps(self) -> int:
        """Substeps since the start."""
        with self._read() as world:
            return lib.yw_world_step_count(world)

    def measure_forces(self, on: bool = True) -> None:
        """Measures forces on bodies from the next step on, for body.forces()."""
        with self._lock:
            self._moment += 1
            check(lib.yw_world_measure_forces(self._handle(), bool(on)))

    # State.

    @property
    def hash(self) -> int:
        """Of everything the next step depends on; the same on every machine."""
        with self._read() as world:
            return lib.yw_world_hash(world)

    def save(self) -> bytes:
        """The state, for load() of a world that was built the same way."""
        with self._read() as world:
            room = ctypes.create_string_buffer(lib.yw_world_snapshot_size(world))
            size = ctypes.c_size_t()
            check(lib.yw_world_save(world, room, len(room), ctypes.byref(size)),
                  otherwise="there is not enough memory for a snapshot")
            return room.raw[:size.value]

    def load(self, snapshot: bytes) -> None:
        """Goes back to a state of save(), bit for bit."""
        if not isinstance(snapshot, (bytes, bytearray, memoryview)):
            raise InvalidError(f"a snapshot is bytes from world.save(), not {type(snapshot).__name__}")
        data, error = bytes(snapshot), abi.yw_error()
        with self._change() as world:
            check(lib.yw_world_load(world, data, len(data), ctypes.byref(error)), error)

    def sensitivity(self, parameter: str, **settings: Any) -> Any:
        """How the world would differ now with another value of a parameter of its scene: see
        yawara.sensitivity."""
        from .rollouts import sensitivity

        return sensitivity(self, parameter, **settings)

    def __repr__(self) -> str:
        if self.closed:
            return "<World, closed>"
        return f"<World, {len(self)} bodies, t = {self.time:g} s>"


_BODY_SETTINGS = ("velocity", "angular_velocity", "friction", "restitution", "body_contact",
                  "self_contact", "start")
_others = tuple(name for name in abi.DOCS["yw_body_def"] if name not in _BODY_SETTINGS)
World.set_wind.__doc__ = (World.set_wind.__doc__ or "") + convert.document(
    "yw_wind_def", leave_out=("velocity",))
World.add.__doc__ = (World.add.__doc__ or "") + convert.document("yw_body_def", leave_out=_others)
