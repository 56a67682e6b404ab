# SPDX-License-Identifier: MIT
"""Finds parameters of a scene, such as Young's modulus or damping, from measured motion.

Nonlinear least squares: a coarse scan of the bounds, then Gauss-Newton with Levenberg's and
Marquardt's damping, or SciPy's least_squares where it is installed. Derivatives are central
differences. All simulations of an iteration run at the same time.
"""
from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _convert as convert
from .errors import InvalidError, YawaraWarning
from .rollouts import Observe, rollout
from .worlds import World

if TYPE_CHECKING:
    from .scenes import Scene

# Derivatives: far above the noise of single precision, far below where residuals bend.
_STEP = 0.005
_MAX_ITERATIONS = 40
# A simulation that diverged counts as this many times worse than the best of the scan.
_WORSE = 100.0


class Fit:
    """What fit found.

    Attributes:
        values: parameters by path.
        errors: their standard errors, from the scatter of the residuals.
        rms: root mean square of simulated minus measured, in the unit of what was measured.
        curve: what was simulated with these values, in the shape of what was measured.
        scene: the scene with these values.
        simulations: how many were run.
        solver: "scipy" or "own".
    """

    def __init__(self, values: Dict[str, float], errors: Dict[str, float], rms: float,
                 curve: np.ndarray, scene: "Scene", simulations: int, solver: str) -> None:
        self.values, self.errors, self.rms, self.curve = values, errors, rms, curve
        self.scene, self.simulations, self.solver = scene, simulations, solver

    def __getitem__(self, path: str) -> float:
        return self.values[path]

    def __repr__(self) -> str:
        found = ", ".join(f"{k} = {v:.5g} ± {self.errors[k]:.2g}" for k, v in self.values.items())
        return f"<Fit {found}; rms {self.rms:.3g}, {self.simulations} simulations>"


class _Parameter:
    """A number of the scene as u from 0 to 1: logarithmic where the bounds span a factor of ten."""

    def __init__(self, path: str, bounds: Any) -> None:
        try:
            numbers = [convert.number(b, path) for b in bounds]
        except TypeError:
            numbers = []
        if len(numbers) not in (2, 3):
            raise InvalidError(f"{path} needs (low, high) or (start, low, high), but has {bounds!r}")
        self.path, (self.low, self.high) = path, numbers[-2:]
        if not self.low < self.high:
            raise InvalidError(f"{path} needs low below high, but has {self.low} and {self.high}")
        self.logarithmic = self.low > 0 and self.high >= 10 * self.low
        self.start = self.u_of(numbers[0]) if len(numbers) == 3 else None
        if self.start is not None and not 0 <= self.start <= 1:
            raise InvalidError(f"{path} starts at {numbers[0]}, outside of {self.low} to {self.high}")
        span = math.log(self.high / self.low) if self.logarithmic else 1.0
        self.step = min(_STEP / span, 0.01)

    def u_of(self, value: float) -> float:
        if self.logarithmic:
            return math.log(max(value, 1e-300) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value_of(self, u: float) -> float:
        if self.logarithmic:
            return self.low * (self.high / self.low) ** u
        return self.low + u * (self.high - self.low)

    def slope_at(self, u: float) -> float:
        if self.logarithmic:
            return self.value_of(u) * math.log(self.high / self.low)
        return self.high - self.low


class _Problem:
    """Residuals and their derivatives."""

    def __init__(self, scene: "Scene", parameters: List[_Parameter], measured: np.ndarray,
                 times: np.ndarray, observe: Observe, workers: Optional[int]) -> None:
        self.scene, self.parameters, self.measured = scene, parameters, measured
        self.times, self.observe, self.workers = times, observe, workers
        self.known = np.isfinite(measured)
        self.frames = int(math.ceil(float(times[-1]) * scene.fps - 1e-6))
        self.simulations = 0
        self.bad = 1.0  # residual of simulations that diverged

    def curves(self, points: Sequence[np.ndarray]) -> List[Optional[np.ndarray]]:
        """What the simulations at these points would have measured; None where one diverged."""
        changes = [{p.path: p.value_of(float(x)) for p, x in zip(self.parameters, u)} for u in points]
        out = rollout(self.scene, changes, self.workers, self.frames, self.observe, on_fault="keep")
        self.simulations += len(points)
        curves: List[Optional[np.ndarray]] = []
        for i, problem in enumerate(out.errors):
            if problem is not None and not isinstance(problem, ArithmeticError):
                raise problem
            curves.append(None if problem is not None else self.at_times(out.times, out.values[i]))
        return curves

    def at_times(self, frames: np.ndarray, values: Any) -> np.ndarray:
        """Simulated frames, interpolated at the times of the measurement."""
        rows = np.asarray(values, np.float64)
        if rows.shape[1:] != self.measured.shape[1:]:
            raise InvalidError(f"measured has {self.measured.shape[1:]} numbers per time, but the simulation "
                               f"gives {rows.shape[1:]}: choose body, vertices and axes, or observe")
        place = np.clip(np.searchsorted(frames, self.times, "right") - 1, 0, max(len(frames) - 2, 0))
        if len(frames) == 1:
            return rows[place]
        share = (self.times - frames[place]) / (frames[place + 1] - frames[place])
        share = share.reshape((-1,) + (1,) * (rows.ndim - 1))
        return rows[place] * (1 - share) + rows[place + 1] * share

    def residuals(self, points: Sequence[np.ndarray]) -> List[np.ndarray]:
        size = int(self.known.sum())
        return [np.full(size, self.bad) if c is None else (c - self.measured)[self.known]
                for c in self.curves(points)]

    def residual(self, u: np.ndarray) -> np.ndarray:
        return self.residuals([u])[0]

    def jacobian(self, u: np.ndarray) -> np.ndarray:
        """Central differences; at a bound, to one side of it."""
        points, widths = [], []
        for i, p in enumerate(self.parameters):
            above, below = u.copy(), u.copy()
            above[i], below[i] = min(u[i] + p.step, 1.0), max(u[i] - p.step, 0.0)
            points += [above, below]
            widths.append(above[i] - below[i])
        r = self.residuals(points)
        return np.column_stack([(r[2 * i] - r[2 * i + 1]) / w for i, w in enumerate(widths)])


def _scan(problem: _Problem, samples: int) -> np.ndarray:
    """The best of points spread over the bounds; motion that oscillates has many local minima."""
    given = [p.start for p in problem.parameters]
    if all(start is not None for start in given):
        return np.array(given, np.float64)
    points = []
    for k in range(samples):
        # One parameter: a regular grid. More: Kronecker's sequence fills the box evenly.
        rows = ([(k + 0.5) / samples] if len(given) == 1 else
                [(0.5 + (k + 1) * _golden(len(given)) ** -(j + 1)) % 1.0 for j in range(len(given))])
        points.append(np.array([x if s is None else s for x, s in zip(rows, given)]))
    curves = problem.curves(points)
    costs = [np.inf if c is None else float(((c - problem.measured)[problem.known] ** 2).sum())
             for c in curves]
    best = int(np.argmin(costs))
    if not np.isfinite(costs[best]):
        raise InvalidError("every simulation between the bounds diverged: use other bounds or more substeps")
    problem.bad = _WORSE * math.sqrt(costs[best] / max(int(problem.known.sum()), 1)) + 1e-12
    return points[best]


def _golden(dimensions: int) -> float:
    """The root above 1 of x^(d + 1) = x + 1."""
    x = 1.5
    for _ in range(50):
        x = (1 + x) ** (1 / (dimensions + 1))
    return x


def _marquardt(problem: _Problem, u: np.ndarray, tolerance: float) -> Tuple[np.ndarray, np.ndarray]:
    """Gauss-Newton with damping that grows when a step fails; stays within the bounds."""
    r, damping = problem.residual(u), 1e-3
    jacobian = problem.jacobian(u)
    for _ in range(_MAX_ITERATIONS):
        normal, slope = jacobian.T @ jacobian, jacobian.T @ r
        # A parameter at its bound that wants to leave the box takes no part.
        free = ~(((u <= 0) & (slope > 0)) | ((u >= 1) & (slope < 0)))
        if not free.any():
            break
        scale = np.diag(normal)[free] + 1e-30
        change = np.zeros_like(u)
        change[free] = -np.linalg.solve(normal[np.ix_(free, free)] + np.diag(damping * scale), slope[free])
        tried = np.clip(u + change, 0, 1)
        found = problem.residual(tried)
        if found @ found < r @ r:
            moved = float(np.abs(tried - u).max())
            u, r, damping = tried, found, max(damping / 5, 1e-9)
            jacobian = problem.jacobian(u)
            if moved < tolerance:
                break
        elif float(np.abs(tried - u).max()) < tolerance:
            break
        else:
            damping *= 8
    return u, jacobian


def _scipy(problem: _Problem, u: np.ndarray, tolerance: float) -> Tuple[np.ndarray, np.ndarray]:
    from scipy.optimize import least_squares

    inside = np.clip(u, 1e-6, 1 - 1e-6)
    out = least_squares(problem.residual, inside, problem.jacobian, bounds=(0, 1), xtol=tolerance,
                        ftol=tolerance * 1e-3, gtol=None, max_nfev=_MAX_ITERATIONS)
    return out.x, out.jac


def _tracked(scene: "Scene", body: Any, vertices: Any, axes: str) -> Observe:
    """Observes points of a body along some axes."""
    if not axes or set(axes) - set("xyz"):
        raise InvalidError(f"axes must be some of 'xyz', but is {axes!r}")
    columns = ["xyz".index(axis) for axis in axes]
    with scene.build(threads=1) as world:
        known = len(world[0 if body is None else body])
    rows = slice(None) if vertices is None else convert.indices(vertices, None, "vertices", known)

    def observe(world: World) -> np.ndarray:
        return world[0 if body is None else body].positions.copy()[rows][:, columns]

    return observe


def fit(scene: "Scene", measured: Any, parameters: Mapping[str, Any], times: Any = None,
        body: Any = None, vertices: Any = None, axes: str = "xyz", observe: Optional[Observe] = None,
        missing: str = "refuse", samples: Optional[int] = None, workers: Optional[int] = None,
        solver: str = "auto", tolerance: float = 1e-4) -> Fit:
    """Finds parameters with which a scene moves as measured, in the sense of least squares.

    Args:
        scene: from yawara.load, with the experiment as it was done.
        measured: (times, points, axes), positions in m; or whatever observe gives, per time.
        parameters: bounds by path, e.g. {"bodies[0].frames.youngs_modulus": (1e4, 1e7)}, or (start,
            low, high). Bounds above 0 that span a factor of ten are searched logarithmically.
        times: s since the start, increasing, one per row of measured; default: every frame from 0.
            A deflection at rest is one row, at a time when the motion has ended.
        body: name or number; default: the first.
        vertices: of the body, one per measured point; default: all.
        axes: that were measured, e.g. "xy" for a video from the front.
        observe: called as observe(world) instead of body, vertices and axes.
        missing: "refuse" measured numbers that are NaN, or "skip" them (a lost marker).
        samples: simulations of the first scan; default 12 times the number of parameters.
        workers: threads; default: one per core.
        solver: "auto", "scipy" or "own".
        tolerance: of the parameters, relative to their bounds.
    """
    problem = _problem(scene, measured, parameters, times, observe or _tracked(scene, body, vertices, axes),
                       missing, workers)
    solver = _solver(solver)
    count = 12 * len(problem.parameters) if samples is None else convert.count(samples, "samples", 1)
    start = _scan(problem, count)
    u, jacobian = (_scipy if solver == "scipy" else _marquardt)(problem, start, tolerance)
    curve = problem.curves([u])[0]
    if curve is None:
        raise InvalidError("the best parameters diverge: use other bounds or more substeps")
    r = (curve - problem.measured)[problem.known]
    spread = float(r @ r) / max(len(r) - len(u), 1)
    covariance = spread * np.linalg.pinv(jacobian.T @ jacobian)
    values, errors = {}, {}
    for i, p in enumerate(problem.parameters):
        values[p.path] = p.value_of(float(u[i]))
        errors[p.path] = abs(p.slope_at(float(u[i]))) * math.sqrt(max(covariance[i, i], 0.0))
        if u[i] < 1e-3 or u[i] > 1 - 1e-3:
            warnings.warn(f"{p.path} = {values[p.path]:g} is at its bound: widen the bounds", YawaraWarning,
                          stacklevel=2)
    return Fit(values, errors, float(np.sqrt(np.mean(r**2))), curve, scene.changed(values),
               problem.simulations, solver)


def _problem(scene: "Scene", measured: Any, parameters: Mapping[str, Any], times: Any, observe: Observe,
             missing: str, workers: Optional[int]) -> _Problem:
    if missing not in ("refuse", "skip"):
        raise InvalidError(f"missing must be 'refuse' or 'skip', but is {missing!r}")
    if not isinstance(parameters, Mapping) or not parameters:
        raise InvalidError("parameters must be a dictionary of paths and bounds, with at least one of them")
    numbers = np.asarray(measured)
    if numbers.dtype.kind not in "fiu" or numbers.ndim < 1 or not numbers.size:
        raise InvalidError("measured must be an array of numbers, one row per time")
    numbers = numbers.astype(np.float64)
    if np.isinf(numbers).any() or (missing == "refuse" and np.isnan(numbers).any()):
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(numbers))[0])
        raise InvalidError(f"measured{list(where)} is not finite; missing=\"skip\" leaves NaN out")
    if not np.isfinite(numbers).any():
        raise InvalidError("measured has no numbers, only NaN")
    when = np.arange(len(numbers)) / scene.fps if times is None else convert.array(
        times, None, "times", np.float64, rows=len(numbers))
    if (np.diff(when) <= 0).any() or when[0] < 0:
        raise InvalidError("times must increase and start at 0 or later")
    bounds = [_Parameter(path, value) for path, value in parameters.items()]
    return _Problem(scene, bounds, numbers, when, observe, workers)


def _solver(wanted: str) -> str:
    if wanted not in ("auto", "scipy", "own"):
        raise InvalidError(f"solver must be 'auto', 'scipy' or 'own', but is {wanted!r}")
    if wanted == "own":
        return wanted
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        if wanted == "scipy":
            raise ImportError("solver=\"scipy\" needs SciPy: install python3-scipy (Debian) or run `pip "
                              "install scipy`; solver=\"own\" works without it") from None
        return "own"
    return "scipy"
