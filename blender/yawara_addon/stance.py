# SPDX-License-Identifier: MIT
"""How stiff a body must be to stand on its legs, from horizontal sections: as the program's
apps/yawara/console/stance.c, which says where the formulas come from."""
from typing import NamedTuple

import numpy as np

SECTIONS = 48
LEAST_AREA = 1e-5
MOST = 2000.0
SOLES = 5
DIRECTIONS = 64
FOOT = 0.01


class Stance(NamedTuple):
    """Moduli and stresses are over density, gravity and the longest side, lengths over the latter."""
    stiffness: float = 0.0  # modulus at which the body buckles under its weight
    lean: float = 0.0       # modulus that keeps its centre above its feet; 0: it does not stand
    stress: float = 0.0     # the largest that its weight causes in a section
    thickness: float = 0.0  # of the thinnest section that carries half of it
    volume: float = 0.0     # 0: nothing was measured
    falls: bool = False     # it does not stand, whatever it is made of: a wheel, a needle


class _Section(NamedTuple):
    area: float
    perimeter: float
    first: np.ndarray   # moments: x, z
    second: np.ndarray  # xx, zz, xz

    def moment_along(self, direction):
        """Second moment about its own axis across a horizontal direction."""
        c, r = direction
        first = c * self.first[0] + r * self.first[1]
        about = c * c * self.second[0] + r * r * self.second[1] + 2 * c * r * self.second[2]
        return np.sign(self.area) * (about - first * first / self.area)


def _triangles(faces):
    return np.array([(face[0], face[i], face[i + 1]) for face in faces for i in range(1, len(face) - 1)],
                    np.int64).reshape(-1, 3)


def _section(corners, heights):
    """The section at height 0: corners (n, 3, 3), heights (n, 3)."""
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
    p, q = ends
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    square = (p * p + p * q + q * q) * cross[:, None] / 12
    mixed = (p[:, 0] * q[:, 1] + 2 * p[:, 0] * p[:, 1] + 2 * q[:, 0] * q[:, 1] + q[:, 0] * p[:, 1]) * cross / 24
    return _Section(0.5 * float(cross.sum()), float(np.linalg.norm(q - p, axis=1).sum()),
                    ((p + q) * cross[:, None] / 6).sum(axis=0), np.append(square.sum(axis=0), mixed.sum()))


def _lean(points, triangles, sections, solid, low, step, length, volume):
    """The largest modulus, over directions, that keeps the centre above the feet."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    parts = np.einsum("ij,ij->i", a, np.cross(b, c))
    if not parts.sum():
        return 0.0
    center = (parts[:, None] * (a + b + c)).sum(axis=0) / (4 * parts.sum())
    height = center[1] - low
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    feet = (points[points[:, 1] <= low + FOOT * length] - center)[:, [2, 0]]
    reach = (directions @ feet.T).max(axis=1)
    if height <= 0 or (reach <= 0).any():
        return 0.0
    half = 0.5 * (reach + np.roll(reach, DIRECTIONS // 2))
    # Sections that carry less than half of the body, such as the back of a chair, bend on their own.
    carried = volume - step * np.cumsum([abs(section.area) for section in sections])
    bending = [n for n in range(1, SECTIONS) if (n + 1) * step < height and solid[n] and carried[n - 1] >= 0.5 * volume]
    return max(volume * height * max(half[i] / reach[i], 1.0) *
               sum(step / sections[n].moment_along(directions[i]) for n in bending) for i in range(DIRECTIONS))


def measure(points, faces):
    """The stance of a mesh; y points up."""
    points = np.asarray(points, float)
    length = float(np.ptp(points, axis=0).max())
    low, step = float(points[:, 1].min()), float(np.ptp(points[:, 1])) / SECTIONS
    if not step > 0:
        return Stance()
    triangles = _triangles(faces)
    corners = points[triangles]
    heights = (corners[:, :, 1] - low) / step - 0.5
    sections = [_section(corners, heights - n) for n in range(SECTIONS)]
    area = np.array([abs(s.area) for s in sections])
    perimeter = np.array([s.perimeter for s in sections])
    carried = np.append(np.cumsum((area * step)[::-1])[::-1], 0.0)
    solid = area > LEAST_AREA * area.max()
    if not solid.any():
        return Stance()
    thickness = np.where(solid, 4.0 * area / np.where(perimeter > 0, perimeter, 1.0), np.inf)
    compliance = np.where(solid, step * 16.0 / np.where(solid, area * thickness ** 2, 1.0), 0.0)
    worst = max((b + 1 - a) * step * compliance[a:b + 1].sum() * carried[b + 1]
                for a in range(SECTIONS) for b in range(a, SECTIONS)) / np.pi ** 2
    carries = solid & (carried[:SECTIONS] > 0.5 * carried[0])
    carries[:SOLES] = False
    stress = float((carried[:SECTIONS][carries] / area[carries]).max()) if carries.any() else 0.0
    thinnest = float(thickness[carries].min()) if carries.any() else np.inf
    lean = _lean(points, triangles, sections, solid, low, step, length, float(carried[0]))
    return Stance(min(worst / length, MOST), min(lean / length, MOST), stress / length, thinnest / length,
                  float(carried[0]) / length ** 3, max(worst, lean) / length > MOST)
