# SPDX-License-Identifier: MIT
"""Watches for changes that make a bake stale. The comparison waits until the user pauses."""
import bpy
from bpy.app.handlers import persistent

from . import baking, job, operators

# s after the last change.
PAUSE = 0.5


def _playing():
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


def check():
    """Timer: compares scenes with their bakes."""
    if _playing():
        return PAUSE
    for scene in bpy.data.scenes:
        if scene.yawara.fingerprint:
            before = scene.yawara.stale
            if baking.check_stale(scene) != before:
                operators.redraw()
    return None


@persistent
def on_update(scene, _depsgraph=None):
    work = baking.jobs.get(scene.name)
    busy = work is not None and work.state == job.RUNNING
    if not scene.yawara.fingerprint or busy or bpy.app.background:
        return
    if bpy.app.timers.is_registered(check):
        bpy.app.timers.unregister(check)
    bpy.app.timers.register(check, first_interval=PAUSE)


@persistent
def on_load(*_):
    """Objects of the next file may have the same names: nothing may arrive there."""
    baking.abandon()


def register():
    bpy.app.handlers.depsgraph_update_post.append(on_update)
    bpy.app.handlers.load_pre.append(on_load)


def unregister():
    baking.abandon()
    bpy.app.handlers.load_pre.remove(on_load)
    bpy.app.handlers.depsgraph_update_post.remove(on_update)
    for timer in (check, operators.watch):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
