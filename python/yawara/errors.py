# SPDX-License-Identifier: MIT
"""Exceptions. Each is also the built-in exception that a caller would expect."""
from __future__ import annotations

import re
from typing import Optional

# "scene.json:14:27: ", "mesh.ele:2: " and "scene.json: ", at the start of a message.
_PLACE = re.compile(r"^(?P<file>[^\n]+?):(?:(?P<line>\d+):(?:(?P<column>\d+):)?)? ")
_SET = re.compile(r"^--set (?P<path>[^\n]+?): ")
_STEP = r"[A-Za-z_]\w*(?:\[\d+\])*"
_STRICT_PATH = re.compile(rf"^({_STEP}(?:\.{_STEP})*)(?::| is | must | needs | has )")
_INSIDE_PATH = re.compile(rf"\bin ({_STEP}(?:\.{_STEP})*)(?= |$)")


class Error(Exception):
    """What went wrong, and what to do about it.

    Attributes:
        message: the text.
        file: the file at fault, or None.
        line, column: the place in that file, from 1, or None.
        path: the value of a scene at fault, e.g. "bodies[0].match.beta", or None.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.file: Optional[str] = None
        self.line: Optional[int] = None
        self.column: Optional[int] = None
        self.path: Optional[str] = None
        rest = message
        changed = _SET.match(message)
        place = None if changed else _PLACE.match(message)
        if changed:
            self.path, rest = changed.group("path"), ""
        elif place and (place.group("line") or _looks_like_a_file(place.group("file"))):
            self.file = place.group("file")
            self.line = int(place.group("line")) if place.group("line") else None
            self.column = int(place.group("column")) if place.group("column") else None
            rest = message[place.end():]
        if rest and self.file:
            found = _STRICT_PATH.match(rest) or _INSIDE_PATH.search(rest)
            self.path = found.group(1) if found else None


def _looks_like_a_file(text: str) -> bool:
    return bool(re.search(r"\.\w+$|/", text)) and "\"" not in text


class InvalidError(Error, ValueError):
    """An argument is out of range or does not fit."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""


class FileError(Error, OSError):
    """A file cannot be opened, read, written or renamed."""


class FormatError(Error, ValueError):
    """The contents of a file or scene do not match its format."""


class GeometryError(Error, ValueError):
    """A mesh or shape cannot be simulated: inverted, empty, without volume, not finite."""


class LimitError(Error, ValueError):
    """A documented limit was exceeded."""


class DivergedError(Error, ArithmeticError):
    """A solve failed, or the state of a body is no longer finite."""


class DeviceError(Error, RuntimeError):
    """A device is missing, has too little memory, or stopped answering."""


class StaleError(Error, RuntimeError):
    """A view, a frame or a handle outlived what it belongs to."""


class YawaraWarning(UserWarning):
    """An input has no effect, or a body had numerical trouble."""


BY_STATUS = {
    -1: InvalidError, -2: OutOfMemoryError, -3: FileError, -4: FormatError, -5: GeometryError,
    -6: LimitError, -7: DivergedError, -8: DeviceError,
}
