# SPDX-License-Identifier: MIT
"""What becomes of Blender's objects: pins, bones, obstacles, curves, planes, empties; and bad ones."""
import json
import math
import os
from types import SimpleNamespace

import bpy
import numpy as np
from support import add_box, add_mesh, add_plane, bake, fresh, group, program, refused, shown

from yawara_addon import baking, collect, panels


def written(scene):
    with open(os.path.join(baking.folder_of(scene), "scene.json"), encoding="utf-8") as file:
        return json.load(file)


def add_bar(name="bar"):
    """A bar along x, from 0 to 1, with six slices."""
    obj = add_box(name, 1.0, cuts=0)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=5)
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in obj.data.vertices:
        vertex.co = vertex.co.x + 0.5, 0.2 * vertex.co.y, 0.2 * vertex.co.z
    return obj


def pins():
    """pinned vertices stay, the others hang down"""
    fresh(frames=12)
    obj = add_bar()
    obj.yawara.method, obj.yawara.material = "frames", "word:jelly"
    group(obj, "held", {v.index: 1.0 for v in obj.data.vertices if v.co.x < 0.01})
    obj.yawara.pins = "held"
    first = shown(obj, 1)
    held, free = first[:, 0] < 0.01, first[:, 0] > 0.99
    bake()
    moved = shown(obj, 13) - first
    assert np.abs(moved[held]).max() < 0.02, np.abs(moved[held]).max()
    assert moved[free][:, 2].max() < -0.05, moved[free]


def armature():
    """an armature drives the arm, softly where the weight is small"""
    scene = fresh(frames=12)
    scene.use_gravity = False
    obj = add_bar()
    obj.yawara.material = "word:toy"
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones[0].head, rig.data.edit_bones[0].tail = (0, 0, 0), (1, 0, 0)
    bpy.ops.object.mode_set(mode="POSE")
    bone = rig.pose.bones[0]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (7, 0.6), (13, 0.6)):
        bone.rotation_euler = (0, 0, angle)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.object.mode_set(mode="OBJECT")
    group(obj, rig.data.bones[0].name, {v.index: 1.0 for v in obj.data.vertices})
    group(obj, "follow", {v.index: 1.0 for v in obj.data.vertices if v.co.x < 0.4})
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.yawara.follow = "follow"
    target = shown(obj, 13)
    first = shown(obj, 1)
    bake()
    assert [m.name for m in obj.modifiers] == ["Armature", "Yawara"]
    found = shown(obj, 13)
    near, end = first[:, 0] < 0.3, first[:, 0] > 0.99
    assert np.abs(found - target)[near].max() < 0.03, np.abs(found - target)[near].max()
    # The free end is taken along by the elastic body, not by the bone.
    turned = found[end].mean(axis=0) - first[end].mean(axis=0)
    assert np.linalg.norm(turned) > 0.2, turned
    assert not baking.check_stale(scene)
    bone.rotation_euler = (0, 0, 0.3)
    bone.keyframe_insert("rotation_euler", frame=13)
    assert baking.check_stale(scene), "another pose was not noticed"


def animated_obstacle():
    """an animated obstacle pushes a body"""
    scene = fresh(frames=12)
    scene.use_gravity = False
    obj = add_box("body", 0.4, (0.5, 0, 0), cuts=1)
    wall = add_box("wall", 0.5, (-0.2, 0, 0), "OBSTACLE")
    wall.keyframe_insert("location", frame=1)
    wall.location.x = 0.4
    wall.keyframe_insert("location", frame=13)
    bake()
    path = written(scene)["obstacles"][0]["path"]["keys"]
    assert len(path) == 13 and abs(path[-1]["offset"][0] - 0.6) < 1e-6, path[-1]
    center = shown(obj, 13, world=True).mean(axis=0)
    assert center[0] > 0.8, center


def deforming_obstacle():
    """an obstacle that deforms throws what rests on it into the air"""
    scene = fresh(frames=12)
    body = add_box("body", 0.4, (0, 0, 0.26), cuts=1)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=2)
    bed = bpy.context.object
    bed.name, bed.yawara.role, bed.yawara.thickness = "bed", "OBSTACLE", 0.02
    bed.shape_key_add(name="Basis")
    key = bed.shape_key_add(name="up")
    for point in key.data:
        point.co.z += 0.5 * max(0.0, 1.0 - point.co.x ** 2 - point.co.y ** 2)
    for frame, value in ((1, 0.0), (4, 0.0), (7, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    if '"animation"' not in program("schema"):
        folder = os.path.join(scene.yawara.folder, "written")
        collect.write(bpy.context, scene, folder)
        with open(os.path.join(folder, "scene.json"), encoding="utf-8") as file:
            entry = json.load(file)["obstacles"][0]
        assert "animation" in entry and "shape" not in entry, entry
        print("# this program has no obstacles that deform: only the scene file was looked at")
        return
    bake()
    height = [shown(body, frame, world=True)[:, 2].mean() for frame in (4, 13)]
    assert 0.1 < height[0] < 0.3 < height[1] - 0.2, height


def rod_from_a_curve():
    """a curve becomes a rod that hangs from a handle; the tube is shown instead of it"""
    fresh(frames=12)
    data = bpy.data.curves.new("rope", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.02
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(1)
    for point, x in zip(spline.bezier_points, (0.0, 1.0)):
        point.co = (x, 0, 1)
        point.handle_left_type = point.handle_right_type = "AUTO"
    obj = bpy.data.objects.new("rope", data)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.ops.yawara.add()
    assert obj.yawara.role == "ROD"
    bpy.ops.object.empty_add(location=(0, 0, 1))
    handle = bpy.context.object
    handle.empty_display_size = 0.06
    bpy.ops.yawara.add()
    assert handle.yawara.role == "HANDLE"
    bake()
    tube = obj.yawara.result
    assert tube and obj.hide_render, "no tube"
    first, last = shown(tube, 1), shown(tube, 13)
    assert abs(np.ptp(first[:, 0]) - 1.0) < 0.05 and abs(np.ptp(first[:, 2]) - 0.04) < 0.005, np.ptp(first, axis=0)
    near = first[:, 0] < 0.01
    assert np.abs(last - first)[near].max() < 0.04, np.abs(last - first)[near].max()
    assert (last - first)[first[:, 0] > 0.9][:, 2].max() < -0.1
    bpy.ops.yawara.free()
    assert obj.yawara.result is None and not obj.hide_render


def handle_moves():
    """an animated empty takes a part of a body along, and lets it go"""
    scene = fresh(frames=12)
    scene.use_gravity = False
    obj = add_bar()
    bpy.ops.object.empty_add(location=(0, 0, 0))
    handle = bpy.context.object
    handle.yawara.role, handle.empty_display_size = "HANDLE", 0.15
    handle.keyframe_insert("location", frame=1)
    handle.location.y = 0.5
    handle.keyframe_insert("location", frame=13)
    first = shown(obj, 1)
    bake()
    moved = (shown(obj, 13) - first)[first[:, 0] < 0.01]
    assert abs(moved[:, 1].mean() - 0.5) < 0.1, moved
    handle.yawara.strength = 0.0
    bake()
    assert np.abs(shown(obj, 13) - first).max() < 1e-3, "a handle without strength still pulls"


def sheet_from_a_plane():
    """a plane becomes a sheet on its own vertices, in front of subdivision"""
    fresh(frames=12)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=1, location=(0, 0, 1))
    obj = bpy.context.object
    bpy.ops.yawara.add()
    assert obj.yawara.role == "SHEET" and obj.yawara.material == "word:cloth"
    obj.modifiers.new("Subdivision", "SUBSURF")
    group(obj, "held", {v.index: 1.0 for v in obj.data.vertices if v.co.x < -0.49})
    obj.yawara.pins = "held"
    bake()
    assert [m.type for m in obj.modifiers] == ["MESH_CACHE", "SUBSURF"]
    obj.modifiers["Subdivision"].show_viewport = False
    first, last = shown(obj, 1), shown(obj, 13)
    held = first[:, 0] < -0.49
    assert np.abs(last - first)[held].max() < 1e-5, np.abs(last - first)[held].max()
    assert (last - first)[~held][:, 2].min() < -0.1


def particles():
    """clay becomes particles, shown as points or with a skin around them"""
    fresh(frames=8)
    obj = add_box("clay", 0.2, (0, 0, 0.2))
    obj.yawara.method, obj.yawara.material, obj.yawara.size = "plastic", "word:clay", 0.02
    add_plane()
    bake()
    cloud = obj.yawara.result
    assert cloud and obj.hide_render and len(cloud.data.vertices) >= 1000, len(cloud.data.vertices)
    skin = shown(cloud, 9)
    low, high = skin.min(axis=0), skin.max(axis=0)
    size = high - low
    assert len(skin) > 500 and 0.17 < size[0] < 0.27 and -0.03 < low[2] < 0.1, (len(skin), low, high)
    obj.yawara.show_as = "POINTS"
    bake()
    cloud = obj.yawara.result
    found = cloud.evaluated_get(bpy.context.evaluated_depsgraph_get())
    kinds = {i.object.data.__class__.__name__ for i in bpy.context.evaluated_depsgraph_get().object_instances}
    assert "PointCloud" in kinds or found.type == "POINTCLOUD", (kinds, found.type)
    bpy.ops.yawara.free()
    assert not [o for o in bpy.data.objects if o.name.startswith("clay (")], "something is left of the bake"


def rigid_bodies():
    """a rigid body falls on a ramp and turns, without deforming"""
    fresh(frames=12)
    obj = add_box("die", 0.3, (0, 0, 0.5), "RIGID")
    obj.rotation_euler = (0.4, 0.3, 0)
    add_plane()
    bake()
    first, last = shown(obj, 1, world=True), shown(obj, 13, world=True)
    assert abs(np.linalg.norm(last[0] - last[-1]) - np.linalg.norm(first[0] - first[-1])) < 1e-4
    assert last[:, 2].min() > -0.02 and last[:, 2].mean() < 0.4, last


def painted_stiffness():
    """a painted half is stiffer than the other"""
    scene = fresh(frames=12)
    obj = add_bar()
    obj.yawara.method, obj.yawara.material = "frames", "own"
    obj.yawara.modulus, obj.yawara.stiff_modulus = 2e4, 2e6
    group(obj, "hard", {v.index: 1.0 for v in obj.data.vertices if v.co.x < 0.5})
    group(obj, "held", {v.index: 1.0 for v in obj.data.vertices if v.co.x < 0.01})
    obj.yawara.pins = "held"
    first = shown(obj, 1)
    bake()
    soft = (shown(obj, 13) - first)[first[:, 0] > 0.99][:, 2].mean()
    obj.yawara.stiff = "hard"
    bake()
    hard = (shown(obj, 13) - first)[first[:, 0] > 0.99][:, 2].mean()
    assert written(scene)["bodies"][0]["frames"]["fields"][0]["youngs_modulus"] == [2e4, 2e6]
    assert soft < 1.5 * hard < 0, (soft, hard)


def parts_choose_apart():
    """vertex groups choose their examples on their own"""
    scene = fresh(frames=2)
    obj = add_bar()
    obj.shape_key_add(name="Basis")
    for point in obj.shape_key_add(name="thick").data:
        point.co.z *= 2
    group(obj, "left", {v.index: 1.0 for v in obj.data.vertices if v.co.x < 0.4})
    group(obj, "right", {v.index: 1.0 for v in obj.data.vertices if v.co.x > 0.6})
    for name in ("left", "right"):
        bpy.ops.yawara.toggle(name=name, list="parts")
    for method in ("match", "frames"):
        obj.yawara.method = method
        bake()
        columns = open(os.path.join(baking.folder_of(scene), "run", "log.csv"), encoding="utf-8").readline()
        assert columns.count("weight") >= 3, (method, columns)


def keyed_weights():
    """animated values of shape keys take the body from pose to pose"""
    scene = fresh(frames=16)
    scene.use_gravity = False
    obj = add_bar()
    obj.shape_key_add(name="Basis")
    for name, axis in (("long", 0), ("thick", 2)):
        key = obj.shape_key_add(name=name)
        for point in key.data:
            point.co[axis] *= 1.5
        for frame, value in ((1, 0.0), (9, 1.0), (13, 0.0)) if name == "long" else ((1, 0.0), (9, 0.0), (13, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
    obj.yawara.keyed = True
    bake()
    tracks = written(scene)["bodies"][0]["tracks"]
    assert [t["example"] for t in tracks] == [0, 1] and abs(tracks[0]["keys"][8]["value"] - 1) < 1e-6, tracks
    sizes = [np.ptp(shown(obj, frame), axis=0) for frame in (1, 10, 17)]
    assert abs(sizes[0][0] - 1) < 0.02 and sizes[1][0] > 1.25, sizes
    assert sizes[2][0] < 1.15 and sizes[2][2] > 1.25 * sizes[0][2], sizes
    assert not baking.check_stale(scene)


def units_and_gravity():
    """units, scale and gravity are taken over"""
    scene = fresh(frames=12)
    scene.unit_settings.scale_length = 0.01
    obj = add_box("box", 30, (0, 0, 100))
    obj.scale = (1, 1, 2)
    scene.gravity = (0, 0, -981)
    bake()
    made = written(scene)
    assert np.allclose(made["gravity"], (0, -9.81, 0)), made["gravity"]
    time = 12 / 24
    first, last = shown(obj, 1, world=True), shown(obj, 13, world=True)
    assert abs(np.ptp(first[:, 2]) - 60) < 1e-3, np.ptp(first, axis=0)
    fall = (last - first)[:, 2].mean()
    assert abs(fall + 0.5 * 981 * time * time) < 0.02 * 123, fall


def start_pose():
    """a body starts as its shape keys and bones have it, and springs back"""
    scene = fresh(frames=12)
    scene.use_gravity = False
    obj = add_bar()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="long")
    for point in key.data:
        point.co.x *= 1.5
    key.value = 1.0
    obj.yawara.left_out.add().name = "long"
    bake()
    assert "examples" not in written(scene)["bodies"][0]
    first, last = shown(obj, 1), shown(obj, 13)
    assert abs(np.ptp(first[:, 0]) - 1.5) < 0.05, np.ptp(first[:, 0])
    assert np.ptp(last[:, 0]) < 1.4, np.ptp(last[:, 0])


def bad_objects():
    """objects that cannot be used are named and selected, with what to do"""
    fresh(frames=2)
    fine = add_box("fine", 0.3, (2, 0, 0))

    def expect(obj, *words):
        found = refused()
        assert all(w in found for w in (obj.name, *words)), found
        assert bpy.context.view_layer.objects.active == obj, "was not selected"
        bpy.data.objects.remove(obj)

    expect(add_mesh("no faces", [(0, 0, 0), (1, 0, 0)], []), "no faces")
    expect(add_mesh("loose", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 5, 5)], [[0, 1, 2]]), "Delete Loose")
    expect(add_mesh("nan", [(0, 0, float("nan")), (1, 0, 0), (0, 1, 0)], [[0, 1, 2]]), "not numbers")
    obj = add_mesh("point", [(0, 0, 0)] * 3, [[0, 1, 2]])
    expect(obj, "one point")
    obj = add_box("array", 0.2)
    obj.modifiers.new("Array", "ARRAY")
    obj.modifiers.new("Wave", "WAVE")
    expect(obj, "Array", "Wave", "number of vertices")
    obj = add_box("flat", 0.2)
    obj.scale.z = 0.0
    expect(obj, "scale")
    obj = add_mesh("leaf", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [[0, 1, 2]], "OBSTACLE")
    expect(obj, "flat", "Plane")
    obj = add_box("lost", 0.2)
    obj.yawara.pins = "nothing"
    expect(obj, 'no vertex group "nothing"')
    obj = add_mesh("open", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [[0, 1, 2]])
    expect(obj, "Sheet")
    fine.yawara.role = "NONE"
    assert "Nothing to simulate" in refused()


class Layout:
    """Stands for the layout of a panel, which exists in windows only: checks what is drawn."""
    icons = set(bpy.types.UILayout.bl_rna.functions["prop"].parameters["icon"].enum_items.keys())

    def __init__(self, seen):
        self.seen = seen

    def _part(self, *_, **__):
        return Layout(self.seen)

    box = row = column = _part

    def prop(self, data, name, **_):
        assert name in data.bl_rna.properties, (data, name)
        self.seen.append(name)

    def prop_search(self, data, name, owner, collection, **_):
        assert name in data.bl_rna.properties and collection in owner.bl_rna.properties, name

    def operator(self, name, icon="NONE", **_):
        group_name, _, operator = name.partition(".")
        assert operator in dir(getattr(bpy.ops, group_name)) and icon in self.icons, (name, icon)
        self.seen.append(name)
        return SimpleNamespace()

    def label(self, text="", icon="NONE", **_):
        assert icon in self.icons, icon
        self.seen.append(text)


def panels_draw():
    """the panel draws every role, and a bake with a message"""
    scene = fresh(frames=2)
    body = add_box("box", 0.4, (0, 0, 1))
    body.shape_key_add(name="Basis")
    body.shape_key_add(name="pose")
    group(body, "part", {0: 1.0})
    body.yawara.follow = "part"
    for role, method in [("NONE", "match"), ("RIGID", "match"), ("SHEET", "match"), ("OBSTACLE", "match"),
                         *(("SOFT", m) for m in ("match", "frames", "fem", "plastic"))]:
        body.yawara.role, body.yawara.method, body.yawara.material = role, method, "own"
        seen = []
        panels.YAWARA_PT_physics.draw(SimpleNamespace(layout=Layout(seen)), bpy.context)
        assert ("yawara.add" in seen) == (role == "NONE") and ("modulus" in seen) == (role in ("SOFT", "SHEET")), seen
    scene.yawara.stale, scene.yawara.message = True, "something " * 30
    seen = []
    panels.YAWARA_PT_bake.draw(SimpleNamespace(layout=Layout(seen)), bpy.context)
    assert any("changed since" in text for text in seen) and "yawara.open_page" in seen, seen


def zero_area_faces():
    """faces without an area do no harm, whatever the role"""
    fresh(frames=3)
    obj = add_box("box", 0.4)
    mesh = obj.data
    vertices = [tuple(v.co) for v in mesh.vertices]
    faces = [list(p.vertices) for p in mesh.polygons]
    again = add_mesh("zero", vertices, faces + [faces[0][:3]])
    bpy.data.objects.remove(obj)
    for vertex in again.data.vertices:
        if vertex.index == faces[0][1]:
            vertex.co = [(a + b) / 2 for a, b in zip(vertices[faces[0][0]], vertices[faces[0][2]])]
    for role in ("SOFT", "RIGID"):
        again.yawara.role = role
        bake()
        assert math.isfinite(float(shown(again, 4).sum()))
    again.yawara.role = "OBSTACLE"
    ball = add_box("ball", 0.2, (0, 0, 0.5))
    bake()
    assert math.isfinite(float(shown(ball, 4).sum()))


TESTS = (pins, armature, animated_obstacle, deforming_obstacle, rod_from_a_curve, handle_moves, sheet_from_a_plane, particles, rigid_bodies,
         painted_stiffness, parts_choose_apart, keyed_weights, units_and_gravity, start_pose, bad_objects, panels_draw, zero_area_faces)
