# SPDX-License-Identifier: MIT
"""Meshes of other packages, runs on disk, and the wheel."""
import ast
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import zipfile

import numpy as np
import yawara
from common import PROGRAM, ROOT, TWIST, cube


def mesh_of(**members):
    """An object that looks like a mesh of another package."""
    return type("Mesh", (), members)()


TET = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]


class Meshes(unittest.TestCase):
    def test_arrays(self):
        """meshes from arrays; inverted tets are turned over"""
        turned = yawara.TetMesh(TET[0], [[0, 2, 1, 3]])
        self.assertAlmostEqual(turned.quality()["volume"], 1 / 6, places=6)
        self.assertEqual(len(yawara.TetMesh(*TET).surface().triangles), 4)

    def test_refused(self):
        """wrong shapes, dtypes, indices and empty meshes are refused with words"""
        for words, call in ((r"\(n, 3\)", lambda: yawara.TriMesh([[0, 0]], [[0, 0, 0]])),
                            ("4 vertices", lambda: yawara.TriMesh(TET[0], [[0, 1, 4]])),
                            ("-1", lambda: yawara.TriMesh(TET[0], [[0, 1, -1]])),
                            ("integers", lambda: yawara.TriMesh(TET[0], [[0, 1, 1.5]])),
                            ("numbers", lambda: yawara.TriMesh("abc", [[0, 1, 2]])),
                            ("none", lambda: yawara.TriMesh(TET[0], np.zeros((0, 3), int))),
                            ("none", lambda: yawara.TetMesh(TET[0], np.zeros((0, 4), int))),
                            ("tet 0", lambda: yawara.TetMesh([[0, 0, 0]] * 4, TET[1])),
                            ("no tets", lambda: yawara.as_tets(mesh_of(points=TET[0], cells=[
                                ("triangle", np.array(FACES))]))),
                            ("no surface", lambda: yawara.as_triangles(object())),
                            (r"\(points, tets\)", lambda: yawara.as_tets((1, 2, 3))),
                            ("cannot be opened|unknown|extension|format", lambda: yawara.TriMesh.read("x.obj"))):
            with self.subTest(words), self.assertRaisesRegex(yawara.Error, words):
                call()

    def test_duck_typing(self):
        """objects that look like meshio's and trimesh's are taken"""
        block = type("CellBlock", (), {"type": "tetra", "data": np.array(TET[1])})()
        looks_like_meshio = mesh_of(points=np.array(TET[0], float), cells=[block])
        self.assertEqual(len(yawara.as_tets(looks_like_meshio).tets), 1)
        looks_like_trimesh = mesh_of(vertices=np.array(TET[0], float), faces=np.array(FACES))
        self.assertLess(yawara.Shape.mesh(looks_like_trimesh).distance((0.1, 0.1, 0.1)), 0)

    def test_pyvista(self):
        """objects that look like pyvista's are taken, and given where pyvista is there"""
        try:
            from vtkmodules.util.numpy_support import numpy_to_vtk
            from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
            from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData, vtkUnstructuredGrid
        except ImportError:
            self.skipTest("vtk is not installed (python3-vtk9)")

        # As pyvista has them: classes of vtk with points, and cells in a row with their sizes before them.
        class PolyData(vtkPolyData):
            points, faces = np.array(TET[0], float), np.column_stack([[3] * 4, FACES]).ravel()

        class UnstructuredGrid(vtkUnstructuredGrid):
            points, cells = np.array(TET[0], float), np.array([4, 0, 1, 2, 3])

        points = vtkPoints()
        points.SetData(numpy_to_vtk(np.array(TET[0], float), deep=True))
        surface, volume, cells = PolyData(), UnstructuredGrid(), vtkCellArray()
        for face in FACES:
            row = vtkIdList()
            for corner in face:
                row.InsertNextId(corner)
            cells.InsertNextCell(row)
        surface.SetPoints(points)
        surface.SetPolys(cells)
        np.testing.assert_array_equal(yawara.as_triangles(surface).triangles, FACES)
        row = vtkIdList()
        for corner in range(4):
            row.InsertNextId(corner)
        volume.SetPoints(points)
        volume.InsertNextCell(10, row)
        self.assertEqual(yawara.Model.match(volume).num_particles, 4)
        with self.assertRaisesRegex(yawara.GeometryError, "no tets"):
            yawara.as_tets(surface)
        pyvista = types.ModuleType("pyvista")
        pyvista.wrap = lambda grid: ("wrapped", grid)
        with unittest.mock.patch.dict(sys.modules, {"pyvista": pyvista}):
            kind, grid = yawara.load(cube("match")).build(threads=1)[0].to_vtk()
        self.assertEqual((kind, grid.GetNumberOfPoints()), ("wrapped", 27))

    def test_no_area(self):
        """faces without an area do no harm, or are named with what to do"""
        box = yawara.TetMesh.lattice((0, 0, 0), (1, 1, 1), (1, 1, 1)).surface()
        faces = np.vstack([box.triangles, [[0, 1, 1], [0, 0, 0]]])
        self.assertLess(yawara.Shape.mesh((box.points, faces)).distance((0.5, 0.5, 0.5)), -0.4)
        world = yawara.World(threads=1)
        world.add_mesh_obstacle(box.points, faces)
        world.add(yawara.Model.rigid(yawara.Shape.mesh((box.points, faces))), position=(0, 3, 0))
        for _ in world.play(5):
            pass
        self.assertTrue(np.isfinite(world[0].positions).all())
        flat = ([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 1]], [[0, 1, 3], [0, 1, 2]])
        with self.assertRaisesRegex(yawara.Error, "triangle 1"):
            yawara.Model.sheet(flat, thickness=0.01)

    def test_meshio(self):
        """a mesh of meshio becomes a body"""
        try:
            import meshio
        except ImportError:
            self.skipTest("meshio is not installed (python3-meshio)")
        box = yawara.TetMesh.lattice((0, 0, 0), (1, 1, 1), (2, 2, 2))
        mesh = meshio.Mesh(box.points, [("triangle", box.surface().triangles), ("tetra", box.tets)])
        self.assertEqual(yawara.Model.match(mesh).num_particles, 27)

    def test_vtk(self):
        """bodies go to vtk with their fields, and meshes come back"""
        try:
            import vtkmodules.util.numpy_support as support
        except ImportError:
            self.skipTest("vtk is not installed (python3-vtk9)")
        world = yawara.load(cube("frames", youngs_modulus=1e4)).build(threads=1)
        for _ in world.play(20):
            pass
        grid = world[0].to_vtk()
        self.assertEqual((grid.GetNumberOfPoints(), grid.GetNumberOfCells()), (27, len(world[0].cells)))
        points = support.vtk_to_numpy(grid.GetPoints().GetData())
        np.testing.assert_array_equal(points, world[0].positions)
        for name, info in world[0].fields.items():
            data = grid.GetCellData() if info.per_cell else grid.GetPointData()
            np.testing.assert_array_equal(support.vtk_to_numpy(data.GetArray(name)), world[0].field(name))
        back = yawara.as_tets(grid)
        np.testing.assert_array_equal(back.tets, world[0].cells)

    def test_files(self):
        """meshes are written and read again"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "ä tet.vtu")
            yawara.TetMesh(*TET).write(path)
            np.testing.assert_array_equal(yawara.TetMesh.read(path).tets, TET[1])


@unittest.skipUnless(PROGRAM, "the program is not built")
class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        scene = dict(TWIST, frames=6)
        scene["bodies"] = TWIST["bodies"] + [
            {"name": "ball", "shape": {"sphere": {"radius": 0.3}}, "position": [2, 1, 0],
             "surface": {"size": 0.1}, "frames": {"youngs_modulus": 1e4}},
            {"name": "rope", "rod": {"points": [[3, 1, 0], [4, 1, 0], [4.5, 1, 0]], "radius": 0.05}}]
        cls.scene = cls.folder / "scene.json"
        cls.scene.write_text(json.dumps(scene))
        subprocess.run([PROGRAM, "run", str(cls.scene), "-o", str(cls.folder / "run"), "-q", "--fields",
                        "all"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_same_bits(self):
        """Python steps a scene as the program does: state, positions, surfaces and fields"""
        run = yawara.open_run(self.folder / "run")
        world = yawara.load(self.scene).build(threads=1)
        for frame in world.play():
            stored = run[frame.number]
            for name in ("twisted", "ball", "rope"):
                body, was = frame[name], stored[name]
                np.testing.assert_array_equal(was.positions, body.positions)
                np.testing.assert_array_equal(was.surface.triangles, body.surface.triangles)
                np.testing.assert_array_equal(was.surface.points, body.surface.points)
                for field, values in was.fields.items():
                    np.testing.assert_array_equal(values, body.field(field))
        self.assertEqual(f"{world.hash:016x}", run.info["state_hash"])
        self.assertEqual(run.positions("ball").shape[0], 7)
        np.testing.assert_allclose(run.times[-1], world.time, rtol=1e-6)

    def test_packed(self):
        """a run with all frames in one file is the same, and refused where it is damaged"""
        packed = self.folder / "packed"
        subprocess.run([PROGRAM, "run", str(self.scene), "-o", str(packed), "-q", "--fields", "all", "--pack"],
                       check=True)
        for stored, was in zip(yawara.open_run(packed), yawara.open_run(self.folder / "run")):
            for body, other in zip(stored.bodies, was.bodies):
                np.testing.assert_array_equal(body.positions, other.positions)
        run, was = yawara.open_run(packed), yawara.open_run(self.folder / "run")
        np.testing.assert_array_equal(run[-1]["ball"].positions, was[6]["ball"].positions)
        whole = (packed / "frames.ywp").read_bytes()
        for data, words in ((whole[:-20], "ends too early"), (whole[:40], "ends too early"),
                            (b"XX" + whole[2:], "YWPACK01"), (whole[:8], "before frame")):
            (packed / "frames.ywp").write_bytes(data)
            with self.assertRaisesRegex(yawara.Error, words):
                yawara.open_run(packed)[6]

    def test_shown(self):
        """surfaces are those that the program shows, also where they are kept apart"""
        path = self.folder / "touch.json"
        path.write_text(json.dumps({
            "frames": 2, "fps": 30, "floor": {"friction": 0.5},
            "obstacles": [{"shape": {"box": {"size": [0.5, 0.2, 0.5]}},
                           "position": [0.5, 0.1, 0], "rotation": [0, 0, 1, 20]}],
            "bodies": [{"name": n, "mesh": {"tets": {"shape": {"sphere": {"radius": 0.3}}, "size": 0.2}},
                        "surface": {"size": 0.08}, "position": p, "velocity": [0, -3, 0], "match": {"stiffness": 20}}
                       for n, p in (("low", [0, 0.31, 0]), ("high", [0.05, 0.92, 0.02]))]}))
        subprocess.run([PROGRAM, "run", str(path), "-o", str(self.folder / "touch"), "-q", "--format", "pc2"],
                       check=True)
        run = yawara.open_run(self.folder / "touch")
        files = sorted((self.folder / "touch" / "pc2").glob("*.pc2"), reverse=True)
        expected = [np.frombuffer(file.read_bytes(), "<f4", offset=32).reshape(len(run), -1, 3) for file in files]
        moved = 0.0
        for frame in run:
            for body, shown in zip(frame.bodies, expected):
                np.testing.assert_array_equal(body.surface.points, shown[frame.number])
                moved = max(moved, np.abs(body._follow() - shown[frame.number]).max())
        self.assertGreater(moved, 1e-4, "the surfaces never touched: the test shows nothing")

    def test_log(self):
        """the log is arrays, and a frame of pandas where it is there"""
        run = yawara.open_run(self.folder / "run")
        self.assertEqual(len(run.log["time (s)"]), 7)
        heights = run.positions("ball")[:, :, 1].mean(axis=1)
        np.testing.assert_array_equal(np.diff(run.log["ball y (m)"]) < 0, np.diff(heights) < 0)
        try:
            import pandas  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "python3-pandas"):
                run.log_frame()
            return
        self.assertEqual(list(run.log_frame().columns), list(run.log))

    def test_damaged(self):
        """damaged and foreign folders are refused with words"""
        with self.assertRaisesRegex(yawara.FileError, "no run.json"):
            yawara.open_run(self.folder)
        for name, change, words in (("shown.ywr", lambda data: data[:200], "ends too early"),
                                    ("shown.ywr", lambda data: b"XX" + data[2:], "starts with"),
                                    ("frames/000002.ywf", lambda data: data[:60], "ends too early"),
                                    ("frames/000002.ywf", lambda d: d[:8] + b"12345678" + d[16:], "another run"),
                                    ("run.json", lambda data: b"{", "run.json"),
                                    ("run.json", lambda d: d.replace(b'"yawara_run": 1', b'"yawara_run": 9'),
                                     "format 9")):
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                copy = pathlib.Path(place, "run")
                shutil.copytree(self.folder / "run", copy)
                (copy / name).write_bytes(change((copy / name).read_bytes()))
                with self.assertRaisesRegex(yawara.Error, words):
                    yawara.open_run(copy)[2]
        with self.assertRaisesRegex(IndexError, "0 to 6"):
            yawara.open_run(self.folder / "run")[7]

    def test_every_cut(self):
        """a frame and shown.ywr cut anywhere are refused, never a crash"""
        run = self.folder / "run"
        for name, step in (("shown.ywr", 9973), ("frames/000001.ywf", 997)):
            whole = (run / name).read_bytes()
            try:
                for size in range(0, len(whole) - 1, step):
                    (run / name).write_bytes(whole[:size])
                    with self.assertRaises(yawara.Error):
                        yawara.open_run(run)[1]
            finally:
                (run / name).write_bytes(whole)


class Wheel(unittest.TestCase):
    def test_syntax(self):
        """sources are Python 3.9, Blender's and the builder's too"""
        folders = ("python", "python/yawara", "python/examples", "blender/yawara_addon")
        sources = [path for folder in folders for path in sorted((ROOT / folder).glob("*.py"))]
        self.assertGreater(len(sources), 40)
        for path in sources:
            ast.parse(path.read_text("utf-8"), str(path), feature_version=(3, 9))
            if path.parent.name == "yawara" and path.name != "__init__.py":
                self.assertIn("from __future__ import annotations", path.read_text("utf-8"), path)

    def test_install(self):
        """pip installs the package without a network, for any Python 3 of this platform"""
        if subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("pip is not installed (python3-pip)")
        library = pathlib.Path(yawara.__file__).with_name("libyawara.so")
        with tempfile.TemporaryDirectory() as place:
            settings = {**os.environ, "YAWARA_LIBRARY": str(library), "PYTHONPATH": "",
                        "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
            subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", place,
                            str(ROOT / "python")], check=True, env=settings)
            wheel, = pathlib.Path(place).glob("*.whl")
            self.assertRegex(wheel.name, r"^yawara-\d+\.\d+\.\d+-py3-none-(?!any)\w+\.whl$")
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target",
                            f"{place}/site", str(wheel)], check=True, env=settings,
                           stderr=subprocess.DEVNULL)
            with zipfile.ZipFile(wheel) as files:
                self.assertIn("yawara/py.typed", files.namelist())
            settings.pop("YAWARA_LIBRARY")
            settings["PYTHONPATH"] = f"{place}/site"
            said = subprocess.run([sys.executable, "-c", "import yawara; print(yawara.__file__, len("
                                   "yawara.World()))"], check=True, env=settings, cwd="/",
                                  stdout=subprocess.PIPE, universal_newlines=True).stdout
            self.assertEqual(said.split(), [f"{place}/site/yawara/__init__.py", "0"])


if __name__ == "__main__":
    unittest.main()
