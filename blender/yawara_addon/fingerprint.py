# SPDX-License-Identifier: MIT
"""Whether a bake still shows what its scene would make: a hash of all that it depends on.

Only what users edit is looked at, not what the animation makes of it: frames may change freely."""
import hashlib

import bpy
import numpy as np

from . import meshes

# Of modifiers and constraints: what the interface or their evaluation keeps there.
INTERFACE = {"rna_type", "is_active", "show_expanded", "show_render", "show_in_editmode", "show_on_cage", "error_location",
             "error_rotation", "is_valid"}
# Of the add-on's own settings: results and looks, and a number that may be animated.
SKIPPED = {"result", "baked", "show_as", "strength", "rna_type", "name"}


def _owners(obj):
    """The object and its data, where animation may be."""
    out = [obj]
    if obj.data:
        out.append(obj.data)
        if getattr(obj.data, "shape_keys", None):
            out.append(obj.data.shape_keys)
    return out


def _animated(block):
    data = block.animation_data
    return bool(data and (data.action or data.drivers or data.nla_tracks))


def _pointers(struct):
    """Objects that a modifier or constraint points to."""
    out = []
    for prop in struct.bl_rna.properties:
        if prop.type == "POINTER" and prop.identifier != "rna_type":
            value = getattr(struct, prop.identifier, None)
            if isinstance(value, bpy.types.Object):
                out.append(value)
    return out


def _driver_targets(obj):
    """Objects that drivers of an object or of its data look at."""
    drivers = [d for block in _owners(obj) if block.animation_data for d in block.animation_data.drivers]
    return [t.id for d in drivers for v in d.driver.variables for t in v.targets if isinstance(t.id, bpy.types.Object)]


def related(objects):
    """The objects, their parents, and what their modifiers, constraints and drivers point to."""
    found, queue = {}, list(objects)
    while queue:
        obj = queue.pop()
        if obj is None or obj.name in found:
            continue
        found[obj.name] = obj
        queue += [obj.parent, *_driver_targets(obj)]
        for struct in [*obj.modifiers, *obj.constraints]:
            if struct.name != meshes.CACHE:
                queue += _pointers(struct)
        for bone in obj.pose.bones if obj.pose else ():
            for constraint in bone.constraints:
                queue += _pointers(constraint)
    return [found[name] for name in sorted(found)]


def is_animated(scene, objects):
    """Whether anything that the objects depend on may move. scene: may be None."""
    moving = {"WAVE", "CLOTH", "SOFT_BODY", "MESH_CACHE", "OCEAN"}
    everything = related(objects)
    return (scene is not None and _animated(scene)) or any(_animated(b) for o in everything for b in _owners(o)) or any(
        m.type in moving and m.name != meshes.CACHE for o in everything for m in o.modifiers) or any(
        o.rigid_body for o in everything)


class _Hash:
    def __init__(self):
        self.hash = hashlib.sha256()

    def add(self, *values):
        self.hash.update(repr(values).encode())

    def array(self, values):
        self.hash.update(np.ascontiguousarray(values).tobytes())

    def struct(self, struct, skipped=()):
        """Plain properties of a struct; those of pointers by name."""
        for prop in struct.bl_rna.properties:
            name = prop.identifier
            if name in skipped or prop.type == "COLLECTION":
                continue
            value = getattr(struct, name, None)
            if prop.type == "POINTER":
                value = getattr(value, "name", None)
            elif getattr(prop, "is_array", False):
                value = np.array(value).ravel().tolist()
            self.add(name, value if not isinstance(value, set) else sorted(value))


def _curves(action):
    """F-curves of an action, of all slots where actions have them (4.4): fcurves has those of the first only."""
    layers = getattr(action, "layers", None)
    if layers:
        return [c for layer in layers for strip in layer.strips for bag in strip.channelbags for c in bag.fcurves]
    return list(getattr(action, "fcurves", ()))


def _add_animation(h, block):
    data = block.animation_data
    if not data:
        return
    h.add(getattr(getattr(data, "action_slot", None), "identifier", ""))
    actions = [data.action] + [s.action for t in data.nla_tracks if not t.mute for s in t.strips]
    for strip in (s for t in data.nla_tracks if not t.mute for s in t.strips):
        h.add(strip.frame_start, strip.frame_end, strip.scale, strip.repeat)
    for driver in data.drivers:
        h.add(driver.data_path, driver.array_index, driver.driver.type, driver.driver.expression)
        h.add(*[(v.name, v.type, t.data_path, t.transform_type) for v in driver.driver.variables for t in v.targets])
    for curve in (c for a in actions if a for c in _curves(a)):
        points = curve.keyframe_points
        h.add(curve.data_path, curve.array_index, len(points), [p.interpolation for p in points])
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(points), np.float32)
            points.foreach_get(name, values)
            h.array(values)


def _add_mesh(h, obj):
    mesh = obj.data
    h.array(meshes.base(obj))
    for numbers in meshes.corners(mesh):
        h.array(numbers)
    keys = mesh.shape_keys
    for key in keys.key_blocks if keys else ():
        h.add(key.name, key.relative_key.name, key.mute, None if _animated(keys) else key.value)
        h.array(meshes.coordinates(key.data))
    for name in {obj.yawara.pins, obj.yawara.follow, obj.yawara.stiff, *(p.name for p in obj.yawara.parts)} - {""}:
        if obj.vertex_groups.get(name):
            h.add(name)
            h.array(meshes.weights(obj, name, ""))


def _add_curve(h, obj):
    h.add(obj.data.bevel_depth, obj.data.resolution_u)
    for spline in obj.data.splines:
        h.struct(spline)
        for point in [*spline.points, *spline.bezier_points]:
            h.add(*[tuple(getattr(point, n)) for n in ("co", "handle_left", "handle_right") if hasattr(point, n)])


def _add_object(h, obj):
    h.add(obj.name, obj.type, obj.parent.name if obj.parent else None)
    moving = _animated(obj)
    if not moving:
        h.add(*[round(v, 7) for row in obj.matrix_basis for v in row])
    for block in _owners(obj):
        _add_animation(h, block)
    for struct in [*meshes.before_cache(obj), *obj.constraints]:
        h.struct(struct, INTERFACE)
    for bone in obj.pose.bones if obj.pose and not moving else ():
        h.add(bone.name, *[round(v, 7) for row in bone.matrix_basis for v in row])
    if obj.type == "EMPTY":
        h.add(obj.empty_display_size)


def of_scene(scene):
    """The fingerprint of everything that a bake of the scene depends on."""
    h = _Hash()
    objects = sorted((o for o in scene.objects if o.yawara.role != "NONE"), key=lambda o: o.name)
    y = scene.yawara
    h.add(y.substeps, y.contact, scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base,
          scene.use_gravity, scene.unit_settings.scale_length, scene.unit_settings.system)
    if not _animated(scene):
        h.add(*scene.gravity)
    _add_animation(h, scene)
    for obj in objects:
        h.struct(obj.yawara, SKIPPED)
        h.add(*[i.name for i in obj.yawara.left_out], *[i.name for i in obj.yawara.parts])
        if not _animated(obj):
            h.add(obj.yawara.strength)
        if obj.type == "MESH":
            _add_mesh(h, obj)
        elif obj.type == "CURVE":
            _add_curve(h, obj)
    for obj in related(objects):
        _add_object(h, obj)
    return h.hash.hexdigest()
