#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mean red of what is red in PNG pictures of 8 bits, 0 to 255: how bright a red body is lit.
usage: brightness.py PICTURE.png..."""
import struct
import sys
import zlib


def rows_of(path):
    """Bytes per pixel and the bytes of each row."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed, width, height, count = 8, b"", 0, 0, 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            count = {2: 3, 6: 4}[color]
            assert depth == 8
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, length = zlib.decompress(packed), count * width
    rows, above = [], bytearray(length)
    for y in range(height):
        start = y * (length + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + length])
        for i in range(length):
            a, b = row[i - count] if i >= count else 0, above[i]
            c = above[i - count] if i >= count else 0
            guess = a + b - c
            nearest = min((abs(guess - a), 0, a), (abs(guess - b), 1, b), (abs(guess - c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append(row)
        above = row
    return count, rows


for picture in sys.argv[1:]:
    step, lines = rows_of(picture)
    reds = [line[i] for line in lines for i in range(0, len(line), step) if line[i] > 1.5 * line[i + 2]]
    print("%.1f" % (sum(reds) / len(reds)))
