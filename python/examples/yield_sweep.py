#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Balls of clay of eight yield stresses are thrown on a floor: how flat does each become? One rollout.
usage: yield_sweep.py [PICTURE.png]"""
import sys

import numpy as np
import yawara

STRESSES = np.geomspace(200, 4e4, 8)
SCENE = {
    "fps": 60, "frames": 36, "substeps": 2, "floor": {"friction": 0.8},
    "bodies": [{
        "name": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 0.16, 0],
        "velocity": [0, -5, 0], "density": 1500,
        "plastic": {"spacing": 0.025, "youngs_modulus": 4e5, "poissons_ratio": 0.3,
                    "flow": "von_mises", "yield_stress": 1e4},
    }],
}


def main(picture=None):
    scene = yawara.load(SCENE)
    changes = [{"bodies[0].plastic.yield_stress": stress} for stress in STRESSES]
    out = yawara.rollout(scene, changes)
    tracks = out.positions["ball"]
    heights = np.array([np.ptp(track[-1][:, 1]) for track in tracks]) + 0.025
    for stress, height in zip(STRESSES, heights):
        print(f"yield stress {stress:8.0f} Pa: {100 * height:.1f} cm high, of 20 cm")
    if picture:
        draw(tracks, heights, picture)
    return heights


def draw(tracks, heights, picture):
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(8, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=[2, 1])
    axes = figure.add_subplot(grid[0, :])
    axes.semilogx(STRESSES, 100 * heights, "o-")
    axes.axhline(20, color="gray", lw=0.8, ls="--")
    axes.set(xlabel="yield stress (Pa)", ylabel="height (cm)", ylim=(0, 22),
             title="Balls of clay thrown on a floor at 5 m/s: one rollout of eight")
    for column, i in enumerate((0, 2, 4, 7)):
        small, p = figure.add_subplot(grid[1, column]), tracks[i][-1]
        near = np.abs(p[:, 2]) < 0.03
        small.scatter(p[near, 0], p[near, 1], s=12, color="peru")
        small.axhline(0, color="k", lw=0.8)
        small.set(aspect="equal", xlim=(-0.28, 0.28), ylim=(-0.02, 0.24), xticks=[], yticks=[],
                  title=f"{STRESSES[i]:.0f} Pa")
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "yield_sweep.png")
