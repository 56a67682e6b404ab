# SPDX-License-Identifier: MIT
"""What a bake looks like in Blender: Mesh Cache modifiers on the objects themselves, and objects
for rods and particles, whose surfaces Blender does not have yet."""
import os

import bpy
import numpy as np

from . import meshes, meshfiles, pointcache, skin

SUFFIX = " (Yawara)"
# Marks the hidden objects of velocities.
VELOCITY = "yawara_velocity"


def _link_path(path):
    """A path relative to the .blend where possible, so that both can be moved together."""
    if not bpy.data.filepath:
        return path
    try:
        return bpy.path.relpath(path)
    except ValueError:
        return path


def _move(obj, modifier, index):
    """Moves a modifier in the stack."""
    if hasattr(obj.modifiers, "move"):
        obj.modifiers.move(list(obj.modifiers).index(modifier), index)
        return
    with bpy.context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=index)


def play(obj, path, frame_start, smooth=True):
    """Gives a mesh object the cache, before the first modifier that makes vertices."""
    points = pointcache.read_header(path)[0]
    if points != len(obj.data.vertices):
        raise pointcache.CacheError(f'"{obj.name}" has {len(obj.data.vertices)} vertices, but the result has {points}: '
                                    "bake again")
    index = meshes.cache_index(obj)
    modifier = obj.modifiers.get(meshes.CACHE) or obj.modifiers.new(meshes.CACHE, "MESH_CACHE")
    _move(obj, modifier, index)
    modifier.cache_format = "PC2"
    modifier.filepath = _link_path(path)
    modifier.frame_start = frame_start
    modifier.time_mode, modifier.play_mode, modifier.deform_mode = "FRAME", "SCENE", "OVERWRITE"
    modifier.interpolation = "LINEAR" if smooth else "NONE"
    modifier.show_in_editmode = False
    return modifier


def _result_object(source, mesh, collections):
    """The object that shows what becomes of a curve or of particles; made once, then reused."""
    result = source.yawara.result
    if result is None or result.name not in bpy.data.objects:
        result = bpy.data.objects.new(source.name + SUFFIX, mesh)
        source.yawara.result = result
        for collection in collections:
            collection.objects.link(result)
    else:
        old, result.data = result.data, mesh
        if old.users == 0:
            bpy.data.meshes.remove(old)
    for slot in source.material_slots:
        mesh.materials.append(slot.material)
    source.hide_viewport = source.hide_render = True
    source.yawara.baked = True
    return result


def _joined(name, parts):
    """One mesh of several. parts: (vertices, faces)."""
    vertices, polygons, first = [], [], 0
    for points, faces in parts:
        vertices.append(points)
        polygons += [[first + v for v in face] for face in faces]
        first += len(points)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.concatenate(vertices).tolist(), [], polygons)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.update()
    return mesh


def show_rods(source, caches, joined, frame_start):
    """caches: of all splines of a curve; joined: the cache of all of them together."""
    parts = [meshfiles.read_obj(path[:-4] + ".obj") for path in caches]
    total = sum(len(points) for points, _ in parts)
    result = source.yawara.result
    if result is None or len(result.data.vertices) != total:
        result = _result_object(source, _joined(source.name + SUFFIX, parts), source.users_collection)
    if len(caches) > 1:
        rows = [pointcache.read(path) for path in caches]
        frames = min(len(r) for r in rows)
        pointcache.Writer(joined, total).append(np.concatenate([r[:frames] for r in rows], axis=1))
    play(result, joined if len(caches) > 1 else caches[0], frame_start)


def _velocities(shown, path, frame_start):
    """A hidden object whose vertices are at the velocities of what `shown` shows; None: there are none.
    Geometry nodes can look at an object, but not into a file."""
    if not os.path.exists(path):
        return None
    points = pointcache.read_header(path)[0]
    found = next((child for child in shown.children if VELOCITY in child), None)
    if found is None or len(found.data.vertices) != points:
        remove_velocities(shown)
        mesh = bpy.data.meshes.new(shown.name + " velocity")
        mesh.from_pydata([(0, 0, 0)] * points, [], [])
        found = bpy.data.objects.new(mesh.name, mesh)
        found[VELOCITY], found.parent = True, shown
        for collection in shown.users_collection:
            collection.objects.link(found)
        found.hide_viewport = found.hide_render = True
    play(found, path, frame_start, smooth=False)
    return found


def remove_velocities(shown):
    """Removes what _velocities made."""
    for child in [c for c in shown.children if VELOCITY in c]:
        mesh = child.data
        bpy.data.objects.remove(child)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)


def show_particles(source, path, frame_start, radius):
    """A cloud of points, or a skin around it, made by geometry nodes."""
    points, _, frames = pointcache.read_header(path)
    result = source.yawara.result
    if result is None or len(result.data.vertices) != points:
        mesh = bpy.data.meshes.new(source.name + SUFFIX)
        mesh.from_pydata(pointcache.read(path)[0].tolist() if frames else [(0, 0, 0)] * points, [], [])
        result = _result_object(source, mesh, source.users_collection)
    # Particles come and go: between two frames they are where their velocities take them.
    play(result, path, frame_start, smooth=False)
    velocities = _velocities(result, path[:-4] + ".velocity.pc2", frame_start)
    skin.attach(result, source.yawara.show_as, radius, source.active_material, velocities)


def new_object(collection, name, path, frame_start, radius=None):
    """An object for a body that has none: its surface, or its particles if a radius is given."""
    if radius is None:
        mesh = _joined(name, [meshfiles.read_obj(path[:-4] + ".obj")])
    else:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(pointcache.read(path)[0].tolist(), [], [])
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    play(obj, path, frame_start, smooth=radius is None)
    if radius is not None:
        skin.attach(obj, "SKIN", radius, None, _velocities(obj, path[:-4] + ".velocity.pc2", frame_start))
    return obj


def refresh(objects):
    """Lets Blender read caches again that have grown."""
    for obj in objects:
        shown = obj.yawara.result or obj
        if meshes.CACHE in shown.modifiers:
            shown.update_tag(refresh={"DATA"} if shown.type == "MESH" else {"OBJECT"})


def remove(obj):
    """Takes a bake off an object."""
    if meshes.CACHE in obj.modifiers:
        obj.modifiers.remove(obj.modifiers[meshes.CACHE])
    result = obj.yawara.result
    if result is not None:
        remove_velocities(result)
        mesh = result.data
        bpy.data.objects.remove(result)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)
        obj.yawara.result = None
        obj.hide_viewport = obj.hide_render = False
    obj.yawara.baked = False


def show(record, arrival, objects):
    """Shows the caches of a bake on its objects. objects: by name."""
    rods = {}
    for target, body in zip(arrival.targets, record["bodies"]):
        path = arrival.cache_path(target)
        obj = objects.get(body["object"])
        if obj is None or not os.path.exists(path):
            continue
        if body["kind"] == "rod":
            rods.setdefault(body["object"], []).append(path)
        elif body["kind"] == "particles":
            show_particles(obj, path, record["start"], body.get("radius", 0.0))
        else:
            play(obj, path, record["start"])
            obj.yawara.baked = True
    for name, caches in rods.items():
        show_rods(objects[name], caches, caches[0][:-4] + "_all.pc2", record["start"])
