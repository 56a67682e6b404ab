# SPDX-License-Identifier: MIT
"""Rollouts, sensitivities and fits."""
import math
import signal
import threading
import unittest
import warnings

import numpy as np
import yawara
from common import TWIST, cube

E = "bodies[0].frames.youngs_modulus"
DAMPING = "bodies[0].frames.damping"
# A bar of 0.4 x 0.05 x 0.05 m, clamped at its left end, that falls under its weight and swings.
BAR = {
    "fps": 60, "frames": 30, "substeps": 2,
    "bodies": [{
        "name": "bar", "mesh": {"lattice": {"size": [0.4, 0.05, 0.05], "cells": [8, 1, 1]}},
        "frames": {"youngs_modulus": 2.5e5, "poissons_ratio": 0.3, "damping": 1.5, "solver": "bdf2"},
        "density": 1000, "position": [0, 0, 0],
        "pins": [{"select": {"box": {"size": 0.1, "center": [-0.25, 0, 0]}}}],
    }],
}


def video_of_bar(noise):
    """What a camera would track: x and y of three markers, 50 frames per second, with noise."""
    scene = yawara.load(BAR)
    world = scene.build(threads=1)
    markers = world["bar"].nearest([[0, 0.025, 0.025], [0.1, 0.025, 0.025], [0.2, 0.025, 0.025]])
    frames = [world["bar"].positions[markers][:, :2].copy()]
    frames += [frame["bar"].positions[markers][:, :2].copy() for frame in world.play()]
    frames, times = np.array(frames), np.arange(25) / 50
    at = times * scene.fps
    low = np.minimum(at.astype(int), len(frames) - 2)
    share = (at - low)[:, None, None]
    track = frames[low] * (1 - share) + frames[low + 1] * share
    return markers, times, track + np.random.default_rng(7).normal(0, noise, track.shape)


class Rollouts(unittest.TestCase):
    def test_hashes(self):
        """variants on threads have the hashes and positions that they have one by one"""
        scene = yawara.load(TWIST)
        changes = [{"bodies[0].match.beta": b, "bodies[0].position": [0, h, 0]}
                   for b in (0.0, 0.5, 1.0) for h in (1.05, 1.4)] + [{}]
        out = yawara.rollout(scene, changes, workers=3)
        self.assertEqual(out.positions["twisted"].shape, (7, 21, 225, 3))
        for i, change in enumerate(changes):
            world = scene.changed(change).build(threads=1)
            track = [world[0].positions.copy()] + [f[0].positions.copy() for f in world.play()]
            self.assertEqual(int(out.hashes[i]), world.hash)
            np.testing.assert_array_equal(out.positions["twisted"][i], track)
        self.assertEqual(len(set(out.hashes.tolist())), 7)

    def test_observe(self):
        """observe is called at the start and after every frame"""
        out = yawara.rollout(yawara.load(TWIST), [{}, {"gravity": [0, 0, 0]}], frames=5,
                             observe=lambda world: world[0].sums()["center"][1], workers=2)
        self.assertEqual(out.values.shape, (2, 6))
        self.assertLess(out.values[0, -1], out.values[0, 0] - 0.02)
        np.testing.assert_allclose(out.values[1], out.values[1, 0], atol=1e-6)

    def test_faults(self):
        """a bad variant is named, or kept apart from the others"""
        scene, changes = yawara.load(TWIST), [{}, {"bodies[0].match.beta": 7}]
        with self.assertRaisesRegex(yawara.FormatError, r"changes\[1\].*beta"):
            yawara.rollout(scene, changes, frames=2)
        out = yawara.rollout(scene, changes, frames=2, on_fault="keep", workers=2)
        self.assertIsNone(out.errors[0])
        self.assertEqual(out.errors[1].path, "bodies[0].match.beta")
        self.assertTrue(np.isnan(out.positions["twisted"][1]).all())
        self.assertTrue(np.isfinite(out.positions["twisted"][0]).all())

    def test_other_counts(self):
        """variants with other numbers of particles, or bodies, are kept as lists, or NaN"""
        one = cube("match")["bodies"][0]
        scene = yawara.load({**cube("match"), "bodies": [one, {**one, "name": "b", "position": [2, 1, 0]}]})
        changes = [{}, {"bodies[0].mesh.lattice.cells": 3}, {"bodies": [one]}]
        out = yawara.rollout(scene, changes, frames=3, workers=2)
        self.assertEqual([np.shape(track) for track in out.positions["cube"]],
                         [(4, 27, 3), (4, 64, 3), (4, 27, 3)])
        self.assertTrue(np.isnan(out.positions["b"][2]).all() and np.isfinite(out.positions["b"][:2]).all())
        for i, change in enumerate(changes):
            world = scene.changed(change).build()
            self.assertEqual(list(world.play(3))[-1].number, 3)
            self.assertEqual(int(out.hashes[i]), world.hash)

    def test_interrupt(self):
        """Ctrl-C ends a rollout that would take hours, whatever the number of workers"""
        for workers in (1, 2):
            timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                yawara.rollout(yawara.load(cube("match")), [{}] * 3, frames=10**8, workers=workers,
                               record=False)
            timer.join()

    def test_divergence(self):
        """a variant that diverges is named, with the time"""
        scene, fast = yawara.load(cube("fem", max_level=0)), {"bodies[0].velocity": [0, -1e5, 0]}
        with self.assertRaisesRegex(yawara.DivergedError, r"changes\[1\]: body \"cube\" diverged at t = "):
            yawara.rollout(scene, [{}, fast], frames=5)

    def test_bad_input(self):
        """wrong arguments are refused with words"""
        scene = yawara.load(TWIST)
        for words, call in (("yawara.load", lambda: yawara.rollout("teddy.json", [{}])),
                            (r"changes\[0\]", lambda: yawara.rollout(scene, ["beta"])),
                            ("workers", lambda: yawara.rollout(scene, [{}], workers=0)),
                            ("JSON", lambda: yawara.rollout(scene, [{"fps": math.nan}])),
                            ("frames", lambda: yawara.rollout(scene, [{}], frames=2.5))):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()


class Sensitivities(unittest.TestCase):
    def test_free_fall(self):
        """d y / d g of free fall is -t^2 / 2"""
        scene = yawara.load({**cube("match"), "floor": False, "gravity": [0, -9.81, 0]})
        world = scene.build()
        for _ in world.play(10):
            pass
        with self.assertRaisesRegex(yawara.InvalidError, "number"):
            world.sensitivity("gravity")
        found = world.sensitivity("gravity[1]", observe=lambda w: w[0].sums()["center"][1])
        # Symplectic Euler falls 1 + 1/n times as far as the parabola in n steps, here 40.
        self.assertAlmostEqual(found, world.time**2 / 2, delta=world.time**2 / 2 * 0.03)
        everywhere = world.sensitivity("gravity[1]")["cube"]
        self.assertEqual(everywhere.shape, (27, 3))
        np.testing.assert_allclose(everywhere[:, 1], found, rtol=1e-3)

    def test_refused(self):
        """worlds that were changed by hand, and values that are not in the scene, are refused"""
        world = yawara.load(cube("match")).build()
        with self.assertRaisesRegex(yawara.InvalidError, "not in the scene"):
            world.sensitivity("bodies[0].match.beta")
        world[0].set(beta=0.5)
        with self.assertRaisesRegex(yawara.InvalidError, "by hand"):
            world.sensitivity("gravity[1]")
        with self.assertRaisesRegex(yawara.InvalidError, "scene"):
            yawara.World().sensitivity("gravity[1]")


class Fits(unittest.TestCase):
    def check(self, solver):
        markers, times, track = video_of_bar(noise=0.0005)
        start = yawara.load(BAR, {E: 1e6, DAMPING: 0.1})
        found = yawara.fit(start, track, {E: (2e4, 2e6), DAMPING: (0.0, 10.0)}, times=times,
                           body="bar", vertices=markers, axes="xy", solver=solver)
        self.assertEqual(found.solver, solver)
        self.assertAlmostEqual(found[E], 2.5e5, delta=2.5e3)
        self.assertLess(abs(found[E] - 2.5e5), 5 * found.errors[E])
        self.assertAlmostEqual(found[DAMPING], 1.5, delta=5 * found.errors[DAMPING])
        self.assertAlmostEqual(found.rms, 0.0005, delta=0.0001)
        self.assertEqual(found.scene.changes[E], found[E])

    def test_own(self):
        """E of a noisy track of a cantilever within 1 %, own Gauss-Newton"""
        self.check("own")

    def test_scipy(self):
        """E of a noisy track of a cantilever within 1 %, SciPy"""
        try:
            import scipy.optimize  # noqa: F401
        except ImportError:
            self.skipTest("SciPy is not installed (python3-scipy)")
        self.check("scipy")

    def test_at_rest(self):
        """E and nu from where a hanging block comes to rest"""
        nu = "bodies[0].frames.poissons_ratio"
        block = {"fps": 30, "frames": 60, "substeps": 1, "bodies": [{
            "name": "block", "mesh": {"lattice": {"size": 0.4, "cells": 2}},
            "frames": {"youngs_modulus": 3e4, "poissons_ratio": 0.3, "damping": 8},
            "pins": [{"select": {"box": {"size": [1, 0.1, 1], "center": [0, 0.2, 0]}}}]}]}
        world = yawara.load(block).build(threads=1)
        for _ in world.play():
            pass
        found = yawara.fit(yawara.load(block, {E: 1e4, nu: 0.1}), world[0].positions.copy()[None],
                           {E: (5e3, 2e5), nu: (0.0, 0.45)}, times=[2.0], solver="own")
        self.assertAlmostEqual(found[E], 3e4, delta=300)
        self.assertAlmostEqual(found[nu], 0.3, delta=0.005)

    def test_yield(self):
        """the yield strain of clay from how far it has slumped"""
        limit = "bodies[0].fem.yield"
        block = {"fps": 30, "frames": 20, "substeps": 2, "floor": True, "bodies": [{
            "name": "clay", "mesh": {"lattice": {"size": 0.4, "cells": 2}}, "position": [0, 0.2, 0],
            "fem": {"youngs_modulus": 3e4, "poissons_ratio": 0.3, "max_level": 0, "yield": 0.03, "creep": 100,
                    "mass_damping": 5}}]}
        height = lambda world: float(world[0].positions[:, 1].max())
        world = yawara.load(block).build(threads=1)
        heights = [height(world)] + [height(world) for _ in world.play()]
        found = yawara.fit(yawara.load(block, {limit: 0.1}), np.array(heights), {limit: (0.005, 0.2)},
                           observe=height, solver="own")
        self.assertAlmostEqual(found[limit], 0.03, delta=0.0003)

    def test_missing(self):
        """a lost marker is refused, or left out"""
        markers, times, track = video_of_bar(noise=0.0)
        track[4:9, 1] = np.nan
        scene, bounds = yawara.load(BAR), {E: (3e5, 1e5, 5e5)}
        settings = dict(times=times, body="bar", vertices=markers, axes="xy", solver="own")
        with self.assertRaisesRegex(yawara.InvalidError, r"measured\[4, 1, 0\].*skip"):
            yawara.fit(scene, track, bounds, **settings)
        found = yawara.fit(scene, track, bounds, missing="skip", **settings)
        self.assertAlmostEqual(found[E], 2.5e5, delta=250)

    def test_bound(self):
        """a parameter that wants to leave its bounds is named"""
        markers, times, track = video_of_bar(noise=0.0)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yawara.fit(yawara.load(BAR), track, {E: (3e5, 2.8e5, 4e5)}, times=times, body="bar",
                       vertices=markers, axes="xy", solver="own")
        self.assertTrue(any("at its bound" in str(w.message) for w in said))

    def test_bad_input(self):
        """wrong arguments are refused with words"""
        scene = yawara.load(BAR)
        track = np.zeros((3, 1, 3))
        good = dict(vertices=[0])
        for words, args, settings in (
                ("low below high", ([track, {E: (2, 1)}]), good),
                ("low, high", ([track, {E: 3}]), good),
                ("at least one", ([track, {}]), good),
                ("increase", ([track, {E: (1, 2)}]), dict(good, times=[0, 0.2, 0.1])),
                ("axes", ([track, {E: (1, 2)}]), dict(good, axes="u")),
                ("numbers per time", ([track, {E: (1e5, 2e5)}]), dict(vertices=[0, 1], samples=1)),
                ("array of numbers", ([["a"], {E: (1, 2)}]), good)):
            with self.subTest(words), self.assertRaisesRegex(yawara.InvalidError, words):
                yawara.fit(scene, *args, **settings)


if __name__ == "__main__":
    unittest.main()
