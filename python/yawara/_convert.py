# SPDX-License-Identifier: MIT
"""Arguments on their way into C: checked, and refused with words that say what to do."""
from __future__ import annotations

import ctypes
import difflib
import math
import os
from typing import Any, Mapping, Optional

import numpy as np

from ._library import abi
from .errors import InvalidError


def array(value: Any, columns: Optional[int], name: str, dtype: Any = np.float32,
          rows: Optional[int] = None) -> np.ndarray:
    """value as a C-contiguous array of this dtype, (n,) or (n, columns), with finite numbers."""
    try:
        given = np.asarray(value)
    except ValueError:
        raise InvalidError(f"{name} must be an array of numbers, but its rows have different "
                           "lengths") from None
    if given.dtype.kind not in "fiub":
        raise InvalidError(f"{name} must be numbers, but has dtype {given.dtype}")
    wanted = "(n,)" if columns is None else f"(n, {columns})"
    if rows is not None:
        wanted = wanted.replace("n", str(rows), 1)
    fits = given.ndim == (1 if columns is None else 2)
    fits = fits and (columns is None or given.shape[1] == columns)
    if not fits or (rows is not None and given.shape[0] != rows):
        raise InvalidError(f"{name} must have shape {wanted}, but has {given.shape}")
    if np.issubdtype(dtype, np.integer):
        return _integers(given, name, dtype)
    with np.errstate(over="ignore"):
        out = np.ascontiguousarray(given, dtype=dtype)
    bad = np.flatnonzero(~np.isfinite(out).reshape(len(out), -1).all(axis=1)) if out.size else ()
    if len(bad):
        raise InvalidError(f"{name}[{bad[0]}] is not finite: {given[bad[0]]}"
                           + (f" ({len(bad)} such rows)" if len(bad) > 1 else ""))
    return out


def _integers(given: np.ndarray, name: str, dtype: Any) -> np.ndarray:
    if given.dtype.kind not in "iu":
        if given.size and not np.array_equal(given, np.rint(given)):
            raise InvalidError(f"{name} must be integers, but has dtype {given.dtype}")
    limits = np.iinfo(dtype)
    if given.size and (given.min() < limits.min or given.max() > limits.max):
        raise InvalidError(f"{name} has numbers that do not fit into {np.dtype(dtype).name}")
    return np.ascontiguousarray(given, dtype=dtype)


def indices(value: Any, columns: Optional[int], name: str, limit: int) -> np.ndarray:
    """Indices from 0 to below limit; a boolean mask of that length will do where columns is None."""
    given = np.asarray(value)
    if columns is None and given.dtype == bool:
        if given.shape != (limit,):
            raise InvalidError(f"{name} is a mask of shape {given.shape}, but must be ({limit},)")
        return np.flatnonzero(given).astype(np.int32)
    if columns is None and given.ndim == 0:
        given = given.reshape(1)
    out = array(given, columns, name, np.int32)
    if out.size and (out.min() < 0 or out.max() >= limit):
        worst = out.min() if out.min() < 0 else out.max()
        raise InvalidError(f"{name} has the index {worst}, but there are {limit} vertices "
                           f"(0 to {limit - 1})")
    return out


def number(value: Any, name: str) -> float:
    """A finite number."""
    try:
        out = float(value)
    except (TypeError, ValueError):
        raise InvalidError(f"{name} must be a number, but is {value!r}") from None
    if not math.isfinite(out):
        raise InvalidError(f"{name} must be finite, but is {out}")
    return out


def count(value: Any, name: str, low: int = 0, high: int = 2**31 - 1) -> int:
    """An integer from low to high."""
    try:
        out = value.__index__()
    except AttributeError:
        raise InvalidError(f"{name} must be an integer, but is {value!r}") from None
    if not low <= out <= high:
        raise InvalidError(f"{name} must be {low} to {high}, but is {out}")
    return out


def vec3(value: Any, name: str) -> Any:
    """A yw_vec3 from three numbers, or from one for all three."""
    given = np.asarray(value, dtype=object).reshape(-1)
    if given.size not in (1, 3):
        raise InvalidError(f"{name} must be three numbers, but is {value!r}")
    return abi.yw_vec3(*(number(x, name) for x in (given if given.size == 3 else [given[0]] * 3)))


def quat(value: Any, name: str) -> Any:
    """A yw_quat from (x, y, z, w), from (axis, degrees), or None for no rotation."""
    if value is None:
        return abi.yw_quat(0, 0, 0, 1)
    if isinstance(value, (tuple, list)) and len(value) == 2:
        axis = vec3(value[0], f"the axis of {name}")
        half = math.radians(number(value[1], f"the degrees of {name}")) / 2
        size = math.sqrt(axis.x**2 + axis.y**2 + axis.z**2)
        if size == 0:
            raise InvalidError(f"the axis of {name} has no length")
        s = math.sin(half) / size
        return abi.yw_quat(s * axis.x, s * axis.y, s * axis.z, math.cos(half))
    given = np.asarray(value, dtype=object).reshape(-1)
    if given.size != 4:
        raise InvalidError(f"{name} must be a quaternion (x, y, z, w) or (axis, degrees), but is "
                           f"{value!r}")
    numbers = [number(x, name) for x in given]
    size = math.sqrt(sum(x * x for x in numbers))
    if not size > 1e-6:
        raise InvalidError(f"{name} is a quaternion without length")
    return abi.yw_quat(*(x / size for x in numbers))


def transform(position: Any, rotation: Any, scale: Any = 1.0) -> Any:
    return abi.yw_transform(vec3(position, "position"), quat(rotation, "rotation"),
                            number(scale, "scale"))


def word(value: Any, enum: str, name: str) -> int:
    """An enumerator from its word, e.g. "implicit"."""
    words = abi.WORDS[enum]
    if isinstance(value, str) and value in words:
        return words[value]
    raise InvalidError(f"{name} must be one of {', '.join(words)}, but is {value!r}")


def path(value: Any, name: str = "path") -> bytes:
    """A file name for C."""
    try:
        out = os.fsencode(os.fspath(value))
    except TypeError:
        raise InvalidError(f"{name} must be a file name, but is {value!r}") from None
    if b"\0" in out:
        raise InvalidError(f"{name} must not have a zero byte: {value!r}")
    return out


def label(value: Optional[str], name: str = "name") -> Optional[bytes]:
    """A text for C."""
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise InvalidError(f"{name} must be a text without zero bytes, but is {value!r}")
    return value.encode()


def fill(struct: Any, settings: Mapping[str, Any], known: Optional[Mapping[str, str]] = None) -> None:
    """Sets members of a struct by name: numbers, words, flags. known: names that may be set."""
    kind = type(struct).__name__
    fields = dict(type(struct)._fields_)
    known = known if known is not None else fields
    for name, value in settings.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else f"; there are {', '.join(known)}"
            raise InvalidError(f"unknown setting {name!r}{hint}")
        enum = abi.KINDS.get(kind, {}).get(name)
        if enum:
            setattr(struct, name, word(value, enum, name))
        elif fields[name] is ctypes.c_bool:
            if not isinstance(value, (bool, np.bool_)):
                raise InvalidError(f"{name} must be True or False, but is {value!r}")
            setattr(struct, name, bool(value))
        elif fields[name] is ctypes.c_int32:
            setattr(struct, name, count(value, name, -2**31))
        elif fields[name] in (ctypes.c_float, ctypes.c_double):
            setattr(struct, name, number(value, name))
        elif fields[name] is abi.yw_vec3:
            setattr(struct, name, vec3(value, name))
        else:
            raise InvalidError(f"{name} cannot be set by itself")


def values(struct: Any) -> dict:
    """Members of a struct as Python values: numbers, words, flags, tuples; pointers are left out."""
    out = {}
    kinds = abi.KINDS.get(type(struct).__name__, {})
    for name, field in type(struct)._fields_:
        value = getattr(struct, name)
        if name in kinds:
            names = {v: k for k, v in abi.WORDS[kinds[name]].items()}
            out[name] = names.get(value, value)
        elif isinstance(value, abi.yw_vec3):
            out[name] = (value.x, value.y, value.z)
        elif isinstance(value, (bool, int, float)):
            out[name] = value
        elif isinstance(value, ctypes.Array) and issubclass(value._type_, ctypes._SimpleCData):
            out[name] = np.array(value)
    return out


def address(given: Optional[np.ndarray]) -> Optional[int]:
    """Where the numbers of an array are; the caller keeps the array alive."""
    return None if given is None else given.ctypes.data


def copy_out(pointer: Optional[int], shape: tuple, dtype: Any) -> np.ndarray:
    """A copy of an array that C owns."""
    out = np.empty(shape, dtype=dtype)
    if out.size:
        ctypes.memmove(out.ctypes.data, pointer, out.nbytes)
    return out


def document(*structs: str, leave_out: tuple = ()) -> str:
    """The settings of structs for a docstring, as their headers describe them."""
    lines = []
    for struct in structs:
        kinds = abi.KINDS.get(struct, {})
        for name, comment in abi.DOCS[struct].items():
            if name in leave_out:
                continue
            words = f" One of {', '.join(map(repr, abi.WORDS[kinds[name]]))}." if name in kinds else ""
            lines.append(f"    {name}: {comment}{words}".rstrip())
    return "\n".join(lines)
