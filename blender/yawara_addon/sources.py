# SPDX-License-Identifier: MIT
"""What the add-on takes from Blender, as plain data: no bpy here, so that scenes can be made and
tested without Blender. Coordinates are Blender's (z up, its units); arrays are numpy's."""
from dataclasses import dataclass, field
from typing import Any, List, Optional


class SourceError(ValueError):
    """An object cannot be used as it is. `object` is its name."""

    def __init__(self, name, message):
        super().__init__(f'"{name}": {message}')
        self.object = name


@dataclass
class Mesh:
    """vertices (n, 3), faces as lists of vertex numbers, texture coordinates per corner, the name of
    a material per face."""
    vertices: Any
    faces: List[List[int]]
    uvs: Any = None
    materials: Optional[List[str]] = None


@dataclass
class Spline:
    """Points (n, 3) of a curve."""
    points: Any
    closed: bool = False


@dataclass
class Body:
    """An object that moves: a "volume", "rigid", a "sheet" or a "rod" (with splines)."""
    name: str
    kind: str
    matrix: Any
    mesh: Optional[Mesh] = None
    splines: List[Spline] = field(default_factory=list)
    method: str = "match"
    material: str = "word:rubber"
    modulus: float = 1e5
    ratio: float = 0.3
    density: float = 1000.0
    beta: float = 0.95
    damping: float = -1.0          # 1/s; below 0: that of the material
    friction: float = 0.4
    restitution: float = 0.0
    self_contact: bool = False
    velocity: Any = (0.0, 0.0, 0.0)
    start: float = 0.0             # s
    size: float = 0.0              # of tets or the distance of particles; 0: chosen by the program
    level: int = 2                 # of fem
    thickness: float = 0.01        # of a sheet
    radius: float = 0.01           # of a rod
    color: Optional[List[float]] = None
    examples: list = field(default_factory=list)     # (name, vertices)
    weights: Any = None            # of the examples, a row per frame, or one; None: the body chooses
    start_vertices: Any = None     # where they are in the first frame; None: at rest
    strengths: Any = None          # per vertex, 0 to 1: how exactly it follows the animation
    follow_stiffness: float = 1000.0
    follow_damping: float = 1.0
    targets: str = ""              # PC2 of the animation, in coordinates of the scene
    stiff_weights: Any = None      # per vertex, 0 to 1
    stiff_modulus: float = 1e6     # Pa, at weight 1
    groups: list = field(default_factory=list)       # (name, weights)


@dataclass
class Obstacle:
    """A mesh, or the half-space below the object's plane (mesh None). A matrix per frame, or one."""
    name: str
    matrices: list
    mesh: Optional[Mesh] = None
    friction: float = 0.4
    restitution: float = 0.0
    sticky: bool = False
    color: Optional[List[float]] = None
    targets: str = ""              # PC2 of a mesh that deforms, in coordinates of the scene
    thickness: float = 0.0         # of a mesh that deforms; 0: chosen by the program


@dataclass
class Handle:
    """A ball that holds the vertices inside it. A matrix per frame, or one; strengths likewise."""
    name: str
    body: str
    radius: float
    matrices: list
    stiffness: float = 0.0         # N/m per vertex; 0: holds exactly
    damping: float = 0.0
    strengths: Any = None


@dataclass
class Settings:
    """Of the whole scene. gravity: a row per frame, or one; m/s^2 in Blender's axes."""
    name: str
    gravity: Any
    fps: float
    frames: int
    unit: float = 1.0              # metres per unit of Blender
    substeps: int = 4
    contact: str = "surfaces"
