# SPDX-License-Identifier: MIT
"""Meshes, curves, shape keys and vertex groups of Blender as arrays."""
import bpy
import numpy as np

from .sources import Mesh, SourceError, Spline

# Modifiers that move vertices, or change nothing about them: a cache may come after these.
DEFORMING = {
    "ARMATURE", "CAST", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_CACHE", "MESH_DEFORM",
    "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH", "SURFACE_DEFORM", "VOLUME_DISPLACE",
    "WARP", "WAVE", "CLOTH", "SOFT_BODY", "COLLISION", "SURFACE", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX",
    "VERTEX_WEIGHT_PROXIMITY", "UV_PROJECT", "UV_WARP", "NORMAL_EDIT", "WEIGHTED_NORMAL", "DATA_TRANSFER",
}
# Those of them that would move baked vertices again.
MOVING = DEFORMING - {"COLLISION", "SURFACE", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY",
                      "UV_PROJECT", "UV_WARP", "NORMAL_EDIT", "WEIGHTED_NORMAL", "DATA_TRANSFER"}
CACHE = "Yawara"
# Modifiers whose names begin so are the add-on's own.
OWN = "Yawara "


def before_cache(obj):
    """Modifiers that act on what is simulated: those before the first that makes vertices."""
    others = [m for m in obj.modifiers if m.name != CACHE]
    return others[:next((i for i, m in enumerate(others) if m.type not in DEFORMING), len(others))]


def cache_index(obj):
    """Where the cache belongs in the modifier stack. Refuses stacks that would move baked vertices."""
    others = [m for m in obj.modifiers if m.name != CACHE]
    index = len(before_cache(obj))
    late = next((m for m in others[index:]
                 if m.type in MOVING and m.show_viewport and not m.name.startswith(OWN)), None)
    if late:
        raise SourceError(obj.name, f'the modifier "{late.name}" comes after "{others[index].name}", which changes the '
                                    f'number of vertices: apply "{others[index].name}", or move "{late.name}" above it')
    return index


def hidden_from_cache(obj):
    """Modifiers that do not act on what is simulated: the cache, and all after it."""
    index = cache_index(obj)
    others = [m for m in obj.modifiers if m.name != CACHE]
    return others[index:] + [m for m in obj.modifiers if m.name == CACHE]


def coordinates(vertices):
    out = np.empty(3 * len(vertices), np.float32)
    vertices.foreach_get("co", out)
    return out.reshape(-1, 3)


def check_numbers(obj, points):
    if not np.isfinite(points).all():
        raise SourceError(obj.name, "has vertices whose coordinates are not numbers; delete or mend them")
    return points


def base(obj):
    """Vertices without modifiers, in the basis shape."""
    if obj.mode == "EDIT":
        obj.update_from_editmode()
    keys = obj.data.shape_keys
    return check_numbers(obj, coordinates(keys.reference_key.data if keys else obj.data.vertices))


def evaluated(obj, depsgraph):
    """Vertices with the modifiers that are shown."""
    mesh = obj.evaluated_get(depsgraph).data
    if len(mesh.vertices) != len(obj.data.vertices):
        raise SourceError(obj.name, f"its modifiers make {len(mesh.vertices)} vertices of {len(obj.data.vertices)}: apply "
                                    "those that change the number of vertices")
    return check_numbers(obj, coordinates(mesh.vertices))


def faces(mesh):
    loops = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", loops)
    starts, totals = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    mesh.polygons.foreach_get("loop_total", totals)
    return [loops[s:s + n].tolist() for s, n in zip(starts, totals)]


def take(obj, vertices):
    """The mesh of an object, with these vertices."""
    mesh = obj.data
    if not len(mesh.polygons):
        raise SourceError(obj.name, "has no faces; give it a surface, or choose another role")
    polygons = faces(mesh)
    used = np.zeros(len(vertices), bool)
    used[[v for face in polygons for v in face]] = True
    if not used.all():
        raise SourceError(obj.name, f"{(~used).sum()} of its vertices belong to no face: remove them (Edit Mode, Mesh > "
                                    "Clean Up > Delete Loose)")
    uvs = None
    if mesh.uv_layers.active:
        uvs = np.empty(2 * len(mesh.loops), np.float32)
        mesh.uv_layers.active.data.foreach_get("uv", uvs)
        uvs = uvs.reshape(-1, 2)
    names = [slot.material.name.replace(" ", "_") if slot.material else "none" for slot in obj.material_slots]
    materials = [names[min(p.material_index, len(names) - 1)] for p in mesh.polygons] if names else None
    return Mesh(vertices, polygons, uvs, materials)


def corners(mesh):
    """Vertices of all corners of faces, and how many each face has."""
    loops, totals = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.loops.foreach_get("vertex_index", loops)
    mesh.polygons.foreach_get("loop_total", totals)
    return loops, totals


def _example_keys(obj):
    """Shape keys that are examples."""
    keys = obj.data.shape_keys
    skipped = {item.name for item in obj.yawara.left_out}
    return [k for k in keys.key_blocks if k != keys.reference_key and k.name not in skipped] if keys else []


def example_values(obj):
    """Values of the shape keys that are examples, as the current frame has them."""
    return [0.0 if key.mute else key.value for key in _example_keys(obj)]


def examples(obj):
    """Shape keys that are examples, with the vertices of each at value 1."""
    keys = obj.data.shape_keys
    if not keys:
        return []
    reference = keys.reference_key
    rest = coordinates(reference.data)
    out = []
    for key in _example_keys(obj):
        points = coordinates(key.data)
        if key.relative_key != reference:
            points = rest + points - coordinates(key.relative_key.data)
        out.append((key.name, check_numbers(obj, points)))
    return out


def weights(obj, name, what):
    """Weights of a vertex group, one per vertex; None if no group is named."""
    if not name:
        return None
    group = obj.vertex_groups.get(name)
    if not group:
        raise SourceError(obj.name, f'has no vertex group "{name}", which {what} names')
    out = np.zeros(len(obj.data.vertices), np.float32)
    for vertex in obj.data.vertices:
        for entry in vertex.groups:
            if entry.group == group.index:
                out[vertex.index] = entry.weight
    return out


def strengths(obj):
    """How exactly each vertex follows the animation: pins exactly, others by weight."""
    pins = weights(obj, obj.yawara.pins, "Pins")
    follow = weights(obj, obj.yawara.follow, "Follow")
    if pins is not None:
        held = (pins >= 0.5).astype(np.float32)
        follow = held if follow is None else np.maximum(held, follow)
    return follow


def splines(obj):
    """Splines of a curve as points, without its bevel."""
    data = obj.data.copy()
    holder = bpy.data.objects.new("yawara_curve", data)
    try:
        data.bevel_depth = data.extrude = data.offset = 0.0
        data.bevel_object = data.taper_object = None
        mesh = holder.to_mesh()
        points = check_numbers(obj, coordinates(mesh.vertices))
        edges = {tuple(sorted(edge.vertices)) for edge in mesh.edges}
        holder.to_mesh_clear()
    finally:
        bpy.data.objects.remove(holder)
        bpy.data.curves.remove(data)
    # Points of a spline follow each other; a closed one has an edge back to its first.
    ends = [i + 1 for i in range(len(points)) if (i, i + 1) not in edges]
    out, first = [], 0
    for end in ends:
        closed = end - first > 2 and (first, end - 1) in edges
        out.append(Spline(without_doubles(points[first:end]), closed))
        first = end
    if not out:
        raise SourceError(obj.name, "has no spline with points")
    return out


def without_doubles(points):
    """Points that are apart from the one before them."""
    size = np.ptp(points, axis=0).max() if len(points) else 0.0
    apart = np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-6 * size
    return points[np.concatenate([[True], apart])] if len(points) else points
