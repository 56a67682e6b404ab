# SPDX-License-Identifier: MIT
"""Takes what a bake needs from a Blender scene, and follows its animation through all frames."""
import os

import numpy as np

from . import axes, meshes, pointcache
from .fingerprint import is_animated
from .scene import FILES, SceneWriter, clean
from .sources import Body, Handle, Obstacle, Settings, SourceError

KINDS = {"SOFT": "volume", "RIGID": "rigid", "SHEET": "sheet", "ROD": "rod"}
WANTED = {"SOFT": ("MESH",), "RIGID": ("MESH",), "SHEET": ("MESH",), "OBSTACLE": ("MESH",), "ROD": ("CURVE",),
          "HANDLE": ("EMPTY",)}


def participants(scene):
    """Objects of the scene that take part, by role; results of bakes are none."""
    found = sorted((o for o in scene.objects if o.yawara.role != "NONE"), key=lambda o: o.name)
    for obj in found:
        wanted = WANTED[obj.yawara.role]
        if obj.type not in wanted:
            raise SourceError(obj.name, f"is of type {obj.type.title()}, but a {obj.yawara.role.lower()} must be of type "
                                        f"{wanted[0].title()}")
    return found


def settings_of(scene):
    unit = scene.unit_settings.scale_length if scene.unit_settings.system != "NONE" else 1.0
    fps = scene.render.fps / scene.render.fps_base
    frames = scene.frame_end - scene.frame_start
    if frames < 1:
        raise ValueError("The frame range of the scene is empty: set its end after its start.")
    return Settings(scene.name, np.zeros((1, 3)), fps, frames, unit, scene.yawara.substeps, scene.yawara.contact)


def _color(obj):
    material = obj.active_material
    return list(material.diffuse_color[:3]) if material else None


def _body(obj, settings, start):
    y = obj.yawara
    body = Body(obj.name, KINDS[y.role], np.array(obj.matrix_world), method=y.method, material=y.material,
                modulus=y.modulus, ratio=y.ratio, density=y.density, beta=y.beta, damping=y.damping,
                friction=y.friction, restitution=y.restitution, self_contact=y.self_contact,
                velocity=tuple(y.velocity), size=y.size, level=y.level, thickness=y.thickness, radius=y.radius,
                color=_color(obj), follow_stiffness=y.follow_stiffness, follow_damping=y.follow_damping,
                stiff_modulus=y.stiff_modulus)
    body.start = max(y.start - start, 0) / settings.fps if y.start else 0.0
    if y.role == "ROD":
        body.splines = meshes.splines(obj)
        if obj.data.bevel_depth > 0:
            body.radius = obj.data.bevel_depth
    return body


def _take_mesh(obj, body, posed, weights):
    """The mesh of a body. posed: vertices in the first frame; weights: of examples in all frames."""
    rest = meshes.base(obj)
    size = float(np.ptp(rest, axis=0).max())
    differs = np.abs(posed - rest).max(initial=0.0) > 1e-6 * size
    # Only volumes of tets can start in another pose than they rest in.
    volume = body.kind == "volume" and body.method != "plastic"
    body.mesh = meshes.take(obj, rest if volume or not differs else posed)
    body.start_vertices = posed if volume and differs else None
    if body.kind == "volume":
        body.examples = meshes.examples(obj)
        body.weights = weights if body.examples and obj.yawara.keyed else None
        body.stiff_weights = meshes.weights(obj, obj.yawara.stiff, "Stiffness")
        body.groups = [(item.name, meshes.weights(obj, item.name, "Parts")) for item in obj.yawara.parts]
    if body.kind in ("volume", "sheet"):
        body.strengths = meshes.strengths(obj)
    return body


class Sampler:
    """Walks through the frames with the modifiers off that do not act on what is simulated."""

    def __init__(self, context, scene, objects):
        self.context, self.scene, self.objects = context, scene, objects

    def __enter__(self):
        self.frame = self.scene.frame_current, self.scene.frame_subframe
        hidden = [m for o in self.objects if o.type == "MESH" for m in meshes.hidden_from_cache(o)]
        self.hidden = [(m, m.show_viewport) for m in hidden]
        for modifier in hidden:
            modifier.show_viewport = False
        return self

    def __exit__(self, *_):
        for modifier, shown in self.hidden:
            modifier.show_viewport = shown
        self.scene.frame_set(self.frame[0], subframe=self.frame[1])

    def frames(self, every):
        """(index, dependency graph) of all frames, or only of the first."""
        last = self.scene.frame_end if every else self.scene.frame_start
        for index, frame in enumerate(range(self.scene.frame_start, last + 1)):
            self.scene.frame_set(frame)
            yield index, self.context.evaluated_depsgraph_get()


class _Track:
    """What is kept of an object from frame to frame."""

    def __init__(self, obj, folder, unit):
        self.obj, self.folder, self.unit = obj, folder, unit
        self.matrices, self.strengths, self.posed, self.cache, self.file = [], [], None, None, ""
        self.weights = []
        self.deforms = False

    def sample(self, depsgraph, follows):
        self.matrices.append(np.array(self.obj.evaluated_get(depsgraph).matrix_world))
        self.strengths.append(self.obj.yawara.strength)
        if self.obj.type != "MESH":
            return
        self.weights.append(meshes.example_values(self.obj))
        points = meshes.evaluated(self.obj, depsgraph)
        if self.posed is None:
            self.posed = points
        self.deforms = self.deforms or not np.array_equal(points, self.posed)
        if follows:
            self._write(points)

    def is_rigid(self):
        """Whether the mesh only moves as a whole."""
        stretches = [axes.split(m)[0] for m in self.matrices]
        return not self.deforms and all(np.allclose(s, stretches[0], rtol=1e-5, atol=0) for s in stretches)

    def _write(self, points):
        """World coordinates of the scene, for vertices that follow."""
        world = axes.to_scene(axes.apply(self.matrices[-1], points), self.unit)
        if self.cache is None:
            self.file = f"{FILES}/{clean(self.obj.name)}_{len(os.listdir(os.path.join(self.folder, FILES))):03d}_motion.pc2"
            self.cache = pointcache.Writer(os.path.join(self.folder, self.file), len(points))
        self.cache.append(world[None])

    def moves(self):
        return any(not np.array_equal(m, self.matrices[0]) for m in self.matrices)


def _needs_motion(obj):
    """Whether vertices follow the object's animation, or bodies collide with it while it deforms."""
    y = obj.yawara
    if y.role == "OBSTACLE":
        return not y.plane and is_animated(None, [obj])
    return y.role in ("SOFT", "SHEET") and bool(y.pins or y.follow)


def _holder(handle, bodies):
    if handle.yawara.body:
        return handle.yawara.body.name
    soft = [o.name for o in bodies if o.yawara.role != "RIGID"]
    if len(soft) != 1:
        raise SourceError(handle.name, "choose the body that the handle holds")
    return soft[0]


def write(context, scene, folder):
    """Writes the scene file and its files. Returns the writer, and the record that a bake keeps."""
    objects = participants(scene)
    settings = settings_of(scene)
    gravity = []
    bodies = [o for o in objects if o.yawara.role in KINDS]
    if not bodies:
        raise ValueError("Nothing to simulate: no object is a soft body, sheet, rod or rigid body.")
    os.makedirs(os.path.join(folder, FILES), exist_ok=True)
    tracks = {o.name: _Track(o, folder, settings.unit) for o in objects}
    follows = {o.name: _needs_motion(o) for o in objects}
    with Sampler(context, scene, objects) as sampler:
        for _, depsgraph in sampler.frames(is_animated(scene, objects)):
            gravity.append(np.array(scene.gravity) * settings.unit if scene.use_gravity else np.zeros(3))
            for name, track in tracks.items():
                track.sample(depsgraph, follows[name])
    settings.gravity = np.array(gravity)
    writer = SceneWriter(folder, settings)
    for obj in bodies:
        track = tracks[obj.name]
        body = _body(obj, settings, scene.frame_start)
        body.matrix, body.targets = track.matrices[0], track.file
        writer.add_body(body if obj.type != "MESH" else _take_mesh(obj, body, track.posed, track.weights))
    for obj in (o for o in objects if o.yawara.role == "OBSTACLE"):
        _add_obstacle(writer, obj, tracks[obj.name])
    for obj in (o for o in objects if o.yawara.role == "HANDLE"):
        track = tracks[obj.name]
        scale = float(np.abs(np.linalg.norm(track.matrices[0][:3, :3], axis=0)).max())
        writer.add_handle(Handle(obj.name, _holder(obj, bodies), obj.empty_display_size * scale, track.matrices,
                                 obj.yawara.handle_stiffness, obj.yawara.handle_damping, track.strengths))
    writer.finish()
    return writer, _record(writer, scene, settings, tracks)


def _add_obstacle(writer, obj, track):
    y = obj.yawara
    mesh = None if y.plane else meshes.take(obj, track.posed)
    obstacle = Obstacle(obj.name, track.matrices, mesh, y.friction, y.restitution, y.sticky, _color(obj))
    if mesh is not None and not track.is_rigid():
        obstacle.targets, obstacle.thickness = track.file, y.thickness
    elif track.file:
        os.remove(os.path.join(writer.folder, track.file))
    writer.add_obstacle(obstacle)


def _record(writer, scene, settings, tracks):
    """What is kept next to a bake: enough to go on with it in another session."""
    for body in writer.bodies:
        track = tracks[body["object"]]
        if body["kind"] in ("volume", "rigid", "sheet"):
            matrices = track.matrices if track.moves() else track.matrices[:1]
            body["matrices"] = [m.tolist() for m in matrices]
    return {"bodies": writer.bodies, "places": writer.places, "frames": settings.frames, "unit": settings.unit,
            "start": scene.frame_start}
