#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cuboid with two example poses is pulled towards each of them in turn: its weights over time.
usage: example_weights.py [PICTURE.png]"""
import sys

import numpy as np
import yawara

FPS, SECONDS = 60, 4.0


def poses(points):
    """The examples: twisted about y by 90 degrees, and bent along x."""
    share = points[:, 1] - points[:, 1].min()
    angle = np.radians(90) * share / share.max()
    twisted = points.copy()
    twisted[:, 0] = points[:, 0] * np.cos(angle) - points[:, 2] * np.sin(angle)
    twisted[:, 2] = points[:, 0] * np.sin(angle) + points[:, 2] * np.cos(angle)
    bent = points.copy()
    turn, radius = np.radians(70) * share / share.max(), share.max() / np.radians(70)
    bent[:, 0] = radius - (radius - points[:, 0]) * np.cos(turn)
    bent[:, 1] = points[:, 1].min() + (radius - points[:, 0]) * np.sin(turn)
    return twisted, bent


def main(picture=None):
    mesh = yawara.TetMesh.lattice((-0.2, 0, -0.2), (0.2, 1.2, 0.2), (3, 9, 3))
    twisted, bent = poses(mesh.points)
    model = yawara.Model.match(mesh, examples=[twisted, bent], beta=0.95, stiffness=60, damping=6)
    world = yawara.World(gravity=(0, 0, 0), threads=1)
    body = world.add(model, name="cuboid")
    body.pin(mesh.points[:, 1] == 0)
    top = np.flatnonzero(mesh.points[:, 1] == mesh.points[:, 1].max())
    # The top follows the pose of the first example for a while, then that of the second.
    hands = [body.pin([v], stiffness=2e4, damping=100) for v in top]
    rows = []
    for frame in range(int(FPS * SECONDS)):
        time = frame / FPS
        twist = np.clip(min(time / 0.8, (2.0 - time) / 0.5), 0, 1)
        bend = np.clip((time - 2.0) / 0.8, 0, 1)
        for hand, v in zip(hands, top):
            hand.move(twist * (twisted[v] - mesh.points[v]) + bend * (bent[v] - mesh.points[v]))
        world.step(1 / FPS, 4)
        rows.append(body.weights[0])
    weights = np.array(rows)
    early, late = weights[int(1.2 * FPS)], weights[-1]
    print(f"at 1.2 s rest {early[0]:.2f}, twisted {early[1]:.2f}, bent {early[2]:.2f}; "
          f"at the end rest {late[0]:.2f}, twisted {late[1]:.2f}, bent {late[2]:.2f}")
    if picture:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
        axes.stackplot(np.arange(len(weights)) / FPS, weights.T, labels=("rest", "twisted", "bent"),
                       colors=("lightgray", "tab:red", "tab:blue"), alpha=0.8)
        axes.set(xlabel="time (s)", ylabel="weight", ylim=(0, 1), xlim=(0, SECONDS),
                 title="Example weights of a cuboid whose top is twisted, then bent")
        axes.legend(loc="upper right")
        figure.savefig(picture, dpi=110)
    return weights


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "example_weights.png")
