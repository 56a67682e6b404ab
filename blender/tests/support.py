# SPDX-License-Identifier: MIT
"""What the tests in Blender share: a fresh scene, small bodies, results as arrays."""
import os
import subprocess
import tempfile
import traceback

import addon_utils
import bpy
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ["YAWARA"]
WORK = tempfile.mkdtemp(prefix="yawara_blender_")
NAME = "yawara_addon"
# As a user does it: from the zip.
bpy.ops.preferences.addon_install(filepath=os.path.join(ROOT, "out", "yawara_blender.zip"))
addon_utils.enable(NAME, default_set=True)


def preferences():
    return bpy.context.preferences.addons[NAME].preferences


def fresh(frames=12, fps=24):
    """An empty scene with the add-on."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable(NAME, default_set=True)
    preferences().program = PROGRAM
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 1 + frames, fps
    scene.yawara.folder = tempfile.mkdtemp(dir=WORK)
    return scene


def add_mesh(name, vertices, faces, role="SOFT"):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    obj.yawara.role = role
    return obj


def add_box(name, size=1.0, location=(0, 0, 0), role="SOFT", cuts=0):
    """A box, with its faces cut into a grid."""
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    obj = bpy.context.object
    obj.name = name
    if cuts:
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=cuts)
        bpy.ops.object.mode_set(mode="OBJECT")
    obj.yawara.role = role
    return obj


def add_plane(height=0.0):
    bpy.ops.mesh.primitive_plane_add(size=10, location=(0, 0, height))
    obj = bpy.context.object
    obj.name, obj.yawara.role, obj.yawara.plane = "ground", "OBSTACLE", True
    return obj


def bake():
    """Bakes to the end; fails with the message of the bake."""
    try:
        result = bpy.ops.yawara.bake()
    except RuntimeError as problem:
        raise AssertionError(f"the bake failed: {problem}") from problem
    assert result == {"FINISHED"}, bpy.context.scene.yawara.message


def refused(call=None):
    """The words with which a bake is refused."""
    try:
        result = (call or bpy.ops.yawara.bake)()
    except RuntimeError as problem:
        return str(problem)
    assert result == {"CANCELLED"}, "was not refused"
    return bpy.context.scene.yawara.message


def shown(obj, frame, subframe=0.0, world=False):
    """Vertices of an object as Blender shows them."""
    bpy.context.scene.frame_set(frame, subframe=subframe)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    out = np.empty(3 * len(found.data.vertices), np.float32)
    found.data.vertices.foreach_get("co", out)
    out = out.reshape(-1, 3)
    if world:
        matrix = np.array(found.matrix_world)
        out = out @ matrix[:3, :3].T + matrix[:3, 3]
    return out


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def group(obj, name, weights):
    """A vertex group from {vertex: weight}."""
    made = obj.vertex_groups.new(name=name)
    for vertex, weight in weights.items():
        made.add([vertex], weight, "REPLACE")
    return made


class Runner:
    """Runs tests and prints one line for each."""

    def __init__(self):
        self.failed = 0

    def run(self, tests):
        for test in tests:
            try:
                test()
                print(f"ok - {test.__doc__}", flush=True)
            except Exception:  # pylint: disable=broad-except
                self.failed += 1
                print(f"not ok - {test.__doc__}", flush=True)
                traceback.print_exc()
