#!/usr/bin/python3
"""Writes tests/data/files: the same tiny meshes as other programs save them by default.

usage: tests/data/make_files.py [FOLDER]     needs python3-vtk9, python3-meshio and python3-gmsh
"""
import os
import sys

import gmsh
import meshio
import numpy
import vtk

out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "files")

# Two tets with the labels 7 and 9, the second wound the wrong way: see tests/support/mesh_samples.h.
POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1.25, 1.5, 1.75)]
TETS = [(0, 1, 2, 3), (1, 2, 4, 3)]
LABELS = [7, 9]


def path(name):
    """Relative, because some programs write the path into the file."""
    return name


def vtk_grid():
    grid = vtk.vtkUnstructuredGrid()
    points = vtk.vtkPoints()
    for p in POINTS:
        points.InsertNextPoint(p)
    grid.SetPoints(points)
    for tet in TETS:
        grid.InsertNextCell(vtk.VTK_TETRA, 4, tet)
    label = vtk.vtkIntArray()
    label.SetName("label")
    for value in LABELS:
        label.InsertNextValue(value)
    grid.GetCellData().AddArray(label)
    return grid


def write_vtu(name, compressor, data_mode, encode, header64=False, big=False, block=0):
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetInputData(vtk_grid())
    writer.SetFileName(path(name))
    getattr(writer, "SetCompressorTypeTo" + compressor)()
    getattr(writer, "SetDataModeTo" + data_mode)()
    writer.SetEncodeAppendedData(encode)
    if header64:
        writer.SetHeaderTypeToUInt64()
    if big:
        writer.SetByteOrderToBigEndian()
    if block:
        writer.SetBlockSize(block)
    writer.Write()


def write_vtk():
    write_vtu("vtk_zlib_appended.vtu", "ZLib", "Appended", False)
    write_vtu("vtk_zlib_binary_blocks.vtu", "ZLib", "Binary", False, header64=True, block=16)
    write_vtu("vtk_lz4_appended_base64.vtu", "LZ4", "Appended", True, big=True)
    write_vtu("vtk_lzma_appended.vtu", "LZMA", "Appended", False, header64=True)
    image = vtk.vtkImageData()
    image.SetDimensions(2, 2, 2)
    image.SetOrigin(1, 2, 3)
    image.SetSpacing(0.5, 1, 2)
    image.AllocateScalars(vtk.VTK_FLOAT, 1)
    for i in range(8):
        image.SetScalarComponentFromDouble(i % 2, i // 2 % 2, i // 4, 0, i)
    writer = vtk.vtkXMLImageDataWriter()
    writer.SetInputData(image)
    writer.SetFileName(path("vtk_zlib.vti"))
    writer.Write()
    for header, values in (("vtk_zlib.mhd", "vtk_zlib.zraw"), ("vtk_zlib.mha", None)):
        writer = vtk.vtkMetaImageWriter()
        writer.SetInputData(image)
        writer.SetFileName(path(header))
        if values:
            writer.SetRAWFileName(values)
        writer.SetCompression(True)
        writer.Write()
    write_gltf()


def write_gltf():
    """A cube, as a picture that VTK exports."""
    cube = vtk.vtkCubeSource()
    cube.SetXLength(1)
    cube.SetYLength(2)
    cube.SetZLength(3)
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(cube.GetOutputPort())
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.SetPosition(5, 0, 0)
    renderer = vtk.vtkRenderer()
    renderer.AddActor(actor)
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(True)
    window.AddRenderer(renderer)
    exporter = vtk.vtkGLTFExporter()
    exporter.SetRenderWindow(window)
    exporter.SetFileName(path("vtk_cube.gltf"))
    exporter.InlineDataOn()
    exporter.Write()


def write_meshio():
    mesh = meshio.Mesh(numpy.array(POINTS, dtype=float), [("tetra", numpy.array(TETS))],
                       cell_data={"label": [numpy.array(LABELS)]})
    meshio.write(path("meshio_zlib.vtu"), mesh)
    meshio.write(path("meshio_lzma.vtu"), mesh, compression="lzma")
    plain = meshio.Mesh(mesh.points, mesh.cells, cell_data={"medit:ref": [numpy.array(LABELS)]})
    meshio.write(path("meshio.meshb"), plain)
    plain = meshio.Mesh(mesh.points, mesh.cells, cell_data={"gmsh:physical": [numpy.array(LABELS)],
                                                            "gmsh:geometrical": [numpy.array([1, 2])]})
    meshio.gmsh.write(path("meshio_40_binary.msh"), plain, fmt_version="4.0", binary=True)
    abaqus = meshio.Mesh(mesh.points, [("tetra", numpy.array(TETS))],
                         cell_sets={"belly": [numpy.array([0])], "back": [numpy.array([1])]})
    meshio.write(path("meshio.inp"), abaqus)


def start_gmsh(name, version, binary=0):
    gmsh.clear()
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", binary)
    gmsh.model.add(name)


def write_pair(name, version, binary=0):
    """The two tets above."""
    start_gmsh(name, version, binary)
    for v in range(2):
        gmsh.model.addDiscreteEntity(3, v + 1)
    gmsh.model.mesh.addNodes(3, 1, list(range(1, 6)), [float(x) for p in POINTS for x in p])
    for v, tet in enumerate(TETS):
        gmsh.model.mesh.addElements(3, v + 1, [4], [[v + 1]], [[i + 1 for i in tet]])
        gmsh.model.addPhysicalGroup(3, [v + 1], LABELS[v])
    gmsh.write(path(name))


def make_boxes(name, version, binary=0):
    """Boxes of 1 and 2 m^3 side by side, with the physical groups 7 and 9."""
    start_gmsh(name, version, binary)
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
    gmsh.model.occ.addBox(1, 0, 0, 2, 1, 1)
    gmsh.model.occ.fragment([(3, 1)], [(3, 2)])
    gmsh.model.occ.synchronize()
    gmsh.model.addPhysicalGroup(3, [1], 7)
    gmsh.model.addPhysicalGroup(3, [2], 9)
    gmsh.option.setNumber("Mesh.MeshSizeMin", 5)
    gmsh.option.setNumber("Mesh.MeshSizeMax", 5)
    gmsh.model.mesh.generate(3)


def write_boxes(name, version, binary=0, parts=0, order=1):
    make_boxes(name, version, binary)
    if parts:
        gmsh.option.setNumber("Mesh.PartitionCreatePhysicals", 0)
        gmsh.model.mesh.partition(parts)
    gmsh.model.mesh.setOrder(order)
    gmsh.write(path(name))


def write_gmsh():
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("Mesh.SaveGroupsOfElements", 1)
    write_pair("gmsh_40.msh", 4.0)
    write_pair("gmsh_41_binary.msh", 4.1, 1)
    write_boxes("gmsh_boxes_41_parts.msh", 4.1, parts=3)
    write_boxes("gmsh_boxes_41_parts_binary.msh", 4.1, 1, parts=3)
    write_boxes("gmsh_boxes_40_parts.msh", 4.0, parts=3)
    write_boxes("gmsh_boxes_22_parts.msh", 2.2, parts=3)
    write_boxes("gmsh_boxes_41_second.msh", 4.1, order=2)
    write_boxes("gmsh_boxes_22_second.msh", 2.2, order=2)
    write_boxes("gmsh_boxes_second.inp", 4.1, order=2)
    write_boxes("gmsh_boxes_second.vtk", 4.1, order=2)
    write_boxes("gmsh_boxes.inp", 4.1)
    gmsh.finalize()


os.makedirs(out, exist_ok=True)
os.chdir(out)
write_vtk()
write_meshio()
write_gmsh()
