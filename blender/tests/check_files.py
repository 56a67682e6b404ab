# SPDX-License-Identifier: MIT
"""Runs into Blender, and scenes out of it."""
import json
import os
import re
import time
import urllib.request

import bpy
import numpy as np
from support import PROGRAM, WORK, add_box, add_plane, bake, fresh, preferences, program, refused, shown

from yawara_addon import axes, baking, pointcache

SCENE = """{ "duration": 0.2, "fps": 24, "floor": true, "bodies": [
  { "name": "ball", "shape": { "sphere": { "radius": 0.3 } }, "position": [0, 1, 0] },
  { "name": "cloth", "sheet": { "rectangle": { "width": 1, "depth": 1, "across": 4, "along": 4 } }, "slender": {},
    "position": [2, 1, 0] },
  { "name": "clay", "shape": { "box": { "size": 0.1 } }, "plastic": { "spacing": 0.02 }, "position": [-2, 1, 0] } ] }
"""


def make_run(name):
    path = os.path.join(WORK, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCENE)
    run = os.path.join(WORK, name)
    program("run", path, "-o", run, "-q", "--format", "pc2")
    return run


def import_makes_objects():
    """a run is imported as new objects: surfaces, sheets and particles"""
    fresh()
    run = make_run("made")
    assert bpy.ops.yawara.import_run(directory=run) == {"FINISHED"}
    ball = bpy.data.objects["ball"]
    files = os.path.join(run, "pc2")
    name = next(f for f in os.listdir(files) if f.startswith("ball") and f.endswith("pc2"))
    expected = pointcache.read(os.path.join(files, name))
    assert np.array_equal(shown(ball, 1 + len(expected) - 1), axes.to_blender(expected[-1]))
    assert len(shown(bpy.data.objects["clay"], 3)) > 100 and "cloth" in bpy.data.objects


def import_on_selected():
    """a run is imported onto selected objects, wherever they are; others are refused"""
    fresh()
    run = make_run("onto")
    files = os.path.join(run, "pc2")
    name = next(f for f in os.listdir(files) if f.startswith("ball") and f.endswith("pc2"))
    expected = pointcache.read(os.path.join(files, name))
    mesh = bpy.data.meshes.new("mine")
    mesh.from_pydata(axes.to_blender(expected[0]).tolist(), [], [])
    obj = bpy.data.objects.new("mine", mesh)
    bpy.context.collection.objects.link(obj)
    obj.location, obj.rotation_euler = (3, 1, 2), (0.5, 0, 1)
    bpy.context.view_layer.update()
    obj.select_set(True)
    assert bpy.ops.yawara.import_run(directory=run) == {"FINISHED"}
    found = shown(obj, 4, world=True)
    assert np.abs(found - axes.to_blender(expected[3])).max() < 1e-5
    bpy.ops.object.select_all(action="DESELECT")
    other = add_box("other", 1.0)
    other.select_set(True)
    words = refused(lambda: bpy.ops.yawara.import_run(directory=run))
    assert "ball" in words and "vertices" in words, words
    words = refused(lambda: bpy.ops.yawara.import_run(directory=WORK))
    assert "no run" in words, words


def gltf_plays():
    """Blender plays a run that was exported as glTF"""
    scene = fresh(frames=4)
    run = make_run("gltf")
    program("export", run, "-q", "--format", "gltf")
    # Debian's importer uses a name that its numpy no longer has.
    np.bool = bool
    bpy.ops.import_scene.gltf(filepath=os.path.join(run, "gltf", "run.gltf"), merge_vertices=False)
    files = os.path.join(run, "pc2")
    name = next(f for f in os.listdir(files) if f.startswith("ball") and f.endswith("pc2"))
    expected = pointcache.read(os.path.join(files, name))
    ball = bpy.data.objects["ball"]
    for frame in (0, 4):
        found = shown(ball, frame, world=True)
        assert np.abs(found - axes.to_blender(expected[frame])).max() < 1e-6, frame
    assert abs(scene.render.fps - 24) < 1e-6 and len(shown(bpy.data.objects["clay"], 0)) > 50


def export_is_a_scene():
    """an object with shape keys is exported as a scene that the program runs"""
    fresh(frames=2)
    obj = add_box("熊", 0.5, (0, 0, 1), role="NONE")
    obj.shape_key_add(name="Basis")
    for point in obj.shape_key_add(name="長い").data:
        point.co.z *= 1.6
    path = os.path.join(WORK, "export here", "bear.json")
    assert bpy.ops.yawara.export_scene(filepath=path, only_selected=True) == {"FINISHED"}
    assert obj.yawara.role == "NONE"
    with open(path, encoding="utf-8") as file:
        made = json.load(file)
    assert made["bodies"][0]["examples"][0]["name"] == "長い"
    program("run", path, "-o", os.path.join(WORK, "exported"), "-q")


def page():
    """the page is opened with the same scene"""
    scene = fresh(frames=2)
    add_box("box", 0.5)
    add_plane(-1)
    bake()
    called = os.path.join(WORK, "called")
    fake = os.path.join(WORK, "fake_yawara")
    with open(fake, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\necho "$@" > "{called}"\n')
    os.chmod(fake, 0o755)
    preferences().program = fake
    assert bpy.ops.yawara.open_page() == {"FINISHED"}
    for _ in range(200):
        if os.path.exists(called) and os.path.getsize(called):
            break
        time.sleep(0.02)
    with open(called, encoding="utf-8") as file:
        words = file.read().split(maxsplit=1)
    assert words[0] == "view", words
    with open(fake, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\necho "the page is not built: make web" >&2\nexit 1\n')
    said = refused(bpy.ops.yawara.open_page)
    assert "make web" in said, said
    preferences().program = PROGRAM
    with open(words[1].strip(), encoding="utf-8") as file:
        assert json.load(file)["frames"] == scene.frame_end - scene.frame_start


def real_page():
    """yawara view serves the page and the scene of Blender, until it is closed"""
    fresh(frames=2)
    add_box("熊", 0.5)
    try:
        assert bpy.ops.yawara.open_page() == {"FINISHED"}
    except RuntimeError as problem:
        assert "make web" in str(problem), problem
        print("# the page is not built: only the words of yawara view were looked at")
        return
    folder = os.path.join(baking.folder_of(bpy.context.scene), "page")
    address = None
    for _ in range(200):
        with open(os.path.join(folder, "log.txt"), encoding="utf-8") as file:
            address = re.search(r"http://\S+", file.read())
        if address:
            break
        time.sleep(0.05)
    assert address, "yawara view gave no address"
    with urllib.request.urlopen(address.group(0), timeout=10) as answer:
        assert answer.status == 200 and b"<html" in answer.read().lower()
    baking.close_page()
    for _ in range(200):
        try:
            urllib.request.urlopen(address.group(0), timeout=1).close()
        except OSError:
            return
        time.sleep(0.05)
    raise AssertionError("the page is still served")


TESTS = (import_makes_objects, import_on_selected, gltf_plays, export_is_a_scene, page, real_page)
