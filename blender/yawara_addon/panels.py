# SPDX-License-Identifier: MIT
"""The panel in Physics, and the preferences."""
import bpy
from bpy.props import StringProperty

from . import baking, job


class YawaraPreferences(bpy.types.AddonPreferences):
    """Where the program is."""
    bl_idname = __package__
    program: StringProperty(name="Program", description="Path of yawara; empty: looked for in PATH", subtype="FILE_PATH")

    def draw(self, _context):
        self.layout.prop(self, "program")


def _lines(layout, text, icon):
    """Text over several lines: labels do not wrap."""
    column = layout.column(align=True)
    words, line, first = text.split(), "", True
    for word in words + [None]:
        if word is None or len(line) + len(word) > 60:
            column.label(text=line, icon=icon if first else "BLANK1")
            first, line = False, ""
        line += f"{word} " if word else ""


def _draw_material(layout, y, volume):
    if volume:
        layout.prop(y, "method")
    layout.prop(y, "material")
    if y.material == "own":
        for name in ("modulus", "ratio", "density"):
            layout.prop(y, name)
    layout.prop(y, "damping")


def _draw_lists(layout, obj):
    """Shape keys and vertex groups, each with a box to tick."""
    y = obj.yawara
    keys = obj.data.shape_keys
    if y.role == "SOFT" and y.method in ("match", "frames"):
        box = layout.box()
        box.label(text="Examples (shape keys)", icon="SHAPEKEY_DATA")
        for key in keys.key_blocks[1:] if keys else ():
            used = key.name not in y.left_out
            entry = box.operator("yawara.toggle", text=key.name, icon="CHECKBOX_HLT" if used else "CHECKBOX_DEHLT",
                                 emboss=False)
            entry.name, entry.list = key.name, "left_out"
        if keys:
            box.prop(y, "beta")
            box.prop(y, "keyed")
    if y.role == "SOFT" and y.method in ("match", "frames") and obj.vertex_groups:
        box = layout.box()
        box.label(text="Parts that choose their example together", icon="GROUP_VERTEX")
        for group in obj.vertex_groups:
            icon = "CHECKBOX_HLT" if group.name in y.parts else "CHECKBOX_DEHLT"
            entry = box.operator("yawara.toggle", text=group.name, icon=icon, emboss=False)
            entry.name, entry.list = group.name, "parts"


def _draw_groups(layout, obj):
    y = obj.yawara
    column = layout.column()
    column.prop_search(y, "pins", obj, "vertex_groups")
    column.prop_search(y, "follow", obj, "vertex_groups")
    if y.follow:
        column.prop(y, "follow_stiffness")
        column.prop(y, "follow_damping")
    if y.role == "SOFT" and y.method != "match":
        column.prop_search(y, "stiff", obj, "vertex_groups")
        if y.stiff:
            column.prop(y, "stiff_modulus")


def _draw_body(layout, obj):
    y = obj.yawara
    if y.role != "RIGID":
        _draw_material(layout, y, y.role == "SOFT")
    else:
        layout.prop(y, "material")
    if y.role == "SOFT":
        layout.prop(y, "size")
        if y.method == "fem":
            layout.prop(y, "level")
        if y.method == "plastic":
            layout.prop(y, "show_as")
    if y.role in ("SOFT", "SHEET"):
        _draw_lists(layout, obj)
        _draw_groups(layout, obj)
    if y.role == "SHEET":
        layout.prop(y, "thickness")
    if y.role == "ROD" and not obj.data.bevel_depth:
        layout.prop(y, "radius")
    for name in ("friction", "restitution", "velocity", "start"):
        layout.prop(y, name)
    if y.role != "RIGID":
        layout.prop(y, "self_contact")


def _draw_other(layout, obj):
    y = obj.yawara
    if y.role == "OBSTACLE":
        for name in ("plane", "friction", "restitution", "sticky"):
            layout.prop(y, name)
        if not y.plane:
            layout.prop(y, "thickness", text="Thickness if It Deforms")
    elif y.role == "HANDLE":
        for name in ("body", "handle_stiffness", "handle_damping", "strength"):
            layout.prop(y, name)
        layout.prop(obj, "empty_display_size", text="Radius")


class YAWARA_PT_physics(bpy.types.Panel):
    bl_label = "Yawara"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type in ("MESH", "CURVE", "EMPTY")

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        obj = context.object
        if obj.yawara.role == "NONE":
            layout.operator("yawara.add", icon="PHYSICS").role = "AUTO"
            return
        layout.prop(obj.yawara, "role")
        (_draw_body if obj.yawara.role in ("SOFT", "SHEET", "ROD", "RIGID") else _draw_other)(layout, obj)


def _time(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _draw_progress(layout, work, y):
    left = work.seconds_left
    text = f"Frame {work.done} of {work.frames}" + (f", {_time(left)} left" if left is not None else "")
    if hasattr(layout, "progress"):
        layout.progress(factor=y.progress / 100.0, text=text)
    else:
        row = layout.row()
        row.enabled = False
        row.prop(y, "progress", slider=True)
        layout.label(text=text)
    layout.operator("yawara.cancel", icon="X")


class YAWARA_PT_bake(bpy.types.Panel):
    bl_label = "Bake"
    bl_parent_id = "YAWARA_PT_physics"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        y = context.scene.yawara
        work = baking.jobs.get(context.scene.name)
        if work and work.state == job.RUNNING:
            _draw_progress(layout, work, y)
            return
        for name in ("substeps", "contact", "threads", "folder"):
            layout.prop(y, name)
        layout.operator("yawara.bake", icon="REC").resume = False
        row = layout.row(align=True)
        row.operator("yawara.bake", text="Resume").resume = True
        row.operator("yawara.free")
        layout.operator("yawara.open_page", icon="URL")
        if y.stale:
            _lines(layout, "The scene has changed since it was baked: bake again.", "ERROR")
        if y.message:
            _lines(layout, y.message, "INFO")


def menu_import(self, _context):
    self.layout.operator("yawara.import_run", text="Yawara run (folder)")


def menu_export(self, _context):
    self.layout.operator("yawara.export_scene", text="Yawara scene (.json)")


CLASSES = (YawaraPreferences, YAWARA_PT_physics, YAWARA_PT_bake)
