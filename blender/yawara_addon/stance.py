# SPDX-License-Identifier: MIT
"""How stiff a body must be to stand on its legs, from horizontal sections: as the program's
apps/yawara/console/stance.c, which says where the formula comes from."""
import numpy as np

SECTIONS = 48
LEAST_AREA = 1e-5
MOST = 2000.0
SOLES = 5


def _triangles(faces):
    return np.array([(face[0], face[i], face[i + 1]) for face in faces for i in range(1, len(face) - 1)],
                    np.int64).reshape(-1, 3)


def _section(corners, heights):
    """Area and perimeter of the section at height 0: corners (n, 3, 3), heights (n, 3)."""
    below = heights < 0
    cut = np.flatnonzero((below.sum(axis=1) % 3) != 0)
    corners, heights, below = corners[cut], heights[cut], below[cut]
    ends = np.zeros((2, len(cut), 2))
    for k in range(3):
        other = (k + 1) % 3
        rows = np.flatnonzero(below[:, k] != below[:, other])
        share = heights[rows, k] / (heights[rows, k] - heights[rows, other])
        place = corners[rows, k] + share[:, None] * (corners[rows, other] - corners[rows, k])
        ends[below[rows, other].astype(int), rows] = place[:, [2, 0]]
    a, b = ends
    area = 0.5 * float((a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]).sum())
    return abs(area), float(np.linalg.norm(b - a, axis=1).sum())


def measure(points, faces):
    """Stiffness and largest stress over density, gravity and length, and volume; y points up and the
    longest side is 1."""
    points = np.asarray(points, float)
    length = float(np.ptp(points, axis=0).max())
    low, step = float(points[:, 1].min()), float(np.ptp(points[:, 1])) / SECTIONS
    if not step > 0:
        return 0.0, 0.0, 0.0
    corners = points[_triangles(faces)]
    heights = (corners[:, :, 1] - low) / step - 0.5
    found = np.array([_section(corners, heights - n) for n in range(SECTIONS)])
    area, perimeter = found[:, 0], found[:, 1]
    carried = np.append(np.cumsum((area * step)[::-1])[::-1], 0.0)
    solid = area > LEAST_AREA * area.max()
    if not solid.any():
        return 0.0, 0.0, 0.0
    thickness = np.where(solid, 4.0 * area / np.where(perimeter > 0, perimeter, 1.0), np.inf)
    compliance = np.where(solid, step * 16.0 / np.where(solid, area * thickness ** 2, 1.0), 0.0)
    worst = max((b + 1 - a) * step * compliance[a:b + 1].sum() * carried[b + 1]
                for a in range(SECTIONS) for b in range(a, SECTIONS)) / np.pi ** 2
    carries = solid & (carried[:SECTIONS] > 0.5 * carried[0])
    carries[:SOLES] = False
    stress = float((carried[:SECTIONS][carries] / area[carries]).max()) if carries.any() else 0.0
    return min(worst / length, MOST), stress / length, float(carried[0]) / length ** 3
