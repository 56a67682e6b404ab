# SPDX-License-Identifier: MIT
"""Models: what bodies are made of. One model serves any number of bodies and worlds."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _convert as convert
from ._library import abi, check, lib, text
from .errors import InvalidError
from .meshes import TetMesh, TriMesh, as_tets, as_triangles
from .shapes import Shape


class Material:
    """Properties at room temperature and small strains; docs/materials.md gives the sources.

    Attributes:
        name: as in scene files, e.g. "soft_tissue".
        youngs_modulus: Pa.
        poissons_ratio: of 0 to 0.49.
        density: kg/m^3.
    """

    def __init__(self, name: str, youngs_modulus: float, poissons_ratio: float, density: float) -> None:
        self.name, self.youngs_modulus = name, youngs_modulus
        self.poissons_ratio, self.density = poissons_ratio, density

    def __repr__(self) -> str:
        return (f"Material({self.name!r}, E {self.youngs_modulus:g} Pa, nu {self.poissons_ratio:g}, "
                f"{self.density:g} kg/m^3)")


def materials() -> Dict[str, Material]:
    """The elastic materials by name, softest first."""
    pointer = ctypes.POINTER(abi.yw_material)
    out = {}
    for i in range(lib.yw_num_materials()):
        m = ctypes.cast(lib.yw_material_at(i), pointer).contents
        out[text(m.name)] = Material(text(m.name), m.youngs_modulus, m.poissons_ratio, m.density)
    return out


class Model:
    """Rest data of a body, immutable: made by Model.match, frames, fem, rod, sheet, plastic, rigid.

    Settings that are not given have the library's defaults. Meshes may be TetMesh or TriMesh,
    (points, cells), file names, or objects of meshio, trimesh, pyvista and vtk.
    """

    def __init__(self) -> None:
        raise InvalidError("make models with Model.match(mesh), Model.frames(mesh), Model.rod(points) ...")

    @classmethod
    def _wrap(cls, pointer: int) -> "Model":
        self = cls.__new__(cls)
        self._pointer = pointer
        return self

    @classmethod
    def _make(cls, function: Any, definition: Any) -> "Model":
        out, error = ctypes.c_void_p(), abi.yw_error()
        check(function(None, ctypes.byref(definition), ctypes.byref(out), ctypes.byref(error)), error)
        return cls._wrap(out.value)

    def __del__(self) -> None:
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            lib.yw_model_release(pointer)

    @classmethod
    def match(cls, mesh: Any, density: float = 1000.0, examples: Sequence[Any] = (),
              labels: Any = None, **settings: Any) -> "Model":
        """Example-based shape matching.

        Args:
            mesh: the rest pose, tets.
            density: kg/m^3.
            examples: poses, each (n, 3) positions in m of the mesh's points.
            labels: (n,) integers: points with the same label choose their example together.
            settings: see below; grouping is "global", "labels" or "per_region".

        Settings:
        """
        d, tets = lib.yw_default_match_def(), as_tets(mesh)
        keep = _set_mesh(d, tets, density) + _set_examples(d, examples, len(tets.points))
        if labels is not None:
            marks = convert.array(labels, None, "labels", np.int32, rows=len(tets.points))
            d.vertex_labels = convert.address(marks)
            d.grouping = abi.YW_GROUPS_LABELS
            keep.append(marks)
        _set(d, settings, ("grouping",))
        return cls._make(lib.yw_model_create_match, d)

    @classmethod
    def frames(cls, mesh: Any, youngs_modulus: Any = None, poissons_ratio: Any = None,
               density: float = 1000.0, examples: Sequence[Any] = (), **settings: Any) -> "Model":
        """Volumes with Young's modulus and Poisson's ratio.

        Args:
            mesh: the rest pose, tets.
            youngs_modulus: Pa; one number, or (n,) per point; default 1e5.
            poissons_ratio: 0 to below 0.5; one number, or (n,) per point; default 0.3.
            density: kg/m^3.
            examples: poses, each (n, 3) positions in m.
            settings: see below.

        Settings:
        """
        d, tets = lib.yw_default_frames_def(), as_tets(mesh)
        keep = _set_mesh(d, tets, density) + _set_examples(d, examples, len(tets.points))
        keep += _set_fields(d, len(tets.points), youngs_modulus=youngs_modulus,
                            poissons_ratio=poissons_ratio)
        _set(d, settings)
        return cls._make(lib.yw_model_create_frames, d)

    @classmethod
    def fem(cls, mesh: Any, youngs_modulus: float = 1e5, poissons_ratio: float = 0.3,
            density: float = 1000.0, max_level: int = 3, **settings: Any) -> "Model":
        """Adaptive finite elements.

        Args:
            mesh: the coarsest level, tets at rest.
            youngs_modulus: Pa.
            poissons_ratio: above -1 and up to 0.4999.
            density: kg/m^3.
            max_level: how often a tet can be split, 0 to 8.
            settings: see below.

        Settings:
        """
        d, tets = lib.yw_default_fem_def(), as_tets(mesh)
        _set_mesh(d, tets, density)
        d.youngs_modulus = convert.number(youngs_modulus, "youngs_modulus")
        d.poissons_ratio = convert.number(poissons_ratio, "poissons_ratio")
        d.max_level = convert.count(max_level, "max_level", 0, 8)
        _set(d, settings, ("threads", "max_bytes", "sampling"))
        return cls._make(lib.yw_model_create_fem, d)

    @classmethod
    def rod(cls, points: Any, radius: Any = None, youngs_modulus: Any = None,
            poissons_ratio: Any = None, density: float = 1000.0, **settings: Any) -> "Model":
        """A rod that stretches, bends and twists; one particle per point.

        Args:
            points: (n, 3) in m, from one end to the other; may be curved at rest.
            radius: m; one number, or (n,) per point; default 0.01.
            youngs_modulus: Pa; one number, or (n,) per point; default 1e6.
            poissons_ratio: 0 to below 0.5; one number, or (n,) per point; default 0.3.
            density: kg/m^3.
            settings: see below, and closed, section, width, thickness, width_direction,
                contact_radius of yw_rod_def (yawara/slender.h).

        Settings:
        """
        d, place = lib.yw_default_rod_def(), convert.array(points, 3, "points")
        d.points, d.num_points = convert.address(place), len(place)
        d.density = convert.number(density, "density")
        keep = _set_fields(d, len(place), youngs_modulus=youngs_modulus, poissons_ratio=poissons_ratio)
        if radius is not None and np.ndim(radius):
            radii = convert.array(radius, None, "radius", rows=len(place))
            d.radii = convert.address(radii)
            keep.append(radii)
        elif radius is not None:
            d.radius = convert.number(radius, "radius")
        _set(d, settings, ("closed", "section", "width", "thickness", "width_direction",
                           "contact_radius"))
        return cls._make(lib.yw_model_create_rod, d)

    @classmethod
    def sheet(cls, mesh: Any, thickness: float = 0.002, youngs_modulus: Any = None,
              poissons_ratio: Any = None, density: float = 1000.0, **settings: Any) -> "Model":
        """A plate or shell; one particle per point.

        Args:
            mesh: mid-surface at rest, triangles.
            thickness: m.
            youngs_modulus: Pa; one number, or (n,) per point; default 1e6.
            poissons_ratio: 0 to below 0.5; one number, or (n,) per point; default 0.3.
            density: kg/m^3.
            settings: see below, and contact_radius (m).

        Settings:
        """
        d, surface = lib.yw_default_sheet_def(), as_triangles(mesh)
        struct = surface._struct()
        d.mesh = ctypes.pointer(struct)
        d.thickness = convert.number(thickness, "thickness")
        d.density = convert.number(density, "density")
        keep = _set_fields(d, len(surface.points), youngs_modulus=youngs_modulus,
                           poissons_ratio=poissons_ratio)
        _set(d, settings, ("contact_radius",))
        model = cls._make(lib.yw_model_create_sheet, d)
        del keep
        return model

    @classmethod
    def plastic(cls, source: Any, spacing: float = 0.02, preset: Optional[str] = None,
                material: Optional[Dict[str, Any]] = None, **settings: Any) -> "Model":
        """Material that dents, tears, splits and merges.

        Args:
            source: a Shape to fill, or (n, 3) positions of particles in m, `spacing` apart.
            spacing: m, between particles.
            preset: a material by name, e.g. "clay"; `plastic_presets()` lists them.
            material: settings of the material that replace those of the preset, see below.
            settings: see below.

        Settings of the material and of the body:
        """
        d, part = lib.yw_default_plastic_def(), lib.yw_default_plastic_part()
        keep: List[Any] = [source]
        if isinstance(source, Shape):
            part.shape = source._pointer
        else:
            place = convert.array(source, 3, "source")
            part.points, part.num_points = convert.address(place), len(place)
            keep.append(place)
        if preset is not None:
            part.material = _preset(preset)
        convert.fill(part.material, material or {})
        d.spacing = convert.number(spacing, "spacing")
        d.parts, d.num_parts = ctypes.pointer(part), 1
        _set(d, settings, ("memory_limit",))
        model = cls._make(lib.yw_model_create_plastic, d)
        del keep
        return model

    @classmethod
    def rigid(cls, source: Any, density: float = 1000.0, size: float = 0.0, **settings: Any) -> "Model":
        """A body that does not deform.

        Args:
            source: a closed surface, tets, or a Shape.
            density: kg/m^3.
            size: m, of the triangles that stand for a Shape; 0: 1/16 of its longest side.
            settings: see below.

        Settings:
        """
        d = lib.yw_default_rigid_def()
        d.density = convert.number(density, "density")
        if isinstance(source, TetMesh):
            d.mesh = ctypes.pointer(source._struct())
        elif isinstance(source, Shape):
            box = source.bounds()
            if box is None:
                raise InvalidError("a rigid body needs a shape that ends, but this one has a plane")
            surface = source.surface(size or float((box[1] - box[0]).max()) / 16)
            d.surface, d.shape = ctypes.pointer(surface._struct()), source._pointer
        else:
            d.surface = ctypes.pointer(as_triangles(source)._struct())
        _set(d, settings)
        return cls._make(lib.yw_model_create_rigid, d)

    @property
    def method(self) -> str:
        """"match", "frames", "slender", "fem", "plastic" or "rigid"."""
        return text(lib.yw_model_method(self._pointer))

    @property
    def num_particles(self) -> int:
        """Particles at rest."""
        return lib.yw_model_num_particles(self._pointer)

    @property
    def points(self) -> Optional[np.ndarray]:
        """Positions at rest, (n, 3) in m, in the order of pins and body.positions; None if the method
        has none."""
        count = ctypes.c_int32()
        pointer = lib.yw_model_points(self._pointer, ctypes.byref(count))
        return convert.copy_out(pointer, (count.value, 3), np.float32) if pointer else None

    @property
    def tets(self) -> Optional[TetMesh]:
        """The tets at rest; None for rods, sheets and loose particles."""
        mesh = lib.yw_model_tets(self._pointer)
        return TetMesh._copy(mesh.contents) if mesh and mesh.contents.num_tets else None

    @property
    def elements(self) -> Optional[np.ndarray]:
        """Lines of rods (m, 2) or triangles of sheets (m, 3); None for other models."""
        corners, count = ctypes.c_int32(), ctypes.c_int32()
        pointer = lib.yw_model_elements(self._pointer, ctypes.byref(corners), ctypes.byref(count))
        if not pointer or not corners.value:
            return None
        return convert.copy_out(pointer, (count.value, corners.value), np.int32)

    @property
    def surface(self) -> Optional[TriMesh]:
        """The surface that is shown, at rest; None for loose particles."""
        mesh = lib.yw_model_surface(self._pointer)
        return TriMesh._copy(mesh.contents) if mesh and mesh.contents.num_triangles else None

    def embed(self, surface: Any) -> None:
        """Shows a finer surface that follows the tets. Only before the first body is made."""
        error = abi.yw_error()
        check(lib.yw_model_embed_surface(self._pointer, ctypes.byref(as_triangles(surface)._struct()),
                                         ctypes.byref(error)), error)

    def __repr__(self) -> str:
        return f"Model({self.method}, {self.num_particles} particles)"


def plastic_presets() -> List[str]:
    """Names of plastic materials, softest first."""
    pointer = ctypes.POINTER(abi.yw_plastic_preset)
    return [text(ctypes.cast(lib.yw_plastic_preset_at(i), pointer).contents.name)
            for i in range(lib.yw_num_plastic_presets())]


def _preset(name: str) -> Any:
    found = lib.yw_plastic_preset_by_name(convert.label(name, "preset"))
    if not found:
        raise InvalidError(f"there is no plastic material {name!r}; there are "
                           f"{', '.join(plastic_presets())}")
    return ctypes.cast(found, ctypes.POINTER(abi.yw_plastic_preset)).contents.material


def _set_mesh(d: Any, tets: TetMesh, density: float) -> List[Any]:
    struct = tets._struct()
    d.mesh = ctypes.pointer(struct)
    d.density = convert.number(density, "density")
    return [struct, tets]


def _set_examples(d: Any, examples: Sequence[Any], points: int) -> List[Any]:
    poses = [convert.array(pose, 3, f"examples[{i}]", rows=points) for i, pose in enumerate(examples)]
    table = (ctypes.c_void_p * max(len(poses), 1))(*(convert.address(p) for p in poses))
    d.num_examples = len(poses)
    d.examples = ctypes.cast(table, ctypes.c_void_p).value
    return [poses, table]


def _set_fields(d: Any, points: int, **fields: Any) -> List[Any]:
    """Numbers for the whole body, or one per point."""
    keep: List[Any] = []
    for name, value in fields.items():
        if value is None:
            continue
        if np.ndim(value) == 0:
            setattr(d, name, convert.number(value, name))
            continue
        values = convert.array(value, None, name, rows=points)
        setattr(d, f"{name}_field", convert.address(values))
        keep.append(values)
    return keep


def _set(d: Any, settings: Dict[str, Any], of_def: Tuple[str, ...] = ()) -> None:
    """Settings of the definition itself, then those of the bodies' parameters."""
    own = {k: v for k, v in settings.items() if k in of_def}
    rest = {k: v for k, v in settings.items() if k not in of_def}
    convert.fill(d, own)
    names = [name for name, _ in type(d.params)._fields_] + list(of_def)
    for name in rest:
        if name not in names:
            convert.fill(d.params, {name: 0}, dict.fromkeys(names, ""))
    convert.fill(d.params, rest)


def _document() -> None:
    for name, struct in (("match", "match"), ("frames", "frames"), ("fem", "fem"), ("rod", "slender"),
                         ("sheet", "slender"), ("rigid", "rigid")):
        function = getattr(Model, name).__func__
        function.__doc__ += convert.document(f"yw_{struct}_params")
    Model.plastic.__func__.__doc__ += convert.document("yw_plastic_material", "yw_plastic_params")


_document()
