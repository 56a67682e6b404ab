# SPDX-License-Identifier: MIT
"""Small scenes that several tests use."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("YAWARA_PROGRAM", "")

# A cuboid of 225 particles with a twisted example, dropped on a floor.
TWIST = {
    "floor": True, "fps": 60, "frames": 20, "substeps": 4,
    "bodies": [{
        "name": "twisted", "mesh": {"lattice": {"size": [1, 2, 1], "cells": [4, 8, 4]}},
        "position": [0, 1.2, 0], "match": {"beta": 0.9, "stiffness": 100},
        "examples": [{"deform": {"twist": {"axis": "y", "degrees": 60}}}],
    }],
}


def cube(method, **settings):
    """A falling cube of 27 particles, as a scene."""
    return {"floor": True, "frames": 10,
            "bodies": [{"name": "cube", "mesh": {"lattice": {"size": 0.4, "cells": 2}},
                        "position": [0, 0.5, 0], method: settings}]}
