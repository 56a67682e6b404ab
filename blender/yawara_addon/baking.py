# SPDX-License-Identifier: MIT
"""Bakes of scenes: started, watched, stopped and resumed from Blender."""
import atexit
import os
import subprocess
import zlib

import bpy

from . import arrival, collect, fingerprint, job, pointcache, program, results, runfiles
from .scene import clean
from .sources import SourceError

# Jobs of this session, by scene.
jobs = {}
# The server of the page, and how long it has to say what is wrong, s.
_page = None
PAGE_WAIT = 1.0


def folder_of(scene):
    """The folder of a scene's bake. A .blend that was never saved has none: a temporary one serves."""
    base = scene.yawara.folder or "//yawara_cache"
    if base.startswith("//") and not bpy.data.filepath:
        base = os.path.join(bpy.app.tempdir, base[2:])
    name = clean(scene.name)
    if name != scene.name:
        name += f"_{zlib.crc32(scene.name.encode()):08x}"
    return os.path.join(bpy.path.abspath(base), name)


def program_path():
    """The program, as the preferences say or from PATH."""
    addon = bpy.context.preferences.addons.get(__package__)
    return program.find(bpy.path.abspath(addon.preferences.program) if addon and addon.preferences.program else "")


def select(context, name):
    """Selects the object that an error is about."""
    obj = context.scene.objects.get(name) if name else None
    if obj is None or obj.name not in context.view_layer.objects:
        return
    for other in context.view_layer.objects:
        other.select_set(False)
    obj.hide_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj


def start(context, resume=False):
    """Starts the bake of the current scene. Raises ProgramError, SourceError or ValueError."""
    scene = context.scene
    y = scene.yawara
    tool = program_path()
    folder = folder_of(scene)
    running = jobs.get(scene.name)
    if running and running.state == job.RUNNING:
        raise ValueError("A bake is already running. Cancel it first.")
    record = job.load(folder) if resume else None
    if resume and record is None:
        raise ValueError("There is no bake to resume: bake first.")
    if not resume:
        job.clear(folder)
        os.makedirs(folder, exist_ok=True)
        for obj in [o for o in scene.objects if o.yawara.baked]:
            results.remove(obj)
        _, record = collect.write(context, scene, folder)
        job.save(folder, record)
        y.fingerprint = fingerprint.of_scene(scene)
    y.stale, y.message, y.progress = False, "", 0.0
    jobs[scene.name] = work = job.Job(tool, folder, record)
    work.start(resume, y.threads)
    return work


def poll(context, scene):
    """Takes what has arrived, shows it, and says how the bake stands."""
    work = jobs.get(scene.name)
    if work is None:
        return job.STOPPED
    before = work.arrival.taken
    state = work.poll()
    scene.yawara.progress = 100.0 * work.done / max(work.frames, 1)
    if work.arrival.taken > before:
        try:
            _show(scene, work)
        except (pointcache.CacheError, SourceError) as problem:
            # The mesh or its modifiers were changed meanwhile.
            work.give_up(str(problem))
            state = work.state
    if state != job.RUNNING:
        scene.yawara.message = work.message
        if state == job.FAILED:
            select(context, work.culprit)
    return state


def _show(scene, work):
    for i, body in enumerate(work.record["bodies"]):
        if body["kind"] == "particles" and "radius" not in body:
            body["radius"] = _particle_radius(work.run, i, work.record["unit"])
    objects = {o.name: o for o in scene.objects}
    results.show(work.record, work.arrival, objects)
    results.refresh([objects[b["object"]] for b in work.record["bodies"] if b["object"] in objects])


def _particle_radius(run, index, unit):
    """Mean radius of a body's particles, in Blender's units."""
    radii = runfiles.read_frame(run, 0)[index].radii
    return float(radii.mean()) / unit if radii is not None and len(radii) else 0.01


def check_stale(scene):
    """Compares the scene with what was baked."""
    y = scene.yawara
    stale = bool(y.fingerprint) and fingerprint.of_scene(scene) != y.fingerprint
    # Writing a value is a change too, which would be looked at again.
    if y.stale != stale:
        y.stale = stale
    return stale


def free(context):
    """Removes the bake of the scene: its files, modifiers and objects."""
    scene = context.scene
    work = jobs.pop(scene.name, None)
    if work and work.state == job.RUNNING:
        work.process.kill()
        work.process.wait()
    job.clear(folder_of(scene))
    for obj in [o for o in scene.objects if o.yawara.baked]:
        results.remove(obj)
    scene.yawara.fingerprint, scene.yawara.stale, scene.yawara.message = "", False, ""
    scene.yawara.progress = 0.0


def abandon():
    """Asks all bakes to stop after their frame and forgets them: another file is opened, or Blender ends.
    Resume goes on with them."""
    for work in jobs.values():
        work.stop()
    jobs.clear()


def close_page():
    """Ends the server of the page, if there is one."""
    global _page
    if _page is not None and _page.poll() is None:
        _page.terminate()
    _page = None


def open_page(context):
    """Serves the scene to a browser, in place of what was served before, until Blender ends."""
    global _page
    tool = program_path()
    folder = os.path.join(folder_of(context.scene), "page")
    os.makedirs(folder, exist_ok=True)
    collect.write(context, context.scene, folder)
    close_page()
    log = os.path.join(folder, "log.txt")
    _page = program.start(tool, ["view", os.path.join(folder, "scene.json")], log)
    try:
        code = _page.wait(PAGE_WAIT)
    except subprocess.TimeoutExpired:
        return
    if code:
        with open(log, encoding="utf-8", errors="replace") as file:
            raise program.ProgramError(program.summary(file.read(), code))


atexit.register(close_page)
atexit.register(abandon)


def import_run(context, run):
    """Plays a run folder on the selected mesh objects: by name, else in order where the numbers of
    vertices agree; without a selection, on new objects. Returns (object, body) names."""
    scene = context.scene
    tool = program_path()
    runfiles.info(run)
    bodies = runfiles.bodies(run)
    unit = scene.unit_settings.scale_length if scene.unit_settings.system != "NONE" else 1.0
    chosen = [o for o in context.selected_objects if o.type == "MESH"]
    pairs = _match(bodies, chosen) if chosen else [(None, i) for i in range(len(bodies))]
    if not pairs:
        raise ValueError(f"No selected object fits a body of the run ({_list(bodies)}). Select objects with as many "
                         "vertices, or none to make new ones.")
    targets = [arrival.Target(i, bodies[i].name, _kind(obj, bodies[i]), [obj.matrix_world] if obj else None)
               for obj, i in pairs]
    arrives = arrival.Arrival(tool, run, os.path.join(run, "blender"), targets, unit)
    arrives.take()
    out = []
    for (obj, index), target in zip(pairs, targets):
        path = arrives.cache_path(target)
        if obj is None:
            radius = _particle_radius(run, index, unit) if target.kind == "particles" else None
            obj = results.new_object(context.collection, bodies[index].name, path, scene.frame_start, radius)
        else:
            results.play(obj, path, scene.frame_start)
        out.append((obj.name, bodies[index].name))
    return out


def _kind(obj, body):
    """A sheet plays on its own vertices, other bodies on those of their surface; new objects need its faces too."""
    if body.kind == runfiles.PARTICLES:
        return "particles"
    if obj is None:
        return "rod"
    return "sheet" if len(obj.data.vertices) != body.num_surface else "volume"


def _fits(obj, body):
    count = len(obj.data.vertices)
    middle = int(body.elements.max()) + 1 if body.elements.shape[1] == 3 and body.elements.size else -1
    return count in (body.num_surface, middle)


def _match(bodies, objects):
    pairs, free_bodies = [], list(range(len(bodies)))
    for obj in sorted(objects, key=lambda o: o.name):
        named = [i for i in free_bodies if bodies[i].name == obj.name and _fits(obj, bodies[i])]
        found = named or [i for i in free_bodies if _fits(obj, bodies[i])]
        if found:
            pairs.append((obj, found[0]))
            free_bodies.remove(found[0])
    return pairs


def _list(bodies):
    return ", ".join(f'"{b.name}": {b.num_surface} vertices' for b in bodies[:6])
