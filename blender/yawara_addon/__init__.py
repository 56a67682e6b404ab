# SPDX-License-Identifier: MIT
"""Yawara in Blender: soft bodies, sheets, rods and rigid bodies, simulated by the program yawara."""
bl_info = {
    "name": "Yawara",
    "author": "Yawara",
    "version": (0, 2, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics > Yawara",
    "description": "Soft bodies with examples, cloth, ropes and clay, baked by the program yawara",
    "category": "Physics",
}

try:
    import numpy  # noqa: F401
except ImportError as problem:
    raise ImportError("The Yawara add-on needs numpy, which this Blender's Python does not have: install Debian's "
                      "python3-numpy, or use Blender from blender.org, which has it.") from problem

try:
    import bpy
except ImportError:
    # Scenes can be made and tested without Blender.
    bpy = None

if bpy is not None:
    from . import handlers, operators, panels, props


def register():
    props.register()
    for cls in operators.CLASSES + panels.CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.TOPBAR_MT_file_import.append(panels.menu_import)
    bpy.types.TOPBAR_MT_file_export.append(panels.menu_export)
    handlers.register()


def unregister():
    handlers.unregister()
    bpy.types.TOPBAR_MT_file_export.remove(panels.menu_export)
    bpy.types.TOPBAR_MT_file_import.remove(panels.menu_import)
    for cls in reversed(operators.CLASSES + panels.CLASSES):
        bpy.utils.unregister_class(cls)
    props.unregister()
