#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/design/rooms.svg from the include graph, so that the picture of the rooms stays true.

usage: scripts/draw_rooms.py [--check]      --check: fails when the committed picture is not that of the tree

A box is a room, as wide as its name needs; an arrow points from a room to one that it includes. Arrows that
follow from others are left out (a -> c where a -> b -> c), so is the public interface, which everybody includes.
"""
import pathlib
import re
import sys
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/design/rooms.svg"

# Room, and where its files are. The seam is a header of its own.
ROOMS = [
    ("base", "src/base"),
    ("math", "src/math"),
    ("geometry", "src/geometry"),
    ("materials", "src/materials"),
    ("the seam", "include/yawara/extend/method.h"),
    ("kit", "src/methods/kit"),
    ("match", "src/methods/match"),
    ("frames", "src/methods/frames"),
    ("slender", "src/methods/slender"),
    ("plastic", "src/methods/plastic"),
    ("fem", "src/methods/fem"),
    ("rigid", "src/methods/rigid"),
    ("contact", "src/contact"),
    ("models", "src/model"),
    ("world", "src/world"),
    ("files", "src/files"),
    ("scene", "src/scene"),
    ("public headers", "include/yawara"),
    ("codecs", "apps/yawara/codecs"),
    ("console", "apps/yawara/console"),
    ("render", "apps/yawara/render"),
    ("playback", "apps/yawara/playback"),
    ("server", "apps/yawara/server"),
    ("ranks", "apps/yawara/ranks"),
    ("commands", "apps/yawara/commands"),
    ("reference", "studies/reference"),
    ("bench", "studies/bench"),
    ("fit", "studies/fit"),
    ("papers", "studies/papers"),
]
GROUPS = [("library", "src/"), ("program", "apps/"), ("studies", "studies/")]
# Tools that the library installs for others are rooms' own headers, seen from inside.
TOOLS = {"error": "base", "file": "base", "hash": "base", "memory": "base", "ranks": "base", "stream": "base", "tasks": "base",
         "text": "base", "text_number": "base", "timer": "base", "vec": "math", "rigid_motion": "math", "method": "the seam",
         "decompress": "files", "shown": "geometry"}
# So are public headers with one room behind them.
PUBLIC = {"mesh": "geometry", "shape": "geometry", "files": "files", "world": "world", "joint": "world", "scene": "scene"}
# Drawn side by side, since they are alike.
ROW = {"match", "frames", "slender", "plastic", "fem", "rigid", "contact"}


def room_of(path):
    """The room with the longest folder that holds the path."""
    best = max((r for r in ROOMS if path == r[1] or path.startswith(r[1] + "/")),
               key=lambda r: len(r[1]), default=None)
    return best[0] if best else None


def sources(folder):
    place = ROOT / folder
    if place.is_file():
        return [place]
    found = [p for p in place.rglob("*") if p.suffix in (".c", ".h", ".cpp")]
    # A method's part in scene files lives with the method, but belongs to the scene.
    if folder.startswith("src/methods/"):
        found = [p for p in found if p.name != "scene.c"]
    if folder == "src/scene":
        found += ROOT.glob("src/methods/*/scene.c")
    return sorted(found)


def target(include, room):
    """The room that an include of `room` leads to, or None."""
    tool = re.fullmatch(r"(?:yawara/extend/)?(\w+)\.h", include) if "yawara/extend/" in include or room == "the seam" else None
    inside = folder_of(room).startswith("src/") or room == "the seam"
    if tool and inside:
        return TOOLS.get(tool.group(1), "files" if "yawara/extend/" in include else None)
    if include.startswith("yawara/"):
        return PUBLIC.get(include[7:-2]) if inside else "public headers"
    for root in ("src/", "apps/yawara/", "studies/"):
        if (ROOT / (root + include)).exists():
            return room_of(root + include)
    return None


def folder_of(room):
    return dict(ROOMS)[room]


def includes_of(text):
    """What a file includes, and what the public headers among these include in turn."""
    found = re.findall(r'^#include "([^"]+)"', text, re.M)
    for include in found[:]:
        header = ROOT / "include" / include
        if include.startswith("yawara/") and "/extend/" not in include and header.exists():
            found += ["yawara/" + name for name in re.findall(r'^#include "(\w+\.h)"', header.read_text(encoding="utf-8"), re.M)]
    return found


def read_graph():
    """Rooms, the set of rooms each includes, and lines of code."""
    edges = {name: set() for name, _ in ROOMS}
    lines = {}
    for name, folder in ROOMS:
        count = 0
        for source in sources(folder):
            if name == "public headers" and source.name == "method.h":
                continue
            text = source.read_text(encoding="utf-8")
            count += text.count("\n")
            if name == "public headers":
                continue
            for include in includes_of(text):
                room = target(include, name)
                if room and room != name:
                    edges[name].add(room)
        lines[name] = count
    # The public interface is what the library's highest rooms implement; scenes name the methods in a table.
    edges["public headers"] = {"world", "scene"}
    table = (ROOT / "src/scene/method.h").read_text(encoding="utf-8")
    edges["scene"] |= {name for name in re.findall(r"\bline\((\w+)\)", table) if name in edges}
    # Studies look everywhere inside the library, which the picture does not show.
    for name, folder in ROOMS:
        if folder.startswith("studies/"):
            edges[name] = {b for b in edges[name] if not folder_of(b).startswith("src/") and b != "the seam"}
    return edges, lines


def reach(edges, start, skip=None):
    seen, todo = set(), [n for n in edges[start] if n != skip]
    while todo:
        room = todo.pop()
        if room not in seen:
            seen.add(room)
            todo += edges[room]
    return seen


def reduced(edges):
    """Edges that do not follow from others."""
    return {a: {b for b in bs if b not in reach(edges, a, skip=b)} for a, bs in edges.items()}


def layers(edges):
    for room in edges:
        if room in reach(edges, room):
            circle = [b for b in edges[room] if b == room or room in reach(edges, b)]
            sys.exit(f"{room} and {', '.join(sorted(circle))} include each other: rooms must not form a circle")
    depth = {}

    def depth_of(room):
        if room not in depth:
            alike = ROW if room in ROW else {room}
            level = 1 + max((depth_of(b) for a in alike for b in edges[a]), default=-1)
            depth.update((a, level) for a in alike)
        return depth[room]

    for room in edges:
        depth_of(room)
    rows = [[] for _ in range(max(depth.values()) + 1)]
    for name, _ in ROOMS:
        rows[depth[name]].append(name)
    return rows


COLORS = {"library": "#dbe9f6", "program": "#e3f1da", "studies": "#fbe8cf", "": "#eeeeee"}


def group_of(room):
    return next((g for g, start in GROUPS if folder_of(room).startswith(start)), "")


def draw(edges, lines):
    rows = layers(edges)
    row_height, box_height, gap, width = 74, 40, 18, 980
    height = row_height * len(rows) + 50
    box = {}
    for level, row in enumerate(rows):
        sizes = [max(92, 8 * len(name) + 26) for name in row]
        x = (width - sum(sizes) - gap * (len(row) - 1)) / 2
        y = height - 30 - row_height * (level + 1) + 20
        for name, size in zip(row, sizes):
            box[name] = (x, y, size)
            x += size + gap
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           'font-family="DejaVu Sans, sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
           'orient="auto"><path d="M0 0L8 4L0 8z" fill="#777777"/></marker></defs>']
    for a, bs in reduced(edges).items():
        for b in sorted(bs):
            ax, ay, aw = box[a]
            bx, by, bw = box[b]
            x1, y1, x2, y2 = ax + aw / 2, ay + box_height, bx + bw / 2, by
            # Spread arrows along the boxes' edges, towards where they come from.
            x1 += max(-aw / 3, min(aw / 3, (x2 - x1) / 6))
            x2 += max(-bw / 3, min(bw / 3, (x1 - x2) / 6))
            bend = (y2 - y1) * 0.5
            out.append(f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}" '
                       'fill="none" stroke="#777777" marker-end="url(#tip)"/>')
    for name, (x, y, size) in box.items():
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{size}" height="{box_height}" rx="5" '
                   f'fill="{COLORS[group_of(name)]}" stroke="#555555"/>')
        out.append(f'<text x="{x + size / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle">{escape(name)}</text>')
        out.append(f'<text x="{x + size / 2:.0f}" y="{y + 32:.0f}" text-anchor="middle" font-size="10" fill="#555555">'
                   f'{round(lines[name], -2):,} lines</text>')
    x = 20
    for group in ("library", "program", "studies"):
        out.append(f'<rect x="{x}" y="{height - 26}" width="14" height="14" fill="{COLORS[group]}" stroke="#555555"/>')
        out.append(f'<text x="{x + 20}" y="{height - 14}">{group}</text>')
        x += 100
    out.append(f'<text x="{x}" y="{height - 14}" fill="#555555">an arrow points to what a room includes; studies look inside the library, too</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    edges, lines = read_graph()
    picture = draw(edges, lines)
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(picture, encoding="utf-8")
        return 0
    # Line counts change with every commit; rooms and arrows may not change unseen.
    strip = lambda text: re.sub(r">[\d,]+ lines<", "><", text)
    if PICTURE.exists() and strip(PICTURE.read_text(encoding="utf-8")) == strip(picture):
        return 0
    print("docs/design/rooms.svg is not that of the tree: run scripts/draw_rooms.py and look at what changed")
    return 1


sys.exit(main())
