# SPDX-License-Identifier: MIT
"""Yawara: soft bodies from Python.

    import yawara
    scene = yawara.load("teddy.json")
    world = scene.build()
    for frame in world.play(240):
        print(frame.time, frame["teddy"].positions.mean(axis=0))

SI units, y is up. docs/python.md of the repository is the guide.
"""
try:
    import numpy as _numpy  # noqa: F401
except ImportError as _problem:
    raise ImportError("yawara needs numpy: install python3-numpy (Debian) or run "
                      "`pip install numpy`") from _problem

from ._library import lib as _lib
from .bodies import Body, FieldInfo, Joint, Obstacle, Pin, Track
from .errors import (DeviceError, DivergedError, Error, FileError, FormatError, GeometryError, InvalidError,
                     LimitError, OutOfMemoryError, StaleError, YawaraWarning)
from .fitting import Fit, fit
from .meshes import TetMesh, TriMesh, as_tets, as_triangles
from .models import Material, Model, materials, plastic_presets
from .queries import Hit
from .rollouts import Rollout, rollout, sensitivity
from .runs import Run, open_run
from .scenes import Scene, load
from .shapes import Shape
from .views import View
from .worlds import Frame, Report, World

__version__ = _lib.yw_version().decode()
__all__ = [
    "Body", "DeviceError", "DivergedError", "Error", "FieldInfo", "FileError", "Fit", "FormatError", "Frame",
    "GeometryError", "Hit", "InvalidError", "Joint", "LimitError", "Material", "Model", "Obstacle",
    "OutOfMemoryError", "Pin", "Report", "Rollout", "Run", "Scene", "Shape", "StaleError", "TetMesh",
    "Track", "TriMesh", "View", "World", "YawaraWarning", "as_tets", "as_triangles", "fit", "load",
    "materials", "open_run", "plastic_presets", "rollout", "sensitivity",
]
