"""A model that is prepared for some input shapes, and its sessions."""
import operator
import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy

from . import _nnrt

OPEN_ROOM = 16 << 20  # first bytes of an output with dynamic dimensions, whose upper bound may be far larger
Array = numpy.ndarray[Any, Any]
Item = Tuple[str, bytes, Optional[Array]]


def item(name: str, shape: Sequence[int], constant: Optional[Array] = None) -> Item:
    """A shape as _nnrt reads it: the bytes of an nnrt_dims."""
    shape = [operator.index(d) for d in shape]
    if len(shape) > 8 or any(not -1 <= d < 2**31 for d in shape):
        raise ValueError("'%s' has the shape %s, expected at most 8 axes of at most 2147483647" % (name, shape))
    return name, numpy.array([len(shape), *shape] + [0] * (8 - len(shape)), numpy.int32).tobytes(), constant


def template(type_name: str, shape: Sequence[int]) -> Array:
    """An array of this type and shape, without the memory."""
    return numpy.broadcast_to(numpy.empty((), type_name), shape)


def same(a: Any, b: Array) -> bool:
    """True for the same type, shape and bytes."""
    a = numpy.asarray(a)
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


class Plan:
    """A model, prepared for shapes, in which -1 is a dimension with an upper bound, and for values of constants."""

    def __init__(self, file: memoryview, path: bytes, inputs: List[Item], dims: List[Item], bounds: List[Item],
                 device: str, pool: Any, profile: Optional[List[Any]]):
        self.constants = {name: value for name, _, value in inputs if value is not None}
        self.context, self.device = (_nnrt.load(file, path, inputs), pool, profile), device
        self.first: Any = None
        self.first = self.add(dims, bounds)
        self.idle = [self.first]
        ins, outs, self.memory, self.device, states = _nnrt.inspect(self.first)
        self.names = tuple(i[0] for i in ins)
        self.inputs = tuple(template(i[1], i[2]) for i in ins)
        self.types = [o[1] for o in outs]
        self.bounds = [o[4] if o[3] else -1 for o in outs]  # bytes of outputs with dynamic dimensions
        self.outputs = tuple(template("uint8", [min(o[4], OPEN_ROOM)]) if o[3] else template(o[1], o[2]) for o in outs)
        self.open = any(i[3] for i in ins)
        self.lock = threading.Lock() if states else None  # all runs use the states in turn
        self.simple = not self.constants and not states and max(self.bounds, default=-1) < 0

    def add(self, dims: List[Item], bounds: List[Item]) -> Any:
        """A session: the first one, or another one with its prepared model."""
        return _nnrt.session(self.context, self.device, dims, bounds, self.first)

    def take(self) -> Any:
        """An idle session; if all are busy, another one, so that each thread has a workspace of its own, or, if the device
        cannot share a prepared model, the first one to become idle."""
        while True:
            try:
                return self.idle.pop()
            except IndexError:
                try:
                    return self.add([], [])
                except NotImplementedError:
                    time.sleep(1e-4)

    def run(self, feeds: Dict[str, Any]) -> Any:
        """All outputs, or None if an input is not as planned."""
        if not self.simple:
            return self.run_any(feeds)
        try:
            session = self.idle.pop()
        except IndexError:
            session = self.take()
        try:
            return _nnrt.run(session, self.names, self.inputs, self.outputs, self.open, feeds)
        finally:
            self.idle.append(session)

    def fits(self, feeds: Dict[str, Array]) -> bool:
        """True if run() takes these arrays, or refuses a dimension above its upper bound."""
        return (all(same(feeds[name], value) for name, value in self.constants.items()) and
                all(feeds[n].ndim == t.ndim and (self.open or feeds[n].shape == t.shape) for n, t in zip(self.names, self.inputs)))

    def run_any(self, feeds: Dict[str, Any]) -> Any:
        """The same with constants, states, and outputs with dynamic dimensions, whose buffers grow as needed."""
        if not all(same(feeds.get(name), value) for name, value in self.constants.items()):
            return None
        with self.lock or threading.Lock():
            session, outputs = self.take(), self.outputs
            try:
                while (got := _nnrt.run(session, self.names, self.inputs, outputs, self.open, feeds)) is False:
                    if all(b < 0 or o.size >= b for o, b in zip(outputs, self.bounds)):
                        raise RuntimeError("an output exceeds its upper bound")
                    outputs = tuple(o if b < 0 else template("uint8", [min(4 * o.size, b)]) for o, b in zip(outputs, self.bounds))
                actual = _nnrt.inspect(session)[1]
            finally:
                self.idle.append(session)
        for i, bound in enumerate(self.bounds if got else []):
            if bound >= 0:
                part = got[i][:actual[i][4]]  # a view, or a copy if it is small in its buffer
                got[i] = (part if 2 * part.size >= got[i].size else part.copy()).view(self.types[i]).reshape(actual[i][2])
        return got

    def reset(self) -> None:
        """The states get their initial values."""
        with self.lock or threading.Lock():
            for session in self.idle:
                _nnrt.reset(session)
