# SPDX-License-Identifier: MIT
"""Settings that objects and scenes keep in the .blend file."""
import bpy
from bpy.props import (BoolProperty, CollectionProperty, EnumProperty, FloatProperty, FloatVectorProperty,
                       IntProperty, PointerProperty, StringProperty)

from . import words

ROLES = (
    ("NONE", "None", "Takes no part"),
    ("SOFT", "Soft Body", "A volume that deforms; the mesh is its surface"),
    ("SHEET", "Sheet", "Cloth, paper, a leaf: the mesh is its middle surface"),
    ("ROD", "Rod", "A rope, wire or ruler along each spline of the curve"),
    ("RIGID", "Rigid Body", "Moves, but does not deform"),
    ("OBSTACLE", "Obstacle", "Others collide with it; moves as it is animated"),
    ("HANDLE", "Handle", "Holds the vertices of a body that are inside it at the first frame, and takes them along"),
)
METHODS = (
    ("match", "Shape Matching", "Fast; attracted by example poses"),
    ("frames", "Frames", "Stiffness in pascals; attracted by example poses"),
    ("fem", "Finite Elements", "Accurate; subdivides where the strain varies"),
    ("plastic", "Plastic", "Dents, tears, splits and merges; made of particles"),
)


def _materials():
    items = [(f"word:{w}", w.capitalize(), f"Looks like {w} at any size") for w in words.WORDS]
    items += [(f"named:{n}", f"{n.replace('_', ' ').capitalize()} ({e:g} Pa)",
               f"Measured: E = {e:g} Pa, nu = {nu:g}, {rho:g} kg/m³") for n, (e, nu, rho) in words.NAMED.items()]
    return items + [("own", "Own Numbers", "Young's modulus, Poisson's ratio and density")]


MATERIALS = tuple(_materials())


class YawaraName(bpy.types.PropertyGroup):
    """A name in a list: `name` is built in."""


class YawaraObject(bpy.types.PropertyGroup):
    """What an object is in the simulation."""
    role: EnumProperty(name="Role", items=ROLES, default="NONE", description="What the object is in the simulation")
    method: EnumProperty(name="Method", items=METHODS, default="match")
    material: EnumProperty(name="Material", items=MATERIALS, default="word:rubber")
    modulus: FloatProperty(name="Young's Modulus", description="Pa", default=1e5, min=1e-3, max=1e13)
    ratio: FloatProperty(name="Poisson's Ratio", description="0 (cork) to below 0.5 (rubber)", default=0.3, min=0.0,
                         max=0.4999)
    density: FloatProperty(name="Density", description="kg/m³", default=1000.0, min=1e-3, max=1e6)
    damping: FloatProperty(name="Damping", description="Decay rate of what is not rigid motion, 1/s; below 0: that of "
                           "the material", default=-1.0, min=-1.0, max=1e6)
    beta: FloatProperty(name="Attraction", description="How strongly the shape keys attract: 0 not at all, 1 the body "
                        "may rest in one", default=0.95, min=0.0, max=1.0)
    keyed: BoolProperty(name="Values Set Weights", description="The body takes the poses of the shape keys as far as their "
                        "values say, frame by frame, instead of choosing by itself")
    left_out: CollectionProperty(type=YawaraName, description="Shape keys that are not examples")
    size: FloatProperty(name="Resolution", description="Edge length of tets, or distance of particles; 0: chosen by "
                        "size and shape", default=0.0, min=0.0, unit="LENGTH")
    level: IntProperty(name="Levels", description="How often finite elements are subdivided", default=2, min=1, max=4)
    thickness: FloatProperty(name="Thickness", default=0.01, min=1e-6, unit="LENGTH")
    radius: FloatProperty(name="Radius", description="Of a rod, where the curve has no bevel", default=0.02, min=1e-6,
                          unit="LENGTH")
    friction: FloatProperty(name="Friction", default=0.4, min=0.0, max=1000.0)
    restitution: FloatProperty(name="Bounce", description="Part of the speed kept in a bounce", default=0.0, min=0.0,
                               max=1.0)
    sticky: BoolProperty(name="Sticky", description="Plastic matter sticks to it, other bodies do not slide on it")
    self_contact: BoolProperty(name="Self Contact", description="Collides with itself")
    velocity: FloatVectorProperty(name="Velocity", description="At the start", subtype="VELOCITY", size=3)
    start: IntProperty(name="Starts at Frame", description="When it appears and begins to move; 0: at once", default=0,
                       min=0)
    pins: StringProperty(name="Pins", description="Vertex group that stays where the animation has it")
    follow: StringProperty(name="Follow", description="Vertex group that follows the animation, more exactly where the "
                           "weight is larger")
    follow_stiffness: FloatProperty(name="Stiffness", description="Of the springs at weight 1/2, N/m per vertex",
                                    default=1000.0, min=1e-6, max=1e12)
    follow_damping: FloatProperty(name="Damping", description="Of the springs, N s/m per vertex", default=1.0, min=0.0,
                                  max=1e12)
    stiff: StringProperty(name="Stiffness", description="Vertex group that makes the body stiffer")
    stiff_modulus: FloatProperty(name="Modulus at Weight 1", description="Pa", default=1e6, min=1e-3, max=1e13)
    parts: CollectionProperty(type=YawaraName, description="Vertex groups whose vertices choose their example together")
    plane: BoolProperty(name="Infinite Plane", description="Everything below the object's own xy plane is solid")
    body: PointerProperty(name="Holds", type=bpy.types.Object, description="Body that the handle holds; empty: the "
                          "only one")
    handle_stiffness: FloatProperty(name="Spring", description="N/m per vertex; 0: holds exactly", default=0.0, min=0.0,
                                    max=1e12)
    handle_damping: FloatProperty(name="Spring Damping", description="N s/m per vertex", default=0.0, min=0.0, max=1e12)
    strength: FloatProperty(name="Strength", description="Can be animated; a handle without a spring lets go below 0.5",
                            default=1.0, min=0.0, max=1.0)
    show_as: EnumProperty(name="Show As", items=(("SKIN", "Skin", "A surface around the particles"),
                                                 ("POINTS", "Points", "A point cloud")), default="SKIN")
    result: PointerProperty(type=bpy.types.Object)
    baked: BoolProperty()


class YawaraScene(bpy.types.PropertyGroup):
    """Settings of the simulation, and how its bake stands."""
    substeps: IntProperty(name="Substeps", description="Steps per frame: more are more accurate and slower", default=4,
                          min=1, max=1000)
    contact: EnumProperty(name="Contact", items=(("points", "Fast", "Bodies may overlap a little"),
                                                 ("surfaces", "Exact", "What is apart never crosses; slower")),
                          default="surfaces")
    threads: IntProperty(name="Threads", description="0: one per core", default=0, min=0, max=1024)
    folder: StringProperty(name="Cache", description="Folder for scene, run and caches. // is the folder of the .blend",
                           subtype="DIR_PATH", default="//yawara_cache")
    fingerprint: StringProperty()
    stale: BoolProperty()
    message: StringProperty()
    progress: FloatProperty(name="Baked", subtype="PERCENTAGE", min=0.0, max=100.0)


CLASSES = (YawaraName, YawaraObject, YawaraScene)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.yawara = PointerProperty(type=YawaraObject)
    bpy.types.Scene.yawara = PointerProperty(type=YawaraScene)


def unregister():
    del bpy.types.Scene.yawara
    del bpy.types.Object.yawara
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
