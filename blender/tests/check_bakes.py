# SPDX-License-Identifier: MIT
"""Bakes: what arrives in Blender is what the program made."""
import json
import os
import time
from types import SimpleNamespace

import bpy
import numpy as np
from support import (PROGRAM, ROOT, WORK, add_box, add_plane, bake, fresh, preferences, program, refused, shown)

from yawara_addon import axes, baking, fingerprint, handlers, job, meshfiles, pointcache


def teddy_mesh():
    """The surface of the gallery's teddy, in Blender's coordinates."""
    run = os.path.join(WORK, "teddy")
    if not os.path.exists(run):
        program("run", os.path.join(ROOT, "scenes", "gallery", "teddy.json"), "-o", run, "--frames", "0", "-q",
                "--format", "obj")
    files = sorted(os.listdir(os.path.join(run, "obj")))
    vertices, faces = meshfiles.read_obj(os.path.join(run, "obj", files[0]))
    return axes.to_blender(vertices), faces


def add_teddy():
    vertices, faces = teddy_mesh()
    mesh = bpy.data.meshes.new("teddy")
    mesh.from_pydata(vertices.tolist(), [], faces)
    obj = bpy.data.objects.new("teddy", mesh)
    bpy.context.collection.objects.link(obj)
    obj.shape_key_add(name="Basis")
    tall, turned = obj.shape_key_add(name="tall"), obj.shape_key_add(name="turned")
    for key, vertex in zip(tall.data, mesh.vertices):
        key.co = vertex.co.x, vertex.co.y, vertex.co.z * 1.4
    for key, vertex in zip(turned.data, mesh.vertices):
        x, y, z = vertex.co
        angle = 0.8 * z
        key.co = (x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle), z)
    obj.yawara.role = "SOFT"
    return obj


def teddy_is_the_same_to_the_bit():
    """a teddy with two shape keys has the vertices of yawara run, to the bit"""
    scene = fresh(frames=10)
    obj = add_teddy()
    low = min(v.co.z for v in obj.data.vertices)
    add_plane(low - 0.1)
    bake()
    folder = baking.folder_of(scene)
    with open(os.path.join(folder, "scene.json"), encoding="utf-8") as file:
        written = json.load(file)
    assert [e["name"] for e in written["bodies"][0]["examples"]] == ["tall", "turned"], written["bodies"][0]
    again = os.path.join(WORK, "again")
    program("run", os.path.join(folder, "scene.json"), "-o", again, "-q", "--format", "pc2")
    expected = pointcache.read(os.path.join(again, "pc2", "teddy.pc2"))
    for frame in (0, 4, 10):
        found = shown(obj, 1 + frame)
        assert np.array_equal(found, axes.to_blender(expected[frame])), f"frame {frame} differs"
    assert np.abs(expected[10] - expected[0]).max() > 0.05, "nothing moved"


def slow_box():
    """A body whose bake takes some seconds on any machine, and a job that looks often."""
    scene = fresh(frames=40)
    scene.yawara.substeps = 16
    job.INTERVAL = 0.1
    obj = add_box("box", location=(0, 0, 1.2), cuts=3)
    obj.yawara.method, obj.yawara.size = "frames", 0.13
    obj.rotation_euler = (0.3, 0.2, 0)
    return scene, obj


def cancel_and_resume():
    """a bake that was cancelled and resumed is the same as one in one go"""
    scene, obj = slow_box()
    add_plane()
    bake()
    expected = shown(obj, 41)
    work = baking.start(bpy.context)
    while work.arrival.taken < 3 and baking.poll(bpy.context, scene) == job.RUNNING:
        time.sleep(0.02)
    arrived = shown(obj, 2)
    assert not np.array_equal(arrived, shown(obj, 1)), "nothing arrived while it ran"
    bpy.ops.yawara.cancel()
    while baking.poll(bpy.context, scene) == job.RUNNING:
        time.sleep(0.02)
    assert work.state == job.STOPPED and work.done < 40, (work.state, work.done)
    assert bpy.ops.yawara.bake(resume=True) == {"FINISHED"}
    assert baking.jobs[scene.name].done == 40
    assert np.array_equal(shown(obj, 41), expected), "the resumed bake differs"


def crash_is_survived():
    """progress is known; a program that is killed leaves Blender alone, says so, and can be resumed"""
    scene, _ = slow_box()
    work = baking.start(bpy.context)
    while work.arrival.taken < 3 and baking.poll(bpy.context, scene) == job.RUNNING:
        time.sleep(0.02)
    assert 0 < scene.yawara.progress < 100 and work.seconds_left > 0, (scene.yawara.progress, work.seconds_left)
    work.process.kill()
    while baking.poll(bpy.context, scene) == job.RUNNING:
        time.sleep(0.02)
    assert work.state == job.FAILED and "signal 9" in scene.yawara.message, scene.yawara.message
    assert bpy.ops.yawara.bake(resume=True) == {"FINISHED"}
    assert baking.jobs[scene.name].done == 40 and scene.yawara.progress == 100.0


def other_files_are_left_alone():
    """opening another file stops a bake, which writes nothing there and can be resumed"""
    scene, _ = slow_box()
    folder = scene.yawara.folder
    work = baking.start(bpy.context)
    while work.arrival.taken < 2 and baking.poll(bpy.context, scene) == job.RUNNING:
        time.sleep(0.02)
    fresh(frames=40)
    assert not baking.jobs and work.process.wait(60) is not None
    other = add_box("box")
    assert baking.poll(bpy.context, bpy.context.scene) == job.STOPPED and not other.modifiers
    bpy.context.scene.yawara.folder = folder
    # A mesh that has changed since is refused, and can be mended.
    words = refused(lambda: bpy.ops.yawara.bake(resume=True))
    assert '"box" has 8 vertices, but the result has 98' in words and other.select_get(), words
    assert baking.jobs["Scene"].process.wait(60) is not None
    bpy.data.objects.remove(other)
    assert add_box("box", cuts=3) and bpy.ops.yawara.bake(resume=True) == {"FINISHED"}


def stale_bakes():
    """changes make a bake stale, frames and looks do not"""
    scene = fresh(frames=3)
    obj = add_box("box", location=(0, 0, 1))
    obj.keyframe_insert("location", frame=1)
    floor = add_plane()
    bake()
    assert not baking.check_stale(scene)
    scene.frame_set(3)
    obj.data.materials.append(bpy.data.materials.new("red"))
    obj.modifiers.new("Subdivision", "SUBSURF")
    assert not baking.check_stale(scene), "a frame or a material made it stale"

    def changed(what, change, back):
        change()
        assert baking.check_stale(scene), f"{what} was not noticed"
        back()
        assert not baking.check_stale(scene), f"{what} and back is stale"

    changed("a vertex", lambda: obj.data.vertices[0].co.__setitem__(0, 3.0),
            lambda: obj.data.vertices[0].co.__setitem__(0, -0.5))
    changed("a setting", lambda: setattr(obj.yawara, "friction", 0.9), lambda: setattr(obj.yawara, "friction", 0.4))
    changed("an obstacle", lambda: setattr(floor.location, "z", 0.5), lambda: setattr(floor.location, "z", 0.0))
    changed("gravity", lambda: setattr(scene, "use_gravity", False), lambda: setattr(scene, "use_gravity", True))
    changed("the frame range", lambda: setattr(scene, "frame_end", 9), lambda: setattr(scene, "frame_end", 4))
    obj.keyframe_insert("location", frame=3)
    assert baking.check_stale(scene), "a key was not noticed"
    # A driver looks at an empty, which is no part of the simulation; the timer says that it moved.
    bpy.ops.object.empty_add()
    empty = bpy.context.object
    curve = floor.driver_add("location", 2)
    variable = curve.driver.variables.new()
    variable.type, variable.targets[0].id, variable.targets[0].transform_type = "TRANSFORMS", empty, "LOC_Z"
    curve.driver.expression = variable.name
    bake()
    empty.location.z = -1.0
    handlers.check()
    assert scene.yawara.stale, "what a driver looks at was not noticed"
    bake()
    assert not baking.check_stale(scene), "a new bake is stale"
    # Actions as Blender 4.4 has them: fcurves is that of the first slot.
    bags = [SimpleNamespace(fcurves=["x"]), SimpleNamespace(fcurves=["y", "z"])]
    action = SimpleNamespace(fcurves=["x"], layers=[SimpleNamespace(strips=[SimpleNamespace(channelbags=bags)])])
    assert fingerprint._curves(action) == ["x", "y", "z"]
    assert fingerprint._curves(SimpleNamespace(fcurves=["x"], layers=[])) == ["x"]


def missing_program():
    """a missing program is named, with what to do"""
    fresh(frames=2)
    add_box("box")
    preferences().program = "/nowhere/yawara"
    words = refused()
    assert "/nowhere/yawara" in words and "preferences" in words, words
    preferences().program = ""
    before, os.environ["PATH"] = os.environ["PATH"], "/nonexistent"
    words = refused()
    os.environ["PATH"] = before
    assert "not found" in words and "PATH" in words, words
    preferences().program = PROGRAM


def names_of_all_kinds():
    """names with spaces, slashes and Japanese"""
    scene = fresh(frames=2)
    scene.name = "場面 1/2"
    objects = [add_box(name, 0.4, (i, 0, 1)) for i, name in enumerate(("熊 の/ぬいぐるみ", "a \"b\" c", "../up", "x\\y"))]
    bake()
    for obj in objects:
        moved = shown(obj, 3) - shown(obj, 1)
        assert moved[:, 2].max() < -0.01, (obj.name, moved)
    assert os.path.isfile(os.path.join(baking.folder_of(scene), "scene.json"))


def failed_bakes_select_the_object():
    """an error of the program selects the object that it is about"""
    scene = fresh(frames=3)
    add_box("fine", 0.5, (3, 0, 0))
    bad = add_box("bad", 0.5)
    bad.yawara.method, bad.yawara.size = "fem", 0.001
    bad.yawara.level = 4
    words = refused()
    assert bpy.context.view_layer.objects.active == bad and bad.select_get(), words
    assert scene.yawara.message and "bodies[" in words, words


def motion_blur():
    """between two frames vertices are where motion blur expects them"""
    fresh(frames=6)
    obj = add_box("box", location=(0, 0, 2))
    bake()
    half = shown(obj, 4, 0.5)
    mean = 0.5 * (shown(obj, 4) + shown(obj, 5))
    assert np.abs(half - mean).max() < 1e-6 and np.abs(mean - shown(obj, 4)).max() > 0.01


def render(blur):
    """How wide what is white is in a small picture: columns with light."""
    scene = bpy.context.scene
    scene.render.use_motion_blur = blur
    path = os.path.join(WORK, "blur.png")
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(path)
    width, height = image.size
    light = np.array(image.pixels[:], np.float32).reshape(height, width, 4)[:, :, 0].sum(axis=0)
    bpy.data.images.remove(image)
    return int((light > 0.02 * light.max()).sum())


def motion_blur_is_rendered():
    """Cycles blurs surfaces, and particles by their velocities, as points and with a skin"""
    scene = fresh(frames=2)
    scene.use_gravity = False
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 8, False
    scene.render.resolution_x, scene.render.resolution_y = 64, 16
    scene.render.motion_blur_shutter = 1.0
    white = bpy.data.materials.new("white")
    white.use_nodes = True
    nodes, links = white.node_tree.nodes, white.node_tree.links
    links.new(nodes.new("ShaderNodeEmission").outputs[0], next(n for n in nodes if n.type == "OUTPUT_MATERIAL").inputs[0])
    bpy.ops.object.camera_add(location=(1, -5, 0), rotation=(np.pi / 2, 0, 0))
    scene.camera = bpy.context.object
    scene.camera.data.type, scene.camera.data.ortho_scale = "ORTHO", 4.0
    for method, show_as in (("match", "SKIN"), ("plastic", "POINTS"), ("plastic", "SKIN")):
        obj = add_box("box", 0.3)
        obj.data.materials.append(white)
        obj.yawara.method, obj.yawara.show_as, obj.yawara.velocity = method, show_as, (24.0, 0.0, 0.0)
        obj.yawara.material, obj.yawara.size = "word:clay" if method == "plastic" else "word:jelly", 0.05
        bake()
        scene.frame_set(2)
        # 64 columns are 4 m: 0.3 m are 5 of them, and the way of one frame, 1 m, 16.
        if method == "match":
            assert 3 <= render(False) <= 8, "blurred without being asked"
        blurred = render(True)
        assert 17 <= blurred <= 25, (method, show_as, blurred)
        bpy.ops.yawara.free()
        bpy.data.objects.remove(obj)


def small_files():
    """a .blend with a bake stays small, and finds it again when both are moved"""
    scene = fresh(frames=40)
    obj = add_box("box", location=(0, 0, 2), cuts=15)
    folder = os.path.join(WORK, "project")
    os.makedirs(folder)
    scene.yawara.folder = "//cache"
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "a.blend"))
    before = os.path.getsize(os.path.join(folder, "a.blend"))
    bake()
    expected = shown(obj, 20)
    bpy.ops.wm.save_mainfile()
    assert os.path.getsize(os.path.join(folder, "a.blend")) - before < 20000
    assert obj.modifiers[0].filepath.startswith("//"), obj.modifiers[0].filepath
    os.rename(folder, folder + " moved")
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder + " moved", "a.blend"))
    assert np.array_equal(shown(bpy.data.objects["box"], 20), expected)


TESTS = (teddy_is_the_same_to_the_bit, cancel_and_resume, crash_is_survived,
         other_files_are_left_alone, stale_bakes,
         missing_program, names_of_all_kinds, failed_bakes_select_the_object, motion_blur,
         motion_blur_is_rendered, small_files)
