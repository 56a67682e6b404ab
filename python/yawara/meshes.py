# SPDX-License-Identifier: MIT
"""Triangle and tet meshes as numpy arrays, from arrays, files, or objects of other packages."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Tuple

import numpy as np

from . import _convert as convert
from ._library import abi, check, lib
from .errors import GeometryError, InvalidError

# Numbers of VTK's cell types.
_VTK_TRIANGLE, _VTK_TETRA = 5, 10


class TriMesh:
    """A surface: points (n, 3) in m and triangles (m, 3), counter-clockwise seen from outside.

    Attributes:
        points: float32 (n, 3), m.
        triangles: int32 (m, 3).
        colors: float32 (n, 3), 0 to 1, or None.
    """

    def __init__(self, points: Any, triangles: Any, colors: Any = None) -> None:
        self.points = convert.array(points, 3, "points")
        self.triangles = convert.indices(triangles, 3, "triangles", len(self.points))
        self.colors = None
        if colors is not None:
            self.colors = convert.array(colors, 3, "colors", rows=len(self.points))
        if not len(self.triangles):
            raise GeometryError("a surface needs triangles, but there are none")

    @classmethod
    def read(cls, path: Any) -> "TriMesh":
        """Reads .obj, .ply, .stl, .gltf, .glb, or the boundary of a tet file."""
        mesh, error = abi.yw_tri_mesh(), abi.yw_error()
        check(lib.yw_tri_mesh_read(convert.path(path), None, ctypes.byref(mesh),
                                   ctypes.byref(error)), error)
        return cls._take(mesh)

    def write(self, path: Any) -> None:
        """Writes .obj, .ply, .stl or .vtu."""
        error = abi.yw_error()
        check(lib.yw_tri_mesh_write(convert.path(path), ctypes.byref(self._struct()),
                                    ctypes.byref(error)), error)

    def report(self) -> Dict[str, Any]:
        """Area, volume, holes, crossing triangles and more; see yw_surface_report in yawara/mesh.h."""
        out, error = abi.yw_surface_report(), abi.yw_error()
        check(lib.yw_surface_report_of(ctypes.byref(self._struct()), None, ctypes.byref(out),
                                       ctypes.byref(error)), error)
        found = convert.values(out)
        found["box"] = ((out.box.lower.x, out.box.lower.y, out.box.lower.z),
                        (out.box.upper.x, out.box.upper.y, out.box.upper.z))
        return found

    def _struct(self) -> Any:
        mesh = abi.yw_tri_mesh()
        mesh.num_vertices, mesh.num_triangles = len(self.points), len(self.triangles)
        mesh.positions = convert.address(self.points)
        mesh.triangles = convert.address(self.triangles)
        mesh.colors = convert.address(self.colors)
        mesh.owner = self  # the arrays live as long as the struct
        return mesh

    @classmethod
    def _copy(cls, mesh: Any) -> "TriMesh":
        out = cls.__new__(cls)
        n, m = mesh.num_vertices, mesh.num_triangles
        out.points = convert.copy_out(mesh.positions, (n, 3), np.float32)
        out.triangles = convert.copy_out(mesh.triangles, (m, 3), np.int32)
        out.colors = convert.copy_out(mesh.colors, (n, 3), np.float32) if mesh.colors else None
        return out

    @classmethod
    def _take(cls, mesh: Any) -> "TriMesh":
        try:
            return cls._copy(mesh)
        finally:
            lib.yw_tri_mesh_free(ctypes.byref(mesh))

    def __repr__(self) -> str:
        return f"TriMesh({len(self.points)} points, {len(self.triangles)} triangles)"


class TetMesh:
    """A volume: points (n, 3) in m and tets (m, 4). Inverted tets are turned over.

    Attributes:
        points: float32 (n, 3), m.
        tets: int32 (m, 4), positively oriented.
        labels: int32 (m,), regions of the tets, or None.
    """

    def __init__(self, points: Any, tets: Any, labels: Any = None) -> None:
        self.points = convert.array(points, 3, "points")
        self.tets = convert.indices(tets, 4, "tets", len(self.points))
        self.labels = None
        if labels is not None:
            self.labels = convert.array(labels, None, "labels", np.int32, rows=len(self.tets))
        if not len(self.tets):
            raise GeometryError("a volume needs tets, but there are none")
        self._turn_over()
        self.check()

    def _turn_over(self) -> None:
        corner = self.points.astype(np.float64)[self.tets]
        edges = corner[:, 1:] - corner[:, :1]
        inverted = np.linalg.det(edges) < 0
        self.tets[inverted, 2:] = self.tets[inverted, :1:-1]

    @classmethod
    def read(cls, path: Any) -> "TetMesh":
        """Reads .node, .ele, .msh, .vtk, .vtu, .mesh, .meshb or .inp."""
        mesh, error = abi.yw_tet_mesh(), abi.yw_error()
        check(lib.yw_tet_mesh_read(convert.path(path), None, ctypes.byref(mesh),
                                   ctypes.byref(error)), error)
        return cls._take(mesh)

    @classmethod
    def lattice(cls, lower: Any, upper: Any, cells: Any, cut: str = "five") -> "TetMesh":
        """A box from lower to upper (m) of cells[0] x cells[1] x cells[2] cells; x runs fastest."""
        numbers = convert.array(cells, None, "cells", np.int32, rows=3)
        box = abi.yw_aabb(convert.vec3(lower, "lower"), convert.vec3(upper, "upper"))
        mesh = abi.yw_tet_mesh()
        check(lib.yw_tet_mesh_lattice(None, box, convert.address(numbers),
                                      convert.word(cut, "yw_lattice_cut", "cut"),
                                      ctypes.byref(mesh)),
              otherwise=f"a lattice of {tuple(numbers)} cells from {lower} to {upper} is not possible: "
                        "upper must be above lower, cells above 0, and the mesh must fit into memory")
        return cls._take(mesh)

    def write(self, path: Any) -> None:
        """Writes .node and .ele, .vtu, .msh or .mesh."""
        error = abi.yw_error()
        check(lib.yw_tet_mesh_write(convert.path(path), ctypes.byref(self._struct()),
                                    ctypes.byref(error)), error)

    def check(self) -> None:
        """Raises GeometryError that names the first tet or vertex that cannot be simulated."""
        error = abi.yw_error()
        check(lib.yw_tet_mesh_check(ctypes.byref(self._struct()), ctypes.byref(error)), error)

    def quality(self) -> Dict[str, Any]:
        """Angles (degrees), volumes (m^3) and number of connected parts."""
        out = abi.yw_tet_quality()
        check(lib.yw_tet_mesh_quality(ctypes.byref(self._struct()), ctypes.byref(out)))
        return convert.values(out)

    def faults(self) -> str:
        """What is wrong with how the tets fit together, in words; empty if nothing is."""
        faults = abi.yw_tet_faults()
        check(lib.yw_tet_mesh_faults(ctypes.byref(self._struct()), ctypes.byref(faults)))
        room = ctypes.create_string_buffer(2000)
        lib.yw_tet_faults_text(ctypes.byref(faults), room, len(room))
        return room.value.decode()

    def surface(self) -> TriMesh:
        """The boundary."""
        mesh = abi.yw_tri_mesh()
        check(lib.yw_tet_mesh_surface(ctypes.byref(self._struct()), None, ctypes.byref(mesh), None))
        return TriMesh._take(mesh)

    def _struct(self) -> Any:
        mesh = abi.yw_tet_mesh()
        mesh.num_vertices, mesh.num_tets = len(self.points), len(self.tets)
        mesh.positions = convert.address(self.points)
        mesh.tets = convert.address(self.tets)
        mesh.labels = convert.address(self.labels)
        mesh.owner = self
        return mesh

    @classmethod
    def _copy(cls, mesh: Any) -> "TetMesh":
        out = cls.__new__(cls)
        n, m = mesh.num_vertices, mesh.num_tets
        out.points = convert.copy_out(mesh.positions, (n, 3), np.float32)
        out.tets = convert.copy_out(mesh.tets, (m, 4), np.int32)
        out.labels = convert.copy_out(mesh.labels, (m,), np.int32) if mesh.labels else None
        return out

    @classmethod
    def _take(cls, mesh: Any) -> "TetMesh":
        try:
            return cls._copy(mesh)
        finally:
            lib.yw_tet_mesh_free(ctypes.byref(mesh))

    def __repr__(self) -> str:
        return f"TetMesh({len(self.points)} points, {len(self.tets)} tets)"


# Meshes of other packages, by what they look like -----------------------------------------------


def as_tets(mesh: Any) -> TetMesh:
    """A TetMesh from a TetMesh, (points, tets), a file name, or an object of meshio, pyvista or vtk."""
    if isinstance(mesh, TetMesh):
        return mesh
    found = _cells_of(mesh, 4, "tets")
    if found is None:
        raise InvalidError(f"a {_kind(mesh)} is no volume: give a TetMesh, (points, tets), or a mesh "
                           "of meshio, pyvista or vtk with tets. A surface becomes tets with "
                           "Shape.mesh(surface).tets()")
    return TetMesh(*found) if isinstance(found, tuple) else found


def as_triangles(mesh: Any) -> TriMesh:
    """A TriMesh from a TriMesh, (points, triangles), a TetMesh (its boundary), a file name, or an
    object of meshio, trimesh, pyvista or vtk."""
    if isinstance(mesh, TriMesh):
        return mesh
    if isinstance(mesh, TetMesh):
        return mesh.surface()
    found = _cells_of(mesh, 3, "triangles")
    if found is None:
        raise InvalidError(f"a {_kind(mesh)} is no surface: give a TriMesh, (points, triangles), or a "
                           "mesh of meshio, trimesh, pyvista or vtk with triangles")
    return TriMesh(*found) if isinstance(found, tuple) else found


def _kind(mesh: Any) -> str:
    return f"{type(mesh).__module__}.{type(mesh).__name__}".replace("builtins.", "")


def _cells_of(mesh: Any, corners: int, what: str) -> Any:
    """(points, cells) of a mesh of unknown kind; None if it has none."""
    if isinstance(mesh, (str, bytes)) or hasattr(mesh, "__fspath__"):
        return (TetMesh if corners == 4 else TriMesh).read(mesh)
    if isinstance(mesh, (tuple, list)):
        if len(mesh) != 2:
            raise InvalidError(f"a mesh as a tuple is (points, {what}), but this has {len(mesh)} items")
        return mesh[0], mesh[1]
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces") and corners == 3:
        return np.asarray(mesh.vertices), np.asarray(mesh.faces)
    if hasattr(mesh, "GetPoints") and hasattr(mesh, "GetCell"):
        return _cells_of_vtk(mesh, corners, what)
    if hasattr(mesh, "points") and hasattr(mesh, "cells"):
        return _cells_of_meshio(mesh, corners, what)
    return None


def _cells_of_meshio(mesh: Any, corners: int, what: str) -> Tuple[np.ndarray, np.ndarray]:
    name = "tetra" if corners == 4 else "triangle"
    blocks = mesh.cells.items() if isinstance(mesh.cells, dict) else [
        (b.type, b.data) if hasattr(b, "type") else b for b in mesh.cells]
    blocks = list(blocks)
    cells = [np.asarray(data) for kind, data in blocks if kind == name]
    if not cells:
        kinds = ", ".join(sorted({str(kind) for kind, _ in blocks})) or "no cells"
        raise GeometryError(f"the mesh has no {what} ({name}), only {kinds}")
    points = np.asarray(mesh.points)
    if points.ndim == 2 and points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    return points, np.concatenate(cells)


def _cells_of_vtk(mesh: Any, corners: int, what: str) -> Tuple[np.ndarray, np.ndarray]:
    """vtkPolyData and vtkUnstructuredGrid, and pyvista's classes, which derive from them."""
    wanted = _VTK_TETRA if corners == 4 else _VTK_TRIANGLE
    points, cells = _vtk_points(mesh), []
    others = 0
    for i in range(mesh.GetNumberOfCells()):
        if mesh.GetCellType(i) == wanted:
            ids = mesh.GetCell(i).GetPointIds()
            cells.append([ids.GetId(k) for k in range(corners)])
        else:
            others += 1
    if not cells:
        raise GeometryError(f"the mesh has no {what}, only {others} other cells"
                            + (": triangulate it first (vtkTriangleFilter, .triangulate())"
                               if corners == 3 and others else ""))
    return points, np.array(cells)


def _vtk_points(mesh: Any) -> np.ndarray:
    data = mesh.GetPoints().GetData() if mesh.GetPoints() else None
    if data is None:
        raise GeometryError("the mesh has no points")
    try:
        from vtkmodules.util.numpy_support import vtk_to_numpy
    except ImportError:
        return np.array([mesh.GetPoint(i) for i in range(mesh.GetNumberOfPoints())])
    return np.array(vtk_to_numpy(data))


def to_vtk(points: np.ndarray, cells: np.ndarray, fields: Dict[str, Tuple[np.ndarray, bool]]) -> Any:
    """An unstructured grid of vtk, as pyvista's class where pyvista is there. cells has 1 to 4
    corners; fields: values and whether they are per cell."""
    try:
        from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
        from vtkmodules.vtkCommonCore import vtkPoints
        from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkUnstructuredGrid
    except ImportError:
        raise ImportError("to_vtk needs vtk: install python3-vtk9 (Debian), or pyvista (pip)") from None
    place = vtkPoints()
    place.SetData(numpy_to_vtk(np.ascontiguousarray(points), deep=True))
    corners = cells.shape[1]
    table = np.column_stack([np.full(len(cells), corners), cells]).astype(np.int64)
    connected = vtkCellArray()
    connected.SetCells(len(cells), numpy_to_vtkIdTypeArray(table.ravel(), deep=True))
    grid = vtkUnstructuredGrid()
    grid.SetPoints(place)
    grid.SetCells({1: 1, 2: 3, 3: _VTK_TRIANGLE, 4: _VTK_TETRA}[corners], connected)
    for name, (values, per_cell) in fields.items():
        data = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
        data.SetName(name)
        (grid.GetCellData() if per_cell else grid.GetPointData()).AddArray(data)
    return _as_pyvista(grid)


def _as_pyvista(grid: Any) -> Any:
    try:
        import pyvista
    except ImportError:
        return grid
    return pyvista.wrap(grid)
