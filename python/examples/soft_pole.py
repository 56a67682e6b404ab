#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A soft pole stands on its tip: a control loop of our own moves the tip so that it does not fall.
usage: soft_pole.py [PICTURE.png]"""
import sys

import numpy as np
import yawara

LENGTH, LEAN, FPS, SECONDS = 1.0, 0.05, 120, 5.0
# Poles of the controlled pendulum, 1/s: fast enough to catch it, slow enough not to shake it.
POLES = (-2.0, -2.2, -2.5, -3.0)


def gains():
    """Feedback for a stiff pole whose foot is accelerated by a: tilt'' = (1.5 g tilt - 1.5 a) / L."""
    g = 9.81
    # States: foot, its speed, tilt, its rate. Ackermann's formula.
    a = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1.5 * g / LENGTH, 0]])
    b = np.array([[0], [1], [0], [-1.5 / LENGTH]])
    reach = np.hstack([np.linalg.matrix_power(a, k) @ b for k in range(4)])
    wanted = sum(c * np.linalg.matrix_power(a, 4 - k) for k, c in enumerate(np.poly(POLES)))
    return np.linalg.solve(reach.T, np.eye(4)[3]) @ wanted


def make():
    """A pole that leans and bends; it is held at its foot alone, as by a hinge."""
    height = np.linspace(0, LENGTH, 21)
    points = np.column_stack([height * np.sin(LEAN), height * np.cos(LEAN), 0 * height])
    model = yawara.Model.rod(points, radius=0.02, youngs_modulus=3e6, density=600, damping=4.0)
    world = yawara.World(threads=1)
    body = world.add(model, name="pole")
    return world, body, body.pin([0])


def play(control):
    """Tilt (rad), bend (m) and place of the foot (m) over time; gain None lets the pole fall."""
    world, body, pin = make()
    feedback, foot, speed, rows = gains(), 0.0, 0.0, []
    for _ in range(int(SECONDS * FPS)):
        place, motion = body.positions.copy(), body.velocities.copy()
        centre, drift = place.mean(axis=0), motion.mean(axis=0)
        tilt = np.arctan2(centre[0] - place[0, 0], centre[1] - place[0, 1])
        rate = (drift[0] - speed) / (LENGTH / 2)
        push = -float(feedback @ [foot, speed, tilt, rate]) if control else 0.0
        speed += push / FPS
        foot += speed / FPS
        pin.move((foot, 0, 0))
        world.step(1 / FPS, 4)
        straight = place[0] + np.outer(np.linspace(0, 1, 21), place[-1] - place[0])
        rows.append((tilt, np.linalg.norm(place - straight, axis=1).max(), foot))
        if abs(tilt) > 1.2:
            break
    return np.array(rows)


def main(picture=None):
    held, free = play(True), play(False)
    print(f"controlled: tilt {np.abs(held[-FPS:, 0]).max():.4f} rad at most in the last second, foot at "
          f"{held[-1, 2]:.3f} m, bend up to {1000 * held[:, 1].max():.1f} mm")
    print(f"left alone: falls within {len(free) / FPS:.2f} s")
    if picture:
        import matplotlib.pyplot as plt

        figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 4.6), sharex=True, layout="constrained")
        time = np.arange(len(held)) / FPS
        top.plot(time, np.degrees(held[:, 0]), label="controlled")
        top.plot(time[:len(free)], np.degrees(free[:, 0]), ls="--", label="left alone")
        top.set(ylabel="tilt (degrees)", ylim=(-8, 20), title="A soft pole balanced on its tip")
        top.legend()
        bottom.plot(time, 100 * held[:, 2], label="foot (cm)")
        bottom.plot(time, 1000 * held[:, 1], label="bend (mm)")
        bottom.set(xlabel="time (s)")
        bottom.legend()
        figure.savefig(picture, dpi=110)
    return held, free


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "soft_pole.png")
