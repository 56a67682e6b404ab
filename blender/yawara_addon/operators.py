# SPDX-License-Identifier: MIT
"""What the buttons do."""
import os
import time

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from . import baking, collect, job, pointcache, program, props, runfiles

PROBLEMS = (program.ProgramError, runfiles.RunError, pointcache.CacheError, ValueError, OSError)
# s between two looks at a bake.
TICK = 0.25
# The same without a window, where nothing else has to be done.
BACKGROUND_TICK = 0.05


def report(operator, context, problem):
    """Says what went wrong, in the panel too, and selects the object that caused it."""
    baking.select(context, getattr(problem, "object", None))
    context.scene.yawara.message = str(problem)
    operator.report({"ERROR"}, str(problem))
    return {"CANCELLED"}


def redraw():
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "VIEW_3D"):
                area.tag_redraw()


def watch():
    """Timer: looks at all bakes until the last has ended."""
    states = [baking.poll(bpy.context, scene) for scene in bpy.data.scenes if scene.name in baking.jobs]
    redraw()
    return TICK if job.RUNNING in states else None


class YAWARA_OT_bake(bpy.types.Operator):
    """Simulate the scene in the background; the result appears while it is made"""
    bl_idname = "yawara.bake"
    bl_label = "Bake"
    resume: BoolProperty(name="Resume", description="Go on with a bake that was cancelled", options={"SKIP_SAVE"})

    def execute(self, context):
        try:
            work = baking.start(context, self.resume)
        except PROBLEMS as problem:
            return report(self, context, problem)
        if not bpy.app.background:
            if not bpy.app.timers.is_registered(watch):
                bpy.app.timers.register(watch, first_interval=TICK)
            return {"FINISHED"}
        # Without a window there is nobody to watch: scripts go on when the bake is there.
        while baking.poll(context, context.scene) == job.RUNNING:
            time.sleep(BACKGROUND_TICK)
        if work.state == job.FAILED:
            self.report({"ERROR"}, work.message)
            return {"CANCELLED"}
        return {"FINISHED"}


class YAWARA_OT_cancel(bpy.types.Operator):
    """Stop after the current frame; Resume goes on from there"""
    bl_idname = "yawara.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        work = baking.jobs.get(context.scene.name)
        return work is not None and work.state == job.RUNNING

    def execute(self, context):
        baking.jobs[context.scene.name].stop()
        return {"FINISHED"}


class YAWARA_OT_free(bpy.types.Operator):
    """Remove the bake and its files"""
    bl_idname = "yawara.free"
    bl_label = "Free Bake"

    def execute(self, context):
        baking.free(context)
        return {"FINISHED"}


class YAWARA_OT_add(bpy.types.Operator):
    """Give the selected objects a role; curves become rods, planes sheets, empties handles"""
    bl_idname = "yawara.add"
    bl_label = "Add to Simulation"
    bl_options = {"REGISTER", "UNDO"}
    role: EnumProperty(name="Role", items=(("AUTO", "By Kind", "By the kind of the object"),) + props.ROLES)

    def execute(self, context):
        for obj in context.selected_objects or [context.object]:
            if obj is None or obj.type not in ("MESH", "CURVE", "EMPTY"):
                self.report({"WARNING"}, "Only meshes, curves and empties can take part")
                continue
            obj.yawara.role = self.role if self.role != "AUTO" else self.role_of(obj)
            if obj.yawara.role in ("SHEET", "ROD"):
                obj.yawara.material = "word:cloth"
        return {"FINISHED"}

    @staticmethod
    def role_of(obj):
        if obj.type != "MESH":
            return "ROD" if obj.type == "CURVE" else "HANDLE"
        size = sorted(obj.bound_box[6][k] - obj.bound_box[0][k] for k in range(3))
        return "SHEET" if size[0] <= 1e-6 * size[2] else "SOFT"


class YAWARA_OT_toggle(bpy.types.Operator):
    """Use this shape key or vertex group, or leave it out"""
    bl_idname = "yawara.toggle"
    bl_label = "Toggle"
    bl_options = {"UNDO", "INTERNAL"}
    name: StringProperty()
    list: EnumProperty(items=(("left_out", "Examples", ""), ("parts", "Parts", "")))

    def execute(self, context):
        names = getattr(context.object.yawara, self.list)
        index = names.find(self.name)
        if index >= 0:
            names.remove(index)
        else:
            names.add().name = self.name
        return {"FINISHED"}


class YAWARA_OT_check(bpy.types.Operator):
    """See whether the bake is still up to date"""
    bl_idname = "yawara.check"
    bl_label = "Check"

    def execute(self, context):
        baking.check_stale(context.scene)
        return {"FINISHED"}


class YAWARA_OT_open_page(bpy.types.Operator):
    """Open the scene outside of Blender, with yawara view"""
    bl_idname = "yawara.open_page"
    bl_label = "Open in the Page"

    def execute(self, context):
        try:
            baking.open_page(context)
        except PROBLEMS as problem:
            return report(self, context, problem)
        return {"FINISHED"}


class YAWARA_OT_export(bpy.types.Operator, ExportHelper):
    """Write the simulation as a scene file, with the meshes that it names beside it"""
    bl_idname = "yawara.export_scene"
    bl_label = "Export Yawara Scene"
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
    only_selected: BoolProperty(name="Selected Objects Only")

    def execute(self, context):
        folder, name = os.path.split(bpy.path.abspath(self.filepath))
        left = [o for o in context.scene.objects if self.only_selected and not o.select_get()
                and o.yawara.role != "NONE"]
        roles = [(o, o.yawara.role) for o in left]
        plain = [o for o in context.selected_objects if o.type == "MESH" and o.yawara.role == "NONE"
                 and self.only_selected]
        try:
            for obj in left:
                obj.yawara.role = "NONE"
            for obj in plain:
                obj.yawara.role = "SOFT"
            os.makedirs(folder, exist_ok=True)
            writer, _ = collect.write(context, context.scene, folder)
            if name != "scene.json":
                os.replace(os.path.join(folder, "scene.json"), os.path.join(folder, name))
        except PROBLEMS as problem:
            return report(self, context, problem)
        finally:
            for obj, role in roles:
                obj.yawara.role = role
            for obj in plain:
                obj.yawara.role = "NONE"
        self.report({"INFO"}, f"{len(writer.scene['bodies'])} bodies written")
        return {"FINISHED"}


class YAWARA_OT_import(bpy.types.Operator):
    """Play a run folder of Yawara on the selected objects, or on new ones"""
    bl_idname = "yawara.import_run"
    bl_label = "Import Yawara Run"
    directory: StringProperty(subtype="DIR_PATH")
    filter_folder: BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        try:
            pairs = baking.import_run(context, os.path.normpath(bpy.path.abspath(self.directory)))
        except PROBLEMS as problem:
            return report(self, context, problem)
        self.report({"INFO"}, ", ".join(f"{body} on {obj}" for obj, body in pairs))
        return {"FINISHED"}


CLASSES = (YAWARA_OT_bake, YAWARA_OT_cancel, YAWARA_OT_free, YAWARA_OT_add, YAWARA_OT_toggle, YAWARA_OT_check,
           YAWARA_OT_open_page, YAWARA_OT_export, YAWARA_OT_import)
