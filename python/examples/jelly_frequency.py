#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cube of jelly is plucked; a decaying oscillation is fitted to its height. usage:
jelly_frequency.py [PICTURE.png]"""
import sys

import numpy as np
import yawara

YOUNGS_MODULUS, DENSITY, SIDE, FPS = 1e4, 1000.0, 0.2, 240


def pluck():
    """Stretches the cube by 5 % and lets go, on a floor it is glued to; height of the top over time."""
    mesh = yawara.TetMesh.lattice((-SIDE / 2, 0, -SIDE / 2), (SIDE / 2, SIDE, SIDE / 2), (4, 4, 4))
    world = yawara.World(gravity=(0, 0, 0), threads=1)
    model = yawara.Model.frames(mesh, youngs_modulus=YOUNGS_MODULUS, poissons_ratio=0.3, density=DENSITY,
                                solver="bdf2", damping=1.0)
    body = world.add(model, name="jelly")
    body.pin(mesh.points[:, 1] == 0)
    top = mesh.points[:, 1] == mesh.points[:, 1].max()
    body.set_state(mesh.points * [1, 1.05, 1])
    heights = [float(frame["jelly"].positions[top][:, 1].mean()) for frame in world.play(FPS, fps=FPS,
                                                                                         substeps=2)]
    return np.arange(1, FPS + 1) / FPS, np.array(heights)


def fit_decay(t, y):
    """Amplitude, frequency (Hz), decay rate (1/s), phase and mean; Gauss-Newton from the spectrum."""
    spectrum = np.abs(np.fft.rfft((y - y.mean()) * np.hanning(len(y))))
    guess = np.argmax(spectrum[1:]) + 1
    p = np.array([np.ptp(y) / 2, guess / (len(y) * (t[1] - t[0])), 1.0, 0.0, y.mean()])

    def curve(p):
        return p[0] * np.exp(-p[2] * t) * np.cos(2 * np.pi * p[1] * t + p[3]) + p[4]

    for _ in range(60):
        r, steps = curve(p) - y, 1e-6 * np.maximum(np.abs(p), 1e-3)
        jacobian = np.column_stack([(curve(p + np.eye(5)[i] * s) - curve(p - np.eye(5)[i] * s)) / (2 * s)
                                    for i, s in enumerate(steps)])
        change = np.linalg.lstsq(jacobian, -r, rcond=None)[0]
        while np.sum((curve(p + change) - y) ** 2) > r @ r and np.abs(change).max() > 1e-9:
            change /= 2
        p = p + change
    return p, curve(p)


def main(picture=None):
    t, y = pluck()
    p, fitted = fit_decay(t, y)
    # A bar that is held at one end and free to narrow: a quarter of a wave, f = sqrt(E / rho) / 4 L.
    thin = np.sqrt(YOUNGS_MODULUS / DENSITY) / (4 * SIDE)
    print(f"frequency {p[1]:.3f} Hz (thin bar: {thin:.3f} Hz), decay {p[2]:.2f} 1/s, "
          f"misfit {np.std(fitted - y) / np.std(y):.3f}")
    if picture:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
        axes.plot(t, 1000 * y, ".", ms=3, label="top of the jelly")
        axes.plot(t, 1000 * fitted, lw=1, label=f"fit: {p[1]:.2f} Hz, decay {p[2]:.2f} 1/s")
        axes.set(xlabel="time (s)", ylabel="height (mm)", title="A plucked cube of jelly, E = 10 kPa")
        axes.legend()
        figure.savefig(picture, dpi=110)
    return {"frequency": p[1], "thin": thin, "decay": p[2], "misfit": np.std(fitted - y) / np.std(y)}


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "jelly_frequency.png")
