# SPDX-License-Identifier: MIT
"""Scenes: JSON files, or Python dictionaries, from which worlds are built."""
from __future__ import annotations

import ctypes
import json
import os
import re
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _convert as convert
from ._library import abi, check, lib, text
from .errors import InvalidError, YawaraWarning
from .worlds import World

Changes = Mapping[str, Any]
# Strings, which are kept, and comments, which are not.
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as json knows them."""
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "__array__"):
        return np.asarray(value).tolist()
    raise TypeError(f"{value!r} cannot be part of a scene")


def _json(value: Any, where: str) -> str:
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise InvalidError(f"{where} cannot be written as JSON: {problem}") from None


def overrides(changes: Changes) -> Any:
    """Changes as the library takes them; at least one."""
    table = (abi.yw_scene_override * max(len(changes), 1))()
    for item, (where, value) in zip(table, changes.items()):
        item.path = convert.label(where, "the path of a change")
        item.value = _json(value, where).encode()
    return table


def tell(warning: Any) -> None:
    """Warns of what the library said of a scene."""
    for line in text(warning.message).splitlines():
        warnings.warn(line, YawaraWarning, stacklevel=5)


class Scene:
    """A scene that was read and checked, with its models made. Any number of worlds can be built.

    Args:
        source: path of a scene file, or a dictionary with the same keys.
        changes: values to set first, e.g. {"bodies[0].match.beta": 0.5}.
        folder: where relative paths in a dictionary start.
        threads: to make models; 0: one per core.
        cache: folder for results of long computations; None: none.
        progress: called as progress(what, share) while models are made; share is 0 to 1.
    """

    def __init__(self, source: Any, changes: Optional[Changes] = None, folder: Any = ".",
                 threads: int = 0, cache: Any = None,
                 progress: Optional[Callable[[str, float], None]] = None) -> None:
        self._pointer = None
        self._written: Optional[bytes] = None
        if isinstance(source, Mapping):
            self._written = _json(source, "the scene").encode()
            self._path = os.path.join(convert.path(folder, "folder"), b"scene")
        else:
            self._path = convert.path(source, "a scene is a path or a dictionary; this")
        self.changes: Dict[str, Any] = dict(changes or {})
        self._cache = None if cache is None else convert.path(cache, "cache")
        self._threads = convert.count(threads, "threads", 0, abi.YW_MAX_WORKERS)
        self._progress = progress
        self._read()

    def _definition(self) -> Tuple[Any, List[Any]]:
        d = lib.yw_default_scene_def()
        d.path, d.cache_folder, d.threads = self._path, self._cache, self._threads
        if self._written is not None:
            d.text, d.size = self._written, len(self._written)
        table = overrides(self.changes)
        d.overrides, d.num_overrides = table, len(self.changes)
        keep: List[Any] = [table]
        if self._progress:
            told = self._progress
            d.progress = abi.yw_progress(lambda _, what, share: told(text(what), share))
            keep.append(d.progress)
        return d, keep

    def _read(self) -> None:
        d, keep = self._definition()
        out, warning, error = ctypes.c_void_p(), abi.yw_error(), abi.yw_error()
        check(lib.yw_scene_read(ctypes.byref(d), ctypes.byref(out), ctypes.byref(warning),
                                ctypes.byref(error)), error)
        del keep
        self._pointer = out.value
        tell(warning)

    def __del__(self) -> None:
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            lib.yw_scene_destroy(pointer)

    def changed(self, changes: Changes, threads: Optional[int] = None) -> "Scene":
        """The same scene, read again with more changes."""
        out = Scene.__new__(Scene)
        out._pointer, out._written, out._path = None, self._written, self._path
        out.changes = {**self.changes, **changes}
        out._cache, out._progress = self._cache, None
        out._threads = self._threads if threads is None else threads
        out._read()
        return out

    def build(self, threads: int = 0, simd: str = "auto") -> World:
        """A world with everything in the scene. threads 0: one per core. Neither threads nor simd
        ("auto", "plain", "avx2", "avx512") changes results."""
        out, error = ctypes.c_void_p(), abi.yw_error()
        check(lib.yw_scene_build(self._pointer, convert.count(threads, "threads", 0, abi.YW_MAX_WORKERS),
                                 convert.word(simd, "yw_simd", "simd"), ctypes.byref(out),
                                 ctypes.byref(error)), error)
        return World._of_scene(out.value, self)

    def _find(self, where: str) -> Any:
        """The value at a path like "bodies[0].match.beta", without changes; None if there is none."""
        with_comments = self._written
        if with_comments is None:
            with open(self._path, "rb") as file:
                with_comments = file.read()
        value = json.loads(_COMMENT.sub(r"\1", with_comments.decode("utf-8-sig")))
        for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", where):
            try:
                value = value[key] if key else value[int(index)]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def _info(self) -> Any:
        return lib.yw_scene_info_of(self._pointer)

    @property
    def name(self) -> str:
        """As the scene has it, or that of its file."""
        return text(self._info().name)

    @property
    def description(self) -> str:
        """What the scene says about itself; may be empty."""
        return text(self._info().description)

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self._info().fps

    @property
    def frames(self) -> int:
        """Frames after the first, which is the state at the start."""
        return self._info().frames

    @property
    def substeps(self) -> int:
        """Steps per frame."""
        return self._info().substeps

    @property
    def files(self) -> List[str]:
        """The files the scene was read from: itself first."""
        return [os.fsdecode(lib.yw_scene_file_at(self._pointer, i).path)
                for i in range(lib.yw_scene_num_files(self._pointer))]

    def __repr__(self) -> str:
        return f"<Scene {self.name!r}, {self.frames} frames at {self.fps:g} per second>"


def load(source: Any, changes: Optional[Changes] = None, **settings: Any) -> Scene:
    """Reads a scene: a file, or a dictionary. See Scene for the settings."""
    return Scene(source, changes, **settings)
