# SPDX-License-Identifier: MIT
"""Blender's coordinates (z up, its own units) and those of scene files (y up, metres)."""
import numpy as np

# Rows: the scene's axes in Blender's coordinates. A turn by -90 degrees about x, with exact entries.
TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
# Stretches are rounded to this many digits, so that copies of one mesh share a model.
DIGITS = 6


def to_scene(points, unit=1.0):
    """Points of Blender, (n, 3) or (3,), as points of the scene, m. Exact if unit is 1."""
    points = np.asarray(points)
    out = np.empty_like(points)
    out[..., 0], out[..., 1], out[..., 2] = points[..., 0], points[..., 2], -points[..., 1]
    return out if unit == 1.0 else out * points.dtype.type(unit)


def to_blender(points, unit=1.0):
    """The inverse of to_scene."""
    points = np.asarray(points)
    out = np.empty_like(points)
    out[..., 0], out[..., 1], out[..., 2] = points[..., 0], -points[..., 2], points[..., 1]
    return out if unit == 1.0 else out * points.dtype.type(1.0 / unit)


def split(matrix):
    """A 4 x 4 matrix as stretch (3 x 3, in front), rotation (3 x 3) and translation.

    Mirrored objects keep their reflection in the stretch: the rotation is always a proper one."""
    matrix = np.asarray(matrix, dtype=float)
    linear, translation = matrix[:3, :3], matrix[:3, 3]
    if np.array_equal(linear, np.eye(3)):
        return np.eye(3), np.eye(3), translation
    u, _, vt = np.linalg.svd(linear)
    rotation = u @ vt
    if np.linalg.det(rotation) < 0:
        rotation = u @ np.diag([1.0, 1.0, -1.0]) @ vt
    stretch = rotation.T @ linear
    size = np.abs(stretch).max()
    if size > 0:
        stretch = np.round(stretch, DIGITS - int(np.floor(np.log10(size))))
    return stretch, rotation, translation


def quaternion(rotation):
    """A rotation matrix as [x, y, z, w]."""
    m = np.asarray(rotation, dtype=float)
    # The largest of the four components is taken from the diagonal: no division by nearly 0.
    squares = np.array([1 + m[0, 0] - m[1, 1] - m[2, 2], 1 - m[0, 0] + m[1, 1] - m[2, 2],
                        1 - m[0, 0] - m[1, 1] + m[2, 2], 1 + m[0, 0] + m[1, 1] + m[2, 2]])
    k = int(squares.argmax())
    pairs = np.array([
        [squares[0], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[2, 1] - m[1, 2]],
        [m[0, 1] + m[1, 0], squares[1], m[1, 2] + m[2, 1], m[0, 2] - m[2, 0]],
        [m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[2], m[1, 0] - m[0, 1]],
        [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], squares[3]]])
    q = pairs[k] / (2.0 * np.sqrt(squares[k]))
    q = q if q[3] >= 0 else -q
    return [float(v) for v in q / np.linalg.norm(q)]


def scene_rotation(rotation):
    """A rotation of Blender as a rotation matrix of the scene."""
    return TURN @ np.asarray(rotation, dtype=float) @ TURN.T


def apply(matrix, points):
    """Points (n, 3) moved by a 4 x 4 matrix; untouched if it is the identity."""
    matrix = np.asarray(matrix, dtype=float)
    if np.array_equal(matrix, np.eye(4)):
        return points
    moved = points.astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
    return moved.astype(points.dtype)
