# SPDX-License-Identifier: MIT
"""Arrays of a world, read where they are.

A view belongs to one moment of its world. It computes without copying, and what it gives away
(results, rows, np.asarray) is an array of its own. After the next step, or when the world is gone, it
refuses with StaleError instead of showing other numbers, so there is no memory to misread.
"""
from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Callable, Iterator

import numpy as np

from .errors import StaleError

if TYPE_CHECKING:
    from .worlds import World

_METHODS = ("all", "any", "argmax", "argmin", "astype", "clip", "cumsum", "dot", "flatten", "max",
            "mean", "min", "nonzero", "prod", "round", "std", "sum", "take", "tobytes", "tolist",
            "var")


class View(np.lib.mixins.NDArrayOperatorsMixin):
    """A read-only array of a world at one moment. Works with operators and functions of numpy."""

    __slots__ = ("_world", "_moment", "_array", "_name")
    __array_priority__ = 1.0

    def __init__(self, world: "World", moment: int, array: np.ndarray, name: str) -> None:
        array.flags.writeable = False
        self._world, self._moment, self._array, self._name = world, moment, array, name

    def _check(self) -> np.ndarray:
        if self._world.closed:
            raise StaleError(f"these {self._name} are gone: their world was closed. Copy what you "
                             "need before, e.g. with .copy()")
        if self._world._moment != self._moment:
            raise StaleError(f"these {self._name} are of an earlier moment: the world has changed "
                             "since. Ask the body again, or keep a .copy()")
        return self._array

    def _use(self, work: Callable[[np.ndarray], Any]) -> Any:
        with self._world._lock:
            return _own(work(self._check()))

    # What does not look at the numbers.
    @property
    def shape(self) -> tuple:
        """As of an array; known even when the view is stale."""
        return self._array.shape

    @property
    def dtype(self) -> np.dtype:
        """Kind of its numbers."""
        return self._array.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self._array.size

    @property
    def nbytes(self) -> int:
        """Bytes of its numbers."""
        return self._array.nbytes

    @property
    def T(self) -> "View":
        """With its axes in reverse order; a view too."""
        return self._part(self._array.T)

    @property
    def stale(self) -> bool:
        """True when the world has changed since, or is gone."""
        return self._world.closed or self._world._moment != self._moment

    def _part(self, array: np.ndarray) -> "View":
        self._check()
        return View(self._world, self._moment, array, self._name)

    def copy(self) -> np.ndarray:
        """An array of its own, to keep."""
        return self._use(np.array)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array without a copy would show other numbers after the next "
                             "step: use the view itself, or a copy")
        return self._use(lambda a: np.array(a, dtype=dtype))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(out, View) for out in kwargs.get("out", ())):
            raise ValueError("views are read-only: change a body with body.set_state")
        return _call(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _call(function, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        part = self._use(lambda a: _Kept(a[_plain(key)])).array
        # Slices look at the same memory and stay views; the rest is already a copy.
        if isinstance(part, np.ndarray) and np.may_share_memory(part, self._array):
            return self._part(part) if part.ndim else part[()]
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        raise ValueError("views are read-only: change a body with body.set_state")

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def __bool__(self) -> bool:
        return self._use(bool)

    def __float__(self) -> float:
        return self._use(float)

    def __repr__(self) -> str:
        if self.stale:
            return f"<stale {self._name}, shape {self.shape}>"
        return self._use(lambda a: f"{self._name} {a!r}")


class _Kept:
    """Keeps an array from being copied on its way out."""

    def __init__(self, array: Any) -> None:
        self.array = array


def _add_methods() -> None:
    def make(name: str) -> Callable[..., Any]:
        def method(self: View, *args: Any, **kwargs: Any) -> Any:
            return self._use(lambda a: getattr(a, name)(*args, **kwargs))

        method.__name__, method.__doc__ = name, f"numpy.ndarray.{name}"
        return method

    for name in _METHODS:
        setattr(View, name, make(name))

    def reshape(self: View, *shape: Any) -> View:
        """numpy.ndarray.reshape"""
        return self._part(self._array.reshape(*shape))

    setattr(View, "reshape", reshape)


_add_methods()


def _plain(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(_plain(k) for k in key)
    return np.asarray(key) if isinstance(key, View) else key


def _own(result: Any) -> Any:
    """Results that look at memory of the world become copies."""
    if isinstance(result, np.ndarray) and not result.flags.owndata and not result.flags.writeable:
        return np.array(result)
    if isinstance(result, (list, tuple)) and any(isinstance(r, np.ndarray) for r in result):
        return type(result)(_own(r) for r in result)
    return result


def _call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Calls a function of numpy with the arrays of views, while their worlds stand still."""
    views: list = []

    def find(value: Any) -> None:
        if isinstance(value, View):
            views.append(value)
        elif isinstance(value, (list, tuple)):
            for item in value:
                find(item)
        elif isinstance(value, dict):
            find(list(value.values()))

    def unwrap(value: Any) -> Any:
        if isinstance(value, View):
            return value._check()
        if isinstance(value, (list, tuple)) and any(isinstance(v, (View, list, tuple)) for v in value):
            return type(value)(unwrap(item) for item in value)
        if isinstance(value, dict):
            return {key: unwrap(item) for key, item in value.items()}
        return value

    find(args)
    find(kwargs)
    worlds = {id(v._world): v._world for v in views}
    with ExitStack() as stack:
        # Always in the same order, so that two threads cannot wait for each other.
        for key in sorted(worlds):
            stack.enter_context(worlds[key]._lock)
        return _own(function(*unwrap(args), **unwrap(kwargs)))
