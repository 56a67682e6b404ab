# SPDX-License-Identifier: MIT
"""Makes a scene file, with the files that it names, of what the add-on took from Blender."""
import json
import os
import re

import numpy as np

from . import axes, meshfiles, stance, words
from .sources import SourceError

# Selects every vertex of a body, m.
EVERYWHERE = {"sphere": {"radius": 1e6}}
FILES = "files"
# Smallest thickness of a solid, as a share of its longest side.
FLAT = 1e-6


def clean(name):
    """A name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:40] or "object"


def _numbers(values):
    # 9 digits: a 32-bit float reads back as itself.
    return [float(f"{float(v):.9g}") for v in values]


class SceneWriter:
    """Collects bodies, obstacles and handles; finish() writes the scene file.

    places: object by path in the scene, for messages; bodies: what each body of the scene is."""

    def __init__(self, folder, settings):
        self.folder, self.settings, self.unit = folder, settings, settings.unit
        self.places, self.bodies, self._files = {}, [], {}
        gravity = np.atleast_2d(np.asarray(settings.gravity, float))
        self.scene = {"name": settings.name, "gravity": _numbers(axes.to_scene(gravity[0])),
                      "fps": settings.fps, "frames": settings.frames, "substeps": settings.substeps,
                      "contact": settings.contact, "bodies": [], "obstacles": []}
        if (gravity != gravity[0]).any():
            keys = [{"time": f / settings.fps, "value": _numbers(axes.to_scene(g))} for f, g in enumerate(gravity)]
            self.scene["tracks"] = [{"set": "gravity", "keys": keys}]
        os.makedirs(os.path.join(folder, FILES), exist_ok=True)

    # Files ------------------------------------------------------------------------------------

    def _file(self, name, ending, write):
        """Writes a file once per content: write(path). Returns its path in the scene."""
        number = len(self._files)
        relative = f"{FILES}/{clean(name)}_{number:03d}.{ending}"
        path = os.path.join(self.folder, relative)
        write(path)
        with open(path, "rb") as file:
            data = file.read()
        known = self._files.setdefault((ending, data), relative)
        if known != relative:
            os.remove(path)
        return known

    def _mesh_file(self, name, mesh, stretch):
        rest = self._rest(mesh.vertices, stretch)
        flip = np.linalg.det(stretch) < 0
        return self._file(name, "obj", lambda path: meshfiles.write_obj(
            path, rest, mesh.faces, mesh.uvs, mesh.materials, flip)), rest

    def _rest(self, vertices, stretch):
        """Vertices of an object in the model's coordinates, m."""
        vertices = np.asarray(vertices, np.float32)
        if not np.array_equal(stretch, np.eye(3)):
            vertices = (vertices.astype(float) @ stretch.T).astype(np.float32)
        return axes.to_scene(vertices, self.unit)

    def _placed(self, entry, rotation, translation):
        entry["position"] = _numbers(axes.to_scene(translation, self.unit))
        if not np.array_equal(rotation, np.eye(3)):
            entry["rotation"] = _numbers(axes.quaternion(axes.scene_rotation(rotation)))

    # Bodies -----------------------------------------------------------------------------------

    def add_body(self, body):
        """Adds the body, or one for each spline of a curve."""
        stretch, rotation, translation = axes.split(body.matrix)
        if abs(np.linalg.det(stretch)) < 1e-12:
            raise SourceError(body.name, "its scale is 0 along an axis; give it a size")
        if body.kind == "rod":
            for i, spline in enumerate(body.splines):
                self._add_rod(body, spline, i, stretch, rotation, translation)
            return
        file, rest = self._mesh_file(body.name, body.mesh, stretch)
        size = np.ptp(rest, axis=0)
        if not float(size.max()) > 0:
            raise SourceError(body.name, "all its vertices are at one point")
        if body.kind != "sheet" and not float(size.min()) > FLAT * float(size.max()):
            raise SourceError(body.name, "is flat: choose the role Sheet, or give it a thickness")
        entry = self._common(body, body.name)
        method = {"sheet": "slender", "rigid": "rigid"}.get(body.kind, body.method)
        upright = rest.astype(float) @ axes.scene_rotation(rotation).T
        legs = stance.measure(upright, body.mesh.faces) if body.kind == "volume" else stance.Stance()
        values, density = words.settings(body.material, method, float(size.max()), float(np.linalg.norm(size)),
                                         body.modulus, body.ratio, body.density, legs)
        entry["density"] = density
        if body.kind == "sheet":
            entry["sheet"] = {"file": file, "thickness": body.thickness * self.unit}
        else:
            self._add_volume(entry, body, file, stretch, method)
        entry[method] = {} if method == "rigid" else self._method(body, method, values, rest)
        self._placed(entry, rotation, translation)
        self._append(entry, body, "particles" if method == "plastic" else body.kind)
        self._add_follow(entry, body, rest)

    def _append(self, entry, body, kind):
        self.places[f"bodies[{len(self.scene['bodies'])}]"] = body.name
        self.bodies.append({"object": body.name, "name": entry["name"], "kind": kind})
        self.scene["bodies"].append(entry)

    def _common(self, body, name):
        entry = {"name": name, "friction": body.friction, "restitution": body.restitution}
        velocity = axes.to_scene(np.asarray(body.velocity, float), self.unit)
        if velocity.any():
            entry["velocity"] = _numbers(velocity)
        if body.self_contact:
            entry["self_contact"] = True
        if body.start > 0:
            entry["start"] = body.start
        if body.color is not None:
            entry["color"] = _numbers(np.clip(body.color, 0, 1))
        return entry

    def _add_volume(self, entry, body, file, stretch, method):
        shape = {"mesh": {"file": file}}
        if body.size > 0 and method in ("match", "frames", "fem"):
            entry["mesh"] = {"tets": {"shape": shape, "size": body.size * self.unit}}
        else:
            entry["shape"] = shape
        if method in ("match", "frames", "fem"):
            entry["surface"] = {"file": file}
        if method in ("match", "frames") and body.examples:
            entry["examples"] = [
                {"name": name, "surface_file": self._pose(body, name, vertices, stretch)}
                for name, vertices in body.examples]
            self._add_weights(entry, body)
        if body.start_vertices is not None and "surface" in entry:
            entry["start_pose"] = {"surface_file": self._pose(body, "start", body.start_vertices, stretch)}

    def _add_weights(self, entry, body):
        """Weights of the examples over time, instead of those that the body would choose."""
        if body.weights is None:
            return
        rows = np.clip(np.asarray(body.weights, float), 0, 1)
        entry["tracks"] = []
        for i, column in enumerate(rows.T):
            column = column if (column != column[0]).any() else column[:1]
            keys = [{"time": f / self.settings.fps, "value": float(f"{w:.9g}")} for f, w in enumerate(column)]
            entry["tracks"].append({"set": "weight", "example": i, "keys": keys})

    def _pose(self, body, name, vertices, stretch):
        rest = self._rest(vertices, stretch)
        return self._file(f"{body.name}_{name}", "obj", lambda path: meshfiles.write_obj(
            path, rest, body.mesh.faces))

    def _method(self, body, method, values, rest):
        values = dict(values)
        key = words.damping_key(method)
        if body.damping >= 0 and key:
            values[key] = body.damping
        if method in ("match", "frames") and body.examples:
            values["beta"] = body.beta
        if method == "plastic" and body.size > 0:
            values["spacing"] = body.size * self.unit
        if method == "fem":
            values["max_level"] = body.level
        if method in ("match", "frames") and body.groups:
            values["groups"] = [
                {"painted": {"file": self._paint(body, name, rest, weights), "attribute": "quality"}}
                for name, weights in body.groups]
        if body.stiff_weights is not None and method == "match":
            raise SourceError(body.name, "painted stiffness needs a method with a modulus: frames, fem or plastic")
        if body.stiff_weights is not None:
            paint = self._paint(body, "stiffness", rest, body.stiff_weights)
            values["fields"] = [{"painted": {"file": paint, "attribute": "quality"},
                                 "youngs_modulus": [values["youngs_modulus"], body.stiff_modulus]}]
        return values

    def _paint(self, body, name, points, weights):
        return self._file(f"{body.name}_{name}", "ply", lambda path: meshfiles.write_ply(
            path, points, np.asarray(weights, np.float32), body.mesh.faces))

    def _add_follow(self, entry, body, rest):
        """Pins for the vertices that follow the animation of the object."""
        if body.strengths is None or not np.any(body.strengths):
            return
        if body.kind == "rigid" or "plastic" in entry:
            raise SourceError(body.name, "pins and following need a soft body of match, frames or fem, or a sheet")
        paint = self._paint(body, "strength", rest, body.strengths)
        follow = {"file": body.targets, "paint": paint, "by": "nearest",
                  "stiffness": body.follow_stiffness, "damping": body.follow_damping}
        pin = {"select": EVERYWHERE, "follow": follow}
        if body.kind == "sheet":
            follow["by"] = "number"
        entry.setdefault("pins", []).append(pin)

    def _add_rod(self, body, spline, number, stretch, rotation, translation):
        points = self._rest(spline.points, stretch)
        length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        if len(points) < 2 or not length > 0:
            raise SourceError(body.name, "a spline needs two points that are apart")
        name = body.name if number == 0 else f"{body.name} {number + 1}"
        entry = self._common(body, name)
        values, density = words.settings(body.material, "slender", length, length, body.modulus,
                                         body.ratio, body.density)
        if body.damping >= 0:
            values["damping"] = body.damping
        entry["density"] = density
        entry["rod"] = {"points": [_numbers(p) for p in points], "radius": body.radius * self.unit,
                        "closed": spline.closed}
        entry["slender"] = values
        self._placed(entry, rotation, translation)
        self._append(entry, body, "rod")

    # Obstacles and handles --------------------------------------------------------------------

    def _path(self, matrices, pivot=None):
        """Keys of a motion, one per frame; None if it stays where it is."""
        first = np.asarray(matrices[0], float)
        if all(np.array_equal(m, first) for m in matrices[1:]):
            return None
        _, start, origin = axes.split(first)
        keys = []
        for frame, matrix in enumerate(matrices):
            _, rotation, translation = axes.split(matrix)
            turn = axes.scene_rotation(rotation @ start.T)
            keys.append({"time": frame / self.settings.fps,
                         "offset": _numbers(axes.to_scene(translation - origin, self.unit)),
                         "rotation": _numbers(axes.quaternion(turn))})
        return {"keys": keys} if pivot is None else {"keys": keys, "pivot": pivot}

    def add_obstacle(self, obstacle):
        stretch, rotation, translation = axes.split(obstacle.matrices[0])
        entry = {"name": obstacle.name, "friction": obstacle.friction, "restitution": obstacle.restitution,
                 "sticky": obstacle.sticky}
        if obstacle.color is not None:
            entry["color"] = _numbers(np.clip(obstacle.color, 0, 1))
        if obstacle.targets:
            # The animation is in world coordinates, with all that moves the object in it.
            file, _ = self._mesh_file(obstacle.name, obstacle.mesh, stretch)
            entry["animation"] = {"file": obstacle.targets, "mesh": file, "fps": self.settings.fps,
                                  "thickness": obstacle.thickness * self.unit}
        elif obstacle.mesh is None:
            entry["shape"] = {"plane": {"normal": [0, 1, 0], "offset": 0}}
        else:
            file, rest = self._mesh_file(obstacle.name, obstacle.mesh, stretch)
            size = np.ptp(rest, axis=0)
            if not float(size.min()) > FLAT * float(size.max()):
                raise SourceError(obstacle.name, "is flat, so nothing is inside it: give it a thickness, or choose "
                                                 "the shape Plane")
            entry["shape"] = {"mesh": {"file": file}}
        if not obstacle.targets:
            self._placed(entry, rotation, translation)
            path = self._path(obstacle.matrices)
            if path:
                entry["path"] = path
        self.places[f"obstacles[{len(self.scene['obstacles'])}]"] = obstacle.name
        self.scene["obstacles"].append(entry)

    def add_handle(self, handle):
        owners = [i for i, body in enumerate(self.bodies) if body["object"] == handle.body]
        if not owners:
            raise SourceError(handle.name, f'holds "{handle.body}", which is not a soft body, sheet or rod')
        center = axes.to_scene(np.asarray(handle.matrices[0], float)[:3, 3], self.unit)
        pin = {"select": {"sphere": {"radius": handle.radius * self.unit, "center": _numbers(center)}}}
        if handle.stiffness > 0:
            pin["spring"] = {"stiffness": handle.stiffness, "damping": handle.damping}
        path = self._path(handle.matrices, _numbers(center))
        if path:
            pin["path"] = path
        strengths = np.atleast_1d(np.asarray(1.0 if handle.strengths is None else handle.strengths, float))
        if (strengths != 1.0).any():
            pin["strength"] = [{"time": f / self.settings.fps, "value": float(s)} for f, s in enumerate(strengths)]
        index = owners[0]
        pins = self.scene["bodies"][index].setdefault("pins", [])
        self.places[f"bodies[{index}].pins[{len(pins)}]"] = handle.name
        pins.append(pin)

    def finish(self, name="scene.json"):
        """Writes the scene file and returns its path."""
        if not self.scene["bodies"]:
            raise ValueError("Nothing to simulate: no object is a soft body, sheet, rod or rigid body.")
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.scene, file, ensure_ascii=False, indent=1)
        return path
