# SPDX-License-Identifier: MIT
"""Geometry nodes that show particles: as a point cloud, or as a skin around them."""
import bpy

MODIFIER = "Yawara Particles"
SMOOTH = "Yawara Smooth"
# Of the radius: balls that overlap well make a closed skin; a voxel is half a radius.
SWELL, VOXEL = 1.6, 0.5
# Rows of particles would show as ridges; smoothing takes about as much away as SWELL adds.
SMOOTHING = 10


def _socket(tree, name, into):
    """Adds a geometry socket; node groups have an interface from Blender 4.0 on."""
    if hasattr(tree, "interface"):
        tree.interface.new_socket(name, in_out="INPUT" if into else "OUTPUT", socket_type="NodeSocketGeometry")
    else:
        (tree.inputs if into else tree.outputs).new("NodeSocketGeometry", name)


def _chain(tree, kinds):
    """Nodes one after another, from the input of the group to its output."""
    _socket(tree, "Geometry", True)
    _socket(tree, "Geometry", False)
    nodes = [tree.nodes.new(kind) for kind in ("NodeGroupInput", *kinds, "NodeGroupOutput")]
    for i, (a, b) in enumerate(zip(nodes, nodes[1:])):
        b.location.x = 200 * (i + 1)
        tree.links.new(a.outputs[0], b.inputs[0])
    return nodes[1:-1]


def _active(sockets, name):
    """The socket of a name that the kind of data of its node uses."""
    return next(s for s in sockets if s.name == name and s.enabled)


def _blur(tree, paint, velocities, points=None):
    """Gives what reaches the node `paint` the attribute from which Cycles makes motion blur. velocities:
    an object whose vertices are at the velocities. points: of which the nearest counts, for a skin."""
    nodes, links = tree.nodes, tree.links
    source, at, store = (nodes.new(kind) for kind in (
        "GeometryNodeObjectInfo", "GeometryNodeSampleIndex", "GeometryNodeStoreNamedAttribute"))
    source.inputs["Object"].default_value = velocities
    at.data_type = store.data_type = "FLOAT_VECTOR"
    links.new(source.outputs["Geometry"], at.inputs["Geometry"])
    links.new(nodes.new("GeometryNodeInputPosition").outputs[0], _active(at.inputs, "Value"))
    if points is None:
        index = nodes.new("GeometryNodeInputIndex").outputs[0]
    else:
        nearest = nodes.new("GeometryNodeSampleNearest")
        links.new(points.outputs[0], nearest.inputs["Geometry"])
        index = nearest.outputs["Index"]
    links.new(index, at.inputs["Index"])
    store.inputs["Name"].default_value = "velocity"
    links.new(_active(at.outputs, "Value"), _active(store.inputs, "Value"))
    links.new(paint.inputs[0].links[0].from_socket, store.inputs["Geometry"])
    links.new(store.outputs["Geometry"], paint.inputs[0])


def _points(tree, radius, material, velocities):
    points, paint = _chain(tree, ("GeometryNodeMeshToPoints", "GeometryNodeSetMaterial"))
    points.inputs["Radius"].default_value = radius
    paint.inputs["Material"].default_value = material
    if velocities:
        _blur(tree, paint, velocities)


def _skin(tree, radius, material, velocities):
    points, volume, surface, smooth, paint = _chain(tree, (
        "GeometryNodeMeshToPoints", "GeometryNodePointsToVolume", "GeometryNodeVolumeToMesh",
        "GeometryNodeSetShadeSmooth", "GeometryNodeSetMaterial"))
    points.inputs["Radius"].default_value = radius
    volume.resolution_mode = "VOXEL_SIZE"
    volume.inputs["Voxel Size"].default_value = VOXEL * radius
    volume.inputs["Radius"].default_value = SWELL * radius
    surface.inputs["Threshold"].default_value = 0.3
    paint.inputs["Material"].default_value = material
    if velocities:
        _blur(tree, paint, velocities, points)


def attach(obj, show_as, radius, material, velocities=None):
    """Gives an object of loose vertices its looks. radius: of a particle, in Blender's units; velocities:
    an object whose vertices are at their velocities, or None."""
    modifier = obj.modifiers.get(MODIFIER)
    if modifier is None:
        modifier = obj.modifiers.new(MODIFIER, "NODES")
    name = f"{MODIFIER} {obj.name}"
    old = bpy.data.node_groups.get(name)
    if old:
        bpy.data.node_groups.remove(old)
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    (_points if show_as == "POINTS" else _skin)(tree, radius, material, velocities)
    modifier.node_group = tree
    smooth = obj.modifiers.get(SMOOTH)
    if show_as == "SKIN" and smooth is None:
        smooth = obj.modifiers.new(SMOOTH, "SMOOTH")
        smooth.factor, smooth.iterations = 0.5, SMOOTHING
    elif show_as != "SKIN" and smooth is not None:
        obj.modifiers.remove(smooth)
