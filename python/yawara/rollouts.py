# SPDX-License-Identifier: MIT
"""Many variants of one scene at the same time, and how results depend on parameters."""
from __future__ import annotations

import ctypes
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

from . import _convert as convert
from . import scenes
from ._library import abi, check, fail, lib, text
from .errors import Error, InvalidError
from .scenes import Scene
from .worlds import World

Observe = Callable[[World], Any]


class Rollout:
    """Results of rollout, one row per variant.

    Attributes:
        changes: what each variant changed.
        times: (frames + 1,), s.
        hashes: (variants,) uint64, world.hash at the end; the same as if run one by one.
        values: (variants, frames + 1, ...), what observe returned.
        positions: by name of the body, (variants, frames + 1, n, 3) in m; without observe.
        errors: None, or the Error of a variant that failed; its rows are NaN.
    """

    def __init__(self, changes: List[Mapping[str, Any]], times: np.ndarray) -> None:
        self.changes, self.times = changes, times
        self.hashes = np.zeros(len(changes), np.uint64)
        self.errors: List[Optional[Error]] = [None] * len(changes)
        self.values: Optional[np.ndarray] = None
        self.positions: Dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.changes)


def cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def rollout(scene: Scene, changes: Sequence[Mapping[str, Any]], workers: Optional[int] = None,
            frames: Optional[int] = None, observe: Optional[Observe] = None, record: bool = True,
            prepare: Optional[Callable[[World, int], None]] = None,
            on_fault: str = "raise") -> Rollout:
    """Runs variants of a scene on a pool of threads. The library lets go of the interpreter, so
    they run at the same time.

    Args:
        scene: from yawara.load.
        changes: one dictionary per variant, e.g. {"bodies[0].match.beta": 0.5}.
        workers: threads; default: one per core.
        frames: per variant; default: those of the scene.
        observe: called as observe(world) at the start and after every frame; returns numbers to keep.
            Default: the positions of all bodies.
        record: False keeps only the hashes.
        prepare: called as prepare(world, variant) before the first frame.
        on_fault: "raise" the first error, or "keep" it in errors and go on.
    """
    if not isinstance(scene, Scene):
        raise InvalidError(f"scene must be a Scene from yawara.load, but is a {type(scene).__name__}")
    if on_fault not in ("raise", "keep"):
        raise InvalidError(f"on_fault must be 'raise' or 'keep', but is {on_fault!r}")
    variants = list(changes)
    for i, change in enumerate(variants):
        if not isinstance(change, Mapping):
            raise InvalidError(f"changes[{i}] must be a dictionary of paths and values, but is {change!r}")
    frames = scene.frames if frames is None else convert.count(frames, "frames")
    workers = cores() if workers is None else convert.count(workers, "workers", 1, 1024)
    out = Rollout(variants, np.arange(frames + 1) / scene.fps)
    job = _Job(scene, out, frames, observe, record, prepare, on_fault)
    rows = job.run(min(workers, max(len(variants), 1)))
    if observe is not None and record:
        out.values = _stack(rows)
    elif record:
        out.positions = {name: _stack([None if row is None else row.get(name) for row in rows])
                         for name in job.names}
    return out


class _Job:
    """The work of a rollout."""

    def __init__(self, scene: Scene, out: Rollout, frames: int, observe: Optional[Observe],
                 record: bool, prepare: Any, on_fault: str) -> None:
        self.scene, self.out, self.frames = scene, out, frames
        self.observe, self.record = observe, record
        self.prepare, self.on_fault = prepare, on_fault
        self.stop = threading.Event()
        self.names: List[str] = []
        self.blocks: List[np.ndarray] = []

    def run(self, workers: int) -> List[Any]:
        """A row per variant: an array of what was observed, or positions by name; None: it failed."""
        if self.prepare is None and (self.observe is None or not self.record):
            return self._all_at_once(workers)
        return self._step_by_step(range(len(self.out)), workers)

    def _step_by_step(self, numbers: Sequence[int], workers: int) -> List[Any]:
        """For Python's functions, and where bodies have other numbers of particles."""
        if workers == 1 or len(numbers) < 2:
            return [self._one(i) for i in numbers]
        pool = ThreadPoolExecutor(workers)
        try:
            return list(pool.map(self._one, numbers))
        finally:
            self.stop.set()
            pool.shutdown()

    # Without Python's functions: one call of the library.

    def _make_blocks(self) -> Any:
        """Room for positions: a block per body for all variants, which seldom change the counts."""
        with self.scene.build(threads=1) as world:
            self.names = _unique([body.name for body in world])
            self.blocks = [np.empty((len(self.out), self.frames + 1, len(body), 3), np.float32)
                           for body in world]
        tracks = (abi.yw_rollout_track * max(len(self.blocks), 1))()
        for i, block in enumerate(self.blocks):
            tracks[i].body, tracks[i].count, tracks[i].positions = i, block.shape[2], block.ctypes.data
        return tracks

    def _all_at_once(self, workers: int) -> List[Any]:
        tracks = self._make_blocks() if self.record else None
        variants = (abi.yw_rollout_variant * max(len(self.out), 1))()
        tables = [scenes.overrides(change) for change in self.out.changes]
        for variant, table, change in zip(variants, tables, self.out.changes):
            variant.overrides, variant.num_overrides = table, len(change)
        problems: List[BaseException] = []

        def is_over(_: Any) -> bool:
            # The interpreter notices Ctrl-C here, but cannot raise it through the library.
            try:
                return bool(problems)
            except BaseException as problem:
                problems.append(problem)
                return True

        d = lib.yw_default_rollout_def()
        d.scene, keep = self.scene._definition()
        d.scene.progress = abi.yw_progress()
        d.variants, d.num_variants, d.frames, d.threads = variants, len(self.out), self.frames, workers
        d.tracks, d.num_tracks = tracks, len(self.blocks)
        d.keep_going, d.stop = self.on_fault == "keep", abi.yw_rollout_stop(is_over)
        error = abi.yw_error()
        check(lib.yw_scene_rollout(ctypes.byref(d), ctypes.byref(error)), error)
        del keep
        if problems:
            raise problems[0]
        return self._rows(variants, workers)

    def _rows(self, variants: Any, workers: int) -> List[Any]:
        rows: List[Any] = [None] * len(self.out)
        others = []
        for i in range(len(self.out)):
            status, message = variants[i].status, variants[i].message
            self.out.hashes[i] = variants[i].hash
            if status == abi.YW_ERR_LIMIT:
                others.append(i)
            elif status >= 0:
                scenes.tell(message)
                rows[i] = dict(zip(self.names, (block[i] for block in self.blocks)))
            elif message.message:  # without: not begun, since another one failed
                try:
                    fail(status, text(message.message))
                except Error as problem:
                    self._failed(i, problem)
        for i, row in zip(others, self._step_by_step(others, workers)):
            rows[i] = row
        return rows

    # One variant.

    def _failed(self, index: int, problem: Error) -> None:
        if self.on_fault == "raise":
            self.stop.set()
            problem.args = (f"changes[{index}]: {problem.message}",)
            raise problem
        self.out.errors[index] = problem

    def _one(self, index: int) -> Any:
        if self.stop.is_set():
            return None
        try:
            return self._play(index)
        except Error as problem:
            self._failed(index, problem)
            return None
        except BaseException:
            self.stop.set()
            raise

    def _play(self, index: int) -> Any:
        change = self.out.changes[index]
        scene = self.scene.changed(change, threads=1) if change else self.scene
        with scene.build(threads=1) as world:
            if self.prepare:
                self.prepare(world, index)
            look = self.observe or (lambda world: [body.positions.copy() for body in world])
            rows = [look(world)] if self.record else []
            for _ in world.play(self.frames, on_fault="raise"):
                if self.record:
                    rows.append(look(world))
                if self.stop.is_set():
                    break
            self.out.hashes[index] = world.hash
            if self.observe is not None:
                return _joined(rows)
            tracks = [_joined(track) for track in zip(*rows)]
            return dict(zip(_unique([body.name for body in world]), tracks))


def _joined(rows: Sequence[Any]) -> Any:
    """(frames + 1, ...), or a list if the sizes differ."""
    arrays = [np.array(row) for row in rows]
    return np.stack(arrays) if len({row.shape for row in arrays}) == 1 else arrays


def _unique(names: Sequence[str]) -> List[str]:
    """Names that repeat get a number."""
    out: List[str] = []
    for name in names:
        again, number = name, 1
        while again in out:
            number += 1
            again = f"{name} {number}"
        out.append(again)
    return out


def _stack(rows: List[Any]) -> Any:
    """(variants, frames + 1, ...), or lists where the sizes differ. Variants that failed are NaN."""
    good = [row for row in rows if row is not None]
    if not good or not all(isinstance(row, np.ndarray) for row in good) or len(
            {row.shape for row in good}) > 1:
        return rows
    whole = good[0].base
    if isinstance(whole, np.ndarray) and whole.shape == (len(rows),) + good[0].shape and all(
            row is None or row.base is whole for row in rows):
        # Written in place; rows of variants that failed are whatever was there.
        for target, row in zip(whole, rows):
            if row is None:
                target[...] = np.nan
        return whole
    if len(good) == len(rows):
        return np.stack(good)
    out = np.full((len(rows),) + good[0].shape, np.nan, np.result_type(good[0].dtype, np.float32))
    for target, row in zip(out, rows):
        if row is not None:
            target[...] = row
    return out


def sensitivity(world: World, parameter: str, observe: Optional[Observe] = None,
                step: Optional[float] = None, workers: Optional[int] = None) -> Any:
    """Derivative of the state that a world is in now with respect to a number of its scene.

    By central differences: the scene is run twice more from its start, with the parameter a little
    larger and smaller, exactly as this world was stepped. Motion with hard contacts is not smooth;
    compare two values of `step` where that matters.

    Args:
        world: built from a scene, and since then only stepped or played.
        parameter: its path in the scene, e.g. "bodies[0].frames.youngs_modulus".
        observe: called as observe(world); default: positions of all bodies.
        step: how far to go to either side; default 1 % of the value.
        workers: threads; default: one per core.

    Returns:
        d observe / d parameter, or by default positions by name of the body, (n, 3) in m per unit.
    """
    scene, history = world.scene, world._history
    if scene is None:
        raise InvalidError("sensitivity needs a world that was built from a scene")
    if history is None:
        raise InvalidError("sensitivity needs a world that was only stepped: this one was also changed by "
                           "hand (bodies, pins, settings or snapshots). Put the change into the scene")
    value = value_of(scene, parameter)
    step = 0.01 * abs(value) if step is None else convert.number(step, "step")
    if not step > 0:
        raise InvalidError(f"{parameter} is {value}: give a step above 0")
    past = [list(part) for part in history]

    def final(change: float) -> Any:
        variant = scene.changed({parameter: change}, threads=1)
        with variant.build(threads=1) as other:
            for dt, substeps, times in past:
                for _ in range(int(times)):
                    other.step(dt, int(substeps))
            if observe is not None:
                return np.array(observe(other), np.float64)
            names = _unique([body.name for body in other])
            return {n: body.positions.copy().astype(np.float64) for n, body in zip(names, other.bodies)}

    with ThreadPoolExecutor(min(workers or cores(), 2)) as pool:
        more, less = pool.map(final, (value + step, value - step))
    if observe is not None:
        return (more - less) / (2 * step)
    return {name: (more[name] - less[name]) / (2 * step) for name in more}


def value_of(scene: Scene, parameter: str) -> float:
    """The number at a path of a scene: a change, or what the scene says."""
    if parameter in scene.changes:
        return convert.number(scene.changes[parameter], parameter)
    found = scene._find(parameter)
    if found is None:
        raise InvalidError(f"{parameter} is not in the scene, so its value is not known: write it there, or "
                           f"load the scene with changes={{{parameter!r}: value}}")
    return convert.number(found, parameter)
