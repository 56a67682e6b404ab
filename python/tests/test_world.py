# SPDX-License-Identifier: MIT
"""Worlds, bodies, views, models, shapes, and what they say about bad input."""
import gc
import inspect
import math
import os
import subprocess
import sys
import threading
import unittest
import warnings

import numpy as np
import yawara
from common import ROOT, TWIST, cube


def lattice(cells=(2, 2, 2), size=0.4):
    return yawara.TetMesh.lattice((-size / 2,) * 3, (size / 2,) * 3, cells)


class Scenes(unittest.TestCase):
    def test_play(self):
        """a scene plays as its docstring says"""
        scene = yawara.load(ROOT / "scenes/gallery/twist.json")
        self.assertEqual((scene.name, scene.frames, scene.fps), ("twist", 180, 60))
        world = scene.build()
        heights = [frame["twisted"].positions[:, 1].mean() for frame in world.play(5)]
        self.assertEqual(len(heights), 5)
        self.assertTrue(all(a > b for a, b in zip(heights, heights[1:])))
        self.assertAlmostEqual(world.time, 5 / 60, places=6)

    def test_same_bits(self):
        """threads and instruction sets do not change the hash"""
        scene, hashes = yawara.load(TWIST), set()
        for threads, simd in ((1, "plain"), (2, "auto")):
            world = scene.build(threads=threads, simd=simd)
            for _ in world.play(10):
                pass
            hashes.add(world.hash)
        self.assertEqual(len(hashes), 1)

    def test_places(self):
        """errors carry file, line, column and path"""
        with self.assertRaises(yawara.FormatError) as found:
            yawara.load({"bodies": [{"shap": 1}]})
        self.assertEqual((found.exception.line, found.exception.column, found.exception.path),
                         (1, 14, "bodies[0]"))
        with self.assertRaises(yawara.FormatError) as found:
            yawara.load(TWIST, {"bodies[0].match.beta": 7})
        self.assertEqual(found.exception.path, "bodies[0].match.beta")
        with self.assertRaises(OSError) as found:
            yawara.load("there is none.json")
        self.assertEqual(found.exception.file, "there is none.json")
        error = yawara.FormatError("a b/scene.json:14:27: bodies[0].match.beta is 1.7, but must be ...")
        self.assertEqual((error.file, error.line, error.column, error.path),
                         ("a b/scene.json", 14, 27, "bodies[0].match.beta"))
        error = yawara.FormatError("t.ele:2: vertex 9 is not there")
        self.assertEqual((error.file, error.line, error.path), ("t.ele", 2, None))

    def test_scene_outlived(self):
        """a world goes on without its scene"""
        world = yawara.load(TWIST).build()
        world._scene = None
        gc.collect()
        world.step()

    def test_numpy_numbers(self):
        """numbers of numpy may be part of a scene; NaN may not"""
        scene = yawara.load(cube("match"), {"bodies[0].position": np.array([0, 1, 0], np.float32),
                                            "frames": np.int64(3)})
        self.assertEqual(scene.frames, 3)
        with self.assertRaisesRegex(yawara.InvalidError, "gravity"):
            yawara.load(cube("match"), {"gravity": [0, math.nan, 0]})


class Views(unittest.TestCase):
    def setUp(self):
        self.world = yawara.load(cube("match")).build(threads=1)
        self.body = self.world["cube"]

    def test_numbers(self):
        """a view computes as an array does"""
        view, array = self.body.positions, self.body.positions.copy()
        self.assertEqual((view.shape, view.dtype, len(view)), ((27, 3), np.float32, 27))
        for work in (lambda a: a.mean(axis=0), lambda a: np.linalg.norm(a, axis=1), lambda a: a * 2 + 1,
                     lambda a: a[3], lambda a: a[:, 1].max(), lambda a: a[a[:, 1] > 0.5],
                     lambda a: a - a[0], lambda a: np.concatenate([a, a]), lambda a: np.transpose(a),
                     lambda a: a.T @ a, lambda a: -a, lambda a: a.reshape(-1)[4], lambda a: 1 - a,
                     lambda a: np.einsum("ij,ij->i", a, a), lambda a: a.tolist(), lambda a: a == a):
            np.testing.assert_array_equal(np.asarray(work(view)), np.asarray(work(array)))

    def test_no_copies(self):
        """a view and its slices look at the world's memory; what leaves it does not"""
        view = self.body.positions
        self.assertTrue(np.may_share_memory(view._array, self.body.positions._array))
        self.assertIsInstance(view[3:9], yawara.View)
        for away in (np.asarray(view), np.transpose(view), view[[1, 2]], np.reshape(view, -1),
                     np.squeeze(view), np.split(view, 3)[0], np.broadcast_to(view, (2, 27, 3))):
            self.assertFalse(np.may_share_memory(away, view._array))

    def test_read_only(self):
        """a view cannot be written"""
        view = self.body.positions
        with self.assertRaisesRegex(ValueError, "read-only"):
            view[0] = 1
        with self.assertRaisesRegex(ValueError, "read-only"):
            np.add(view, 1, out=view)
        with self.assertRaisesRegex(ValueError, "read-only"):
            view += 1

    def test_refused_after_a_step(self):
        """views, their slices and frames refuse after the next change"""
        uses = [lambda v: v.mean(), lambda v: v + 1, lambda v: np.asarray(v), lambda v: v[0],
                lambda v: v.copy(), lambda v: np.sum(v), lambda v: list(v), lambda v: v[2:4],
                lambda v: v.T, lambda v: v.reshape(-1), lambda v: float(v[0, 0])]
        for change in (lambda: self.world.step(), lambda: self.body.set(beta=0.3),
                       lambda: self.body.pin([0]), lambda: self.world.load(self.world.save())):
            view, part = self.body.positions, self.body.positions[3:]
            change()
            for use in uses:
                for old in (view, part):
                    with self.assertRaisesRegex(yawara.StaleError, "earlier moment"):
                        use(old)
            self.assertIn("stale", repr(view))
        first, second = self.world.play(2)
        self.assertEqual(len(second["cube"]), 27)
        with self.assertRaisesRegex(yawara.StaleError, "moved on"):
            first["cube"]

    def test_world_gone(self):
        """a view keeps its world; after close everything refuses and nothing crashes"""
        view = yawara.load(cube("match")).build(threads=1)["cube"].positions
        gc.collect()
        self.assertEqual(view.shape, (27, 3))
        self.assertTrue(np.isfinite(view).all())
        pin = self.body.pin([0])
        view = self.body.positions
        self.world.close()
        self.world.close()
        for use in (lambda: view.mean(), lambda: self.body.positions, lambda: self.body.name,
                    lambda: self.world.step(), lambda: self.world.hash, lambda: pin.move((0, 1, 0)),
                    lambda: self.world.save(), lambda: self.world["cube"], lambda: len(self.world),
                    lambda: self.body.set(beta=1), lambda: self.body.field("speed")):
            with self.assertRaisesRegex(yawara.StaleError, "closed"):
                use()
        self.assertEqual(repr(self.world), "<World, closed>")

    def test_threads(self):
        """readers on other threads wait for a step and never see half of one"""
        world, problems = yawara.load(TWIST).build(threads=1), []
        done = threading.Event()

        def read():
            while not done.is_set():
                try:
                    value = np.asarray(world[0].positions)
                    if not np.isfinite(value).all():
                        problems.append("not finite")
                except yawara.StaleError:
                    pass
                except Exception as problem:
                    problems.append(repr(problem))

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for _ in world.play(20):
            pass
        done.set()
        for reader in readers:
            reader.join()
        self.assertEqual(problems, [])
        alone = yawara.load(TWIST).build(threads=1)
        for _ in alone.play(20):
            pass
        self.assertEqual(world.hash, alone.hash)


class Bodies(unittest.TestCase):
    def test_snapshots(self):
        """snapshots are bytes, go back bit for bit, and are refused elsewhere"""
        world = yawara.load(TWIST).build()
        for _ in world.play(3):
            pass
        saved, was = world.save(), world.hash
        self.assertIsInstance(saved, bytes)
        world.step()
        ahead = world.hash
        world.load(saved)
        self.assertEqual(world.hash, was)
        world.step()
        self.assertEqual(world.hash, ahead)
        for bad in (b"", b"nonsense" * 9, saved[:-9], saved[:200] + b"x" + saved[201:]):
            with self.assertRaises(yawara.Error):
                world.load(bad)
        with self.assertRaises(yawara.Error):
            yawara.load(cube("match")).build().load(saved)
        with self.assertRaisesRegex(yawara.InvalidError, "bytes"):
            world.load("text")
        self.assertEqual(world.hash, ahead)

    def test_settings(self):
        """settings are read and set by name, with words for enums"""
        body = yawara.load(cube("frames", youngs_modulus=1e5)).build()[0]
        self.assertEqual(body.params["solver"], "implicit")
        body.set(solver="bdf2", damping=3, substeps=7)
        self.assertEqual((body.params["solver"], body.params["damping"], body.params["substeps"]),
                         ("bdf2", 3.0, 7))
        for words, settings in (("did you mean 'damping'", {"dampin": 1}), ("implicit, bdf2", {"solver": 3}),
                                ("0 to 1", {"beta": 2.0}), ("finite", {"damping": math.inf}),
                                ("integer", {"substeps": 1.5})):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                body.set(**settings)

    def test_fields(self):
        """fields have names, units and values"""
        world = yawara.load(cube("frames", youngs_modulus=1e4)).build()
        for _ in world.play(20):
            pass
        body = world[0]
        stress = body.fields["stress"]
        self.assertEqual((stress.unit, stress.meaning), ("Pa", "von Mises stress (Cauchy)"))
        values = body.field("stress")
        self.assertEqual(len(values), len(body.cells) if stress.per_cell else len(body))
        self.assertGreater(values.max(), 10)
        np.testing.assert_allclose(body.field("speed"), np.linalg.norm(body.velocities, axis=1), rtol=1e-5)
        with self.assertRaisesRegex(yawara.InvalidError, "stress"):
            body.field("stres")

    def test_state(self):
        """states are set as arrays, and refused when they do not fit"""
        world = yawara.load(cube("match")).build()
        body, place = world[0], world[0].positions.copy()
        body.set_state(place + [0, 1, 0], np.zeros((27, 3)))
        np.testing.assert_array_equal(body.positions, np.float32(place + np.float32([0, 1, 0])))
        self.assertEqual(np.abs(body.velocities).max(), 0)
        place[4, 1] = math.nan
        for words, positions in ((r"positions\[4\] is not finite", place), (r"\(27, 3\)", place[:5]),
                                 ("shape", 3.0), ("numbers", np.full((27, 3), "a")),
                                 ("numbers", np.zeros((27, 3), complex)), ("lengths", [[0, 0, 0], [1]])):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                body.set_state(positions)

    def test_pins(self):
        """pins hold, pull and move vertices"""
        world = yawara.World(threads=1)
        body = world.add(yawara.Model.match(lattice()), name="cube", position=(0, 1, 0))
        top = body.positions[:, 1] > 1.19
        pin = body.pin(top)
        for _ in world.play(20):
            pass
        np.testing.assert_allclose(body.positions[top][:, 1], 1.2, atol=1e-6)
        pin.move((0.1, 0, 0), ((0, 1, 0), 0))
        world.step()
        self.assertAlmostEqual(float(body.positions[top][:, 0].mean()), 0.1, places=5)
        pin.remove()
        with self.assertRaisesRegex(yawara.InvalidError, "removed"):
            pin.move((0, 0, 0))
        for words, call in (("none was chosen", lambda: body.pin([])), ("27 vertices", lambda: body.pin([27])),
                            ("mask", lambda: body.pin(np.ones(5, bool))), ("integers", lambda: body.pin([0.5])),
                            ("increase", lambda: body.pin([0], keys=[(1, (0, 0, 0)), (0, (0, 0, 0))])),
                            (r"keys\[0\]", lambda: body.pin([0], keys=[3]))):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()

    def test_world_by_hand(self):
        """a cube of rubber on a floor carries its weight; forces are measured"""
        world = yawara.World(threads=1)
        world.add_floor(friction=0.5)
        model = yawara.Model.frames(lattice(), youngs_modulus=1e5, damping=20.0, density=500)
        body = world.add(model, name="rubber", position=(0, 0.2, 0))
        with self.assertRaisesRegex(yawara.InvalidError, "measure_forces"):
            body.forces()
        world.measure_forces()
        for _ in world.play(60):
            pass
        weight = 500 * 0.4**3 * 9.81
        self.assertAlmostEqual(body.forces()["support"][1], weight, delta=0.02 * weight)
        self.assertAlmostEqual(body.sums()["mass"], 32, delta=0.01)
        body.remove()
        self.assertEqual(len(world), 0)
        with self.assertRaisesRegex(yawara.StaleError, "removed"):
            body.positions

    def test_joint(self):
        """a rigid bar swings on a hinge of the world"""
        world = yawara.World(threads=1)
        bar = world.add(yawara.Model.rigid(yawara.Shape.box((1, 0.1, 0.1))), name="bar")
        joint = world.add_joint("hinge", None, (bar, (-0.5, 0, 0)), axis=(0, 0, 1))
        for _ in world.play(15):
            pass
        self.assertLess(joint.read()["error"], 1e-3)
        self.assertGreater(abs(joint.read()["position"]), 0.2)
        with self.assertRaisesRegex(yawara.InvalidError, "fixed, ball"):
            world.add_joint("glue", None, bar)

    def test_tracks(self):
        """gravity, settings and pins follow keys"""
        world = yawara.World(threads=1)
        body = world.add(yawara.Model.match(lattice()), name="cube")
        pin = body.pin([0])
        world.track(world, "gravity", [(0, (0, -10, 0)), (1, (0, 10, 0))])
        body.track("beta", [(0, 0.0), (0.5, 1.0)], kind="step")
        track = world.track(pin, "strength", [(0, 1), (0.1, 0)], kind="step")
        for _ in world.play(30):
            pass
        self.assertAlmostEqual(world.gravity[1], -10 + 20 * (0.5 - 0.5 / 240), places=4)
        self.assertEqual(body.params["beta"], 0.0)
        world.step()
        self.assertEqual(body.params["beta"], 1.0)
        self.assertGreater(np.linalg.norm(body.positions[0] + 0.2), 0.01)
        track.remove()
        for words, call in (("removed", lambda: track.remove()), ("alpha, beta", lambda: body.track("bta", [(0, 1)])),
                            (r"keys\[0\]", lambda: body.track("beta", [3])),
                            ("out of range", lambda: body.track("alpha", [(0, 7)])),
                            ("smooth", lambda: body.track("alpha", [(0, 0)], kind="bumpy")),
                            ("not 'gravity' of", lambda: body.track("gravity", [(0, (0, 0, 0))]))):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()

    def test_weights(self):
        """weights of examples follow keys, or are set by hand"""
        mesh = lattice()
        wide = mesh.points * [1.5, 1, 1]
        world = yawara.World(gravity=(0, 0, 0), threads=1)
        for method in (yawara.Model.match, yawara.Model.frames):
            body = world.add(method(mesh, examples=[wide]), position=(0, 3 * len(world), 0))
            track = body.track("weight", [(0, 0.0), (0.1, 0.5)], example=0, kind="step")
            for _ in world.play(12):
                pass
            np.testing.assert_allclose(body.weights, [[0.5, 0.5]], atol=1e-5)
            track.remove()
            body.set_weights([0.25])
            world.step()
            np.testing.assert_allclose(body.weights, [[0.75, 0.25]], atol=1e-5)
            for words, call in ((r"shape \(1,\)", lambda: body.set_weights([1, 0])), ("0 to 1", lambda: body.set_weights([7])),
                                ("example", lambda: body.track("weight", [(0, 1)], example=3))):
                with self.assertRaisesRegex(yawara.InvalidError, words):
                    call()
            body.set_weights(None)

    def test_pushes(self):
        """forces and impulses change momenta by what they are, on the whole or on vertices"""
        world = yawara.World(gravity=(0, 0, 0), threads=1)
        body = world.add(yawara.Model.frames(lattice(), youngs_modulus=1e5))
        momentum = lambda: np.array(body.sums()["momentum"])
        body.add_impulse((3, 0, 0))
        np.testing.assert_allclose(momentum(), (3, 0, 0), atol=1e-4)
        body.add_force((0, 60, 0))
        world.step(1 / 60)
        np.testing.assert_allclose(momentum(), (3, 1, 0), atol=1e-3)
        body.add_impulse((0, 0, 0.5), vertices=[0, 1])
        np.testing.assert_allclose(momentum(), (3, 1, 1), atol=1e-3)
        for words, call in (("index 99", lambda: body.add_force((1, 0, 0), [99])), ("finite", lambda: body.add_impulse((np.nan, 0, 0))),
                            (r"\(2, 3\)", lambda: body.add_force(np.zeros((3, 3)), [0, 1]))):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()
        self.assertFalse(body.asleep)
        body.wake()

    def test_mesh_obstacle(self):
        """a surface from arrays carries a body, and lifts it as its frames say"""
        world = yawara.World(threads=1)
        square = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], float)
        lift = np.stack([square, square + [0, 0.5, 0]])
        plate = world.add_mesh_obstacle(lift, [[0, 2, 1], [0, 3, 2]], fps=1, start=0.5, name="plate", friction=0.8)
        body = world.add(yawara.Model.match(lattice()), position=(0, 0.3, 0))
        for _ in world.play(120):
            pass
        self.assertAlmostEqual(body.positions[:, 1].min(), 0.5, delta=0.06)
        hit = world.ray((0, 5, 0), (0, -10, 0))
        self.assertIs(hit.obstacle, None)
        self.assertEqual(hit.body._id.index1, body._id.index1)
        self.assertAlmostEqual(hit.point[1], body.positions[:, 1].max(), delta=0.02)
        np.testing.assert_allclose(body.positions[hit.vertices].T @ hit.weights, hit.point, atol=1e-4)
        below = world.ray((0, 5, 0), (0, -10, 0), ignored=body)
        self.assertIsNone(below.body)
        self.assertAlmostEqual(below.point[1], 0.5, delta=0.06)
        self.assertIsNone(world.ray((0, 5, 0), (0, 10, 0)))
        self.assertLess(world.nearest((0.9, 0.6, 0.9)).distance, 0.12)
        plate.remove()
        for words, call in ((r"\(frames, n, 3\)", lambda: world.add_mesh_obstacle(np.zeros((3, 2)), [[0, 1, 2]])),
                            ("index 9", lambda: world.add_mesh_obstacle(square, [[0, 1, 9]])),
                            ("finite", lambda: world.add_mesh_obstacle(square * np.nan, [[0, 1, 2]])),
                            ("radius", lambda: world.ray((0, 0, 0), (1, 0, 0), radius=-1)),
                            ("ignored", lambda: world.nearest((0, 0, 0), ignored=plate))):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()

    def test_wind(self):
        """wind drags a sheet, with gusts from a seed"""
        square = (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), [[0, 1, 2], [1, 3, 2]])
        speeds = []
        for turbulence in (0.0, 2.0):
            world = yawara.World(gravity=(0, 0, 0), threads=1)
            body = world.add(yawara.Model.sheet(square, thickness=0.01), name="sail")
            world.set_wind((0, 0, 10), turbulence=turbulence, seed=3)
            world.track(world, "wind", [(0, (0, 0, 10)), (1, (0, 0, 20))])
            for _ in world.play(30):
                pass
            speeds.append(body.sums()["momentum"][2] / body.sums()["mass"])
        # 10 kg, 1 m^2: dv/dt = 0.06 (10 + 10 t - v)^2, by small steps.
        speed = 0.0
        for i in range(5000):
            speed += 1e-4 * 0.06 * (10 + 10 * i * 1e-4 - speed) ** 2
        self.assertAlmostEqual(speeds[0], speed, delta=0.05 * speed)
        self.assertNotAlmostEqual(speeds[0], speeds[1], places=3)
        self.assertNotEqual(world.wind((0, 0, 0)), world.wind((1, 2, 3)))
        with self.assertRaisesRegex(yawara.InvalidError, "0 or more"):
            world.set_wind((0, 0, 1), drag=-1)

    def test_follow(self):
        """vertices follow targets, exactly or by springs"""
        world = yawara.World(threads=1)
        body = world.add(yawara.Model.match(lattice()), name="cube")
        rest = body.positions.copy()
        top = np.flatnonzero(rest[:, 1] > 0.19)
        targets = np.stack([rest[top] + [0.1 * i, 0, 0] for i in range(5)])
        body.follow(targets, top, fps=10)
        for _ in world.play(15):
            pass
        np.testing.assert_allclose(body.positions[top], rest[top] + [0.25, 0, 0], atol=1e-5)
        for words, call in (("frames, 9, 3", lambda: body.follow(targets[0], top)),
                            ("did you mean 'fps'", lambda: body.follow(targets, top, fp=3)),
                            ("0 and 1", lambda: body.follow(targets, top, np.full(9, 2.0))),
                            ("not finite", lambda: body.follow(targets * np.nan, top))):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()

    def test_diverged(self):
        """a body that diverges is named in a warning, or raises"""
        scene = yawara.load(cube("match"))
        for on_fault in ("warn", "raise"):
            world = scene.build(threads=1)
            fast = np.zeros((27, 3))
            fast[3] = 3e38
            world[0].set_state(world[0].positions.copy(), fast)
            if on_fault == "raise":
                with self.assertRaisesRegex(yawara.DivergedError, "'cube'"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for _ in world.play(3, on_fault="raise"):
                        pass
            else:
                with self.assertWarnsRegex(yawara.YawaraWarning, "'cube' diverged"):
                    world.step()


class Models(unittest.TestCase):
    def test_all_methods(self):
        """a model of every method falls"""
        line = np.column_stack([np.linspace(0, 1, 11), np.full(11, 1.0), np.zeros(11)])
        square = (np.array([[0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]]), [[0, 2, 1], [1, 2, 3]])
        for model in (yawara.Model.match(lattice(), examples=[lattice().points * [1, 1.5, 1]], beta=0.5),
                      yawara.Model.frames(lattice(), youngs_modulus=np.full(27, 2e5)),
                      yawara.Model.fem(lattice((1, 1, 1)), max_level=1, mass_damping=0.0),
                      yawara.Model.rod(line, radius=0.02), yawara.Model.sheet(square, thickness=0.01),
                      yawara.Model.plastic(yawara.Shape.sphere(0.1), spacing=0.03, preset="clay"),
                      yawara.Model.rigid(yawara.Shape.sphere(0.2))):
            with self.subTest(model.method):
                world = yawara.World(threads=1)
                body = world.add(model, name="it")
                for _ in world.play(6):
                    pass
                speed = body.sums()["momentum"][1] / body.sums()["mass"]
                self.assertAlmostEqual(speed, -0.981, delta=0.03)
                self.assertIsInstance(repr(body), str)
                if body.surface is not None:
                    self.assertTrue(np.isfinite(body.surface.points).all())
                body.params

    def test_refused(self):
        """models say what does not fit"""
        mesh = lattice()
        for words, call in ((r"examples\[0\]", lambda: yawara.Model.match(mesh, examples=[mesh.points[:3]])),
                            ("did you mean 'beta'", lambda: yawara.Model.match(mesh, betta=1)),
                            ("rows|27", lambda: yawara.Model.frames(mesh, youngs_modulus=[1, 2])),
                            ("clay", lambda: yawara.Model.plastic(yawara.Shape.sphere(1), preset="cley")),
                            ("no volume", lambda: yawara.Model.match(3)),
                            ("Model.match", lambda: yawara.Model()),
                            ("must be a Model", lambda: yawara.World().add(mesh))):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()
        with self.assertRaises(yawara.Error):
            yawara.Model.match(mesh, density=-1)

    def test_help(self):
        """docstrings have the units of the headers"""
        self.assertIn("1/s", yawara.Model.match.__doc__)
        self.assertIn("'implicit', 'bdf2'", yawara.Model.frames.__doc__)
        self.assertIn("Pa", yawara.Model.plastic.__doc__)
        self.assertIn("rad/s", yawara.World.add.__doc__)

    def test_materials(self):
        """materials have names and values"""
        self.assertGreater(yawara.materials()["steel"].youngs_modulus, 1e11)
        self.assertIn("clay", yawara.plastic_presets())


class Shapes(unittest.TestCase):
    def test_distance(self):
        """distances, bounds and combinations"""
        ball = yawara.Shape.sphere(0.5)
        np.testing.assert_allclose(ball.distance([[0, 0, 0], [1, 0, 0]]), [-0.5, 0.5], atol=1e-6)
        self.assertAlmostEqual((ball - yawara.Shape.box(0.4)).distance((0, 0, 0)), 0.2, places=5)
        low, high = (ball | ball.moved((1, 0, 0))).bounds()
        np.testing.assert_allclose([low[0], high[0]], [-0.5, 1.5], atol=1e-5)
        self.assertIsNone(yawara.Shape.plane().bounds())
        self.assertTrue(ball.contains((0.1, 0, 0)))

    def test_tets_of_several_sizes(self):
        """Tets are smaller where a function asks for it, larger inside with a bulk."""
        box = yawara.Shape.box(1)
        plain = box.tets(0.2)
        tip = box.tets(0.2, size_at=lambda x, y, z: 0.05 if x > 0.4 else float("inf"))
        self.assertGreater(len(tip.tets), 2 * len(plain.tets))
        x = tip.points[:, 0]
        self.assertGreater((x > 0.3).sum(), 2 * (x < -0.3).sum())
        self.assertLess(len(box.tets(0.05, bulk=2).tets), 0.75 * len(box.tets(0.05).tets))

    def test_tets(self):
        """a shape is filled with tets"""
        mesh = yawara.Shape.box(1).tets(0.25)
        self.assertAlmostEqual(mesh.quality()["volume"], 1, places=3)
        self.assertEqual(mesh.faults(), "")

    def test_refused(self):
        """shapes say what does not fit"""
        for words, call in (("above 0", lambda: yawara.Shape.sphere(-1)), ("finite", lambda: yawara.Shape.sphere(
                math.nan)), ("three numbers", lambda: yawara.Shape.box((1, 2))),
                            ("no length|normal", lambda: yawara.Shape.plane((0, 0, 0))),
                            ("shapes", lambda: yawara.Shape.union()), ("Shape.sphere", lambda: yawara.Shape())):
            with self.assertRaisesRegex(yawara.InvalidError, words):
                call()
        with self.assertRaises(yawara.Error):
            yawara.Shape.plane().tets(0.1)


class Interface(unittest.TestCase):
    def members(self):
        """Everything public: (name, object) of functions, classes, methods and properties."""
        for name in yawara.__all__:
            thing = getattr(yawara, name)
            yield name, thing
            for key, member in vars(thing).items() if inspect.isclass(thing) else ():
                if not key.startswith("_") and (callable(member) or isinstance(member, (
                        property, classmethod, staticmethod))):
                    yield f"{name}.{key}", getattr(member, "fget", getattr(member, "__func__", member))

    def test_types(self):
        """every argument and result of the interface has a type, so that no stubs are needed"""
        bare = []
        for name, thing in self.members():
            if inspect.isclass(thing) and not issubclass(thing, (Exception, tuple)):
                thing = vars(thing).get("__init__")
            if not inspect.isfunction(thing):
                continue
            found = inspect.signature(thing)
            bare += [f"{name}({p.name})" for i, p in enumerate(found.parameters.values())
                     if p.annotation is p.empty and not (i == 0 and p.name in ("self", "cls"))]
            bare += [name] if found.return_annotation is found.empty else []
        self.assertEqual(bare, [])

    def test_documented(self):
        """every part of the interface has a docstring"""
        self.assertEqual([name for name, thing in self.members() if not inspect.getdoc(thing)], [])


class Import(unittest.TestCase):
    def test_without_numpy(self):
        """without numpy the import says what to install"""
        code = "import sys; sys.modules['numpy'] = None; import yawara"
        said = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, universal_newlines=True,
                              cwd="/")
        self.assertIn("python3-numpy", said.stderr)

    def test_wrong_library(self):
        """another library is refused with its name"""
        said = subprocess.run([sys.executable, "-c", "import yawara"], stderr=subprocess.PIPE, cwd="/",
                              universal_newlines=True, env={**os.environ, "YAWARA_LIBRARY": "/etc/hostname"})
        self.assertIn("ImportError: cannot load the library of yawara, /etc/hostname", said.stderr)


if __name__ == "__main__":
    unittest.main()
