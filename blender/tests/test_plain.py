#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the add-on that need no Blender: coordinates, files, materials, scenes, messages."""
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "blender"))

from yawara_addon import arrival, axes, meshfiles, pointcache, program, runfiles, stance, words  # noqa: E402
from yawara_addon.scene import SceneWriter  # noqa: E402
from yawara_addon.sources import Body, Handle, Mesh, Obstacle, Settings, SourceError, Spline  # noqa: E402

PROGRAM = os.environ.get("YAWARA", os.path.join(ROOT, "build", "yawara"))
WORK = tempfile.TemporaryDirectory(prefix="yawara_plain_")
BOX = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)], np.float32)
FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def path(name):
    return os.path.join(WORK.name, name)


def rotation(axis, angle):
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def matrix(linear, translation=(0, 0, 0)):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = linear, translation
    return out


def axes_turn_upright():
    """z up becomes y up, and back, to the bit"""
    points = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    assert np.array_equal(axes.to_scene([[0.0, 0.0, 1.0]]), [[0.0, 1.0, 0.0]])
    assert np.array_equal(axes.to_blender(axes.to_scene(points)), points)
    assert np.allclose(axes.to_scene(points), points @ axes.TURN.T) and np.linalg.det(axes.TURN) > 0


def matrices_are_split():
    """stretch, rotation and translation make the matrix; mirrored and sheared ones too"""
    turn = rotation((1, 2, 3), 0.7)
    for stretch in (np.eye(3), np.diag([1, 2, 3]), np.diag([-1, 1, 1]), np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 2]])):
        s, r, t = axes.split(matrix(turn @ stretch, (4, 5, 6)))
        assert np.allclose(r @ s, turn @ stretch, atol=1e-5) and np.allclose(t, (4, 5, 6))
        assert np.linalg.det(r) > 0 and np.allclose(r.T @ r, np.eye(3))
    one, _, _ = axes.split(matrix(turn @ np.diag([1, 2, 3])))
    two, _, _ = axes.split(matrix(rotation((3, 1, 1), 2.0) @ np.diag([1, 2, 3])))
    assert np.array_equal(one, two), "copies that are turned would not share a model"


def quaternions():
    """quaternions turn like their matrices, at all angles"""
    for angle in (0.0, 1e-4, 1.0, 3.1, np.pi):
        for axis in ((1, 0, 0), (0, 1, 0), (0.2, 0.5, -0.8)):
            m = rotation(axis, angle)
            x, y, z, w = axes.quaternion(m)
            back = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                             [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                             [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
            assert np.allclose(back, m, atol=1e-12), (axis, angle)


def obj_files_are_exact():
    """an OBJ file reads back as the same 32-bit numbers"""
    points = np.random.default_rng(2).normal(size=(100, 3)).astype(np.float32) * 1e-3
    meshfiles.write_obj(path("a.obj"), points, [[0, 1, 2], [3, 4, 5, 6]], np.zeros((7, 2)), ["x", "y"])
    vertices, faces = meshfiles.read_obj(path("a.obj"))
    assert np.array_equal(vertices, points) and faces == [[0, 1, 2], [3, 4, 5, 6]]


def caches_grow():
    """a point cache grows, keeps frames and refuses another mesh"""
    rows = np.random.default_rng(3).normal(size=(5, 7, 3)).astype(np.float32)
    pointcache.Writer(path("a.pc2"), 7).append(rows[:3])
    again = pointcache.Writer(path("a.pc2"), 7, frames_kept=2)
    again.append(rows[2:])
    assert np.array_equal(pointcache.read(path("a.pc2")), rows)
    assert np.array_equal(pointcache.read(path("a.pc2"), 4), rows[4:])
    try:
        pointcache.Writer(path("a.pc2"), 8, frames_kept=2)
        raise AssertionError("another number of points was taken")
    except pointcache.CacheError as problem:
        assert "7 points" in str(problem) and "8" in str(problem)


def check_settings(found, wanted, what):
    for key, value in wanted.items():
        same = found[key] == value if isinstance(value, str) else abs(found[key] - value) <= 6e-3 * abs(value)
        assert same, (what, key, found[key], value)


def mesh_of_boxes(parts):
    points = np.concatenate([np.where(BOX > 0, high, low) for low, high in parts]).astype(np.float32)
    return points, [[v + 8 * i for v in face] for i in range(len(parts)) for face in FACES]


def check_legs(model, points, faces, choices):
    meshfiles.write_obj(path(f"{model}.obj"), points, faces)
    legs, size = stance.measure(points, faces), np.ptp(points, axis=0)
    for name, method in choices:
        target = path(f"{model}_{name}_{method}")
        subprocess.run([PROGRAM, "new", target, "--from", path(f"{model}.obj"), "--as", name, "--method", method],
                       check=True, capture_output=True)
        with open(target + ".json", encoding="utf-8") as text:
            body = json.loads(re.sub(r"//.*", "", text.read()))["bodies"][0]
        settings, _ = words.word(name, method, float(size.max()), float(np.linalg.norm(size)), legs)
        check_settings(body[method], settings, (model, name, method))
    return legs


def legs_are_those_of_the_program():
    """models on four thin legs and on two get the values of yawara new --as"""
    choices = (("jelly", "match"), ("rubber", "frames"), ("clay", "plastic"), ("clay", "fem"))
    table = [((-0.5, 0.4, -0.3), (0.5, 0.45, 0.3))] + [
        ((x, 0, z), (x + 0.03, 0.4, z + 0.03)) for x in (-0.5, 0.47) for z in (-0.3, 0.27)]
    legs = check_legs("table", *mesh_of_boxes(table), choices)
    assert words.word("clay", "plastic", 1, 1, legs)[0]["spacing"] < 0.03
    assert words.word("jelly", "frames", 1, 1, legs)[0]["youngs_modulus"] > 2 * words.word("jelly", "frames", 1, 1)[0]["youngs_modulus"]
    figure = [((-0.2, 0.4, -0.08), (0.2, 1, 0.12)), ((-0.2, 0, -0.06), (-0.1, 0.4, 0.06)),
              ((0.1, 0, -0.06), (0.2, 0.4, 0.06))]
    lean = check_legs("figure", *mesh_of_boxes(figure), choices).lean
    assert words.TWO_LEGS < lean and words.LEANS * lean > 2 * words.WORDS["jelly"][1], lean


def words_are_those_of_the_program():
    """plain words mean the same numbers as in yawara new --as"""
    meshfiles.write_obj(path("box.obj"), BOX, FACES)
    meshfiles.write_obj(path("side.obj"), BOX, FACES[:1])  # closed models of cloth are stiffer
    for name, (*_, methods) in words.WORDS.items():
        model = path("side.obj" if methods == "slender" else "box.obj")
        for method in methods.split():
            target = path(f"new_{name}_{method}")
            subprocess.run([PROGRAM, "new", target, "--from", model, "--as", name, "--method", method],
                           check=True, capture_output=True)
            file = next(os.path.join(d, f) for d, _, fs in os.walk(target) for f in fs if f.endswith(".json")) \
                if os.path.isdir(target) else target + ".json" if os.path.exists(target + ".json") else target
            with open(file, encoding="utf-8") as text:
                scene = json.loads(re.sub(r"//.*", "", text.read()))
            body = scene["bodies"][0]
            settings, density = words.word(name, method, 1.0, float(np.sqrt(3)), stance.measure(BOX, FACES))
            assert body["density"] == density, (name, method)
            check_settings(body[method], settings, (name, method))


def materials_are_those_of_the_docs():
    """measured materials have the numbers of docs/materials.md"""
    with open(os.path.join(ROOT, "docs", "materials.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| ([\d.e]+) \| ([\d.]+) \| ([\d.]+) \|", file.read(), re.M)
    known = {}
    for name, *numbers in rows:
        known.setdefault(name, tuple(float(n) for n in numbers))
    for name, numbers in words.NAMED.items():
        assert known[name] == tuple(float(n) for n in numbers), (name, known[name], numbers)


def scenes_run():
    """a scene with every kind of body runs, and every message finds its object"""
    writer = SceneWriter(path("scene"), Settings("all", (0, 0, -9.81), 24, 2))
    up = matrix(np.eye(3), (0, 0, 2))
    grid = np.array([[x, y, 0] for y in range(4) for x in range(4)], np.float32) * 0.2
    quads = [[4 * j + i, 4 * j + i + 1, 4 * j + i + 5, 4 * j + i + 4] for j in range(3) for i in range(3)]
    box = Mesh(BOX * np.float32(0.4), FACES)
    writer.add_body(Body("熊/a \"b\"", "volume", up, box, examples=[("tall", BOX * np.float32([0.4, 0.4, 0.8]))]))
    writer.add_body(Body("mirrored", "rigid", up @ matrix(np.diag([-1, 1, 1]), (2, 0, 0)), box))
    writer.add_body(Body("rope", "rod", up, splines=[Spline(grid[:4] + [0, 3, 0]), Spline(grid[4:8] + [0, 4, 0])]))
    writer.add_body(Body("cloth", "sheet", up, Mesh(grid + [0, 6, 0], quads), material="word:cloth"))
    writer.add_body(Body("clay", "volume", up, Mesh(box.vertices + [-3, 0, 0], FACES), method="plastic",
                         material="word:clay", size=0.1))
    moving = [matrix(rotation((0, 0, 1), 0.2 * f), (0, 0, 0.1 * f)) for f in range(3)]
    writer.add_obstacle(Obstacle("wall", moving, Mesh(BOX, FACES)))
    writer.add_obstacle(Obstacle("ground", [matrix(np.eye(3), (0, 0, -5))]))
    writer.add_handle(Handle("hand", "熊/a \"b\"", 0.5, [up], strengths=[1, 1, 0]))
    file = writer.finish()
    text = program.call(PROGRAM, ["run", file, "-o", path("run"), "-q"])
    names = [b.name for b in runfiles.bodies(path("run"))]
    assert names == ["熊/a \"b\"", "mirrored", "rope", "rope 2", "cloth", "clay"], (names, text)
    by_name = {b["name"]: b["object"] for b in writer.bodies}
    for message, expected in (("x.json:1:2: bodies[0].pins[0]: nothing inside", "hand"),
                              ("bodies[1].density is wrong", "mirrored"), ('body "rope 2" diverged', "rope"),
                              ("obstacles[0].shape", "wall"), ("gravity is wrong", None)):
        assert program.culprit(message, writer.places, by_name) == expected, message
    program.call(PROGRAM, ["run", file, "-o", path("packed"), "-q", "--pack"])
    assert runfiles.last_frame(path("packed")) == runfiles.last_frame(path("run")) == 2
    for one, other in zip(runfiles.read_frame(path("packed"), 2), runfiles.read_frame(path("run"), 2)):
        assert np.array_equal(one.positions, other.positions), "a packed run reads otherwise"
    targets = [arrival.Target(i, b["name"], b["kind"]) for i, b in enumerate(writer.bodies)]
    arrives = arrival.Arrival(PROGRAM, path("run"), path("caches"), targets)
    assert arrives.take() == 3
    counts = [pointcache.read_header(arrives.cache_path(t))[0] for t in targets]
    assert counts[0] == counts[1] == 8 and counts[4] == 16, counts


def particles_may_come():
    """caches of particles take more of them later"""
    target = arrival.Target(0, "clay", "particles")
    arrives = arrival.Arrival(PROGRAM, path("none"), path("more"), [target])

    class Frame:
        def __init__(self, positions):
            self.positions = positions

    def take(count):
        rows = arrives._particles(target, [[Frame(np.full((count, 3), count, np.float32))]])
        arrives._append(target, rows)
        arrives.taken += 1

    for count in (4, 6, 5):
        take(count)
    data = pointcache.read(arrives.cache_path(target))
    assert data.shape == (3, 6, 3), data.shape
    assert all((row == axes.to_blender(np.full(3, count))).all() for row, count in zip(data, (4.0, 6.0, 5.0))), data


def bad_sources_are_named():
    """what cannot be simulated is refused with the object's name"""
    def refused(add):
        try:
            add(SceneWriter(path("bad"), Settings("bad", (0, 0, 0), 24, 2)))
        except SourceError as problem:
            return problem.object, str(problem)
        raise AssertionError("was taken")

    flat = Mesh(BOX * np.float32([1, 1, 0]), FACES)
    assert refused(lambda w: w.add_body(Body("a", "volume", np.eye(4), flat)))[0] == "a"
    assert "scale" in refused(lambda w: w.add_body(Body("a", "volume", matrix(np.diag([1, 1, 0])), Mesh(BOX, FACES))))[1]
    assert "Plane" in refused(lambda w: w.add_obstacle(Obstacle("o", [np.eye(4)], flat)))[1]
    assert refused(lambda w: w.add_handle(Handle("h", "nobody", 1, [np.eye(4)])))[0] == "h"
    assert "modulus" in refused(lambda w: w.add_body(Body("a", "volume", np.eye(4), Mesh(BOX, FACES),
                                                          stiff_weights=np.ones(8))))[1]


def damaged_runs():
    """folders that hold no run, or half of one, are refused with words"""
    for folder in (path("nothing"), WORK.name):
        try:
            runfiles.info(folder)
            raise AssertionError("was taken")
        except runfiles.RunError as problem:
            assert "no run" in str(problem)
    with open(os.path.join(path("run"), "shown.ywr"), "rb") as file:
        data = file.read()
    os.makedirs(path("half"), exist_ok=True)
    for size in (4, 200, 2000, 20000):
        with open(os.path.join(path("half"), "shown.ywr"), "wb") as file:
            file.write(data[:size])
        try:
            runfiles.bodies(path("half"))
            raise AssertionError(f"{size} bytes were taken")
        except runfiles.RunError:
            pass


def numpy_may_be_missing():
    """without numpy the add-on says what to install"""
    code = "import sys; sys.modules['numpy'] = None; import yawara_addon"
    said = subprocess.run([sys.executable, "-c", code], cwd=os.path.join(ROOT, "blender"), capture_output=True,
                          text=True, check=False)
    assert said.returncode != 0 and "python3-numpy" in said.stderr, said.stderr


TESTS = (axes_turn_upright, matrices_are_split, quaternions, obj_files_are_exact, caches_grow,
         words_are_those_of_the_program, legs_are_those_of_the_program, materials_are_those_of_the_docs,
         scenes_run, particles_may_come, bad_sources_are_named, damaged_runs, numpy_may_be_missing)


def main():
    failed = 0
    for test in TESTS:
        try:
            test()
            print(f"ok - {test.__doc__}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok - {test.__doc__}", flush=True)
            traceback.print_exc()
    WORK.cleanup()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
