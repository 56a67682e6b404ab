# SPDX-License-Identifier: MIT
"""Loads the shared library of this package and turns its statuses into exceptions."""
from __future__ import annotations

import ctypes
import os
import pathlib
import sys
import warnings
from typing import Any, Optional

from . import errors

try:
    from . import _abi as abi
except ImportError as problem:
    raise ImportError(
        "yawara was not installed, only its source was found: run `pip install ./python` in the "
        "repository, and start Python elsewhere than in its python folder") from problem

_NAMES = {"darwin": "libyawara.dylib", "win32": "yawara.dll"}


def _load() -> ctypes.CDLL:
    # YAWARA_LIBRARY names another build of the same version, e.g. one with sanitizers.
    chosen = os.environ.get("YAWARA_LIBRARY")
    path = chosen or str(pathlib.Path(__file__).with_name(_NAMES.get(sys.platform, "libyawara.so")))
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        why = "YAWARA_LIBRARY names it" if chosen else "reinstall the package"
        raise ImportError(f"cannot load the library of yawara, {path}: {problem} ({why})") from None
    try:
        for name, (result, arguments) in abi.FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError:
        raise ImportError(f"{path} is another version of yawara: it has no {name}") from None
    wanted = f"{abi.YW_VERSION_MAJOR}.{abi.YW_VERSION_MINOR}."
    found = library.yw_version().decode()
    if not found.startswith(wanted):
        raise ImportError(f"{path} is yawara {found}, but this package is for {wanted}x: "
                          "reinstall the package or unset YAWARA_LIBRARY")
    return library


lib = _load()


def fail(status: int, message: str) -> None:
    """Raises the exception of a status."""
    raise errors.BY_STATUS.get(status, errors.Error)(message)


def check(status: int, error: Optional[Any] = None, otherwise: str = "") -> int:
    """Raises if status is an error; warns if it is a warning with a message. Returns status."""
    said = error.message.decode("utf-8", "replace") if error is not None else ""
    if status < 0:
        fail(status, said or otherwise or f"yawara failed with status {status}")
    if status > 0 and said:
        warnings.warn(said, errors.YawaraWarning, stacklevel=4)
    return status


def text(value: Optional[bytes]) -> str:
    """A C string as text."""
    return (value or b"").decode("utf-8", "replace")
