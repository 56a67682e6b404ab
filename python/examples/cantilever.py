#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bars of three lengths, clamped at one end, sag under their weight: deflection against the theory of
beams. usage: cantilever.py [PICTURE.png]"""
import sys

import numpy as np
import yawara

YOUNGS_MODULUS, DENSITY, SIDE, GRAVITY = 1e8, 1000.0, 0.1, 9.81


def bar(length):
    """A rod along x in air that damps; it is at rest after four seconds."""
    points = np.column_stack([np.linspace(0, length, 41), np.zeros(41), np.zeros(41)])
    model = yawara.Model.rod(points, section="rectangle", width=SIDE, thickness=SIDE, damping=8.0,
                             youngs_modulus=YOUNGS_MODULUS, density=DENSITY)
    world = yawara.World(threads=1)
    body = world.add(model, name="bar")
    body.pin([0], clamp=True)
    for _ in world.play(240):
        pass
    return body.positions.copy()


def theory(x, length):
    """Euler and Bernoulli: w = q x^2 (6 L^2 - 4 L x + x^2) / (24 E I), m."""
    load, inertia = DENSITY * SIDE**2 * GRAVITY, SIDE**4 / 12
    return load * x**2 * (6 * length**2 - 4 * length * x + x**2) / (24 * YOUNGS_MODULUS * inertia)


def main(picture=None):
    results = {length: bar(length) for length in (0.6, 0.8, 1.0)}
    ratios = {length: -p[-1, 1] / theory(length, length) for length, p in results.items()}
    for length, ratio in ratios.items():
        print(f"bar of {length} m: sag {-results[length][-1, 1] * 1000:.2f} mm, {ratio:.4f} of theory")
    if picture:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
        for color, (length, p) in zip(("tab:blue", "tab:orange", "tab:green"), results.items()):
            x = np.linspace(0, length, 100)
            axes.plot(x, -1000 * theory(x, length), color=color, lw=1)
            axes.plot(p[::4, 0], 1000 * p[::4, 1], "o", color=color, ms=4, label=f"{length} m")
        axes.set(xlabel="x (m)", ylabel="deflection (mm)", title="Bars under their weight: yawara (dots) "
                 "and beam theory (lines)")
        axes.legend(title="length")
        figure.savefig(picture, dpi=110)
    return ratios


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cantilever.png")
